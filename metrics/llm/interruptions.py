"""Ctrl-C and SIGTERM, noted at once and acted on between two steps, never while an answer is written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_USUAL: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}


class Interruptions:
    """Counts interruptions between ``begin`` and ``end``; both may be nested.

    A signal that somebody else handles, and every signal outside the main thread, stays as it is.
    ``deferring`` says whether whoever calls ``check`` will soon do so: while it does not, the second
    interruption breaks in at once.
    """

    def __init__(self, deferring: Callable[[], bool]) -> None:
        self.heard = 0
        self._deferring = deferring
        self._depth = 0
        self._minded: list[signal.Signals] = []

    def begin(self) -> None:
        """Take note from now on."""
        self._depth += 1
        if self._depth == 1:
            self.heard = 0
            if threading.current_thread() is threading.main_thread():
                self._minded = [each for each, usual in _USUAL.items() if signal.getsignal(each) is usual]
            for each in self._minded:
                signal.signal(each, self._hear)

    def end(self) -> None:
        """Let the usual handlers have them again. What was heard stays until ``begin``."""
        self._depth = max(0, self._depth - 1)
        if not self._depth:
            for each in self._minded:
                signal.signal(each, _USUAL[each])
            self._minded = []

    def check(self) -> None:
        """``KeyboardInterrupt`` where there was one."""
        if self.heard:
            raise KeyboardInterrupt

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard += 1
        if self.heard > 1 and not self._deferring():
            raise KeyboardInterrupt
