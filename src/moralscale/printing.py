"""How quantities are called and numbers printed: the same wherever they appear."""

from __future__ import annotations

import pandas as pd

from moralscale.records import BetaMeaning

#: The quantities that answer the study's questions: quantity, unit, label.
KEY = (
    ("beta", "ratio", "beta, compression slope"),
    ("slope", "ratio", "slope of composite strength on component sum"),
    ("composite_consistency", "ratio", "consistency on composites, over scenes"),
    ("bridge_consistency", "ratio", "consistency in the bridge arena, over scenes"),
    ("alpha", "log-odds", "alpha, composite of component sum 0"),
    ("foundation_residual", "elo", "residual of"),
    ("anchoring", "elo", "+2/-1 over +1/+1, raw"),
    ("anchoring_adjusted", "elo", "+2/-1 over +1/+1, at equal component sum"),
    ("convergence", "correlation", "convergence between judges"),
    ("position_bias", "log-odds", "position bias, mean over judges"),
    ("intensity_slope", "log-odds", "scene strength per step of intensity"),
    ("scene_sd", "sd", "spread of scenes within a cell"),
)
#: What is told of every judge.
JUDGE = (
    ("beta_judge", "ratio", "beta"),
    ("consistency", "ratio", "consistency"),
    ("position_bias_judge", "log-odds", "position bias"),
)
UNITS = {"elo": " (Elo)", "log-odds": " (log-odds)", "strength": " (log-odds)", "sd": " (log-odds)"}

DATA_TITLES = {"study": "the study's two arenas", "bridged": "with the bridge arena"}
MEANING = {
    BetaMeaning.CHOICE_NOISE: "beta is in units of single-arena choice noise. Choices between "
    "composites are taken to be as consistent as choices between scenes, by convention. Judges "
    "that add, but choose less consistently between composites, give the same value: this beta is "
    "compression times consistency.",
    BetaMeaning.IDENTIFIED: "beta is free of choice noise. Battles of a scene against a composite "
    "put both on one scale, so compression and the consistency of each arena are estimated apart.",
}


def number(value: float, unit: str) -> str:
    """Print a value: Elo to a tenth, everything else to a thousandth, "-" where missing.

    Examples
    --------
    >>> number(0.86249, "ratio"), number(9.58, "elo"), number(float("nan"), "elo")
    ('0.862', '9.6', '-')
    """
    if pd.isna(value):
        return "-"
    return f"{value:z.1f}" if unit == "elo" else f"{value:z.3f}"


def interval(row: pd.Series) -> str:
    """Print an interval, ``"[0.774, 0.960]"``; "-" where there is none."""
    if pd.isna(row["mean"]):
        return "-"
    return f"[{number(row['hdi_low'], row['unit'])}, {number(row['hdi_high'], row['unit'])}]"


def estimate(row: pd.Series) -> str:
    """Print mean and interval, ``"0.867 [0.774, 0.960]"``; "-" where there is none."""
    if pd.isna(row["mean"]):
        return "-"
    return f"{number(row['mean'], row['unit'])} {interval(row)}"


def percent(share: float) -> str:
    """Print a share without rounding to certainty: ``">99.9%"``; "-" where missing."""
    if pd.isna(share):
        return "-"
    if share > 0.999:
        return ">99.9%"
    return "<0.1%" if share < 0.001 else f"{share:.1%}"
