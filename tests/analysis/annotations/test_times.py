from __future__ import annotations

import csv
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from analysis.annotations.times import times_spent, visits
from challenge_sets.annotations import Annotation
from challenge_sets.esa import Campaign

Make = Callable[..., Annotation]


def test_from_one_start_to_the_next(annotation: Make) -> None:
    saves = [
        annotation(0, start_time=0.0, end_time=0.0),
        # Saved again within the same visit: no start of its own.
        annotation(0, start_time=0.0, end_time=9.0),
        annotation(1, start_time=10.0, end_time=10.0),
        # Not a real segment: its start ends the visit before, its own time is not counted.
        annotation(2, start_time=30.0, end_time=30.0, kind="attention check", document_id="d#bad"),
        annotation(3, start_time=31.0, end_time=31.0),
        # Away for 120 seconds is still work, for longer a pause.
        annotation(4, start_time=151.0, end_time=151.0),
        annotation(5, start_time=272.0, end_time=272.0),
        annotation(6, start_time=5.0, end_time=5.0, login="l2"),
        # Back at a segment: another visit.
        annotation(0, start_time=280.0, end_time=280.0),
    ]
    everyone, first, second = times_spent("c", visits(saves[::-1]))
    assert (first.annotator, first.used, first.pauses, first.last) == ("l1", 4, 1, 1)
    assert first.mean == statistics.fmean([10.0, 20.0, 120.0, 8.0])
    assert first.median == 15.0
    assert (second.used, second.last, second.median, second.mean) == (0, 1, None, None)
    assert (everyone.used, everyone.pauses, everyone.last, everyone.median) == (4, 1, 2, 15.0)
    assert times_spent("c", visits(saves), pause=5.0)[0].median is None
    assert times_spent("c", [])[0].mean is None


def test_logins_of_one_annotator_are_timed_apart(annotation: Make) -> None:
    saves = [
        annotation(0, login="l1", annotator="p", start_time=0.0),
        annotation(1, login="l1", annotator="p", start_time=20.0, end_time=20.0),
        annotation(2, login="l2", annotator="p", start_time=10.0, end_time=10.0),
        annotation(3, login="l2", annotator="p", start_time=40.0, end_time=40.0),
    ]
    everyone, person = times_spent("c", visits(saves))
    assert (person.annotator, person.used, person.last, person.mean) == ("p", 2, 2, 25.0)
    assert everyone.mean == 25.0


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "used", "pauses", "median", "mean"),
    [
        ("ESA-1", "esa_wmt23_ende/240315rc5ESA.scores.csv", 2327, 336, 24.1, 32.8),
        ("ESA-2", "esa_wmt23_ende/240520rc6ESA.scores.csv", 2103, 566, 29.2, 38.0),
        ("MQM-1", "esa_wmt23_ende/240315rc5MQM.scores.csv", 2257, 409, 29.0, 37.0),
        ("WMT24", "wmt24_en-ja/esa_generalMT2024_wave3.en-ja.csv", 3987, 350, 14.5, 24.8),
    ],
)
def test_published_times(
    campaigns: Mapping[str, Campaign],
    data: Path,
    name: str,
    file: str,
    used: int,
    pauses: int,
    median: float,
    mean: float,
) -> None:
    spent = times_spent(name, visits(campaigns[name].saves))[0]
    starts = defaultdict(set)
    with (data / file).open(encoding="utf-8", newline="") as stream:
        for row in csv.reader(stream):
            real = row[3] == "TGT" and not re.search(r"tutorial|#dup|#incomplete", row[7])
            starts[row[0]].add((float(row[10]), row[1], row[2], row[7], real))
    gaps = []
    for login in starts.values():
        ordered = sorted(login)
        gaps += [b[0] - a[0] for a, b in pairwise(ordered) if a[-1]]
    short = [gap for gap in gaps if gap <= 120]
    assert (spent.used, spent.pauses) == (len(short), len(gaps) - len(short)) == (used, pauses)
    assert spent.median == pytest.approx(statistics.median(short))
    assert spent.mean == pytest.approx(statistics.fmean(short))
    assert (round(statistics.median(short), 1), round(statistics.fmean(short), 1)) == (median, mean)
