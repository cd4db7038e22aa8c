"""How much conclusions depend on priors, on the likelihood, and on single judges or foundations."""

from moralscale.sensitivity.power_scaling import power_scaling
from moralscale.sensitivity.refits import KINDS, Base, read_base, refits, save_refit
from moralscale.sensitivity.shifts import passing, read_refits, shifts, verdicts

__all__ = [
    "KINDS",
    "Base",
    "passing",
    "power_scaling",
    "read_base",
    "read_refits",
    "refits",
    "save_refit",
    "shifts",
    "verdicts",
]
