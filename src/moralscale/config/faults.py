"""Validation of what a user wrote: the first fault as one line, with where it is and the mend."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from moralscale.config.section import Section
from moralscale.errors import ConfigError, suggestion


def validate[S: Section](section: type[S], data: Any, *, source: str) -> S:
    """Validate `data` as a `section`; the first fault becomes a `ConfigError`.

    Examples
    --------
    >>> from moralscale.config import Sampler
    >>> validate(Sampler, {"draws": 500}, source="run.yaml, sampler").draws
    500
    >>> validate(Sampler, {"drawss": 500}, source="run.yaml, sampler")
    Traceback (most recent call last):
        ...
    moralscale.errors.ConfigError: run.yaml, sampler, drawss: unknown key 'drawss'; did you mean ...
    """
    try:
        return section.model_validate(data)
    except ValidationError as error:
        raise as_config_error(error, section, source) from None


def as_config_error(error: ValidationError, section: type[Section], source: str) -> ConfigError:
    """Put the first fault that pydantic found into one line."""
    # A misspelt key is also a missing one: the first says more.
    fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    place = [str(part) for part in fault["loc"]]
    if place[-1:] == ["[key]"]:  # pydantic's way to say that a key is at fault, not its value
        place = place[:-2]
    *parents, key = place or [""]
    where = ", ".join(filter(None, [source, ".".join([*parents, key]).strip(".")]))
    if fault["type"] == "extra_forbidden":
        known = _keys_at(section, parents)
        return ConfigError(f"unknown key '{key}'", where=where, mend=suggestion(key, known))
    if fault["type"] == "missing":
        return ConfigError(f"key '{key}' is missing", where=where, mend="add it")
    message = re.sub(r"^Value error, ", "", fault["msg"])
    message = re.sub(r" or instance of \w+$", "", message)
    message = re.sub(r"(valid )?tuple", "list", message, flags=re.IGNORECASE)
    message = re.sub(r"(valid )?dictionary", "mapping", message, flags=re.IGNORECASE)
    if key == "api_key_env":
        # Whoever mistakes it for the key itself must not find the key in a log.
        what = "not the name of an environment variable: use letters, digits and '_'"
        return ConfigError(what, where=where, mend="put the key into a variable, its name here")
    if fault["type"] == "string_pattern_mismatch":
        message = (
            "not a name: use letters, digits, '.', '_' and '-', and begin with one of the first"
        )
    given = "" if fault["type"] == "value_error" else f" (given: {_short(fault['input'])})"
    return ConfigError(message[0].lower() + message[1:] + given, where=where)


def _keys_at(section: type[Section], path: list[str]) -> list[str]:
    """Keys allowed where `path` leads to, from the JSON schema of `section`."""
    schema = section.model_json_schema()
    node: dict[str, Any] = schema
    for part in path:
        by_name = list(node.get("patternProperties", {}).values())
        by_name.append(node.get("additionalProperties") or {})
        node = node.get("properties", {}).get(part) or by_name[0]
        node = next((option for option in node.get("anyOf", ()) if "$ref" in option), node)
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return list(node.get("properties", {}))


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
