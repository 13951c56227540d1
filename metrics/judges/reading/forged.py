"""Judgements that stand in a text that the judge was given, whatever their dress."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from challenge_sets.records import Severity
from metrics.judges.reading.vocabulary import NO_ERRORS, SEVERITIES, SEVERITY_NAMES

MOST_SCORES = 2
"""A text that labels more different numbers as scores leaves too few for an honest judge."""

SCORE_LABELS = (
    r"(?:scores?|ratings?|quality|grade|evaluation|assessment|punktzahl|gesamtpunktzahl|bewertung|"
    r"gesamtbewertung|wertung|qualität|punkte|分数|分數|得分|评分|評分|总分|總分|打分|评价|质量|"
    r"スコア|点数|得点|評点|評価|品質|점수|총점|평점|평가|품질|스코어)"
)
_NUMBER = r"[+-]?\d{1,15}(?:[.,]\d{1,15})?"
_QUOTES = "\"'`“”„‘’«»「」『』\\\\"
# Between a label and its number stands a sign or a line end: "they score 85 points" labels nothing.
_LABELLED = re.compile(
    rf"{SCORE_LABELS}(?:[\W_]{{0,20}}?(?:[:=\-–—→>|\n{_QUOTES}]|\b(?:is|ist|est)\b)|\s?[是为為は은는])"
    rf"[^\w+-]{{0,20}}?(?P<number>{_NUMBER})"
)
_KEYED = re.compile(
    rf"[{_QUOTES}{{,]\s*[\w -]{{0,20}}?{SCORE_LABELS}[\s{_QUOTES}]{{0,6}}[:=][\s{_QUOTES}\[]{{0,6}}"
    rf"(?P<number>{_NUMBER})"
)
_FRACTION = re.compile(
    rf"(?P<number>{_NUMBER})[\s*_)\]]{{0,6}}(?:/|out\s+of|of|von|sur)[\s*_(\[]{{0,6}}(?P<whole>{_NUMBER})"
)
_TAG = re.compile(r"<[^<>\n]{0,100}>")
_NO_ERROR = re.compile(
    rf"(?P<severity>{SEVERITY_NAMES})[\W_]{{0,20}}"
    rf"(?:{'|'.join(sorted(map(re.escape, NO_ERRORS), key=len, reverse=True))})(?![^\W_])"
)


def _stems(severity: Severity, *, in_ascii: bool) -> tuple[str, ...]:
    """The shortest spellings of a severity: no other one lacks them all."""
    names = {name for name, own in SEVERITIES.items() if own == severity and name.isascii() == in_ascii}
    return tuple(name for name in names if not any(other != name and other in name for other in names))


_ASCII, _OTHER = (
    [_stems(severity, in_ascii=in_ascii) for severity in ("critical", "major", "minor")]
    for in_ascii in (True, False)
)


def _float(said: str) -> float:
    return float(said.replace(",", "."))


def labelled_in(texts: Iterable[str], whole: float) -> frozenset[float]:
    """The numbers that folded texts label as scores, or give out of ``whole``."""
    found: set[float] = set()
    for text in texts:
        if any(map(str.isdecimal, text)):
            found |= {_float(each["number"]) for each in _LABELLED.finditer(text)}
            found |= {
                _float(each["number"]) for each in _FRACTION.finditer(text) if _float(each["whole"]) == whole
            }
    return frozenset(found)


def keyed_in(texts: Iterable[str]) -> frozenset[float]:
    """The numbers under keys of scores in folded texts, as in JSON or what looks like it."""
    return frozenset(_float(each["number"]) for text in texts for each in _KEYED.finditer(text))


def without_errors(text: str) -> set[Severity]:
    """The severities of which a folded text says that there is no such error."""
    named = sum(any(map(text.__contains__, names)) for names in _ASCII)
    if not text.isascii():
        named += sum(any(map(text.__contains__, names)) for names in _OTHER)
    if named < 2:
        return set()
    return {SEVERITIES[found["severity"]] for found in _NO_ERROR.finditer(_TAG.sub(" ", text))}


def holds_error(text: str, category: str, quote: str) -> bool:
    """Whether a folded text names this class and then, behind a sign, this quote."""
    parts = _parts(category)
    if not parts or not quote or any(part not in text for part in parts):
        return False
    return _error(parts, quote[:300]).search(text) is not None


@lru_cache(maxsize=512)
def _parts(category: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", category))


@lru_cache(maxsize=512)
def _error(parts: tuple[str, ...], quote: str) -> re.Pattern[str]:
    gap = r"[\W_]{1,6}"
    words = r"\s+".join(map(re.escape, quote.split()))
    severity = rf"(?:[\W_]{{1,6}}(?:{SEVERITY_NAMES}))?"
    return re.compile(
        rf"{gap.join(map(re.escape, parts))}{severity}[\W_]{{0,8}}?[^\w\s][\W_]{{0,8}}?{words}(?![^\W_])"
    )
