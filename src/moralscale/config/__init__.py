"""The configuration as types, and how it is read."""

from moralscale.config.loading import load_config, load_judges, load_yaml, validate
from moralscale.config.sections import (
    Audit,
    Config,
    Gates,
    Judge,
    Name,
    Panel,
    Reporting,
    Sampler,
    Section,
    TwoStep,
)

__all__ = [
    "Audit",
    "Config",
    "Gates",
    "Judge",
    "Name",
    "Panel",
    "Reporting",
    "Sampler",
    "Section",
    "TwoStep",
    "load_config",
    "load_judges",
    "load_yaml",
    "validate",
]
