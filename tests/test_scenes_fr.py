"""The French corpus: the rules of the English one, in French, and its likeness to it."""

from __future__ import annotations

import re
import unicodedata
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from test_scenes import words

from moralscale.scenes import load_scenes

SCENARIOS = Path(__file__).parents[1] / "scenarios"
SUBJECT = "Cette personne "

JUDGEMENT = (
    r"bien|mal|bons?|bonnes?|bonté|mauvais\w*|méchan\w*|moral\w*|immoral\w*|courag\w*|héro\w*|lâch\w*|"
    r"cruel\w*|cruauté|gentil\w*|généreu\w*|égoïs\w*|avid\w*|nobles?|vils?|honte\w*|honteu\w*|coupabl\w*|"
    r"vertu\w*|vici\w*|honnêt\w*|malhonnêt\w*|grossi[eè]r\w*|odieu\w*|affreu\w*|horribl\w*|terribl\w*|"
    r"tristement|admirabl\w*|innocen\w*|mérit\w*|courageuse\w*|hélas"
)
FOUNDATION = (
    r"soins?|soign\w*|nuire|nuisi\w*|bless\w*|protég\w*|protect\w*|souffr\w*|maltrait\w*|abus\w*|"
    r"justes?|justice|injust\w*|équit\w*|égal\w*|inégal\w*|trich\w*|fraud\w*|"
    r"loya\w*|déloya\w*|trahi\w*|traîtr\w*|fid[eèé]l\w*|patriot\w*|solidar\w*|"
    r"autorit\w*|obéi\w*|désobéi\w*|respect\w*|irrespect\w*|défis?|défi[éa]\w*|devoirs?|honor\w*|honneur\w*|rebel\w*|"
    r"insoumi\w*|insubordin\w*|"
    r"sacr\w*|saint\w*|sanct\w*|purs?|pures?|puri\w*|impur\w*|dégoût\w*|crass\w*|péch\w*|souill\w*|profan\w*|"
    r"avili\w*|chast\w*|blasph\w*"
)
#: Words for men or women alone. Nouns that French lends to all people (voisin, inconnu) may stay.
GENDER = (
    r"il|ils|lui-même|hommes?|femmes?|garçons?|filles?|dames?|messieurs|monsieur|madame|p[eè]res?|m[eè]res?|"
    r"fils|fr[eè]res?|sœurs?|oncles?|tantes?|neveux?|ni[eè]ces?|maris?|épou[sx]\w*|veu[fv]\w*|rois?|reines?|"
    r"grands?-(?:pères?|mères?)|moines?|nonnes?|serveuse|voisine\w*|inconnue\w*|cousine\w*|ouvrières?"
)
NUMBERS = (
    r"\d+|(?<!les )deux|trois|quatre|cinq|six|sept|huit|neuf|dix|dizaines?|douzaines?|"
    r"cent|cents|centaines?|mille|milliers?|millions?"
)
NOT_FRENCH = (
    r"week-end|parking|job|challenge|coach|leader|meeting|ferry|mail|email|business|fair-play"
)
#: "il" of the weather and of phrases, which stands for nobody, and the light that turns green.
IMPERSONAL = ("s'il fallait", "qu'il avait plu", "quand il est passé au vert")
AUXILIARY = r"(?:a|est|s'est|n'a)"


@pytest.fixture(scope="module")
def english() -> pd.DataFrame:
    return load_scenes(SCENARIOS / "scenes.csv")


@pytest.fixture(scope="module")
def french() -> pd.DataFrame:
    return load_scenes(SCENARIOS / "scenes.fr.csv")


def faults(text: str) -> set[str]:
    """Which of the rules for a single text this text breaks."""
    plain = text
    for phrase in IMPERSONAL:
        plain = plain.replace(phrase, "")
    found = {
        name
        for name, pattern in {
            "judgement": JUDGEMENT,
            "foundation": FOUNDATION,
            "gender": GENDER,
            "number": NUMBERS,
            "anglicism": NOT_FRENCH,
        }.items()
        # An elision, as in "l'honneur", begins a word.
        if re.search(rf"(?<![\w-])(?:{pattern})(?![\w-])", plain.lower())
    }
    checks = {
        "length": 13 <= len(words(text)) <= 25,
        "subject": text.startswith(SUBJECT),
        "tense": re.match(rf"{SUBJECT}{AUXILIARY} ", text) is not None,
        "sentence": text.endswith(".") and not re.search(r"[.!?;:]", text[:-1]),
        "name": not re.findall(r"(?<!^)\b[A-ZÀ-Þ]\w*", text),
        "typography": re.fullmatch(r"[A-Za-zàâçèéêëîïôùûüœÉ', .-]+", text) is not None
        and "  " not in text,
    }
    return found | {name for name, kept in checks.items() if not kept}


