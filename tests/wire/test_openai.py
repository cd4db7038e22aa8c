"""The chat completions protocol over real sockets: answers, blocks, faults, retries, secrets."""

import asyncio
import itertools
import json
import logging
import math
import traceback

import pytest
from servers import Reaction, completion

from moralscale.errors import ConfigError, PermanentError, TransientError
from moralscale.journal import read_attempts
from moralscale.providers import make_provider
from moralscale.providers.base import Ask
from moralscale.providers.http import HttpTransport
from moralscale.records import Usage

ASK = Ask("c" * 16, "Be brief.", "Whom?", ("A", "B"), ("x", "y", "a", "a"), "trolley", 1)


def ask(judge, settings=None):
    async def once():
        async with make_provider("judge-1", judge) as provider:
            return await provider.ask(ASK, settings or provider.settings)

    return asyncio.run(once())


def always(reaction):
    return lambda number, request: reaction


def test_request_and_reply(server, judge):
    reply = ask(judge)
    assert server.requests == [
        {
            "model": "judge-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Whom?"},
            ],
            "temperature": 1,
            "max_tokens": 8,
        }
    ]
    assert server.headers[0]["authorization"] == "Bearer sk-planted-7f/3+Zq"
    assert (reply.stop, reply.status, reply.request_id) == ("stop", 200, "req-7")
    assert (reply.usage.input, reply.usage.output, reply.usage.reasoning) == (90, 3, 2)
    assert reply.settings == {"model": "judge-1-0611", "system_fingerprint": "fp_1"}


@pytest.mark.parametrize(
    ("body", "text", "stop"),
    [
        (completion(None), "", "stop"),
        (completion(None, "length"), "", "length"),
        (completion("  \n"), "  \n", "stop"),
        (completion([{"type": "text", "text": "A"}, {"type": "thinking"}]), "A", "stop"),
        (completion([{"type": "text", "text": None}, "B"]), "", "stop"),
        (completion("A", "eos"), "A", "stop"),
        (completion("A", None), "A", "stop"),
        (completion("A", "model_length"), "A", "length"),
        (completion(None, "content_filter"), "", "blocked"),
        (completion("", "sensitive"), "", "blocked"),
        (completion(None, "stop", refusal="I won't."), "I won't.", "refusal"),
        ({"choices": [{"finish_reason": "stop", "message": None}]}, "", "stop"),
        ({"choices": [{"message": {"content": "A"}}], "usage": None}, "A", "stop"),
    ],
)
def test_every_shape_of_an_answer_is_read(server, judge, body, text, stop):
    server.react = always(Reaction(body=body))
    reply = ask(judge)
    assert (reply.text, reply.stop) == (text, stop)


@pytest.mark.parametrize(
    ("told", "count"),
    [(0, 0), (7, 7), (2**31 - 1, 2**31 - 1), (2**31, 0), (10**30, 0), (-1, 0), (True, 0), ("7", 0)],
)
def test_only_what_can_be_a_count_of_tokens_is_one(server, judge, told, count):
    details = {"reasoning_tokens": told}
    usage = {
        "prompt_tokens": told,
        "completion_tokens": told,
        "completion_tokens_details": details,
    }
    server.react = always(Reaction(body={**completion(), "usage": usage}))
    assert ask(judge).usage == Usage(count, count, count)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:99999/v1", "http://127.0.0.1:x/v1", "http://\x00/v1"]
)
def test_an_address_that_breaks_only_when_used_is_a_typed_error(url):
    async def post():
        transport = HttpTransport("http://127.0.0.1/v1", where="judge", timeout=5)
        transport.base_url = url
        transport.open("")
        try:
            await transport.post("/chat/completions", {}, {})
        finally:
            await transport.close()

    with pytest.raises(PermanentError, match="check base_url"):
        asyncio.run(post())


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "content_filter", "message": "The response was filtered"}),
        (400, {"code": "invalid_prompt", "message": "Invalid prompt: policy"}),
        (400, {"code": None, "type": "content_policy_violation", "message": "no"}),
        (400, {"code": "data_inspection_failed", "message": "inappropriate content"}),
        (403, {"code": 403, "message": "flagged", "metadata": {"reasons": ["violence"]}}),
        (403, {"code": "permission", "message": "Content violates. SAFETY_CHECK_TYPE_BIO"}),
    ],
)
def test_blocks_by_policy_are_answers(server, judge, status, error):
    server.react = always(Reaction(status, {"error": error}))
    reply = ask(judge)
    assert (reply.stop, reply.status, reply.text) == ("blocked", status, error["message"])


