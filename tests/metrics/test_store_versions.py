"""Stores of earlier releases are read as they are, and brought up to date where something is written."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from challenge_sets import ChallengeSet, InputError, MarkedError, Span
from metrics import Answer
from metrics.keys import inputs_key
from metrics.requests import Details
from metrics.runner import plan_set, score_set
from metrics.store import STORE, Store

SIGNATURE, OTHER = "xcomet|lang:en", "chrf|lang:en"
KEYS = [inputs_key([number]) for number in range(4)]
MARKS = [{"start": 0, "end": 3, "text": "The", "severity": "major", "confidence": 0.5}]

FIRST = (
    "CREATE TABLE signatures(id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE)",
    "CREATE TABLE answers(signature INTEGER NOT NULL, inputs BLOB NOT NULL, raw REAL NOT NULL,"
    " view INTEGER NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
    "CREATE TABLE failures(signature INTEGER NOT NULL, inputs BLOB NOT NULL, status TEXT NOT NULL,"
    " reason TEXT NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID",
    "CREATE TABLE completed(fingerprint TEXT NOT NULL, signature TEXT NOT NULL, about TEXT NOT NULL,"
    " PRIMARY KEY(fingerprint, signature)) WITHOUT ROWID",
)
DETAILS = (
    "CREATE TABLE details(signature INTEGER NOT NULL, inputs BLOB NOT NULL, errors TEXT,"
    " unknown INTEGER NOT NULL, PRIMARY KEY(signature, inputs)) WITHOUT ROWID"
)


def old_store(path: Path, version: int) -> None:
    """A store as the first or the second version wrote it: three scores, a failure, one with details."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        for statement in (*FIRST, *([DETAILS] if version == 2 else [])):
            database.execute(statement)
        database.execute("INSERT INTO signatures VALUES(1, ?), (2, ?)", (SIGNATURE, OTHER))
        rows = [(1, KEYS[0], 0.25, 11), (1, KEYS[1], 0.75, 12), (2, KEYS[0], 61.5, 13)]
        database.executemany("INSERT INTO answers VALUES(?, ?, ?, ?)", rows)
        database.execute("INSERT INTO failures VALUES(1, ?, 'truncated', 'too long')", (KEYS[2],))
        database.execute("INSERT INTO completed VALUES('f', ?, 'about')", (SIGNATURE,))
        if version == 2:
            details = [(1, KEYS[0], json.dumps(MARKS), 2), (1, KEYS[1], "[]", 0)]
            database.executemany("INSERT INTO details VALUES(?, ?, ?, ?)", details)
        database.execute(f"PRAGMA user_version={version}")


def check(store: Store, version: int) -> None:
    assert store.known(SIGNATURE, KEYS) == set(KEYS[:2])
    assert sorted(store.answers(SIGNATURE, KEYS)) == sorted([(KEYS[0], 0.25, 11), (KEYS[1], 0.75, 12)])
    assert list(store.answers(OTHER, KEYS)) == [(KEYS[0], 61.5, 13)]
    assert list(store.failures(SIGNATURE, KEYS)) == [(KEYS[2], "truncated", "too long")]
    assert store.completed("f") == {SIGNATURE: "about"}
    found = dict(store.details(SIGNATURE, KEYS))
    if version == 1:
        assert found == {}
        return
    marked = MarkedError(Span(0, 3, "The"), "major", 0.5)
    assert found == {KEYS[0]: Details((marked,), 2), KEYS[1]: Details((), 0)}


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_store_is_read_and_left_alone(version: int, tmp_path: Path) -> None:
    path = tmp_path / STORE
    old_store(path, version)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    store = Store(path, read_only=True)
    check(store, version)
    store.close()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [each.name for each in tmp_path.iterdir()] == [STORE]


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_store_is_brought_up_to_date(version: int, tmp_path: Path) -> None:
    path = tmp_path / STORE
    old_store(path, version)
    labelled = Answer(
        6.0, errors=(MarkedError(None, "minor", category="other", quote="x"),), labels={"a": "b", "c": "d"}
    )
    for _ in range(2):
        store = Store(path)
        check(store, version)
        store.write({"judge": [(KEYS[3], labelled, 7), (KEYS[0], Answer(1.0, labels={"a": "e"}), 7)]})
        assert dict(store.details("judge", KEYS)) == {
            KEYS[3]: Details(labelled.errors, 0, {"a": "b", "c": "d"}),
            KEYS[0]: Details(None, 0, {"a": "e"}),
        }
        store.close()
        assert version_of(path) == Store.version == 3
    again = Store(path, read_only=True)
    check(again, version)
    assert dict(again.details("judge", [KEYS[0]])) == {KEYS[0]: Details(None, 0, {"a": "e"})}
    again.close()


def test_two_that_bring_it_up_to_date_at_once(tmp_path: Path) -> None:
    """A second connection that was waiting for the first finds it done."""
    path = tmp_path / STORE
    old_store(path, 2)
    reader = Store(path, read_only=True)
    first, second = Store(path), Store(path)
    for store in (first, second, reader):
        check(store, 2)
        store.close()
    assert version_of(path) == 3


def test_a_store_of_a_later_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / STORE
    old_store(path, 2)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version=4")
    for read_only in (True, False):
        with pytest.raises(InputError, match="score store version 4, this release reads 3"):
            Store(path, read_only=read_only)


def test_scores_of_an_old_store_are_not_computed_again(
    small_set: Callable[..., ChallengeSet], tmp_path: Path
) -> None:
    challenge_set = small_set(tmp_path / "set", items=4)
    out = tmp_path / "out"
    (first,) = score_set(challenge_set, ["chrf"], out, workers=1)
    table = (out / "scores.csv").read_bytes()
    # What version 2 was: no column for labels.
    with closing(sqlite3.connect(out / STORE)) as database:
        database.execute("ALTER TABLE details DROP COLUMN labels")
        database.execute("PRAGMA user_version=2")
    (planned,) = plan_set(challenge_set, ["chrf"], out)
    assert planned.tally.to_score == 0
    assert version_of(out / STORE) == 2
    (again,) = score_set(challenge_set, ["chrf"], out, workers=1)
    assert (again.tally.to_score, again.tally.from_store) == (0, first.tally.distinct)
    assert (out / "scores.csv").read_bytes() == table
    assert version_of(out / STORE) == 3
