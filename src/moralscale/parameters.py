"""Every quantity of the model by name: its unit, its meaning and, where it has one, its prior.

What a fit keeps, which priors a file may give and what tables call things all follow from here and,
for the parameters of composition rules, from `composition.RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """A quantity of the model.

    Attributes
    ----------
    unit : str
        ``log-odds`` (a difference, reported in Elo too), ``strength`` (also as a rating with mean
        1000), ``ratio`` (against 1), or a word for tables.
    definition : str
        One sentence for tables and captions.
    prior : mapping, optional
        Its default prior, as a prior file writes it.
    file : bool
        Whether every prior file must give its prior.
    """

    unit: str
    definition: str
    prior: Mapping[str, Any] | None = None
    file: bool = False


@dataclass(frozen=True)
class RuleParameter:
    """A parameter of a composition rule: a mean over judges, and a value for each judge.

    Attributes
    ----------
    unit : str
        As in `Parameter`.
    meaning : str
        A noun phrase for tables: "Compression slope".
    prior, spread : mapping, optional
        Default priors of the mean and of the spread between judges, as a prior file writes them;
        without them every prior file must give both.
    """

    unit: str
    meaning: str
    prior: Mapping[str, Any] | None = None
    spread: Mapping[str, Any] | None = None

    def quantities(self, name: str) -> dict[str, Parameter]:
        """Give the three quantities that this parameter makes, by name."""
        noun = self.meaning[0].lower() + self.meaning[1:]
        return {
            name: Parameter(
                self.unit, f"{self.meaning}, mean over judges.", self.prior, self.prior is None
            ),
            f"{name}_sd": Parameter(
                "sd", f"Spread between judges of the {noun}.", self.spread, self.spread is None
            ),
            f"{name}_judge": Parameter(self.unit, f"{self.meaning} of a judge."),
        }


def distribution(name: str, **kwargs: float) -> dict[str, Any]:
    """Write a prior as prior files do."""
    return {"dist": name, "kwargs": kwargs}


def _gamma(rate: float) -> dict[str, Any]:
    return distribution("Gamma", alpha=2, beta=rate)


#: Quantities of every rule. Those that options of the observation model add have default priors.
STRUCTURE: dict[str, Parameter] = {
    "alpha": Parameter(
        "log-odds", "Strength of a composite with component sum 0, mean over judges.", file=True
    ),
    "alpha_judge": Parameter(
        "log-odds", "Strength of a composite with component sum 0, for a judge."
    ),
    "composite_consistency": Parameter(
        "ratio", "Consistency in the composite arena over the single one.", file=True
    ),
    "bridge_consistency": Parameter(
        "ratio", "Consistency in the bridge arena over the single one.", file=True
    ),
    "consistency": Parameter(
        "ratio", "Consistency of a judge over the geometric mean of the panel."
    ),
    "position_bias": Parameter(
        "log-odds", "Lean to the option shown first, mean over judges.", file=True
    ),
    "position_bias_judge": Parameter("log-odds", "Lean to the option shown first, of a judge."),
    "position_bias_arena": Parameter(
        "log-odds", "Lean to the option shown first in an arena, over the mean of arenas."
    ),
    "position_bias_arena_judge": Parameter(
        "log-odds", "Lean to the option shown first in an arena, over a judge's mean of arenas."
    ),
    "position_bias_slope": Parameter(
        "ratio of lean to strength",
        "Growth of the lean to the first per log-odds of mean strength shown, mean over judges.",
        distribution("Normal", mu=0, sigma=0.3),
    ),
    "position_bias_slope_judge": Parameter(
        "ratio of lean to strength",
        "Growth of the lean to the first per log-odds of mean strength shown, of a judge.",
    ),
    "lapse": Parameter("rate", "Share of choices made at random, by the typical judge."),
    "lapse_judge": Parameter("rate", "Share of choices made at random, by a judge."),
    "lapse_logit": Parameter(
        "logit",
        "Logit of the lapse rate, mean over judges.",
        distribution("Normal", mu=-4, sigma=1),
    ),
    "tie": Parameter("odds", "Odds of a tie over either win at even strengths, typical judge."),
    "tie_judge": Parameter("odds", "Odds of a tie over either win at even strengths, of a judge."),
    "tie_log": Parameter(
        "logarithm",
        "Logarithm of the odds of a tie, mean over judges.",
        distribution("Normal", mu=-1, sigma=1),
    ),
    "gamma": Parameter("log-odds", "What a foundation adds to a composite, mean over judges."),
    "gamma_judge": Parameter("log-odds", "What a foundation adds to a composite, for a judge."),
    "delta_config": Parameter("log-odds", "What an intensity configuration adds to a composite."),
    "intensity_slope": Parameter(
        "log-odds", "Scene strength per step of intensity, mean over foundations.", file=True
    ),
    "intensity_slope_sd": Parameter(
        "sd", "Spread between foundations of the intensity slope.", file=True
    ),
    "cell_sd": Parameter("sd", "Spread of cells around the intensity line.", file=True),
    "scene_sd": Parameter("sd", "Spread of scenes within a cell.", file=True),
    "judge_sd": Parameter("sd", "Spread of judges on a scene.", file=True),
    "consistency_sd": Parameter("sd", "Spread between judges of log consistency.", file=True),
    "gamma_sd": Parameter("sd", "Spread of foundation effects.", file=True),
    "gamma_judge_sd": Parameter("sd", "Spread between judges of a foundation effect.", file=True),
    "config_sd": Parameter("sd", "Spread of configuration effects.", file=True),
    "profile_sd": Parameter("sd", "Spread of composites that judges share.", file=True),
    "composite_sd": Parameter("sd", "Spread of composites of one judge.", file=True),
    "alpha_sd": Parameter("sd", "Spread between judges of the intercept.", file=True),
    "position_bias_sd": Parameter("sd", "Spread between judges of the position bias.", file=True),
    "position_bias_arena_sd": Parameter(
        "sd", "Spread between arenas of the position bias.", _gamma(8)
    ),
    "position_bias_arena_judge_sd": Parameter(
        "sd", "Spread between judges of an arena's position bias.", _gamma(10)
    ),
    "position_bias_slope_sd": Parameter(
        "sd", "Spread between judges of the growth of the position bias.", _gamma(15)
    ),
    "lapse_logit_sd": Parameter("sd", "Spread between judges of the logit lapse rate.", _gamma(4)),
    "tie_log_sd": Parameter("sd", "Spread between judges of the log odds of a tie.", _gamma(4)),
    "mu": Parameter("strength", "Strength of a scene that judges share."),
    "theta": Parameter("strength", "Strength of a scene for a judge."),
    "phi": Parameter("strength", "Strength of a composite for a judge."),
}
