"""As much HTTP/1.1 as a scripted server needs: keep-alive, one request at a time, endings of every kind."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from scripted_actions import Ending


@dataclass(frozen=True, slots=True)
class Request:
    """Header names are in lower case; of a query, the last value of each name counts."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    ending: Ending = "sent"

    def head(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"content-type: {self.content_type}",
            f"content-length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        return "\r\n".join([*lines, "\r\n"]).encode()


class Connection(asyncio.Protocol):
    """One connection: hands each request to ``handle``, which calls ``answer`` once for it."""

    def __init__(self, handle: Callable[[Connection, Request], None], connections: set[Connection]) -> None:
        self._handle = handle
        self._connections = connections
        self._buffer = bytearray()
        self._busy = False
        self._writing = False
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None
        self._finished: Callable[[bool], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        # Any byte that is still here counts as not sent: pause_writing and resume_writing tell when.
        transport.set_write_buffer_limits(high=0)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        self._end(sent=False)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._writing:
            self._end(sent=True)

    def answer(self, reply: Reply, delay: float, finished: Callable[[bool], None]) -> None:
        """Send the reply after ``delay`` seconds; ``finished`` then learns whether it left in full.

        It learns the same where the other side goes away before.
        """
        self._finished = finished
        if reply.ending == "hang":
            return
        if delay > 0:
            self._timer = asyncio.get_running_loop().call_later(delay, self._send, reply)
        else:
            self._send(reply)

    def _next(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if self._busy or end < 0:
            return
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = int(headers.get("content-length", 0))
        if len(self._buffer) < end + 4 + size:
            return
        body = bytes(self._buffer[end + 4 : end + 4 + size])
        del self._buffer[: end + 4 + size]
        method, target, _ = first.split(" ", 2)
        address = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        self._busy = True
        self._handle(self, Request(method, address.path, query, headers, body))

    def _send(self, reply: Reply) -> None:
        self._timer = None
        if reply.ending == "reset":
            # Lingering for no time turns the close into a reset.
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()
        elif reply.ending == "close":
            self.transport.close()
        elif reply.ending in ("cut", "stall"):
            self.transport.write(reply.head() + reply.body[: len(reply.body) // 2])
            if reply.ending == "cut":
                self.transport.close()
        else:
            self._writing = True
            self.transport.write(reply.head() + reply.body)
            if not self._paused:
                self._end(sent=True)

    def _end(self, *, sent: bool) -> None:
        finished, self._finished = self._finished, None
        self._busy = self._writing = False
        if finished is not None:
            finished(sent)
        if sent:
            self._next()


def uploaded_file(request: Request) -> tuple[str, bytes, dict[str, str]]:
    """File name, content and the other fields of a form. ``ValueError`` where it holds no file."""
    boundary = re.search(r'boundary="?([^";]+)', request.headers.get("content-type", ""))
    name, content, fields = "", None, {}
    if boundary is not None:
        for part in request.body.split(b"--" + boundary[1].encode())[1:-1]:
            head, _, data = part.partition(b"\r\n\r\n")
            named = dict(re.findall(r'(\w+)="([^"]*)"', head.decode()))
            if "filename" in named:
                name, content = named["filename"], data[:-2]
            else:
                with contextlib.suppress(UnicodeDecodeError):
                    fields[named["name"]] = data[:-2].decode()
    if content is None:
        raise ValueError("the form holds no file")
    return name, content, fields
