"""The corpus as an instrument, and what loading says of a corpus that is not valid."""

from __future__ import annotations

import csv
import re
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moralscale.errors import SceneError
from moralscale.records import FOUNDATIONS, INTENSITIES
from moralscale.scenes import COLUMNS, load_scenes

SCENARIOS = Path(__file__).parents[1] / "scenarios"

JUDGEMENT = (
    r"wrong\w*|right(?:ly|eous\w*)|good|goodness|bad|badly|evil\w*|immoral\w*|moral\w*|brave\w*|"
    r"courag\w*|hero\w*|coward\w*|cruel\w*|kind|kindly|kindness|generous\w*|selfish\w*|selfless\w*|"
    r"greed\w*|noble|nobly|wicked\w*|vile|shame\w*|shameful\w*|guilt\w*|virtu\w*|vicious\w*|"
    r"honest\w*|dishonest\w*|decent\w*|rude\w*|mean(?:ly)?|callous\w*|heartless\w*|merci\w*|"
    r"compassion\w*|horrif\w*|awful\w*|terrible|terribly|nasty|foolish\w*|reckless\w*|gentle|gently|"
    r"lazy|lazily|sadly|admirabl\w*|villain\w*|innocent\w*|deserv\w*"
)
FOUNDATION = (
    r"car(?:e|es|ed|ing|eful\w*|eless\w*)|harm\w*|hurt\w*|protect\w*|suffer\w*|abus\w*|"
    r"fair\w*|unfair\w*|cheat\w*|just(?:ice|ly)|unjust\w*|injustice|equal\w*|unequal\w*|fraud\w*|"
    r"loyal\w*|disloyal\w*|betray\w*|traitor\w*|treason\w*|treacher\w*|patriot\w*|solidarity|"
    r"authorit\w*|obey\w*|obedien\w*|disobe\w*|respect\w*|disrespect\w*|defy|def(?:ies|ied|ian\w*)|"
    r"dut(?:y|ies|iful\w*)|honou?r\w*|rebel\w*|subver\w*|insubordinat\w*|"
    r"sacred\w*|sanct\w*|holy|holi(?:ness|er|est)|unholy|pure\w*|puri\w*|impur\w*|disgust\w*|filth\w*|"
    r"sin|sins|sinn\w*|sinful\w*|defil\w*|desecrat\w*|profan\w*|degrad\w*|chast\w*|blasphem\w*"
)
GENDER = (
    r"he|she|him|his|hers?|himself|herself|m[ae]n|wom[ae]n|boys?|girls?|lad(?:y|ies)|"
    r"gentlem[ae]n|fathers?|mothers?|sons?|daughters?|brothers?|sisters?|uncles?|aunts?|nephews?|"
    r"nieces?|husbands?|wi(?:fe|ves)|widow(?:s|ed|er|ers)?|kings?|queens?|grand(?:ma|pa|mother|"
    r"father|son|daughter)s?|monks?|nuns?|waitress\w*|(?!human|german)\w+m[ae]n"
)
NUMBERS = r"\d+|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundreds?|thousands?|millions?"
NOT_PAST = r"is|are|am|has|shall|does|sees?|goes"
IRREGULAR = set(
    "ate beat bore bought broke brought built came chose cut drove fed found gave got had held "
    "hung kept knelt laid led left let lit made overthrew paid put quit radioed ran rang read "
    "rode rose rowed said sat saw sent set shut slept sold spat spent split spoke stood struck "
    "swam swept swore threw told took tore went withdrew woke wore wrote".split()
)
#: Capitals inside a sentence: days of the week are in every culture's small talk, and no names.
CAPITALISED = {"Sunday", "Monday", "Saturday"}
STOP = set(
    "they the a an of to and in on at for it its that had who whom with from by as was were be out "
    "up off into their them so".split()
)
#: Key phrases of well-known vignettes (moral foundations vignettes, purity and intent stories,
#: harmless-offence stories), as recalled: what no scene may come near.
VIGNETTES = (
    "you see a",
    "you are at",
    "dolphin to get it to entertain customers",
    "lashing a pony with a whip for breaking loose",
    "throwing a cat across the room for scratching",
    "swerving a car to run over a squirrel",
    "setting traps to kill stray cats",
    "laughing at a disabled co-worker at softball",
    "copying a classmate's answer sheet on an exam",
    "shortcut on the course during the marathon",
    "bribing a landlord to be first to get an apartment repainted",
    "skipping to the front of the line because a friend is an employee",
    "pretending to be seriously fouled by an opposing player",
    "lying about the number of vacation days taken at work",
    "leaving the family business to work for its main competitor",
    "joking with competitors about how bad the company did last year",
    "celebrating with the opposing team's players who just beat the team",
    "booing the high school's team during a homecoming game",
    "refusing to stand when the judge walks into the courtroom",
    "coming home late and ignoring the parents' strict curfew",
    "turning up the television as the father talks about military service",
    "loud conversation during a church sermon",
    "intern disobeying an order to dress professionally and comb hair",
    "eating a pepperoni pizza off of a dead body",
    "using a stranger's toothbrush in a dorm bathroom",
    "remote tribe eating the flesh of deceased members",
    "searching through the trash for discarded underwear",
    "eating the dead dog for dinner after a car killed it",
    "cleaning the toilet with the national flag cut into pieces",
    "white powder in the coffee is poison left by a scientist",
    "brother and sister make love on vacation",
)
HEADER = ",".join(COLUMNS)
ROW = "care-p1-01,care,1,false,They held the door."


