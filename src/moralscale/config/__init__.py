"""The configuration as types, and how it is read.

Every key, its default and its bounds stand in the sections and nowhere else:
``workflow/schemas/*.json`` and the tables of ``config/README.md`` are generated from them.
"""

from moralscale.config.config import Config
from moralscale.config.design import JudgmentCounts
from moralscale.config.estimators import Audit, TwoStep
from moralscale.config.faults import validate
from moralscale.config.fits import Gates, Observation, Sampler
from moralscale.config.judge import Judge
from moralscale.config.loading import load_config, read_config
from moralscale.config.outputs import FigureWidths, Reporting
from moralscale.config.panel import Panel
from moralscale.config.reading import check_keys, load_judges, load_yaml
from moralscale.config.run import Import
from moralscale.config.section import LANGUAGE_PATTERN, NAME_PATTERN, Name, Section
from moralscale.config.targets import Calibration, Comparing, Sensitivity

__all__ = [
    "LANGUAGE_PATTERN",
    "NAME_PATTERN",
    "Audit",
    "Calibration",
    "Comparing",
    "Config",
    "FigureWidths",
    "Gates",
    "Import",
    "Judge",
    "JudgmentCounts",
    "Name",
    "Observation",
    "Panel",
    "Reporting",
    "Sampler",
    "Section",
    "Sensitivity",
    "TwoStep",
    "check_keys",
    "load_config",
    "load_judges",
    "load_yaml",
    "read_config",
    "validate",
]
