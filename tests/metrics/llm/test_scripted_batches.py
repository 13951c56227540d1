"""Files and batches of the scripted server, through the real client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
import scripted_faults as faults
from openai import AsyncOpenAI, OpenAI
from scripted_actions import Action, ReceivedCall, lost, ok
from scripted_batches import ENDPOINT, BatchPlan
from scripted_scripts import judge
from scripted_server import ScriptedServer

KEY = "sk-test-abcdefgh-wxyz"


def line(number: int, **fields: Any) -> dict[str, Any]:
    body = {"model": "m-1", "messages": [{"role": "user", "content": f"Rate ```wort{number}```\u2028."}]}
    return {"custom_id": f"c{number}", "method": "POST", "url": ENDPOINT, "body": body} | fields


def content(count: int) -> bytes:
    return b"".join(json.dumps(line(number), ensure_ascii=False).encode() + b"\n" for number in range(count))


def client_of(server: ScriptedServer) -> OpenAI:
    return OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)


def submit(client: OpenAI, data: bytes) -> Any:
    file = client.files.create(file=("in.jsonl", data), purpose="batch")
    return client.batches.create(
        input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", metadata={"part": "1"}
    )


def run(server: ScriptedServer, count: int) -> tuple[Any, list[Any], list[Any]]:
    """The batch at its end, the lines of its output and of its error file."""
    with client_of(server) as client:
        batch = submit(client, content(count))
        while batch.status in ("validating", "in_progress", "finalizing"):
            batch = client.batches.retrieve(batch.id)
        texts = [
            client.files.content(file).text if file else ""
            for file in (batch.output_file_id, batch.error_file_id)
        ]
    good, bad = ([json.loads(each) for each in text.split("\n") if each] for text in texts)
    return batch, good, bad


def test_files() -> None:
    data = 'Zeile 1\r\n\r\n--x\n\u2028 Zeile 2 "\x00'.encode()
    with ScriptedServer() as server, client_of(server) as client:
        file = client.files.create(file=("in.jsonl", data), purpose="batch")
        assert (file.filename, file.purpose, file.bytes) == ("in.jsonl", "batch", len(data))
        assert client.files.retrieve(file.id) == file
        assert client.files.content(file.id).content == data
        assert client.files.delete(file.id).deleted
        for gone in (client.files.retrieve, client.files.content, client.files.delete):
            with pytest.raises(openai.NotFoundError):
                gone(file.id)


@pytest.mark.parametrize(
    ("polls", "states"),
    [
        (0, ["completed"]),
        (1, ["validating", "completed"]),
        (2, ["validating", "in_progress", "completed"]),
        (4, ["validating", "validating", "in_progress", "finalizing", "completed"]),
    ],
)
def test_states(polls: int, states: list[str]) -> None:
    with ScriptedServer(batches=BatchPlan(polls=polls)) as server, client_of(server) as client:
        batch = submit(client, content(3))
        seen = [batch.status]
        while batch.status != "completed":
            assert batch.output_file_id is None
            batch = client.batches.retrieve(batch.id)
            seen.append(batch.status)
        assert client.batches.retrieve(batch.id) == batch
    assert seen == states
    assert batch.metadata == {"part": "1"}
    counts = batch.request_counts
    assert (counts.total, counts.completed, counts.failed) == (3, 3, 0)


def test_answers_come_from_the_script_in_another_order_and_are_counted() -> None:
    with ScriptedServer() as server:
        _, good, bad = run(server, 12)
        with client_of(server) as client:
            direct: Any = client.chat.completions.create(**line(5)["body"])
        counts = server.counts
    names = [each["custom_id"] for each in good]
    assert names != sorted(names)
    assert set(names) == {f"c{number}" for number in range(12)}
    assert bad == []
    fifth = next(each for each in good if each["custom_id"] == "c5")
    assert fifth["error"] is None and fifth["response"]["status_code"] == 200
    body = fifth["response"]["body"]
    assert body["choices"][0]["message"]["content"] == direct.choices[0].message.content
    assert sorted(counts.answered.values()) == [1] * 11 + [2]
    spent = sum(each["response"]["body"]["usage"]["total_tokens"] for each in good)
    assert counts.tokens == spent + direct.usage.total_tokens
    assert [call.batch for call in server.calls] == [True] * 12 + [False]
    assert counts.max_in_flight == 1


def test_lines_that_fail_stand_in_the_error_file() -> None:
    answers: list[Action] = [
        ok("85"),
        faults.rate_limited(),
        faults.context_length(),
        faults.server_error(),
        faults.reset(),
        faults.bad_json(),
        faults.error_in_200(),
    ]

    def script(call: ReceivedCall) -> Action:
        return answers[int(call.last_user.split("wort")[1].split("`")[0])]

    with ScriptedServer(script) as server:
        batch, good, bad = run(server, len(answers))
    assert {each["custom_id"] for each in good} == {"c0", "c6"}
    statuses = {each["custom_id"]: each["response"] and each["response"]["status_code"] for each in bad}
    assert statuses == {"c1": 429, "c2": 400, "c3": 500, "c4": None, "c5": None}
    assert all((each["response"] is None) != (each["error"] is None) for each in bad)
    assert (batch.request_counts.completed, batch.request_counts.failed) == (2, 5)


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
def test_batches_that_end_early_keep_what_was_answered(ending: Any) -> None:
    with ScriptedServer(batches=BatchPlan(ending=ending, answered=2)) as server:
        batch, good, bad = run(server, 5)
        counts = server.counts
    assert batch.status == ending
    assert {each["custom_id"] for each in good} == {"c0", "c1"}
    assert {(each["custom_id"], each["error"]["code"]) for each in bad} == {
        (f"c{number}", f"batch_{ending}") for number in (2, 3, 4)
    }
    assert counts.calls == 2


def test_nothing_answered_means_no_output_file() -> None:
    with ScriptedServer(batches=BatchPlan(ending="expired", answered=0)) as server:
        batch, good, bad = run(server, 2)
    assert batch.output_file_id is None
    assert (len(good), len(bad)) == (0, 2)


def test_cancelling() -> None:
    with ScriptedServer(batches=BatchPlan(polls=9)) as server, client_of(server) as client:
        batch = submit(client, content(4))
        assert client.batches.cancel(batch.id).status == "cancelling"
        batch = client.batches.retrieve(batch.id)
        assert batch.status == "cancelled"
        assert batch.request_counts is not None and batch.request_counts.completed == 2
        with pytest.raises(openai.BadRequestError, match="Cannot cancel"):
            client.batches.cancel(batch.id)
        with pytest.raises(openai.NotFoundError):
            client.batches.retrieve("batch_99")


@pytest.mark.parametrize(
    ("data", "code", "number"),
    [
        (content(1) + b'{"custom_id": "c', "invalid_json_line", 2),
        (content(2) + content(1), "duplicate_custom_id", 3),
        (json.dumps(line(0, url="/v1/completions")).encode(), "invalid_url", 1),
        (json.dumps(line(0, body=None)).encode(), "invalid_request", 1),
        (json.dumps(line(0, custom_id=None)).encode(), "missing_required_parameter", 1),
        (b"", "invalid_json_line", 1),
    ],
)
def test_broken_input_fails(data: bytes, code: str, number: int) -> None:
    with ScriptedServer() as server, client_of(server) as client:
        batch = client.batches.retrieve(submit(client, data).id)
        assert batch.status == "failed"
        assert batch.errors is not None and batch.errors.data is not None
        assert [(each.code, each.line) for each in batch.errors.data] == [(code, number)]
        assert (batch.output_file_id, batch.error_file_id, server.counts.calls) == (None, None, 0)


def test_a_failure_by_plan_and_the_next_batch_well() -> None:
    reason = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}
    plans = [BatchPlan(polls=2, failure=(reason,)), BatchPlan()]
    with ScriptedServer(batches=lambda number: plans[number]) as server:
        batch, *_ = run(server, 2)
        assert (batch.status, batch.errors.data[0].code) == ("failed", "token_limit_exceeded")
        assert run(server, 2)[0].status == "completed"


def test_output_that_does_not_match_what_was_sent() -> None:
    def names(plan: BatchPlan) -> list[str]:
        with ScriptedServer(batches=plan) as server:
            return sorted(each["custom_id"] for each in run(server, 4)[1])

    assert names(BatchPlan(missing=1)) == ["c1", "c2", "c3"]
    assert names(BatchPlan(duplicated=1)) == ["c0", "c0", "c1", "c2", "c3"]
    assert names(BatchPlan(unknown=1)) == ["c0", "c1", "c2", "c3", "unknown-0"]
    with ScriptedServer(batches=BatchPlan(cut=True)) as server, client_of(server) as client:
        batch = client.batches.retrieve(submit(client, content(4)).id)
        *whole, last = client.files.content(batch.output_file_id or "").text.split("\n")
    assert len(whole) == 3 and all(json.loads(each) for each in whole)
    with pytest.raises(ValueError):
        json.loads(last)


def test_limits() -> None:
    with ScriptedServer(max_batch_requests=3, max_batch_bytes=1000) as server, client_of(server) as client:
        with pytest.raises(openai.BadRequestError, match="more than 3 requests"):
            submit(client, content(4))
        with pytest.raises(openai.BadRequestError, match="limit of 1000 bytes"):
            submit(client, content(20))
        submit(client, content(3))


def test_faults_on_routes_with_and_without_effect() -> None:
    plan = {
        ("POST /files", 0): faults.server_error(),
        ("POST /batches", 0): faults.rate_limited(),
        ("POST /batches", 1): lost(faults.reset()),
        ("GET /batches/{id}", 0): faults.unavailable_page(),
        ("GET /files/{id}/content", 0): faults.cut_body(),
    }
    with ScriptedServer(on_route=lambda route, before: plan.get((route, before))) as server:
        with client_of(server) as client:
            with pytest.raises(openai.InternalServerError):
                submit(client, content(2))
            with pytest.raises(openai.RateLimitError):
                submit(client, content(2))
            assert list(client.batches.list()) == []
            with pytest.raises(openai.APIConnectionError):
                submit(client, content(2))
            (batch,) = client.batches.list()
            with pytest.raises(openai.InternalServerError):
                client.batches.retrieve(batch.id)
            batch = client.batches.retrieve(batch.id)
            assert batch.status == "completed"
            with pytest.raises(openai.APIConnectionError):
                client.files.content(batch.output_file_id or "")
            assert len(client.files.content(batch.output_file_id or "").text.splitlines()) == 2
        routes = server.counts.routes
        assert (routes["POST /files"], routes["POST /batches"]) == (3, 2)


def test_lists_and_the_asynchronous_client() -> None:
    async def use(server: ScriptedServer) -> None:
        async with AsyncOpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
            for _ in range(5):
                file = await client.files.create(file=("in.jsonl", content(2)), purpose="batch")
                batch = await client.batches.create(
                    input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"
                )
            listed = [each.id async for each in client.batches.list(limit=2)]
            assert listed == [f"batch_{number}" for number in (4, 3, 2, 1, 0)]
            page = await client.batches.list(limit=2, after="batch_3")
            assert [each.id for each in page.data] == ["batch_2", "batch_1"]
            assert (await client.batches.cancel("batch_0")).status == "cancelling"
            batch = await client.batches.retrieve(batch.id)
            output = await client.files.content(batch.output_file_id or "")
            assert len(output.text.splitlines()) == 2
            assert (await client.files.delete(file.id)).deleted

    with ScriptedServer(judge("number")) as server:
        asyncio.run(use(server))
        assert server.counts.routes["GET /batches"] == 4


def test_a_wrong_key_reaches_no_file() -> None:
    with ScriptedServer(expected_key="another") as server, pytest.raises(openai.AuthenticationError):
        submit(client_of(server), content(1))
