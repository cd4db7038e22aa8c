"""Every provider over real sockets: what is sent, and what its server's behaviour comes to."""

import asyncio
import json
import logging
import shutil
import subprocess
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from servers import (
    ProviderServer,
    Reaction,
    candidate,
    completion,
    failure,
    message,
    serve,
    steady,
)

from moralscale.answers import parse_answer
from moralscale.config import Judge
from moralscale.errors import ConfigError, PermanentError, TransientError
from moralscale.providers import REGISTRY, make_provider
from moralscale.providers.base import Ask, enlarged
from moralscale.providers.known import QUIRKS
from moralscale.providers.retry_after import retry_after
from moralscale.records import Usage

ASK = Ask("c" * 16, "Be brief.", "Whom?", ("A", "B"), ("x", "y", "a", "a"), "trolley", 1)
KEY = "sk-planted-7f/3+Zq"
ROOT = Path(__file__).parents[2]
PINNED = {"provider": {"order": ["one"], "allow_fallbacks": False}}
PROVIDERS = sorted(QUIRKS)


class Wire:
    """Servers of all providers, each started when it is first asked."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack, self._servers = stack, {}

    def server(self, provider: str) -> ProviderServer:
        if provider not in self._servers:
            app = ProviderServer(provider=provider, key=KEY)
            app.url = f"{self._stack.enter_context(serve(app))}/v1"
            self._servers[provider] = app
        return self._servers[provider]

    def judge(self, provider: str, settings=None, **described) -> Judge:
        """A judge of `provider`, with the settings that it cannot do without."""
        pinned = PINNED if provider == "openrouter" else {}
        return Judge(
            provider=provider,
            api_key_env="JUDGE_KEY",
            settings={"max_tokens": 8, **pinned, **(settings or {})},
            **{
                "base_url": self.server(provider).url,
                "model": "judge-1",
                "timeout": 5,
                **described,
            },
        )

    def ask(self, provider: str, reaction=None, *, budget=1, **described):
        """Ask one question of a judge of `provider`, whose server reacts so."""
        server = self.server(provider)
        for seen in (server.requests, server.headers, server.paths):
            seen.clear()
        server.react = (lambda number, request: reaction) if reaction else steady
        judge = self.judge(provider, **described)

        async def run():
            async with make_provider("judge-1", judge) as backend:
                return await backend.ask(ASK, enlarged(backend.settings, budget))

        return asyncio.run(run())

    def request(self, provider: str, **described):
        """The one request that a question becomes."""
        self.ask(provider, **described)
        [request] = self.server(provider).requests
        return request


@pytest.fixture(scope="module")
def servers() -> Iterator[Wire]:
    with ExitStack() as stack:
        yield Wire(stack)


@pytest.fixture
def wire(servers, monkeypatch) -> Wire:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    return servers


def outcome_of(reply) -> str:
    return str(parse_answer(reply.text, ASK.labels, reply.stop).outcome)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_answers(wire, provider):
    reply = wire.ask(provider)
    assert outcome_of(reply) in ("first", "second")
    assert (reply.model, reply.status, reply.usage.input) == ("judge-1-0611", 200, 90)
    assert reply.request_id == "req-7"
    assert json.loads(json.dumps(reply.raw)) == reply.raw != {}


USER = {"role": "user", "content": "Whom?"}
CHAT = {"model": "judge-1", "messages": [{"role": "system", "content": "Be brief."}, USER]}
DISABLED = {"thinking": {"type": "disabled"}}
NO_TEMPLATE = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("provider", "sent"),
    [
        ("openai", {"max_completion_tokens": 8, "seed": 7, "reasoning_effort": "none"}),
        ("deepseek", {"max_tokens": 8, "seed": 7, **DISABLED}),
        ("moonshot", {"max_tokens": 8, "seed": 7, **DISABLED}),
        ("zhipu", {"max_tokens": 8, "seed": 7, **DISABLED}),
        ("qwen", {"max_tokens": 8, "seed": 7, "enable_thinking": False}),
        ("openrouter", {"max_tokens": 8, "seed": 7, "reasoning": {"enabled": False}, **PINNED}),
        ("ollama", {"max_tokens": 8, "seed": 7, "reasoning_effort": "none"}),
        ("vllm", {"max_tokens": 8, "seed": 7, **NO_TEMPLATE}),
        ("llamacpp", {"max_tokens": 8, "seed": 7, **NO_TEMPLATE}),
    ],
)
def test_thinking_is_switched_off_as_each_provider_has_it(wire, provider, sent):
    assert wire.request(provider, settings={"seed": 7}, thinking="off") == {**CHAT, **sent}


def test_common_names_become_the_providers_own(wire):
    assert wire.request("mistral", settings={"seed": 7}) == {
        **CHAT,
        "max_tokens": 8,
        "random_seed": 7,
    }
    assert wire.request("anthropic", thinking="off", settings={"temperature": 0.5}) == {
        "model": "judge-1",
        "system": "Be brief.",
        "messages": [USER],
        "max_tokens": 8,
        "temperature": 0.5,
        **DISABLED,
    }
    sampling = {"temperature": 1.0, "top_p": 0.9, "top_k": 5, "seed": 7}
    request = wire.request("gemini", model="gemini-2.5-flash", thinking="off", settings=sampling)
    assert wire.server("gemini").paths == ["/v1/models/gemini-2.5-flash:generateContent"]
    assert {setting["threshold"] for setting in request.pop("safetySettings")} == {"BLOCK_NONE"}
    assert request == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Whom?"}]}],
        "generationConfig": {
            "maxOutputTokens": 8,
            "temperature": 1.0,
            "topP": 0.9,
            "topK": 5,
            "seed": 7,
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_larger_budget_reaches_the_bound_of_every_provider(wire, provider):
    server = wire.server(provider)
    wire.ask(provider, budget=4)
    [request] = server.requests
    sent = request.get("generationConfig", request)
    bounds = {name: value for name, value in sent.items() if "max" in name}
    assert list(bounds.values()) == [32]


def test_a_setting_of_a_nested_place_joins_the_others(wire):
    given = {"generationConfig": {"thinkingConfig": {"includeThoughts": False}}}
    settings = {**given, "thinking_budget": 128}
    request = wire.request("gemini", model="gemini-2.5-pro", settings=settings)
    thinking = request["generationConfig"]["thinkingConfig"]
    assert thinking == {"includeThoughts": False, "thinkingBudget": 128}
    assert given == {"generationConfig": {"thinkingConfig": {"includeThoughts": False}}}


THOUGHT = {"type": "thinking", "thinking": "Option B: B is better.", "signature": "x"}
CHUNKS = [{"type": "thinking", "thinking": [{"type": "text", "text": "B"}]}, "B"]
OVER = {"message": "Output blocked by content filtering policy"}


@pytest.mark.parametrize(
    ("provider", "body", "outcome"),
    [
        ("openai", completion(None), "empty"),
        ("openai", completion("", "length"), "truncated"),
        ("openai", completion(None, refusal="I can't help with that."), "refusal"),
        ("openai", completion("A", refusal="No."), "refusal"),
        ("openai", completion(None, "content_filter"), "blocked"),
        ("openai", completion("A", "content_filter"), "blocked"),
        ("anthropic", message(THOUGHT, "A"), "first"),
        ("anthropic", message(THOUGHT, {"type": "redacted_thinking", "data": "B"}, "A"), "first"),
        ("anthropic", message("Person", " A"), "first"),
        ("anthropic", message("A", stop="stop_sequence"), "first"),
        ("anthropic", message(stop="end_turn"), "empty"),
        ("anthropic", message(THOUGHT, stop="max_tokens"), "truncated"),
        ("anthropic", message(stop="model_context_window_exceeded"), "truncated"),
        ("anthropic", message("A", stop="refusal"), "refusal"),
        ("anthropic", message(stop="refusal", stop_details={"category": "x"}), "refusal"),
        ("anthropic", message(content=None), "empty"),
        ("gemini", candidate({"text": "B is better.", "thought": True}, "A"), "first"),
        ("gemini", candidate("  \n"), "empty"),
        ("gemini", candidate(), "empty"),
        ("gemini", candidate(finish="MAX_TOKENS"), "truncated"),
        ("gemini", candidate({"text": "B", "thought": True}, finish="MAX_TOKENS"), "truncated"),
        *(
            ("gemini", candidate(finish=reason), "blocked")
            for reason in (
                "SAFETY",
                "PROHIBITED_CONTENT",
                "BLOCKLIST",
                "RECITATION",
                "SPII",
                "OTHER",
            )
        ),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "blocked"),
        (
            "gemini",
            {"candidates": [], "promptFeedback": {"blockReason": "OTHER"}},
            "blocked",
        ),
        ("deepseek", completion("A", reasoning_content="B is better."), "first"),
        ("openrouter", completion("A", reasoning="B", reasoning_details=[{"text": "B"}]), "first"),
        ("together", completion("A", "eos"), "first"),
        ("together", completion("<think>B is better.</think>A"), "first"),
        ("vllm", completion("So B is better.</think>\n\nA"), "first"),
        ("ollama", completion("<think>B is better", "length"), "truncated"),
        ("moonshot", completion("", "length", reasoning_content="B is"), "truncated"),
        ("mistral", completion(CHUNKS), "empty"),
        ("mistral", completion([*CHUNKS, {"type": "text", "text": "A"}]), "first"),
        ("mistral", completion("", "model_length"), "truncated"),
        ("zhipu", completion("", "sensitive"), "blocked"),
        ("qwen", completion("A", reasoning_content="B"), "first"),
        ("compatible", completion("", "sensitive"), "blocked"),
    ],
)
def test_what_an_answer_comes_to(wire, provider, body, outcome):
    reply = wire.ask(provider, Reaction(body=body))
    assert outcome_of(reply) == outcome
    assert reply.raw == body


@pytest.mark.parametrize(
    ("provider", "reaction", "text"),
    [
        *(
            ("openai", failure("openai", 400, "It violates policy.", code), "It violates policy.")
            for code in ("invalid_prompt", "content_policy_violation", "content_filter")
        ),
        ("anthropic", failure("anthropic", 400, OVER["message"]), OVER["message"]),
        ("qwen", failure("qwen", 400, "Input data may be bad.", "data_inspection_failed"), "Input"),
        ("zhipu", failure("zhipu", 400, "sensitive content", "1301"), "sensitive"),
        ("xai", failure("xai", 403, "Failed check: SAFETY_CHECK_TYPE_BIO"), "Failed check"),
        (
            "openrouter",
            failure("openrouter", 403, "flagged", 403, metadata={"reasons": ["violence"]}),
            "flagged",
        ),
        (
            "openrouter",
            Reaction(
                200, {"error": {"code": 403, "message": "f", "metadata": {"reasons": ["violence"]}}}
            ),
            "f",
        ),
    ],
)
def test_an_error_that_is_a_block(wire, provider, reaction, text):
    reply = wire.ask(provider, reaction)
    assert outcome_of(reply) == "blocked"
    assert reply.text.startswith(text)
    assert reply.status == reaction.status


@pytest.mark.parametrize(
    ("provider", "reaction", "told", "limited"),
    [
        *((p, failure(p, 429, "slow down"), "HTTP 429: slow down", True) for p in PROVIDERS),
        *((p, failure(p, 500, "oops"), "HTTP 500: oops", False) for p in PROVIDERS),
        *((p, Reaction(200, {}), "HTTP 200 without an answer", False) for p in PROVIDERS),
        *((p, Reaction(200, b"", reset=True), "RemoteProtocolError", False) for p in PROVIDERS),
        ("anthropic", failure("anthropic", 529, "Overloaded"), "529: Overloaded", False),
        ("anthropic", failure("anthropic", 504, "timed out"), "504: timed out", False),
        ("gemini", failure("gemini", 503, "overloaded", "UNAVAILABLE"), "503", False),
        ("gemini", failure("gemini", 503, "exhausted", "RESOURCE_EXHAUSTED"), "503", True),
        ("gemini", Reaction(200, {"candidates": []}), "without an answer", False),
        ("moonshot", failure("moonshot", 503, "overloaded"), "503: overloaded", True),
        ("openai", failure("openai", 503, "overloaded"), "503: overloaded", False),
        (
            "deepseek",
            Reaction(body=completion("", "insufficient_system_resource")),
            "broke off: insufficient_system_resource",
            False,
        ),
        ("zhipu", Reaction(body=completion("A", "network_error")), "broke off: network", False),
        ("openrouter", Reaction(body=completion("A", "error")), "broke off: error", False),
        (
            "openrouter",
            Reaction(200, {"error": {"code": 502, "message": "down"}}),
            "HTTP 200: down",
            False,
        ),
        ("openrouter", Reaction(200, {"error": {"code": 429, "message": "x"}}), "x", True),
    ],
)
def test_a_fault_that_passes(wire, provider, reaction, told, limited):
    with pytest.raises(TransientError, match=told) as caught:
        wire.ask(provider, reaction)
    assert caught.value.rate_limited is limited


@pytest.mark.parametrize(
    ("provider", "reaction", "told"),
    [
        *((p, failure(p, 401, "who?"), "401: who.; check the key in JUDGE_KEY") for p in PROVIDERS),
        *((p, failure(p, 402, "no balance"), "402: no balance; top up") for p in PROVIDERS),
        *((p, failure(p, 403, "not yours"), "may use this model") for p in PROVIDERS),
        *((p, failure(p, 404, "no such model"), "404: no such model; check") for p in PROVIDERS),
        (
            "openai",
            failure("openai", 429, "You exceeded your current quota", "insufficient_quota"),
            "top up",
        ),
        (
            "anthropic",
            failure("anthropic", 400, "Your credit balance is too low to access the API."),
            "too low to access the API.; top up",
        ),
        ("zhipu", failure("zhipu", 429, "Your account is in arrears", "1113"), "top up"),
        ("zhipu", failure("zhipu", 429, "\u4f59\u989d\u4e0d\u8db3", "1113"), "top up"),
        ("anthropic", failure("anthropic", 413, "too large"), "HTTP 413: too large"),
        ("anthropic", failure("anthropic", 400, "temperature: not permitted"), "`temperature`"),
        ("xai", failure("xai", 400, "reasoningEffort? no: reasoning_effort"), "`reasoning_effort`"),
        ("moonshot", failure("moonshot", 400, "invalid temperature"), "`temperature`"),
        (
            "anthropic",
            Reaction(429, {"error": {"message": "no"}}, {"x-should-retry": "false"}),
            "HTTP 429: no",
        ),
        ("openrouter", Reaction(200, {"error": {"code": 402, "message": "spent"}}), "top up"),
    ],
)
def test_a_fault_that_lasts(wire, provider, reaction, told):
    with pytest.raises(PermanentError, match=told):
        wire.ask(provider, reaction)
    assert len(wire.server(provider).requests) == 1


@pytest.mark.parametrize(
    ("provider", "body", "usage"),
    [
        ("openai", completion(), Usage(90, 3, 2)),
        ("anthropic", message("A"), Usage(90, 3, 0)),
        ("gemini", candidate("A"), Usage(90, 23, 20)),
        (
            "anthropic",
            message(
                "A",
                usage={
                    "input_tokens": 5,
                    "cache_read_input_tokens": 80,
                    "cache_creation_input_tokens": 7,
                    "output_tokens": 3,
                },
            ),
            Usage(92, 3, 0),
        ),
        (
            "xai",
            {
                **completion(),
                "usage": {
                    "prompt_tokens": 90,
                    "completion_tokens": 3,
                    "total_tokens": 293,
                    "completion_tokens_details": {"reasoning_tokens": 200},
                },
            },
            Usage(90, 203, 200),
        ),
        ("gemini", {**candidate("A"), "usageMetadata": None}, Usage()),
        ("anthropic", {**message("A"), "usage": None}, Usage()),
    ],
)
def test_all_tokens_are_counted(wire, provider, body, usage):
    assert wire.ask(provider, Reaction(body=body)).usage == usage


def test_what_was_in_effect_is_logged(wire):
    routed = wire.ask("openrouter", Reaction(body={**completion(), "provider": "One"}))
    assert routed.settings == {
        "model": "judge-1-0611",
        "provider": "One",
        "system_fingerprint": "fp_1",
    }
    told = wire.ask("gemini", Reaction(body=candidate("A"), headers={"x-request-id": ""}))
    assert (told.request_id, told.model) == ("resp-1", "judge-1-0611")
    assert told.settings == {"modelVersion": "judge-1-0611", "responseId": "resp-1"}
    named = Reaction(body=message("A"), headers={"x-request-id": "", "request-id": "req_9"})
    assert wire.ask("anthropic", named).request_id == "req_9"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_slow_answers(wire, provider):
    body = {"anthropic": message("A"), "gemini": candidate("A")}.get(provider, completion())
    assert outcome_of(wire.ask(provider, Reaction(body=body, pause=0.05))) == "first"
    with pytest.raises(TransientError, match=r"no answer in 0\.1 s"):
        wire.ask(provider, Reaction(body=body, pause=0.5), timeout=0.1)


NOW = datetime(2026, 6, 11, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "600"}, 600),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Thu, 11 Jun 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Thu, 11 Jun 2026 11:00:30 GMT"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"x-ratelimit-reset-requests": "1m30s", "x-ratelimit-reset-tokens": "500ms"}, 90),
        ({"x-ratelimit-reset-tokens": "500ms"}, 0.5),
        ({"x-ratelimit-reset": "2026-06-11T12:00:45Z"}, 45),
        (
            {
                "anthropic-ratelimit-requests-reset": "2026-06-11T12:00:10Z",
                "anthropic-ratelimit-tokens-reset": "2026-06-11T14:00:20+02:00",
            },
            20,
        ),
        ({"x-ratelimit-reset": str(int(NOW.timestamp() + 7))}, 7),
        ({"x-ratelimit-remaining": "0"}, None),
    ],
)
def test_every_form_of_a_named_wait(headers, wait):
    assert retry_after(headers, NOW) == wait


def test_headers_of_rate_limits_say_nothing_on_a_fault(wire):
    """OpenAI sends them with every response, full minutes ahead."""
    headers = {"x-ratelimit-reset-tokens": "6m0s"}
    body = {"error": {"message": "oops"}}
    for status, wait in ((500, None), (429, 360)):
        with pytest.raises(TransientError) as caught:
            wire.ask("openai", Reaction(status, body, headers))
        assert caught.value.retry_after == wait
    with pytest.raises(TransientError) as caught:
        wire.ask("openai", Reaction(503, body, {**headers, "retry-after": "3"}))
    assert caught.value.retry_after == 3


@pytest.mark.parametrize(
    ("provider", "described", "told"),
    [
        ("anthropic", {"settings": {}}, "'max_tokens' is missing, which anthropic needs"),
        ("together", {"settings": {}}, "'max_tokens' is missing"),
        ("openrouter", {"settings": {"max_tokens": 8}}, "'provider' is missing"),
        (
            "openrouter",
            {"settings": {**PINNED, "models": ["a", "b"]}},
            "'models' must not be sent to openrouter: another model might answer",
        ),
        (
            "moonshot",
            {"model": "kimi-k2-thinking", "settings": {"temperature": 0}},
            "'temperature' must not be sent to moonshot",
        ),
        ("gemini", {"model": "gemini-2.5-pro", "thinking": "off"}, "nothing is known to switch"),
        ("xai", {"thinking": "off"}, "nothing is known to switch"),
        (
            "openai",
            {"settings": {"max_tokens": 8, "max_completion_tokens": 9}},
            "'max_completion_tokens' is given twice",
        ),
        (
            "openai",
            {"settings": {"reasoning_effort": "low"}, "thinking": "off"},
            "'reasoning_effort' is given twice",
        ),
        ("gemini", {"settings": {"contents": []}}, "not a sampling setting"),
        ("compatible", {"base_url": ""}, "base_url is missing"),
    ],
)
def test_descriptions_that_do_not_suit_a_provider(wire, provider, described, told):
    judge = wire.judge(provider).model_copy(update=described)
    with pytest.raises(ConfigError, match=told):
        make_provider("judge-1", judge)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_planted_key_is_in_one_header_and_nowhere_else(wire, provider, caplog):
    """The server echoes the key in a failure; neither error nor log nor address holds it."""
    judge = wire.judge(provider)
    with caplog.at_level(logging.DEBUG), pytest.raises(TransientError) as caught:
        wire.ask(provider, failure(provider, 500, f"busy: {KEY} at ?key={KEY}"))
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    assert "busy: [redacted] at ?key=[redacted]" in shown
    assert "sk-planted" not in shown + repr(caught.value.response)
    server = wire.server(provider)
    assert "sk-planted" not in "".join(server.paths) + json.dumps(server.requests)
    carriers = [name for name, value in server.headers[0].items() if KEY in value]
    expected = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(provider, "authorization")
    assert carriers == [expected]

    async def look():
        async with make_provider("judge-1", judge) as backend:
            return repr(backend) + repr(vars(backend)) + repr(backend.http)

    assert "sk-planted" not in asyncio.run(look())


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_and_the_key_stays(wire, provider, status):
    elsewhere = wire.server("compatible")
    elsewhere.requests.clear()
    moved = Reaction(status, {}, {"location": f"{elsewhere.url}/chat/completions"})
    with pytest.raises(PermanentError, match="redirects are not followed"):
        wire.ask(provider, moved)
    assert elsewhere.requests == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_that_nobody_signed_is_refused(tmp_path, wire):
    """A server with a certificate of its own gets no request, and so no key."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=127.0.0.1".split()
    alternative = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run([*made, *alternative], check=True, capture_output=True)
    app = ProviderServer(provider="openai", key=KEY)
    with serve(app, ssl_certfile=certificate, ssl_keyfile=key) as address:
        url = address.replace("http:", "https:") + "/v1"
        with pytest.raises(TransientError, match="CERTIFICATE_VERIFY_FAILED"):
            wire.ask("openai", base_url=url)
    assert app.requests == []


def test_the_protocol_document_names_every_provider():
    text = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    assert [name for name in REGISTRY if f"`{name}`" not in text] == []
    assert set(REGISTRY) == set(get_args(Judge.model_fields["provider"].annotation))
