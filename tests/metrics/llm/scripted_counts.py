"""What a scripted server counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scripted_actions import Action, ReceivedCall, body_key


@dataclass(frozen=True, slots=True)
class Counts:
    """What the server saw so far, over calls and lines of batches alike; keys are those of ``body_key``.

    ``received`` and ``answered`` (usable answers that left in full) are in the order of their first one,
    ``actions`` counts the answers chosen, by name, and ``routes`` all requests, by route. ``in_flight`` are
    calls being answered, ``abandoned`` those whose connection ended before their answer was sent. Tokens
    are summed over the usage of all answers that left in full.
    """

    received: dict[str, int]
    answered: dict[str, int]
    actions: dict[str, int]
    routes: dict[str, int]
    in_flight: int
    max_in_flight: int
    abandoned: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def calls(self) -> int:
        """All calls received."""
        return sum(self.received.values())

    def to_json(self) -> dict[str, Any]:
        """All fields, with ``calls`` and ``tokens``."""
        return asdict(self) | {"calls": self.calls, "tokens": self.tokens}


class Tally:
    """The counts as they grow. Only the server's own thread touches it."""

    def __init__(self) -> None:
        self.routes: Counter[str] = Counter()
        self._received: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()
        self._actions: Counter[str] = Counter()
        self._number = self._in_flight = self._max_in_flight = self._abandoned = 0
        self._prompt_tokens = self._completion_tokens = 0

    def receive(self, body: Mapping[str, Any], headers: Mapping[str, str], batch: bool) -> ReceivedCall:
        key = body_key(body)
        call = ReceivedCall(body, headers, key, self._received[key], self._number, batch)
        self._received[key] += 1
        self._number += 1
        return call

    def choose(self, action: Action) -> None:
        self._actions[action.name] += 1

    def begin(self) -> None:
        self._in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._in_flight)

    def end(self, *, abandoned: bool = False) -> None:
        self._in_flight -= 1
        self._abandoned += abandoned

    def charge(self, action: Action, call: ReceivedCall, content: bytes) -> None:
        """An answer left in full."""
        if action.usable:
            self._answered[call.key] += 1
        if action.status == 200 and b'"usage"' in content:
            try:
                usage = json.loads(content).get("usage") or {}
            except ValueError:
                return
            self._prompt_tokens += usage.get("prompt_tokens") or 0
            self._completion_tokens += usage.get("completion_tokens") or 0

    def snapshot(self) -> Counts:
        return Counts(
            dict(self._received),
            dict(self._answered),
            dict(self._actions),
            dict(self.routes),
            self._in_flight,
            self._max_in_flight,
            self._abandoned,
            self._prompt_tokens,
            self._completion_tokens,
        )
