"""Files and batches of a scripted server, with everything that may become of a batch."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scripted_actions import Action, ReceivedCall, encoded
from scripted_faults import error

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What becomes of a batch: it ends at its ``polls``-th retrieval (0: at its creation).

    ``expired`` and ``cancelled`` answer the first ``answered`` requests only (``None``: half of them); a
    cancellation by the client takes the same share. ``failure`` are the entries of ``errors.data`` of a
    failed batch; broken input fails without a plan. Output lines come in shuffled order; of them,
    ``missing`` are left out, ``duplicated`` come twice, ``unknown`` bear ids that nobody sent, and with
    ``cut`` the last one breaks off.
    """

    polls: int = 1
    ending: Literal["completed", "expired", "cancelled"] = "completed"
    answered: int | None = None
    failure: tuple[Mapping[str, Any], ...] = ()
    missing: int = 0
    duplicated: int = 0
    unknown: int = 0
    cut: bool = False


@dataclass(slots=True)
class _Batch:
    plan: BatchPlan
    seen: dict[str, Any]
    lines: list[dict[str, Any]]
    invalid: list[Mapping[str, Any]]
    polls: int = 0
    over: bool = False
    wanted: str = "completed"

    @property
    def fails(self) -> bool:
        return bool(self.plan.failure or self.invalid)


class Refused(Exception):
    """The request cannot be met; ``action`` is the answer."""

    def __init__(self, action: Action) -> None:
        self.action = action


