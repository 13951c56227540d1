"""How long a segment takes: from one start to the next of the same login, pauses left out."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from challenge_sets.annotations import Annotation

PAUSE = 120.0
"""Seconds without a new start above which the annotator was away (Kim et al. 2026)."""
ALL_ANNOTATORS = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """One turn to a segment, with the seconds to the login's next start; ``None`` for its last one."""

    annotator: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """Seconds per segment of one annotator (or of ``ALL_ANNOTATORS``): ``None`` where no gap was left.

    ``used`` gaps count, ``pauses`` were longer than ``pause`` seconds, ``last`` visits had no next start.
    """

    condition: str
    annotator: str
    used: int
    pauses: int
    last: int
    median: float | None
    mean: float | None
    pause: float


def visits(saves: Iterable[Annotation]) -> list[Visit]:
    """The turns to real segments in one campaign's saves.

    Appraise writes start and end at once on up to half of the rows, so that the time is better taken from one
    start to the next of the same login, whatever the next item is. Saving again with the start unchanged is
    the same visit; coming back later is another.
    """
    by_login: dict[str, dict[tuple[str, int, str, float], Annotation]] = defaultdict(dict)
    for save in saves:
        key = (save.system, save.item, save.document_id, save.start_time)
        by_login[save.login].setdefault(key, save)
    found = []
    for login in sorted(by_login):
        ordered = sorted(by_login[login].values(), key=lambda save: (save.start_time, save.end_time))
        following: list[Annotation | None] = [*ordered[1:], None]
        found += [
            Visit(save.annotator, None if after is None else after.start_time - save.start_time)
            for save, after in zip(ordered, following, strict=True)
            if save.kind == "real"
        ]
    return found


def times_spent(condition: str, found: Sequence[Visit], *, pause: float = PAUSE) -> list[TimeSpent]:
    """Median and mean seconds for all annotators together, then for each by name."""
    by_annotator: dict[str, list[Visit]] = defaultdict(list)
    for visit in found:
        by_annotator[visit.annotator].append(visit)
    return [
        _time_spent(condition, ALL_ANNOTATORS, found, pause),
        *(_time_spent(condition, name, by_annotator[name], pause) for name in sorted(by_annotator)),
    ]


def _time_spent(condition: str, annotator: str, found: Sequence[Visit], pause: float) -> TimeSpent:
    gaps = [visit.seconds for visit in found if visit.seconds is not None]
    used = [gap for gap in gaps if gap <= pause]
    return TimeSpent(
        condition=condition,
        annotator=annotator,
        used=len(used),
        pauses=len(gaps) - len(used),
        last=len(found) - len(gaps),
        median=statistics.median(used) if used else None,
        mean=statistics.fmean(used) if used else None,
        pause=pause,
    )
