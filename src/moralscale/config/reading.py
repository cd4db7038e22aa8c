"""YAML files, and the descriptions of real judges in one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from moralscale.config.faults import as_config_error, validate
from moralscale.config.judge import Judge
from moralscale.config.section import Name
from moralscale.errors import ConfigError, shortened


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a key that is no word, or given twice, where YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    problem="a key is a list or a mapping", problem_mark=key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"key '{key.value}' is given twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_yaml(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that holds one mapping.

    Raises
    ------
    ConfigError
        The file is missing, is not YAML in UTF-8, gives a key twice, is nested too deep, or holds
        something else than a mapping.
    """
    path = Path(path)
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError:
        raise ConfigError("file not found", where=str(path), mend="check the path") from None
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("not valid YAML in UTF-8", where=str(path), mend="save it so") from None
    except RecursionError:
        raise ConfigError("nested too deep", where=str(path), mend="close the brackets") from None
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = str(path) if line is None else f"{path}, line {line + 1}"
        reason = getattr(error, "problem", None) or "not valid YAML"
        raise ConfigError(
            f"not valid YAML: {reason}", where=place, mend="check keys, quotes and indentation"
        ) from None
    except ValueError as error:  # a date that there is not, or a number of thousands of digits
        reason = shortened(str(error))
        raise ConfigError(f"not valid YAML: {reason}", where=str(path), mend="put quotes") from None
    if not isinstance(data, dict):
        raise ConfigError("not a mapping of keys to values", where=str(path))
    return data


def load_judges(path: str | Path) -> dict[str, Judge]:
    """Read the descriptions of real judges, by name.

    Raises
    ------
    ConfigError
        The file cannot be read, a name cannot become a file name, or a description is not valid.
    """
    judges = load_yaml(path)
    for name in judges:
        try:
            TypeAdapter(Name).validate_python(name)
        except ValidationError as error:
            raise as_config_error(error, Judge, f"{path}, {name}") from None
    return {
        name: validate(Judge, value, source=f"{path}, {name}") for name, value in judges.items()
    }


def check_keys(judges: Mapping[str, Judge]) -> None:
    """Make sure that every judge's key is in the environment.

    Raises
    ------
    ConfigError
        Keys are missing; names every variable and the judges that it is for.
    """
    missing: dict[str, list[str]] = {}
    for name, judge in judges.items():
        if judge.api_key_env and not os.environ.get(judge.api_key_env, "").strip():
            missing.setdefault(judge.api_key_env, []).append(name)
    if missing:
        told = ", ".join(f"{key} (for {', '.join(names)})" for key, names in missing.items())
        what = f"environment variables without a key: {told}"
        raise ConfigError(what, mend="export them, or take these judges out of the run")
