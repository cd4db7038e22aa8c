"""Blind prompts: nothing but the acts, literally, in two symmetric options."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moralscale.answers import parse_answer
from moralscale.errors import ConfigError, SceneError
from moralscale.prompts import PromptTemplate, load_template, render
from moralscale.records import FOUNDATIONS

ROOT = Path(__file__).parents[1]
TEMPLATES = {
    path.stem: load_template(path) for path in sorted((ROOT / "config/prompts").glob("*.yaml"))
}
HIKER = "They carried an injured hiker down the mountain through the night."
COIN = "They kept a coin that a stranger had dropped on the tram."
BREAD = "They baked bread for the whole stairwell on a Sunday."
GOOD = """\
name: mine
labels: [A, B]
system: ""
text: |
  Person {first_label}:
  {first}
  Person {second_label}:
  {second}
"""

templates = pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES.keys())


def scenes():
    with (ROOT / "scenarios/scenes.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@templates
def test_every_scene_is_rendered_blind(template):
    frames = set()
    for scene in scenes():
        prompt = render(template, [scene["text"]], [HIKER])
        assert f"- {scene['text']}" in prompt.user.splitlines()
        assert scene["id"] not in prompt.user
        frames.add((prompt.system, prompt.user.replace(f"- {scene['text']}", "")))
    assert len(frames) == 1, "the frame depends on something other than the acts"


@templates
def test_frame_names_no_foundation_and_no_intensity(template):
    frame = f"{template.system} {template.text}".lower()
    words = set(re.findall(r"[^\W\d_]+", frame))
    assert not words & {"oui", "non", "juste", "loyal", "sacré", "intensité", "moral", "aiguiller"}
    assert not words & {*FOUNDATIONS, "fair", "loyal", "sacred", "foundation", "intensity", "moral"}
    assert not words & {"yes", "no", "nothing happens", "default", "pull", "lever", "inaction"}
    assert not re.search(r"\d", frame)


@templates
def test_acts_stand_as_whole_lines_in_display_order(template):
    lines = render(template, [HIKER, COIN], [BREAD]).user.splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        f"- {a}" for a in (HIKER, COIN, BREAD)
    ]
    at = lines.index
    person = {"en": "Person {}:", "fr": "Personne {} :"}[template.language]
    first, second = map(person.format, template.labels)
    assert at(first) + 1 == at(f"- {HIKER}") < at(f"- {COIN}") < at(second) < at(f"- {BREAD}")


@templates
def test_swapping_options_swaps_the_act_blocks_and_nothing_else(template):
    one, other = f"- {HIKER}\n- {COIN}", f"- {BREAD}"
    straight = render(template, [HIKER, COIN], [BREAD])
    swapped = render(template, [BREAD], [HIKER, COIN])
    marked = straight.user.replace(one, "{1}").replace(other, "{2}")
    assert swapped.user == marked.replace("{1}", other).replace("{2}", one)
    assert (straight.system, straight.labels) == (swapped.system, swapped.labels)


def test_the_french_prompt_is_the_trolley_in_french():
    trolley, french = TEMPLATES["trolley"], TEMPLATES["fr"]
    assert (trolley.language, french.language, french.labels) == ("en", "fr", trolley.labels)
    shape = [
        [re.findall(r"\{\w+\}", block) for block in template.text.split("\n\n")]
        for template in (trolley, french)
    ]
    assert shape[0] == shape[1]


def test_a_prompt_in_another_language_than_the_scenes_is_refused(tmp_path):
    path = ROOT / "config/prompts/trolley.yaml"
    assert load_template(path, language="en").name == "trolley"
    with pytest.raises(ConfigError, match="the prompt is in 'en', the scenes are in 'fr'; name a"):
        load_template(path, language="fr")
    (tmp_path / "mine.yaml").write_text(GOOD + "language: French\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="key language: 'French' is no code of a language"):
        load_template(tmp_path / "mine.yaml")


def test_arms_differ_in_the_trolley_only():
    trolley, plain = (TEMPLATES[name].text.splitlines() for name in ("trolley", "plain"))
    assert trolley[3:-1] == plain[3:-1]
    assert trolley[-1].replace("saved", "helped") == plain[-1]


@templates
def test_one_letter_answers_are_read_back(template):
    prompt = render(template, [HIKER], [COIN])
    assert [parse_answer(label, prompt.labels).outcome for label in prompt.labels] == [
        "first",
        "second",
    ]
    echoed = f"{prompt.user}\n\n{prompt.labels[1]}"
    assert parse_answer(echoed, prompt.labels).outcome == "second"


@given(
    st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(
        str.strip
    )
)
def test_acts_are_literal(act):
    for literal in (
        act,
        f"{act} {{second}} {{first_label}} {{{{x}}}} \\1 \\g<0> $x %s",
        "Answer: A",
    ):
        prompt = render(TEMPLATES["trolley"], [literal], [HIKER])
        assert prompt.user.split("\n").count(f"- {literal}") == 1
        assert prompt.user.split("\n").count(f"- {HIKER}") == 1 or literal == HIKER


def test_labels_reach_text_and_system():
    template = PromptTemplate(
        "t",
        ("X", "Y"),
        "Reply {first_label} or {second_label}.",
        "{first_label}\n{first}\n{second}",
    )
    prompt = render(template, [HIKER], [COIN])
    assert prompt.system == "Reply X or Y."
    assert prompt.user == f"X\n- {HIKER}\n- {COIN}"
    assert prompt.labels == ("X", "Y")


@pytest.mark.parametrize(
    "acts", [[], HIKER, [""], ["  "], ["one\ntwo"], ["one\u2028two"], [HIKER, ""]]
)
def test_acts_that_are_not_lines(acts):
    with pytest.raises(SceneError, match=r"second option: .*; (give|write)"):
        render(TEMPLATES["trolley"], [HIKER], acts)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("system:", "sytem:", "key sytem: unknown key 'sytem'; use only name, labels"),
        ('system: ""\n', "", "key system: missing key 'system'; add it"),
        ('system: ""', "system: 3", "key system: 3 is not a text"),
        ('system: ""', "system: '{first}'", "key system: unknown placeholder {first}; use only"),
        ("  {first}\n", "", "key text: missing placeholder {first}; add it"),
        ("Person {second_label}:", "x", "key text: missing placeholder {second_label}"),
        ("  {first}\n", "  - {first}\n", "key text: placeholder {first} not once and alone"),
        (
            "  {first}\n",
            "  {first}\n  {first}\n",
            "key text: placeholder {first} not once and alone",
        ),
        ("  {first}\n", "  {first}\n  {intensity}\n", "key text: unknown placeholder {intensity}"),
        (
            "name: mine",
            "name: yours",
            "key name: 'yours' differs from the file's name; write 'mine'",
        ),
        ("[A, B]", "[A]", "key labels: ['A'] is not a list of two"),
        ("[A, B]", '["A", "(A)"]', "key labels: two labels that read the same"),
        ("[A, B]", "[A, B]\nname: other", "key 'name' is given twice"),
        ("[A, B]", "[A, a]", "key labels: two labels that read the same"),
        ("[A, B]", "[1, 2]", "key labels: label 1 is not a word"),
        ("[A, B]", "[A, '']", "key labels: label '' is not a word"),
        ("[A, B]", "[A, B", "not valid YAML"),
        (GOOD, "just text", "not a mapping of keys"),
    ],
)
def test_bad_template(tmp_path, old, new, message):
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, "utf-8")
    assert load_template(path).labels == ("A", "B")
    path.write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        load_template(path)
    assert str(path) in str(caught.value)


def test_missing_template(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.yaml: file not found"):
        load_template(tmp_path / "absent.yaml")


def test_arms_differ_in_what_they_are_for():
    trolley, labels = TEMPLATES["trolley"], TEMPLATES["labels"]
    assert labels.text == trolley.text
    assert not set(labels.labels) & set(trolley.labels)
    paraphrase = TEMPLATES["paraphrase"]
    assert paraphrase.labels == trolley.labels
    sentences = [set(re.findall(r"[A-Z][^.?{}]+[.?]", t.text)) for t in (trolley, paraphrase)]
    assert sentences[0]
    assert not sentences[0] & sentences[1]
