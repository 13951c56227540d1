from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.annotations.boundaries import boundary_baseline, boundary_share, near_boundary
from challenge_sets.annotations import Annotation, ErrorSpan
from challenge_sets.esa import Campaign

Make = Callable[..., Annotation]


def near(start: int, end: int, length: int, zone: float = 0.2) -> bool:
    return bool(near_boundary(*(np.array([value]) for value in (start, end, length)), zone)[0])


@pytest.mark.parametrize(
    ("start", "end", "length", "expected"),
    [
        (0, 1, 10, True),
        (1, 2, 10, True),
        (2, 3, 10, False),
        (2, 8, 10, False),
        (2, 9, 10, True),
        (7, 8, 10, False),
        (8, 9, 10, True),
        (0, 10, 10, True),
        (1, 2, 3, False),
        (0, 1, 1, True),
        # 0.2 × 15 is a little more than 3 in floating point.
        (3, 4, 15, False),
        (11, 12, 15, False),
        (12, 13, 15, True),
    ],
)
def test_which_spans_are_near(start: int, end: int, length: int, expected: bool) -> None:
    assert near(start, end, length) is expected
    # The mirrored text has the mirrored answer.
    assert near(length - end, length - start, length) is expected


@given(st.integers(1, 60), st.data(), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.4]))
def test_the_baseline_is_the_share_of_all_places(length: int, draw: st.DataObject, zone: float) -> None:
    span = draw.draw(st.integers(1, length))
    edge = ceil(round(zone * length, 6))
    places = [start < edge or start + span > length - edge for start in range(length - span + 1)]
    expected = sum(places) / len(places)
    assert boundary_baseline(np.array([span]), np.array([length]), zone)[0] == pytest.approx(expected)


def test_one_character_anywhere_gives_the_published_baseline() -> None:
    lengths = np.array([5, 10, 100, 1000])
    assert boundary_baseline(np.ones(4, dtype=np.int64), lengths) == pytest.approx(0.4)


def test_what_has_no_place_is_left_out(annotation: Make) -> None:
    omission = ErrorSpan(None, None, "major")
    found = [
        annotation(0, spans=(ErrorSpan(0, 1, "minor"), ErrorSpan(5, 6, "minor"), omission)),
        annotation(1, doc="e", text=None, spans=(ErrorSpan(0, 1, "minor"),)),
        annotation(2, doc="f", spans=(ErrorSpan(4, 5, "minor"),)),
    ]
    share = boundary_share(found, [one.spans for one in found], level=0.95)
    assert (share.spans, share.near, share.share) == (3, 1, pytest.approx(1 / 3))
    assert share.baseline == pytest.approx(0.4)
    assert share.excess == pytest.approx(1 / 3 - 0.4)
    assert share.excess_interval is not None
    nothing = boundary_share(found, [() for _ in found], level=0.95)
    assert (nothing.share, nothing.baseline, nothing.excess, nothing.excess_interval) == (None,) * 4
    one = boundary_share(found[:1], [found[0].spans], level=0.95)
    assert one.share == 0.5
    assert one.excess_interval is None


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "spans", "near_them", "baseline"),
    [("ESA-1", 816, 399, 0.4334), ("ESA-2", 2469, 1209, 0.4239), ("WMT24", 1063, 568, 0.4757)],
)
def test_published_spans_against_placing_each_everywhere(
    campaigns: Mapping[str, Campaign], name: str, spans: int, near_them: int, baseline: float
) -> None:
    real = campaigns[name].real()
    share = boundary_share(real, [found.spans for found in real], level=0.95)
    counted, close, chances = 0, 0, 0.0
    for found in real:
        text = found.text or ""
        edge = -(-len(text) // 5)
        head, tail = set(range(edge)), set(range(len(text) - edge, len(text)))
        for span in found.spans:
            if span.start is None or span.end is None:
                continue
            size = span.end - span.start
            hits = [start in head or start + size - 1 in tail for start in range(len(text) - size + 1)]
            counted += 1
            close += hits[span.start]
            chances += sum(hits) / len(hits)
    assert (share.spans, share.near) == (counted, close) == (spans, near_them)
    assert share.baseline == pytest.approx(chances / counted)
    assert share.baseline == pytest.approx(baseline, abs=5e-5)