def test_it_is_the_english_corpus_in_french(english, french):
    about = ["id", "foundation", "intensity", "anchor"]
    pd.testing.assert_frame_equal(french[about], english[about])


def test_every_text_keeps_the_rules(french):
    found = {scene.id: faults(scene.text) for scene in french.itertuples()}
    assert {name: broken for name, broken in found.items() if broken} == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "Cette personne a trahi la bande qui attendait devant la maison de la famille.",
            "foundation",
        ),
        (
            "Cette personne a bien lavé les assiettes après le repas et les a rangées au placard.",
            "judgement",
        ),
        (
            "Cette personne a aidé un homme à remonter la barque sur la plage avant la tempête.",
            "gender",
        ),
        (
            "Cette personne a nourri sept voyageurs affamés avec la marmite au bout du marché.",
            "number",
        ),
        (
            "Cette personne a garé la voiture sur le parking derrière la gare un peu avant midi.",
            "anglicism",
        ),
        (
            "Cette personne porte les courses d'un voisin au cinquième étage sans ascenseur.",
            "tense",
        ),
        ("Cette personne a monté les courses.", "length"),
        (
            "Quelqu'un a monté les courses d'un voisin jusqu'au cinquième étage de l'immeuble.",
            "subject",
        ),
        (
            "Cette personne a monté les courses de quelqu'un nommé Camille au cinquième étage.",
            "name",
        ),
        (
            "Cette personne a monté les courses au cinquième étage; l'ascenseur était en panne.",
            "sentence",
        ),
        (
            "Cette personne a monté les courses d\u2019un voisin au cinquième étage de l'immeuble.",
            "typography",
        ),
    ],
)
def test_rules_catch_a_planted_fault(text, fault):
    assert fault in faults(text)


def test_one_spelling_of_every_letter(french):
    raw = (SCENARIOS / "scenes.fr.csv").read_text(encoding="utf-8")
    assert unicodedata.normalize("NFC", raw) == raw
    # What is written with the ligature in French is written with it here.
    assert not re.search(r"\b(?:coeur|soeur|oeu\w*|voeu\w*|noeud)", raw)


@pytest.mark.parametrize("column", ["foundation", "intensity"])
def test_length_is_no_cue(french, column):
    cells = french[~french["anchor"]]
    means = cells["text"].map(lambda text: len(words(text))).groupby(cells[column]).mean()
    assert means.max() - means.min() <= 1.5


def test_no_text_is_much_longer_than_its_english(english, french):
    pairs = zip(english["text"], french["text"], strict=True)
    ratio = pd.Series([len(b) / len(a) for a, b in pairs], index=french["id"])
    assert ratio.between(0.9, 1.8).all(), ratio[~ratio.between(0.9, 1.8)]
    assert 1.15 < ratio.mean() < 1.45


def test_openings_vary(french):
    rest = french["text"].str.removeprefix(SUBJECT).map(words)
    assert not rest.map(lambda own: " ".join(own[:4])).duplicated().any()
    verbs = rest.map(lambda own: own[1])
    assert verbs.value_counts().max() <= 6
    cell = french["foundation"] + french["intensity"].astype(str)
    assert verbs.groupby(cell).agg(lambda own: own.value_counts().max()).max() <= 2


def test_no_two_scenes_are_near_duplicates(french):
    content = {
        text: {word for word in words(text.removeprefix(SUBJECT)) if len(word) > 3}
        for text in french["text"]
    }
    near = [
        (a, b)
        for a, b in combinations(content, 2)
        if len(content[a] & content[b]) > 0.34 * len(content[a] | content[b])
    ]
    assert near == []
