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
from moralscale.manifest import versions
from moralscale.report.inputs import FIT, ReportFigure, ReportInputs
from moralscale.study import read_study

_NUMBERS = ("mean", "sd", "hdi_low", "hdi_high", "truth", "value", "bound")


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
    """
    valid = validate(Config, config, source="config")
    return ReportInputs(
        run=run,
        origin=valid.runs[run].origin,
        estimates=_read(estimates),
        published=_read(published),
        study=read_study(study),
        outcomes=_read(outcomes),
        checks=pd.concat([_checks(Path(path)) for path in checks], ignore_index=True),
        recovery=_read(recovery) if recovery else None,
        figures=_in_order(Path(path) for path in figures),
        provenance=_provenance(config, valid.seed),
        panel=valid.runs[run].panel or "",
        ci_prob=valid.reporting.ci_prob,
        ci_kind=valid.reporting.ci_kind,
    )


def _read(path: str | Path) -> pd.DataFrame:
    """Read a table; labels stay text, whatever a judge is called."""
    missing = {column: [""] for column in _NUMBERS}
    return pd.read_csv(path, dtype={"index": str}, keep_default_na=False, na_values=missing)


def _checks(path: Path) -> pd.DataFrame:
    return _read(path).assign(**dict(zip(FIT, path.parts[-4:-1], strict=True)))


def _in_order(paths: Iterable[Path]) -> tuple[ReportFigure, ...]:
    """Figures in reading order, those across runs first."""
    by_name: dict[str, list[Path]] = {}
    for path in paths:
        by_name.setdefault(path.name.split(".")[0], []).append(path)
    of_no_fit = CROSS_RUN | OF_RUN
    captions = {name: plot.caption for name, plot in (of_no_fit | FIGURES).items()}
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
