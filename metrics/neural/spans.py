"""Error spans from the word labels of XCOMET: as its score counts them, and as a reader needs them.

Guerreiro et al. 2024, section 3. The published decoding has quirks that its scores contain: neighbouring
errors of unlike severity become one under the first severity, an error that the last token ends is dropped,
and a mark before the text can be an error. ``mqm_score`` keeps them, so that scores are the published ones;
``spans`` does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from challenge_sets import MarkedError, Severity, Span

LABELS: tuple[Severity, ...] = ("none", "minor", "major", "critical")
"""Severities by the number of the label."""
_WEIGHTS: dict[Severity, int] = {"none": 0, "minor": 1, "major": 5, "critical": 10}
_MOST = 25


def mqm_score(labels: Sequence[int]) -> float:
    """The part of the score that the errors make: 1 without any, 0 from a penalty of 25 on.

    ``labels`` are those of every token of the hypothesis, both marks included.
    """
    penalty = pending = 0
    for label in labels:
        if label and not pending:
            pending = _WEIGHTS[LABELS[label]]
        elif not label:
            penalty += pending
            pending = 0
    return (_MOST - min(penalty, _MOST)) / _MOST


def spans(
    text: str,
    offsets: Sequence[tuple[int, int]],
    labels: Sequence[int],
    confidences: Sequence[float],
) -> tuple[MarkedError, ...]:
    """The marked errors of a text: ``text[start:end]`` is the span's own text, cut at white space.

    Takes one offset, label and confidence (the probability of the label) a token, marks left out; the
    confidence of a span is the mean of its tokens'. Neighbouring tokens of one severity are one error.
    """
    found: list[MarkedError] = []
    start = 0
    for place in range(1, len(labels) + 1):
        if place < len(labels) and labels[place] == labels[start]:
            continue
        if labels[start]:
            begin, end = offsets[start][0], offsets[place - 1][1]
            # Tokens may share a character, as a lone blank and the word after it do: the later error has it.
            following = (offsets[later][0] for later in range(place, len(labels)) if labels[later])
            end = min(end, next(following, end))
            piece = text[begin:end]
            stripped = piece.strip()
            if stripped:
                begin += len(piece) - len(piece.lstrip())
                mean = sum(confidences[start:place]) / (place - start)
                span = Span(begin, begin + len(stripped), stripped)
                found.append(MarkedError(span, LABELS[labels[start]], min(1.0, mean)))
        start = place
    return tuple(found)


def merged(text: str, marked: Iterable[tuple[MarkedError, int]]) -> tuple[MarkedError, ...]:
    """The errors of a text that was read in pieces, each with the offset of its piece; none overlap.

    Where pieces overlap, two errors of one severity are one error over both stretches; of two severities that
    of the surer piece stays.
    """
    found: list[MarkedError] = []
    for error, offset in sorted(marked, key=lambda each: each[0].located.start + each[1]):
        start, end = error.located.start + offset, error.located.end + offset
        last = found[-1] if found else None
        if last is None or last.located.end <= start:
            found.append(replace(error, span=Span(start, end, text[start:end])))
            continue
        surer = last if (last.confidence or 0.0) >= (error.confidence or 0.0) else error
        if last.severity == error.severity:
            start, end = last.located.start, max(last.located.end, end)
        elif surer is last:
            continue
        found[-1] = replace(surer, span=Span(start, end, text[start:end]))
    return tuple(found)
