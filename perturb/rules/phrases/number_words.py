"""Slips in numbers written as words or as Chinese numerals."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases import numerals
from perturb.rules.phrases.slips import Slip
from perturb.rules.tables import alternation

_EN_CARDINALS = (*numerals.EN_SMALL, *numerals.EN_TEENS, *numerals.EN_TENS)
_EN_WORD = alternation((*_EN_CARDINALS, *numerals.EN_SCALES, "one"))
_EN_RUN = re.compile(rf"\b(?:{_EN_WORD})(?:(?:[ -]|,? and |,? )(?:{_EN_WORD}))*\b", re.IGNORECASE)
_EN_MEMBER = re.compile(rf"\b(?:{_EN_WORD})\b", re.IGNORECASE)
_EN_NEAR_BEFORE = re.compile(r"(?:\b(?:or|to|cloud|one of)|\d|[–-]) ?\Z", re.IGNORECASE)
_EN_NEAR_AFTER = re.compile(
    r"(?:,? or\b| to (?:one|\w+ty|\d|\w+teen|"
    + "|".join(numerals.EN_SMALL)
    + r")\b| (?:and a half|out of|thirds|fifths|quarters|by|minds|cents)\b| [A-Z]|[–]|fold|'|’)"
)
_EN_HYPHEN = re.compile(rf"-(?:{'|'.join(numerals.EN_HYPHENATED)})s?\b")
_EN_ORDINAL = re.compile(
    r"\b(?P<lead>the|his|her|their|its|my|our|every|on the|on) "
    rf"(?:(?:{'|'.join(numerals.EN_TENS)})-(?P<unit>{'|'.join(numerals.EN_UNIT_ORDINALS)})"
    rf"|(?P<plain>{'|'.join(numerals.EN_ORDINALS)})) (?P<next>[a-z]+)",
    re.IGNORECASE,
)
_EN_FIRST = re.compile(
    r"\b(?:In|in|on|On|until|since|of) the (first) (?:year|month|day|week|century|chapter|grade|floor"
    r"|round)\b(?! of (?:all|its))"
)
_EN_TWICE = re.compile(r"\b(twice)\b(?! (?:as|the|over|about|before))", re.IGNORECASE)

_DE_WORD = "|".join((*numerals.DE_SMALL, *numerals.DE_TENS))
_DE_CARDINAL = re.compile(
    rf"(?<![-\w])({_DE_WORD})(?= (?:[a-zäöü]+(?:e|en|er) )?[A-ZÄÖÜ][a-zäöü]{{2,}})", re.IGNORECASE
)
_DE_NEAR_BEFORE = re.compile(r"(?:\b(?:oder|bis|und|von)|\d|[–-]) ?\Z", re.IGNORECASE)
_DE_NEAR_AFTER = re.compile(r" (?:oder|bis|und|Drittel|Viertel|Fünftel|Uhr|von)\b")
_DE_ORDINAL = re.compile(
    r"\b(?:die|der|das|den|dem|des|zum|im|am|beim|ihr|sein|ihre[nr]?|seine[nmr]?) "
    rf"({'|'.join(numerals.DE_ORDINALS)})(?:n|r|s|m)? (?!Weltkrieg|Hälfte|Hand|Welt|Person"
    rf"|Geige)[A-ZÄÖÜ]"
)
_DE_COMPOUND = re.compile(rf"\b({'|'.join(numerals.DE_SMALL[:8])})(?:hundert|tausend|einhalb|mal)\b")

_CJK_DIGITS = "三四五六七八九"
_ZH_COUNTED = re.compile(
    rf"(?<![一二三四五六七八九十百千万亿两几数半点.．\d之])(第?)([二三四五六七八九十百两]{{1,3}})({numerals.ZH_COUNTERS})"
)
_JA_COUNTED = re.compile(
    rf"(?<![一二三四五六七八九十百千万億数何半点.．\d])(第?)([二三四五六七八九十百]{{1,3}})({numerals.JA_COUNTERS})"
)


def number_word_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield ``(start, end, replacement)`` for number words in random order; never to or from *one*."""
    finders = {"en": _english, "de": _german, "zh": _chinese, "ja": _japanese}
    if language in finders:
        found = list(finders[language](text, rng))
        rng.shuffle(found)
        # A number that the text repeats is better left alone: the slip would contradict its own text.
        lowered = text.lower()
        found.sort(key=lambda slip: lowered.count(lowered[slip[0] : slip[1]]) > 1)
        yield from found


