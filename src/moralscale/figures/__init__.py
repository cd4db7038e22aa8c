"""Figures of a fit, one a file, in one style.

``FIGURES[name].draw(data)`` draws one; ``style.save`` writes it as PDF, SVG and PNG.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from matplotlib.figure import Figure

from moralscale.figures import (
    audit,
    beta,
    comparison,
    composites,
    convergence,
    coverage,
    foundation_residuals,
    identification,
    intensity_sums,
    missingness,
    position_bias,
    power,
    predictive,
    prior_predictive,
    ranks,
    runs,
    scenes,
    sensitivity,
    slopes,
)
from moralscale.figures.data import FigureData
from moralscale.figures.style import save

__all__ = [
    "AUDIT",
    "CAPTIONS",
    "CROSS_RUN",
    "FIGURES",
    "OF_RUN",
    "POWER",
    "SENSITIVITY",
    "TABLED",
    "FigureData",
    "Plot",
    "applicable",
    "save",
]


class Plot[**P](NamedTuple):
    """A figure that can be drawn: how, what it shows in one sentence, and what it needs."""

    draw: Callable[P, Figure]
    caption: str
    needs: tuple[str, ...] = ()


#: Figures of one fit, drawn from a `FigureData`, in reading order.
FIGURES = MappingProxyType(
    {
        "composites": Plot(composites.draw, composites.CAPTION, composites.NEEDS),
        "beta": Plot(beta.draw, beta.CAPTION, beta.NEEDS),
        "foundation_residuals": Plot(
            foundation_residuals.draw, foundation_residuals.CAPTION, foundation_residuals.NEEDS
        ),
        "intensity_sums": Plot(intensity_sums.draw, intensity_sums.CAPTION, intensity_sums.NEEDS),
        "scenes": Plot(scenes.draw, scenes.CAPTION, scenes.NEEDS),
        "convergence": Plot(convergence.draw, convergence.CAPTION, convergence.NEEDS),
        "position_bias": Plot(position_bias.draw, position_bias.CAPTION, position_bias.NEEDS),
    }
)
#: Figures of a run, whatever is fitted: of its study table and of what is missing.
OF_RUN: Mapping[str, Plot[...]] = MappingProxyType(
    {
        "slopes": Plot(slopes.draw, slopes.CAPTION),
        "missingness": Plot(missingness.draw, missingness.CAPTION),
    }
)
#: Figures of several runs, each drawn from one table.
CROSS_RUN: Mapping[str, Plot[...]] = MappingProxyType(
    {
        "identification": Plot(identification.draw, identification.CAPTION),
        "runs": Plot(runs.draw, runs.CAPTION),
    }
)
#: Figures of a sensitivity analysis, drawn from its table of shifts and from its refits.
SENSITIVITY: Mapping[str, Plot[...]] = MappingProxyType(
    {
        "tornado": Plot(sensitivity.tornado, sensitivity.TORNADO),
        "overlay": Plot(sensitivity.overlay, sensitivity.OVERLAY),
    }
)
#: Figures of checks, of rules side by side and of the calibration, each drawn from one table.
TABLED: Mapping[str, Plot[...]] = MappingProxyType(
    {
        "predictive": Plot(predictive.draw, predictive.CAPTION),
        "prior_predictive": Plot(prior_predictive.draw, prior_predictive.CAPTION),
        "comparison": Plot(comparison.draw, comparison.CAPTION),
        "coverage": Plot(coverage.draw, coverage.CAPTION),
        "ranks": Plot(ranks.draw, ranks.CAPTION),
    }
)
#: Figure of designs, drawn from their table.
POWER = Plot(power.draw, power.CAPTION)
#: Figures of an estimator audit, drawn from its table.
AUDIT = MappingProxyType(
    {
        "estimates": Plot(audit.draw_estimates, audit.ESTIMATES),
        "battles": Plot(audit.draw_battles, audit.BATTLES),
        "confounding": Plot(audit.draw_confounding, audit.CONFOUNDING),
    }
)
#: Captions of all figures, by name, in reading order.
CAPTIONS = MappingProxyType(
    {
        name: plot.caption
        for plots in (FIGURES, OF_RUN, CROSS_RUN, SENSITIVITY, TABLED, AUDIT, {"power": POWER})
        for name, plot in plots.items()
    }
)


def applicable(data: FigureData) -> tuple[str, ...]:
    """Names of the figures of `FIGURES` whose quantities this fit has.

    A panel of one judge, for example, has no convergence.
    """
    have = set(data.quantities.data_vars)
    return tuple(name for name, plot in FIGURES.items() if have.issuperset(plot.needs))
