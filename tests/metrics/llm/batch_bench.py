"""A scripted endpoint with one user of its batches."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from batch_children import make_calls
from scripted_actions import Action, ReceivedCall
from scripted_scripts import Script, judge
from scripted_server import ScriptedServer

from metrics.llm import batch_sending, waits
from metrics.llm.batch_collecting import collect, refresh
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import BATCH_FOLDER, Batch, BatchLimits, Collected
from metrics.llm.batches import submit
from metrics.llm.calls import Call
from metrics.llm.log import CALLS
from metrics.llm.options import LlmOptions

KEY = "sk-test-abcdefgh-wxyz"


@dataclass
class Bench:
    """A server and one user of it."""

    server: ScriptedServer
    log: BatchLog
    out: Path
    options: LlmOptions

    def calls(self, count: int, prefix: str = "") -> list[Call]:
        return list(make_calls(self.server.base_url, count, prefix))

    def submit(self, calls: Iterable[Call], limits: BatchLimits | None = None, **changes: Any) -> list[Batch]:
        options = replace(self.options, **changes)
        return submit(calls, options, self.log, self.out / BATCH_FOLDER, limits)

    def refresh(self) -> list[Batch]:
        return refresh(self.log, self.out / BATCH_FOLDER)

    def collect(self, *forget: str) -> list[Collected]:
        return collect(self.log, self.out / BATCH_FOLDER, forget)

    def answered(self, calls: list[Call]) -> int:
        return len(self.log.answered([call.key for call in calls]))

    def waiting(self, calls: list[Call]) -> int:
        return len(self.log.waiting([call.key for call in calls]))

    def files(self) -> list[str]:
        return sorted(path.name for path in (self.out / BATCH_FOLDER).iterdir())

    def rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(self.out / CALLS)) as db:
            return db.execute(query).fetchall()


@contextmanager
def bench(
    out: Path, script: Script | None = None, *, attempts: int = 3, timeout: float = 5.0, **arguments: Any
) -> Iterator[Bench]:
    with (
        pytest.MonkeyPatch.context() as patch,
        ScriptedServer(script, expected_key=KEY, **arguments) as server,
    ):
        patch.setattr(waits, "FIRST_WAIT", 0.001)
        patch.setattr(batch_sending, "LAG", 0.0)
        patch.setenv("TEST_KEY", KEY)
        log = BatchLog(out / CALLS)
        options = LlmOptions(
            "m-1", server.base_url, api_key_env="TEST_KEY", attempts=attempts, timeout=timeout
        )
        try:
            yield Bench(server, log, out, options)
        finally:
            log.close()


def on_route(route: str, *answers: Action | None) -> Callable[[str, int], Action | None]:
    """Put these in the place of the first answers on a route."""
    return lambda asked, before: answers[before] if asked == route and before < len(answers) else None


def always_on(route: str, answer: Action) -> Callable[[str, int], Action | None]:
    return lambda asked, before: answer if asked == route else None


def by_text(answers: dict[str, Action]) -> Script:
    """By a word of the message; everything else is answered by the judge."""

    def script(call: ReceivedCall) -> Action:
        found = [answer for word, answer in answers.items() if f"```{word}```" in call.last_user]
        return found[0] if found else judge()(call)

    return script
