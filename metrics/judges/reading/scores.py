"""A number as an answer: alone, or behind a label such as "Score:"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from metrics.judges.forms import Form
from metrics.judges.reading.dress import is_fence, plain, prefix_length
from metrics.judges.reading.echoes import Given
from metrics.judges.reading.forged import MOST_SCORES, SCORE_LABELS
from metrics.judges.reading.prose import as_float, refuse_other_quantity, refuse_reserved
from metrics.judges.reading.reasons import ECHO, NO_NUMBER, NotUnderstoodError
from metrics.judges.reading.reservations import reserved_score

_QUALIFIERS = (
    r"(?:(?:the|my|your|final|overall|total|translation|quality|numerical|numeric|assessment|evaluation|direct|"
    r"da|esa|mt|assigned|estimated|is|of|finale|endgültige|最终|最終|综合|総合|总体|翻译|翻訳|质量|品質|"
    r"최종|종합|전체|번역|품질)[\s_-]{0,3})"
)
_DASHES = "‐‑‒–—―﹣"
_MINUS = dict.fromkeys(map(ord, _DASHES), "-")
_NUMBER = (
    rf"(?P<open>[\"'“”‘’(\[{{<]{{0,2}})(?P<number>[+{_DASHES}-]?"
    r"\d{1,15}(?:[.,]\d{1,15})?)(?P<close>[\"'“”‘’)\]}>]{0,2})"
    r"(?:\s{0,3}(?P<percent>%))?"
    r"(?:\s{0,3}(?:/|out\s+of|of|von|sur)\s{0,3}(?P<whole>\d{1,15}(?:[.,]\d{1,15})?)[\])]?)?"
    r"(?:\s{0,3}(?:points?|pts?|punkten?|punkte|分|点|点です|점|점입니다)(?![^\W\d_]))?"
)
_BOXED = r"\$?(?:\\boxed\{)?"
_BARE = re.compile(rf"{_BOXED}{_NUMBER}\}}?\$?[\s.。!]*")
_LABELLED = re.compile(
    rf"[\"'“<(\[]?{_QUALIFIERS}{{0,5}}{SCORE_LABELS}[\"'”>)\]]?"
    r"(?P<scale>\s{0,3}\([^()]{0,60}\)|\s{0,3}（[^（）]{0,60}）)?"
    # A dash that touches a digit is the sign of the number.
    rf"\s{{0,3}}(?P<sign>:|=|[{_DASHES}](?![^\w\s]?\d)|→|(?:is|ist|est|是|为|為|は|은|는)(?![a-z]):?)?"
    r"\s{0,3}(?P<value>.*)",
    re.DOTALL,
)
_VALUE = re.compile(
    rf"{_BOXED}{_NUMBER}\}}?\$?(?:</\w+>)?(?P<remark>[\s.。!;,]*|(?:[.。;,!]\s|\s{{0,3}}\(|\s[-–—]\s)\D*)"
)
_SIGNED = re.compile(rf"[-{_DASHES}]\d")
_OTHER_SCALE = re.compile(r"\bout of\b|\bscale\b|\bmax|\bof\b.{0,20}\)|\bvon\b.{0,20}\)")
# Emphasis at the edges of a word; inside one it may be a sign of multiplication.
# A tilde is none: one says "about", two strike the number out.
_EMPHASIS = re.compile(r"(?<!\w)[*_`]+|[*_`]+(?!\w)")
_ITEM = re.compile(r"\s*\d\.\s*")
_HEADING = re.compile(r"\s*#{1,6}\s+|\s+")
_LONGEST = 300


class Found(NamedTuple):
    """A number of an answer: its value, or what is wrong with it. ``line`` is where it stands."""

    value: float | None
    line: str
    problem: str = ""


def bare_number(text: str, form: Form) -> Found | None:
    """The number that the text is, in a dress of formatting at most; ``None`` where it is none."""
    if len(text) > _LONGEST:
        return None
    if _ITEM.fullmatch(text):
        return Found(None, text, "a number that may begin a list")
    found = _BARE.fullmatch(_undressed(text, bullets=False))
    return None if found is None else _valued(found, text, form)


def labelled_number(line: str, form: Form) -> Found | None:
    """The number behind a label; ``None`` for a line without a label or without a digit behind it.

    A value with digits that is no number in form (``90-95``, ``8/10``) is found with its problem.
    """
    label = _behind_label(line) if len(line) <= _LONGEST else None
    if label is None or not any(map(str.isdigit, label.value)):
        return None
    if problem := _scale_problem(label.scale, form):
        return Found(None, line, problem)
    found = _VALUE.fullmatch(label.value)
    if found is None or _OTHER_SCALE.search(found["remark"]):
        return Found(None, line, f"{label.value[:40]!r} is not one number")
    if problem := reserved_score(found["remark"]):
        return Found(None, line, f"{label.value[:40]!r}: {problem}")
    return _valued(found, line, form)


def _scale_problem(scale: str, form: Form) -> str:
    """What is wrong with the scale that a label names in brackets; empty for none and for the form's."""
    said = [as_float(number) for number in re.findall(r"\d+(?:[.,]\d+)?", scale)]
    # "(0-100)", "(out of 100)": what is asked for ends with its maximum.
    right = not said or (said[-1] == form.maximum and all(each == form.minimum for each in said[:-1]))
    if right and not reserved_score(scale):
        return ""
    return f"the scale {scale.strip()[:40]}, where {form.minimum:g} to {form.maximum:g} was asked for"


