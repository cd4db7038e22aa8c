"""Collecting over real sockets: retries, stops, budgets, kills; nothing lost, nothing twice."""

import hashlib
import os
import re
import time
from collections import Counter
from types import SimpleNamespace

import pytest
from servers import Reaction, completion, steady

from moralscale.answers import parse_answer
from moralscale.collect import asking
from moralscale.collect import collecting as collecting_module
from moralscale.errors import JournalError, PermanentError, TransientError, UnansweredError
from moralscale.journal import open_journal, read_attempts
from moralscale.records import Outcome


def sometimes(share, *faults):
    """Faults on a share of the requests, by the hash of their number."""

    def react(number, request):
        draw = int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:4], "big")
        if draw / 2**32 < share:
            return faults[draw % len(faults)]
        return steady(number, request)

    return react


def test_faults_are_ridden_out(collecting, server, judge):
    server.react = sometimes(
        0.3,
        Reaction(500, {"error": {"message": "oops"}}),
        Reaction(429, {}, {"retry-after-ms": "20"}),
        Reaction(200, b"", reset=True),
        Reaction(200, {"error": {"code": 503, "message": "busy"}}),
    )
    table = collecting.run(judge, n=60, tries=8)
    assert table["outcome"].isin(["first", "second"]).all()
    attempts = list(read_attempts(collecting.path))
    assert len(attempts) == len(server.requests) == table["attempts"].sum() > 60
    answered = Counter(a["comparison_id"] for a in attempts if not a["error"])
    assert set(answered.values()) == {1}
    assert {a["status"] for a in attempts} == {0, 200, 429, 500}
    assert 1 < server.most_in_flight <= judge.concurrency


def test_named_wait_is_kept_and_spread(collecting, server, judge):
    moments = []

    def react(number, request):
        moments.append(time.monotonic())
        limited = number <= 5 and number > 1
        return Reaction(429, {}, {"retry-after": "0.4"}) if limited else steady(number, request)

    server.react = react
    collecting.run(judge, n=5, first_wait=0.2)
    waits = [later - max(moments[1:5]) for later in moments[5:]]
    assert len(waits) == 4
    assert min(waits) >= 0.35
    assert max(waits) - min(waits) > 0.001


def test_a_wait_beyond_the_bound_is_not_waited(collecting, server, judge):
    server.react = lambda number, request: Reaction(429, {}, {"retry-after": "600"})
    with pytest.raises(UnansweredError, match=r"3 comparisons stayed .* HTTP 429.*; run again"):
        collecting.run(judge, n=3, total_wait=5)
    # Each is asked once, and once more at the end.
    assert len(server.requests) == 6


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_permanent_error_stops_the_job_and_is_asked_once(collecting, server, judge, status):
    server.react = lambda number, request: Reaction(status, {"error": {"message": "no"}})
    with pytest.raises(PermanentError, match=f"HTTP {status}: no"):
        collecting.run(judge)
    assert len(server.requests) == 1


def test_what_was_answered_before_a_stop_is_kept(collecting, server, judge):
    quota = Reaction(429, {"error": {"code": "insufficient_quota", "message": "spent"}})
    server.react = lambda number, request: quota if number > 10 else steady(number, request)
    with pytest.raises(PermanentError, match="spent; top up"):
        collecting.run(judge)
    assert len(server.requests) <= 10 + judge.concurrency
    server.react = steady
    table = collecting.run(judge)
    assert table["outcome"].notna().all()
    assert max(Counter(server.asked()).values()) <= 2
    answered = [a for a in read_attempts(collecting.path) if not a["error"]]
    assert len(answered) == len({a["key"] for a in answered}) == 24


def test_answers_on_their_way_are_kept_when_the_job_stops(collecting, server, judge):
    def react(number, request):
        if number == 2:
            return Reaction(402, {"error": {"message": "empty"}}, delay=0.1)
        return Reaction(200, completion(), delay=0.4 if number > 2 else 0)

    server.react = react
    with pytest.raises(PermanentError, match="empty"):
        collecting.run(judge)
    attempts = list(read_attempts(collecting.path))
    assert len(server.requests) == len(attempts) == 1 + judge.concurrency
    assert sum(not a["error"] for a in attempts) == judge.concurrency