@pytest.fixture(scope="module")
def scenes() -> pd.DataFrame:
    return load_scenes(SCENARIOS / "scenes.csv")


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*", text.lower())


def content(text: str) -> set[str]:
    return set(words(text)) - STOP


def shingles(text: str) -> set[str]:
    joined = " ".join(words(text))
    return {joined[k : k + 4] for k in range(len(joined) - 3)}


def jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b)


def faults(text: str) -> set[str]:
    """Which of the rules for a single text this text breaks."""
    found = {
        name
        for name, pattern in {
            "judgement": JUDGEMENT,
            "foundation": FOUNDATION,
            "gender": GENDER,
            "number": NUMBERS,
            "tense": NOT_PAST,
        }.items()
        if re.search(rf"\b(?:{pattern})\b", text.lower())
    }
    verb = words(text)[1]
    checks = {
        "length": 8 <= len(words(text)) <= 22,
        "subject": text.startswith("They "),
        "tense": "tense" not in found and (verb.endswith("ed") or verb in IRREGULAR),
        "sentence": text.endswith(".") and not re.search(r"[.!?;:]", text[:-1]),
        "name": set(re.findall(r"(?<!^)\b[A-Z]\w*", text)) <= CAPITALISED,
    }
    return found | {name for name, kept in checks.items() if not kept}


def near_vignettes(text: str) -> list[str]:
    """Vignettes with four running words in the text, or most of their content words."""
    runs = {tuple(words(text)[k : k + 4]) for k in range(len(words(text)) - 3)}
    return [
        phrase
        for phrase in VIGNETTES
        if runs & {tuple(words(phrase)[k : k + 4]) for k in range(len(words(phrase)) - 3)}
        or len(content(phrase) & content(text)) > 0.5 * len(content(phrase))
    ]


# The corpus


def test_every_cell_has_nine_scenes(scenes):
    cells = scenes[~scenes["anchor"]].groupby(["foundation", "intensity"]).size()
    assert cells.to_dict() == {(f, i): 9 for f in FOUNDATIONS for i in INTENSITIES}
    assert len(scenes) == 229


def test_four_anchors_pin_care(scenes):
    anchors = scenes[scenes["anchor"]]
    assert set(anchors["foundation"]) == {"care"}
    assert anchors["intensity"].tolist() == [-2, -1, 1, 2]


