"""The scores that belong to a set: opened, checked against it, and streamed per pair."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from challenge_sets import ChallengeSet, InputError, Score
from challenge_sets.console import progress
from metrics.base import MetricAbout
from metrics.tables import SCORES, read_about, read_scores


class PairScores:
    """A scores directory opened for one set.

    Raises ``InputError`` where a file is missing or malformed, a metric stands twice under one
    signature, or the scores were made from another state of the set.
    """

    def __init__(self, directory: str | Path, challenge_set: ChallengeSet) -> None:
        self.directory = Path(directory)
        about = read_about(self.directory)
        if about.fingerprint != challenge_set.fingerprint:
            raise InputError(
                f"these scores were not made from the set as it stands in {challenge_set.directory}",
                path=self.directory,
                hint=f"score it again: python -m metrics score --set {challenge_set.directory} "
                f"--metrics … --out {self.directory}",
            )
        self.metrics: tuple[MetricAbout, ...] = tuple(entry.about for entry in about.metrics)
        self._rows = sum(sum(entry.counts.values()) for entry in about.metrics)
        if not self.metrics:
            raise InputError("no metric was scored", path=self.directory)
        self._index: dict[tuple[str, str], int] = {}
        for place, metric in enumerate(self.metrics):
            if self._index.setdefault((metric.name, metric.signature), place) != place:
                raise InputError(
                    f"{metric.name} stands twice under the signature {metric.signature}", path=self.directory
                )

    @property
    def table(self) -> Path:
        """The file of scores, for messages."""
        return self.directory / SCORES

    def rows(self) -> Iterator[tuple[int, Score]]:
        """Yield (place of the metric in ``metrics``, score) for every score of a pair's side, in file order.

        Scores of anything else are passed over. ``InputError`` for a value that is not finite and for
        a metric or a signature that the table's description does not name.
        """
        for score in progress(read_scores(self.directory), what="scores", total=self._rows):
            if not (score.pair and score.side):
                continue
            place = self._index.get((score.metric, score.signature))
            if place is None:
                raise InputError(
                    f"{score.metric} under the signature {score.signature} is not among the scored metrics",
                    path=self.table,
                )
            if score.value is not None and not math.isfinite(score.value):
                raise InputError(
                    f"the {score.metric} score of {score.pair!r} is {score.value}, not a finite number",
                    path=self.table,
                )
            yield place, score
