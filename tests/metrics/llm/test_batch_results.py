"""What comes back of batches: every state, and every line that an endpoint may give."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import scripted_actions as actions
import scripted_faults as faults
from batch_bench import KEY, Bench, bench, by_text, on_route
from scripted_actions import Action
from scripted_batches import BatchPlan

from challenge_sets import InputError
from metrics.llm import batch_files
from metrics.llm.batch_files import results
from metrics.llm.batch_records import BATCH_FOLDER, Batch, BatchLimits
from metrics.llm.log import CALLS


def test_lines_that_failed_and_their_reasons(tmp_path: Path) -> None:
    script = by_text(
        {
            "wort0": faults.rate_limited(),
            "wort1": faults.context_length(),
            "wort2": faults.server_error(),
            "wort3": faults.reset(),
            "wort4": faults.error_in_200(),
            "wort5": actions.out_of_length(),
            "wort6": actions.refusal(),
            "wort7": faults.content_filter(),
            "wort8": actions.null_content(),
            "wort9": faults.unsupported("temperature"),
            "wort10": actions.no_usage(),
        }
    )
    with bench(tmp_path, script) as user:
        calls = user.calls(14)
        user.submit(calls)
        (one,) = user.collect()
        assert (one.answered, one.missing, one.free, one.broken) == (4, 0, 0, 0)
        assert user.waiting(calls) == 0
        told = [user.log.failure(call.key) for call in calls[:10]]
        parts = ["429", "context length", "status 500", "not asked", "Provider returned", "cut off"]
        parts += ["refused", "content", "empty", "temperature"]
        statuses = ["failed", "truncated", "failed", "failed", "failed", "unparsed"] + ["failed"] * 4
        assert [failure[0] for failure in told if failure] == statuses
        assert all(part in failure[1] for failure, part in zip(told, parts, strict=True) if failure)
        assert sum(one.refused.values()) == 10
        # They alone are submitted again; nothing that was answered is.
        (again,) = user.submit(calls)
        assert again.requests == 10


@pytest.mark.parametrize(
    ("plan", "answered", "left", "odd"),
    [
        (BatchPlan(missing=3), 7, "missing", (0, 0, 0)),
        (BatchPlan(duplicated=4), 10, "", (0, 4, 0)),
        (BatchPlan(unknown=2), 10, "", (2, 0, 0)),
        (BatchPlan(ending="expired", answered=4), 4, "refused", (0, 0, 0)),
        (BatchPlan(ending="expired", answered=0), 0, "refused", (0, 0, 0)),
        (BatchPlan(ending="cancelled", answered=6), 6, "refused", (0, 0, 0)),
    ],
)
def test_what_may_come_of_a_batch(
    tmp_path: Path, plan: BatchPlan, answered: int, left: str, odd: tuple[int, int, int]
) -> None:
    with bench(tmp_path, batches=lambda number: plan if number == 0 else BatchPlan()) as user:
        calls = user.calls(10)
        user.submit(calls)
        (one,) = user.collect()
        assert one.answered == user.answered(calls) == answered
        assert one.unanswered == 10 - answered
        assert {"missing": one.missing, "refused": sum(one.refused.values()), "": one.unanswered}[left] == (
            10 - answered
        )
        assert (one.unknown, one.repeated, one.broken) == odd
        assert user.waiting(calls) == 0
        if answered < 10:
            (again,) = user.submit(calls)
            assert again.requests == 10 - answered
            user.collect()
        assert user.answered(calls) == 10
        reasons = {reason for (reason,) in user.rows("SELECT reason FROM journal WHERE status != 'ok'")}
        assert reasons == (
            set()
            if answered == 10
            else {"the batch gave no line for it"}
            if left == "missing"
            else set(one.refused)
        )


def test_a_cut_last_line_costs_one_answer(tmp_path: Path) -> None:
    with bench(tmp_path, batches=lambda number: BatchPlan(cut=number == 0)) as user:
        calls = user.calls(10)
        user.submit(calls)
        (one,) = user.collect()
        assert (one.answered, one.missing, one.broken) == (9, 1, 1)
        (again,) = user.submit(calls)
        assert again.requests == 1


def test_a_batch_that_fails_is_told_and_its_calls_are_free(tmp_path: Path) -> None:
    failure = tuple(
        {"code": "token_limit_exceeded", "line": line, "message": f"Enqueued tokens, {KEY}.", "param": None}
        for line in (None, 3, 4, 5)
    )
    with bench(tmp_path, batches=lambda number: BatchPlan(failure=failure if number == 0 else ())) as user:
        calls = user.calls(10)
        user.submit(calls)
        (shown,) = user.refresh()
        assert shown.shown == "failed" and "token_limit_exceeded" in shown.note and "line 3" in shown.note
        assert shown.note.endswith("…") and KEY not in shown.note
        assert user.waiting(calls) == 10
        (one,) = user.collect()
        assert (one.free, one.answered, one.unanswered, user.waiting(calls)) == (10, 0, 10, 0)
        assert "token_limit_exceeded" in one.batch.note
        user.submit(calls)
        (one,) = user.collect()
        assert one.answered == 10


def _lines(user: Bench, lines: Callable[[list[bytes]], bytes], file: str = "output") -> Batch:
    """Let the endpoint's file of the only batch hold something else."""
    (batch,) = user.refresh()
    contents = user.server.batches.contents
    contents[batch.output] = lines(contents[batch.output].splitlines(keepends=True))
    return batch