class Batches:
    """The state behind ``/files`` and ``/batches``.

    ``ask`` answers one request of a batch as the script does, and counts it; ``plan`` says by the number of
    the batch, from 0, what becomes of it. Sizes beyond ``max_requests`` and ``max_bytes`` get a 400.
    """

    def __init__(
        self,
        ask: Callable[[Mapping[str, Any]], tuple[Action, ReceivedCall]],
        plan: Callable[[int], BatchPlan],
        max_requests: int,
        max_bytes: int,
    ) -> None:
        self._ask = ask
        self._plan = plan
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self.files: dict[str, dict[str, Any]] = {}
        self.contents: dict[str, bytes] = {}
        self._batches: dict[str, _Batch] = {}
        self._made = 0

    def create_file(self, name: str, content: bytes, purpose: str) -> dict[str, Any]:
        if len(content) > self._max_bytes:
            raise Refused(error(400, f"File is larger than the limit of {self._max_bytes} bytes."))
        self._made += 1
        number = f"file-{self._made}"
        self.contents[number] = content
        self.files[number] = {
            "id": number,
            "object": "file",
            "bytes": len(content),
            "created_at": int(time.time()),
            "filename": name,
            "purpose": purpose,
            "status": "processed",
        }
        return self.files[number]

    def file(self, number: str) -> dict[str, Any]:
        if number not in self.files:
            raise Refused(error(404, f"No such File object: {number}", param="id"))
        return self.files[number]

    def content(self, number: str) -> bytes:
        return self.contents[self.file(number)["id"]]

    def delete_file(self, number: str) -> dict[str, Any]:
        self.file(number)
        del self.files[number], self.contents[number]
        return {"id": number, "object": "file", "deleted": True}

    def create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        content = self.content(str(asked.get("input_file_id")))
        if asked.get("endpoint") != ENDPOINT or asked.get("completion_window") != "24h":
            raise Refused(error(400, f"The endpoint is {ENDPOINT} and the completion window is 24h."))
        lines, invalid = _read(content)
        if len(lines) > self._max_requests:
            raise Refused(error(400, f"The batch has more than {self._max_requests} requests."))
        number, now = f"batch_{len(self._batches)}", int(time.time())
        plan = self._plan(len(self._batches))
        seen = {
            "id": number,
            "object": "batch",
            "endpoint": ENDPOINT,
            "errors": None,
            "input_file_id": asked["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": now,
            "expires_at": now + 86_400,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "metadata": asked.get("metadata"),
        }
        batch = self._batches[number] = _Batch(plan, seen, lines, invalid, wanted=plan.ending)
        if plan.polls == 0:
            self._finish(batch)
        return seen

    def retrieve(self, number: str) -> dict[str, Any]:
        batch = self._batch(number)
        batch.polls += 1
        left = batch.plan.polls - batch.polls
        if not batch.over:
            if left <= 0 or batch.seen["status"] == "cancelling":
                self._finish(batch)
            elif (batch.polls > 1 or left < 3) and not batch.fails:
                batch.seen["status"] = "finalizing" if left == 1 and batch.polls > 1 else "in_progress"
                batch.seen["request_counts"]["total"] = len(batch.lines)
        return batch.seen

    def cancel(self, number: str) -> dict[str, Any]:
        batch = self._batch(number)
        if batch.over:
            status = batch.seen["status"]
            raise Refused(error(400, f"Cannot cancel a batch with status '{status}'."))
        batch.seen |= {"status": "cancelling", "cancelling_at": int(time.time())}
        batch.wanted = "cancelled"
        return batch.seen

    def list(self, limit: int, after: str | None) -> dict[str, Any]:
        """The newest first, from the one that follows ``after``."""
        numbers = list(reversed(self._batches))
        start = numbers.index(after) + 1 if after in numbers else 0
        shown = [self._batches[number].seen for number in numbers[start : start + limit]]
        return {
            "object": "list",
            "data": shown,
            "first_id": shown[0]["id"] if shown else None,
            "last_id": shown[-1]["id"] if shown else None,
            "has_more": start + limit < len(numbers),
        }

    def _batch(self, number: str) -> _Batch:
        if number not in self._batches:
            raise Refused(error(404, f"No batch found with id '{number}'."))
        return self._batches[number]

    def _finish(self, batch: _Batch) -> None:
        batch.over = True
        status = "failed" if batch.fails else batch.wanted
        batch.seen |= {"status": status, f"{status}_at": int(time.time())}
        if status == "failed":
            batch.seen["errors"] = {"object": "list", "data": list(batch.plan.failure) or batch.invalid}
            return
        share = len(batch.lines)
        if status != "completed":
            share = share // 2 if batch.plan.answered is None else batch.plan.answered
        answered = [self._result(line) for line in batch.lines[:share]]
        # The codes are those of OpenAI's error files.
        message = f"This request could not be executed before the batch was {status}."
        late = [_no_response(line, f"batch_{status}", message) for line in batch.lines[share:]]
        good = [line for line in answered if line["response"] and line["response"]["status_code"] == 200]
        bad = [line for line in answered if line not in good] + late
        counts = {"total": len(batch.lines), "completed": len(good), "failed": len(batch.lines) - len(good)}
        batch.seen["request_counts"] = counts
        name = batch.seen["id"]
        if good:
            output = self.create_file(f"{name}_output.jsonl", _output(good, batch.plan, name), "batch_output")
            batch.seen["output_file_id"] = output["id"]
        if bad:
            errors = self.create_file(f"{name}_error.jsonl", _lines(bad, name), "batch_output")
            batch.seen["error_file_id"] = errors["id"]

    def _result(self, line: Mapping[str, Any]) -> dict[str, Any]:
        action, call = self._ask(line["body"])
        if action.ending != "sent":
            return _no_response(line, "server_error", f"The request failed: {action.name}.")
        try:
            body = json.loads(action.body_for(call))
        except ValueError:
            return _no_response(line, "server_error", "The model gave no valid response.")
        response = {"status_code": action.status, "request_id": f"req_{call.number}", "body": body}
        return _line(line, response, None)


def _line(line: Mapping[str, Any], response: object, failure: object) -> dict[str, Any]:
    number = f"batch_req_{line['custom_id']}"
    return {"id": number, "custom_id": line["custom_id"], "response": response, "error": failure}


def _no_response(line: Mapping[str, Any], code: str, message: str) -> dict[str, Any]:
    return _line(line, None, {"code": code, "message": message})


def _output(good: list[dict[str, Any]], plan: BatchPlan, name: str) -> bytes:
    strangers = [
        line | {"custom_id": f"unknown-{number}"} for number, line in enumerate(good[: plan.unknown])
    ]
    kept = good[plan.missing :]
    content = _lines([*kept, *kept[: plan.duplicated], *strangers], name)
    return content[: content.rstrip(b"\n").rfind(b"\n") + 40] if plan.cut else content


def _lines(lines: list[dict[str, Any]], seed: str) -> bytes:
    shuffled = random.Random(seed).sample(lines, len(lines))
    return b"".join(encoded(line) + b"\n" for line in shuffled)


def _read(content: bytes) -> tuple[list[dict[str, Any]], list[Mapping[str, Any]]]:
    """The requests of an input file, and what is wrong with it."""
    lines: list[dict[str, Any]] = []
    wrong: list[Mapping[str, Any]] = []
    known: set[str] = set()
    for number, raw in enumerate(content.rstrip(b"\n").split(b"\n"), 1):
        try:
            line = json.loads(raw)
            code = _fault_of(line, known)
        except ValueError:
            line, code = {}, "invalid_json_line"
        if code:
            message = f"Line {number} cannot be taken: {code}."
            wrong.append({"code": code, "line": number, "message": message, "param": None})
        else:
            known.add(line["custom_id"])
        lines.append(line)
    return lines, wrong


def _fault_of(line: Any, known: set[str]) -> str:
    if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
        return "missing_required_parameter"
    if line["custom_id"] in known:
        return "duplicate_custom_id"
    if line.get("method") != "POST" or line.get("url") != ENDPOINT:
        return "invalid_url"
    return "" if isinstance(line.get("body"), dict) else "invalid_request"
