"""Which names of a text may be exchanged for which others."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from challenge_sets import Translation
from perturb.rules.lexica.mentions import Mention, chinese_names, mentions
from perturb.rules.lexica.romanisation import SYLLABLES
from perturb.rules.tables import read_groups, read_rows

if TYPE_CHECKING:
    from spacy.tokens import Doc

_ANCIENT = (
    "ancient states",
    "ancient masters",
    "disciples",
    "sage kings",
    "ancient places",
    "ancient peoples",
)
_KOREAN = ("Korean places", "Korean regions", "Korean surnames")
_NOT_LISTED = ("posthumous names", "men", "women", "surnames", "men of old", "Chinese today")
_MALE, _FEMALE = (
    re.compile(r"\b(?:he|him|his)\b", re.IGNORECASE),
    re.compile(r"\b(?:she|her|hers)\b", re.IGNORECASE),
)
_COMPANIES = frozenset(
    {"Thomas Cook", "James Beard", "Charles Schwab", "Paul Smith", "Max Planck", "Jack Daniel"}
)
_REALMS = re.compile(
    r"(?:[Ss]tates?|[Kk]ings?|[Dd]ukes?|[Mm]arquis|[Rr]uler|[Pp]eople|[Ll]ord|[Ee]arl|men|land|army) of $"
)


def _name_groups() -> dict[str, tuple[str, ...]]:
    return read_groups("lexica/name_groups.tsv")


@lru_cache(maxsize=1)
def _demonyms() -> dict[str, str]:
    return {row[0]: row[1] for row in read_rows("lexica/demonyms.tsv")}


def _related(country: str) -> str:
    """How the adjective of a country begins."""
    bare = country.removeprefix("the ")
    return _demonyms().get(bare, bare[:4])


Mapping = dict[str, str]
"""Names of one person or place and what stands for each of them in the copy."""


def exchanges(doc: Doc, translation: Translation, rng: random.Random) -> Iterator[Mapping]:
    """Every name that may be exchanged, with another of its kind: people before the rest, or after it."""
    text = doc.text
    ancient = translation.source_lang == "lzh"
    chinese = ancient or translation.source_lang.startswith("zh")
    people: list[Mapping] = []
    if chinese:
        people += _chinese_people(doc, text, ancient, rng)
    if not ancient:
        people += _western_people(doc, text, rng)
    others = [found for group in _name_groups() for found in _listed(doc, text, group, ancient, rng)]
    rng.shuffle(people)
    rng.shuffle(others)
    # Both kinds come first equally often.
    yield from people + others if rng.random() < 0.5 else others + people


def _chinese_people(doc: Doc, text: str, ancient: bool, rng: random.Random) -> Iterator[Mapping]:
    for name in chinese_names(doc):
        short = len(name.given) <= 6 and "'" not in name.given and name.given.lower() in SYLLABLES
        group = (
            ("men of old" if short else "men of old with two-syllable given names")
            if ancient
            else "Chinese today"
        )
        if not ancient and short:
            continue
        known = [other.split(" ") for other in _name_groups()[group]]
        pool = [
            (f, g)
            for f, g in known
            if f != name.family and g != name.given and f not in text and g not in text
        ]
        alone = [m for m in mentions(text, name.given) if m.before != name.family]
        family = [m for m in mentions(text, name.family) if m.after != name.given]
        # A part of the name that stands elsewhere with other names cannot be told apart from it.
        realm = bool(alone) and name.given in _name_groups()["ancient states"]
        if realm or not pool or any(m.before or m.after for m in alone) or (ancient and family):
            continue
        if any(m.after or m.before.lower() not in ("", "mr", "ms") for m in family):
            continue
        new = rng.choice(pool)
        found = {f"{name.family} {name.given}": " ".join(new)}
        if alone:
            found[name.given] = new[1]
        if family:
            found[name.family] = new[0]
        yield found


def _western_people(doc: Doc, text: str, rng: random.Random) -> Iterator[Mapping]:
    tables = _name_groups()
    for entity in doc.ents:
        words = entity.text.removesuffix("'s").removesuffix("’s").split(" ")
        if (
            entity.label_ != "PERSON"
            or " ".join(words) in _COMPANIES
            or len(words) != 2
            or not all(re.fullmatch(r"[A-Z][a-zà-ž]+", w) for w in words)
        ):
            continue
        gender = next((g for g in ("men", "women") if words[0] in tables[g]), None)
        if gender is None or (
            (_FEMALE if gender == "men" else _MALE).search(text)
            and not ((_MALE if gender == "men" else _FEMALE).search(text))
        ):
            continue
        places = mentions(text, " ".join(words))
        first, last = mentions(text, words[0]), mentions(text, words[1])
        unclear = any(m.after for m in places) or len(first) != len(places)
        if (
            not places
            or unclear
            or any(
                m.before != words[0]
                and (m.after or m.before not in ("", "Mr", "Ms", "Dr", "President", "Senator"))
                for m in last
            )
        ):
            continue
        given = rng.choice([n for n in tables[gender][:20] if n not in text])
        family = rng.choice([n for n in tables["surnames"] if n not in text and n != given])
        found = {" ".join(words): f"{given} {family}"}
        if len(last) > len(places):
            found[words[1]] = family
        yield found


def _listed(doc: Doc, text: str, group: str, ancient: bool, rng: random.Random) -> Iterator[Mapping]:
    members = _name_groups()[group]
    if any(group.startswith(other) for other in _NOT_LISTED) or ((group in _ANCIENT) != ancient):
        return
    for name in members:
        if name not in text or not (places := mentions(text, name)):
            continue
        pool = [other for other in members if other.removeprefix("the ") not in text and other != name]
        if pool and _exchangeable(doc, text, group, name, places):
            yield {name: rng.choice(pool)}


def _exchangeable(doc: Doc, text: str, group: str, name: str, places: list[Mention]) -> bool:
    # Beside a title or another name the word is a person's, or part of a longer name.
    if any(place.after or place.before for place in places):
        return False
    if group == "ancient states":
        return all(_is_realm(doc, text, place) and not text.startswith(" (", place.end) for place in places)
    if group == "sage kings":
        return all(_tag(doc, p) == "PROPN" and not re.match(r":| \(", text[p.end :]) for p in places)
    if group in ("countries", "countries with article"):
        near = text[: places[0].start].rstrip()
        if any(re.match(r" of [A-Z]", text[place.end :]) for place in places):
            return False
        if near.endswith(",") or re.search(rf"\b{re.escape(_related(name))}\w*", _without(text, name)):
            return False
    if group in ("nationalities and languages", "nationalities", "peoples"):
        stem = name[:4]
        country = next((c for c, adjective in _demonyms().items() if adjective == name), stem)
        if re.search(rf"\b(?:{re.escape(country)}|{re.escape(stem)})\w*", _without(text, name)):
            return False
        if any(re.match(r"-|\s(?:wine|dressing|fries|Open)\b", text[p.end :]) for p in places):
            return False
    if group in ("cities", "American states") and any(
        re.match(r", [A-Z]", text[p.end :]) or re.search(r"[A-Z]\w+, $", text[: p.start]) for p in places
    ):
        return False
    return all(_tag(doc, place) in ("PROPN", "ADJ") for place in places)


def _is_realm(doc: Doc, text: str, place: Mention) -> bool:
    """Whether a state of old is meant: after "of", "in", "to", a possessive, or before its army or people."""
    if _REALMS.search(text[: place.start]):
        return True
    if re.search(
        r"\b(?:in|from|to|against|attacked|invaded|and|between|at|left|entered|besieged) $",
        text[: place.start],
    ):
        return _tag(doc, place) == "PROPN"
    return bool(
        re.match(
            r"(?: (?:army|state|general|people|troops|forces|court|ruler|envoy|envoys|soldiers)|['’]s)\b",
            text[place.end :],
        )
    )


def _tag(doc: Doc, place: Mention) -> str:
    span = doc.char_span(place.start, place.end)
    return str(span[-1].pos_) if span is not None else ""


def _without(text: str, name: str) -> str:
    return text.replace(name, " ")
