"""What a configuration refers to by name must be there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from moralscale.config.config import Config
from moralscale.config.reading import load_judges
from moralscale.config.run import Run
from moralscale.errors import ConfigError, suggestion

#: Folders beside those of runs.
RESERVED = ("audit", "audit-full", "calibration", "comparison")


def check_references(config: Config, source: str, root: Path) -> None:
    """Raise a `ConfigError` where a panel, judge, prompt, prior or file is not there."""
    _check_corpus(config.scenes, f"{source}, scenes", root)
    if any(run.import_ is None for run in config.runs.values()):
        _check_counts(config, source)
    _check_prompts(config.design.prompts, f"{source}, design.prompts", root)
    priors = {
        "fits.priors": config.fits.priors,
        "sensitivity.priors": config.sensitivity.priors,
        "compare.prior": (config.compare.prior,),
        "calibration.prior": (config.calibration.prior,),
    }
    for key, names in priors.items():
        for prior in names:
            _known(prior, _stems(root / "config/priors"), f"{source}, {key}", "prior")
    for refitted in config.sensitivity.runs:
        _known(refitted, config.runs, f"{source}, sensitivity.runs", "run")
    for name, run in config.runs.items():
        _check_run(config, name, run, f"{source}, runs.{name}", root)


def _check_run(config: Config, name: str, run: Run, where: str, root: Path) -> None:
    if name in RESERVED:
        what = f"'{name}' names a folder beside those of runs"
        raise ConfigError(what, where=where, mend="give the run another name")
    if run.scenes is not None:
        _check_corpus(run.scenes, f"{where}.scenes", root)
    _check_prompts(run.prompts, f"{where}.prompts", root)
    if run.panel is not None:
        _known(run.panel, config.panels, f"{where}.panel", "panel")
    if run.judges:
        library = load_judges(root / config.judges_file)
        for judge in run.judges:
            _known(judge, library, f"{where}.judges", "judge")
    if run.import_ is not None:
        files = {"file": run.import_.file, "composites": run.import_.composites}
        for key, path in files.items():
            if path and not (root / path).is_file():
                what = f"no such file: {path}"
                raise ConfigError(what, where=f"{where}.import.{key}", mend="check the path")


def _check_corpus(path: str, where: str, root: Path) -> None:
    if not (root / path).is_file():
        raise ConfigError(f"no such file: {path}", where=where, mend="check the path")


def _check_prompts(names: Iterable[str], where: str, root: Path) -> None:
    for name in names:
        _known(name, _stems(root / "config/prompts"), where, "prompt")


def _check_counts(config: Config, source: str) -> None:
    counts = config.design.judgments
    needed = {"single": counts.single, "composite": counts.composite}
    if "bridged" in config.fits.data:
        needed["bridge"] = counts.bridge
    for arena, count in needed.items():
        if not count:
            raise ConfigError(
                f"no judgments in the {arena} arena, which a fit in fits.data reads",
                where=f"{source}, design.judgments.{arena}",
                mend="ask for some" + (", or fit `study` alone" if arena == "bridge" else ""),
            )


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _known(name: str, known: Iterable[str], where: str, kind: str) -> None:
    known = list(known)
    if name not in known:
        raise ConfigError(f"unknown {kind} '{name}'", where=where, mend=suggestion(name, known))
