"""Submitting batches to a scripted endpoint, and what is written of them."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import scripted_faults as faults
from batch_bench import always_on, bench, on_route
from scripted_actions import ok
from scripted_batches import BatchPlan
from scripted_scripts import always, judge

from challenge_sets import InputError
from metrics.llm.batch_api import REQUESTS_TO, sound_id
from metrics.llm.batch_files import request_line
from metrics.llm.batch_records import BatchLimits, Terms
from metrics.llm.calls import Call, Reply
from metrics.llm.log import CALLS
from metrics.llm.options import LlmOptions
from metrics.llm.prices import Price


def test_a_batch_from_submission_to_answers(tmp_path: Path) -> None:
    with bench(tmp_path, batches=BatchPlan(polls=4)) as user:
        calls = user.calls(12)
        (batch,) = user.submit(iter(calls))
        assert (batch.state, batch.status, batch.requests) == ("open", "validating", 12)
        assert user.files() == [f"{batch.name}.jsonl"]
        assert (user.answered(calls), user.waiting(calls)) == (0, 12)
        seen = []
        while not (collected := user.collect()):
            seen.append(user.log.batch(batch.number).status)
            assert user.submit(calls) == []
        assert seen == ["validating", "in_progress", "finalizing"]
        assert (user.answered(calls), user.waiting(calls), user.files()) == (12, 0, [])
        assert user.collect() == [] and user.submit(calls) == []
        (shown,) = user.refresh()
        texts = {
            call.last_user: judge()(call).answer(call)["choices"][0]["message"]["content"]  # type: ignore[index]
            for call in user.server.calls
        }
        for call in calls:
            reply = user.log.answer(call.key)
            assert reply is not None and reply.stored
            assert reply.text == texts[call.messages[0]["content"]]
        counts = user.server.counts
    (one,) = collected
    assert (one.answered, one.unanswered, one.refused) == (12, 0, {})
    assert (shown.shown, shown.completed, shown.failed) == ("collected", 12, 0)
    assert set(counts.received.values()) == {1}
    assert counts.routes["POST /batches"] == counts.routes["POST /files"] == 1
    assert one.bill.output_tokens + one.bill.input_tokens == counts.tokens


def test_the_journal_tells_what_a_call_took_and_what_it_was_for(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('currency = "EUR"\n[models."m-1"]\ninput = 2.0\noutput = 8.0\nbatch = 0.5\n')
    script = always(ok("85", prompt_tokens=1000, completion_tokens=500, reasoning_tokens=100))
    with bench(tmp_path, script) as user:
        user.submit(user.calls(4), prices=table)
        # The table may be gone when the answers come.
        table.unlink()
        (one,) = user.collect()
        assert user.log.bill("judge|x").cost == pytest.approx(4 * 0.003)
        (row, *_) = user.rows(
            "SELECT name, subject, status, finish, model, input, output, reasoning, cost, attempts"
            " FROM journal JOIN purposes ON purposes.id = purpose ORDER BY subject"
        )
    assert row == ("judge|x", "item 0", "ok", "stop", "m-1", 1000, 500, 100, pytest.approx(0.003), 1)
    assert (one.bill.cost, one.bill.currency) == (pytest.approx(0.012), "EUR")
    assert (one.bill.calls, one.bill.reasoning_tokens, one.bill.unpriced) == (4, 400, 0)


def test_request_lines_hold_what_a_single_call_would(tmp_path: Path) -> None:
    schema = {"type": "object"}
    call = Call("e", "m", ({"role": "user", "content": "a\u2028b\x85c\n\u2029 한"},), {"seed": 1}, schema)
    line = request_line(call)
    assert line.count(b"\n") == 1 and len(line.decode().splitlines()) == 1 and "한" in line.decode()
    assert json.loads(line) == {
        "custom_id": call.key.hex(),
        "method": "POST",
        "url": REQUESTS_TO,
        "body": call.body(),
    }


def test_equal_calls_and_those_that_are_asked_elsewhere_are_left_out(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(6)
        user.log.claim(calls[0].key, 100.0)
        with closing(sqlite3.connect(tmp_path / CALLS)) as db, db:
            # As another process that is alive would: the one that started this one.
            db.execute("UPDATE claims SET run = ?", (f"{socket.gethostname()}:{os.getppid()}:1",))
        (batch,) = user.submit([*calls, *calls[3:], calls[5]])
        assert batch.requests == 5 and not user.log.waiting([calls[0].key])
        (one,) = user.collect()
        assert one.answered == 5
        assert user.server.counts.calls == 5


def test_what_another_process_does_after_the_first_look_counts(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(4)
        number = user.log.begin("mine", Terms.of(user.options))
        user.log.record(calls[0], Reply("ok", "85", finish="stop"))
        other = user.log.begin("other", Terms.of(user.options))
        assert user.log.enlist(other, calls[:2]) == {calls[1].key}
        assert user.log.enlist(number, calls) == {calls[2].key, calls[3].key}
        assert user.log.batch(number).requests == 2
        # Taken for abandoned: whatever is tried with it from now on comes to nothing.
        with closing(sqlite3.connect(tmp_path / CALLS)) as db, db:
            db.execute("UPDATE batches SET run = 'elsewhere:1:1' WHERE id = ?", (number,))
        for work in (
            lambda: user.log.enlist(number, user.calls(1, "new")),
            lambda: user.log.move([calls[2].key], number, other),
            lambda: user.log.step(number, "uploading"),
        ):
            with pytest.raises(InputError, match="another process"):
                work()
        assert user.log.abandon(number, "why") == 0
        assert user.waiting([*calls, *user.calls(1, "new")]) == 3


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        (BatchLimits(requests=4), [4, 4, 2]),
        (BatchLimits(requests=10), [10]),
        (BatchLimits(requests=1), [1] * 10),
        (BatchLimits(bytes=900), [3, 3, 3, 1]),
        (BatchLimits(requests=2, bytes=900), [2] * 5),
    ],
)
def test_parts(tmp_path: Path, limits: BatchLimits, sizes: list[int]) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(10)
        batches = user.submit(calls, limits)
        assert [batch.requests for batch in batches] == sizes
        assert len({batch.name for batch in batches}) == len(sizes)
        assert sum(one.answered for one in user.collect()) == 10
        assert max(
            file["bytes"] for file in user.server.batches.files.values() if file["purpose"] == "batch"
        ) <= (limits.bytes)
        assert set(user.server.counts.received.values()) == {1}


def test_calls_that_no_batch_can_take_fail_alone(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        long, half, good = user.calls(3)
        long = replace(long, messages=({"role": "user", "content": "x" * 5000},))
        half = replace(half, messages=({"role": "user", "content": "\ud83d"},), subject="\ud83d")
        (batch,) = user.submit([long, half, good], BatchLimits(bytes=2000))
        assert batch.requests == 1
        assert user.log.failure(long.key) is not None and user.log.failure(half.key) is not None
        assert "too long" in user.log.failure(long.key)[1]  # type: ignore[index]
        assert "cannot be sent" in user.log.failure(half.key)[1]  # type: ignore[index]
        assert user.waiting([long, half]) == 0


@pytest.mark.parametrize(
    ("server", "route"),
    [
        ({"max_batch_requests": 3}, None),
        ({"max_batch_bytes": 700}, None),
        ({}, on_route("POST /files", faults.html(413, "413 Request Entity Too Large"))),
    ],
)
def test_files_that_are_too_large_for_the_endpoint_are_halved(
    tmp_path: Path, server: dict[str, int], route: Any
) -> None:
    with bench(tmp_path, on_route=route, **server) as user:
        calls = user.calls(20)
        batches = user.submit(calls, BatchLimits(requests=10))
        assert sum(batch.requests for batch in batches) == user.waiting(calls) == 20
        # The server would hold its own results to the limit, too.
        user.server.batches._max_bytes = 10**9
        collected = user.collect()
        assert sum(one.answered for one in collected) == user.answered(calls) == 20
        assert user.files() == []
        counts = user.server.counts
    assert set(counts.received.values()) == {1}
    # What was learnt from the first part holds for the second one: it is not refused once more.
    refusals = counts.routes["POST /files"] - len(batches)
    assert refusals <= 6


def test_halving_has_an_end(tmp_path: Path) -> None:
    too_large = faults.error(400, "File is larger than the limit of 0 bytes.")
    with bench(tmp_path, on_route=always_on("POST /files", too_large)) as user:
        calls = user.calls(20)
        with pytest.raises(InputError, match="File is larger"):
            user.submit(calls)
        assert user.waiting(calls) == 0 and user.files() == []
        assert user.server.counts.routes["POST /files"] < 8


def test_the_cost_is_limited_before_anything_is_uploaded(tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('[models."m-1"]\ninput = 1.0\noutput = 1000.0\nbatch = 0.5\n')
    with bench(tmp_path) as user:
        calls = user.calls(8)
        # An answer has at most 50 tokens: 0.025 each, and a little for what is read.
        with pytest.raises(InputError, match=r"could cost 0\.2.*limit is 0\.19: nothing was submitted"):
            user.submit(calls, max_cost=0.19, prices=table)
        assert user.waiting(calls) == 0 and user.files() == []
        assert "POST /files" not in user.server.counts.routes
        with pytest.raises(InputError, match=r"6 calls were submitted before"):
            user.submit(calls, BatchLimits(requests=3), max_cost=0.19, prices=table)
        assert user.waiting(calls) == 6
        (batch,) = user.submit(calls, max_cost=0.19, prices=table)
        assert batch.requests == 2
        with pytest.raises(InputError, match="needs the price"):
            user.submit(calls, max_cost=1.0)


def test_calls_that_end_in_an_error_leave_nothing_behind(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(250)

        def broken() -> Iterator[Call]:
            yield from calls
            raise InputError("the file ends here")

        with pytest.raises(InputError, match="ends here"):
            user.submit(broken())
        assert (user.waiting(calls), user.files()) == (0, [])
        assert [batch.shown for batch in user.log.batches()] == ["abandoned"]


@pytest.mark.parametrize(
    "options",
    [
        LlmOptions("m", "https://api.example.com/v1"),
        LlmOptions("m", api_key_env="K", dialect="reasoning", extra={"seed": 7}, timeout=3.5, attempts=2),
    ],
)
def test_terms_survive_another_day(options: LlmOptions) -> None:
    terms = Terms(options, Price(1.0, 2.0, 0.5, 0.5), "EUR")
    back = Terms.from_text(terms.to_text())
    assert back.to_text() == terms.to_text()
    assert (back.price, back.currency, back.options.key_name) == (terms.price, "EUR", options.key_name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "a b", "a?b", "a#b", "a%2fb", "a\n", "x" * 201, 5, None]
)
def test_ids_that_would_change_an_address_are_none(name: Any) -> None:
    assert sound_id(name) == ""
    assert sound_id("batch_67a.b:c-D") == "batch_67a.b:c-D"
