"""Providers on loopback: each speaks its protocol, refuses what it would, fails on demand."""

import asyncio
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn


@contextmanager
def serve(app, **options: Any) -> Iterator[str]:
    """Run an ASGI app on a free port of loopback; its address."""
    settings = {"host": "127.0.0.1", "port": 0, "log_level": "critical", "lifespan": "off"}
    config = uvicorn.Config(app, **settings, **options)
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    while not runner.started:
        threading.Event().wait(0.01)
    try:
        yield f"http://127.0.0.1:{runner.servers[0].sockets[0].getsockname()[1]}"
    finally:
        runner.should_exit = True
        thread.join()


@dataclass
class Reaction:
    """How a server reacts to one request."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    #: Seconds before the response begins, and between its two halves.
    delay: float = 0.0
    pause: float = 0.0
    #: Whether the connection breaks in mid-answer.
    reset: bool = False


React = Callable[[int, dict[str, Any]], Reaction]


def completion(content="A", finish="stop", **message) -> dict[str, Any]:
    """Answer in the chat completions protocol."""
    return {
        "id": "cmpl-1",
        "model": "judge-1-0611",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {
            "prompt_tokens": 90,
            "completion_tokens": 3,
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def message(*blocks, stop="end_turn", **more) -> dict[str, Any]:
    """Answer in the messages protocol; a text stands for a block of text."""
    texts = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "judge-1-0611",
        "content": texts,
        "stop_reason": stop,
        "usage": {"input_tokens": 90, "output_tokens": 3},
        **more,
    }


def candidate(*parts, finish="STOP", **more) -> dict[str, Any]:
    """Answer in the generateContent protocol; a text stands for a part of text."""
    texts = [{"text": p} if isinstance(p, str) else p for p in parts]
    content = {"role": "model", "parts": texts} if parts else None
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 90,
            "candidatesTokenCount": 3,
            "thoughtsTokenCount": 20,
            "totalTokenCount": 113,
        },
        "modelVersion": "judge-1-0611",
        "responseId": "resp-1",
        **more,
    }


PROTOCOLS = {"anthropic": "messages", "gemini": "generate"}
ANSWERS = {"chat": completion, "messages": message, "generate": candidate}


def protocol_of(provider: str) -> str:
    return PROTOCOLS.get(provider, "chat")


def prompt_of(request: dict[str, Any]) -> str:
    """Return the question as it was put, in any protocol."""
    if "contents" in request:
        return request["contents"][-1]["parts"][0]["text"]
    return request["messages"][-1]["content"]


def letter_of(prompt: str) -> str:
    return "AB"[hashlib.sha256(prompt.encode()).digest()[0] % 2]


def steady(number: int, request: dict[str, Any]) -> Reaction:
    """Answer by the prompt alone, in the protocol of the request."""
    protocol = "generate" if "contents" in request else "chat"
    return Reaction(body=ANSWERS[protocol](letter_of(prompt_of(request))))


@dataclass
class WireServer:
    """A server and what it was asked; set `react` to change how it behaves."""

    url: str = ""
    react: React = steady
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            received = await receive()
            body += received.get("body", b"")
            if not received.get("more_body"):
                break
        query = scope["query_string"].decode()
        self.paths.append(scope["path"] + (f"?{query}" if query else ""))
        self.requests.append(json.loads(body))
        self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._respond(self.reaction(len(self.requests)), send)
        finally:
            self.in_flight -= 1

    def reaction(self, number: int) -> Reaction:
        return self.react(number, self.requests[-1])

    async def _respond(self, reaction: Reaction, send) -> None:
        await asyncio.sleep(reaction.delay)
        body = reaction.body
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", "x-request-id": "req-7", **reaction.headers}
        if reaction.reset:
            headers["content-length"] = str(len(content) + 100)
        pairs = [(k.encode(), v.encode()) for k, v in headers.items()]
        start = {"type": "http.response.start", "status": reaction.status, "headers": pairs}
        await send(start)
        if reaction.pause:
            half = len(content) // 2
            await send({"type": "http.response.body", "body": content[:half], "more_body": True})
            await asyncio.sleep(reaction.pause)
            content = content[half:]
        await send({"type": "http.response.body", "body": content, "more_body": reaction.reset})
        if reaction.reset:
            raise ConnectionResetError("broken off in mid-answer")

    def asked(self) -> list[str]:
        return [prompt_of(request) for request in self.requests]


@dataclass
class ProviderServer(WireServer):
    """A server that first looks at a request as its provider would, then reacts.

    What a provider refuses is refused in its own shape; a fault of ours shows as a refusal.
    """

    provider: str = "openai"
    key: str = ""

    def reaction(self, number: int) -> Reaction:
        request, headers, path = self.requests[-1], self.headers[-1], self.paths[-1]
        refused = refusal(self.provider, self.key, path, headers, request)
        if refused is not None:
            return refused
        if self.react is not steady:
            return self.react(number, request)
        answer = ANSWERS[protocol_of(self.provider)]
        return Reaction(body=answer(letter_of(prompt_of(request))))


def refusal(provider, key, path, headers, request) -> Reaction | None:
    """What a provider would refuse a request for; None where it would answer."""
    protocol = protocol_of(provider)
    expected = {
        "chat": r"/v1/chat/completions",
        "messages": r"/v1/messages",
        "generate": r"/v1/models/[^/?]+:generateContent",
    }[protocol]
    if not re.fullmatch(expected, path):
        return failure(provider, 404, f"no such path: {path}")
    sent = {
        "chat": headers.get("authorization", "").removeprefix("Bearer "),
        "messages": headers.get("x-api-key", ""),
        "generate": headers.get("x-goog-api-key", ""),
    }[protocol]
    if sent != key:
        return failure(provider, 401, "invalid key")
    told = bad_request(provider, headers, request)
    return failure(provider, 400, told) if told else None


def bad_request(provider: str, headers: dict[str, str], request: dict[str, Any]) -> str:
    """Say what is wrong with a request, as its provider would; empty where nothing is."""
    protocol = protocol_of(provider)
    if protocol == "generate":
        known = {"contents", "systemInstruction", "generationConfig", "safetySettings"}
        unknown = sorted(set(request) - known)
        return f"Unknown name {unknown[0]}: cannot find field" if unknown else ""
    if protocol == "messages":
        if headers.get("anthropic-version") != "2023-06-01":
            return "anthropic-version: header is required"
        if "max_tokens" not in request:
            return "max_tokens: Field required"
        roles = {each["role"] for each in request["messages"]}
        return "" if roles == {"user"} else "messages: Unexpected role"
    wrong = {
        "openai": ("max_tokens", "Unsupported parameter: 'max_tokens'; use max_completion_tokens"),
        "mistral": ("seed", "Extra inputs are not permitted: seed"),
        "zhipu": ("max_completion_tokens", "unknown parameter max_completion_tokens"),
        "openrouter": ("models", "models must not be set here"),
    }
    name, told = wrong.get(provider, ("", ""))
    if provider == "moonshot" and "thinking" in request["model"] and "temperature" in request:
        return "invalid temperature: only 1 is allowed for this model"
    return told if name in request else ""


def failure(provider: str, status: int, told: str, code: Any = None, **more) -> Reaction:
    """An error in the shape of its provider."""
    if provider == "anthropic":
        kind = {
            400: "invalid_request_error",
            401: "authentication_error",
            429: "rate_limit_error",
            529: "overloaded_error",
        }.get(status, "api_error")
        inner = {"type": code or kind, "message": told, **more}
        return Reaction(status, {"type": "error", "error": inner, "request_id": "req-7"})
    if provider == "gemini":
        word = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
        inner = {"code": status, "message": told, "status": code or word.get(status, "INTERNAL")}
        return Reaction(status, {"error": {**inner, **more}})
    if provider == "xai":
        return Reaction(status, {"code": code or "error", "error": told, **more})
    return Reaction(status, {"error": {"message": told, "code": code, "type": None, **more}})
