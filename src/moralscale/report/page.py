"""One self-contained HTML page about a run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from moralscale.printing import DATA_TITLES, KEY, MEANING, UNITS, number
from moralscale.records import USED, VERDICTS, BetaMeaning, Origin
from moralscale.report import interactive, missing, tables
from moralscale.report.analyses import analyses
from moralscale.report.further import further_sections
from moralscale.report.inputs import ReportFigure, ReportInputs
from moralscale.report.signal import signal
from moralscale.report.verdict import verdict

#: Planted quantities that the banner names.
_BANNER = ("beta", "composite_consistency", "alpha", "anchoring_adjusted", "convergence")

#: Figures that stand with the data, the scenes and the judges.
_ELSEWHERE = ("missingness", "scenes", "position_bias")

#: Where a PNG holds its width, and how many of its pixels make one on the page (300 dpi).
_WIDTH, _PIXELS = slice(16, 20), 3


def build_report(inputs: ReportInputs) -> str:
    """Write the report of a run.

    Parameters
    ----------
    inputs : ReportInputs
        The run's tables, figures and provenance.

    Returns
    -------
    str
        An HTML page that loads nothing from anywhere: styles, scripts and pictures are inside it,
        and every text is escaped. Without scripts it lacks the figure of composites that can be
        searched, and filters; everything else stands.
    """
    environment = Environment(
        loader=PackageLoader("moralscale", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_fit = tables.fits(inputs.estimates)
    interval = inputs.reporting.interval_name
    used = VERDICTS if inputs.ties else USED
    explorer, scenes = interactive.explorer(inputs), interactive.scene_table(inputs)
    parts, further = analyses(inputs.study), further_sections(inputs)
    placed = [*_ELSEWHERE]
    placed += [name for analysis in parts for name in analysis.figures]
    placed += [name for section in further for name in section.figures]
    return environment.get_template("page.html.j2").render(
        run=inputs.run,
        origin=inputs.origin.value,
        simulated=inputs.origin is Origin.SIMULATED,
        panel=inputs.panel,
        planted=_planted(inputs.recovery),
        interval=interval,
        signals={title: signal(rows) for title, rows in by_fit.items()},
        verdicts={title: verdict(rows, interval) for title, rows in by_fit.items()},
        arenas=tables.outcome_counts(inputs.outcomes, "arena", used),
        judges=tables.outcome_counts(inputs.outcomes, "judge", used),
        missing=missing.dependence(inputs.missingness_test),
        depends=missing.found(inputs.missingness_test),
        failed=int((~inputs.checks["passed"].astype(bool)).sum()),
        checked=len(inputs.checks),
        gates=tables.gates(inputs.checks),
        key=tables.key_estimates(by_fit),
        by_judge=[tables.judge_estimates(title, rows) for title, rows in by_fit.items()],
        meaning={
            f"{name} ({DATA_TITLES[name]})": MEANING[BetaMeaning.of(name)]
            for name in inputs.estimates["data"].unique()
        },
        published=tables.published_found(inputs.published),
        analyses=parts,
        two_steps=inputs.study is not None,
        explorer=explorer,
        scenes=scenes,
        plotly=interactive.plotly() if explorer else None,
        further=further,
        placed=placed,
        ties=inputs.ties,
        recovery=_recovery(inputs.recovery),
        figures=_figures(inputs.figures),
        provenance=_provenance(inputs.provenance),
    )


def _planted(recovery: pd.DataFrame | None) -> list[str]:
    """Planted truths for the banner: ``"beta 0.862"``."""
    if recovery is None:
        return []
    units = recovery["quantity"].map({name: unit for name, unit, _ in KEY if name in _BANNER})
    planted = recovery[recovery["unit"] == units].drop_duplicates("quantity")
    planted = planted.sort_values("quantity", key=lambda names: names.map(_BANNER.index))
    return [
        f"{row['quantity'].replace('_', ' ')} {number(row['truth'], row['unit'])}"
        + UNITS.get(row["unit"], "")
        for _, row in planted.iterrows()
    ]


def _recovery(recovery: pd.DataFrame | None) -> dict[str, Any] | None:
    """Tabulate what was recovered, and how often intervals hold the planted value."""
    if recovery is None:
        return None
    return {"main": tables.recovered(recovery), "coverage": tables.coverage(recovery)}


def _figures(figures: Iterable[ReportFigure]) -> dict[str, dict[str, Any]]:
    """Group figures by name; pictures as data URIs."""
    groups: dict[str, dict[str, Any]] = {}
    for figure in figures:
        group = groups.setdefault(
            figure.name,
            {
                "title": figure.name.replace("_", " "),
                "caption": figure.caption,
                "pictures": [],
            },
        )
        picture = figure.png.read_bytes()
        group["pictures"].append(
            {
                "title": DATA_TITLES.get(figure.data, figure.data),
                "uri": f"data:image/png;base64,{b64encode(picture).decode('ascii')}",
                "width": int.from_bytes(picture[_WIDTH]) // _PIXELS,
            }
        )
    return groups


def _provenance(provenance: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Split provenance into its plain values, under "", and its sections."""
    plain = {key: value for key, value in provenance.items() if not isinstance(value, Mapping)}
    sections = {key: value for key, value in provenance.items() if isinstance(value, Mapping)}
    return {name: list(_flat(values)) for name, values in {"": plain, **sections}.items()}


def _flat(provenance: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Flatten nested provenance to dotted keys."""
    for key, value in provenance.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
