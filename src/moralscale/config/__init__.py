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
    Config,
    Gates,
    Import,
    Judge,
    Name,
    Panel,
    Reporting,
    Sampler,
    Section,
)

__all__ = [
    "Config",
    "Gates",
    "Import",
    "Judge",
    "Name",
    "Panel",
    "Reporting",
    "Sampler",
    "Section",
    "check_keys",
    "load_config",
    "load_judges",
    "load_yaml",
    "read_config",
    "validate",
]
