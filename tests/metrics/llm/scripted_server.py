"""A scripted OpenAI-compatible server on loopback, in a thread of the test process or as a process.

``with ScriptedServer(script) as server:`` serves at ``server.base_url`` what ``script`` decides for each
call, and counts. As a process: ``python scripted_server.py --latency 0.2 --port-file FILE``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from scripted_actions import Action, ReceivedCall
from scripted_batches import Batches, BatchPlan, Refused
from scripted_counts import Counts, Tally
from scripted_faults import error, model_unknown, passing_faults, unauthorized
from scripted_http import Connection, Reply, Request
from scripted_routes import json_body, route_of, serve
from scripted_scripts import Script, judge, random_faults

OnRoute = Callable[[str, int], Action | None]


class ScriptedServer:
    """Serves on 127.0.0.1 from its own thread while the ``with`` block lasts.

    Entered again, it goes on at the same port with all it knew.

    ``latency``, in seconds, holds for every completion. Another key than ``expected_key`` gets a 401, a
    model that is not among ``models`` a 404 (``None``: any model will do). ``on_route`` may put an action in
    the place of an answer, by route (``POST /files``, ``GET /batches/{id}``; not completions) and how often
    the route was asked before. An error inside a script is answered with 500 and raised where the block ends.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        latency: float = 0.0,
        expected_key: str | None = None,
        models: tuple[str, ...] | None = None,
        batches: BatchPlan | Callable[[int], BatchPlan] | None = None,
        max_batch_requests: int = 50_000,
        max_batch_bytes: int = 200_000_000,
        on_route: OnRoute | None = None,
        keep_calls: bool = True,
        port: int = 0,
    ) -> None:
        self._script = script or judge()
        self._latency = latency
        self._expected_key = expected_key
        self._models = models
        self._on_route = on_route
        self._keep_calls = keep_calls
        self._port = port
        plan = batches if callable(batches) else lambda number: batches or BatchPlan()
        self.batches = Batches(self._ask_for_batch, plan, max_batch_requests, max_batch_bytes)
        self.calls: list[ReceivedCall] = []
        """Every call in order; empty without ``keep_calls``."""
        self.failures: list[BaseException] = []
        self._connections: set[Connection] = set()
        self._tally = Tally()

    def __enter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", self._port), backlog=512)
        self.port: int = listening.getsockname()[1]
        self.root = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.root}/v1"
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening, started), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._port = self.port
        if raised is None and self.failures:
            raise self.failures[0]

    def _run(self, listening: socket.socket, started: threading.Event) -> None:
        async def serve_until_stopped() -> None:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            self._loop.set_exception_handler(
                lambda loop, context: self.failures.append(
                    context.get("exception") or RuntimeError(context["message"])
                )
            )
            server = await self._loop.create_server(
                lambda: Connection(self._handle, self._connections), sock=listening
            )
            started.set()
            await self._stop.wait()
            server.close()
            for connection in list(self._connections):
                connection.transport.abort()
            # One turn of the loop for the connections to learn of it.
            await asyncio.sleep(0)

        asyncio.run(serve_until_stopped())

    @property
    def counts(self) -> Counts:
        """A snapshot, in which no answer that has reached a client is missing."""
        if not self._thread.is_alive() or threading.current_thread() is self._thread:
            return self._tally.snapshot()
        taken: Future[Counts] = Future()
        self._loop.call_soon_threadsafe(lambda: taken.set_result(self._tally.snapshot()))
        return taken.result()

    def _handle(self, connection: Connection, request: Request) -> None:
        try:
            self._dispatch(connection, request)
        except Refused as refused:
            connection.answer(_reply(refused.action, _nobody(request)), 0, lambda sent: None)
        except Exception as failure:
            self.failures.append(failure)
            message = "".join(traceback.format_exception(failure))
            connection.answer(_reply(error(500, message), _nobody(request)), 0, lambda sent: None)

    def _dispatch(self, connection: Connection, request: Request) -> None:
        if request.path == "/_counts":
            content = json.dumps(self._tally.snapshot().to_json()).encode()
            connection.answer(Reply(200, content), 0, lambda sent: None)
            return
        route = route_of(request)
        before = self._tally.routes[route]
        self._tally.routes[route] += 1
        if route == "POST /chat/completions":
            self._complete(connection, request)
            return
        instead = self._on_route(route, before) if self._on_route else None
        caller = _nobody(request)
        if not self._admits(request):
            reply = _reply(unauthorized(), caller)
        elif instead is not None and not instead.takes_effect:
            reply = _reply(instead, caller)
        else:
            try:
                reply = serve(route, request, self.batches, self._models or ("scripted-model",))
            except Refused as refused:
                reply = _reply(refused.action, caller)
            if instead is not None:
                reply = _reply(instead, caller)
        connection.answer(reply, instead.latency if instead else 0, lambda sent: None)

    def _admits(self, request: Request) -> bool:
        return self._expected_key is None or request.headers.get("authorization") == (
            f"Bearer {self._expected_key}"
        )

    def _complete(self, connection: Connection, request: Request) -> None:
        self._tally.begin()
        try:
            action, call = self._ask(json_body(request), request.headers, admitted=self._admits(request))
            reply = _reply(action, call)
        except BaseException:
            self._tally.end()
            raise

        def finished(sent: bool) -> None:
            self._tally.end(abandoned=not sent and action.ending not in ("reset", "close", "cut"))
            if sent:
                self._tally.charge(action, call, reply.body)

        connection.answer(reply, self._latency + action.latency, finished)

    def _ask_for_batch(self, body: Mapping[str, Any]) -> tuple[Action, ReceivedCall]:
        action, call = self._ask(body, {}, batch=True)
        if action.ending == "sent":
            self._tally.charge(action, call, action.body_for(call))
        return action, call

    def _ask(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        batch: bool = False,
        admitted: bool = True,
    ) -> tuple[Action, ReceivedCall]:
        call = self._tally.receive(body, headers, batch)
        if self._keep_calls:
            self.calls.append(call)
        if not admitted:
            action = unauthorized()
        elif self._models is not None and call.model not in self._models:
            action = model_unknown()
        else:
            action = self._script(call)
        self._tally.choose(action)
        return action, call


