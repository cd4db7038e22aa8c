"""Collecting from a simulated judge: the whole path from schedule to judgments, no network."""

import asyncio
import dataclasses
import io
import json
import math
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moralscale.collect import Pace, collect, parse_journal, progress
from moralscale.collect.asks import Asks, read_schedules
from moralscale.collect.progress import duration, report
from moralscale.config import Panel
from moralscale.design import make_composites, make_schedule
from moralscale.errors import ConfigError, DesignError, PermanentError, TransientError
from moralscale.journal import read_attempts
from moralscale.judgment_schema import COLUMNS, validate
from moralscale.judgments import write_judgments
from moralscale.prompts import load_template
from moralscale.providers.base import Ask
from moralscale.providers.simulated import Simulated, truth_of
from moralscale.records import Arena, Origin
from moralscale.scenes import load_scenes
from moralscale.scripting import job
from moralscale.simulate import simulate_panel

ROOT = Path(__file__).parents[1]
JUDGES = ["simulated-01", "simulated-02"]


@pytest.fixture(scope="module")
def world():
    """Scenes, composites, a schedule of all arenas for one judge, templates and the truth."""
    scenes = load_scenes(ROOT / "scenarios/scenes.csv")
    composites = make_composites(scenes, realisations=1, seed=7)
    parts = [
        make_schedule(
            arena,
            scenes,
            composites,
            JUDGES,
            judgments=800,
            repeats=1,
            prompts=["trolley", "plain"],
            seed=7,
        )
        for arena in Arena
    ]
    schedule = pd.concat(parts, ignore_index=True)
    schedule = schedule[schedule["judge"] == JUDGES[0]].reset_index(drop=True)
    names = ("trolley", "plain")
    templates = {n: load_template(ROOT / f"config/prompts/{n}.yaml") for n in names}
    truth = simulate_panel(Panel(judges=2, refusal_rate=0.02), scenes, composites, JUDGES, seed=7)
    return {
        "schedule": schedule,
        "scenes": scenes,
        "composites": composites,
        "templates": templates,
        "truth": truth,
    }


def run(world, path, *, schedule=None, provider=None, templates=None, pace=None):
    return collect(
        world["schedule"] if schedule is None else schedule,
        scenes=world["scenes"],
        composites=world["composites"],
        templates=templates or world["templates"],
        provider=provider or Simulated(JUDGES[0], truth_of(world["truth"], JUDGES[0], source="t")),
        journal_path=path,
        origin=Origin.SIMULATED,
        pace=pace,
    )


