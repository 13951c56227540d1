"""Slips in units, currencies and dates: English and German."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases import numerals
from perturb.rules.phrases.plain import inside, protected
from perturb.rules.phrases.slips import Slip
from perturb.rules.tables import alternation, read_groups

# A unit counts only behind a number, or behind a word that stands for one.
_EN_CARDINALS = "|".join((*numerals.EN_SMALL, *numerals.EN_TEENS, *numerals.EN_TENS))
_EN_BEHIND_NUMBER = re.compile(
    rf"(?:\d|\b(?:{_EN_CARDINALS}|{'|'.join(numerals.EN_SCALES)}|several|few|many|couple of))[ \u00a0]?\Z",
    re.IGNORECASE,
)
_EN_ONE = re.compile(r"\b(?:one|per|every|each)[ \u00a0]\Z", re.IGNORECASE)
_HYPHEN_BEHIND = re.compile(rf"(?:\d|\b(?:{_EN_CARDINALS}))-\Z")

EN_UNITS = read_groups("phrases/units.en.txt")
"""Unit behind a number other than one, and what it is mistaken for: the number stays."""

EN_SINGLE = read_groups("phrases/units_single.en.txt")
"""The same behind *one*, *per* and *every*, and in compounds (``five-year``)."""

DE_UNITS = read_groups("phrases/units.de.txt")
"""German units behind a number; case and number are kept."""

_EN_UNIT = re.compile(
    rf"\b({alternation(EN_UNITS)})\b(?![-/]|[ -]old\b| (?:a|per) (?:day|week|month|year)\b)"
)
_EN_SINGLE_UNIT = re.compile(r"\b(" + "|".join(EN_SINGLE) + r")\b(?!-| (?:of|in) (?:the|his|life)| old)")
_DE_NUMBER_WORDS = "|".join(
    (*numerals.DE_SMALL, *numerals.DE_TENS, "hundert", "tausend", "paar", "mehrere", "einige", "wenige[rn]?")
)
_DE_UNIT = re.compile(
    r"(?:\d|\b(?:"
    + _DE_NUMBER_WORDS
    + r"))[ \u00a0]("
    + alternation(DE_UNITS)
    + r")\b(?![-/]| alt\b| die Woche| am Tag| pro |\.? (?:US|pro Stunde))"
)

_EN_MONTH_NAMES, _DE_MONTH_NAMES = "|".join(numerals.EN_MONTHS), "|".join(numerals.DE_MONTHS)
_EN_MONTH = re.compile(
    r"(?:\b(?:in|In|of|since|Since|until|by|By|last|next|this|early|late|mid|On|on|from"
    r"|From)[ -]|\d(?:st|nd|rd|th)? )"
    rf"({_EN_MONTH_NAMES})\b(?! (?:[A-Z]|Day)|['’-]|\s?/)"
    rf"|(?<![\w-])({_EN_MONTH_NAMES})(?= \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)| \d{{4}}\b)"
)
_DE_MONTH = re.compile(
    r"(?:\b(?:im|Im|seit|Seit|Ende|Anfang|Mitte|bis|ab|Ab|vergangenen|letzten|nächsten|diesen|Monat)|\d\.) "
    rf"({_DE_MONTH_NAMES})\b(?! [A-ZÄÖÜ])"
)
_EN_DAY = re.compile(
    r"(?<!Black )(?<!Fire )(?<!Good )(?<!Cyber )(?<!Easter )(?<!Super )(?<!Ash )(?<![-'])\b("
    + "|".join(numerals.EN_DAYS)
    + r")(?=s?\b)(?!['’]s? [A-Z]| [A-Z])"
)
_DE_DAY = re.compile(r"(?<!Blauen )(?<!-)\b(" + "|".join(numerals.DE_DAYS) + r")(?=e?s?\b)(?!-)")
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_EN_RELATIVE = re.compile(r"\b(?:last|next|Last|Next|this) (week|month|year)\b(?!['’-]| of)")
_EN_DAY_HALF = re.compile(r"\b\d{1,2}(?::\d\d)? ?(a\.m\.|p\.m\.|am|pm|AM|PM)(?![\w])")
_EN_ERA = re.compile(r"\b\d{1,4} ?(BCE|BC|CE|AD)\b")
_SPELLED_CENTURIES = numerals.EN_ORDINALS[numerals.EN_ORDINALS.index("ninth") :]
_EN_CENTURY = re.compile(rf"\b(?:(\d{{1,2}})(st|nd|rd|th)|({'|'.join(_SPELLED_CENTURIES)})) century\b")
_EN_SEASON = re.compile(
    r"\b(?:[Ii]n|[Dd]uring|[Tt]his|[Ll]ast|[Nn]ext) (?:the )?(spring|summer|autumn"
    r"|winter)\b(?= of\b|,| the\b| when\b| he\b|[.;!?])(?!, (?:spring|summer|autumn|winter))"
)
_EN_DEGREES = re.compile(r"(?:\bdegrees (Celsius|Fahrenheit)|\d ?°(C|F))\b")
_EN_TOMORROW = re.compile(r"\b(?:tomorrow|yesterday|Tomorrow|Yesterday) (morning|afternoon|evening)\b")
_EN_DAY_HALVES = {"a.m.": "p.m.", "p.m.": "a.m.", "am": "pm", "pm": "am", "AM": "PM", "PM": "AM"}
_EN_ERAS = {"BCE": "CE", "BC": "AD", "CE": "BCE", "AD": "BC"}
_TEMPERATURES = {"Celsius": "Fahrenheit", "Fahrenheit": "Celsius", "C": "F", "F": "C"}
_CURRENCY = re.compile(r"(?<![A-Z$€£])([$€£])(?=\d)")
_CURRENCIES = {"$": ("€", "£"), "€": ("$",), "£": ("$", "€")}


def unit_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield ``(start, end, replacement)`` in random order; dates go on existing, plural stays plural."""
    spans = protected(text)
    finder = _english if language == "en" else _german
    found = [slip for slip in finder(text, rng) if not inside(slip[0], slip[1], spans)]
    rng.shuffle(found)
    # Where a text names a unit twice, one slip would contradict the other mention: singles first.
    found.sort(key=lambda slip: text.count(text[slip[0] : slip[1]]) > 1)
    yield from found


