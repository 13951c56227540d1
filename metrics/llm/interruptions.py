"""Ctrl-C, taken note of at once and acted on between two steps, never in the middle of writing an answer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType


class Interruptions:
    """Counts interruptions between ``begin`` and ``end``; both may be nested.

    Where it is not Python's own handler that would meet them (or this is not the main thread), everything
    stays as it is. ``deferring`` says whether whoever calls ``check`` will soon do so: while it does not,
    the second interruption breaks in at once.
    """

    def __init__(self, deferring: Callable[[], bool]) -> None:
        self.heard = 0
        self._deferring = deferring
        self._depth = 0
        self._minding = False

    def begin(self) -> None:
        """Take note from now on."""
        self._depth += 1
        if self._depth == 1:
            self.heard = 0
            self._minding = (
                threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler
            )
            if self._minding:
                signal.signal(signal.SIGINT, self._hear)

    def end(self) -> None:
        """Let Python's own handler have them again. What was heard stays until ``begin``."""
        self._depth = max(0, self._depth - 1)
        if self._minding and not self._depth:
            self._minding = False
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self) -> None:
        """``KeyboardInterrupt`` where there was one."""
        if self.heard:
            raise KeyboardInterrupt

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard += 1
        if self.heard > 1 and not self._deferring():
            raise KeyboardInterrupt
