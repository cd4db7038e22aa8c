"""Batches over real sockets: joined by id, verified, resumed, nothing lost and nothing twice."""

import dataclasses
import datetime
import io
import json
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from batch_servers import BatchServer
from servers import Reaction, completion, message, prompt_of, serve

from moralscale.collect.ledger import Ledger
from moralscale.collect.money import Budgets
from moralscale.config import Judge
from moralscale.errors import (
    BudgetError,
    ConfigError,
    JournalError,
    PermanentError,
    UnansweredError,
)
from moralscale.journal import read_attempts
from moralscale.prices import Price
from moralscale.providers import http, make_provider
from moralscale.providers.anthropic_batch import AnthropicBatches
from moralscale.providers.http import HttpTransport
from moralscale.providers.openai_batch import OpenAIBatches

KEY = "sk-planted-7f/3+Zq"
INTERFACES = {"openai": OpenAIBatches, "anthropic": AnthropicBatches}


@pytest.fixture(params=["openai", "anthropic"])
def server(request):
    app = BatchServer(provider=request.param, key=KEY)
    with serve(app.app()) as address:
        app.url = f"{address}/v1"
        yield app


@pytest.fixture
def judge(server, monkeypatch) -> Judge:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    return Judge(
        provider=server.provider,
        model="judge-1",
        base_url=server.url,
        api_key_env="JUDGE_KEY",
        settings={"max_tokens": 8},
        transport="batch",
        timeout=5,
        tries=3,
    )


@pytest.fixture
def batching(collecting, judge):
    """Collect the first 24 comparisons of the small schedule in batches."""

    def run(n=24, **pace):
        return collecting.run(judge, n=n, transport="batch", poll=0.01, **pace)

    return run


def attempts(collecting):
    return list(read_attempts(collecting.path))


def answered(collecting):
    return Counter(a["comparison_id"] for a in attempts(collecting) if not a["error"])


def test_all_are_answered_in_one_batch_but_the_first(collecting, server, batching):
    table = batching()
    assert table["outcome"].isin(["first", "second"]).all()
    assert len(server.asked_live) == 1
    assert len(server.batches) == 1
    assert len(server.asked()) == 23
    assert not set(server.asked_live) & set(server.asked())
    transports = Counter(a["transport"] for a in attempts(collecting))
    assert transports == {"live": 1, "batch": 23}
    assert set(answered(collecting).values()) == {1}
    by_prompt = {a["user"]: a["text"] for a in attempts(collecting)}
    assert all(server.body(user) and text in "AB" for user, text in by_prompt.items())
    batching()
    assert len(server.batches) == 1


def test_the_answers_are_those_of_the_live_transport(collecting, server, judge, batching, tmp_path):
    live = dataclasses.replace(collecting, path=tmp_path / "live" / "judge-1.jsonl")
    expected = live.run(judge.model_copy(update={"transport": "live"}))
    table = batching()
    assert table["outcome"].tolist() == expected["outcome"].tolist()
    assert table["input_tokens"].tolist() == expected["input_tokens"].tolist()


def test_what_was_answered_live_is_not_handed_in(collecting, server, judge, batching):
    collecting.run(judge.model_copy(update={"transport": "live"}), n=10)
    batching()
    assert len(server.asked()) == 13


def test_parts_keep_within_the_bounds(server, batching, monkeypatch):
    interface = INTERFACES[server.provider]
    monkeypatch.setattr(interface, "most_requests", 10)
    batching()
    sizes = [len(batch["questions"]) for batch in server.batches.values()]
    assert sizes == [10, 10, 3]


def test_parts_keep_within_the_bytes(server, batching, monkeypatch):
    monkeypatch.setattr(INTERFACES[server.provider], "most_bytes", 1500)
    batching()
    for batch in server.batches.values():
        assert len(json.dumps(batch["questions"])) < 2000
    assert len(server.asked()) == 23


def test_missing_doubled_and_foreign_results(collecting, server, batching):
    """One result is missing, one comes twice, one bears another's nonce, one is no result."""
    spoilt = []

    def spoil(results):
        if len(server.batches) > 1:
            return results
        missing, foreign, *rest = results
        other = {**foreign, "custom_id": foreign["custom_id"][:-1] + "x"}
        spoilt[:] = [missing["custom_id"], foreign["custom_id"]]
        return [rest[0], *rest, other, {"custom_id": 7}, {"custom_id": "e" * 64}]

    server.spoil = spoil
    table = batching()
    assert table["outcome"].isin(["first", "second"]).all()
    again = [custom_id[:47] for custom_id, _ in server.batches["batch_1"]["questions"]]
    assert sorted(again) == sorted(custom_id[:47] for custom_id in spoilt)
    assert set(answered(collecting).values()) == {1}
    assert len(server.batches) == 2


