"""Where names stand in a text: whole names only, with what stands around them looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from perturb.rules.lexica.romanisation import CYCLE, SYLLABLES, pinyin_splits
from perturb.rules.phrases.plain import opens_sentence
from perturb.rules.tables import read_groups, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

TITLE_WORDS = word_set(
    "king duke marquis earl count prince emperor empress queen lord lady consort princess general"
    " minister master mount lake river young viscount baron president governor senator crown grand great"
    " mr mrs ms new south north west east central greater upper lower inner outer saint san los bank"
)
_SMALL = word_set(
    "the a an in on at of to from by for with and but when if as his her their this that after before"
)
_PERSON_ROLES = word_set("nsubj nsubjpass agent appos dobj poss conj dative npadvmod")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text, and the capitalised words next to it (empty where there is none)."""

    start: int
    end: int
    before: str
    after: str


def mentions(text: str, name: str) -> list[Mention]:
    """Every place where ``name`` stands as whole words (a possessive ending does not belong to it)."""
    if name not in text:
        return []
    found = []
    for match in re.finditer(rf"(?<![\w'’-]){re.escape(name)}(?!\w|-\w|['’](?!s\b|\W|$))", text):
        left = re.search(r"([A-Za-zÀ-ž'’]+)[.]? $", text[: match.start()])
        right = re.match(r" ([A-Z][\w'’-]*)", text[match.end() :])
        before = left[1] if left and left[1][:1].isupper() and left[1].lower() not in _SMALL else ""
        if (
            before
            and opens_sentence(text, left.start(1) if left else 0)
            and before.lower() not in TITLE_WORDS
        ):
            # A capital at the start of a sentence says nothing, unless the word is itself a name.
            before = before if before.lower() in SYLLABLES else ""
        found.append(Mention(*match.span(), before, right[1] if right else ""))
    return found


@lru_cache(maxsize=1)
def surnames() -> frozenset[str]:
    """Chinese family names, romanised."""
    return frozenset(name for members in read_groups("lexica/surnames.tsv").values() for name in members)


@dataclass(frozen=True, slots=True)
class FullName:
    """A Chinese name as family name and given name, two words."""

    family: str
    given: str


def chinese_names(doc: Doc) -> Iterator[FullName]:
    """Persons of family name and given name, two words without a title or a name beside them; each once."""
    seen = set()
    text = doc.text
    for match in re.finditer(r"(?<![\w'’-])([A-Z][a-zü]+) ([A-Z][a-zü]+)(?![\w-])", text):
        pair = FullName(match[1], match[2])
        if pair.family not in surnames() or not is_given_name(pair.given) or pair in seen:
            continue
        seen.add(pair)
        span = doc.char_span(*match.span())
        if span is None or any(token.pos_ != "PROPN" for token in span) or not _is_person(text, span):
            continue
        places = mentions(text, match[0])
        if places and not any(place.before or place.after for place in places):
            yield pair


def _is_person(text: str, span: Span) -> bool:
    """Whether two words of pinyin are used as a person's name, not as a day, a star or a place."""
    if (span[0].lower_ + span[1].lower_) in CYCLE or text[span.end_char :].startswith((" (", ":")):
        return False
    head = span.root
    before = text[: span.start_char].rstrip(" '\"")
    if re.search(
        r"\b(?:day|year|month|state|county|city|kingdom|land|region|place) of$|\b(?:is|are|in|at|li to|the)$",
        before,
    ):
        return False
    return head.dep_ in _PERSON_ROLES or (head.dep_ == "pobj" and head.ent_type_ == "PERSON")


def is_given_name(word: str) -> bool:
    """Whether a word can be read as one or two syllables of pinyin."""
    return any(len(split) <= 2 for split in pinyin_splits(word.lower()))


def is_english(word: str) -> bool:
    """Whether a romanised word could be taken for an English one ("Like", "Dane")."""
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(word.lower()))
