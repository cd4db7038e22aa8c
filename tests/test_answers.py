"""Reading answers: the cases in tests/data/answers.jsonl, and properties over many texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moralscale.answers import parse_answer
from moralscale.errors import ConfigError, JudgmentError
from moralscale.records import Outcome

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "answers.jsonl").read_text("utf-8").splitlines()
]
SWAPPED = {Outcome.FIRST: Outcome.SECOND, Outcome.SECOND: Outcome.FIRST}
#: Pieces of answers, put together at random below; none names an option by its order.
PIECES = (
    *(
        "A",
        "B",
        "a",
        "b",
        "Answer:",
        "not",
        "I choose",
        "or",
        "and",
        "person",
        "because",
        "so",
        "is",
    ),
    *(
        "better",
        ".",
        ",",
        "\n",
        "**",
        '"',
        "'",
        "(",
        ")",
        "<think>",
        "</think>",
        "~~",
        "> ",
        "{",
        "}",
    ),
    *(
        "equal",
        "I can't choose",
        "[[",
        "]]",
        "if",
        "?",
        "A hurt a child.",
        "should be saved",
        "```",
        "je choisis",
        "la personne",
        "ne",
        "pas",
        "est préférable",
        "car",
        "ou",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['text'][:40]!r}")
def test_case(case):
    labels = tuple(case.get("labels", ("A", "B")))
    assert parse_answer(case["text"], labels=labels, stop=case["stop"]).outcome == case["expect"]


def test_answer_names_span_and_rule():
    answer = parse_answer("I weigh both.\n**Answer:** B, since A lied.")
    assert (answer.outcome, answer.matched, answer.rule) == ("second", "Answer: B", "stated")
    assert parse_answer("I cannot choose between them.").matched == "cannot choose"
    assert parse_answer("The latter.").matched == "B."
    assert parse_answer("xyz").matched == ""


@settings(deadline=None)  # the long examples take as long as the machine lets them
@given(st.text(max_size=300), st.sampled_from(["stop", "length"]))
@example("[" * 3000 + "A", "stop")
@example('{"answer":' * 3000 + "}" * 3000, "stop")
@example("\ud800 A", "stop")
@example("\U00013000", "stop")
def test_any_text_has_an_outcome(text, stop):
    outcome = parse_answer(text, stop=stop).outcome
    assert isinstance(outcome, Outcome)
    assert outcome not in (Outcome.REFUSAL, Outcome.BLOCKED) or any(map(str.isalpha, text))


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join))
def test_swapped_labels_swap_first_and_second(text):
    outcome = parse_answer(text, labels=("A", "B")).outcome
    assert parse_answer(text, labels=("B", "A")).outcome == SWAPPED.get(outcome, outcome)


@given(
    st.sampled_from([("A", "B"), ("1", "2"), ("X", "Y"), ("Left", "Right"), ("I", "II")]),
    st.sampled_from([0, 1]),
    st.sampled_from([str.lower, str.upper, str]),
    st.sampled_from(
        ["", "*", "**", "`", "_", '"', "'", "(", "[", "{", "<", "“", "**(", "\n\n", "\t", "# "]
    ),
    st.sampled_from(["", ".", "!", " ", "\n", ".\n", ",", ";", ":"]),
)
def test_wrapped_label_is_the_label(labels, side, case, mark, end):
    closing = mark[::-1].translate(str.maketrans("([{<“", ")]}>”", "#"))
    text = f" {mark}{case(labels[side])}{closing}{end}"
    assert parse_answer(text, labels=labels).outcome == ("first", "second")[side]


@given(st.text(alphabet="AB<>/think. \n", max_size=60))
def test_reasoning_in_tags_never_changes_the_answer(thought):
    text = f"<think>{thought}</think>\nAnswer: B"
    assert parse_answer(text).outcome == "second"


@given(st.text(max_size=60))
def test_quoted_text_never_changes_the_answer(quoted):
    inner = quoted.translate(str.maketrans("", "", '"“”„‟«»″「」<>~\\&'))
    inner = " ".join(inner.split())
    answer = parse_answer(f'Answer: B. They wrote "Answer: A {inner}" there.')
    assert answer.outcome == "second"


def test_stated_answer_survives_a_cut_and_prose_does_not():
    text = "I choose A.\nAnswer: B because they"
    assert parse_answer(text, stop="length").outcome == "second"
    assert parse_answer("I choose A. However, I", stop="length").outcome == "truncated"
    assert parse_answer("I'm sorry, but I can't", stop="length").outcome == "truncated"


@pytest.mark.parametrize("stop", ["refusal", "blocked"])
def test_provider_s_refusal_or_block_decides(stop):
    assert parse_answer("Answer: A", stop=stop).outcome == stop


@pytest.mark.parametrize(
    "piece",
    [
        "A or B ",
        "A\nB\n",
        '"',
        "'a ",
        "<b>",
        "[[",
        "{",
        "\n",
        "I choose ",
        "the person ",
        "\u0410 ",
    ],
)
def test_long_texts_are_read_to_their_end(piece):
    text = piece * (60_000 // len(piece)) + "\n\nFinal answer: B.\n"
    assert parse_answer(text).outcome == "second"


@pytest.mark.parametrize(
    "labels",
    [("A", "A"), ("A", "a"), ("A", "\u0410"), ("", "B"), ("*", "B"), ("A",), "AB", ("A", "(a)")],
)
def test_labels_that_cannot_be_told_apart(labels):
    with pytest.raises(ConfigError, match="labels"):
        parse_answer("A", labels=labels)


def test_unknown_stop_reason():
    with pytest.raises(
        JudgmentError, match="unknown stop reason 'max_tokens'; use one of stop, length"
    ):
        parse_answer("A", stop="max_tokens")