def test_ids_say_what_the_columns_say(scenes):
    level = {-2: "m2", -1: "m1", 0: "0", 1: "p1", 2: "p2"}
    number = scenes.groupby(["foundation", "intensity", "anchor"]).cumcount() + 1
    expected = [
        f"anchor-{level[s.intensity]}"
        if s.anchor
        else f"{s.foundation}-{level[s.intensity]}-{n:02d}"
        for s, n in zip(scenes.itertuples(), number, strict=True)
    ]
    assert scenes["id"].tolist() == expected


def test_every_text_keeps_the_rules(scenes):
    broken = {s.id: faults(s.text) for s in scenes.itertuples() if faults(s.text)}
    assert broken == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("They bore the pain bravely while the boat was still far from the shore.", "judgement"),
        ("They betrayed a sibling to the gang that was waiting outside the house.", "foundation"),
        ("They washed the plates carefully after the meal and put each one away.", "foundation"),
        ("They helped a fisherman pull the boat up the beach before the storm.", "gender"),
        ("They left food for the widow next door and went back to work.", "gender"),
        ("They fed seven hungry travellers from the pot at the end of the market.", "number"),
        ("They carry a neighbour's shopping up to the fifth floor when the lift breaks.", "tense"),
        ("They carried the shopping up.", "length"),
        ("Someone carried a neighbour's shopping up to the fifth floor.", "subject"),
        ("They carried the shopping up to the fifth floor; the lift was broken", "sentence"),
        ("They carried the shopping of a neighbour called Maria up to the fifth floor.", "name"),
    ],
)
def test_rules_catch_a_planted_fault(text, fault):
    assert faults(text) == {fault}


@pytest.mark.parametrize("column", ["foundation", "intensity"])
def test_length_is_no_cue(scenes, column):
    cells = scenes[~scenes["anchor"]]
    means = cells["text"].map(lambda text: len(words(text))).groupby(cells[column]).mean()
    assert means.max() - means.min() <= 1.5


def near_duplicates(texts: list[str]) -> list[tuple[str, str]]:
    """Pairs that share too many content words or too many runs of four characters.

    The largest shares in the corpus are 0.20 and 0.21; an act told again in other words has 0.38
    and more.
    """
    words_of, runs_of = {t: content(t) for t in texts}, {t: shingles(t) for t in texts}
    return [
        (a, b)
        for a, b in combinations(texts, 2)
        if jaccard(words_of[a], words_of[b]) > 0.25 or jaccard(runs_of[a], runs_of[b]) > 0.27
    ]


def test_no_two_scenes_are_near_duplicates(scenes):
    assert near_duplicates(scenes["text"].tolist()) == []


def test_a_reworded_scene_is_caught(scenes):
    again = (
        "They took the chair reserved for the oldest guest and stayed put when that guest arrived."
    )
    original = scenes.set_index("id").loc["authority-m1-03", "text"]
    assert (again, original) in near_duplicates([again, *scenes["text"]])


def test_openings_vary(scenes):
    opening = scenes["text"].map(lambda text: " ".join(words(text)[:4]))
    assert not opening.duplicated().any()
    verbs = scenes["text"].map(lambda text: words(text)[1])
    assert verbs.value_counts().max() <= 6
    # A verb that most scenes of a cell share would be a cue.
    cell = scenes["foundation"] + scenes["intensity"].astype(str)
    assert verbs.groupby(cell).agg(lambda own: own.value_counts().max()).max() <= 2


def test_no_scene_comes_near_a_published_vignette(scenes):
    near = {text: near_vignettes(text) for text in scenes["text"] if near_vignettes(text)}
    assert near == {}


def test_a_copied_vignette_is_caught():
    copy = "They ate a pepperoni pizza off of a dead body at the morgue."
    assert near_vignettes(copy) == ["eating a pepperoni pizza off of a dead body"]


