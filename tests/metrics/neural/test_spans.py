"""Errors from word labels, worked out by hand; and what holds of them whatever the labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.neural.spans import LABELS, mqm_score, spans

Offsets = list[tuple[int, int]]

CAT = "The cat sat on it."
# Offsets as XLM-R XL gives them: a word begins at the blank before it.
CAT_OFFSETS: Offsets = [(0, 3), (3, 7), (7, 11), (11, 14), (14, 17), (17, 18)]
# As XLM-R large gives them: blanks belong to no token.
TIGHT_OFFSETS: Offsets = [(0, 3), (4, 7), (8, 11), (12, 14), (15, 17), (17, 18)]

TABLE: list[tuple[str, Offsets, list[int], list[tuple[int, int, str, str]]]] = [
    (CAT, CAT_OFFSETS, [0, 0, 0, 0, 0, 0], []),
    (CAT, CAT_OFFSETS, [0, 1, 0, 0, 0, 0], [(4, 7, "cat", "minor")]),
    (CAT, TIGHT_OFFSETS, [0, 1, 0, 0, 0, 0], [(4, 7, "cat", "minor")]),
    (CAT, CAT_OFFSETS, [2, 0, 0, 0, 0, 0], [(0, 3, "The", "major")]),
    # At the very end, where the published decoding drops it.
    (CAT, CAT_OFFSETS, [0, 0, 0, 0, 0, 3], [(17, 18, ".", "critical")]),
    (CAT, CAT_OFFSETS, [0, 0, 0, 0, 1, 1], [(15, 18, "it.", "minor")]),
    # Neighbours of one severity are one error, blanks between them included.
    (CAT, CAT_OFFSETS, [0, 2, 2, 0, 0, 0], [(4, 11, "cat sat", "major")]),
    (CAT, TIGHT_OFFSETS, [0, 2, 2, 0, 0, 0], [(4, 11, "cat sat", "major")]),
    # Of unlike severity they are two, in either order.
    (CAT, CAT_OFFSETS, [0, 1, 3, 0, 0, 0], [(4, 7, "cat", "minor"), (8, 11, "sat", "critical")]),
    (CAT, CAT_OFFSETS, [0, 3, 1, 0, 0, 0], [(4, 7, "cat", "critical"), (8, 11, "sat", "minor")]),
    (
        CAT,
        CAT_OFFSETS,
        [1, 2, 1, 0, 3, 2],
        [
            (0, 3, "The", "minor"),
            (4, 7, "cat", "major"),
            (8, 11, "sat", "minor"),
            (15, 17, "it", "critical"),
            (17, 18, ".", "major"),
        ],
    ),
    (CAT, CAT_OFFSETS, [1, 1, 1, 1, 1, 1], [(0, 18, CAT, "minor")]),
    ("", [], [], []),
    # A token of blanks alone is no error.
    ("a \t b", [(0, 1), (1, 4), (4, 5)], [0, 2, 0], []),
    ("a \t b", [(0, 1), (1, 4), (4, 5)], [0, 2, 2], [(4, 5, "b", "major")]),
    # Not only blanks of ASCII: an ideographic and a no-break space.
    ("我　错\u00a0了", [(0, 1), (1, 4), (4, 5)], [0, 1, 0], [(2, 3, "错", "minor")]),
    # Code points, not bytes or UTF-16 units.
    ("😀 👍🏽 ok", [(0, 1), (1, 4), (4, 7)], [0, 3, 0], [(2, 4, "👍🏽", "critical")]),
    # The blank that the tokenizer puts before a text shares the first character with what follows it.
    ("我错了", [(0, 1), (0, 1), (1, 2), (2, 3)], [1, 2, 0, 0], [(0, 1, "我", "major")]),
    ("我错了", [(0, 1), (0, 3)], [1, 2], [(0, 3, "我错了", "major")]),
    ("我错了", [(0, 1), (0, 1), (1, 3)], [1, 0, 0], [(0, 1, "我", "minor")]),
    # One character that is normalised to three tokens.
    ("a…b", [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)], [0, 1, 2, 3, 0], [(1, 2, "…", "critical")]),
    ("a…b", [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)], [0, 1, 0, 3, 0], [(1, 2, "…", "critical")]),
    (
        "a…b",
        [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)],
        [1, 1, 2, 2, 0],
        [(0, 1, "a", "minor"), (1, 2, "…", "major")],
    ),
]


@pytest.mark.parametrize(("text", "offsets", "labels", "expected"), TABLE)
def test_spans_by_hand(
    text: str, offsets: Offsets, labels: list[int], expected: list[tuple[int, int, str, str]]
) -> None:
    found = spans(text, offsets, labels, [0.5] * len(labels))
    assert [(each.span.start, each.span.end, each.span.text, each.severity) for each in found] == expected
    assert all(each.confidence == 0.5 for each in found)


def test_confidence_is_the_mean_of_the_tokens() -> None:
    found = spans(CAT, CAT_OFFSETS, [1, 1, 0, 2, 2, 2], [0.5, 0.75, 0.1, 0.25, 0.5, 0.75])
    assert [each.confidence for each in found] == [0.625, 0.5]
    # A weighted mean of probabilities may come out above 1 by rounding.
    (one,) = spans("a", [(0, 1)], [1], [1.0000001])
    assert one.confidence == 1.0


@st.composite
def labelled(draw: st.DrawFn) -> tuple[str, Offsets, list[int]]:
    """A text in tokens as tokenizers cut it: blanks in or between them, characters shared, ends left out."""
    text = draw(st.text(alphabet=" \tab我…😀", max_size=24))
    offsets: Offsets = []
    end = 0
    while end < len(text):
        begin = draw(st.integers(end, min(end + 1, len(text) - 1)))
        if offsets and draw(st.integers(0, 4)) == 0:
            begin = offsets[-1][0]
        end = draw(st.integers(max(end, begin + 1), min(len(text), max(end, begin) + 4)))
        offsets.append((begin, end))
        if draw(st.integers(0, 9)) == 0:
            break
    labels = draw(st.lists(st.integers(0, 3), min_size=len(offsets), max_size=len(offsets)))
    return text, offsets, labels


def painted(text: str, offsets: Sequence[tuple[int, int]], labels: Sequence[int]) -> list[str]:
    """The severity of each character: that of the last token with an error that covers it."""
    found = ["none"] * len(text)
    for (start, end), label in zip(offsets, labels, strict=True):
        if label:
            found[start:end] = [LABELS[label]] * (end - start)
    return found


@given(labelled())
def test_spans_whatever_the_labels(case: tuple[str, Offsets, list[int]]) -> None:
    text, offsets, labels = case
    found = spans(text, offsets, labels, [0.9] * len(labels))
    end = 0
    for each in found:
        assert each.span.start >= end
        end = each.span.end
        each.span.check(text)
        assert each.span.text and each.span.text == each.span.text.strip()
    # Tokens of one severity in a row are one error.
    assert len(found) <= sum(1 for label, _ in groupby(labels) if label)
    given_severities = ["none"] * len(text)
    for each in found:
        given_severities[each.span.start : each.span.end] = [each.severity] * len(each.span.text)
    covered = [any(start <= place < stop for start, stop in offsets) for place in range(len(text))]
    for place, severity in enumerate(painted(text, offsets, labels)):
        if covered[place] and not text[place].isspace():
            assert given_severities[place] == severity, place


@pytest.mark.parametrize(
    ("labels", "score"),
    [
        ([], 1.0),
        ([0, 0], 1.0),
        # 1 a minor error, 5 a major, 10 a critical one, of 25.
        ([0, 1, 0], 24 / 25),
        ([0, 2, 0], 20 / 25),
        ([0, 3, 0], 15 / 25),
        # However long it is.
        ([0, 1, 1, 1, 0], 24 / 25),
        ([0, 2, 0, 2, 0], 15 / 25),
        ([0, 1, 0, 2, 0, 3, 0], 9 / 25),
        # Neighbours of unlike severity are one error of the first.
        ([0, 1, 3, 0], 24 / 25),
        ([0, 3, 1, 0], 15 / 25),
        ([0, 2, 1, 3, 0, 1, 0], 19 / 25),
        # What the last token ends is no error, however long it is.
        ([0, 3], 1.0),
        ([0, 0, 2, 2], 1.0),
        ([0, 1, 0, 3, 2], 24 / 25),
        # What begins with the mark before the text is one.
        ([1, 0, 0], 24 / 25),
        ([3, 2, 0], 15 / 25),
        ([2, 2], 1.0),
        # Never below 0.
        ([0, 3, 0, 3, 0, 2, 0], 0.0),
        ([0, 3, 0, 3, 0, 2, 0, 1, 0], 0.0),
        ([0, 3, 0] * 9, 0.0),
    ],
)
def test_score_of_the_errors_by_hand(labels: list[int], score: float) -> None:
    assert mqm_score(labels) == pytest.approx(score, abs=1e-12)
