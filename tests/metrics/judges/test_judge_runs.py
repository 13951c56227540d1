"""Runs of judges: what a rerun asks, repetitions, structured answers, forecasts, and what it costs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import scripted_actions as actions
import scripted_faults as faults
from scripted_actions import Action, ReceivedCall, ok
from scripted_scripts import always, from_schema, judge, schema_of
from scripted_server import ScriptedServer

from challenge_sets import ChallengeSet, InputError
from metrics.judges.judge import Judge
from metrics.judges.options import JudgeOptions
from metrics.llm.calls import Call
from metrics.llm.log import CALLS, CallLog
from metrics.registry import METRICS
from metrics.requests import ModelOptions, Request, Settings
from metrics.runner import MetricResult, plan_set
from metrics.store import STORE

Make = Callable[..., ChallengeSet]
NONE = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"


def total(results: list[MetricResult]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for result in results:
        for status, count in result.counts.items():
            counts[status] = counts.get(status, 0) + count
    return counts


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.exists() else {}


# --- Reruns ---------------------------------------------------------------------------------------------


def odd_judge(call: ReceivedCall) -> Action:
    """By the number of the text: understood, talk, cut off, refused, too long."""
    number = int(call.last_user.split("Text ")[1].split()[0]) % 5
    talk = ok("It reads well enough to me.")
    return (ok(NONE), talk, actions.out_of_length(), actions.refusal(), faults.context_length())[number]


def test_a_rerun_asks_only_for_what_is_missing(
    many: Make, judged: Callable, rows: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 20)
    with ScriptedServer(odd_judge) as server:
        first = judged(server, challenge_set, "mqm", tmp_path / "out")
        assert server.counts.calls == 20
        assert total(first) == {"ok": 4, "unparsed": 8, "failed": 4, "truncated": 4}
        table = files(tmp_path / "out")["scores.csv"]
        again = judged(server, challenge_set, "mqm", tmp_path / "out")
        # Not the talk: it was a whole answer, and would be the same again.
        assert server.counts.calls == 20 + 12
        assert total(again) == total(first)
        assert files(tmp_path / "out")["scores.csv"] == table
        server._script = always(ok(NONE))
        mended = judged(server, challenge_set, "mqm", tmp_path / "out")
        assert server.counts.calls == 20 + 12 + 12
        assert total(mended) == {"ok": 16, "unparsed": 4}
    reasons = {row.status: row.reason for row in rows(tmp_path / "out").values() if row.status != "ok"}
    assert set(reasons) == {"unparsed"}


def test_answers_are_kept_without_the_scores(many: Make, judged: Callable, tmp_path: Path) -> None:
    challenge_set = many(tmp_path / "set", 20)
    with ScriptedServer(odd_judge) as server:
        first = judged(server, challenge_set, "mqm", tmp_path / "out")
        table = files(tmp_path / "out")["scores.csv"]
        (tmp_path / "out" / STORE).unlink()
        server._script = judge()
        before = server.counts.calls
        again = judged(server, challenge_set, "mqm", tmp_path / "out")
        # Complete answers are there; what failed is asked again and now answered.
        assert server.counts.calls == before + 12
        assert total(again) == {"ok": 16, "unparsed": 4}
        (tmp_path / "out" / STORE).unlink()
        (tmp_path / "out" / "scores.csv").unlink()
        judged(server, challenge_set, "mqm", tmp_path / "out")
        assert server.counts.calls == before + 12
    assert files(tmp_path / "out")["scores.csv"] != table
    assert total(first)["ok"] == 4


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "m-2"},
        {"temperature": 0.7},
        {"max_tokens": 77},
        {"extra": {"seed": 3}},
        {"structured": "on"},
    ],
    ids=str,
)
def test_other_settings_are_other_scores(
    changed: dict[str, Any], many: Make, judged: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(judge("number")) as server:
        (one,) = judged(server, challenge_set, "da", tmp_path / "out")
        (other,) = judged(server, challenge_set, "da", tmp_path / "out", **changed)
        assert server.counts.calls == 12
        assert one.about.signature != other.about.signature
        judged(server, challenge_set, "da", tmp_path / "out")
        judged(server, challenge_set, "da", tmp_path / "out", **changed)
        assert server.counts.calls == 12


def test_two_endpoints_are_two_judges(many: Make, judged: Callable, tmp_path: Path) -> None:
    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(always(ok("10"))) as one, ScriptedServer(always(ok("90"))) as other:
        for server in (one, other, one):
            judged(server, challenge_set, "da", tmp_path / "out")
        assert (one.counts.calls, other.counts.calls) == (6, 6)
    lines = (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 12


def test_a_changed_prompt_set_is_asked_anew(many: Make, command: Callable, tmp_path: Path) -> None:
    many(tmp_path / "set", 6)
    folder = tmp_path / "mine"
    folder.mkdir()
    manifest = 'name = "mine"\nversion = "1"\ndescription = "d"\nunit = "segment"\nneeds = ["source"]\n'
    (folder / "manifest.toml").write_text(f'{manifest}output = "number"\n', encoding="utf-8")
    signatures = set()
    with ScriptedServer(judge("number")) as server:
        for words in ("How good?", "How good is it?", "How good?"):
            text = f"{words}\n<s>{{{{ source }}}}</s>\n<t>{{{{ translation }}}}</t>"
            (folder / "user.md").write_text(text, encoding="utf-8")
            done = command(
                "metrics", "score", "--set", tmp_path / "set", "--metrics", f"judge:{folder}",
                "--out", tmp_path / "out", "--model", "m-1", "--base-url", server.base_url, "--json",
            )  # fmt: skip
            signatures.add(json.loads(done.stdout)["metrics"][0]["signature"])
        assert server.counts.calls == 12
    assert len(signatures) == 2


def test_judges_side_by_side_do_not_mix(many: Make, judged: Callable, rows: Callable, tmp_path: Path) -> None:
    def answer(call: ReceivedCall) -> Action:
        return ok(NONE if "MQM" in call.body["messages"][0]["content"] else "73")

    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(answer) as server:
        results = judged(server, challenge_set, ["mqm", "da"], tmp_path / "out")
        assert server.counts.calls == 12
        assert [result.account.bill.calls for result in results] == [6, 6]
    by_metric = {metric: row.raw for (metric, _, _), row in rows(tmp_path / "out").items()}
    assert by_metric == {"mqm": 0.0, "da": 73.0}


# --- Repetitions ----------------------------------------------------------------------------------------


def test_every_repetition_is_asked(
    many: Make, judged: Callable, rows: Callable, command: Callable, tmp_path: Path
) -> None:
    def answer(call: ReceivedCall) -> Action:
        # The same body each time: what differs is how often it came.
        return ok(str(50 + 10 * call.attempt))

    challenge_set = many(tmp_path / "set", 12)
    with ScriptedServer(answer) as server:
        results = judged(server, challenge_set, "da", tmp_path / "out", samples=2)
        assert [result.about.name for result in results] == ["da", "da#2"]
        assert server.counts.calls == 24
        results = judged(server, challenge_set, "da", tmp_path / "out", samples=3)
        assert [result.about.name for result in results] == ["da", "da#2", "da#3"]
        assert server.counts.calls == 36
        assert set(server.counts.received.values()) == {3}
        judged(server, challenge_set, "da", tmp_path / "out", samples=1)
        assert server.counts.calls == 36
    signatures = [result.about.signature for result in results]
    assert len(set(signatures)) == 3
    assert [signature.rpartition("|sample:")[2] for signature in signatures] == ["1", "2", "3"]
    found = {metric: row.raw for (metric, _, _), row in rows(tmp_path / "out").items()}
    assert found == {"da": 50.0, "da#2": 60.0, "da#3": 70.0}
    done = command(
        "analysis", "sensitivity", "--set", tmp_path / "set", "--scores", tmp_path / "out",
        "--out", tmp_path / "report", "--json",
    )  # fmt: skip
    assert "da#2" in done.stdout


# --- Structured answers ---------------------------------------------------------------------------------


def test_the_model_is_tried_once(many: Make, judged: Callable, rows: Callable, tmp_path: Path) -> None:
    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(judge(), latency=0.01) as server:
        results = judged(server, challenge_set, ["mqm", "da"], tmp_path / "out", structured="auto", samples=2)
        assert server.counts.calls == 1 + 4 * 6
        assert all(schema_of(call.body) is not None for call in server.calls)
        assert all("|structured:on|" in result.about.signature for result in results)
        assert total(results) == {"ok": 24}
        judged(server, challenge_set, "esa", tmp_path / "out", structured="auto")
        assert server.counts.calls == 1 + 5 * 6
        judged(server, challenge_set, "esa", tmp_path / "out", structured="auto", model="m-2")
        assert server.counts.calls == 2 + 6 * 6
        # What it took is in the account of the judge that asked first.
        assert [result.account.bill.calls for result in results] == [7, 6, 6, 6]
        assert server.counts.max_in_flight > 1


@pytest.mark.parametrize(
    "refusal",
    [
        faults.unsupported("response_format"),
        faults.bad_request(),
        ok("Yes, it is."),
        ok('{"wet": "yes"}'),
        actions.out_of_length("Water is a liquid, and as such"),
    ],
    ids=lambda action: action.name,
)
def test_a_model_that_keeps_to_no_schema(
    refusal: Action, many: Make, judged: Callable, tmp_path: Path
) -> None:
    def answer(call: ReceivedCall) -> Action:
        return refusal if schema_of(call.body) is not None else ok("64")

    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(answer) as server:
        for _ in range(2):
            (result,) = judged(server, challenge_set, "da", tmp_path / "out", structured="auto")
            assert server.counts.calls == 7
            assert result.counts == {"ok": 6}
            assert "|structured:off|" in result.about.signature


@pytest.mark.parametrize(
    ("action", "reason"),
    [(actions.filtered(), "withheld by"), (actions.reasoning_ate_budget(), "budget went into thinking")],
    ids=["filter", "thinking"],
)
def test_a_model_that_cannot_be_tried(
    action: Action, reason: str, many: Make, judged: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(always(action)) as server:
        with pytest.raises(InputError, match=f"no answer to a first short question: .*{reason}") as refused:
            judged(server, challenge_set, "da", tmp_path / "out", structured="auto")
        assert server.counts.calls == 1
        # Enough for a model that thinks.
        assert server.calls[0].body["max_tokens"] == 1024
    assert "--structured on or off" in str(refused.value)


def test_no_schema_no_trial(many: Make, judged: Callable, tmp_path: Path) -> None:
    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer(judge()) as server:
        (result,) = judged(server, challenge_set, "gemba-mqm", tmp_path / "out", structured="auto")
        assert server.counts.calls == 6
        assert "|structured:off|" in result.about.signature
        with pytest.raises(InputError, match="'gemba-mqm' has no schema for structured answers"):
            judged(server, challenge_set, "gemba-mqm", tmp_path / "out", structured="on")
        assert server.counts.calls == 6


def test_structured_answers_are_read_as_json(
    conversation: Make, judged: Callable, rows: Callable, marked: Callable, tmp_path: Path
) -> None:
    error = {"span": "cat", "class": "accuracy/mistranslation", "severity": "major"}

    def answer(call: ReceivedCall) -> Action:
        schema = schema_of(call.body)
        assert schema is not None
        if "score" in schema["properties"]:
            return ok('{"score": 41}')
        if "The cat sleeps." in call.last_user:
            return ok(json.dumps({"errors": [error]}))
        return ok(NONE if "He dreams." in call.last_user else '{"errors": []}')

    challenge_set = conversation()
    with ScriptedServer(answer) as server:
        judged(server, challenge_set, ["mqm", "da"], tmp_path / "out", structured="on")
    found = rows(tmp_path / "out")
    assert [row.raw for (metric, _, _), row in found.items() if metric == "mqm"] == [0.0, 5.0, 0.0, None]
    assert {row.raw for (metric, _, _), row in found.items() if metric == "da"} == {41.0}
    assert [len(line["errors"]) for line in marked(tmp_path / "out")] == [0, 1, 0]


def test_an_endpoint_that_refuses_schemas_ends_a_run_that_wants_them(
    many: Make, judged: Callable, tmp_path: Path
) -> None:
    with ScriptedServer(always(faults.unsupported("response_format"))) as server:
        with pytest.raises(InputError, match="--structured off"):
            judged(server, many(tmp_path / "set", 6), "da", tmp_path / "out", structured="on")
        assert server.counts.calls == 1


# --- Forecasts ------------------------------------------------------------------------------------------


def test_a_dry_run_asks_and_writes_nothing(
    many: Make, judged: Callable, options: Callable, metrics_command: Callable, price_file: Path,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The sum by hand: a token is four letters or three other bytes, and six for every message."""
    many(tmp_path / "set", 6)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "manifest.toml").write_text(
        'name = "mine"\nversion = "1"\ndescription = "d"\nunit = "segment"\nneeds = ["source"]\n'
        'output = "number"\ntypical_tokens = 7\n',
        encoding="utf-8",
    )
    (folder / "user.md").write_text("<s>{{ source }}</s><t>{{ translation }}</t>", encoding="utf-8")
    (folder / "system.md").write_text("A judge of texts", encoding="utf-8")
    wanted = ("--set", tmp_path / "set", "--metrics", f"judge:{folder}", "--out", tmp_path / "out")
    with ScriptedServer(always(ok("5"))) as server:
        common = (*wanted, "--model", "m-1", "--base-url", server.base_url, "--prices", price_file)
        code, out, err = metrics_command("score", *common, "--dry-run", "--json")
        assert (code, err) == (0, "")
        assert server.counts.routes == {}
        assert not (tmp_path / "out").exists()
        # "A judge of texts" is 16 letters; "<s>Satz 0.</s><t>Text 0 is good.</t>" 36, with "bad" 35.
        tokens = 3 * (4 + 6 + 9 + 6) + 3 * (4 + 6 + 9 + 6)
        (metric,) = json.loads(out)["metrics"]
        assert metric["forecast"] == {
            "calls": 6,
            "attempts": 0,
            "input_tokens": tokens,
            "output_tokens": 42,
            "reasoning_tokens": 0,
            "cost": pytest.approx((tokens * 2.0 + 42 * 10.0) / 1e6),
            "unpriced": 0,
            "currency": "EUR",
        }
        _, out, _ = metrics_command("score", *common, "--dry-run")
        assert f"6 calls, about {tokens} tokens in, 42 out (thinking not counted)" in out
        assert "cost about 0.0007 EUR" in out
        code, _, _ = metrics_command("score", *common)
        assert (code, server.counts.calls) == (0, 6)
        before = files(tmp_path / "out")
        code, out, _ = metrics_command("score", *common, "--dry-run", "--json")
        (metric,) = json.loads(out)["metrics"]
        assert (code, metric["forecast"], metric["to_score"]) == (0, None, 0)
        assert files(tmp_path / "out") == before
        (tmp_path / "out" / STORE).unlink()
        _, out, _ = metrics_command("score", *common, "--dry-run")
        assert "0 calls, about 0 tokens in, 0 out" in out
        assert sorted(files(tmp_path / "out")) == sorted(before.keys() - {STORE})
        assert server.counts.calls == 6