@pytest.mark.parametrize(
    ("reaction", "told"),
    [
        (Reaction(408, {}), "HTTP 408"),
        (Reaction(409, {}), "HTTP 409"),
        (Reaction(429, {"error": {"message": "slow\n down"}}), "HTTP 429: slow down"),
        (Reaction(500, b"<html>oops</html>"), "HTTP 500: <html>oops</html>"),
        (Reaction(503, {"detail": "loading"}), "HTTP 503: loading"),
        (Reaction(529, {"error": {"message": "overloaded"}}), "HTTP 529: overloaded"),
        (Reaction(200, {"error": {"code": 502, "message": "upstream"}}), "HTTP 200: upstream"),
        (Reaction(200, {"error": {"code": "server_error", "message": "x"}}), "HTTP 200: x"),
        (
            Reaction(200, {"choices": []}),
            r"HTTP 200 without an answer \(no choices\); check base_u",
        ),
        (Reaction(200, {"choices": [None]}), "HTTP 200 without an answer"),
        (Reaction(200, {"hello": "world"}), "HTTP 200 without an answer"),
        (Reaction(200, b""), "HTTP 200 without an answer"),
        (Reaction(202, b""), "HTTP 202 without an answer"),
        (
            Reaction(204, b""),
            r"HTTP 204 without an answer \(no choices\); check base_url and model",
        ),
        (Reaction(200, b"no gzip", {"content-encoding": "gzip"}), "DecodingError"),
        (Reaction(200, b"not json"), "not a JSON object"),
        (Reaction(200, b"[" * 100_000), "nested too deeply"),
        (Reaction(200, {"a": json.loads("[" * 90 + "]" * 90)}), "nested too deeply"),
        (Reaction(200, b'"' + b"x" * 5_000_000 + b'"'), "larger than"),
        (Reaction(200, completion("A", "insufficient_system_resource")), "broke off"),
        (Reaction(200, b"", reset=True), "RemoteProtocolError"),
        (Reaction(200, completion(), delay=1.5), "no answer in 0.5 s"),
    ],
)
def test_passing_faults(server, judge, reaction, told):
    server.react = always(reaction)
    with pytest.raises(TransientError, match=told):
        ask(judge.model_copy(update={"timeout": 0.5 if reaction.delay else 5}))


