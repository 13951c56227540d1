"""The log of calls: keys, what it keeps, who is asking, what it sums up, and files that are none."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import call_of, journal_of, options_for
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import InputError
from metrics.keys import inputs_key
from metrics.llm import runs
from metrics.llm.calls import Call, Reply, Usage
from metrics.llm.log import CallLog, Entry, Reading
from metrics.llm.prices import Bill
from metrics.store import Store

OPTIONS = options_for("http://127.0.0.1:9/v1")
GOOD = Reply("ok", "85", finish="stop", model="m-1", usage=Usage(7, 11, 3, 2), cost=0.5, latency=0.25)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CallLog]:
    opened = CallLog(tmp_path / "log")
    yield opened
    opened.close()


def another_run(monkeypatch: pytest.MonkeyPatch, number: int = 1) -> None:
    monkeypatch.setattr(runs, "_STARTED", number)


# Keys


def test_near_misses_are_calls_of_their_own(cases: Path) -> None:
    near_misses = json.loads((cases / "cache" / "near_misses.json").read_text(encoding="utf-8"))
    for case in near_misses:
        one, other = (call_of(OPTIONS, json.dumps(case[side])) for side in "ab")
        assert one.key != other.key
        assert inputs_key(case["a"]) != inputs_key(case["b"])


CALLS = st.builds(
    Call,
    endpoint=st.sampled_from(["http://a/v1", "http://a/v"]),
    model=st.sampled_from(["m", "m1", "1m"]),
    messages=st.lists(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": st.text(max_size=2)}),
        max_size=3,
    ).map(tuple),
    parameters=st.dictionaries(
        st.sampled_from(["temperature", "max_tokens", "seed"]),
        st.sampled_from([0, 0.0, 1, 1.0, True, False, None, "1", "", [1], ["1"], {"a": 1}]),
        max_size=2,
    ),
    schema=st.none() | st.sampled_from([{}, {"type": "object"}, {"type": ["object"]}]),
    prompts=st.sampled_from(["", "a", "b"]),
    sample=st.sampled_from([1, 2, 11]),
)


def shape(value: Any) -> Any:
    """Equal exactly where everything is, types included."""
    if isinstance(value, dict):
        return ("map", frozenset((name, shape(each)) for name, each in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *map(shape, value))
    return (type(value).__name__, value)


@given(CALLS, CALLS)
def test_two_calls_share_a_key_exactly_where_the_same_is_asked(one: Call, other: Call) -> None:
    def asked(call: Call) -> Any:
        shapes = (call.endpoint, call.model, call.messages, call.parameters)
        return shape((*shapes, call.schema, call.prompts, call.sample))

    assert (one.key == other.key) == (asked(one) == asked(other))
    assert len(one.key) == 16


def test_who_asks_about_what_is_no_part_of_the_key() -> None:
    assert call_of(OPTIONS, "x", purpose="a", subject="b").key == call_of(OPTIONS, "x").key
    spelled_otherwise = {"max_tokens": 64, "temperature": 0.0}
    assert call_of(OPTIONS, "x", parameters=spelled_otherwise).key == call_of(OPTIONS, "x").key


# Outcomes


def test_only_complete_answers_are_final(log: CallLog) -> None:
    call = call_of(OPTIONS)
    for status in ("failed", "truncated", "unparsed"):
        log.record(call, Reply(status, "half", "because", "length"))
        assert log.answer(call.key) is None and log.answered([call.key]) == set()
    log.record(call, GOOD)
    log.record(call, Reply("ok", "another", finish="stop", model="m-2"))
    log.record(call, Reply("failed", reason="late"))
    assert log.answer(call.key) == Reply("ok", "85", finish="stop", model="m-1", stored=True)
    lines = journal_of(log.path)
    assert [(line["status"], line["text"]) for line in lines] == [
        ("failed", "half"),
        ("truncated", "half"),
        ("unparsed", "half"),
        ("ok", ""),
        ("ok", ""),
        ("failed", ""),
    ]
    assert (lines[3]["input"], lines[3]["cached"], lines[3]["cost"], lines[3]["latency"]) == (7, 2, 0.5, 0.25)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.text())
def test_texts_come_back_as_they_were(text: str, subject: str) -> None:
    log = CallLog(":memory:")
    call = call_of(OPTIONS, subject=subject)
    log.record(call, Reply("ok", text, finish="stop"))
    stored = log.answer(call.key)
    assert stored is not None and stored.text == text
    (entry,) = log.entries()
    assert entry.subject == subject[:500].encode("utf-8", "replace").decode("utf-8")
    log.close()


def test_many_keys_at_once(log: CallLog) -> None:
    calls = [call_of(OPTIONS, number) for number in range(2500)]
    log.record_all([(call.key, call.purpose, call.subject, GOOD) for call in calls[::2]])
    assert log.answered([call.key for call in calls]) == {call.key for call in calls[::2]}
    assert log.waiting([call.key for call in calls]) == set()
    assert log.answered([]) == set()


def test_several_outcomes_are_written_all_or_none(log: CallLog) -> None:
    call = call_of(OPTIONS)
    broken = Reply("ok", "half \ud83d")
    with pytest.raises(UnicodeEncodeError):
        log.record_all([(call.key, "p", "", GOOD), (call_of(OPTIONS, "x").key, "p", "", broken)])
    assert log.answer(call.key) is None
    log.record(call, GOOD)
    assert log.answer(call.key) is not None


def test_a_transaction_that_cannot_end_leaves_none_open(log: CallLog) -> None:
    problem = r"log: the log of calls cannot be written \(no such table"
    with pytest.raises(InputError, match=problem), log.exclusive():
        log._db.execute("ROLLBACK")
        log._db.execute("SELECT * FROM absent")
    with pytest.raises(InputError, match="cannot be written"), log.exclusive():
        log._db.execute("ROLLBACK")
    log.record(call_of(OPTIONS), GOOD)


# Claims


def test_a_claim_keeps_others_out(log: CallLog) -> None:
    key = call_of(OPTIONS).key
    assert log.claim(key, 60) and log.claim(key, 60)
    other = CallLog(log.path)
    assert not other.claim(key, 60)
    other.release(key)
    other.record(call_of(OPTIONS), Reply("failed", reason="of another"))
    # Neither takes the claim from whoever holds it.
    assert not other.claim(key, 60)
    log.release(key)
    assert other.claim(key, 60) and not log.claim(key, 60)
    other.record(call_of(OPTIONS), Reply("failed", reason="x"))
    assert log.claim(key, 60)
    other.close()


def test_a_claim_ends_with_its_time(log: CallLog) -> None:
    key = call_of(OPTIONS).key
    assert log.claim(key, -1)
    other = CallLog(log.path)
    assert other.claim(key, 60)
    other.close()


def test_a_claim_of_an_earlier_run_under_the_same_number_is_void(
    log: CallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = call_of(OPTIONS).key
    assert log.claim(key, 600)
    another_run(monkeypatch)
    later = CallLog(log.path)
    assert later.claim(key, 60)
    later.close()


def test_what_waits_in_a_batch_cannot_be_claimed(log: CallLog) -> None:
    key = call_of(OPTIONS).key
    log._db.execute("INSERT INTO waiting(key, batch, purpose, subject) VALUES(?, 1, 1, '')", (key,))
    assert not log.claim(key, 60)


def _claim_and_die(path: Path, key: bytes) -> None:
    assert CallLog(path).claim(key, 600)
    os._exit(0)


def test_a_claim_of_a_dead_process_is_void(log: CallLog) -> None:
    key = call_of(OPTIONS).key
    process = multiprocessing.get_context("spawn").Process(target=_claim_and_die, args=(log.path, key))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert log._db.execute("SELECT COUNT(*) FROM claims").fetchone() == (1,)
    assert log.claim(key, 60)


def test_a_claim_of_another_machine_counts_until_its_time(
    log: CallLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, other = call_of(OPTIONS, 1).key, call_of(OPTIONS, 2).key
    run = f"elsewhere:[::1]:{2**22 + 1}:5"
    log._db.execute("INSERT INTO claims VALUES(?, ?, ?)", (key, run, time.time() + 60))
    log._db.execute("INSERT INTO claims VALUES(?, ?, ?)", (other, run, time.time() - 1))
    assert not log.claim(key, 60)
    assert log.claim(other, 60)


# What runs leave behind


def test_a_call_that_failed_amid_answers_to_others(log: CallLog, monkeypatch: pytest.MonkeyPatch) -> None:
    hard, easy, early = (call_of(OPTIONS, text) for text in ("hard", "easy", "early"))
    another_run(monkeypatch, 1)
    log.record(early, Reply("failed", reason="the endpoint was down"))
    another_run(monkeypatch, 2)
    log.record(easy, GOOD)
    log.record(hard, Reply("failed", reason="x"))
    assert not log.failed_alone(hard.key)
    another_run(monkeypatch, 3)
    assert log.failed_alone(hard.key)
    assert not log.failed_alone(early.key) and not log.failed_alone(easy.key)


def test_the_last_failure_of_a_call(log: CallLog) -> None:
    call = call_of(OPTIONS)
    assert log.failure(call.key) is None
    log.record(call, Reply("failed", reason="first"))
    log.record(call, Reply("truncated", reason="second"))
    assert log.failure(call.key) == ("truncated", "second")


def test_whether_a_model_binds_its_answers(log: CallLog) -> None:
    assert log.structured("http://a/v1", "m") is None
    log.remember_structured("http://a/v1", "m", True)
    assert log.structured("http://a/v1", "m") is True
    log.remember_structured("http://a/v1", "m", False)
    assert log.structured("http://a/v1", "m") is False
    assert log.structured("http://b/v1", "m") is None


def test_bills_by_purpose_and_run(log: CallLog, monkeypatch: pytest.MonkeyPatch) -> None:
    assert log.bill("p") == Bill()
    another_run(monkeypatch, 1)
    log.record(call_of(OPTIONS, 1), GOOD)
    log.record(call_of(OPTIONS, 1), Reply("failed", attempts=3, usage=Usage(1, 2), cost=None))
    another_run(monkeypatch, 2)
    log.record(call_of(OPTIONS, 2), Reply("unparsed", "x", usage=Usage(10, None), cost=0.25))
    log.record(call_of(OPTIONS, 3, purpose="q"), GOOD)
    assert log.bill("p") == Bill(3, 5, 18, 13, 3, 0.75, 1)
    assert log.bill("p", only_this_run=True) == Bill(1, 1, 10, 0, 0, 0.25, 0)
    assert log.bill("q", only_this_run=True) == Bill(1, 1, 7, 11, 3, 0.5, 0)
    assert log.bill("r") == Bill()


def test_readings_hazards_and_entries(log: CallLog) -> None:
    good, bad, late, cut = (call_of(OPTIONS, text) for text in ("good", "bad", "late", "cut"))
    log.record(good, GOOD)
    log.record(bad, Reply("failed", "I will not.", "the model refused", "stop", "m-1"))
    log.record(cut, Reply("unparsed", "Major", "cut off", "length", "m-1"))
    log.record(late, Reply("failed", reason="first"))
    log.record(late, Reply("ok", "no number", finish="stop", model="m-1"))
    log.record(late, Reply("failed", reason="another process, a little later"))
    log.note("p", [Reading(good.key, "ok", "", ("fence", "order")), Reading(late.key, "ok", "", ("order",))])
    log.note("p", [Reading(late.key, "unparsed", "no number in it", ("order",))])
    log.note("q", [Reading(late.key, "ok", "", ("heading",))])
    assert log.hazards("p") == {"any": 2, "fence": 1, "order": 2}
    assert log.hazards("q") == {"any": 1, "heading": 1}
    assert log.hazards("r") == {}
    found = {entry.subject: entry for entry in log.entries()}
    assert [entry.subject for entry in log.entries()] == ["good", "bad", "cut", "late"]
    assert found["good"] == Entry("p", "good", "ok", "", "85", "m-1", "stop", found["good"].at)
    assert (found["bad"].status, found["bad"].reason, found["bad"].text) == (
        "failed",
        "the model refused",
        "I will not.",
    )
    assert (found["cut"].status, found["cut"].text, found["cut"].finish) == ("unparsed", "Major", "length")
    assert (found["late"].status, found["late"].reason, found["late"].text) == (
        "unparsed",
        "no number in it",
        "no number",
    )


# Files


def test_reading_what_is_absent_empty_or_unused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the log of calls cannot be opened") as refused:
        CallLog(tmp_path / "absent", read_only=True)
    assert refused.value.path == tmp_path / "absent"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty").touch()
    CallLog(tmp_path / "new" / "log").close()
    for path in (tmp_path / "empty", tmp_path / "new" / "log"):
        log = CallLog(path, read_only=True)
        key = call_of(OPTIONS).key
        assert log.answer(key) is None and log.failure(key) is None
        assert log.answered([key]) == log.waiting([key]) == set()
        assert log.bill("p") == Bill() and log.hazards("p") == {} and list(log.entries()) == []
        assert log.structured("e", "m") is None
        with pytest.raises(InputError, match="cannot be written"):
            log.record(call_of(OPTIONS), GOOD)
        log.close()
    # An empty file is a place for a log.
    log = CallLog(tmp_path / "empty")
    log.record(call_of(OPTIONS), GOOD)
    log.close()


def test_reading_beside_a_writer(log: CallLog) -> None:
    log.record(call_of(OPTIONS), GOOD)
    reader = CallLog(log.path, read_only=True)
    assert reader.answer(call_of(OPTIONS).key) is not None
    log.record(call_of(OPTIONS, 2), GOOD)
    assert reader.answer(call_of(OPTIONS, 2).key) is not None
    reader.close()


@pytest.mark.parametrize("read_only", [True, False])
def test_a_log_of_a_newer_release_is_refused(read_only: bool, tmp_path: Path) -> None:
    CallLog(tmp_path / "log").close()
    with sqlite3.connect(tmp_path / "log") as db:
        db.execute(f"PRAGMA user_version={CallLog.version + 1}")
    with pytest.raises(InputError, match=r"log of calls version 2, this release reads 1") as refused:
        CallLog(tmp_path / "log", read_only=read_only)
    assert refused.value.path == tmp_path / "log"


def _garbage(path: Path) -> None:
    path.write_bytes(b"a page of text, no database" * 200)


def _folder(path: Path) -> None:
    path.mkdir()


def _of_somebody_else(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE bookmarks(url TEXT)")
        db.execute("INSERT INTO bookmarks VALUES('x')")


def _same_version(path: Path) -> None:
    _of_somebody_else(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=1")


def _score_store(path: Path) -> None:
    Store(path).close()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (_garbage, "not a log of calls (file is not a database)"),
        (_folder, "the log of calls cannot be opened"),
        (_of_somebody_else, "not a log of calls, but a database of another kind"),
        (_same_version, "not a log of calls, but a database of another kind"),
        (_score_store, "not a log of calls, but a database of another kind"),
    ],
)
def test_files_that_are_no_logs_are_refused_and_left_alone(
    make: Any, problem: str, read_only: bool, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InputError) as refused:
        CallLog(path, read_only=read_only)
    assert problem in refused.value.problem
    assert refused.value.path == path
    assert before is None or path.read_bytes() == before


def test_first_runs_at_once_make_one_log(tmp_path: Path) -> None:
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            log = CallLog(tmp_path / "log")
            log.record(call_of(OPTIONS, number), GOOD)
            log.close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(journal_of(tmp_path / "log")) == 8


def test_nothing_heavy_is_imported_before_something_is_asked() -> None:
    code = "import sys, metrics.llm.client; print({'openai', 'httpx2', 'jinja2'} & {*sys.modules})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n"
