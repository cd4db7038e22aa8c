"""Every message that docs/faq.md quotes is one that the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from moralscale import new_project
from moralscale.cli.main import main
from moralscale.config import Import, check_keys, load_judges, read_config
from moralscale.design import make_composites, make_schedule
from moralscale.errors import MoralscaleError
from moralscale.importing import import_judgments
from moralscale.journal import open_journal
from moralscale.priors import load_priors
from moralscale.records import Arena
from moralscale.scenes import load_scenes

FAQ = (Path(__file__).parents[1] / "docs/faq.md").read_text(encoding="utf-8")
QUOTED = [line for line in FAQ.splitlines() if re.match(r"error: |nobody: ", line)]

#: Messages that take a fit or minutes to provoke: what of them stands in the source.
IN_SOURCE = {
    "checks/__init__.py": ("look at the posterior, which is kept; sample longer, raise ",),
    "compare/ranking.py": (
        "these posteriors are of different judgments",
        "compare fits of the same judgments and the same data (study or bridged)",
    ),
    "collect/asking.py": (
        " questions in a row stayed without an answer: ",
        "is the server running? answers so far are kept",
    ),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A fresh project, and the working directory in it."""
    new_project(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")


def config(**changes):
    """Read the configuration of the project with changes, as a workflow does."""
    data = yaml.safe_load(Path("config/config.yaml").read_text(encoding="utf-8"))
    Path("my-run.yaml").write_text(yaml.safe_dump(data | changes))
    read_config("my-run.yaml")


def prior(old, new):
    text = Path("config/priors/default.yaml").read_text(encoding="utf-8")
    Path("config/priors/mine.yaml").write_text(text.replace(old, new, 1))
    load_priors("config/priors/mine.yaml")


def scenes(old, new, encoding="utf-8"):
    path = Path("scenarios/scenes.csv")
    path.write_bytes(path.read_text(encoding="utf-8").replace(old, new, 1).encode(encoding))
    load_scenes(path)


def judgments(second, outcome):
    rows = ["judge,first,second,outcome", "m,care-m2-01,care-p2-01,first"]
    Path("mine.csv").write_text("\n".join([*rows, f"m,care-m2-01,{second},{outcome}\n"]))
    corpus = load_scenes("scenarios/scenes.csv")
    composites = make_composites(corpus, realisations=1, seed=1)
    import_judgments(Import(file="mine.csv"), corpus, composites)


def rate(name, *rows, header="first,second,outcome", options=()):
    Path(name).write_text("\n".join([header, *rows, ""]))
    main(["rate", name, *options])


def few_judgments():
    corpus = load_scenes("scenarios/scenes.csv")
    composites = make_composites(corpus, realisations=1, seed=1)
    settings = {"judgments": 40, "repeats": 1, "prompts": ["trolley"], "seed": 1}
    make_schedule(Arena.SINGLE, corpus, composites, ["a"], **settings)


def no_keys():
    library = load_judges("config/judges.yaml")
    check_keys({name: library[name] for name in ("claude-sonnet-4.6", "gpt-5.2")})


def two_writers():
    Path("results/mine/journal").mkdir(parents=True)
    path = Path("results/mine/journal/gpt.jsonl")
    with open_journal(path), open_journal(path):
        pass


def probe_nobody():
    judge = {"provider": "compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    Path("config/judges.yaml").write_text(yaml.safe_dump({"nobody": judge | {"tries": 1}}))
    Path("my-run.yaml").write_text("runs: {mine: {judges: [nobody]}}")
    main(["probe", "my-run.yaml"])


def not_empty():
    Path("my-run").mkdir()
    Path("my-run/notes.txt").touch()
    main(["new", "my-run"])


PROVOKED = (
    lambda: config(panls={}),
    lambda: config(runs={"mine": {"panel": "smal"}}),
    lambda: config(design={"prompts": ["troley"]}),
    lambda: config(fits={"priors": ["sceptical"]}),
    lambda: config(runs={"comparison": {"panel": "small"}}),
    lambda: prior("sigma: 0.5", "sgima: 0.5"),
    lambda: prior("\nbeta:", "\nbetta:"),
    lambda: config(design={"judgments": {"bridge": 0}}),
    few_judgments,
    lambda: scenes("care,-2", "caer,-2"),
    lambda: scenes("care,-2", "care,-20"),
    lambda: scenes("02,care,-2,false,They", "02,care,-2,false,Thëy", "latin-1"),
    lambda: (
        scenes("watched the fall break the roofer's back.", "watched.")
        or scenes(" and watched.", ", and watched.")
    ),
    no_keys,
    probe_nobody,
    lambda: main(["probe", "config/config.yaml"]),
    two_writers,
    lambda: judgments("care-p2-99", "second"),
    lambda: judgments("care-p2-01", "won"),
    lambda: judgments("care-m2-01", "first"),
    lambda: rate("wins.csv", "a,b,first", "a,c,first", "c,b,first"),
    lambda: rate("wins.csv", "a,b,first", "b,a,first", "c,d,first", "d,c,first"),
    lambda: rate("labels.csv", "a,b,first", "b,a,both bad"),
    lambda: rate("names.csv", "a,b,first", header="home,away,winner"),
    lambda: rate("wins.csv", "a,b,first", options=("--out", "wins.csv")),
    lambda: main(["summary", "results"]),
    lambda: main(["summary", "results/mine/tables/beta.csv"]),
    not_empty,
)


def message_of(provoke, capsys):
    """What a user sees; a process and a computer are those of the page."""
    code = 2
    try:
        provoke()
    except MoralscaleError as error:  # as `scripting.job` and the workflow print it
        said = f"error: {error}"
    except SystemExit as ended:
        code, found = ended.code, capsys.readouterr()
        said = (found.out + found.err).strip()
    else:
        raise AssertionError("nothing went wrong")
    assert code == 2
    return re.sub(r"process \d+ on \S+", "process 4711 on lab-pc", said)


@pytest.mark.parametrize("number", range(len(PROVOKED)))
def test_a_provoked_message_is_quoted(number, project, capsys, monkeypatch):
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    Path("results").mkdir()
    assert message_of(PROVOKED[number], capsys) in QUOTED


def test_every_quoted_message_is_provoked_or_in_the_source(project):
    source = Path(__file__).parents[1] / "src/moralscale"
    in_source = set()
    for name, parts in IN_SOURCE.items():
        text = re.sub(r'"\s+"', "", (source / name).read_text(encoding="utf-8"))
        assert all(part in text for part in parts), name
        lines = [line for line in QUOTED if all(part in line for part in parts)]
        assert len(lines) == 1, name
        in_source.update(lines)
    assert len(set(QUOTED)) == len(PROVOKED) + len(in_source)
