"""Write ``examples/simulated-judgments.csv``, the file that ``config/import.yaml`` reads.

Three simulated judges answer a small design; what they answered is written as somebody else would
write it: other column names, other labels, winners by side. The same seed gives the same file.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from moralscale.collect import collect
from moralscale.config import Config, Panel
from moralscale.design import make_composites, make_schedules
from moralscale.prompts import load_template
from moralscale.providers.simulated import Simulated
from moralscale.records import Arena, Origin
from moralscale.scenes import load_scenes
from moralscale.simulate import simulate_panel

ROOT = Path(__file__).resolve().parents[1]
JUDGES = ("simulated-01", "simulated-02", "simulated-03")
COUNTS: dict[str, int] = {Arena.SINGLE: 1500, Arena.COMPOSITE: 900, Arena.BRIDGE: 300}
COLUMNS = {"judge": "model", "first": "left", "second": "right", "outcome": "verdict"}
LABELS = {"first": "left wins", "second": "right wins", "refusal": "declined"}


def main() -> None:
    """Write the example."""
    with tempfile.TemporaryDirectory() as folder:
        table = answers(Path(folder))
    theirs = table.assign(outcome=table["outcome"].map(LABELS)).rename(columns=COLUMNS)
    theirs = theirs[[*COLUMNS.values(), "first_order", "second_order"]]
    theirs.to_csv(ROOT / "examples/simulated-judgments.csv", index=False, lineterminator="\n")


def answers(folder: Path) -> pd.DataFrame:
    """Collect what the simulated judges answer; journals go to `folder`."""
    seed = Config.model_fields["seed"].default
    scenes = load_scenes(ROOT / "scenarios/scenes.csv")
    composites = make_composites(scenes, realisations=1, seed=seed)
    panel = Panel(judges=len(JUDGES), composite_consistency=0.862, refusal_rate=0.03)
    truth = simulate_panel(panel, scenes, composites, JUDGES, seed=seed)
    truth.to_netcdf(folder / "truth.nc", engine="h5netcdf")
    template = load_template(ROOT / "config/prompts/trolley.yaml")
    schedules = make_schedules(
        scenes,
        composites,
        JUDGES,
        judgments=COUNTS,
        repeats=1,
        prompts=[template.name],
        seed=seed,
    )
    return pd.concat(
        collect(
            schedules[schedules["judge"] == judge],
            scenes=scenes,
            composites=composites,
            templates={template.name: template},
            provider=Simulated.from_file(judge, folder / "truth.nc"),
            journal_path=folder / f"{judge}.jsonl",
            origin=Origin.SIMULATED,
        )
        for judge in JUDGES
    )


if __name__ == "__main__":
    main()