def _english(text: str, rng: random.Random) -> Iterator[Slip]:
    used = {word.lower() for word in _EN_MEMBER.findall(text)}
    for run in _EN_RUN.finditer(text):
        words = list(_EN_MEMBER.finditer(text, run.start(), run.end()))
        small = [word for word in words if word.group().lower() not in numerals.EN_SCALES]
        # "three, five", "two and two" and "one or two" are several numbers, not one.
        if re.search(r", | and (?!\w+[ -]?\w*$)", run.group()) or len(small) > 2 or len(words) > 4:
            continue
        if len(small) == 2 and not re.search(
            r"(?:ty-|hundred |thousand |hundred and |thousand and )", run.group()
        ):
            continue
        if _EN_NEAR_BEFORE.search(text, max(0, run.start() - 8), run.start()):
            continue
        if _EN_NEAR_AFTER.match(text, run.end()):
            continue
        if text[run.end() : run.end() + 1] == "-" and not _EN_HYPHEN.match(text, run.end()):
            continue
        if "-night" in text and text[run.end() : run.end() + 4] == "-day":
            continue
        if any(word.group()[0].isupper() for word in words[1:]) or (
            words[0].group()[0].isupper() and not _starts_sentence(text, run.start())
        ):
            continue
        options = [slip for word in small for slip in _english_member(word, words, used, rng)]
        if len(small) <= 1:
            options += _english_scale(text, run, words)
        if options:
            yield rng.choice(options)
    for ordinal in _EN_ORDINAL.finditer(text):
        if ordinal["next"].lower() not in numerals.EN_LEXICAL_ORDINALS and ordinal["next"].islower():
            yield from _english_ordinal(ordinal, rng)
    for first in _EN_FIRST.finditer(text):
        yield first.start(1), first.end(1), rng.choice(("second", "third", "fourth"))
    for twice in _EN_TWICE.finditer(text):
        new = rng.choice(("three times", "four times"))
        yield twice.start(), twice.end(), new.capitalize() if twice.group()[0] == "T" else new


def _english_member(
    word: re.Match[str], words: list[re.Match[str]], used: set[str], rng: random.Random
) -> Iterator[Slip]:
    name = word.group().lower()
    family: tuple[str, ...]
    alone = len([other for other in words if other.group().lower() not in numerals.EN_SCALES]) == 1
    if name in numerals.EN_SMALL:
        joined = len(words) > 1 and (not alone or words[0].group() != word.group())
        family = (
            numerals.EN_SMALL[:8]
            if joined or (len(words) > 1 and name not in ("ten", "eleven", "twelve"))
            else numerals.EN_SMALL
        )
    elif name in numerals.EN_TEENS:
        family = (*numerals.EN_SMALL[-2:], *numerals.EN_TEENS)
    elif name in numerals.EN_TENS:
        family = numerals.EN_TENS
    else:
        return
    if name not in family:
        return
    at = family.index(name)
    near = [other for other in family[max(0, at - 3) : at + 4] if other not in used]
    if near:
        new = rng.choice(near)
        yield word.start(), word.end(), new.capitalize() if word.group()[0].isupper() else new


def _english_scale(text: str, run: re.Match[str], words: list[re.Match[str]]) -> Iterator[Slip]:
    scales = [word for word in words if word.group() in ("hundred", "thousand")]
    if len(scales) != 1 or scales[0].end() != run.end():
        return
    first = words[0].group().lower()
    article = re.search(r"\ba \Z", text[max(0, run.start() - 3) : run.start()])
    if first in (*numerals.EN_SMALL[:8], "one") or (len(words) == 1 and article):
        old = scales[0].group()
        yield scales[0].start(), scales[0].end(), "thousand" if old == "hundred" else "hundred"


