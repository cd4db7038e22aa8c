"""The page of the documentation that says what the calibration found: docs/calibration.md."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from moralscale.calibration.replicate import RANKED_DRAWS
from moralscale.calibration.summary import (
    COVERAGE,
    coverage_table,
    rank_table,
    read_replicates,
)
from moralscale.config import Calibration
from moralscale.manifest import versions

_COVERAGE = (
    *("quantity", "index", "fits", "coverage", "low", "high"),
    *("bias", "rmse", "sd", "z_sd", "passed"),
)
_RANKS = ("quantity", "index", "fits", "mean_rank", "chi2", "p_value", "outside", "passed")


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What the calibration found.

    Attributes
    ----------
    coverage, ranks : DataFrame
        As `summary.coverage_table` and `summary.rank_table` return them.
    replicates : DataFrame
        The replicates of simulation-based calibration.
    page : str
        docs/calibration.md.
    """

    coverage: pd.DataFrame
    ranks: pd.DataFrame
    replicates: pd.DataFrame
    page: str


def conclude(
    *,
    recovery: Iterable[str],
    ranks: Iterable[str],
    settings: Mapping[str, Any],
    seed: int,
    code: str,
) -> Conclusion:
    """Summarise the jobs of both kinds; arguments are paths and settings."""
    recovered, ranked = read_replicates(recovery), read_replicates(ranks)
    coverage, tested = coverage_table(recovered), rank_table(ranked)
    seconds = pd.concat([recovered, ranked]).groupby(["kind", "replicate"])["seconds"].first()
    page = make_page(
        coverage,
        tested,
        Calibration(**settings),
        seed=seed,
        code=code,
        seconds=float(seconds.median()),
    )
    return Conclusion(coverage, tested, ranked, page)


def make_page(
    coverage: pd.DataFrame,
    ranks: pd.DataFrame,
    settings: Calibration,
    *,
    seed: int,
    code: str,
    seconds: float,
) -> str:
    """Write docs/calibration.md.

    Parameters
    ----------
    coverage, ranks : DataFrame
        As `summary.coverage_table` and `summary.rank_table` return them.
    settings : Calibration
        Sizes.
    seed, code : int, str
        Seed, and digest of the code that ran.
    seconds : float
        Median processor time of a fit.
    """
    environment = Environment(
        loader=PackageLoader("moralscale", "calibration"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.md.j2").render(
        date=datetime.date.today().isoformat(),
        versions=", ".join(f"{name} {found}" for name, found in versions().items()),
        settings=settings,
        seed=seed,
        code=code,
        seconds=f"{seconds:.1f}",
        bounds=[f"{bound:.0%}" for bound in COVERAGE],
        draws=RANKED_DRAWS,
        recovered=_sentence(coverage),
        ranked=_sentence(ranks),
        coverage=_markdown(coverage, _COVERAGE),
        ranks=_markdown(ranks, _RANKS),
    )


def _sentence(table: pd.DataFrame) -> str:
    fits, failed = int(table["fits"].max()), int(table["failed"].max())
    missed = table[~table["passed"]]
    names = ", ".join(f"{row.quantity} {row.index}".strip() for row in missed.itertuples())
    verdict = "every row passed" if missed.empty else f"not passed: {names}"
    return f"**{fits} fits, {failed} more failed a gate; {verdict}.**"


def _markdown(table: pd.DataFrame, columns: tuple[str, ...]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    for row in table[list(columns)].itertuples(index=False):
        lines.append("| " + " | ".join(map(_cell, row)) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.3f}"
    return str(value)