def test_of_several_lines_the_first_complete_one_counts(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(3)
        user.submit(calls)

        def lines(found: list[bytes]) -> bytes:
            plain = [json.loads(line) for line in found]
            failed = [each | {"response": None, "error": {"message": "late"}} for each in plain]
            other = json.loads(json.dumps(plain[0]))
            other["response"]["body"]["choices"][0]["message"]["content"] = "another text"
            mixed = [failed[0], failed[1], *plain, other, failed[2]]
            return b"".join(json.dumps(each).encode() + b"\n" for each in mixed)

        _lines(user, lines)
        (one,) = user.collect()
        assert (one.answered, one.repeated, one.refused) == (3, 4, {})
        assert all(user.log.answer(call.key).text != "another text" for call in calls)  # type: ignore[union-attr]


ODD = [
    b"[]",
    b"null",
    b"{}",
    b'{"custom_id": 5, "response": {}}',
    b'{"custom_id": null}',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"custom_id": "' + b"x" * 3000 + b'"',
    b"9" * 5000,
]
STRANGERS = [
    b'{"custom_id": "../../etc/passwd", "response": {"status_code": 200, "body": {}}}',
    b'{"custom_id": "00", "response": null}',
    b'{"custom_id": "%s", "response": {"status_code": 200, "body": {}}}' % (b"ab" * 16),
    b'{"custom_id": "%s"}' % (b"ab" * 5000),
]


def test_odd_lines_are_left_aside_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "LONGEST_LINE", 200_000)
    with bench(tmp_path) as user:
        calls = user.calls(8)
        user.submit(calls)
        endless = b'{"custom_id": "' + b"y" * 900_000 + b'"}'
        odd = [*ODD, *STRANGERS, b"", b"  \t", endless]
        _lines(user, lambda found: b"\n".join([*odd, b""]) + b"".join(found) + endless)
        (one,) = user.collect()
        assert (one.answered, one.broken, one.unknown, one.missing) == (8, len(ODD) + 2, len(STRANGERS), 0)
        assert sorted(path.name for path in tmp_path.iterdir() if "calls" not in path.name) == [BATCH_FOLDER]