def test_expired_and_failed_questions_are_asked_again(collecting, server, batching):
    def answer(custom_id, body):
        turn = len(server.batches)
        if turn == 1 and "thing 3." in prompt_of(body):
            return server.expired()
        if turn == 1 and "thing 5." in prompt_of(body):
            return server.failed(529 if server.provider == "anthropic" else 500, "overloaded_error")
        return server.succeeded(body)

    server.answer = answer
    table = batching(n=8)
    assert table["outcome"].isin(["first", "second"]).all()
    assert table["attempts"].tolist() == [1, 1, 1, 2, 1, 2, 1, 1]
    told = sorted(a["message"] for a in attempts(collecting) if a["error"])
    assert any("the batch left it unanswered: " in each and "expired" in each for each in told)


def test_questions_that_always_expire_end_the_job(server, batching):
    server.answer = lambda custom_id, body: server.expired()
    with pytest.raises(UnansweredError, match="3 comparisons stayed without an answer in 3 batche"):
        batching(n=4)
    assert len(server.batches) == 3


def test_a_refused_question_ends_the_job_and_the_others_are_kept(collecting, server, batching):
    def answer(custom_id, body):
        if "thing 3." in prompt_of(body):
            return server.failed(400, "invalid_request_error", "temperature: no")
        return server.succeeded(body)

    server.answer = answer
    with pytest.raises(PermanentError, match="HTTP 400: temperature: no; change or remove `temp"):
        batching(n=8)
    assert len(answered(collecting)) == 7
    server.answer = None
    assert batching(n=8)["outcome"].notna().all()
    assert len(server.asked()) + len(server.asked_live) == 9


def test_blocks_refusals_and_truncations(collecting, server, batching):
    openai = server.provider == "openai"
    bodies = {
        "thing 1.": completion(None, refusal="No.") if openai else message(stop="refusal"),
        "thing 2.": completion("", "length") if openai else message(stop="max_tokens"),
    }

    def answer(custom_id, body):
        prompt = prompt_of(body)
        if "thing 3." in prompt:
            told = "content filtering"
            return server.failed(400, "content_filter" if openai else "invalid_request_error", told)
        found = next((b for name, b in bodies.items() if name in prompt), None)
        larger = 32 in body.values()
        return server.succeeded(body, None if larger else found)

    server.answer = answer
    outcomes = batching(n=5).set_index("first")
    assert outcomes.loc["s1", "outcome"] == "refusal"
    assert outcomes.loc["s2", "outcome"] in ("first", "second")
    assert outcomes.loc["s2", "attempts"] == 2
    assert outcomes.loc["s3", "outcome"] == "blocked"
    budgets = [a["budget"] for a in attempts(collecting) if a["contestants"][0] == "s2"]
    assert budgets == [1, 4]


@pytest.mark.parametrize("moment", ["upload", "create", "list", "state", "results"])
def test_a_passing_fault_at_every_step(server, batching, moment):
    struck = []

    def trouble(what):
        if what == moment and not struck:
            struck.append(what)
            return Reaction(503, {"error": {"message": "busy"}})
        return None

    server.trouble = trouble
    assert batching(n=6)["outcome"].notna().all()
    assert len(server.asked()) == 5


def test_a_batch_that_was_made_although_the_answer_got_lost(server, batching):
    """The provider made the batch, its id never came: it is found, not made and paid again."""
    lost = []

    def trouble(what):
        if what == "create" and not lost:
            lost.append(what)
            return Reaction(0)
        return None

    server.trouble = trouble
    assert batching(n=6)["outcome"].notna().all()
    assert len(server.batches) == 1


class Killed(BaseException):
    """Stands for a signal that ends the process."""


@pytest.mark.parametrize("moment", ["planned", "handed in", "fetched"])
def test_a_killed_process_finds_its_batches_again(
    collecting, server, batching, monkeypatch, moment
):
    """Killed before the id is written, while it waits, and after the answers are in the journal."""
    method = {"planned": "handed_in", "handed in": "handed_in", "fetched": "close"}[moment]
    original = getattr(Ledger, method)

    def kill(self, *arguments):
        if moment == "handed in":
            original(self, *arguments)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, method, kill)
        with pytest.raises(Killed):
            batching(n=12)
    assert batching(n=12)["outcome"].notna().all()
    assert len(server.batches) == 1
    assert set(answered(collecting).values()) == {1}


