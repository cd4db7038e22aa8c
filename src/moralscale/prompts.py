"""Blind rendering: from the acts of two options to what a judge sees.

A template is a YAML file with the keys ``name``, ``labels``, ``system`` and ``text``, and
``language`` where it is not English. What a judge sees depends on the template and on the texts of
the acts, and on nothing else: foundation, intensity and ids never reach this module. Two acts of a
composite are two lines, joined by no word of any language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moralscale.answers import parse_answer
from moralscale.config import LANGUAGE_PATTERN, load_yaml
from moralscale.errors import ConfigError, SceneError

_KEYS = ("name", "labels", "system", "text")
_LANGUAGE = re.compile(LANGUAGE_PATTERN)
_LABELS = ("first_label", "second_label")
_ACTS = ("first", "second")
_PLACEHOLDER = re.compile(r"\{([^{}\n]*)\}")


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A validated prompt template.

    Attributes
    ----------
    name : str
        Name of the template, and of its file.
    labels : tuple of str
        Labels of the first and of the second option, in display order.
    system : str
        System prompt, may be empty; may hold the placeholders of the labels.
    text : str
        User prompt with the placeholders ``{first}``, ``{second}`` (each alone on its line),
        ``{first_label}`` and ``{second_label}``.
    language : str
        Language of the texts, and of the scenes that they are made for: ``en``, ``fr``.
    """

    name: str
    labels: tuple[str, str]
    system: str
    text: str
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a judge sees, with the labels by which its answer is read."""

    system: str
    user: str
    labels: tuple[str, str]


def load_template(path: str | Path, *, language: str | None = None) -> PromptTemplate:
    """Read and validate a prompt template.

    Parameters
    ----------
    path : str or Path
        YAML file; its stem is the template's name.
    language : str, optional
        Language of the scenes that it will show; unless given, it is not compared.

    Returns
    -------
    PromptTemplate
        The template, with line ends as in the file.

    Raises
    ------
    ConfigError
        If the file cannot be read, a key is unknown, missing or of the wrong type, or a placeholder
        is unknown, missing, repeated or not alone on its line; or the template is in another
        language than the scenes.
    """
    path = Path(path)
    fields = load_yaml(path)
    known = (*_KEYS, "language")
    for key in fields:
        if key not in known:
            raise _error(path, str(key), f"unknown key {key!r}", f"use only {', '.join(known)}")
    for key in _KEYS:
        if key not in fields:
            raise _error(path, key, f"missing key {key!r}", "add it")
    for key in ("name", "system", "text"):
        if not isinstance(fields[key], str):
            raise _error(path, key, f"{fields[key]!r} is not a text", "quote it")
    if fields["name"] != path.stem:
        raise _error(
            path, "name", f"{fields['name']!r} differs from the file's name", f"write {path.stem!r}"
        )
    _check_placeholders(path, "system", fields["system"], _LABELS)
    _check_placeholders(path, "text", fields["text"], _ACTS + _LABELS)
    _check_text(path, fields["text"])
    return PromptTemplate(
        name=fields["name"],
        labels=_checked_labels(path, fields["labels"]),
        system=fields["system"].strip(),
        text=fields["text"].strip(),
        language=_checked_language(path, fields.get("language", "en"), language),
    )


def render(template: PromptTemplate, first: Sequence[str], second: Sequence[str]) -> Prompt:
    r"""Render what a judge sees of one comparison.

    Parameters
    ----------
    template : PromptTemplate
        Frame of the question.
    first, second : sequence of str
        Texts of the acts of either option, in display order: one for a scene, two for a composite.

    Returns
    -------
    Prompt
        Each act stands unaltered on a line of its own, as ``- <text>``, never interpreted.

    Raises
    ------
    SceneError
        If an option has no act, or an act is blank or spans several lines.

    Examples
    --------
    >>> text = "{first_label}:\n{first}\n{second_label}:\n{second}"
    >>> template = PromptTemplate("short", ("A", "B"), "", text)
    >>> print(render(template, ["They lied."], ["They lent a bike.", "They left."]).user)
    A:
    - They lied.
    B:
    - They lent a bike.
    - They left.
    """
    values = {
        "first": _act_lines(first, "first"),
        "second": _act_lines(second, "second"),
        "first_label": template.labels[0],
        "second_label": template.labels[1],
    }
    return Prompt(_fill(template.system, values), _fill(template.text, values), template.labels)


def _fill(text: str, values: Mapping[str, str]) -> str:
    # One pass over the template, so that braces in an act are never taken for placeholders.
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _act_lines(acts: Sequence[str], option: str) -> str:
    where = f"{option} option"
    if isinstance(acts, str) or not acts:
        raise SceneError("no list of acts", where=where, mend="give a list of one or two texts")
    for act in acts:
        if not act.strip() or len(act.splitlines()) != 1:
            raise SceneError(
                f"act {act!r} is not one line of text", where=where, mend="write it on one line"
            )
    return "\n".join(f"- {act}" for act in acts)


def _error(path: Path, key: str, what: str, mend: str) -> ConfigError:
    return ConfigError(what, where=f"{path}, key {key}", mend=mend)


def _check_placeholders(path: Path, key: str, text: str, allowed: Sequence[str]) -> None:
    for found in _PLACEHOLDER.findall(text):
        if found not in allowed:
            known = ", ".join(f"{{{name}}}" for name in allowed)
            raise _error(path, key, f"unknown placeholder {{{found}}}", f"use only {known}")


def _check_text(path: Path, text: str) -> None:
    for name in _ACTS + _LABELS:
        if f"{{{name}}}" not in text:
            raise _error(path, "text", f"missing placeholder {{{name}}}", "add it")
    lines = text.splitlines()
    for name in _ACTS:
        # Judges that read line by line find each act as one whole line.
        if text.count(f"{{{name}}}") != 1 or f"{{{name}}}" not in lines:
            raise _error(
                path,
                "text",
                f"placeholder {{{name}}} not once and alone on its line",
                "give it one line of its own, without indentation",
            )
    if lines.index("{first}") > lines.index("{second}"):
        raise _error(path, "text", "{second} stands above {first}", "show the first option first")


def _checked_language(path: Path, written: object, wanted: str | None) -> str:
    if not isinstance(written, str) or not _LANGUAGE.fullmatch(written):
        raise _error(path, "language", f"{written!r} is no code of a language", "write en or fr")
    if wanted is not None and written != wanted:
        what = f"the prompt is in '{written}', the scenes are in '{wanted}'"
        mend = "name a prompt in the language of the scenes, or set `language` to theirs"
        raise _error(path, "language", what, mend)
    return written


def _checked_labels(path: Path, labels: object) -> tuple[str, str]:
    mend = "give two different words, such as [A, B]; quote digits"
    if not isinstance(labels, list) or len(labels) != 2:
        raise _error(path, "labels", f"{labels!r} is not a list of two", mend)
    first, second = labels
    for label in labels:
        if not isinstance(label, str) or not label.strip() or len(label.splitlines()) != 1:
            raise _error(path, "labels", f"label {label!r} is not a word", mend)
    first, second = first.strip(), second.strip()
    try:
        parse_answer(first, (first, second))
    except ConfigError as error:  # labels that the parser cannot tell apart
        raise _error(path, "labels", error.what, mend) from None
    return first, second