def _reply(action: Action, call: ReceivedCall) -> Reply:
    headers = (*action.headers, ("x-request-id", f"req_{call.number}"))
    if action.retry_date is not None:
        headers += (("retry-after", formatdate(time.time() + action.retry_date, usegmt=True)),)
    return Reply(action.status, action.body_for(call), action.content_type, headers, action.ending)


def _nobody(request: Request) -> ReceivedCall:
    """Stands for a call where an action answers a request that is none."""
    return ReceivedCall({"model": request.path.rpartition("/")[2]}, request.headers, "", 0, 0)


@contextmanager
def server_process(*arguments: str) -> Iterator[str]:
    """The server as a process of its own with these arguments; gives its base URL."""
    with TemporaryDirectory() as folder:
        port_file = Path(folder) / "port"
        process = Popen([sys.executable, __file__, "--port-file", str(port_file), *arguments])
        try:
            while not port_file.exists():
                if process.poll() is not None:
                    raise RuntimeError(f"the server ended with {process.returncode}")
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port_file.read_text()}/v1"
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Serve until SIGTERM, SIGINT or the end of the parent process. Counts: GET /_counts."
    )
    parser.add_argument("--port-file", type=Path, required=True, help="where to write the port")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--answers", choices=("mqm", "number", "esa"), default="mqm")
    parser.add_argument("--fault-rate", type=float, default=0.0, help="share of attempts that fail")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--expected-key")
    given = parser.parse_args()
    script = judge(given.answers)
    if given.fault_rate:
        script = random_faults(given.seed, given.fault_rate, passing_faults(), script)
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    parent = os.getppid()
    server = ScriptedServer(
        script, latency=given.latency, expected_key=given.expected_key, keep_calls=False, port=given.port
    )
    with server:
        written = given.port_file.with_suffix(".part")
        written.write_text(str(server.port))
        written.replace(given.port_file)
        while signal.sigtimedwait(ends, 1.0) is None and os.getppid() == parent:
            pass


if __name__ == "__main__":
    main()
