"""Prose beside a score: what of it takes the score away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from metrics.judges.forms import Form
from metrics.judges.reading.dress import plain
from metrics.judges.reading.echoes import Given
from metrics.judges.reading.forged import SCORE_LABELS
from metrics.judges.reading.reasons import OTHER_QUANTITY, REFUSAL, NotUnderstoodError
from metrics.judges.reading.reservations import refuses, reserved_score

_SCALE = re.compile(
    r"\b(?:scales?|range|max(?:imum)?|out of|skala)\b[^\d\n]{0,15}(?P<first>\d+(?:[.,]\d+)?)"
    r"(?:\s*(?:to|and|bis|[‐‑‒–—―-])\s*(?P<last>\d+(?:[.,]\d+)?))?"
)
_OTHER_QUANTITY = re.compile(
    r"\b(?:numbers? of|counts?|total of|confidence|penalty|probability|errors? found|lines? \d|anzahl|"
    r"konfidenz)\b|数量|個数|개수"
)
_ENDED = re.compile(r"[.!?…。！？][\s*_`\"'”’)]*$")
_INTRODUCED = re.compile(
    r"(?:.*[.!,]\s+)?here(?:['’]s| is) (?:my|the) (?:(?:final|overall|numerical|quality) )?"
    rf"{SCORE_LABELS}:"
)
_SCORED = re.compile(rf"(?:{SCORE_LABELS}|\bpenalty\b|\bdeduct\w*)\D{{0,20}}\d")


def refuse_reserved(lines: Iterable[str], form: Form, given: Given, *, strictly: bool = True) -> None:
    """Raises ``NotUnderstoodError`` where prose beside a score takes it away: by a refusal, another scale or
    score, and (``strictly``) by what is only supposed or corrected. What a text says is nobody's prose.
    """
    for line in lines:
        if not any(map(str.isalpha, line)) or given.hold(line):
            continue
        if refuses(line):
            raise NotUnderstoodError(REFUSAL)
        said = plain(line).casefold()
        if scale := _other_scale(line, form):
            raise NotUnderstoodError(f"a score on another scale: {scale}")
        if _SCORED.search(said):
            raise NotUnderstoodError("a number besides the score")
        if strictly and (problem := reserved_score(line)):
            raise NotUnderstoodError(f"{line.strip()[:60]!r} beside the score: {problem}")


def _other_scale(text: str, form: Form) -> str:
    """The scale that a text names and that is not the form's; empty for none."""
    for found in _SCALE.finditer(plain(text).casefold()):
        first, last = found["first"], found["last"]
        if last is None and as_float(first) == form.maximum:
            continue
        if last is not None and (as_float(first), as_float(last)) == (form.minimum, form.maximum):
            continue
        return found[0]
    return ""


def refuse_other_quantity(before: Sequence[str], after: Sequence[str]) -> None:
    """Raises ``NotUnderstoodError`` where lines around a bare number may say that it is no score."""
    said = [plain(line).casefold().strip(" \t*_`") for line in (*before, *after)]
    above = said[len(before) - 1] if before else ""
    if _INTRODUCED.fullmatch(above):
        said.remove(above)
    elif before and not _ENDED.search(plain(before[-1])):
        # What is no sentence may be a title.
        raise NotUnderstoodError(OTHER_QUANTITY)
    if any(line.endswith(":") or _OTHER_QUANTITY.search(line) for line in said):
        raise NotUnderstoodError(OTHER_QUANTITY)


def as_float(said: str) -> float:
    """The number that digits with a dot or a comma say."""
    return float(said.replace(",", "."))