@pytest.mark.parametrize(
    ("response", "status", "said"),
    [
        (None, "failed", "no response"),
        ("text", "failed", "no response"),
        ({}, "failed", "no response"),
        ({"status_code": True, "body": {}}, "failed", "no response"),
        ({"status_code": "200", "body": {}}, "failed", "no response"),
        ({"status_code": 200, "body": None}, "failed", "no JSON object"),
        ({"status_code": 200, "body": "<html>"}, "failed", "no JSON object"),
        ({"status_code": 200, "body": []}, "failed", "no JSON object"),
        ({"status_code": 200}, "failed", "no JSON object"),
        ({"status_code": 200, "body": {"choices": None}}, "failed", "no answer"),
        (
            {"status_code": 401, "body": {"error": {"message": f"Wrong key {KEY}."}}},
            "failed",
            "refuses the key",
        ),
        ({"status_code": 404, "body": {"error": {"message": "no such model"}}}, "failed", "does not know"),
        ({"status_code": 500, "body": "oops"}, "failed", "oops"),
        ({"status_code": 10**9, "body": {}}, "failed", "status"),
    ],
)
def test_odd_responses_are_failures(tmp_path: Path, response: Any, status: str, said: str) -> None:
    with bench(tmp_path) as user:
        (call,) = user.calls(1)
        user.submit([call])
        line = {"custom_id": call.key.hex(), "response": response, "error": None}
        _lines(user, lambda found: json.dumps(line).encode())
        (one,) = user.collect()
        assert (one.answered, sum(one.refused.values())) == (0, 1)
        failure = user.log.failure(call.key)
        assert failure is not None and failure[0] == status and said in failure[1] and KEY not in failure[1]


@pytest.mark.parametrize(
    "content",
    [b"", b"<!DOCTYPE html><title>Sign in</title>", b'{"error": {"message": "gone"}}', b'{"id": "b'],
)
def test_a_file_that_holds_no_result_is_not_taken_for_one(tmp_path: Path, content: bytes) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(5)
        user.submit(calls)
        (shown,) = user.refresh()
        kept = user.server.batches.contents[shown.output]
        user.server.batches.contents[shown.output] = content
        (one,) = user.collect()
        assert "results" in one.trouble and "--forget" in one.trouble
        assert user.waiting(calls) == 5
        # What was paid is not given up: it is there the next time.
        user.server.batches.contents[shown.output] = kept
        (one,) = user.collect()
        assert (one.answered, user.files()) == (5, [])


@pytest.mark.parametrize(
    "answer", [faults.cut_body(), faults.server_error(), faults.reset(), faults.rate_limited()]
)
def test_a_download_that_breaks_off_is_repeated(tmp_path: Path, answer: Action) -> None:
    with bench(tmp_path, on_route=on_route("GET /files/{id}/content", answer)) as user:
        calls = user.calls(50)
        user.submit(calls)
        (one,) = user.collect()
        assert (one.answered, one.trouble, user.server.counts.routes["GET /files/{id}/content"]) == (
            50,
            "",
            2,
        )


def test_a_batch_that_can_never_be_collected_can_be_given_up(tmp_path: Path) -> None:
    with bench(tmp_path, batches=BatchPlan(polls=3)) as user:
        calls = user.calls(5)
        first, _ = user.submit(calls, BatchLimits(requests=3))
        with pytest.raises(InputError, match="goes on"):
            user.collect(first.name)
        with pytest.raises(InputError, match="no batch to give up"):
            user.collect("other")
        user.refresh()
        (shown, _) = user.refresh()
        del user.server.batches.files[shown.output], user.server.batches.contents[shown.output]
        (one, two) = user.collect()
        assert "No such File" in one.trouble and two.answered == 2
        (one,) = user.collect(first.name)
        assert (one.free, one.trouble) == (3, "") and "given up" in one.batch.note
        assert user.waiting(calls) == 0
        (again,) = user.submit(calls)
        assert again.requests == 3


def test_a_batch_that_the_endpoint_does_not_know_keeps_its_calls(tmp_path: Path) -> None:
    with bench(tmp_path) as user:
        calls = user.calls(5)
        (batch,) = user.submit(calls)
        with closing(sqlite3.connect(tmp_path / CALLS)) as db, db:
            db.execute("UPDATE batches SET remote = 'batch_99'")
        (shown,) = user.refresh()
        assert "does not know the batch batch_99" in shown.trouble and "TEST_KEY" in shown.trouble
        (one,) = user.collect()
        assert one.trouble == shown.trouble and user.waiting(calls) == 5
        (one,) = user.collect(batch.name)
        assert one.free == 5


def test_results_may_end_without_a_line_end() -> None:
    line = b'{"custom_id": "%s", "n": 1}' % (b"0f" * 16)
    stream = io.BytesIO(line + b"\r\n\n" + line)
    assert [result.key for result in results(stream) if result] == [bytes.fromhex("0f" * 16)] * 2
