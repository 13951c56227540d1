"""How long to wait before something is asked of an endpoint once more."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_WAIT = 0.5
"""Seconds before the second attempt."""
LONGEST_OWN_WAIT = 30.0
"""Seconds that are waited at most, unless the endpoint asks for more."""

_JITTER = random.Random()


def pause(attempt: int, asked: float | None = None) -> float:
    """Seconds between attempt number ``attempt``, from 1, and the next one.

    Twice as long each time; where the endpoint ``asked`` for a number of seconds, those. A random share keeps
    many callers from coming back at one moment.
    """
    if asked is not None:
        return asked + _JITTER.uniform(0.0, 0.25 * FIRST_WAIT)
    longest = min(LONGEST_OWN_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
    return longest * _JITTER.uniform(0.5, 1.0)


def asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that an endpoint asks to wait; ``None`` where it does not, or says it badly.

    ``headers`` of its response, in lower case.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            seconds = float(headers[name]) / unit
            if math.isfinite(seconds):
                return max(0.0, seconds)
    with contextlib.suppress(KeyError, ValueError, OverflowError):
        moment = parsedate_to_datetime(headers["retry-after"])
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return None
