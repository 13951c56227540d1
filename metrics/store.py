"""The score store: one SQLite file of answers, keyed by signature and inputs.

Several processes may read and write at once (write-ahead log, immediate transactions, a long busy
timeout). Every batch is one transaction: a process that is killed loses what it had not yet written.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from challenge_sets import InputError, MarkedError, Status
from challenge_sets.files import dump_json, make_directory
from metrics.requests import Answer

STORE = "store.sqlite"
_VERSION = 2
# The first version held no details; it is read as it is and brought up to date when written.
_READABLE = (0, 1, _VERSION)
# Writing the table of a large set holds the lock for some seconds; waiting is right, giving up is not.
_BUSY_SECONDS = 600
# SQLite takes 32,766 variables a statement; older builds took 999.
_KEYS_PER_QUERY = 900

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS signatures(id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS answers(signature INTEGER NOT NULL, inputs BLOB NOT NULL, raw REAL NOT NULL,"
    " view INTEGER NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS failures(signature INTEGER NOT NULL, inputs BLOB NOT NULL,"
    " status TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS details(signature INTEGER NOT NULL, inputs BLOB NOT NULL,"
    " errors TEXT, unknown INTEGER NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS completed(fingerprint TEXT NOT NULL, signature TEXT NOT NULL,"
    " about TEXT NOT NULL, PRIMARY KEY(fingerprint, signature)) WITHOUT ROWID",
)

Row = tuple[bytes, Answer, int]
"""Key of the inputs, the answer, key of the view."""


class Store:
    """An open store. Each process opens its own.

    ``answers`` holds final scores alone and is never overwritten; what failed stands in ``failures``,
    which is read only for the table and never keeps anything from being asked again. ``details`` holds
    what else a final answer says: the errors that were marked, and tokens unknown to the model.
    Raises ``InputError`` where the file is no store or was written by a newer release.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self._ids: dict[str, int] = {}
        if not read_only:
            make_directory(self.path.parent)
        try:
            self._db = self._connect(read_only)
            self._prepare_in_turn(read_only)
        except sqlite3.OperationalError as error:
            raise InputError(f"the score store cannot be opened ({error})", path=self.path) from error
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"not a score store ({error})", path=self.path, hint="move the file away and score again"
            ) from error

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        if not read_only:
            return sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        # A reader of a write-ahead log leaves files behind; where there is no log, none is needed.
        log = self.path.with_name(self.path.name + "-wal")
        mode = "mode=ro" if log.exists() else "mode=ro&immutable=1"
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{mode}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
        )

    def _prepare_in_turn(self, read_only: bool) -> None:
        # Two first runs at once: the switch to a write-ahead log needs the file alone, and SQLite does not
        # wait for that as it waits for every other lock.
        patience = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                self._prepare(read_only)
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not busy or time.monotonic() > patience:
                    self._db.close()
                    raise
                time.sleep(0.05)

    def _prepare(self, read_only: bool) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version not in _READABLE:
            raise InputError(f"store version {version}, this release reads {_VERSION}", path=self.path)
        self._empty = read_only and version == 0
        self._detailed = not read_only or version == _VERSION
        if read_only:
            return
        self._db.execute("PRAGMA synchronous=NORMAL")
        if version == _VERSION:
            return
        self._db.execute("PRAGMA journal_mode=WAL")
        with self.exclusive():
            for statement in _SCHEMA:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version={_VERSION}")

    def close(self) -> None:
        """Close the connection; the last one folds the log into the file."""
        self._db.close()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """One transaction that keeps every other writer out; rolled back where the block fails."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

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
                    "INSERT OR IGNORE INTO details VALUES(?, ?, ?, ?)",
                    [
                        (known, key, _errors_text(answer), answer.unknown)
                        for key, answer, _ in rows
                        if answer.status == "ok" and (answer.errors is not None or answer.unknown)
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
        if self._empty:
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

    def details(
        self, signature: str, keys: Sequence[bytes]
    ) -> Iterator[tuple[bytes, tuple[MarkedError, ...] | None, int]]:
        """``(key, marked errors, unknown tokens)`` of the final answers among the keys that have either."""
        if not self._detailed:
            return
        query = "SELECT inputs, errors, unknown FROM details"
        for key, errors, unknown in self._select(query, signature, keys):
            marked = None if errors is None else tuple(map(MarkedError.from_json, json.loads(errors)))
            yield key, marked, unknown

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
