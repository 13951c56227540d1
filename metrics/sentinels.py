"""Sentinels: baselines that know nothing of translation quality. What they 'detect', an edit gave away.

A category that ``length`` alone tells apart says little about a metric that reacts to it, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

from metrics.base import Metric, Need
from metrics.lexical import Chrf
from metrics.registry import METRICS
from metrics.requests import Answer, Request, Settings


class Sentinel(Metric):
    """A baseline, never to be read as a metric."""

    sentinel: ClassVar[bool] = True


@METRICS.register("length")
class Length(Sentinel):
    """Number of characters; the longer text is called the better one."""

    name = "length"
    description = "number of characters of the hypothesis; the direction is arbitrary"

    def parts(self) -> Mapping[str, str]:
        """The unit of length."""
        return {"of": "characters", "version": "1"}

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """Code points, white space included."""
        return [Answer(float(len(request.hypothesis))) for request in requests]


@METRICS.register("random")
class Random(Sentinel):
    """A uniform number drawn from a hash of the hypothesis: noise that every run reproduces."""

    name = "random"
    description = "uniform number from 0 to 1 by a hash of the hypothesis; the same text, the same number"

    def parts(self) -> Mapping[str, str]:
        """The hash."""
        return {"hash": "blake2b", "version": "1"}

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """The first 53 bits of the hash as a fraction, which is what a float holds."""
        return [Answer(_fraction(request.hypothesis)) for request in requests]


def _fraction(text: str) -> float:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, person=b"sentinel")
    return (int.from_bytes(digest.digest(), "big") >> 11) / 2**53


@METRICS.register("source-copy")
class SourceCopy(Sentinel):
    """How much source text was left in place: chrF of the hypothesis against the source."""

    name = "source-copy"
    needs: ClassVar[frozenset[Need]] = frozenset({"source"})
    higher_is_better = False
    description = "chrF2 of the hypothesis against the source: how much source text was left in place"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._chrf = Chrf(settings)

    def parts(self) -> Mapping[str, str]:
        """Those of chrF."""
        return {"against": "source", **self._chrf.parts()}

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        """chrF with the source in the reference's place."""
        return self._chrf.score(
            [Request(request.hypothesis, reference=request.source) for request in requests]
        )

    def view(self, request: Request) -> Hashable:
        """What chrF looks at."""
        return self._chrf.view(request)
