"""SQLite files that several processes read and write at once.

A write-ahead log, immediate transactions and a long busy timeout: a process that is killed loses what it
had not yet written, and nothing else.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from challenge_sets import InputError
from challenge_sets.files import make_directory

# Writing the table of a large set holds the lock for some seconds; waiting is right, giving up is not.
_BUSY_SECONDS = 600


class Database:
    """An open file. Each process opens its own.

    A subclass names what the file is, the statements that make it, and the versions that it can read;
    an older one is brought up to date when opened for writing. ``table`` is one that files of other kinds
    lack. Raises ``InputError`` where the file is none of these or was written by a newer release.
    """

    what: ClassVar[str]
    version: ClassVar[int]
    readable: ClassVar[tuple[int, ...]]
    schema: ClassVar[tuple[str, ...]]
    table: ClassVar[str] = ""
    advice: ClassVar[str] = "move the file away and run again"

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.found_version = 0
        # Until it is, errors say what is wrong with the file.
        self._ready = False
        if not read_only:
            make_directory(self.path.parent)
        try:
            self._db = self._connect(read_only)
            self._prepare_in_turn(read_only)
            self._ready = True
        except sqlite3.OperationalError as error:
            raise InputError(f"the {self.what} cannot be opened ({error})", path=self.path) from error
        except sqlite3.DatabaseError as error:
            raise InputError(f"not a {self.what} ({error})", path=self.path, hint=self.advice) from error

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
            except BaseException:
                self._db.close()
                raise

    def _prepare(self, read_only: bool) -> None:
        (self.found_version,) = self._db.execute("PRAGMA user_version").fetchone()
        self._refuse_another_kind()
        if self.found_version not in (0, *self.readable):
            raise InputError(
                f"{self.what} version {self.found_version}, this release reads {self.version}", path=self.path
            )
        if read_only:
            return
        self._db.execute("PRAGMA synchronous=NORMAL")
        if self.found_version == self.version:
            return
        self._db.execute("PRAGMA journal_mode=WAL")
        with self.exclusive():
            # Another process may have done it while this one waited for the lock.
            (found,) = self._db.execute("PRAGMA user_version").fetchone()
            if found != self.version:
                self.bring_up_to_date(found)
                self._db.execute(f"PRAGMA user_version={self.version}")
        self.found_version = self.version

    def _refuse_another_kind(self) -> None:
        # Tables that somebody else made must not get ours beside them.
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if self.table and tables and self.table not in tables:
            raise InputError(
                f"not a {self.what}, but a database of another kind", path=self.path, hint=self.advice
            )

    def bring_up_to_date(self, found: int) -> None:
        """Make the tables, and change those of an older version ``found`` (0: a new file)."""
        for statement in self.schema:
            self._db.execute(statement)

    def close(self) -> None:
        """Close the connection; the last one folds the log into the file."""
        self._db.close()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """One transaction that keeps every other writer out; rolled back where the block fails."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            # Some errors, such as a full disk, have ended it already.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if self._ready and (
                isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError
            ):
                raise InputError(
                    f"the {self.what} cannot be written ({error})",
                    path=self.path,
                    hint="what was written is kept: make room, or see to the permissions, and run again",
                ) from error
            raise