def _english(text: str, rng: random.Random) -> Iterator[Slip]:
    yield from _english_units(text, rng)
    for found in _EN_MONTH.finditer(text):
        yield from _month(text, found, 1 if found[1] else 2, numerals.EN_MONTHS, rng)
    yield from _from_cycle(_EN_DAY, text, numerals.EN_DAYS, rng)
    yield from _another(_EN_RELATIVE, text, ("week", "month", "year"), rng)
    yield from _opposite(_EN_DAY_HALF, text, _EN_DAY_HALVES)
    yield from _opposite(_EN_ERA, text, _EN_ERAS)
    for found in _EN_CENTURY.finditer(text):
        yield from _century(found, rng)
    for found in _EN_SEASON.finditer(text):
        seasons = [name for name in ("spring", "summer", "autumn", "winter") if name not in text.lower()]
        if seasons:
            yield found.start(1), found.end(1), rng.choice(seasons)
    yield from _opposite(_EN_DEGREES, text, _TEMPERATURES)
    # "when the sun rises tomorrow morning" can be no other part of the day.
    if "sun r" not in text:
        yield from _another(_EN_TOMORROW, text, ("morning", "afternoon", "evening"), rng)
    yield from _currency(text, rng)


def _english_units(text: str, rng: random.Random) -> Iterator[Slip]:
    for found in _EN_UNIT.finditer(text):
        before = text[max(0, found.start() - 14) : found.start()]
        if not _EN_BEHIND_NUMBER.search(before) or re.search(r"(?<!\d)1[ \u00a0]\Z", before):
            continue
        if found[1] == "years" and re.search(r"(?:hundred|thousand|\d\d\d|[2-9]\d) \Z", before):
            continue
        if found[1] == "won" and not re.search(r"(?:\d|hundred|thousand|million|billion) \Z", before):
            continue
        options = [unit for unit in EN_UNITS[found[1]] if not re.search(rf"\b{re.escape(unit)}\b", text)]
        if options:
            yield found.start(1), found.end(1), rng.choice(options)
    for found in _EN_SINGLE_UNIT.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        if _HYPHEN_BEHIND.search(before) and found[1] not in ("morning", "evening", "second"):
            # "a one-night, two-week trip" would contradict itself.
            if text[found.end() : found.end() + 4] == "-old" or "-night" in text:
                continue
        elif not _EN_ONE.search(before) or (found[1] == "second" and not before.lower().endswith("per ")):
            continue
        options = [unit for unit in EN_SINGLE[found[1]] if not re.search(rf"\b{unit}s?\b", text)]
        # "one day" is "some day" more often than a length of time.
        if options and not (found[1] == "day" and before.lower().endswith("one ")):
            yield found.start(1), found.end(1), rng.choice(options)