RUN = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
collecting, judge = pickle.load(sys.stdin.buffer)
collecting.run(judge, n=12, transport="batch", poll=0.01)
"""


@pytest.mark.parametrize("moment", ["create", "results"])
def test_sigkill_while_a_request_is_under_way(collecting, server, judge, batching, moment):
    """The process dies while the provider makes the batch, or while it sends the results."""
    reached = threading.Event()

    def trouble(what):
        if what == moment and not reached.is_set():
            reached.set()
            time.sleep(0.2)

    server.trouble = trouble
    command = [sys.executable, "-c", RUN, str(Path(__file__).parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(pickle.dumps((collecting, judge)))
        process.stdin.close()
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert batching(n=12)["outcome"].notna().all()
    assert len(server.batches) == 1
    assert set(answered(collecting).values()) == {1}
    assert sorted(Counter(server.asked()).values()) == [1] * 11


def test_a_batch_of_the_same_size_that_is_not_ours(collecting, server, batching, monkeypatch):
    """Where a lost batch can only be found by its size, the nonce tells it from a stranger's."""

    def kill(self, *arguments):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "handed_in", kill)
        with pytest.raises(Killed):
            batching(n=6)
    ours = server.batches["batch_0"]["questions"]
    strangers = [(f"theirs-{n}", body) for n, (_, body) in enumerate(ours)]
    server.made(strangers, {"nonce": "theirs"})
    assert batching(n=6)["outcome"].notna().all()
    assert len(server.batches) == 2
    assert set(answered(collecting).values()) == {1}


def test_a_batch_that_nobody_has_is_made_anew(server, batching, monkeypatch):
    interface = INTERFACES[server.provider]

    async def kill(self, nonce, lines):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(interface, "submit", kill)
        with pytest.raises(Killed):
            batching(n=6)
    assert server.batches == {}
    assert batching(n=6)["outcome"].notna().all()
    assert len(server.batches) == 1
    assert sorted(Counter(server.asked() + server.asked_live).values()) == [1] * 6


def test_a_refused_batch_says_why(server, batching):
    if server.provider == "anthropic":
        server.trouble = lambda what: (
            Reaction(400, {"error": {"message": "requests: bad"}}) if what == "create" else None
        )
        told = "HTTP 400: requests: bad"
    else:
        made = server.made

        def failing(questions, metadata=None):
            name = made(questions, metadata)
            server.batches[name]["failure"] = {"code": "bad_line", "message": "line 1"}
            return name

        server.made = failing
        told = "the batch was refused: bad_line: line 1"
    with pytest.raises(PermanentError, match=told):
        batching(n=4)


def test_a_wrong_key_is_told_before_anything_is_handed_in(server, batching, monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGE_KEY", "sk-planted-wrong")
    with pytest.raises(PermanentError, match="check the key in JUDGE_KEY"):
        batching()
    assert server.batches == {}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(b"sk-planted" not in path.read_bytes() for path in files)


def test_a_key_in_results_is_cut_out(collecting, server, batching):
    """Results that echo the key, in an answer and in a failure."""

    def answer(custom_id, body):
        if "thing 3." in prompt_of(body):
            return server.failed(404, "not_found_error", f"no model for {KEY}")
        return server.succeeded(body, {**server.body(prompt_of(body)), "id": KEY})

    server.answer = answer
    with pytest.raises(PermanentError, match=r"no model for \[redacted\]"):
        batching(n=5)
    written = collecting.path.read_bytes()
    assert len(answered(collecting)) == 4
    assert written.count(b"[redacted]") >= 4
    assert b"sk-planted" not in written


def test_a_budget_bounds_what_is_handed_in(collecting, server, batching):
    """A live answer costs 0.003, one of a batch half of it: 18 fit beside the first."""
    price = Price(input=30.0, output=100.0, read=datetime.date(2026, 6, 1), source="list")
    budgets = Budgets({"judge-1": price}, judge=0.03)
    with pytest.raises(BudgetError, match=r"of the budget of 0\.03 USD for this judge"):
        batching(budgets=budgets)
    spent = 0.003 + 0.0015 * len(server.asked())
    assert 0.02 < spent <= 0.03
    assert len(answered(collecting)) == 1 + len(server.asked())


def test_a_line_of_results_that_is_too_long_or_too_deep_is_no_result(monkeypatch):
    monkeypatch.setattr(http, "MAX_BYTES", 1000)
    transport = HttpTransport("http://127.0.0.1/v1", where="judge", timeout=5)
    lines = [b'{"a": 1}', b'{"b": "' + b"x" * 2000 + b'"}', b"[" * 90 + b"]" * 90, b"", b'{"c": 3}']
    found = list(transport.lines(io.BytesIO(b"\n".join(lines))))
    assert [line for line in found if isinstance(line, dict)] == [{"a": 1}, {"c": 3}]


def test_only_some_providers_have_batches():
    judge = Judge(provider="gemini", model="m", transport="batch")
    with pytest.raises(ConfigError, match="no batch interface of gemini is known; use `live`, or"):
        make_provider("judge-1", judge)


def test_a_torn_or_damaged_list_of_batches(tmp_path):
    ledger = Ledger(tmp_path / "j.jsonl")
    part = ledger.handed_in(ledger.plan(3, 1), "batch_1")
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + b'{"nonce":"ab')
    assert Ledger(tmp_path / "j.jsonl").open_parts() == [part]
    assert ledger.path.read_bytes() == whole
    ledger.path.write_bytes(b"{}\n" + whole)
    with pytest.raises(JournalError, match=r"j\.jsonl\.batches, line 1: not a line of a list"):
        Ledger(tmp_path / "j.jsonl")