def test_a_forecast_counts_every_call_once(
    many: Make, options: Callable, judged: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 6)
    with ScriptedServer() as server:
        judge_options = replace(options(server, tmp_path / "out", samples=2), asks=False)
        names = ["gemba-esa", "mqm"]
        results = plan_set(challenge_set, names, tmp_path / "out", judge=judge_options)
        assert [result.tally.forecast.calls for result in results] == [12, 12, 6, 6]
        assert not (tmp_path / "out").exists()
        first = "Major:\nno-error\nMinor:\nno-error"
        # The second of the two calls fails: it alone is left.
        server._script = lambda call: actions.filtered() if first in call.last_user else ok(first)
        judged(server, challenge_set, "gemba-esa", tmp_path / "out")
        results = plan_set(challenge_set, names, tmp_path / "out", judge=judge_options)
        assert [result.tally.forecast.calls for result in results] == [6, 12, 6, 6]


# --- Costs ----------------------------------------------------------------------------------------------


def test_what_is_printed_is_what_was_paid(
    many: Make, metrics_command: Callable, price_file: Path, tmp_path: Path
) -> None:
    many(tmp_path / "set", 30)

    def answer(call: ReceivedCall) -> Action:
        if call.attempt == 0 and call.number % 3 == 0:
            return faults.server_error()
        schema = schema_of(call.body)
        text = NONE if schema is None else json.dumps(from_schema(schema, random.Random(1)))
        return ok(text, completion_tokens=40, reasoning_tokens=30)

    with ScriptedServer(answer) as server:
        common = (
            "score", "--set", tmp_path / "set", "--metrics", "mqm,da", "--out", tmp_path / "out",
            "--model", "m-1", "--base-url", server.base_url, "--prices", price_file, "--concurrency", "4",
        )  # fmt: skip
        code, out, _ = metrics_command(*common, "--json")
        counts = server.counts
        paid = (counts.prompt_tokens * 2.0 + counts.completion_tokens * 10.0) / 1e6
        bills = [metric["bill"] for metric in json.loads(out)["metrics"]]
        assert code == 0
        assert sum(bill["calls"] for bill in bills) == 61  # one to try for structured answers
        assert sum(bill["attempts"] for bill in bills) == counts.calls
        assert sum(bill["input_tokens"] for bill in bills) == counts.prompt_tokens
        assert sum(bill["output_tokens"] for bill in bills) == counts.completion_tokens
        assert sum(bill["reasoning_tokens"] for bill in bills) == 61 * 30
        assert sum(bill["cost"] for bill in bills) == pytest.approx(paid)
        assert {bill["currency"] for bill in bills} == {"EUR"}
        assert {bill["unpriced"] for bill in bills} == {0}


