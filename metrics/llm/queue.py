"""The order in which calls are asked, each question once however many ask it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from metrics.llm.calls import Call


class CallQueue:
    """Calls still to be asked: the stream, those that follow from replies, those another process asks.

    ``deferred`` are the last of these. A call that asks what is being asked is held until the answer is
    there; ``held`` counts those.
    """

    def __init__(self, calls: Iterable[Call]) -> None:
        self._calls = iter(calls)
        self._urgent: deque[Call] = deque()
        self._under_way: dict[bytes, list[Call]] = {}
        self._ended = False
        self.deferred: list[Call] = []
        self.held = 0

    def next(self) -> Call | None:
        """The next call; ``None`` where there is none at present."""
        if self._urgent:
            return self._urgent.popleft()
        call = None if self._ended else next(self._calls, None)
        self._ended = call is None
        return call

    def push(self, calls: Iterable[Call]) -> None:
        """Calls that go before the stream."""
        self._urgent.extend(calls)

    def hold(self, call: Call) -> bool:
        """Whether the same is under way, so that the call waits for that answer; else it is now."""
        same = self._under_way.get(call.key)
        if same is None:
            self._under_way[call.key] = []
            return False
        same.append(call)
        self.held += 1
        return True

    def settle(self, call: Call) -> list[Call]:
        """A call is no longer under way; gives the calls that waited for the same answer."""
        same = self._under_way.pop(call.key)
        self.held -= len(same)
        return same

    def retry_deferred(self) -> None:
        """Look again at the calls that another process was asking."""
        self._urgent.extend(self.deferred)
        self.deferred = []

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left but what was deferred."""
        return self._ended and not self._urgent
