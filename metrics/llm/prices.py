"""What calls cost: the user's table of prices, estimates beforehand, and the sum of what was spent."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from challenge_sets import InputError
from challenge_sets.files import dump_json
from metrics.llm.calls import Call, Usage

_FIELDS = ("input", "output", "cached_input", "batch")
_MILLION = 1_000_000
# Roles, separators and the frame of a schema: what a message holds besides its text.
_TOKENS_A_MESSAGE = 6


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of one model for a million tokens; ``batch`` is the factor for calls of a batch."""

    input: float
    output: float
    cached_input: float | None = None
    batch: float = 1.0

    def cost(self, usage: Usage, *, batch: bool = False) -> float | None:
        """What this usage costs; ``None`` where the endpoint did not count. Thinking is paid as output."""
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        cheap = self.input if self.cached_input is None else self.cached_input
        tokens = (usage.input - cached) * self.input + cached * cheap + usage.output * self.output
        return tokens / _MILLION * (self.batch if batch else 1.0)

    def highest(self, usage: Usage) -> float:
        """The most that a call of this size can cost, whether its input is read from the cache or not."""
        return max(self.cost(usage) or 0.0, self.cost(replace(usage, cached=usage.input)) or 0.0)


@dataclass(frozen=True, slots=True)
class Prices:
    """The table: model, as the endpoint is asked for it, to price."""

    models: Mapping[str, Price]
    currency: str = "USD"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML file; ``InputError`` with the file and the field that is wrong.

        ``currency = "USD"`` and one table a model: ``[models."NAME"]`` with ``input`` and ``output``, prices
        of a million tokens, and, where they apply, ``cached_input`` and ``batch`` (a factor such as 0.5).
        """
        path = Path(path)
        try:
            value = tomllib.loads(path.read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"no table of prices: {error}", path=path) from error
        currency = value.get("currency", "USD")
        models = value.get("models")
        if not isinstance(models, dict) or not models or not isinstance(currency, str):
            raise InputError(
                "no prices: the file has no table of models",
                path=path,
                hint='such as [models."gpt-5-mini"] with input = 0.25 and output = 2.0, for a million tokens',
            )
        return cls({name: _price(name, entry, path) for name, entry in models.items()}, currency)

    def of(self, model: str) -> Price | None:
        """The price of a model, if the table holds it."""
        return self.models.get(model)


def _price(name: str, entry: Any, path: Path) -> Price:
    if not isinstance(entry, dict):
        raise InputError(
            f"models.{name} is no table", path=path, hint=f'write [models."{name}"], with quotation marks'
        )
    for field, value in entry.items():
        if isinstance(value, dict):
            raise InputError(
                f"models.{name}.{field}: the name of the model falls apart at a dot",
                path=path,
                hint=f'write [models."{name}.{field}"], with quotation marks',
            )
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
        if field not in _FIELDS or not good:
            raise InputError(
                f"models.{name}: {field} = {value!r}",
                path=path,
                hint=f"the fields are {', '.join(_FIELDS)}, each a number from 0",
            )
    missing = [field for field in ("input", "output") if field not in entry]
    if missing:
        raise InputError(f"models.{name} has no '{missing[0]}'", path=path)
    return Price(**{field: float(value) for field, value in entry.items()})


@dataclass(frozen=True, slots=True)
class Bill:
    """Calls with what they take: tokens as the endpoint counted them, or as they were estimated beforehand.

    ``attempts`` counts requests that were sent, ``unpriced`` the calls whose cost is not known. ``cost`` is
    the sum of the known ones, in ``currency``.
    """

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    currency: str = ""

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.calls + other.calls,
            self.attempts + other.attempts,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.currency or other.currency,
        )

    def to_json(self) -> dict[str, Any]:
        """All fields; ``cost`` is null where no call has a known one."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"cost": self.cost if self.unpriced < self.calls or not self.calls else None}


# The texts of examples come again in every call.
@lru_cache(maxsize=256)
def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: one for four bytes, whatever the language.

    The vocabularies of models differ: against two of them this is right within some 35 percent for European
    languages in the Latin script, Chinese, Japanese and Korean.
    """
    return math.ceil(len(text.encode("utf-8", "replace")) / 4)


def estimated_input(call: Call) -> int:
    """About how many tokens the messages of a call have."""
    return sum(estimated_tokens(each["content"]) + _TOKENS_A_MESSAGE for each in call.messages)


def highest_usage(call: Call) -> Usage:
    """More than a call can use up: no token is shorter than a byte, and no answer longer than its budget."""
    size = sum(len(each["content"].encode("utf-8", "replace")) + 16 for each in call.messages)
    return Usage(size + (0 if call.schema is None else len(dump_json(call.schema))), call.budget)


def forecast(
    calls: Iterable[Call], answer_tokens: int, price: Price | None, currency: str, *, batch: bool = False
) -> Bill:
    """What calls would take, with answers of ``answer_tokens`` each; an estimate, nothing is sent."""
    bill = Bill(currency=currency)
    for call in calls:
        usage = Usage(estimated_input(call), min(answer_tokens, call.budget or answer_tokens))
        cost = None if price is None else price.cost(usage, batch=batch)
        bill += Bill(
            1, 0, usage.input or 0, usage.output or 0, 0, cost or 0.0, 1 if cost is None else 0, currency
        )
    return bill
