"""Batch interfaces on loopback: OpenAI's and Anthropic's, with faults on demand."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from servers import Reaction, completion, letter_of, message, prompt_of
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Result = dict[str, Any]


def parts_of(content_type: str, body: bytes) -> dict[str, bytes]:
    """Read a multipart form."""
    head = f"content-type: {content_type}\r\n\r\n".encode()
    parts = BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
        for part in parts
    }


@dataclass
class BatchServer:
    """What both interfaces share: batches, their questions, and what may go wrong.

    `answer` makes a result of a question; `spoil` changes the results of a batch as a whole;
    `trouble` gives a response in place of the right one, by what is asked.
    """

    provider: str
    key: str
    url: str = ""
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    asked_live: list[str] = field(default_factory=list)
    #: How often a batch is looked at before it has ended.
    looks: int = 1
    answer: Callable[[str, dict[str, Any]], Result] | None = None
    spoil: Callable[[list[Result]], list[Result]] = list
    trouble: Callable[[str], Reaction | None] = lambda what: None

    def app(self) -> Starlette:
        live = "/v1/chat/completions" if self.provider == "openai" else "/v1/messages"
        routes = [Route(live, self.on("live", self.live), methods=["POST"])]
        if self.provider == "openai":
            routes += [
                Route("/v1/files", self.on("upload", self.upload), methods=["POST"]),
                Route("/v1/batches", self.on("create", self.create_openai), methods=["POST"]),
                Route("/v1/batches", self.on("list", self.listed)),
                Route("/v1/batches/{id}", self.on("state", self.state)),
                Route("/v1/files/{id}/content", self.on("results", self.content)),
            ]
        else:
            path = "/v1/messages/batches"
            routes += [
                Route(path, self.on("create", self.create_anthropic), methods=["POST"]),
                Route(path, self.on("list", self.listed)),
                Route(path + "/{id}", self.on("state", self.state)),
                Route(path + "/{id}/results", self.on("results", self.results)),
            ]
        return Starlette(routes=routes)

    def on(self, what, handler):
        async def respond(request):
            sent = request.headers.get("x-api-key") or request.headers.get("authorization", "")
            if sent.removeprefix("Bearer ") != self.key:
                return JSONResponse({"error": {"message": "who?"}}, 401)
            # What has come in whole is done, even where nobody waits for it any more.
            await request.body()
            trouble = self.trouble(what)
            if trouble is not None and trouble.status != 0:
                return JSONResponse(trouble.body, trouble.status, trouble.headers)
            done = await handler(request)
            # Done, and not told: as if the connection had broken in between.
            return done if trouble is None else JSONResponse({"error": {"message": "lost"}}, 500)

        return respond

    async def live(self, request):
        body = await request.json()
        self.asked_live.append(prompt_of(body))
        return JSONResponse(self.body(prompt_of(body)))

    def body(self, prompt: str) -> dict[str, Any]:
        build = completion if self.provider == "openai" else message
        return build(letter_of(prompt))

    async def upload(self, request):
        form = parts_of(request.headers["content-type"], await request.body())
        assert form["purpose"].strip() == b"batch"
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"]
        return JSONResponse({"id": name, "object": "file"})

    async def create_openai(self, request):
        made = await request.json()
        assert made["completion_window"] == "24h"
        lines = self.files[made["input_file_id"]].splitlines()
        asked = [json.loads(line) for line in lines]
        assert {(line["method"], line["url"]) for line in asked} == {("POST", made["endpoint"])}
        questions = [(line["custom_id"], line["body"]) for line in asked]
        return JSONResponse(self.shown(self.made(questions, made["metadata"])))

    async def create_anthropic(self, request):
        asked = (await request.json())["requests"]
        return JSONResponse(self.shown(self.made([(r["custom_id"], r["params"]) for r in asked])))

    def made(self, questions, metadata=None) -> str:
        ids = [custom_id for custom_id, _ in questions]
        assert len(set(ids)) == len(ids)
        assert all(len(custom_id) <= 64 for custom_id in ids)
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {
            "questions": questions,
            "metadata": metadata,
            "looks": 0,
            "created": datetime.now(UTC),
        }
        return name

    def asked(self) -> list[str]:
        """All questions of all batches."""
        batches = self.batches.values()
        return [prompt_of(body) for batch in batches for _, body in batch["questions"]]

    def ended(self, name: str) -> bool:
        return self.batches[name]["looks"] > self.looks

    def shown(self, name: str) -> dict[str, Any]:
        batch, ended = self.batches[name], self.ended(name)
        count = len(batch["questions"])
        if self.provider == "openai":
            failure = batch.get("failure")
            status = "failed" if failure else "completed"
            return {
                "id": name,
                "object": "batch",
                "status": status if ended else "in_progress",
                "errors": {"data": [failure]} if failure and ended else None,
                "output_file_id": f"{name}-output" if ended and not failure else None,
                "error_file_id": f"{name}-error" if ended and not failure else None,
                "metadata": batch["metadata"],
                "request_counts": {"total": count},
            }
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else count, "succeeded": count * ended},
            "created_at": batch["created"].isoformat().replace("+00:00", "Z"),
            "results_url": "http://127.0.0.1:9/elsewhere" if ended else None,
        }

    async def listed(self, request):
        return JSONResponse({"data": [self.shown(name) for name in reversed(self.batches)]})

    async def state(self, request):
        name = request.path_params["id"]
        self.batches[name]["looks"] += 1
        return JSONResponse(self.shown(name))

    def made_results(self, name: str) -> list[Result]:
        answer = self.answer or (lambda custom_id, body: self.succeeded(body))
        questions = self.batches[name]["questions"]
        made = [{"custom_id": each, **answer(each, body)} for each, body in questions]
        # In no order.
        return self.spoil(sorted(made, key=lambda result: result["custom_id"][::-1]))

    def succeeded(self, request: dict[str, Any], body: dict[str, Any] | None = None) -> Result:
        body = body or self.body(prompt_of(request))
        if self.provider == "anthropic":
            return {"result": {"type": "succeeded", "message": body}}
        return {"response": {"status_code": 200, "request_id": "r", "body": body}, "error": None}

    def failed(self, status: int, kind: str, told: str = "no") -> Result:
        if self.provider == "anthropic":
            error = {"type": "error", "error": {"type": kind, "message": told}}
            return {"result": {"type": "errored", "error": error}}
        body = {"error": {"code": kind, "message": told}}
        return {"response": {"status_code": status, "request_id": "r", "body": body}, "error": None}

    def expired(self) -> Result:
        if self.provider == "anthropic":
            return {"result": {"type": "expired"}}
        return {"response": None, "error": {"code": "batch_expired", "message": "too late"}}

    async def results(self, request):
        return self.jsonl(self.made_results(request.path_params["id"]))

    async def content(self, request):
        """Successes and errors stand in files of their own."""
        name, _, which = request.path_params["id"].rpartition("-")
        results = self.made_results(name)
        fine = [r for r in results if (r.get("response") or {}).get("status_code") == 200]
        rest = [r for r in results if r not in fine]
        return self.jsonl(fine if which == "output" else rest)

    def jsonl(self, results: list[Result]) -> Response:
        text = "".join(json.dumps(result) + "\n" for result in results)
        return Response(text, media_type="application/x-jsonl")
