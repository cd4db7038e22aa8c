"""The configuration as types, and how it is read."""

from moralscale.config.loading import (
    check_keys,
    load_config,
    load_judges,
    load_yaml,
    read_config,
    validate,
)
from moralscale.config.sections import (
    Calibration,
    Comparing,
    Config,
    Gates,
    Import,
    Judge,
    Name,
    Observation,
    Panel,
    Reporting,
    Sampler,
    Section,
    Sensitivity,
    TwoStep,
)

__all__ = [
    "Calibration",
    "Comparing",
    "Config",
    "Gates",
    "Import",
    "Judge",
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