@pytest.fixture(scope="module")
def collected(world, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "journal" / "simulated-01.jsonl"
    return run(world, path), path


def test_every_comparison_is_answered_once(world, collected):
    table, path = collected
    validate(table, source="table")
    assert tuple(table.columns) == COLUMNS
    assert set(table["comparison_id"]) == set(world["schedule"]["comparison_id"])
    assert (table["attempts"] == 1).all()
    assert table["outcome"].isin(["first", "second", "refusal"]).all()
    assert 0 < (table["outcome"] == "refusal").mean() < 0.05
    assert (table["origin"] == "simulated").all()
    assert len(list(read_attempts(path))) == len(table)


def test_answers_follow_the_planted_strengths(world, collected):
    """Observed against expected choices of the first option, in z-scores, arena by arena."""
    table, _ = collected
    truth = world["truth"].sel(judge=JUDGES[0])
    strength = {
        **dict(zip(truth["scene"].values, truth["theta"].values, strict=True)),
        **dict(zip(truth["composite"].values, truth["phi"].values, strict=True)),
    }
    decided = table[table["outcome"] != "refusal"]
    for arena, own in decided.groupby("arena"):
        gap = own["first"].map(strength) - own["second"].map(strength)
        slope = 1.0 if arena == "single" else float(truth[f"{arena}_consistency"])
        p = 1 / (1 + np.exp(-(slope * gap + float(truth["position_bias_judge"]))))
        first = (own["outcome"] == "first").to_numpy()
        sides = [p.to_numpy() > 0.6, p.to_numpy() < 0.4]
        for side in sides:
            expected, spread = p[side].sum(), math.sqrt((p[side] * (1 - p[side])).sum())
            assert side.sum() > 50
            assert abs(first[side].sum() - expected) < 4 * spread


def test_same_seed_same_bytes_whatever_the_order_and_pace(world, collected, tmp_path):
    table, _ = collected
    shuffled = world["schedule"].sample(frac=1, random_state=1)
    again = run(world, tmp_path / "j.jsonl", schedule=shuffled, pace=Pace(concurrency=1))
    write_judgments(table, tmp_path / "a.parquet")
    write_judgments(again, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_nothing_is_asked_again(world, collected):
    table, path = collected
    before = path.read_bytes()
    shuffled = world["schedule"].sample(frac=1, random_state=2)
    pd.testing.assert_frame_equal(run(world, path, schedule=shuffled), table)
    assert path.read_bytes() == before


def test_a_part_can_be_collected_first(world, tmp_path):
    path = tmp_path / "j.jsonl"
    run(world, path, schedule=world["schedule"].head(30))
    run(world, path, schedule=world["schedule"].head(50))
    attempts = [record["comparison_id"] for record in read_attempts(path)]
    assert sorted(attempts) == sorted(world["schedule"]["comparison_id"].head(50))


def test_changed_questions_are_asked_anew_and_old_answers_kept(world, tmp_path):
    path, part = tmp_path / "j.jsonl", world["schedule"].head(20)
    first = run(world, path, schedule=part)
    edited = {
        name: dataclasses.replace(template, text=template.text.replace("Which", "Now which"))
        for name, template in world["templates"].items()
    }
    run(world, path, schedule=part, templates=edited)
    assert len(list(read_attempts(path))) == 40
    run(world, path, schedule=part.assign(repeat=2))
    assert len(list(read_attempts(path))) == 60
    truth = truth_of(world["truth"], JUDGES[0], source="t")
    biased = Simulated(JUDGES[0], dataclasses.replace(truth, position_bias=9.0))
    run(world, path, schedule=part, provider=biased)
    assert len(list(read_attempts(path))) == 80
    pd.testing.assert_frame_equal(run(world, path, schedule=part), first)
    assert len(list(read_attempts(path))) == 80


def test_a_torn_journal_is_completed(world, tmp_path):
    path, part = tmp_path / "j.jsonl", world["schedule"].head(20)
    table = run(world, path, schedule=part)
    path.write_bytes(path.read_bytes()[:-25])
    pd.testing.assert_frame_equal(run(world, path, schedule=part), table)
    assert len(list(read_attempts(path))) == 20


def test_parsing_needs_neither_judge_nor_lock(world, collected):
    table, path = collected
    asks = Asks.of(world["schedule"], world["scenes"], world["composites"], world["templates"])
    provider = Simulated(JUDGES[0], truth_of(world["truth"], JUDGES[0], source="t"))
    pd.testing.assert_frame_equal(parse_journal(asks, provider, path, Origin.SIMULATED), table)
    missing = parse_journal(asks, provider, path.with_name("none.jsonl"), Origin.SIMULATED)
    assert missing["outcome"].isna().all()
    assert (missing["attempts"] == 0).all()


def test_schedules_are_read_for_one_judge(world, collected, tmp_path):
    table, path = collected
    schedule = pd.concat([world["schedule"], world["schedule"].assign(judge="other")])
    paths = [tmp_path / f"{arena}.parquet" for arena in Arena]
    for arena, file in zip(Arena, paths, strict=True):
        schedule[schedule["arena"] == arena].to_parquet(file, index=False)
    read = read_schedules([str(file) for file in paths], JUDGES[0])
    assert set(read.columns) == set(world["schedule"].columns)
    read_as_written = read[world["schedule"].columns].astype("str")
    assert read_as_written.equals(world["schedule"].astype("str"))
    pd.testing.assert_frame_equal(run(world, path, schedule=read), table)


def test_a_count_of_tokens_beyond_reason_is_none(world, tmp_path):
    path, part = tmp_path / "j.jsonl", world["schedule"].head(2)
    run(world, path, schedule=part)
    records = list(read_attempts(path))
    records[0]["usage"] = [10**30, 5, -3]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    table = run(world, path, schedule=part).set_index("comparison_id")
    found = table.loc[records[0]["comparison_id"]]
    assert (found["input_tokens"], found["output_tokens"], found["reasoning_tokens"]) == (0, 5, 0)


def test_an_interrupt_is_one_line(tmp_path, capsys):
    log = tmp_path / "job.log"
    with pytest.raises(SystemExit) as caught, job(log):
        raise KeyboardInterrupt
    assert caught.value.code == 130
    told = "interrupted: what was answered is kept; run the same command again\n"
    assert log.read_text() == capsys.readouterr().err == told


def test_the_judge_sees_neither_ids_nor_labels_of_the_design(world, collected):
    _, path = collected
    hidden = [*world["scenes"]["id"], *world["composites"]["composite_id"]]
    hidden += list(world["scenes"]["foundation"].unique())
    for record in list(read_attempts(path))[::40]:
        shown = record["system"] + record["user"]
        assert not [word for word in hidden if word in shown]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"first": "nobody"}, r"comparison \w{16}, column first: unknown: 'nobody'"),
        ({"prompt": "tramway"}, r"column prompt: unknown: 'tramway'"),
        ({"first_order": "ba"}, r"column first_order: an option of 1 acts .* order 'ba'"),
        ({"judge": "other"}, "mixes judges"),
    ],
)
def test_a_schedule_that_does_not_fit_is_refused(world, tmp_path, change, told):
    schedule = world["schedule"].head(3).copy()
    for column, value in change.items():
        schedule.loc[1, column] = value
    with pytest.raises(DesignError, match=told):
        run(world, tmp_path / "j.jsonl", schedule=schedule)
    double = pd.concat([schedule.head(1), schedule.head(1)])
    with pytest.raises(DesignError, match="stands twice"):
        run(world, tmp_path / "j.jsonl", schedule=double)
    with pytest.raises(DesignError, match="no column 'repeat'"):
        run(world, tmp_path / "j.jsonl", schedule=schedule.drop(columns="repeat"))