def test_readme_quotes_the_corpus_at_every_level(scenes):
    readme = (SCENARIOS / "README.md").read_text(encoding="utf-8")
    quoted = scenes[scenes["text"].map(lambda text: f"| {text} |" in readme)]
    cells = quoted[~quoted["anchor"]].groupby(["foundation", "intensity"]).size()
    assert cells.to_dict() == {(f, i): 1 for f in FOUNDATIONS for i in INTENSITIES}
    assert quoted["anchor"].sum() == 4
    assert len(re.findall(r"They [^|]*\. \|", readme)) == len(quoted)


# Loading


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_are_typed(scenes):
    assert tuple(scenes.columns) == COLUMNS
    assert scenes["intensity"].dtype == "int64"
    assert scenes["anchor"].dtype == "bool"
    assert all(isinstance(text, str) for text in scenes["text"])
    assert scenes.index.equals(pd.RangeIndex(229))


def test_a_corpus_of_another_size_and_habit_loads(tmp_path):
    file = write(
        tmp_path / "own.csv",
        "\ufefftext,anchor,intensity,foundation,id\r\n\r\n"
        '"Cedieron el asiento, de pie.",TRUE,+1, care ,x.1\r\nNA,False,-2,sanctity,x_2\r\n,,,,\r\n',
    )
    assert load_scenes(file).values.tolist() == [
        ["x.1", "care", 1, True, "Cedieron el asiento, de pie."],
        ["x_2", "sanctity", -2, False, "NA"],
    ]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[A-Za-z0-9._-]+", fullmatch=True),
            st.sampled_from(FOUNDATIONS),
            st.sampled_from(INTENSITIES),
            st.booleans(),
            st.text(
                st.characters(exclude_categories=("C", "Z"), include_characters=" ,\"'"), min_size=1
            ).filter(lambda text: text == text.strip() != ""),
        ),
        min_size=1,
        max_size=5,
        unique_by=(lambda row: row[0], lambda row: " ".join(row[4].casefold().split())),
    )
)
def test_what_is_written_is_read(tmp_path_factory, rows):
    file = tmp_path_factory.mktemp("corpus") / "scenes.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([COLUMNS, *rows])
    assert list(load_scenes(file).itertuples(index=False, name=None)) == rows


BAD_ROWS = {
    "care-p1-02,caer,1,false,They left.": (
        "row 3, column foundation: unknown foundation 'caer'; did you mean 'care'? A foundation of"
    ),
    "x,Care,1,false,They left.": "unknown foundation 'Care'; did you mean 'care'?",
    "x,équité,1,false,They left.": "foundation 'équité' is not a name of letters, digits",
    "x,,1,false,They left.": "row 3, column foundation: foundation '' is not a name of letters",
    "care-p1-01,care,1,false,They left.": (
        "row 3, column id: duplicate id 'care-p1-01', first in row 2; give each scene its own id"
    ),
    "care p1,care,1,false,They left.": "row 3, column id: id 'care p1' is not made of letters",
    "../x,care,1,false,They left.": "row 3, column id: id '../x' is not made of letters",
    "é,care,1,false,They left.": "row 3, column id: id 'é' is not made of letters",
    ",care,1,false,They left.": "row 3, column id: id '' is not made of letters",
    "x,care,1,false,": "row 3, column text: empty text; write the text of the scene",
    "x,care,1,false,  ": "row 3, column text: empty text",
    "x,care,1,false,they  held the DOOR.": (
        "row 3, column text: duplicate text 'they  held the DOOR.', first in row 2; reword"
    ),
    'x,care,1,false,"They left\nat once."': (
        r"row 3, column text: text 'They left\nat once.' has a line break or a tab"
    ),
    "x,care,10,false,They left.": (
        "row 3, column intensity: intensity '10' is not a whole number from -9 to 9; use a scale"
    ),
    "x,care,1.0,false,They left.": "column intensity: intensity '1.0' is not a whole number",
    "x,care,high,false,They left.": "column intensity: intensity 'high' is not a whole number",
    "x,care,,false,They left.": "column intensity: intensity '' is not a whole number",
    "x,care,1,maybe,They left.": "row 3, column anchor: anchor 'maybe' is not a flag; write true",
    "x,care,1,false,They left, at once.": (
        "row 3: 6 values for 5 columns, the last 'at once.'; put a text with commas in double"
    ),
    "x,care,1,false": "row 3: 4 values for 5 columns",
    'x,care,1,false,"They left.': "row 3: not CSV (unexpected end of data); close each quote",
    "x,{value},1,false,They left.": "foundation '{value}' is not a name of letters",
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.items())
def test_a_bad_row_is_named(tmp_path, row, message):
    file = write(tmp_path / "scenes.csv", f"{HEADER}\n{ROW}\n{row}\n")
    with pytest.raises(SceneError) as caught:
        load_scenes(file)
    assert f"{file}, {message}" in str(caught.value) or message in str(caught.value)
    assert str(caught.value).startswith(f"{file}, row 3")
    assert "\n" not in str(caught.value)
    assert caught.value.mend