def test_the_account_as_text(many: Make, metrics_command: Callable, price_file: Path, tmp_path: Path) -> None:
    many(tmp_path / "set", 4)
    with ScriptedServer(always(ok("80", prompt_tokens=1000, completion_tokens=100))) as server:
        common = (
            "score", "--set", tmp_path / "set", "--metrics", "da", "--model", "m-1",
            "--base-url", server.base_url, "--structured", "off",
        )  # fmt: skip
        _, out, _ = metrics_command(*common, "--out", tmp_path / "priced", "--prices", price_file)
        assert "this run: 4 calls in 4 attempts, 4000 tokens in, 400 out, cost 0.0120 EUR" in out
        _, out, _ = metrics_command(*common, "--out", tmp_path / "unpriced")
        assert "4000 tokens in, 400 out, no price known (--prices)" in out
        assert server.counts.calls == 8


def test_the_limit_of_cost_holds_for_all_judges_of_a_run(
    many: Make, metrics_command: Callable, price_file: Path, rows: Callable, tmp_path: Path
) -> None:
    many(tmp_path / "set", 40)
    with ScriptedServer(judge("number")) as server:
        common = (
            "score", "--set", tmp_path / "set", "--metrics", "da", "--out", tmp_path / "out",
            "--model", "m-1", "--base-url", server.base_url, "--prices", price_file, "--samples", "2",
        )  # fmt: skip

        def paid() -> float:
            return (server.counts.prompt_tokens * 2.0 + server.counts.completion_tokens * 10.0) / 1e6

        limit = 0.02
        code, out, _ = metrics_command(*common, "--max-cost", limit)
        first = paid()
        assert code == 3
        assert 0.5 * limit < first <= limit
        statuses = [row.status for row in rows(tmp_path / "out").values()]
        assert statuses.count("ok") + statuses.count("failed") == len(statuses) == 80
        reasons = {row.reason for row in rows(tmp_path / "out").values() if row.status == "failed"}
        assert reasons == {"the cost could have passed the limit of 0.02 EUR"}
        assert "cells have no score" in out
        answered = statuses.count("ok")
        # A rerun goes on where this one stopped, with a limit of its own.
        code, _, _ = metrics_command(*common, "--max-cost", limit)
        assert paid() - first <= limit
        again = [row.status for row in rows(tmp_path / "out").values()]
        assert again.count("ok") > answered
        code, _, _ = metrics_command(*common)
        assert code == 0
        assert set(server.counts.received.values()) == {1, 2}
        assert server.counts.calls == 81


