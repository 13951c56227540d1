"""The score store: one SQLite file of answers, keyed by signature and inputs.

Every batch is one transaction: a process that is killed loses what it had not yet written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from challenge_sets import MarkedError, Status
from challenge_sets.files import dump_json
from metrics.database import Database
from metrics.requests import Answer, Details

STORE = "store.sqlite"
# SQLite takes 32,766 variables a statement; older builds took 999.
_KEYS_PER_QUERY = 900

Row = tuple[bytes, Answer, int]
"""Key of the inputs, the answer, key of the view."""


class Store(Database):
    """An open store. Each process opens its own.

    ``answers`` holds final scores alone and is never overwritten; what failed stands in ``failures``,
    which is read only for the table and never keeps anything from being asked again. ``details`` holds
    what else a final answer says: the errors and labels that were given, and tokens unknown to the model.
    Raises ``InputError`` where the file is no store or was written by a newer release.
    """

    what: ClassVar[str] = "score store"
    table: ClassVar[str] = "completed"
    advice: ClassVar[str] = "move the file away and score again"
    # The first version held no details, the second no labels.
    version: ClassVar[int] = 3
    readable: ClassVar[tuple[int, ...]] = (1, 2, 3)
    schema: ClassVar[tuple[str, ...]] = (
        "CREATE TABLE IF NOT EXISTS signatures(id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE)",
        "CREATE TABLE IF NOT EXISTS answers(signature INTEGER NOT NULL, inputs BLOB NOT NULL,"
        " raw REAL NOT NULL, view INTEGER NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS failures(signature INTEGER NOT NULL, inputs BLOB NOT NULL,"
        " status TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS details(signature INTEGER NOT NULL, inputs BLOB NOT NULL,"
        " errors TEXT, unknown INTEGER NOT NULL, labels TEXT, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS completed(fingerprint TEXT NOT NULL, signature TEXT NOT NULL,"
        " about TEXT NOT NULL, PRIMARY KEY(fingerprint, signature)) WITHOUT ROWID",
    )

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        super().__init__(path, read_only=read_only)
        self._ids: dict[str, int] = {}

    def bring_up_to_date(self, found: int) -> None:
        """Make the tables; those of version 2 get a column for labels."""
        super().bring_up_to_date(found)
        if found == 2:
            self._db.execute("ALTER TABLE details ADD COLUMN labels TEXT")

    def write(self, batch: Mapping[str, Sequence[Row]]) -> None:
        """Write the rows of each signature, all or none. A final answer that is there already stays."""
        with self.exclusive():
            for signature, rows in batch.items():
                known = self._identify(signature)
                self._db.executemany(
                    "INSERT OR IGNORE INTO answers VALUES(?, ?, ?, ?)",
                    [(known, key, answer.raw, view) for key, answer, view in rows if answer.status == "ok"],
                )
                self._db.executemany(
                    "INSERT OR IGNORE INTO details(signature, inputs, errors, unknown, labels)"
                    " VALUES(?, ?, ?, ?, ?)",
                    [
                        (known, key, _errors_text(answer), answer.unknown, _labels_text(answer))
                        for key, answer, _ in rows
                        if answer.status == "ok" and answer.detailed
                    ],
                )
                self._db.executemany(
                    "INSERT OR REPLACE INTO failures VALUES(?, ?, ?, ?)",
                    [
                        (known, key, answer.status, answer.reason)
                        for key, answer, _ in rows
                        if answer.status != "ok"
                    ],
                )

    def _identify(self, signature: str) -> int:
        # Not cached: a transaction that is rolled back takes a new number with it.
        self._db.execute("INSERT OR IGNORE INTO signatures(signature) VALUES(?)", (signature,))
        query = "SELECT id FROM signatures WHERE signature = ?"
        return int(self._db.execute(query, (signature,)).fetchone()[0])

    def _known(self, signature: str) -> int | None:
        if self.found_version == 0:
            return None
        if signature not in self._ids:
            query = "SELECT id FROM signatures WHERE signature = ?"
            row = self._db.execute(query, (signature,)).fetchone()
            if row is None:
                return None
            self._ids[signature] = row[0]
        return self._ids[signature]

    def _select(self, what: str, signature: str, keys: Sequence[bytes]) -> Iterator[tuple]:
        known = self._known(signature)
        if known is None:
            return
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            yield from self._db.execute(f"{what} WHERE signature = ? AND inputs IN ({marks})", (known, *part))

    def known(self, signature: str, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that have a final answer."""
        return {key for (key,) in self._select("SELECT inputs FROM answers", signature, keys)}

    def answers(self, signature: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, float, int]]:
        """``(key, raw score, view key)`` of every final answer among the keys, in no order."""
        return self._select("SELECT inputs, raw, view FROM answers", signature, keys)

    def details(self, signature: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Details]]:
        """Key and details of the final answers among the keys that have any."""
        if self.found_version < 2:
            return
        labels = "labels" if self.found_version >= 3 else "NULL"
        query = f"SELECT inputs, errors, unknown, {labels} FROM details"
        for key, errors, unknown, labelled in self._select(query, signature, keys):
            marked = None if errors is None else tuple(map(MarkedError.from_json, json.loads(errors)))
            yield key, Details(marked, unknown, {} if labelled is None else json.loads(labelled))

    def detailed(self, signature: str) -> bool:
        """Whether any final answer has details: most metrics give a number and nothing else."""
        known = self._known(signature) if self.found_version >= 2 else None
        query = "SELECT 1 FROM details WHERE signature = ? LIMIT 1"
        return known is not None and self._db.execute(query, (known,)).fetchone() is not None

    def unknown_tokens(self, signature: str, keys: Sequence[bytes]) -> int:
        """Tokens unknown to the model, over the final answers among the keys."""
        query = "SELECT COALESCE(SUM(unknown), 0) FROM details"
        return sum(count for (count,) in self._select(query, signature, keys))

    def failures(self, signature: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Status, str]]:
        """``(key, status, reason)`` of the last failure of each key, whether or not it was mended since."""
        return self._select("SELECT inputs, status, reason FROM failures", signature, keys)

    def complete(self, fingerprint: str, abouts: Mapping[str, str]) -> None:
        """Note that a set was scored: signature to description. Call it inside ``exclusive``."""
        self._db.executemany(
            "INSERT OR REPLACE INTO completed VALUES(?, ?, ?)",
            [(fingerprint, signature, about) for signature, about in abouts.items()],
        )

    def completed(self, fingerprint: str) -> dict[str, str]:
        """Everything that the set was scored with in this store: signature to description."""
        query = "SELECT signature, about FROM completed WHERE fingerprint = ? ORDER BY signature"
        return dict(self._db.execute(query, (fingerprint,)))


def _errors_text(answer: Answer) -> str | None:
    return None if answer.errors is None else dump_json([error.to_json() for error in answer.errors])


def _labels_text(answer: Answer) -> str | None:
    return dump_json(dict(answer.labels)) if answer.labels else None