def _english_ordinal(ordinal: re.Match[str], rng: random.Random) -> Iterator[Slip]:
    family: tuple[str, ...]
    if ordinal["unit"]:
        part, family = "unit", numerals.EN_UNIT_ORDINALS
        at = family.index(ordinal[part].lower())
        limit = len(family)
    else:
        part, family = "plain", numerals.EN_ORDINALS
        at = family.index(ordinal[part].lower())
        limit = 11 if ordinal["next"] in ("month", "lunar") else len(family)
    if at >= limit:
        return
    old = ordinal[part]
    near = [other for other in family[max(0, at - 3) : min(limit, at + 4)] if other != old.lower()]
    yield ordinal.start(part), ordinal.end(part), rng.choice(near)


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"'“‘(«\n")
    return not before or before[-1] in ".!?:"


def _german(text: str, rng: random.Random) -> Iterator[Slip]:
    used = set(re.findall(rf"\b(?:{_DE_WORD})\b", text.lower()))
    for found in _DE_CARDINAL.finditer(text):
        if _DE_NEAR_BEFORE.search(text, max(0, found.start() - 8), found.start()):
            continue
        if _DE_NEAR_AFTER.match(text, found.end()):
            continue
        word = found.group()
        if word[0].isupper() and not _starts_sentence(text, found.start()):
            continue
        family = numerals.DE_SMALL if word.lower() in numerals.DE_SMALL else numerals.DE_TENS
        at = family.index(word.lower())
        near = [other for other in family[max(0, at - 3) : at + 4] if other not in used]
        if near:
            new = rng.choice(near)
            yield found.start(), found.end(), new.capitalize() if word[0].isupper() else new
    for found in _DE_ORDINAL.finditer(text):
        at = numerals.DE_ORDINALS.index(found[1])
        near = [other for other in numerals.DE_ORDINALS[max(0, at - 2) : at + 4] if other != found[1]]
        yield found.start(1), found.end(1), rng.choice(near)
    for found in _DE_COMPOUND.finditer(text):
        new = rng.choice([word for word in numerals.DE_SMALL[:8] if word != found[1]])
        yield found.start(1), found.end(1), new


def _chinese(text: str, rng: random.Random) -> Iterator[Slip]:
    yield from _counted(text, _ZH_COUNTED, rng)


def _japanese(text: str, rng: random.Random) -> Iterator[Slip]:
    yield from _counted(text, _JA_COUNTED, rng)


def _counted(text: str, pattern: re.Pattern[str], rng: random.Random) -> Iterator[Slip]:
    lexical = [
        (found.start(), found.end())
        for word in numerals.CJK_LEXICAL
        if word in text
        for found in re.finditer(re.escape(word), text)
    ]
    for found in pattern.finditer(text):
        start, end = found.start(2), found.end(2)
        if any(here < found.end() and start < there for here, there in lexical):
            continue
        numeral, counter = found[2], found[3]
        places = [at for at, sign in enumerate(numeral) if sign in "二两三四五六七八九"]
        if counter in ("月", "月份") and len(numeral) > 1:
            continue
        if not places:
            new = rng.choice("五六七八九") if numeral == "十" and counter not in ("月", "日", "号") else ""
            if new:
                yield start, end, new
            continue
        at = rng.choice(places)
        # 二十四 and 二十 days: the tens of a day of the month may not leave the calendar.
        if counter in ("日", "号") and len(numeral) > 1 and at == 0:
            continue
        family = _CJK_DIGITS[:5] if counter in ("つ", "点", "号", "年级", "年生", "階") else _CJK_DIGITS
        if counter in ("点", "点钟", "点半", "つ"):
            value = _CJK_DIGITS.find(numeral[at])
            family = _CJK_DIGITS[max(0, value - 2) : value + 3]
        new = rng.choice([sign for sign in family if sign not in text[start:end]])
        yield start + at, start + at + 1, new