def test_a_limit_needs_a_price(
    many: Make, metrics_command: Callable, price_file: Path, tmp_path: Path
) -> None:
    many(tmp_path / "set", 4)
    with ScriptedServer(judge("number")) as server:
        common = (
            "score", "--set", tmp_path / "set", "--metrics", "da", "--out", tmp_path / "out",
            "--base-url", server.base_url, "--max-cost", "1",
        )  # fmt: skip
        for more in (("--model", "m-1"), ("--model", "other", "--prices", price_file)):
            code, _, err = metrics_command(*common, *more)
            assert code == 2
            assert "a limit of cost needs the price" in err
        assert server.counts.calls == 0
    assert not (tmp_path / "out").exists()


def test_the_log_and_the_store_are_all_that_is_left(many: Make, judged: Callable, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        judged(server, many(tmp_path / "set", 4), "mqm", tmp_path / "out")
    assert set(files(tmp_path / "out")) == {CALLS, STORE, "scores.csv", "scores.json", "errors.jsonl"}


# --- Calls that wait in a batch -------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 2])
def test_a_call_that_waits_in_a_batch_is_not_asked_beside_it(
    step: int, many: Make, judged: Callable, options: Callable, rows: Callable, tmp_path: Path
) -> None:
    challenge_set = many(tmp_path / "set", 6)
    out = tmp_path / "out"
    first = "Major:\nno-error\nMinor:\nno-error"

    def answer(call: ReceivedCall) -> Action:
        return ok("70" if first in call.last_user else first)

    with ScriptedServer(answer) as server:
        if step == 2:
            server._script = lambda call: actions.filtered() if first in call.last_user else ok(first)
            judged(server, challenge_set, "gemba-esa", out)
            server._script = answer
        wait_for(outstanding(challenge_set, options(server, out))[:2], out)
        before = server.counts.calls
        dry = replace(options(server, out), asks=False)
        (planned,) = plan_set(challenge_set, ["gemba-esa"], out, judge=dry)
        (result,) = judged(server, challenge_set, "gemba-esa", out)
        asked = server.counts.calls - before
    assert asked == (8 if step == 1 else 4)
    assert planned.tally.forecast.calls == asked
    assert result.counts == {"failed": 2, "ok": 4}
    reasons = {row.reason for row in rows(out).values() if row.status == "failed"}
    assert reasons == {"the call waits in a batch; fetch it with python -m metrics batch collect"}
    assert len(outstanding(challenge_set, options(server, out))) == 0


def outstanding(challenge_set: ChallengeSet, options: JudgeOptions) -> list[Call]:
    metric = METRICS["gemba-esa"].configured(ModelOptions())(Settings("en", judge=options))
    assert isinstance(metric, Judge)
    requests = [
        Request(text, tested.source, source_lang="de")
        for tested in challenge_set.translations()
        for text in (tested.hypothesis, tested.hypothesis.replace("good", "bad"))
    ]
    calls = list(metric.outstanding(requests))
    metric.close()
    return calls


def wait_for(calls: list[Call], out: Path) -> None:
    log = CallLog(out / CALLS)
    with log.exclusive():
        log._db.executemany(
            "INSERT INTO waiting(key, batch, purpose, subject) VALUES(?, 1, 1, '')",
            [(call.key,) for call in calls],
        )
    log.close()
