"""Batches of processes that are killed, of two at once, and of very many calls."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from batch_children import (
    collect_there,
    die_at,
    make_calls,
    memory_of_submissions,
    start,
    submit_there,
)
from scripted_batches import BatchPlan
from scripted_server import ScriptedServer, server_process

from metrics.llm import batch_sending, waits
from metrics.llm.batch_log import BatchLog
from metrics.llm.batch_records import BATCH_FOLDER, BatchLimits
from metrics.llm.log import CALLS


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for owner, name in ((waits, "FIRST_WAIT"), (batch_sending, "LAG"), (batch_sending, "notice")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    yield


def killed(step: int, work: object, *args: object) -> bool:
    """Do the work in another process, which dies at a step; whether the step was reached."""
    process = start(die_at, step, work, *args)
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def left(out: Path) -> list[str]:
    return sorted(path.name for path in (out / BATCH_FOLDER).iterdir())


LIMITS = BatchLimits(requests=3)


def test_a_submission_killed_at_any_step_submits_nothing_twice(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        for step in range(200):
            out, name = tmp_path / str(step), f"killed {step} "
            reached = killed(step, submit_there, server.base_url, out, 5, name, LIMITS)
            submit_there(server.base_url, out, 5, name, LIMITS)
            answered = sum(one.answered for one in collect_there(out))
            log = BatchLog(out / CALLS)
            keys = [call.key for call in make_calls(server.base_url, 5, name)]
            assert (answered, len(log.answered(keys)), log.batches(unfinished=True)) == (5, 5, [])
            log.close()
            assert left(out) == []
            if not reached:
                break
        counts = server.counts
    assert step > 25
    assert len(counts.received) == 5 * (step + 1)
    assert set(counts.received.values()) == {1}


@pytest.mark.parametrize("first", range(3))
def test_a_halving_killed_at_any_step_submits_nothing_twice(tmp_path: Path, first: int) -> None:
    with ScriptedServer(max_batch_requests=2) as server:
        for step in range(first, 300, 9):
            out, name = tmp_path / str(step), f"halved {step} "
            reached = killed(step, submit_there, server.base_url, out, 5, name)
            submit_there(server.base_url, out, 5, name)
            answered = sum(one.answered for one in collect_there(out))
            assert answered == 5 and left(out) == []
            if not reached:
                break
        assert step > 25
        assert set(server.counts.received.values()) == {1}


def test_a_collection_killed_at_any_step_loses_nothing_and_counts_once(tmp_path: Path) -> None:
    # Requests enough for several transactions.
    count = 450
    with ScriptedServer(batches=BatchPlan(missing=3, duplicated=5)) as server:
        submit_there(server.base_url, tmp_path, count)
        step = 0
        while killed(step, collect_there, tmp_path):
            step += 2
            assert step < 200
        log = BatchLog(tmp_path / CALLS)
        keys = [call.key for call in make_calls(server.base_url, count)]
        assert (len(log.answered(keys)), log.waiting(keys)) == (count - 3, set())
        bill = log.bill("judge|x")
        log.close()
        assert (bill.calls, left(tmp_path)) == (count, [])
        tokens = server.counts.tokens
    # Every answer is in the journal once, whatever was read twice.
    assert 0 < bill.input_tokens + bill.output_tokens < tokens
    with closing(sqlite3.connect(tmp_path / CALLS)) as db:
        assert db.execute(
            "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM journal GROUP BY key)"
        ).fetchone() == (1,)


def test_two_processes_submit_the_same_calls_at_once(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        work = (submit_there, server.base_url, tmp_path, 2000, "", BatchLimits(requests=300))
        processes = [start(*work) for _ in range(3)]
        for process in processes:
            process.join()
            assert process.exitcode == 0
        collected = collect_there(tmp_path)
        assert sum(one.answered for one in collected) == 2000
        assert set(server.counts.received.values()) == {1}


def test_several_processes_collect_at_once(tmp_path: Path) -> None:
    with ScriptedServer(batches=BatchPlan(missing=2)) as server:
        submit_there(server.base_url, tmp_path, 1500, "", BatchLimits(requests=700))
        processes = [start(collect_there, tmp_path) for _ in range(3)]
        for process in processes:
            process.join()
            assert process.exitcode == 0
    log = BatchLog(tmp_path / CALLS)
    keys = [call.key for call in make_calls(server.base_url, 1500)]
    assert (len(log.answered(keys)), log.bill("judge|x").calls, left(tmp_path)) == (1500 - 6, 1500, [])
    log.close()


def test_a_batch_in_the_hands_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        submit_there(server.base_url, tmp_path, 4)
        with closing(sqlite3.connect(tmp_path / CALLS)) as db, db:
            (run,) = db.execute("SELECT run FROM batches").fetchone()
            assert run == ""
            held = f"{socket.gethostname()}:{os.getppid()}:1"
            db.execute("UPDATE batches SET state = 'creating', remote = '', run = ?", (held,))
        assert collect_there(tmp_path) == []
        log = BatchLog(tmp_path / CALLS)
        (batch,) = log.batches(unfinished=True)
        assert (batch.state, batch.run) == ("creating", held)
        log.close()
        with closing(sqlite3.connect(tmp_path / CALLS)) as db, db:
            # Its process is alive, but it has not been heard of for hours.
            db.execute("UPDATE batches SET at = at - 7200")
        (one,) = collect_there(tmp_path)
        assert one.answered == 4


def test_very_many_calls_are_split_and_never_held(tmp_path: Path) -> None:
    counts, report = (5_000, 120_000), tmp_path / "memory.json"
    with server_process() as url:
        process = start(memory_of_submissions, url, tmp_path, counts, report)
        process.join()
        assert process.exitcode == 0
    log = BatchLog(tmp_path / CALLS)
    assert [batch.requests for batch in log.batches()] == [5_000, 50_000, 50_000, 20_000]
    log.close()
    few, many = json.loads(report.read_text())
    sizes = [path.stat().st_size for path in (tmp_path / BATCH_FOLDER).iterdir()]
    assert max(sizes) > 10_000_000
    assert many - few < 8_000_000
