"""Money: a limit is never passed by what the endpoint charges, and every call says what it took."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import scripted_faults as faults
from asking import SHORT_WAIT, ask_all, ask_one, call_of, calls_of, journal_of, options_for
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scripted_actions import Action, ReceivedCall, empty_content, no_usage, ok, out_of_length
from scripted_scripts import always, in_turn
from scripted_server import ScriptedServer

from challenge_sets import InputError
from metrics.llm import waits
from metrics.llm.budget import Budget
from metrics.llm.calls import Usage
from metrics.llm.log import CallLog
from metrics.llm.prices import Bill, Price, highest_usage

PRICES = '[models."m-1"]\ninput = 2.0\noutput = 10.0\ncached_input = 0.5\n'


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "FIRST_WAIT", SHORT_WAIT)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES, encoding="utf-8")
    return path


def bill_of(path: Path, **wanted: Any) -> Bill:
    log = CallLog(path, read_only=True)
    try:
        return log.bill("p", **wanted)
    finally:
        log.close()


COUNTER = itertools.count()


@settings(
    max_examples=25,
    deadline=None,
    # Replies come in no fixed order: a smaller example need not fail as well.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    price=st.builds(
        Price,
        st.floats(0.0, 10.0),
        st.floats(0.01, 50.0),
        st.none() | st.floats(0.0, 20.0),
    ),
    share=st.floats(0.02, 1.2),
    seed=st.integers(0, 1000),
)
def test_no_limit_is_passed_by_what_the_endpoint_charges(
    price: Price, share: float, seed: int, tmp_path: Path
) -> None:
    run = tmp_path / str(next(COUNTER))
    run.mkdir()
    fields = {"input": price.input, "output": price.output, "cached_input": price.cached_input}
    lines = [f"{name} = {value!r}" for name, value in fields.items() if value is not None]
    (run / "prices.toml").write_text("\n".join(['[models."m-1"]', *lines]), encoding="utf-8")
    charged = 0.0

    def script(call: ReceivedCall) -> Action:
        nonlocal charged
        drawn = Random(f"{seed} {call.key} {call.attempt}")
        if call.number and drawn.random() < 0.1:
            return faults.server_error()
        most = highest_usage(call_of(options, call.last_user))
        spent = Usage(drawn.randint(0, most.input or 0), drawn.randint(0, most.output or 0))
        spent = replace(spent, cached=drawn.randint(0, spent.input or 0))
        charged += price.cost(spent) or 0.0
        tokens = {
            "prompt_tokens": spent.input,
            "completion_tokens": spent.output,
            "cached_tokens": spent.cached,
        }
        kind = drawn.random()
        if call.number and kind < 0.1:
            # Charged all the same, and the client cannot know how much.
            return drawn.choice([no_usage(), faults.cut_body(), faults.reset(), faults.bad_json()])
        if kind < 0.2:
            return ok("", **tokens)
        return ok("85", finish_reason=drawn.choice(["stop", "length"]), **tokens)

    with ScriptedServer(script, latency=0.001) as server:
        plain = options_for(server.base_url)
        highest = price.highest(highest_usage(call_of(plain, "```10```")))
        limit = 40 * highest * share
        options = replace(plain, concurrency=8, prices=run / "prices.toml", max_cost=limit)
        replies = ask_all(options, run / "log", calls_of(options, 60))
        calls = server.counts.calls
    assert charged <= limit * (1 + 1e-9)
    assert len(replies) == 60
    stopped = [reply for _, reply in replies if "could have passed the limit" in reply.reason]
    assert all(reply.status == "failed" for reply in stopped)
    never = [reply for reply in stopped if not reply.attempts]
    assert all(reply.usage == Usage() for reply in never)
    # What was never asked is no line of the log.
    lines_written = journal_of(run / "log")
    assert len(lines_written) == 60 - len(never)
    assert sum(line["attempts"] for line in lines_written) == calls
    if stopped:
        # It was used as far as it goes without a risk: eight calls may have been on their way at once.
        client_knew = bill_of(run / "log")
        assert client_knew.cost <= charged * (1 + 1e-9)


def test_a_limit_is_used_up(tmp_path: Path, prices: Path) -> None:
    with ScriptedServer(always(ok("85", prompt_tokens=10, completion_tokens=64))) as server:
        options = options_for(server.base_url, prices=prices, concurrency=8)
        each = (10 * 2.0 + 64 * 10.0) / 1e6
        highest = Budget(options).highest(call_of(options, "```10```"))
        assert each < highest < 1.2 * each
        limited = replace(options, max_cost=20 * each)
        replies = ask_all(limited, tmp_path / "log", calls_of(options, 50))
        asked = sum(reply.status == "ok" for _, reply in replies)
        assert asked == server.counts.calls == 19
        assert bill_of(tmp_path / "log").cost == pytest.approx(19 * each)
        # Another day, with another limit: what was answered costs nothing.
        replies = ask_all(limited, tmp_path / "log", calls_of(options, 50))
        assert sum(reply.status == "ok" for _, reply in replies) == 38


def test_a_limit_below_one_call_asks_nothing(tmp_path: Path, prices: Path) -> None:
    with ScriptedServer(always(ok("85"))) as server:
        options = options_for(server.base_url, prices=prices, max_cost=1e-7)
        replies = ask_all(options, tmp_path / "log", calls_of(options, 20))
        assert server.counts.calls == 0
    reasons = {reply.reason for _, reply in replies}
    assert reasons == {"the cost could have passed the limit of 1e-07 USD"}
    assert journal_of(tmp_path / "log") == []


def test_retries_stop_at_the_limit_and_say_so(tmp_path: Path, prices: Path) -> None:
    lost = in_turn([faults.reset(), ok("85")])
    with ScriptedServer(lost) as server:
        options = options_for(server.base_url, prices=prices)
        highest = Budget(options).highest(call_of(options))
        reply = ask_one(replace(options, max_cost=1.5 * highest), tmp_path / "log")
        assert server.counts.calls == 1
    assert reply.status == "failed"
    limit = f"{1.5 * highest:g}"
    assert reply.reason == (
        f"the connection failed: ReadError; the cost could have passed the limit of {limit} USD"
    )


@pytest.mark.parametrize("text", [None, '[models."m-2"]\ninput = 1\noutput = 1\n'])
def test_a_limit_without_a_price_is_refused_before_anything_is_asked(
    text: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with ScriptedServer(always(ok("85"))) as server:
        options = options_for(server.base_url, max_cost=1.0, prices=path if text else None)
        with pytest.raises(InputError, match="a limit of cost needs the price of 'm-1'") as refused:
            ask_one(options, tmp_path / "log")
        assert server.counts.calls == 0
    assert '[models."m-1"]' in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("actions", "usage", "cost"),
    [
        # 7 of 10 input tokens at 2, 3 at 0.5, 20 output tokens at 10 for a million.
        (
            [ok("85", prompt_tokens=10, completion_tokens=20, cached_tokens=3)],
            Usage(10, 20, 0, 3),
            215.5e-6,
        ),
        (
            [out_of_length("8"), ok("85", prompt_tokens=10, completion_tokens=20)],
            Usage(4, 1, 0, 0),
            18e-6,
        ),
        (
            [empty_content(), ok("85", prompt_tokens=10, completion_tokens=20)],
            Usage(14, 21, 0, 0),
            238e-6,
        ),
        ([faults.server_error(), ok("85", prompt_tokens=10, completion_tokens=20)], None, 220e-6),
        ([faults.reset(), ok("85", prompt_tokens=10, completion_tokens=20)], None, 220e-6),
        ([faults.bad_request()], Usage(), 0.0),
        ([no_usage()], Usage(), None),
        ([ok("", usage=None), ok("85")], Usage(4, 1, 0, 0), None),
        ([ok("85", usage={"prompt_tokens": 10})], Usage(10), None),
    ],
)
def test_the_cost_of_a_call(
    actions: list[Action], usage: Usage | None, cost: float | None, tmp_path: Path, prices: Path
) -> None:
    with ScriptedServer(in_turn(actions)) as server:
        reply = ask_one(options_for(server.base_url, prices=prices), tmp_path / "log")
    assert usage is None or reply.usage == usage
    assert reply.cost == (None if cost is None else pytest.approx(cost))
    bill = bill_of(tmp_path / "log")
    assert bill == Bill(
        1,
        reply.attempts,
        reply.usage.input or 0,
        reply.usage.output or 0,
        reply.usage.reasoning or 0,
        reply.cost or 0.0,
        int(reply.cost is None),
    )
    assert bill_of(tmp_path / "log", only_this_run=True) == bill


def test_without_a_price_tokens_only(tmp_path: Path, prices: Path) -> None:
    with ScriptedServer(always(ok("85"))) as server:
        ask_one(options_for(server.base_url), tmp_path / "log")
        ask_one(options_for(server.base_url, model="m-2", prices=prices), tmp_path / "log")
    bill = bill_of(tmp_path / "log")
    assert (bill.calls, bill.input_tokens, bill.output_tokens, bill.cost, bill.unpriced) == (2, 8, 2, 0.0, 2)
    assert bill.to_json()["cost"] is None


def test_what_is_under_way_is_counted_at_its_most() -> None:
    options = options_for("http://127.0.0.1:9/v1")
    budget = Budget(options)
    budget.price, budget.limit = Price(1.0, 1.0), 1.0
    call = call_of(options, "x" * 1000)
    most = budget.highest(call)
    budget.limit = 2.5 * most
    first, second = budget.reserve(call), budget.reserve(call)
    assert not budget.admits(call) and not budget.idle
    budget.settle(first, Usage(1, 1), uncounted=False)
    assert budget.admits(call) and budget.spent == 2e-6
    budget.settle(second, Usage(), uncounted=True)
    assert budget.idle and budget.spent == pytest.approx(most + 2e-6)
    budget.settle(budget.reserve(call), Usage(), uncounted=False)
    assert budget.spent == pytest.approx(most + 2e-6)


@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_a_budget_is_idle_again_whatever_was_reserved(prices: list[float], drawn: Any) -> None:
    options = options_for("http://127.0.0.1:9/v1")
    budget = Budget(options)
    call = call_of(options)
    reserved = []
    for price in prices:
        budget.price = Price(price, price)
        reserved.append(budget.reserve(call))
    drawn.shuffle(reserved)
    for amount in reserved:
        assert not budget.idle
        budget.settle(amount, Usage(), uncounted=False)
    assert budget.idle
    budget.limit = budget.highest(call)
    assert budget.admits(call)