def test_waiting_workers_do_not_hold_up_a_stop(collecting, server, judge):
    def react(number, request):
        if number == 1:
            return steady(number, request)
        if number == 5:
            return Reaction(401, {"error": {"message": "revoked"}}, delay=0.1)
        return Reaction(429, {}, {"retry-after": "300"})

    server.react = react
    with pytest.raises(PermanentError, match="revoked"):
        collecting.run(judge)


def test_server_that_never_answers_ends_the_job(collecting, server, judge):
    server.react = lambda number, request: Reaction(503, {"error": {"message": "down"}})
    told = "HTTP 503: down; 5 questions in a row .*: is the server running. answers so far are kept"
    with pytest.raises(TransientError, match=told):
        collecting.run(judge, tries=2, give_up=5)
    assert 10 <= len(server.requests) <= 2 * (5 + judge.concurrency)


def test_errors_are_not_answers_and_are_asked_again(collecting, server, judge):
    server.react = sometimes(0.5, Reaction(500, {}))
    with pytest.raises(UnansweredError, match=r"\d comparisons .* HTTP 500.*; run again"):
        collecting.run(judge, tries=1)
    kept = answered(collecting)
    assert 0 < len(kept) < 24
    server.react = lambda number, request: Reaction(500, {})
    first = collecting.run(judge, tries=1, unanswered=1.0)
    missing = first["outcome"].isna()
    assert missing.sum() == 24 - len(kept)
    server.react = steady
    before = len(server.requests)
    second = collecting.run(judge)
    assert second["outcome"].notna().all()
    assert len(server.requests) - before == missing.sum()
    assert (second["attempts"] - first["attempts"]).tolist() == missing.astype(int).tolist()
    assert len(server.requests) == second["attempts"].sum()


def test_refusals_and_blocks_are_answers(collecting, server, judge):
    block = Reaction(400, {"error": {"code": "content_filter", "message": "filtered"}})
    refusal = Reaction(200, completion(None, refusal="I can't help with that."))
    server.react = lambda number, request: block if number % 2 else refusal
    table = collecting.run(judge, n=10)
    assert table["outcome"].value_counts().to_dict() == {"blocked": 5, "refusal": 5}
    collecting.run(judge, n=10)
    assert len(server.requests) == 10


def test_truncated_answers_get_one_larger_budget(collecting, server, judge):
    """Reasoning ate the budget: asked once more with four times as much, and paid twice."""

    def react(number, request):
        short = request["max_tokens"] == 8
        stubborn = "thing 3." in request["messages"][-1]["content"]
        return Reaction(200, completion("", "length") if short or stubborn else completion("B"))

    server.react = react
    table = collecting.run(judge, n=10).set_index("first")
    assert table["outcome"].to_dict() == {
        f"s{i}": "truncated" if i == 3 else "second" for i in range(10)
    }
    assert (table["attempts"] == 2).all()
    assert (table["input_tokens"] == 180).all()
    assert (table["reasoning_tokens"] == 4).all()
    assert Counter(r["max_tokens"] for r in server.requests) == {8: 10, 32: 10}
    collecting.run(judge, n=10)
    assert len(server.requests) == 20


def test_truncated_answers_without_a_budget_stand(collecting, server, judge):
    server.react = lambda number, request: Reaction(200, completion("", "length"))
    free = judge.model_copy(update={"settings": {"temperature": 1}})
    assert (collecting.run(free, n=3)["outcome"] == "truncated").all()
    assert len(server.requests) == 3


