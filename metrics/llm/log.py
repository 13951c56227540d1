"""The log of calls: one SQLite file of what was asked, answered and paid, so that nothing is paid twice."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from metrics.database import Database
from metrics.llm.calls import Call, CallStatus, Reply
from metrics.llm.prices import Bill
from metrics.llm.runs import alive, this_run

CALLS = "calls.sqlite"
_KEYS_PER_QUERY = 900
_SUBJECT_LENGTH = 500
_NUMBERS = itertools.count()


class Reading(NamedTuple):
    """What was made of an answer: its key, the status and reason of the score, and what its texts held."""

    key: bytes
    status: str
    reason: str = ""
    hazards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One call of the log with its last outcome; ``status`` is that of the score, if the answer was read."""

    purpose: str
    subject: str
    status: str
    reason: str
    text: str
    model: str
    finish: str
    at: float


def short_subject(subject: str) -> str:
    """The subject of a call as the log keeps it."""
    # Halves of characters come from callers, and no file can hold them.
    return subject[:_SUBJECT_LENGTH].encode("utf-8", "replace").decode("utf-8")


class CallLog(Database):
    """An open log. Each process opens its own; what one writes the others see.

    ``answers`` holds complete answers alone and is never overwritten. ``journal`` has one line for every call
    that came to an end, answered or not, with what it took. A ``claim`` says that a process is asking just
    now, so that no other asks the same; those of a process that died are void.
    """

    what: ClassVar[str] = "log of calls"
    advice: ClassVar[str] = (
        "what was paid for may still be in it: try sqlite3 FILE .recover before you move it away"
    )
    table: ClassVar[str] = "journal"
    version: ClassVar[int] = 1
    readable: ClassVar[tuple[int, ...]] = (1,)
    schema: ClassVar[tuple[str, ...]] = (
        "CREATE TABLE purposes(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        "CREATE TABLE answers(key BLOB PRIMARY KEY, text TEXT NOT NULL, model TEXT NOT NULL)",
        "CREATE TABLE journal(id INTEGER PRIMARY KEY, key BLOB NOT NULL, purpose INTEGER NOT NULL,"
        " subject TEXT NOT NULL, run TEXT NOT NULL, at REAL NOT NULL, status TEXT NOT NULL,"
        " reason TEXT NOT NULL, text TEXT NOT NULL, finish TEXT NOT NULL, model TEXT NOT NULL,"
        " input INTEGER, output INTEGER, reasoning INTEGER, cached INTEGER, cost REAL,"
        " latency REAL NOT NULL, attempts INTEGER NOT NULL)",
        "CREATE INDEX journal_by_key ON journal(key)",
        "CREATE INDEX journal_by_purpose ON journal(purpose)",
        "CREATE TABLE readings(key BLOB NOT NULL, purpose INTEGER NOT NULL, status TEXT NOT NULL,"
        " reason TEXT NOT NULL, hazards TEXT NOT NULL, PRIMARY KEY(key, purpose)) WITHOUT ROWID",
        "CREATE TABLE claims(key BLOB PRIMARY KEY, run TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID",
        "CREATE TABLE abilities(endpoint TEXT NOT NULL, model TEXT NOT NULL, structured INTEGER NOT NULL,"
        " PRIMARY KEY(endpoint, model)) WITHOUT ROWID",
        "CREATE TABLE batches(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, terms TEXT NOT NULL,"
        " state TEXT NOT NULL, run TEXT NOT NULL, since REAL NOT NULL, at REAL NOT NULL,"
        " file TEXT NOT NULL DEFAULT '', remote TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT '',"
        " output TEXT NOT NULL DEFAULT '', errors TEXT NOT NULL DEFAULT '',"
        " requests INTEGER NOT NULL DEFAULT 0, completed INTEGER NOT NULL DEFAULT 0,"
        " failed INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '')",
        "CREATE TABLE waiting(key BLOB PRIMARY KEY, batch INTEGER NOT NULL, purpose INTEGER NOT NULL,"
        " subject TEXT NOT NULL) WITHOUT ROWID",
        "CREATE INDEX waiting_by_batch ON waiting(batch)",
    )

    def _purpose(self, name: str) -> int:
        self._db.execute("INSERT OR IGNORE INTO purposes(name) VALUES(?)", (name,))
        query = "SELECT id FROM purposes WHERE name = ?"
        return int(self._db.execute(query, (name,)).fetchone()[0])

    @cached_property
    def _owner(self) -> str:
        """Who claims: several logs may be open in one process."""
        return f"{this_run()}/{next(_NUMBERS)}"

    @property
    def empty(self) -> bool:
        """Whether nothing was ever written, which only a reader can meet."""
        return self.found_version == 0

    def answer(self, key: bytes) -> Reply | None:
        """The complete answer to a call, if there is one."""
        if self.empty:
            return None
        row = self._db.execute("SELECT text, model FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else Reply("ok", row[0], finish="stop", model=row[1], stored=True)

    def answered(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that have a complete answer."""
        return self._among("SELECT key FROM answers", keys)

    def waiting(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that wait in a batch which is not collected."""
        return self._among("SELECT key FROM waiting", keys)

    def _among(self, query: str, keys: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        if self.empty:
            return found
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            found.update(key for (key,) in self._db.execute(f"{query} WHERE key IN ({marks})", part))
        return found

    def claim(self, key: bytes, seconds: float) -> bool:
        """Say that an answer is asked for now, for at most so long.

        ``False`` where another log, here or in another process, has said so, or a batch holds the call.
        """
        mine, now = self._owner, time.time()
        with self.exclusive():
            row = self._db.execute("SELECT run, until FROM claims WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] != mine and row[1] > now and alive(row[0]):
                return False
            if self._db.execute("SELECT 1 FROM waiting WHERE key = ?", (key,)).fetchone():
                return False
            self._db.execute("INSERT OR REPLACE INTO claims VALUES(?, ?, ?)", (key, mine, now + seconds))
        return True

    def release(self, key: bytes) -> None:
        """Give a claim back without an answer."""
        self._db.execute("DELETE FROM claims WHERE key = ? AND run = ?", (key, self._owner))

    def record(self, call: Call, reply: Reply) -> None:
        """Write what came of a call; a complete answer that is there already stays."""
        self.record_all([(call.key, call.purpose, call.subject, reply)])

    def record_all(self, outcomes: Sequence[tuple[bytes, str, str, Reply]]) -> None:
        """Write several outcomes, all or none: key, purpose, subject and reply of each."""
        run, now = this_run(), time.time()
        with self.exclusive():
            for key, purpose, subject, reply in outcomes:
                self._write(key, purpose, subject, reply, run, now)

    def _write(self, key: bytes, purpose: str, subject: str, reply: Reply, run: str, now: float) -> None:
        final, usage = reply.status == "ok", reply.usage
        if final:
            row = (key, reply.text, reply.model)
            self._db.execute("INSERT OR IGNORE INTO answers VALUES(?, ?, ?)", row)
        line = {
            "key": key,
            "purpose": self._purpose(purpose),
            "subject": short_subject(subject),
            "run": run,
            "at": now,
            "status": reply.status,
            "reason": reply.reason,
            "text": "" if final else reply.text,
            "finish": reply.finish,
            "model": reply.model,
            "input": usage.input,
            "output": usage.output,
            "reasoning": usage.reasoning,
            "cached": usage.cached,
            "cost": reply.cost,
            "latency": reply.latency,
            "attempts": reply.attempts,
        }
        marks = ", ".join("?" * len(line))
        self._db.execute(f"INSERT INTO journal({', '.join(line)}) VALUES({marks})", tuple(line.values()))
        self._db.execute("DELETE FROM claims WHERE key = ? AND run = ?", (key, self._owner))

    def failure(self, key: bytes) -> tuple[CallStatus, str] | None:
        """Status and reason of the last attempt at a call that came to nothing."""
        if self.empty:
            return None
        query = "SELECT status, reason FROM journal WHERE key = ? AND status != 'ok' ORDER BY id DESC LIMIT 1"
        row: tuple[CallStatus, str] | None = self._db.execute(query, (key,)).fetchone()
        return row

    def failed_alone(self, key: bytes) -> bool:
        """Whether this call came to nothing in an earlier run that had answers to others."""
        query = (
            "SELECT 1 FROM journal AS mine WHERE key = ? AND status != 'ok' AND run != ?"
            " AND EXISTS(SELECT 1 FROM journal AS other WHERE other.run = mine.run AND other.status = 'ok')"
        )
        return self._db.execute(query, (key, this_run())).fetchone() is not None

    def cut_short(self, key: bytes, since: float) -> bool:
        """Whether the model said something incomplete ``since`` a moment, in seconds since 1970."""
        query = "SELECT 1 FROM journal WHERE key = ? AND at >= ? AND status != 'ok' AND finish != '' LIMIT 1"
        return self._db.execute(query, (key, since)).fetchone() is not None

    def note(self, purpose: str, readings: Sequence[Reading]) -> None:
        """Write what was made of answers; the last reading of an answer for a purpose counts."""
        with self.exclusive():
            number = self._purpose(purpose)
            self._db.executemany(
                "INSERT OR REPLACE INTO readings VALUES(?, ?, ?, ?, ?)",
                [
                    (key, number, status, reason, " ".join(hazards))
                    for key, status, reason, hazards in readings
                ],
            )

    def structured(self, endpoint: str, model: str) -> bool | None:
        """Whether the model binds its answers to a schema; ``None`` where that was never tried."""
        if self.empty:
            return None
        query = "SELECT structured FROM abilities WHERE endpoint = ? AND model = ?"
        row = self._db.execute(query, (endpoint, model)).fetchone()
        return None if row is None else bool(row[0])

    def remember_structured(self, endpoint: str, model: str, able: bool) -> None:
        """Keep what was found out."""
        self._db.execute("INSERT OR REPLACE INTO abilities VALUES(?, ?, ?)", (endpoint, model, int(able)))

    def bill(self, purpose: str, *, only_this_run: bool = False) -> Bill:
        """What the calls of a purpose took, in all runs or in this one."""
        if self.empty:
            return Bill()
        query = (
            "SELECT COUNT(*), SUM(attempts), SUM(input), SUM(output), SUM(reasoning), SUM(cost),"
            " SUM(cost IS NULL) FROM journal JOIN purposes ON purposes.id = purpose WHERE name = ?"
        )
        given = [purpose]
        if only_this_run:
            query += " AND run = ?"
            given.append(this_run())
        row = self._db.execute(query, given).fetchone()
        calls, attempts, inputs, outputs, reasoning, cost, unpriced = (each or 0 for each in row)
        return Bill(calls, attempts, inputs, outputs, reasoning, cost, unpriced)

    def answering(self, purpose: str) -> dict[str, tuple[int, float]]:
        """The models that answered in this run, as the endpoint names them: calls, mean seconds of one."""
        if self.empty:
            return {}
        query = (
            "SELECT model, COUNT(*), AVG(latency) FROM journal JOIN purposes ON purposes.id = purpose"
            " WHERE name = ? AND run = ? AND journal.status = 'ok' GROUP BY model ORDER BY model"
        )
        return {model: (calls, each) for model, calls, each in self._db.execute(query, (purpose, this_run()))}

    def hazards(self, purpose: str) -> dict[str, int]:
        """How many answers were about texts that held something hostile, by kind; ``any`` for all kinds."""
        counts: dict[str, int] = {}
        if self.empty:
            return counts
        query = (
            "SELECT hazards, COUNT(*) FROM readings JOIN purposes ON purposes.id = purpose"
            " WHERE name = ? AND hazards != '' GROUP BY hazards"
        )
        for kinds, count in self._db.execute(query, (purpose,)):
            for kind in ("any", *kinds.split()):
                counts[kind] = counts.get(kind, 0) + count
        return counts

    def entries(self) -> Iterator[Entry]:
        """Every call with its answer, or else its last outcome, in the order in which they ended."""
        if self.empty:
            return
        query = (
            "SELECT purposes.name, subject, COALESCE(readings.status, journal.status),"
            " COALESCE(readings.reason, journal.reason), COALESCE(answers.text, journal.text),"
            " journal.model, finish, at FROM journal"
            " JOIN purposes ON purposes.id = journal.purpose"
            " LEFT JOIN answers ON answers.key = journal.key"
            " LEFT JOIN readings ON readings.key = journal.key AND readings.purpose = journal.purpose"
            " WHERE journal.id = (SELECT id FROM journal AS same WHERE same.key = journal.key"
            " ORDER BY same.status = 'ok' DESC, id DESC LIMIT 1)"
            " ORDER BY journal.id"
        )
        for row in self._db.execute(query):
            yield Entry(*row)
