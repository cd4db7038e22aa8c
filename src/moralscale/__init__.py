"""How language models weigh moral acts, alone and combined.

What the command line does is here as functions; each is imported when it is first used, so that
``import moralscale`` loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Public functions, and the module that each is defined in.
_PUBLIC: dict[str, str] = {
    "rate": "moralscale.rating",
    "fit_judgments": "moralscale.fitting",
    "check_posterior": "moralscale.checks.posterior",
    "compare_posteriors": "moralscale.compare.ranking",
    "online_elo": "moralscale.elo",
    "study_table": "moralscale.study",
    "two_step_tables": "moralscale.study",
    "content_tests": "moralscale.missingness",
    "count_missing": "moralscale.missingness",
    "estimate_cost": "moralscale.estimate",
    "import_judgments": "moralscale.importing",
    "probe_runs": "moralscale.probe",
    "compare_runs": "moralscale.run_comparison",
    "open_run": "moralscale.runs",
    "summary": "moralscale.inspection",
    "needed": "moralscale.power",
    "power_table": "moralscale.power",
    "new_project": "moralscale.scaffold",
    "diagnose": "moralscale.doctor",
    "verify": "moralscale.provenance",
    "archive_run": "moralscale.provenance",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'moralscale' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
