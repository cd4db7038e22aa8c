"""A judge on loopback that costs next to nothing: it answers `A` after a while, to so many at once.

``python benchmarks/server.py [SECONDS] [AT_ONCE]`` prints its port and serves until its standard
input closes.
"""

from __future__ import annotations

import asyncio
import json
import sys

BODY = json.dumps(
    {
        "id": "cmpl-1",
        "model": "judge-1-0611",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "A"},
            }
        ],
        "usage": {"prompt_tokens": 180, "completion_tokens": 3},
    }
).encode()
HEAD = "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n"
ANSWER = HEAD.format("200 OK", len(BODY)).encode() + BODY
REFUSAL = HEAD.format("429 Too Many Requests", 2).encode() + b"{}"


class Connection(asyncio.Protocol):
    """Reads one request after another and answers each."""

    in_flight = 0

    def __init__(self, seconds: float, at_once: int) -> None:
        self._seconds, self._at_once = seconds, at_once
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once a request is complete."""
        self._unread += data
        head, end, rest = self._unread.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(rest) >= length:
            self._unread = rest[length:]
            self._answer()

    def _answer(self) -> None:
        if Connection.in_flight >= self._at_once:
            self._transport.write(REFUSAL)
            return
        Connection.in_flight += 1
        asyncio.get_running_loop().call_later(self._seconds, self._write)

    def _write(self) -> None:
        Connection.in_flight -= 1
        self._transport.write(ANSWER)


async def serve(seconds: float, at_once: int) -> None:
    """Serve on a free port until standard input closes."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(seconds, at_once), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    given = sys.argv[1:]
    asyncio.run(serve(float(given[0]) if given else 0.2, int(given[1]) if given[1:] else 64))
