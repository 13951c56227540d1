"""The store and its keys: near misses stay apart, failures stay out, writers do not collide."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import InputError, Turn
from metrics import Answer
from metrics.keys import inputs_key, view_key
from metrics.store import STORE, Store


def test_near_misses_have_keys_of_their_own(cases: Path) -> None:
    near_misses = json.loads((cases / "cache" / "near_misses.json").read_text(encoding="utf-8"))
    assert len(near_misses) == 4
    for case in near_misses:
        assert inputs_key(case["a"]) != inputs_key(case["b"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["a", None], ["a", "None"]),
        (["a", None], ["a", ""]),
        (["1"], [1]),
        ([1], [1.0]),
        ([True], [1]),
        (["ab", ""], ["a", "b"]),
        (["s1:a"], ["a"]),
        ([["a"], "b"], [["a", "b"]]),
        ({"a": "b"}, ["a", "b"]),
        ([Turn("self", "hi")], [Turn("self", "hi", "None")]),
        ([Turn("self", "hi")], [["self", "hi", None]]),
        (["é"], ["e\u0301"]),
    ],
)
def test_different_inputs_have_different_keys(one: Any, other: Any) -> None:
    assert inputs_key(one) != inputs_key(other)


@given(st.lists(st.text() | st.none(), max_size=4), st.lists(st.text() | st.none(), max_size=4))
def test_keys_are_equal_exactly_where_inputs_are(one: list[str | None], other: list[str | None]) -> None:
    assert (inputs_key(one) == inputs_key(other)) == (one == other)
    assert inputs_key(one) == inputs_key(tuple(one))


def test_a_mapping_has_one_key_in_any_order_and_an_object_none() -> None:
    assert inputs_key({"a": 1, "b": 2}) == inputs_key({"b": 2, "a": 1})
    with pytest.raises(TypeError, match="object"):
        inputs_key([object()])


def test_views_of_different_types_stay_apart() -> None:
    assert len({view_key(view) for view in ("1", 1, ("1",), "a b", ("a", "b"))}) == 5


def test_answers_come_back_as_they_went_in(tmp_path: Path) -> None:
    numbers = [0.1 + 0.2, 1e-300, 100.0, 0.0, 3.0, -7.25]
    rows = [(inputs_key([number]), Answer(number), -(2**63) + place) for place, number in enumerate(numbers)]
    store = Store(tmp_path / "deep" / STORE)
    store.write({"bleu|a": rows})
    store.close()
    again = Store(tmp_path / "deep" / STORE)
    keys = [key for key, _, _ in rows]
    found = {key: (raw, view) for key, raw, view in again.answers("bleu|a", keys)}
    assert found == {key: (answer.raw, view) for key, answer, view in rows}
    assert all(isinstance(raw, float) for raw, _ in found.values())
    assert again.known("bleu|a", keys) == set(keys)
    assert again.known("bleu|b", keys) == set()
    again.close()


def test_only_final_answers_are_served_and_they_stay(tmp_path: Path) -> None:
    store = Store(tmp_path / STORE)
    key = inputs_key(["x"])
    store.write({"m": [(key, Answer(None, "unparsed", "no number"), 0)]})
    assert store.known("m", [key]) == set()
    assert list(store.answers("m", [key])) == []
    assert list(store.failures("m", [key])) == [(key, "unparsed", "no number")]
    store.write({"m": [(key, Answer(1.5), 7)]})
    store.write({"m": [(key, Answer(None, "failed", "later"), 0)]})
    store.write({"m": [(key, Answer(2.5), 8)]})
    assert list(store.answers("m", [key])) == [(key, 1.5, 7)]
    store.close()


def test_a_failing_batch_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / STORE)
    good, bad = inputs_key(["good"]), inputs_key(["bad"])
    with pytest.raises(sqlite3.Error):
        store.write({"m": [(good, Answer(1.0), 0)], "n": [(bad, Answer(1.0), object())]})  # type: ignore[list-item]
    assert store.known("m", [good]) == set()
    store.write({"m": [(good, Answer(1.0), 0)]})
    assert store.known("m", [good]) == {good}
    store.close()


def test_many_more_keys_than_a_query_takes(tmp_path: Path) -> None:
    store = Store(tmp_path / STORE)
    keys = [inputs_key([number]) for number in range(5000)]
    store.write({"m": [(key, Answer(1.0), 0) for key in keys[::2]]})
    assert store.known("m", keys) == set(keys[::2])
    store.close()


def test_writers_at_once_all_finish(tmp_path: Path) -> None:
    """Opening included: the first openers create the file together."""
    problems: list[BaseException] = []
    start = threading.Barrier(6)

    def write(who: int) -> None:
        try:
            start.wait()
            store = Store(tmp_path / STORE)
            for number in range(20):
                shared, own = inputs_key([number]), inputs_key([who, number])
                store.write({f"m{number % 3}": [(shared, Answer(float(number)), 0), (own, Answer(1.0), 0)]})
            store.close()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    store = Store(tmp_path / STORE)
    found = [
        raw
        for number in range(3)
        for _, raw, _ in store.answers(f"m{number}", [inputs_key([each]) for each in range(20)])
    ]
    assert sorted(found) == [float(number) for number in range(20)]
    store.close()


def test_reading_leaves_no_trace(tmp_path: Path) -> None:
    store = Store(tmp_path / STORE)
    store.write({"m": [(inputs_key(["x"]), Answer(1.0), 0)]})
    store.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    reader = Store(tmp_path / STORE, read_only=True)
    assert reader.known("m", [inputs_key(["x"])]) == {inputs_key(["x"])}
    reader.close()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(InputError, match="cannot be opened"):
        Store(tmp_path / "absent" / STORE, read_only=True)
    assert not (tmp_path / "absent").exists()


def test_another_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / STORE
    path.write_text("not a database, but long enough to look at" * 50, encoding="utf-8")
    with pytest.raises(InputError, match="not a score store"):
        Store(path)
    assert path.read_text(encoding="utf-8").startswith("not a database")


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / STORE
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version=4")
    database.commit()
    database.close()
    with pytest.raises(InputError, match="store version 4"):
        Store(path)


def test_a_store_cut_off_before_its_tables_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / STORE).touch()
    reader = Store(tmp_path / STORE, read_only=True)
    assert reader.known("m", [inputs_key(["x"])]) == set()
    reader.close()
    assert (tmp_path / STORE).stat().st_size == 0
    store = Store(tmp_path / STORE)
    store.write({"m": [(inputs_key(["x"]), Answer(1.0), 0)]})
    assert store.known("m", [inputs_key(["x"])]) == {inputs_key(["x"])}
    store.close()
