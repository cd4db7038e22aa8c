"""Put what the package brings along into a wheel: a build hook of hatchling.

In a checkout these lie at the root, where `moralscale.resources` finds them too.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BROUGHT_ALONG = (
    "config",
    "environment.yml",
    "examples",
    "requirements.lock",
    "scenarios",
    "workflow",
)


class BringAlong(BuildHookInterface[Any]):
    """Copies into ``moralscale/project``; an editable installation needs none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the copies of a standard build."""
        if version == "standard":
            places = {name: f"moralscale/project/{name}" for name in BROUGHT_ALONG}
            build_data["force_include"].update(places)