def _german(text: str, rng: random.Random) -> Iterator[Slip]:
    for found in _DE_UNIT.finditer(text):
        if re.search(r"(?<!\d)1[ \u00a0]\w+\Z", found.group()) and not re.search(
            r"\d\d[ \u00a0]\w+\Z", found.group()
        ):
            continue
        options = [unit for unit in DE_UNITS[found[1]] if not re.search(rf"\b{unit}", text)]
        if found[1] in ("Jahre", "Jahren") and re.search(r"\d\d[ \u00a0]\Z", text[: found.start(1)]):
            continue
        if options:
            yield found.start(1), found.end(1), rng.choice(options)
    for found in _DE_MONTH.finditer(text):
        yield from _month(text, found, 1, numerals.DE_MONTHS, rng)
    yield from _from_cycle(_DE_DAY, text, numerals.DE_DAYS, rng)
    yield from _currency(text, rng)


def _another(
    pattern: re.Pattern[str], text: str, names: tuple[str, ...], rng: random.Random
) -> Iterator[Slip]:
    """Group 1 of each match becomes another of the names."""
    for found in pattern.finditer(text):
        yield found.start(1), found.end(1), rng.choice([name for name in names if name != found[1]])


def _opposite(pattern: re.Pattern[str], text: str, opposites: dict[str, str]) -> Iterator[Slip]:
    """The one group that took part in each match becomes its opposite."""
    for found in pattern.finditer(text):
        part = found.lastindex or 0
        yield found.start(part), found.end(part), opposites[found[part]]


def _month(
    text: str, found: re.Match[str], part: int, months: tuple[str, ...], rng: random.Random
) -> Iterator[Slip]:
    start, end = found.span(part)
    near = text[max(0, start - 8) : start] + " " + text[end : end + 5]
    day = max((int(number) for number in re.findall(r"(?<!\d)\d{1,2}(?!\d)", near)), default=1)
    options = [
        name
        for name, length in zip(months, _MONTH_LENGTHS, strict=True)
        if day <= length and not re.search(rf"\b{name}\b", text)
    ]
    if options:
        yield start, end, rng.choice(options)


def _from_cycle(
    pattern: re.Pattern[str], text: str, names: tuple[str, ...], rng: random.Random
) -> Iterator[Slip]:
    options = [name for name in names if name not in text]
    for found in pattern.finditer(text):
        if options:
            yield found.start(1), found.end(1), rng.choice(options)


def _century(found: re.Match[str], rng: random.Random) -> Iterator[Slip]:
    if found[3]:
        at = _SPELLED_CENTURIES.index(found[3])
        near = [name for name in _SPELLED_CENTURIES[max(0, at - 2) : at + 3] if name != found[3]]
        yield found.start(3), found.end(3), rng.choice(near)
    elif found[2] == "th" or found[1] == "21":
        value = int(found[1])
        near_values = [new for new in range(max(4, value - 2), min(20, value + 2) + 1) if new != value]
        if near_values:
            yield found.start(1), found.end(2), f"{rng.choice(near_values)}th"


def _currency(text: str, rng: random.Random) -> Iterator[Slip]:
    for found in _CURRENCY.finditer(text):
        yield found.start(1), found.end(1), rng.choice(_CURRENCIES[found[1]])
