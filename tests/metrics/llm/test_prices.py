"""Prices: the user's table, costs by hand, and what is estimated beforehand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import call_of, calls_of, options_for
from hypothesis import given
from hypothesis import strategies as st

from challenge_sets import InputError
from metrics.llm.calls import Usage
from metrics.llm.prices import (
    Bill,
    Price,
    Prices,
    estimated_input,
    estimated_tokens,
    forecast,
    highest_usage,
)

TABLE = """
currency = "EUR"

[models."gpt-5-mini"]
input = 0.25
output = 2
cached_input = 0.025
batch = 0.5

[models."local/model"]
input = 0
output = 0
"""
PRICE = Price(0.25, 2.0, 0.025, 0.5)
OPTIONS = options_for("http://127.0.0.1:9/v1")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_of_prices(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(mark + TABLE, encoding="utf-8")
    prices = Prices.read(path)
    assert prices.currency == "EUR"
    assert prices.of("gpt-5-mini") == PRICE
    assert prices.of("local/model") == Price(0.0, 0.0)
    assert prices.of("gpt-5") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models = x y", ["no table of prices", "line 1"]),
        ("", ["no prices"]),
        ('currency = "USD"', ["no prices"]),
        ("models = 3", ["no prices"]),
        ("[models]", ["no prices"]),
        ('currency = 3\n[models."m"]\ninput = 1\noutput = 1', ["no prices"]),
        ("[models]\nm = 3", ["models.m is no table"]),
        ('[models."m"]\ninput = 1', ["models.m has no 'output'"]),
        ('[models."m"]\noutput = 1', ["models.m has no 'input'"]),
        ('[models."m"]\ninput = -1\noutput = 1', ["models.m: input = -1"]),
        ('[models."m"]\ninput = nan\noutput = 1', ["models.m: input = nan"]),
        ('[models."m"]\ninput = inf\noutput = 1', ["models.m: input = inf"]),
        ('[models."m"]\ninput = "1"\noutput = 1', ["models.m: input = '1'"]),
        ('[models."m"]\ninput = true\noutput = 1', ["models.m: input = True"]),
        ('[models."m"]\ninput = 1\noutput = 1\nimages = 2', ["models.m: images = 2", "cached_input, batch"]),
        ("[models.gpt-4.1]\ninput = 1\noutput = 1", ["models.gpt-4.1", '[models."gpt-4.1"]', "quotation"]),
        ("\udcff", ["no table of prices"]),
    ],
)
def test_a_table_that_is_none(text: str, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as refused:
        Prices.read(path)
    assert refused.value.path == path
    assert str(refused.value).startswith(str(path))
    assert all(word in str(refused.value) for word in words)


def test_a_table_that_is_absent(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no table of prices: .*No such file"):
        Prices.read(tmp_path / "prices.toml")


@pytest.mark.parametrize(
    ("usage", "batch", "cost"),
    [
        # 600 x 0.25 + 400 x 0.025 + 200 x 2, for a million.
        (Usage(1000, 200, 150, 400), False, 560e-6),
        (Usage(1000, 200, 150, 400), True, 280e-6),
        (Usage(1000, 200), False, 650e-6),
        (Usage(0, 0), False, 0.0),
        # More from the cache than there was: all of it, and no more.
        (Usage(1000, 0, None, 5000), False, 25e-6),
        (Usage(1000, None), False, None),
        (Usage(None, 200), False, None),
        (Usage(), True, None),
    ],
)
def test_a_cost_by_hand(usage: Usage, batch: bool, cost: float | None) -> None:
    assert PRICE.cost(usage, batch=batch) == (None if cost is None else pytest.approx(cost))


def test_without_a_price_for_the_cache_its_tokens_cost_as_all_others() -> None:
    assert Price(1.0, 0.0).cost(Usage(1000, 0, None, 400)) == pytest.approx(1e-3)


@given(
    st.builds(Price, st.floats(0, 10), st.floats(0, 10), st.none() | st.floats(0, 20)),
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(0, 2000),
)
def test_the_highest_cost_is_the_highest(price: Price, asked: int, said: int, cached: int) -> None:
    most = price.highest(Usage(1000, 1000))
    assert (price.cost(Usage(asked, said, None, cached)) or 0.0) <= most * (1 + 1e-12)


# The numbers of tokens with the vocabularies of GPT-4 and of GPT-4o, as OpenAI gave them with the latter.
GREETINGS = {
    "en": ("Hello, my name is GPT-4o. I'm a new type of language model, it's nice to meet you!", 27, 24),
    "de": (
        "Hallo, mein Name is GPT-4o. Ich bin ein neues Sprachmodell und es ist schön, Sie zu treffen",
        34,
        29,
    ),
    "ko": (
        "안녕하세요, 제 이름은 GPT-4o입니다. 저는 새로운 유형의 언어 모델입니다, 만나서 반갑습니다!",
        45,
        27,
    ),
    "zh": ("你好，我的名字是GPT-4o。我是一种新型的语言模型，很高兴见到你!", 34, 24),
    "ja": ("こんにちわ、私の名前はGPT−4oです。私は新しいタイプの言語モデルです、初めまして", 37, 26),
}


@pytest.mark.parametrize("language", GREETINGS)
def test_estimates_are_near_what_models_count(language: str) -> None:
    text, older, newer = GREETINGS[language]
    for count in (older, newer):
        assert 0.64 * count <= estimated_tokens(text) <= 1.36 * count


@given(st.text())
def test_an_estimate_is_below_the_highest_count(text: str) -> None:
    call = call_of(OPTIONS, messages=({"role": "system", "content": text}, {"role": "user", "content": "x"}))
    most = highest_usage(call)
    assert 0 < estimated_input(call) <= (most.input or 0)
    assert (most.input or 0) > len(text.encode())
    assert most.output == 64


def test_a_schema_is_part_of_the_highest_count() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    plain, bound = (
        highest_usage(call_of(OPTIONS)).input,
        highest_usage(call_of(OPTIONS, schema=schema)).input,
    )
    assert (bound or 0) - (plain or 0) >= len(json.dumps(schema, separators=(",", ":")))


def test_a_forecast() -> None:
    calls = list(calls_of(OPTIONS, 10))
    tokens = sum(map(estimated_input, calls))
    bill = forecast(calls, 20, PRICE, "EUR")
    assert bill == Bill(10, 0, tokens, 200, 0, pytest.approx((tokens * 0.25 + 400) / 1e6), 0, "EUR")
    assert bill.to_json()["cost"] == bill.cost
    # No answer is longer than its budget.
    assert forecast(calls, 1000, None, "").output_tokens == 640
    unpriced = forecast(calls, 20, None, "")
    assert (unpriced.input_tokens, unpriced.cost, unpriced.unpriced) == (tokens, 0.0, 10)
    assert unpriced.to_json()["cost"] is None
    assert forecast([], 20, None, "").to_json() == Bill().to_json() | {"cost": 0.0}


def test_bills_add_up() -> None:
    one, other = Bill(1, 2, 3, 4, 5, 0.5, 1, "USD"), Bill(10, 20, 30, 40, 50, 0.25, 0)
    assert one + other == Bill(11, 22, 33, 44, 55, 0.75, 1, "USD")
    assert other + one == Bill(11, 22, 33, 44, 55, 0.75, 1, "USD")
    assert Usage(1, None, 3) + Usage(2, 5, None) == Usage(3, 5, 3, None)
