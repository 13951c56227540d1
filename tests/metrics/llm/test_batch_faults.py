"""Batches at an endpoint that refuses, loses answers, or is down."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import scripted_faults as faults
from batch_bench import KEY, always_on, bench, on_route
from batch_children import make_calls
from scripted_actions import Action, lost
from scripted_batches import BatchPlan
from scripted_server import ScriptedServer

from challenge_sets import InputError
from metrics.llm import batch_sending
from metrics.llm.batch_api import REQUESTS_TO
from metrics.llm.batch_records import BATCH_FOLDER, BatchLimits
from metrics.llm.batches import submit
from metrics.llm.calls import Call
from metrics.llm.log import CALLS

LOST = [faults.server_error(), faults.reset(), faults.cut_body(), faults.bad_json(), faults.html_with_200()]


@pytest.mark.parametrize("answer", [lost(answer) for answer in LOST], ids=lambda answer: answer.name)
@pytest.mark.parametrize("times", [1, 3])
def test_a_batch_whose_birth_got_lost_is_found_not_made_again(
    tmp_path: Path, answer: Action, times: int
) -> None:
    with bench(tmp_path, attempts=times, on_route=always_on("POST /batches", answer)) as user:
        calls = user.calls(5)
        (batch,) = user.submit(calls)
        assert user.server.counts.routes["POST /batches"] == 1
        assert (batch.remote, batch.state) == ("batch_0", "open")
        (one,) = user.collect()
        assert one.answered == 5


def test_a_batch_that_may_have_been_made_is_given_time_to_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    with bench(tmp_path, attempts=1, timeout=0.2, on_route=on_route("POST /batches", faults.hang())) as user:
        calls = user.calls(3)
        with pytest.raises(InputError, match="it will be found"):
            user.submit(calls)
        monkeypatch.setattr(batch_sending, "LAG", 50.0)
        monkeypatch.setattr(batch_sending.time, "sleep", slept.append)
        (shown,) = user.refresh()
        assert 30 < max(slept) <= 50
        assert (shown.shown, user.waiting(calls), user.files()) == ("abandoned", 0, [])
        assert user.server.batches.files == {}


@pytest.mark.parametrize("answer", [*LOST, faults.rate_limited(), faults.rate_limited(0.01, "milliseconds")])
def test_a_batch_that_was_not_made_is_made_at_the_next_attempt(tmp_path: Path, answer: Action) -> None:
    with bench(tmp_path, on_route=on_route("POST /batches", answer, answer)) as user:
        (batch,) = user.submit(user.calls(5))
        counts = user.server.counts.routes
        assert (counts["POST /batches"], counts["POST /files"], batch.state) == (3, 1, "open")
        assert len(user.server.batches.files) == 1


def test_of_two_batches_one_is_stopped(tmp_path: Path) -> None:
    """The first attempt takes effect, and the list does not show it before the second one."""
    stale = Action("stale list", lambda call: {"object": "list", "data": [], "has_more": False})

    def route(asked: str, before: int) -> Action | None:
        if asked == "POST /batches" and before == 0:
            return lost(faults.reset())
        return stale if asked == "GET /batches" and before == 1 else None

    with bench(tmp_path, on_route=route, batches=BatchPlan(polls=5)) as user:
        (batch,) = user.submit(user.calls(4))
        assert batch.remote == "batch_1"
        assert user.server.counts.routes["POST /batches/{id}/cancel"] == 1
        assert user.server.batches.retrieve("batch_0")["status"] == "cancelled"


def test_the_list_of_batches_is_read_page_by_page(tmp_path: Path) -> None:
    with bench(tmp_path, attempts=1, on_route=on_route("POST /batches", lost(faults.reset()))) as user:
        (batch,) = user.submit(user.calls(2))
        api_batches = user.server.batches
        file = next(iter(api_batches.files))
        for _ in range(230):
            api_batches.create({"input_file_id": file, "endpoint": REQUESTS_TO, "completion_window": "24h"})
        with closing(sqlite3.connect(tmp_path / CALLS)) as db, db:
            db.execute("UPDATE batches SET state = 'creating', remote = '', run = ''")
        before = user.server.counts.routes["GET /batches"]
        (shown,) = user.refresh()
        assert (shown.state, shown.remote) == ("ended", batch.remote)
        assert user.server.counts.routes["GET /batches"] - before == 3


@pytest.mark.parametrize(
    "answer", [faults.server_error(), faults.reset(), faults.bad_json(), faults.rate_limited()]
)
def test_an_upload_that_failed_is_repeated(tmp_path: Path, answer: Action) -> None:
    with bench(tmp_path, on_route=on_route("POST /files", answer)) as user:
        (batch,) = user.submit(user.calls(5))
        assert batch.state == "open" and user.server.counts.routes["POST /files"] == 2


REFUSALS = [
    (faults.unauthorized(), "refuses the key"),
    (faults.payment_required(), "no credit"),
    (faults.quota(), "no credit"),
    (faults.forbidden(), "forbids"),
    (faults.bad_request(), "could not parse"),
    (faults.over_long_wait(), "wait 1000 seconds"),
    (faults.not_an_api(), "has no batches"),
    (faults.error(405, "Method not allowed"), "has no batches"),
    (faults.error(400, "Enqueued token limit reached for this batch: too many tokens."), "Enqueued"),
    (faults.server_error(), "500"),
    (faults.hang(), "no answer within"),
]


@pytest.mark.parametrize("route", ["GET /batches", "POST /files", "POST /batches"])
@pytest.mark.parametrize(("answer", "said"), REFUSALS, ids=[said for _, said in REFUSALS])
def test_refusals_free_the_calls(tmp_path: Path, route: str, answer: Action, said: str) -> None:
    with bench(tmp_path, attempts=1, timeout=0.3, on_route=on_route(route, answer)) as user:
        calls = user.calls(5)
        with pytest.raises(InputError, match=said) as raised:
            user.submit(calls)
        assert KEY not in str(raised.value) and "abcdefgh" not in str(raised.value)
        unclear = route == "POST /batches" and answer.name in ("500 server_error", "hang")
        assert user.waiting(calls) == (5 if unclear else 0)
        assert len(user.server.batches.files) == unclear
        assert len(user.files()) == unclear
        # Nothing holds a second run up.
        (batch,) = user.submit(calls)
        assert batch.requests == 5
        assert user.server.counts.routes["POST /batches"] <= 2
        assert len(user.files()) == 1


def test_a_first_look_comes_before_anything_is_prepared(tmp_path: Path) -> None:
    def never() -> Iterator[Call]:
        raise AssertionError("the calls were read")
        yield

    with bench(tmp_path, on_route=always_on("GET /batches", faults.not_an_api())) as user:
        with pytest.raises(InputError, match="call by call"):
            user.submit(never())
        assert user.log.batches() == []


def test_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with bench(tmp_path, batches=BatchPlan(polls=0)) as user:
        calls = user.calls(3)
        user.submit(calls)
        monkeypatch.delenv("TEST_KEY")
        for work in (lambda: user.submit(calls), user.refresh, user.collect):
            with pytest.raises(InputError, match="TEST_KEY is not set"):
                work()
        monkeypatch.setenv("TEST_KEY", "sk-other-12345678")
        for work in (lambda: user.submit(calls), user.refresh, user.collect):
            with pytest.raises(InputError, match="refuses the key") as raised:
                work()
            assert "sk-other" not in str(raised.value)
        assert user.waiting(calls) == 3


def test_nothing_on_disk_holds_the_key(tmp_path: Path) -> None:
    with bench(tmp_path, batches=BatchPlan(polls=2)) as user:
        user.submit(user.calls(3), extra={"user": "somebody"})
        user.refresh()
        found = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(found) >= 2
        assert all(KEY.encode() not in path.read_bytes() for path in found)
        (terms,) = user.rows("SELECT terms FROM batches")[0]
        assert "TEST_KEY" in terms and "somebody" not in terms


def test_an_endpoint_that_is_down_is_trouble_that_passes(tmp_path: Path) -> None:
    with bench(tmp_path, attempts=1) as user:
        calls = user.calls(6)
        user.submit(calls, BatchLimits(requests=2))
        user.server.__exit__(None, None, None)
        troubles = [batch.trouble for batch in user.refresh()]
        assert all("connection failed" in trouble for trouble in troubles)
        assert [one.trouble for one in user.collect()] == troubles
        user.server.__enter__()
        assert sum(one.answered for one in user.collect()) == 6


def test_endpoints_are_asked_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", KEY)
    with bench(tmp_path) as user, ScriptedServer(expected_key=KEY) as other:
        options = replace(user.options, base_url=other.base_url, api_key_env="OTHER_KEY")
        submit(make_calls(other.base_url, 3), options, user.log, tmp_path / BATCH_FOLDER)
        user.submit(user.calls(2))
        monkeypatch.delenv("OTHER_KEY")
        first, second = user.collect()
        assert "OTHER_KEY is not set" in first.trouble and second.answered == 2
        monkeypatch.setenv("OTHER_KEY", KEY)
        (first,) = user.collect()
        assert first.answered == 3