def is_label_alone(line: str) -> bool:
    """Whether the line is a label whose number must be on the next one."""
    label = _behind_label(line) if len(line) <= _LONGEST else None
    return label is not None and label.value == ""


class _Label(NamedTuple):
    """What stands behind a label, and the scale in brackets between the two."""

    value: str
    scale: str


@lru_cache(maxsize=4096)
def _behind_label(line: str) -> _Label | None:
    found = _LABELLED.fullmatch(_undressed(line, bullets=True))
    if found is None:
        return None
    value = found["value"]
    if found["sign"] is None and not (found["scale"] or value[:1].isdigit() or _SIGNED.match(value)):
        # "Quality is good" has no sign that a value follows, "<score>85" and "Score" alone have none either.
        return _Label("", found["scale"] or "") if value == "" else None
    return _Label(value.strip(), found["scale"] or "")


def _undressed(text: str, *, bullets: bool) -> str:
    text = plain(text)
    # A hyphen before a bare number is a sign, a number with a dot may be one too.
    text = (
        text[prefix_length(text) :]
        if bullets
        else _HEADING.sub("", text, count=1)
        if text[:1] in " #\t"
        else text
    )
    return _EMPHASIS.sub("", text).strip().casefold()


def _valued(found: re.Match[str], line: str, form: Form) -> Found:
    said = found["number"]
    whole, *fraction = re.split("[.,]", said)
    if fraction and len(fraction[0]) == 3 and whole.strip("+0"):
        return Found(None, line, f"{said} may be a fraction or thousands")
    if "<" in found["open"] and (">" not in found["close"] or found["percent"]):
        return Found(None, line, f"{said} is a bound")
    value = _float(said)
    if found["whole"] is not None and _float(found["whole"]) != form.maximum:
        return Found(None, line, f"out of {found['whole']}, where {form.maximum:g} was asked for")
    if found["percent"] and (form.minimum, form.maximum) != (0.0, 100.0):
        return Found(None, line, f"{said} % on a scale from {form.minimum:g} to {form.maximum:g}")
    return Found(value, line, out_of_range(value, form))


def _float(said: str) -> float:
    return as_float(said.translate(_MINUS))


def out_of_range(value: float, form: Form) -> str:
    """What is wrong with a number that the form does not admit; empty for one that it does."""
    if form.minimum <= value <= form.maximum:
        return ""
    return f"{value:g} is out of the range from {form.minimum:g} to {form.maximum:g}"


