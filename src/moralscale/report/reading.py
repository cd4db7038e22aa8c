"""Read what a report is built from out of a run's files."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from moralscale.config import Config, validate
from moralscale.figures import CROSS_RUN, FIGURES, OF_RUN
from moralscale.figures.missingness import any_missing
from moralscale.manifest import versions
from moralscale.report.further import CAPTIONS
from moralscale.report.inputs import FIT, OF_AUDIT, OF_TARGETS, ReportFigure, ReportInputs
from moralscale.study import read_study

_NUMBERS = (
    *("mean", "sd", "hdi_low", "hdi_high", "truth", "value", "bound"),
    *("statistic", "df", "p_value", "p_adjusted", "share_with", "share_without"),
)


def read_inputs(
    run: str,
    *,
    config: Mapping[str, Any],
    estimates: str | Path,
    published: str | Path,
    study: str | Path,
    outcomes: str | Path,
    checks: Iterable[str | Path],
    figures: Iterable[str | Path] = (),
    recovery: str | Path | None = None,
    missingness: str | Path | None = None,
    missingness_test: str | Path | None = None,
    scenes: str | Path | None = None,
    composites: str | Path | None = None,
    by_judge: Iterable[str | Path] = (),
    further: Iterable[str | Path] = (),
    audit: Iterable[str | Path] = (),
) -> ReportInputs:
    """Read a run's tables and find its figures.

    Parameters
    ----------
    run : str
        Name of the run.
    config : mapping
        The validated configuration.
    estimates, published, study, outcomes : path
        CSV tables of the run.
    checks : iterable of path
        ``.../{data}/{rule}/{prior}/checks.csv``.
    figures : iterable of path
        PNG files ``.../{data}/{rule}/{prior}/{figure}[.simulated].png``; those of `CROSS_RUN`
        and `OF_RUN` may stand anywhere.
    recovery : path, optional
        CSV table; nothing where nothing was planted.
    missingness, missingness_test : path, optional
        CSV tables; without missing comparisons, the report says nothing of them.
    scenes, composites : path, optional
        CSV tables of the run.
    by_judge : iterable of path
        ``.../{data}/{rule}/{prior}/composites_judge.csv``.
    further, audit : iterable of path
        CSV tables named in `OF_TARGETS` and `OF_AUDIT`, and PNG files of their figures; others
        are left aside.
    """
    valid = validate(Config, config, source="config")
    missing = missingness is not None and any_missing(_read(missingness))
    made, audited = [Path(path) for path in further], [Path(path) for path in audit]
    pictures = [path for path in [*made, *audited] if path.suffix == ".png"]
    shown = [*(Path(path) for path in figures), *pictures]
    if not missing:
        shown = [path for path in shown if path.name.split(".")[0] != "missingness"]
    judged = [_with_fit(Path(path)) for path in by_judge]
    return ReportInputs(
        run=run,
        origin=valid.runs[run].origin,
        estimates=_read(estimates),
        published=_read(published),
        study=read_study(study),
        outcomes=_read(outcomes),
        checks=pd.concat([_with_fit(Path(path)) for path in checks], ignore_index=True),
        recovery=_read(recovery) if recovery else None,
        missingness_test=_read(missingness_test) if missing and missingness_test else None,
        scenes=_read(scenes) if scenes else None,
        composites=_read(composites) if composites else None,
        by_judge=pd.concat(judged, ignore_index=True) if judged else None,
        further=_tables(made, OF_TARGETS, "") | _tables(audited, OF_AUDIT, "audit/"),
        figures=_in_order(shown),
        provenance=_provenance(config, valid.seed),
        panel=valid.runs[run].panel or "",
        reporting=valid.reporting,
        ties=valid.model.ties == "davidson",
    )


def _read(path: str | Path) -> pd.DataFrame:
    """Read a table; labels stay text, whatever a judge is called."""
    missing = {column: [""] for column in _NUMBERS}
    return pd.read_csv(path, dtype={"index": str}, keep_default_na=False, na_values=missing)


def _with_fit(path: Path) -> pd.DataFrame:
    """Read a table of one fit, with columns that name it."""
    return _read(path).assign(**dict(zip(FIT, path.parts[-4:-1], strict=True)))


def _tables(paths: list[Path], names: tuple[str, ...], prefix: str) -> dict[str, pd.DataFrame]:
    """Read the tables among files, by name."""
    found = {path.stem: path for path in paths if path.suffix == ".csv"}
    return {f"{prefix}{name}": _read(found[name]) for name in names if name in found}


def _in_order(paths: Iterable[Path]) -> tuple[ReportFigure, ...]:
    """Figures in reading order, those across runs first."""
    by_name: dict[str, list[Path]] = {}
    for path in paths:
        by_name.setdefault(path.name.split(".")[0], []).append(path)
    of_no_fit = {name: plot.caption for name, plot in CROSS_RUN.items()}
    of_no_fit |= {name: plot.caption for name, plot in OF_RUN.items()}
    of_no_fit |= CAPTIONS
    captions = of_no_fit | {name: plot.caption for name, plot in FIGURES.items()}
    return tuple(
        ReportFigure(name, caption, path, "" if name in of_no_fit else _fit_of(path, here))
        for name, caption in captions.items()
        for here in [by_name.get(name, [])]
        for path in here
    )


def _fit_of(path: Path, others: list[Path]) -> str:
    """Name the data of a figure, and its rule and prior where several fits have the same data."""
    data, *rest = path.parts[-4:-1]
    same = [other for other in others if other.parts[-4] == data]
    return data if len(same) == 1 else ", ".join([data, *rest])


def _provenance(config: Mapping[str, Any], seed: int) -> dict[str, Any]:
    canonical = json.dumps(config, sort_keys=True, separators=(",", ":"), default=str)
    return {
        "seed": seed,
        "config SHA-256": sha256(canonical.encode("utf-8")).hexdigest(),
        "python": platform.python_version(),
        "versions": versions(),
        "config": dict(config),
    }