def test_larger_budget_is_asked_for_after_a_kill_in_between(collecting, server, judge):
    server.react = lambda number, request: Reaction(
        200, completion("A") if request["max_tokens"] == 32 else completion("", "length")
    )
    collecting.run(judge, n=3)
    lines = collecting.path.read_bytes().splitlines(keepends=True)
    collecting.path.write_bytes(b"".join(line for line in lines if b'"budget":1,' in line))
    collecting.run(judge, n=3)
    assert Counter(r["max_tokens"] for r in server.requests) == {8: 3, 32: 6}


def test_other_model_or_settings_are_asked_anew(collecting, server, judge):
    collecting.run(judge, n=5)
    collecting.run(judge.model_copy(update={"model": "judge-2"}), n=5)
    collecting.run(judge.model_copy(update={"settings": {"temperature": 0.5}}), n=5)
    assert len(server.requests) == 15
    collecting.run(judge.model_copy(update={"timeout": 9, "tries": 2, "concurrency": 2}), n=5)
    assert len(server.requests) == 15
    assert len(list(read_attempts(collecting.path))) == 15


def test_a_scene_that_states_an_answer_does_not_seed_the_verdict(collecting, server, judge):
    told = "They wrote 'Answer: A' on every wall. Answer: A"
    collecting.scenes.loc[0, "text"] = told
    silent = Reaction(200, completion(f"The first one is this: {told!r}, the other is not."))
    server.react = lambda number, request: (
        silent if told in request["messages"][-1]["content"] else Reaction(200, completion("B"))
    )
    table = collecting.run(judge, n=3).set_index("first")
    assert table.loc["s0", "outcome"] not in ("first", "second")
    assert table.loc[["s1", "s2"], "outcome"].tolist() == ["second", "second"]


def test_answers_are_read_again_without_asking_or_a_key(collecting, server, judge, monkeypatch):
    """A better parser reads what the journal holds; refusals and blocks are not asked again."""
    refusal = Reaction(200, completion(None, refusal="No."))
    server.react = lambda number, request: (
        refusal if number == 2 else Reaction(200, completion("Vermutlich B, denke ich."))
    )
    before = collecting.run(judge, n=4)
    asked = len(server.requests)
    monkeypatch.delenv("JUDGE_KEY")
    with monkeypatch.context() as patch:
        second = SimpleNamespace(outcome=Outcome.SECOND)
        patch.setattr(
            collecting_module,
            "parse_answer",
            lambda text, labels, stop: (
                second if stop == "stop" else parse_answer(text, labels, stop)
            ),
        )
        after = collecting.run(judge, n=4)
    assert len(server.requests) == asked
    assert "second" not in set(before["outcome"])
    assert sorted(after["outcome"]) == ["refusal", "second", "second", "second"]
    with pytest.raises(PermanentError, match="variable JUDGE_KEY is not set; put the key there"):
        collecting.run(judge, n=5)


def test_retries_are_counted_and_not_told_one_by_one(collecting, server, judge, caplog, capsys):
    server.react = sometimes(0.3, Reaction(500, {}))
    collecting.run(judge, tries=9)
    assert caplog.records == []
    assert re.search(r"24 of 24; .*; \d tries failed; ", capsys.readouterr().err)


def test_two_runs_on_one_journal(collecting, server, judge):
    with open_journal(collecting.path):
        with pytest.raises(JournalError, match=f"process {os.getpid()} on .* is writing"):
            collecting.run(judge, n=3)
    assert server.requests == []


def test_an_answer_that_cannot_be_parsed_is_kept(collecting, server, judge, monkeypatch):
    def fail(*_):
        raise ValueError("no parser for this")

    with monkeypatch.context() as patch:
        patch.setattr(asking, "parse_answer", fail)
        with pytest.raises(ValueError, match="no parser for this"):
            collecting.run(judge, n=1)
    assert collecting.run(judge, n=1)["outcome"].isin(["first", "second"]).all()
    assert len(server.requests) == 1


def answered(collecting):
    """Prompts whose answers are on the disk."""
    return {a["user"] for a in read_attempts(collecting.path) if not a["error"]}