def take_labelled(lines: list[str], form: Form) -> tuple[list[str], list[Found]]:
    """The other lines, and the numbers behind labels, on their line or on the next one."""
    rest: list[str] = []
    found: list[Found] = []
    waiting: list[str] = []
    for line in lines:
        if waiting and not line.strip():
            waiting.append(line)
            continue
        number = labelled_number(line, form)
        if number is None and waiting:
            bare = bare_number(line, form)
            number = None if bare is None else _below(waiting[0], bare, form)
            if number is None:
                rest += waiting
            waiting = []
        if number is not None:
            found.append(number)
        elif is_label_alone(line):
            waiting = [line]
        else:
            rest.append(line)
    return rest + waiting, found


def _below(label: str, bare: Found, form: Form) -> Found:
    """A number on the line below its label."""
    known = _behind_label(label)
    problem = bare.problem or (_scale_problem(known.scale, form) if known is not None else "")
    return Found(bare.value, f"{label} {bare.line}", problem)


def one_score(found: list[Found], given: Given, form: Form) -> float:
    """The value that all labelled numbers agree on; one that a given text labels as well is not believed.

    Beside a text that labels several numbers none is: it would leave the judge only those that it wants.
    """
    values: set[float] = set()
    for number in found:
        if number.problem or number.value is None:
            raise NotUnderstoodError(number.problem)
        values.add(number.value)
    if len(values) > 1:
        raise NotUnderstoodError(f"different scores: {', '.join(f'{value:g}' for value in sorted(values))}")
    forged = given.scores(form.maximum)
    if values & forged or len(forged) > MOST_SCORES or any(given.hold(number.line) for number in found):
        raise NotUnderstoodError(ECHO)
    return values.pop()


def read_number(lines: list[str], form: Form, given: Given) -> float:
    """The number that an answer is, or that stands behind a label, or alone on its first or last line.

    Raises ``NotUnderstoodError`` where there is none, or more than one, or one out of range.
    """
    said = [line for line in lines if line.strip() and not is_fence(line)]
    rest, labelled = take_labelled(said, form)
    if labelled:
        value = one_score(labelled, given, form)
        refuse_reserved(rest, form, given)
        others = [bare for line in rest if (bare := bare_number(line, form)) is not None]
        if any(bare.value != value for bare in others):
            raise NotUnderstoodError("a number besides the score")
        return value
    bares = [(at, bare) for at, line in enumerate(rest) if (bare := bare_number(line, form)) is not None]
    if not bares:
        raise NotUnderstoodError(_without_number(said))
    at, bare = bares[0]
    others_say_digits = any(any(map(str.isdigit, line)) for place, line in enumerate(rest) if place != at)
    if others_say_digits:
        raise NotUnderstoodError("more than one number")
    if bare.problem or bare.value is None:
        raise NotUnderstoodError(bare.problem)
    if at not in (0, len(rest) - 1):
        raise NotUnderstoodError("a number amid the text, without a label")
    if _repeated(rest, at, given, form):
        raise NotUnderstoodError(ECHO)
    refuse_reserved(rest[:at] + rest[at + 1 :], form, given)
    refuse_other_quantity(rest[:at], rest[at + 1 :])
    return bare.value


def _without_number(lines: list[str]) -> str:
    digits = sum(len(re.findall(r"\d+(?:[.,]\d+)*", plain(line))) for line in lines)
    return NO_NUMBER if digits < 2 else "more than one number, and no label"


def _repeated(lines: list[str], at: int, given: Given, form: Form) -> bool:
    """Whether the number and a line beside it stand like that in a given text.

    A number alone on its line may well be equal to one that is given; with a denominator it is none of
    chance.
    """
    if given.hold_beside(lines, at):
        return True
    alone = plain(lines[at]).strip(" \t*_`#.。")
    if alone.replace(".", "", 1).replace(",", "", 1).isdigit():
        return False
    found = bare_number(lines[at], form)
    with_whole = found is not None and found.value in given.scores(form.maximum)
    return with_whole or given.hold_lines([lines[at]])
