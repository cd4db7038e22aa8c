"""The answer to the report's question, in one sentence a fit."""

from __future__ import annotations

import pandas as pd

from moralscale.records import BetaMeaning


def verdict(estimates: pd.DataFrame, interval: str) -> str:
    """Say what a fit tells about adding.

    Parameters
    ----------
    estimates : DataFrame
        Estimates of one fit.
    interval : str
        Name of the intervals, such as ``"94% HDI"``.

    Returns
    -------
    str
        Empty where the rule of the fit has no beta.
    """
    rows = estimates[estimates["quantity"] == "beta"]
    if rows.empty:
        return ""
    row = rows.iloc[0]
    low, high = row["hdi_low"], row["hdi_high"]
    # Without the bridge arena, beta is compression times consistency on composites.
    in_noise = BetaMeaning.of(str(row["data"])) is BetaMeaning.CHOICE_NOISE
    if high < 1:
        where = "below 1: these judges discount"
        where += ", or choose less consistently between composites" if in_noise else ""
    elif low > 1:
        where = "above 1: these judges give more than the sum"
        where += ", or choose more consistently between composites" if in_noise else ""
    else:
        where = "on both sides of 1: adding is not excluded"
    return f"Beta is {row['mean']:.2f}; its {interval}, {low:.2f} to {high:.2f}, lies {where}."
