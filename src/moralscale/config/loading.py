"""Read and validate configurations; a fault is one line that says where and how to mend it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from moralscale.config.sections import Config, Judge, Name, Run, Section
from moralscale.errors import ConfigError, suggestion

#: Folders beside those of runs.
RESERVED = ("audit", "audit-full", "calibration", "comparison")


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a key that is given twice, where YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
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
        The file is missing, is not YAML in UTF-8, gives a key twice, or holds something else than
        a mapping.
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
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = str(path) if line is None else f"{path}, line {line + 1}"
        reason = getattr(error, "problem", None) or "not valid YAML"
        raise ConfigError(
            f"not valid YAML: {reason}", where=place, mend="check keys, quotes and indentation"
        ) from None
    if not isinstance(data, dict):
        raise ConfigError("not a mapping of keys to values", where=str(path))
    return data


def load_config(data: Mapping[str, Any], *, source: str, root: str | Path = ".") -> Config:
    """Validate a configuration and everything that it refers to by name.

    Parameters
    ----------
    data : mapping
        The configuration, as Snakemake or YAML gives it.
    source : str
        The file or files that it came from, for error messages.
    root : path, optional
        Folder that relative paths start from.

    Raises
    ------
    ConfigError
        A key is unknown, a value has the wrong type, or a panel, judge, prompt, prior or file that
        is referred to does not exist.
    """
    config = validate(Config, data, source=source)
    _check_references(config, source, Path(root))
    return config


def read_config(path: str | Path, *, root: str | Path = ".") -> Config:
    """Read a configuration as a workflow run would.

    A file that names no runs changes keys of ``config/config.yaml`` under `root`.

    Raises
    ------
    ConfigError
        As of `load_yaml` and `load_config`.
    """
    data = load_yaml(path)
    if "runs" not in data:
        data = _changed(load_yaml(Path(root) / "config/config.yaml"), data)
    return load_config(data, source=str(path), root=root)


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


def _changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change keys of nested mappings, as Snakemake does."""
    merged = dict(data)
    for key, value in changes.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _changed(old, value) if both else value  # type: ignore[arg-type]
    return merged


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
            raise _as_config_error(error, Judge, f"{path}, {name}") from None
    return {
        name: validate(Judge, value, source=f"{path}, {name}") for name, value in judges.items()
    }


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
        raise _as_config_error(error, section, source) from None


def _check_references(config: Config, source: str, root: Path) -> None:
    _check_corpus(config.scenes, f"{source}, scenes", root)
    if any(run.import_ is None for run in config.runs.values()):
        _check_counts(config, source)
    _check_prompts(config.design.prompts, f"{source}, design.prompts", root)
    for prior in config.fits.priors:
        _known(prior, _stems(root / "config/priors"), f"{source}, fits.priors", "prior")
    for name, run in config.runs.items():
        _check_run(config, name, run, f"{source}, runs.{name}", root)


def _check_run(config: Config, name: str, run: Run, where: str, root: Path) -> None:
    if name in RESERVED:
        what = f"'{name}' names a folder beside those of runs"
        raise ConfigError(what, where=where, mend="give the run another name")
    if run.scenes is not None:
        _check_corpus(run.scenes, f"{where}.scenes", root)
    _check_prompts(run.prompts, f"{where}.prompts", root)
    if run.panel is not None:
        _known(run.panel, config.panels, f"{where}.panel", "panel")
    if run.judges:
        library = load_judges(root / config.judges_file)
        for judge in run.judges:
            _known(judge, library, f"{where}.judges", "judge")
    if run.import_ is not None:
        files = {"file": run.import_.file, "composites": run.import_.composites}
        for key, path in files.items():
            if path and not (root / path).is_file():
                what = f"no such file: {path}"
                raise ConfigError(what, where=f"{where}.import.{key}", mend="check the path")


def _check_corpus(path: str, where: str, root: Path) -> None:
    if not (root / path).is_file():
        raise ConfigError(f"no such file: {path}", where=where, mend="check the path")


def _check_prompts(names: Iterable[str], where: str, root: Path) -> None:
    for name in names:
        _known(name, _stems(root / "config/prompts"), where, "prompt")


def _check_counts(config: Config, source: str) -> None:
    counts = config.design.judgments
    needed = {"single": counts.single, "composite": counts.composite}
    if "bridged" in config.fits.data:
        needed["bridge"] = counts.bridge
    for arena, count in needed.items():
        if not count:
            raise ConfigError(
                f"no judgments in the {arena} arena, which a fit in fits.data reads",
                where=f"{source}, design.judgments.{arena}",
                mend="ask for some" + (", or fit `study` alone" if arena == "bridge" else ""),
            )


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _known(name: str, known: Iterable[str], where: str, kind: str) -> None:
    known = list(known)
    if name not in known:
        raise ConfigError(f"unknown {kind} '{name}'", where=where, mend=suggestion(name, known))


def _as_config_error(error: ValidationError, section: type[Section], source: str) -> ConfigError:
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
