"""Checks that gate a fit: each is a file with one function that gives a `CheckResult`."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from moralscale.checks.connectivity import check_connectivity
from moralscale.checks.convergence import check_convergence
from moralscale.checks.pareto import check_pareto
from moralscale.checks.predictive import check_predictive
from moralscale.checks.result import CheckResult
from moralscale.checks.sampling import check_sampling
from moralscale.config import Gates
from moralscale.errors import GateError

__all__ = ["CheckResult", "check_fit", "gate", "to_table"]


def check_fit(
    posterior: xr.DataTree, estimates: pd.DataFrame, gates: Gates, *, seed: int
) -> list[CheckResult]:
    """Run every check of a fit.

    Parameters
    ----------
    posterior : DataTree
        As `fit.fit` returns it.
    estimates : DataFrame
        Every reported quantity, as `summaries.summarise` returns it: projections too.
    gates : Gates
        The bounds.
    seed : int
        Seed of the replicated judgments.
    """
    return [
        check_convergence(estimates, gates),
        check_sampling(posterior, gates),
        check_pareto(posterior, gates),
        check_predictive(posterior, gates, seed=seed),
        check_connectivity(posterior),
    ]


def to_table(results: list[CheckResult]) -> pd.DataFrame:
    """Stack the tables of checks, with a leading column ``check``.

    A check that only warns has passed here; what it found stands in ``text``, after "warning: ".
    """
    return pd.concat([_rows(result) for result in results], ignore_index=True)[
        ["check", "quantity", "value", "bound", "passed", "text"]
    ]


def _rows(result: CheckResult) -> pd.DataFrame:
    table = result.table.assign(check=result.name)
    if result.warning:
        said = table["text"].where(table["passed"], "warning: " + table["text"])
        table = table.assign(text=said, passed=True)
    return table


def gate(checks: pd.DataFrame, *, where: str) -> str:
    """Pass a fit on, or stop the run.

    Parameters
    ----------
    checks : DataFrame
        As `to_table` returns it.
    where : str
        The fit, for the error.

    Returns
    -------
    str
        One line that says that all checks passed.

    Raises
    ------
    GateError
        A check failed; the posterior stays where it is.
    """
    failed = checks[~checks["passed"]]
    if len(failed):
        raise GateError(
            "; ".join(failed["text"]),
            where=where,
            mend="look at the posterior, which is kept; sample longer, raise "
            "sampler.target_accept, or mend the model before reporting anything",
        )
    return f"{where}: all {len(checks)} checks passed"
