"""What a line of prose shows of an error: marks, classes, quotes and words that an error would have."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from challenge_sets.records import Severity
from metrics.judges.reading.dress import plain, prefix_length
from metrics.judges.reading.faults import Said, said_in
from metrics.judges.reading.quotes import CLOSING, OPENING
from metrics.judges.reading.vocabulary import (
    SEVERITIES,
    SEVERITY_NAMES,
    Classes,
    classes_of,
    is_explanation,
    is_remark,
)


class Signs(NamedTuple):
    """The signs that a line of prose bears.

    ``front``: the class that it begins with; ``part``: a class of which it names the last part where a class
    would stand; ``classes``: those spelled in full anywhere. ``severity``: one in a marked place;
    ``begins_severe``: it begins with one. ``called``: it begins by calling something an error. ``foreign``:
    part of another form (a table, JSON, tags). ``shaped``: words and a quote, joined as in an error.
    ``bare``: what would be a quote if it had marks. ``label``: it begins by announcing an explanation;
    ``intro``: it announces what follows.
    """

    said: Said
    front: str
    part: str
    classes: tuple[str, ...]
    severity: Severity | None
    begins_severe: bool
    called: bool
    foreign: bool
    shaped: bool
    corrects: bool
    label: bool
    intro: bool
    bare: tuple[str, ...]
    before_sign: str


class Mark(NamedTuple):
    """Whether a line is an item of a list, and how far it is indented."""

    listed: bool
    depth: int


_REACH = 80
_LONGEST_SHAPED = 1000
_LIST = re.compile(r"\s*(?:[-*•·‣▪●○■+–—]\s+|\(?\d{1,2}[.)、]\s*)")
_WORD_CUT = r"\s(?:of|in|errors?|issues?|mistakes?|problems?)\b"
_SIGN_CUT = rf"\s*[:(\[<→=>|,;{re.escape(OPENING)}]|\s+[-–—]|[-–—]\s|\s*$"
_FRONT_CUT = re.compile(rf"(?P<sign>{_SIGN_CUT})|{_WORD_CUT}", re.IGNORECASE)
_BRACKETED = re.compile(r"[(\[<]\s*([^()\[\]<>]{3,40}?)\s*[)\]>]")
_AT_THE_END = re.compile(r"(?::|\s[-–—])\s*([^:\"“”]{3,40}?)[\s.*_]*$")
_SEVERITY_MARKED = re.compile(
    rf"[(\[<]\s*(?P<a>{SEVERITY_NAMES})\s*[)\]>]|(?:\*\*|__)\s*(?P<b>{SEVERITY_NAMES})\s*:?\s*(?:\*\*|__)|"
    rf"(?:\s[-–—]|[:,/])\s*(?P<c>{SEVERITY_NAMES})[\s.*_)\]]*$",
    re.IGNORECASE,
)
_SEVERITY_FIRST = re.compile(rf"(?:{SEVERITY_NAMES})(?![^\W_])", re.IGNORECASE)
_FOREIGN = re.compile(
    r"\s*\|.*\w.*\||\s*[{\[]\s*$|.*\{\s*\"|.*<\s*(?:errors?|mark|span|critical|major|minor)\b", re.IGNORECASE
)
_CALLED = re.compile(
    r"(?:(?:\w+\s+){0,2}(?:errors?|issues?|mistakes?|problems?|fehler|错误|錯誤|エラー|오류)\s*#?\d*|"
    r"(?:\w+\s+)?(?:class|category|type|span|severity))\s*(?:[:：=]|[-–—]\s)(?!\W*(?:0\W*$|none\b))",
    re.IGNORECASE,
)
_QUOTE = re.escape(OPENING + "".join(CLOSING.values()))
_QUOTE_LAST = re.compile(rf"([^{_QUOTE}]{{2,80}}?)[*_ ]*(?:[-–—:=]|->|→|=>)\s*[*_]*[{_QUOTE}].+[{_QUOTE}]\W*")
_QUOTE_FIRST = re.compile(
    rf"[{re.escape(OPENING)}][^{_QUOTE}]+[{_QUOTE}][*_ ]*(?:[-–—:(=\[]|->|→|=>|,\s(?!which|and)).*\w.*"
)
_ARROW = re.compile(r"[^\W_][\"“”„'’»«」*_]{0,6}\s{0,6}(?:->|=>|→|⇒|➔|!=|≠)\s{0,6}[\"“”„'‘»«「*_]{0,6}[^\W_]")
_LABEL_END = re.compile(r"\s[-–—]|[:：]")


def mark_of(line: str) -> Mark:
    """How the line stands in a list."""
    text = plain(line).expandtabs(4)
    return Mark(_LIST.match(text) is not None, len(text) - len(text.lstrip()))


@lru_cache(maxsize=512)
def signs_of(line: str, names: tuple[str, ...]) -> Signs:
    """The signs of a line that is neither heading nor error nor no-error, for these classes of errors."""
    classes = classes_of(names)
    whole = plain(line)
    text = whole[prefix_length(whole) :]
    said = said_in(whole)
    front, part = _front(text, classes, said)
    label_end = _LABEL_END.search(text, 0, _REACH)
    before = text[: label_end.start()] if label_end else ""
    first_words = " ".join(text.split()[:3])
    label = (
        is_explanation(before) and len(before.split()) <= 4 and not said_in(before).fault
    ) or is_explanation(first_words)
    short = text[:_LONGEST_SHAPED] if len(text) <= _LONGEST_SHAPED else ""
    shaped = _QUOTE_LAST.fullmatch(short)
    return Signs(
        said=said,
        front=front,
        part=part or _part_marked(whole, classes),
        classes=tuple(classes.spelled_in(whole)),
        severity=_marked_severity(whole),
        begins_severe=_SEVERITY_FIRST.match(text) is not None,
        called=_CALLED.match(text) is not None,
        foreign=_FOREIGN.match(whole) is not None,
        shaped=shaped is not None or _QUOTE_FIRST.fullmatch(short) is not None,
        corrects=_ARROW.search(whole) is not None,
        label=label,
        intro=text.rstrip(" *_").endswith(":") and is_remark(text) and not said.fault,
        bare=_bare(text, text[label_end.end() :] if label_end else ""),
        before_sign=shaped[1].strip() if shaped is not None else "",
    )


def _bare(*parts: str) -> tuple[str, ...]:
    stripped = (part.strip(" *_~`.,;:!()[]<>-–—\t") for part in parts)
    return tuple(part for part in stripped if any(map(str.isalpha, part)))


def _front(text: str, classes: Classes, said: Said) -> tuple[str, str]:
    """The class that a text begins with: as it is asked for, or by its last part alone."""
    if (name := classes.at_the_start_of(text[:_REACH])) is not None:
        return name, ""
    part = ""
    for cut in _FRONT_CUT.finditer(text, 0, min(_REACH, len(text))):
        name = text[: cut.start()]
        full = classes.full(name)
        if full is not None and ("/" in full or (cut["sign"] or "").strip()):
            return full, ""
        last = classes.last(name)
        if last is not None:
            # "Grammar: correct" praises; an omission is a fault by its name.
            faulty = said_in(name).fault or "addition" in name.casefold()
            after = text[cut.start() :].lstrip("*_ ")
            if faulty or said.fault or said.quotes or _ARROW.search(after) or not cut["sign"]:
                part = last
    return "", part


def _part_marked(text: str, classes: Classes) -> str:
    """A class by its name or last part, in brackets or behind a sign at the end."""
    ends = [found[1] for found in (_AT_THE_END.search(text),) if found is not None]
    for name in [found[1] for found in _BRACKETED.finditer(text)] + ends:
        known = classes.full(name) or classes.last(name)
        if known is not None:
            return known
    return ""


def _marked_severity(text: str) -> Severity | None:
    found = _SEVERITY_MARKED.search(text)
    return None if found is None else SEVERITIES[(found["a"] or found["b"] or found["c"]).casefold()]
