from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from challenge_sets.annotations import Annotation, ErrorSpan

PLAIN = Annotation(
    campaign="c",
    login="l",
    annotator="a",
    system="s",
    doc="d",
    line=0,
    kind="real",
    score=50.0,
    spans=(),
    start_time=1.0,
    end_time=2.0,
    item=1,
    document_id="d#s",
    text="abcdef",
)


@pytest.mark.parametrize(
    ("span", "penalty"),
    [
        (ErrorSpan(0, 1, "minor"), 1.0),
        (ErrorSpan(0, 1, "major"), 5.0),
        (ErrorSpan(0, 1, "undecided"), 0.0),
        (ErrorSpan(None, None, "major", ("Accuracy", "Omission")), 5.0),
        (ErrorSpan(0, 1, "minor", ("Linguistic conventions", "Punctuation")), 0.1),
        (ErrorSpan(0, 1, "major", ("Linguistic conventions", "Punctuation")), 0.1),
        (ErrorSpan(0, 1, "undecided", ("Linguistic conventions", "Punctuation")), 0.0),
        (ErrorSpan(0, 1, "minor", ("Other",)), 1.0),
    ],
)
def test_penalties(span: ErrorSpan, penalty: float) -> None:
    assert span.penalty == penalty


@pytest.mark.parametrize(
    ("start", "end", "severity"),
    [
        (0, 0, "minor"),
        (2, 1, "minor"),
        (-1, 1, "minor"),
        (None, 1, "minor"),
        (1, None, "minor"),
        (0, 1, "critical"),
        (0, 1, None),
    ],
)
def test_spans_that_are_none(start: Any, end: Any, severity: Any) -> None:
    with pytest.raises(ValueError, match=r"span|severity"):
        ErrorSpan(start, end, severity)


def test_the_value_is_the_slider_or_minus_the_penalty() -> None:
    spans = (ErrorSpan(0, 1, "major"), ErrorSpan(None, None, "minor"))
    assert replace(PLAIN, spans=spans).value == 50.0
    assert replace(PLAIN, spans=spans, score=None).value == -6.0
    # No errors: 0, and not the "-0.0" that a file would show.
    assert str(replace(PLAIN, score=None).value) == "0.0"
    assert replace(PLAIN, spans=(ErrorSpan(5, 6, "minor"),)).penalty == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"score": 100.5},
        {"score": -1.0},
        {"score": float("nan")},
        {"kind": "BAD"},
        {"kind": "tutorial"},
        {"line": None},
        {"line": -1},
        {"login": ""},
        {"system": ""},
        {"start_time": 3.0},
        {"end_time": float("inf")},
        {"start_time": float("nan")},
        {"spans": (ErrorSpan(5, 7, "minor"),)},
        {"text": "", "spans": (ErrorSpan(0, 1, "minor"),)},
    ],
)
def test_annotations_that_are_none(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        replace(PLAIN, **change)


def test_without_a_text_spans_are_taken_as_they_are() -> None:
    assert replace(PLAIN, text=None, spans=(ErrorSpan(50, 70, "minor"),)).spans[0].end == 70