@pytest.mark.parametrize(
    ("reaction", "told"),
    [
        (
            Reaction(400, {"error": {"message": "Use 'max_completion_tokens', not 'max_tokens'."}}),
            r"HTTP 400: .*; use `max_completion_tokens` in place of `max_tokens`",
        ),
        (
            Reaction(400, {"error": {"message": "Unsupported value: 'temperature'"}}),
            r"change or remove `temperature`",
        ),
        (Reaction(401, {"error": "bad key"}), r"HTTP 401: bad key; check the key in JUDGE_KEY"),
        (Reaction(402, {"error": {"message": "Insufficient Balance"}}), r"top up"),
        (Reaction(403, {"error": {"message": "no access"}}), r"may use this model"),
        (Reaction(404, {"message": "no such model"}), r"no such model; check `model`"),
        (Reaction(413, {}), r"HTTP 413"),
        (Reaction(422, {"detail": [{"loc": ["seed"]}]}), r"HTTP 422"),
        (
            Reaction(429, {"error": {"code": "insufficient_quota", "message": "You exceeded"}}),
            r"HTTP 429: You exceeded; top up",
        ),
        (Reaction(200, {"error": {"code": 401, "message": "who?"}}), r"check the key"),
        (Reaction(200, {"error": {"code": "invalid_request_error", "message": "x"}}), r"x; ch"),
        (Reaction(307, {}, {"location": "http://localhost:9/v1"}), r"redirects are not followed"),
    ],
)
def test_lasting_faults(server, judge, reaction, told):
    server.react = always(reaction)
    with pytest.raises(PermanentError, match=told):
        ask(judge)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"x-ratelimit-reset-requests": "1m30s", "x-ratelimit-reset-tokens": "500ms"}, 90),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"anthropic-ratelimit-tokens-reset": "2015-10-21T07:28:00Z"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "9" * 400}, math.inf),
        ({"retry-after": "Mon, 01 Jan 99999999999 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_the_provider_names(server, judge, headers, wait):
    server.react = always(Reaction(429, {}, headers))
    with pytest.raises(TransientError) as caught:
        ask(judge)
    assert caught.value.retry_after == wait


def test_no_server_at_all(judge):
    with pytest.raises(TransientError, match="ConnectError"):
        ask(judge.model_copy(update={"base_url": "http://127.0.0.1:9/v1"}))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"base_url": ""}, "base_url is missing"),
        ({"base_url": "api.example.org"}, "not an address"),
        ({"base_url": "http://[::1/v1"}, "not an address"),
        ({"base_url": "http://127.0.0.1:99999/v1"}, "not an address"),
        ({"base_url": "http://127.0.0.1:x/v1"}, "not an address"),
        ({"base_url": "http://127.0.0.999/v1"}, "not an address"),
        ({"base_url": "http://a..b/v1"}, "not an address"),
        ({"base_url": "https://me:pw@api.example.org/v1"}, "credentials"),
        ({"base_url": "https://api.example.org/v1?key=abc"}, "credentials"),
        ({"settings": {"stream": True}}, "'stream' is not a sampling setting"),
        ({"settings": {"max_tokens": "lots"}}, "'max_tokens' is 'lots', not a number of tokens"),
        ({"settings": {"max_tokens": 0}}, "'max_tokens' is 0, not a number of tokens"),
    ],
)
def test_descriptions_that_cannot_work(judge, change, told):
    with pytest.raises(ConfigError, match=told) as caught:
        make_provider("judge-1", judge.model_copy(update=change))
    assert "pw@" not in str(caught.value)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "environment variable JUDGE_KEY is not set; put the key there: export JUDGE_KEY"),
        ("  ", "JUDGE_KEY is not set"),
        ("sk-planted\nB: c", "holds characters that no key has"),
        ("sk-plantéd", "holds characters that no key has"),
    ],
)
def test_missing_or_broken_key(server, judge, monkeypatch, value, told):
    if value is None:
        monkeypatch.delenv("JUDGE_KEY")
    else:
        monkeypatch.setenv("JUDGE_KEY", value)
    with pytest.raises(PermanentError, match=told) as caught:
        ask(judge)
    assert "sk-plant" not in "".join(traceback.format_exception(caught.value))
    assert server.requests == []


def test_a_planted_key_never_comes_back(collecting, server, judge, caplog, tmp_path):
    """The server echoes the key wherever it can; it must be nowhere but in the request."""
    key = "sk-planted-7f/3+Zq"
    echoes = [
        Reaction(500, {"error": {"message": f"key {key} is busy"}}, {"x-request-id": key}),
        Reaction(200, completion(f"A {key}", id=key)),
        Reaction(200, {"error": {"code": 500, "message": f"?key=sk-planted-7f%2F3%2BZq {key}"}}),
        Reaction(200, f'{{"error": "{key.replace("/", chr(92) + "/")}"}}'.encode()),
        Reaction(502, b"x" * 1990 + key.encode()),
        Reaction(502, b"sk-planted-7f&#47;3&#x2B;Zq <SK-PLANTED-7F/3%2bZQ>"),
        Reaction(401, {"error": {"message": f"Incorrect API key provided: {key}"}}),
    ]
    turns = itertools.chain(echoes, itertools.repeat(echoes[-1]))
    server.react = lambda number, request: next(turns)
    with caplog.at_level(logging.DEBUG), pytest.raises(PermanentError) as caught:
        collecting.run(judge.model_copy(update={"concurrency": 1}))
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()).decode()
    assert "Incorrect API key provided: [redacted]" in shown
    assert len(list(read_attempts(collecting.path))) == len(echoes)
    for text in (shown, written):
        assert "sk-plant" not in text.lower()
        assert "7f/3" not in text.lower()
    assert all(head["authorization"] == f"Bearer {key}" for head in server.headers)
