"""How many judgments, in which arenas, for an interval of a wanted width.

Widths come from the expected (Fisher) information of the joint model at planted judges, with the
spreads known: no answer is drawn and nothing is fitted, so a design takes about a second. Where
spreads have to be learned from few judgments, these widths are too narrow. Pairs at random stand
for the schedule. docs/power.md holds these widths against simulated fits.
"""

from moralscale.power.designs import check_wanted, needed, power_table, usd_a_judgment
from moralscale.power.widths import expected_widths, random_pairs

__all__ = [
    "check_wanted",
    "expected_widths",
    "needed",
    "power_table",
    "random_pairs",
    "usd_a_judgment",
]