def test_truth_from_file_is_the_truth(world, tmp_path):
    world["truth"].to_netcdf(tmp_path / "truth.nc", engine="h5netcdf")
    read = Simulated.from_file(JUDGES[1], tmp_path / "truth.nc")
    direct = Simulated(JUDGES[1], truth_of(world["truth"], JUDGES[1], source="t"))
    assert read.settings == direct.settings
    with pytest.raises(ConfigError, match=r"truth\.nc: no judge 'nobody' in the panel"):
        Simulated.from_file("nobody", tmp_path / "truth.nc")


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ("no acts at all", "two runs of one or two"),
        ("- one act\n\nPerson B:\n- another act", "does not know"),
        ("- a\n- b\n- c\n\n- d", "two runs of one or two"),
    ],
)
def test_a_fault_of_rendering_is_told(world, user, told):
    provider = Simulated(JUDGES[0], truth_of(world["truth"], JUDGES[0], source="t"))
    ask = Ask("0" * 16, "", user, ("A", "B"), ("x", "y", "a", "a"), "trolley", 1)
    with pytest.raises(PermanentError, match=told):
        asyncio.run(provider.ask(ask, {"seed": 7}))


def test_progress_is_plain_where_there_is_no_terminal(tmp_path):
    with (tmp_path / "log").open("w") as log, report("judge", 4, 1, log) as shown:
        shown.advance("first", 0.5)
        shown.failed(TransientError("slow down", rate_limited=True))
        shown.advance("first", 1.0)
        shown.advance("refusal", 1.5)
    told = (tmp_path / "log").read_text()
    start = (
        "judge: 4 of 4; first 2, refusal 1; 1 from the journal; 1 tries failed (1 rate limits); 1.5"
    )
    assert told.startswith(f"{start} USD; ")
    assert told.endswith(" a second\n")
    assert told.count("\n") == 1
    assert "\x1b" not in told


def test_a_line_is_written_now_and_then(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    with (tmp_path / "log").open("w") as log, report("judge", 9, 0, log) as shown:
        time.sleep(0.01)
        shown.advance("first")
        shown.failed(TransientError("HTTP 500"))
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 3
    assert all(" left" in line for line in lines)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_bar_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    with report("judge", 4, 1, stream) as shown:
        shown.advance("first", 0.25)
        shown.advance("second", 0.5)
    shown = stream.getvalue()
    assert "judge" in shown
    assert "3/4" in shown
    assert "first 1, second 1; 1 from the journal; 0.5 USD" in shown


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "0 s"), (59.6, "1 min 0 s"), (3725, "1 h 2 min"), (90_000, "1 d 1 h")],
)
def test_durations_are_readable(seconds, told):
    assert duration(seconds) == told


def test_journal_holds_the_whole_question(collected):
    _, path = collected
    record = json.loads(path.read_bytes().split(b"\n", 1)[0])
    assert record["provider"] == "simulated"
    assert record["labels"] == ["A", "B"]
    assert record["user"].count("\n- ") == 2
    assert set(record["requested"]) == {"seed", "truth"}