BAD_FILES = {
    "": f": no scenes in the file; write the header {HEADER} and a row for each scene",
    "\n\n": ": no scenes in the file",
    f"{HEADER}\n": ": no scenes in the file",
    f"id,foundation,intensity,anchor\n{ROW}\n": (
        f", row 1: missing column 'text'; write the header as {HEADER}, with commas"
    ),
    f"{HEADER.replace(',', ';')}\n{ROW}\n": ", row 1: missing column 'id'",
    f"{ROW}\n": ", row 1: missing column 'id'",
    f"{HEADER},note\n{ROW},x\n": ", row 1: unknown column 'note'",
    f"{HEADER},\n{ROW},\n": ", row 1: unknown column ''",
    f"{HEADER},text\n{ROW},x\n": ", row 1: repeated column 'text'",
    f"{HEADER}\n{ROW}\nx,care,1,false,They ran\xe9.\n".encode("latin-1"): (
        ", row 3: not UTF-8; save the file as CSV UTF-8"
    ),
    f"{HEADER}\n{ROW}\n".encode("utf-16"): ", row 1: not UTF-8",
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.items())
def test_a_bad_file_is_named(tmp_path, text, message):
    file = write(tmp_path / "scenes.csv", text)
    with pytest.raises(SceneError) as caught:
        load_scenes(file)
    assert str(caught.value).startswith(f"{file}{message}")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(
        SceneError, match=r"none\.csv: cannot be read \(No such file.*; check the p"
    ):
        load_scenes(tmp_path / "none.csv")
    with pytest.raises(SceneError, match=r"cannot be read \(Is a directory\)"):
        load_scenes(tmp_path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_are_counted_as_an_editor_counts(tmp_path, end):
    last = "y,care,12,false,They ran."
    lines = [HEADER, "", ROW, "", 'x,care,1,false,"', "", 'They left."', last]
    file = write(tmp_path / "scenes.csv", end.join(lines))
    with pytest.raises(SceneError, match=r"row 8, column intensity: intensity '12'"):
        load_scenes(file)


def test_the_first_fault_of_the_file_is_named(tmp_path):
    rows = ["b,care,1,false,", "c,caer,77,false,They ran.", ROW]
    file = write(tmp_path / "scenes.csv", "\n".join([HEADER, ROW, *rows]))
    with pytest.raises(SceneError, match=r"row 3, column text: empty text"):
        load_scenes(file)
    write(file, "\n".join([HEADER, ROW, *rows[1:]]))
    with pytest.raises(SceneError, match=r"row 3, column foundation: unknown foundation 'caer'"):
        load_scenes(file)
