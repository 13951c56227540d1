"""Casing errors: capitals that the spelling demands, written small."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases.numerals import EN_DAYS, EN_MONTHS
from perturb.rules.phrases.plain import inside, protected, sentences
from perturb.rules.phrases.slips import Slip
from perturb.rules.tables import read_words, word_set

# Without March and May, which are words of the language too.
_EN_ALWAYS = (
    (frozenset(EN_MONTHS) - {"March", "May"})
    | frozenset(EN_DAYS)
    | word_set(
        """
        English German French Chinese Japanese Korean Korea Japan China Russia Russian Europe European
        America American Americans British Britain Germany France India Indian Spain Spanish Italy Italian
        Poland Polish Ukraine Ukrainian London Paris Moscow Beijing Seoul Tokyo Washington Christmas Africa
        African Asia Asian Canada Canadian Australia Mexico Brazil Iran Israel Syria Egypt
        """
    )
)
_EN_NO_NAMES = read_words("phrases/no_names.en.txt")
"""Capitalised words that could as well be written small, so that a small letter is style and no error."""

_EN_NAME = re.compile(
    r"(?<=[a-z] )(?<!\. )([A-Z][a-z]{2,}(?:[ -][A-Z][a-z]+){0,2})(?![\w’'-]*[A-Z])"
    r"(?! [A-Z\d])(?=[\s,.;:!?)'’]|\Z)"
)
_EN_I = re.compile(r"(?<=[a-z,;] )I(?=(?:'|’)(?:m|ll|ve|d)\b| [a-z])")
_EN_I_START = re.compile(r"I(?=(?:'|’)(?:m|ll|ve|d)\b| [a-z])")
_TITLE_CASE = re.compile(r"(?:\b[A-Z][\w’']*\W+){4,}[A-Z]")
_DE_NOUN = re.compile(
    r"(?:\b(?:[Dd](?:er|ie|as|en|em|es)|[Ee]ine?|[Ee]ine[mnrs]|im|am|zum|zur|vom|beim|ins|Im|Am|Zum|Zur"
    r"|(?:[MmDdSs]ein|[Ii]hr|[Uu]nser|[Kk]ein)(?:e[mnrs]?)?|diese[mnrs]?|jede[mnrs]?)"
    r"(?: [a-zäöüß]{3,}(?:e|en|er|es|em))?) "
    r"([A-ZÄÖÜ][a-zäöüß]{3,})(?=[ ,.;:!?])(?! [A-ZÄÖÜ])"
)
_DE_ADJECTIVAL = re.compile(
    r"(?:\w*(?:ische[rn]?|lichen?|igen?|enden?|ste[nr]?|erste[nr]?|zweite[nr]?|dritte[nr]?|letzte[nr]?|andere[nr]?|deutsche[nr]?|Beide[n]?))\Z",
    re.IGNORECASE,
)


def casing_slips(text: str, language: str, rng: random.Random) -> Iterator[Slip]:
    """Yield ``(start, end, lowered)`` for one name, noun (German), *I* or first word of a sentence."""
    # A text that is all capitals, a title, or carefree about capitals has no casing to break.
    if (
        text.isupper()
        or text.islower()
        or _TITLE_CASE.search(text)
        or re.search(r"(?:^|[ .])i(?:'|’|\s)", text)
    ):
        return
    spans = protected(text)
    parts = sentences(text, language)
    groups = [list(_starts(text, parts, language))]
    if language == "en":
        groups += [list(_english_names(text)), list(_english_i(text, parts))]
    else:
        groups += [
            [
                (m.start(1), m.end(1), m[1].lower())
                for m in _DE_NOUN.finditer(text)
                if not _DE_ADJECTIVAL.match(m[1])
            ]
        ]
        # Nouns are what German capitals are about: twice the chance of a sentence start.
        groups.append(groups[-1])
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
        for start, end, new in group:
            if not inside(start, end, spans) and text[start:end] != new:
                yield start, end, new


def _starts(text: str, parts: list[tuple[int, int]], language: str) -> Iterator[Slip]:
    """The first letter of a sentence whose first word is no name and no *I*."""
    if any(text[start].islower() for start, _ in parts):
        return
    for at, (start, end) in enumerate(parts):
        word = re.match(r"([A-ZÄÖÜ])[a-zäöüß]+(?=[ ,])", text[start:end])
        if word is None or end - start < 12 or text[end - 1] not in ".!?\"”“'’":
            continue
        # Behind a colon or an ellipsis a small letter is right; German Sie is a form of address.
        if (at and text[parts[at - 1][1] - 1] in "…:") or text[max(0, start - 4) : start].rstrip().endswith(
            ("...", "…")
        ):
            continue
        if language == "de" and word.group() in ("Sie", "Ihr", "Ihre", "Ihren", "Ihnen"):
            continue
        if language == "en" and word.group() in _EN_ALWAYS:
            continue
        yield start, start + 1, word[1].lower()


def _english_names(text: str) -> Iterator[Slip]:
    for found in _EN_NAME.finditer(text):
        # "Police Commissioner Gill", "Ministry of Trade": a part of a longer name is no target.
        if re.search(
            r"(?:\b[A-Z][\w’'.-]*|\b[A-Z][\w’'-]* (?:and|of|for|the|de|on|in)) \Z", text[: found.start()]
        ):
            continue
        words = re.split(r"[ -]", found[1])
        if any(word in _EN_NO_NAMES for word in words):
            continue
        # A word that the text also writes small is no name there.
        if any(re.search(rf"\b{word.lower()}\b", text) for word in words):
            continue
        yield found.start(1), found.end(1), found[1].lower()


def _english_i(text: str, parts: list[tuple[int, int]]) -> Iterator[Slip]:
    for found in _EN_I.finditer(text):
        yield found.start(), found.end(), "i"
    for start, _ in parts:
        if _EN_I_START.match(text, start):
            yield start, start + 1, "i"
