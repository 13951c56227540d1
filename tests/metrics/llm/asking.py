"""What the tests of the client share: options, calls, and asking them all; as a process, too.

``python asking.py URL LOG COUNT`` asks calls 0 to COUNT - 1 and prints how many came to which status.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from challenge_sets import InputError
from metrics.llm import waits
from metrics.llm.calls import Call, Reply
from metrics.llm.client import Client
from metrics.llm.log import CallLog
from metrics.llm.options import LlmOptions

ROOT = Path(__file__).parents[3]
KEY = "sk-test-abcdefgh-wxyz"
SHORT_WAIT = 0.002
Replies = list[tuple[Call, Reply]]


def options_for(url: str, **fields: Any) -> LlmOptions:
    """Three attempts and four calls at a time, unless it is said otherwise."""
    return LlmOptions(**({"model": "m-1", "base_url": url, "attempts": 3, "concurrency": 4} | fields))


def call_of(options: LlmOptions, text: object = "Rate ```eins```.", **fields: Any) -> Call:
    known = {"messages": ({"role": "user", "content": str(text)},), "purpose": "p", "subject": str(text)}
    return Call(
        **({"endpoint": options.endpoint, "model": options.model, "parameters": options.parameters(64)})
        | known
        | fields
    )


def calls_of(options: LlmOptions, count: int) -> Iterator[Call]:
    return (call_of(options, f"```{number}```") for number in range(count))


@contextmanager
def client_of(options: LlmOptions, path: Path) -> Iterator[Client]:
    """A client with a log at the path."""
    log = CallLog(path)
    try:
        client = Client(options, log)
        try:
            yield client
        finally:
            client.close()
    finally:
        log.close()


def ask_all(
    options: LlmOptions,
    path: Path,
    calls: Iterable[Call] | None = None,
    follow: Callable[[Call, Reply], Call | None] | None = None,
) -> Replies:
    """All calls with their replies; without calls, one."""
    with client_of(options, path) as client:
        asked = [call_of(options)] if calls is None else calls
        return [each for part in client.ask(asked, follow) for each in part]


def ask_one(options: LlmOptions, path: Path, **fields: Any) -> Reply:
    ((_, reply),) = ask_all(options, path, [call_of(options, **fields)])
    return reply


def journal_of(path: Path) -> list[dict[str, Any]]:
    """The lines of the log, by column."""
    log = CallLog(path, read_only=True)
    try:
        cursor = log._db.execute("SELECT * FROM journal ORDER BY id")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]
    finally:
        log.close()


def answered_in(path: Path, calls: Iterable[Call]) -> int:
    """How many of the calls have a complete answer in the log."""
    log = CallLog(path, read_only=True)
    try:
        return len(log.answered([call.key for call in calls]))
    finally:
        log.close()


def start(url: str, path: Path, count: int, **given: object) -> subprocess.Popen[str]:
    """The same as a process of its own."""
    wanted = [f"--{name}={value}" for name, value in given.items()]
    return subprocess.Popen(
        [sys.executable, __file__, url, str(path), str(count), *wanted],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("log", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--attempts", type=int, default=6)
    given = parser.parse_args()
    # Whoever starts this in the background has interruptions ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    waits.FIRST_WAIT = SHORT_WAIT
    options = options_for(given.url, concurrency=given.concurrency, attempts=given.attempts)
    statuses: Counter[str] = Counter()
    try:
        with client_of(options, given.log) as client:
            for part in client.ask(calls_of(options, given.count)):
                statuses.update(reply.status for _, reply in part)
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    print(json.dumps(statuses))


if __name__ == "__main__":
    main()
