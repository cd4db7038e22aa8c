"""The visible, plain text of an answer: look-alikes, reasoning, markup and quotations resolved.

Every pattern repeats characters a bounded number of times, or stops at its own opening character,
so that time grows linearly with the text.
"""

# ruff: noqa: RUF001 (look-alike letters are the subject here)
from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator

# Letters that look like Latin ones; read as such only where they stand alone.
_ALPHABETS = (
    ("АВСЕНІЈКМОРЅТХУ", "ABCEHIJKMOPSTXY"),  # Cyrillic
    ("авсеіјкморѕтху", "abceijkmopstxy"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),  # Greek
    ("αβικνορτυχ", "abiknoptux"),
    ("ᎪᏴꓮꓐɑ", "ABABa"),  # Cherokee, Lisu, phonetic
)
_LOOKALIKES = {
    ord(odd): plain for odds, plains in _ALPHABETS for odd, plain in zip(odds, plains, strict=True)
}
_LONE = re.compile(r"(?<!\w)[\u0370-\u03ff\u0400-\u04ffᎪᏴꓮꓐɑ](?!\w)")
_FOREIGN_WORD = re.compile(r"[\u0370-\u03ff\u0400-\u04ff]{2}")
_SYMBOL = re.compile("[\u1d00-\u1d22\u0262-\u029f\u2776-\u2793\U0001f100-\U0001f1ff]")
_LETTER_NAME = re.compile(r"(?:NEGATIVE|REGIONAL|SMALL CAPITAL|SQUARED).* ([A-Z])")
_CHARACTERS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u201b\u2032\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d", '"')
    | dict.fromkeys("\u2010\u2011\u2212", "-")
    | dict.fromkeys("\u2012\u2013\u2015", "\u2014")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u20e3\ufeff\0")
    | dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    | {code: None for code in range(0xFE00, 0xFE10)}
)
_GUILLEMETS = re.compile("\u00ab[ \u00a0\u202f]|[ \u00a0\u202f]\u00bb")
_MARKUP = str.maketrans({"*": "", "`": "", "_": " "})
_REASONING = re.compile(
    r"[<\[◁](?P<close>/?)(?:\w{1,8}:)?"
    r"(?:think(?:ing)?|reason(?:ing)?|thoughts?|reflection|scratchpad)[>\]▷]"
    r"|(?P<final><\|channel\|>final<\|message\|>)",
    re.I,
)
_SPECIAL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|<(?:eos|bos|end_of_turn|start_of_turn)>|\[/?INST\]", re.I
)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|\w[\u0335-\u0338]")
_TAG = re.compile(r"<(\w{1,15})(?:\s[^<>]{0,80})?>([^<>]{0,2000})</\1>", re.I)
_FENCE = re.compile(r"```\w{0,12}")
_QUOTE = re.compile(
    r"(?<!\w)\"(?=\S)(?P<double>[^\"\n]{0,4000})\""
    r"|(?<!\w)'(?=\S)(?P<single>(?:[^'\n]|(?<=\w)'(?=\w)){1,600})'(?!\w)"
    r"|^[ ]{0,3}>(?P<block>[^\n]{0,4000})$",
    re.M,
)


def normalise(text: str) -> str:
    """One spelling for compatible, invisible and look-alike characters and for quotes."""
    # French sets a space inside its quotation marks, which the marks that replace them do not have.
    text = _GUILLEMETS.sub(lambda match: match[0].strip(), text)
    # Typographic marks first: NFKC would turn an acute accent into a space and a combining mark.
    text = unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    text = _SYMBOL.sub(_plain_symbol, text.replace('\\"', '"'))
    return "\n".join(_latin(line) for line in text.split("\n"))


def plain_label(label: str) -> str:
    """Read a label as it comes out of `normalise` and `unpack`, without brackets around it."""
    return normalise(label).translate(_MARKUP).strip(" \n\t()[]{}<>.:,;!?'\"")


def _plain_symbol(match: re.Match[str]) -> str:
    symbol = match[0]
    digit = unicodedata.digit(symbol, None)
    if digit is not None:
        return str(digit)
    named = _LETTER_NAME.search(unicodedata.name(symbol, "") + " ")
    return named[1] if named and unicodedata.name(symbol).endswith(f" {named[1]}") else symbol


def _latin(line: str) -> str:
    """Read lone look-alikes as Latin letters.

    In a line with words of the same script a lone letter is a word (the Russian preposition that
    looks like B), unless a colon or an opening mark sets it apart.
    """
    foreign = _FOREIGN_WORD.search(line) is not None

    def plain(match: re.Match[str]) -> str:
        before = line[max(0, match.start() - 6) : match.start()].rstrip()
        apart = not foreign or before.endswith((":", "=", "(", "[", "{", '"', "**"))
        return match[0].translate(_LOOKALIKES) if apart else match[0]

    return _LONE.sub(plain, line)


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Take off what stands inside reasoning tags.

    Returns
    -------
    text : str
        What is left. A lone closing tag means that everything before it was reasoning.
    unfinished : bool
        Whether the last reasoning tag was never closed; what follows it is taken off as well.
    """
    kept: list[str] = []
    start, inside = 0, False
    for tag in _REASONING.finditer(text):
        closes = bool(tag["close"] or tag["final"])
        if closes and not inside:
            kept.clear()
        elif not closes and not inside:
            kept.append(text[start : tag.start()])
        inside = not closes
        start = tag.end()
    if not inside:
        kept.append(text[start:])
    return _SPECIAL.sub(" ", " ".join(kept)).strip(), inside


def unpack(text: str, is_key: Callable[[str], object], is_option: Callable[[str], object]) -> str:
    """Plain text of an answer: out of JSON, without markup, struck or quoted passages.

    Parameters
    ----------
    text : str
        Normalised text without reasoning.
    is_key : callable
        Whether a JSON key announces the answer.
    is_option : callable
        Whether a quoted passage is nothing but an option, and so no quotation.
    """
    text = _FENCE.sub("", html.unescape(text)).strip()
    text = _STRUCK.sub(" ", _json_answer(text, is_key))
    for _ in range(3):  # nested tags, innermost first
        text = _TAG.sub(lambda tag: f"{tag[1]}: {tag[2]}\n" if is_key(tag[1]) else tag[2], text)
    text = text.translate(_MARKUP).strip()

    def unquote(match: re.Match[str]) -> str:
        inner = match[match.lastgroup or 0]
        kept = is_option(inner) or re.fullmatch(r"\w{1,30}|\w{1,15} \w{1,15}", inner)
        return f" {inner} " if kept else " … "

    whole = _QUOTE.fullmatch(text)
    return (whole[whole.lastgroup or 0] if whole else _QUOTE.sub(unquote, text)).strip()


def _json_answer(text: str, is_key: Callable[[str], object]) -> str:
    """Last string under an answer key, where the whole text is a JSON object that has one."""
    if not (text.startswith("{") and text.endswith("}")):
        return text
    try:
        pairs = list(_string_items(json.loads(text)))
    except (ValueError, RecursionError):
        # Not JSON after all: judges also write Python dictionaries and sets; read it as prose.
        return text
    return next((value for key, value in reversed(pairs) if is_key(key)), text)


def _string_items(node: object) -> Iterator[tuple[str, str]]:
    children = node.items() if isinstance(node, dict) else []
    for key, value in children:
        if isinstance(value, str):
            yield key, value
        yield from _string_items(value)
