"""Clause and punctuation changes that keep the words: sentences split where they may be, and joined."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules.clauses import FINITE
from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
_PRONOUNS = word_set("he she it they we you this these there")
_OPENING_TAGS = frozenset({"PRON", "DET", "PROPN", "NOUN", "ADJ", "ADV", "NUM", "CCONJ", "ADP"})
_FUNCTION_TAGS = frozenset({"PRON", "DET", "CCONJ", "ADV", "SCONJ", "ADP", "AUX"})
_NOT_OPENING = word_set("which who whom whose that not nor or yet as than when where how what")
_PAIRED = {"(": ")", "[": "]", "“": "”", "‘": "’", '"': '"'}


def _finite(verb: Token) -> bool:
    return verb.tag_ in FINITE or any(
        child.dep_ in ("aux", "auxpass") and child.tag_ in FINITE for child in verb.children
    )


def _is_clause(verb: Token, start: int, end: int) -> bool:
    """Whether ``verb`` heads a main clause in the tokens ``[start, end)``, its own subject inside."""
    inside = [child for child in verb.children if child.dep_ in _SUBJECTS and start <= child.i < end]
    relative = any(child.tag_ in ("WDT", "WP", "WRB", "WP$") for child in inside)
    return (
        start <= verb.i < end
        and verb.pos_ in ("VERB", "AUX")
        and len(inside) == 1
        and not relative
        and inside[0].i < verb.i
        and _finite(verb)
        and not any(child.dep_ == "mark" and start <= child.i < end for child in verb.children)
    )


def _main_verb(doc: Doc, start: int, end: int) -> Token | None:
    """The verb that heads the tokens ``[start, end)``, if it makes a main clause of them."""
    heads = [token for token in doc[start:end] if token.dep_ in ("ROOT", "conj", "ccomp", "parataxis")]
    for token in heads:
        if _is_clause(token, start, end):
            return token
    return None


def _starts_plainly(doc: Doc, start: int) -> bool:
    """Whether the first word can begin a sentence."""
    first = doc[start]
    return first.pos_ in _OPENING_TAGS and first.lower_ not in _NOT_OPENING


def _balanced(piece: str) -> bool:
    plain = re.sub(r"(?<=\w)['’](?=\w)", "", piece)
    if "'" in plain or "’" in plain.replace("’s", "") or plain.count('"') % 2:
        return False
    return all(plain.count(opening) == plain.count(closing) for opening, closing in _PAIRED.items())


def _lowered(token: Token) -> str | None:
    """The first letter inside a sentence: ``None`` where the capital may belong to the word."""
    word = token.text
    if word == "I" or word.startswith(("I'", "I’")):
        return word[0]
    no_name = token.pos_ in _FUNCTION_TAGS and token.ent_type_ in ("", "DATE", "TIME", "CARDINAL")
    return word[0].lower() if (no_name and word[1:].islower()) or word == "A" else None


@PERTURBATIONS.register("segmentation")
class Segmentation(Perturbation):
    """Two main clauses are parted by a full stop, or two short sentences joined; the words stay."""

    category = "segmentation"
    kind = "variation"
    severity = "none"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = "two main clauses split into sentences or joined into one, the words unchanged"
    absent = "no two main clauses that can be split or joined"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Semicolons, clauses joined by "and", "but" or "so", and short sentences, in random order."""
        doc = example.required_parse
        found = [*_semicolons(doc), *_coordinations(doc), *_neighbours(doc)]
        rng.shuffle(found)
        yield from found


def _split(doc: Doc, mark: Token, left: int, right: int) -> list[Change] | None:
    """A full stop for ``mark`` and a capital after it, if no quotation or bracket spans the place."""
    start = mark.i + 1
    if start >= right or doc[start].is_space or not doc[start].text[:1].isalpha():
        return None
    first = doc[start]
    here = first.idx
    one, two = doc[left : mark.i].text, doc[start:right].text
    if not (_balanced(one) and _balanced(two)) or not mark.whitespace_:
        return None
    changes = [Change(mark.idx, mark.idx + len(mark), ".")]
    if first.text[0].islower():
        changes.append(Change(here, here + 1, first.text[0].upper()))
    return changes


def _semicolons(doc: Doc) -> Iterator[list[Change]]:
    for left, right in _sentences(doc):
        marks = [token for token in doc[left:right] if token.text == ";"]
        # Several semicolons in a row are a list or a parallel, which a single full stop would break.
        if len(marks) != 1:
            continue
        mark = marks[0]
        one, two = _main_verb(doc, left, mark.i), _main_verb(doc, mark.i + 1, right)
        if one is None or two is None or not _starts_plainly(doc, mark.i + 1):
            continue
        if (changes := _split(doc, mark, left, right)) is not None:
            yield changes


def _coordinations(doc: Doc) -> Iterator[list[Change]]:
    for left, right in _sentences(doc):
        for comma in doc[left:right]:
            if (
                comma.text != ","
                or comma.i + 2 >= right
                or doc[comma.i + 1].lower_ not in ("and", "but", "so")
            ):
                continue
            joint = doc[comma.i + 1]
            second = _main_verb(doc, comma.i + 2, right)
            first = second.head if second is not None and second.dep_ == "conj" else None
            if (
                second is None
                or first is None
                or first.dep_ != "ROOT"
                or not _is_clause(first, left, comma.i)
            ):
                continue
            subject = next(child for child in second.children if child.dep_ in _SUBJECTS)
            if _clauses(doc, left, comma.i) > 1:
                continue
            close = subject.left_edge.i <= comma.i + 3 and subject.i < second.i
            lists = sum(token.text in (",", ";", ":") for token in doc[left:right])
            if joint.lower_ == "so" and doc[comma.i + 2].lower_ in ("that", "as", "many", "much"):
                continue
            if not close or lists > 3 or right - left < 12 or not _long_enough(doc, left, comma.i, right):
                continue
            if any(
                token.dep_ == "mark" or token.lower_ in ("if", "when", "either", "both", "not")
                for token in doc[left : left + 2]
            ):
                continue
            if (changes := _split(doc, comma, left, right)) is not None:
                yield changes


def _clauses(doc: Doc, left: int, right: int) -> int:
    """How many clauses of equal rank stand in a stretch: three in a row are a list, not two sentences."""
    return sum(
        token.dep_ in _SUBJECTS
        and token.head.dep_ in ("ROOT", "conj", "ccomp", "parataxis")
        and _finite(token.head)
        for token in doc[left:right]
    )


def _long_enough(doc: Doc, left: int, middle: int, right: int) -> bool:
    return middle - left >= 5 and right - middle >= 6


def _neighbours(doc: Doc) -> Iterator[list[Change]]:
    spans = list(_sentences(doc))
    for (left, middle), (start, right) in pairwise(spans):
        if middle != start or doc[middle - 1].text != "." or doc[right - 1].text != ".":
            continue
        one, two = doc[left : middle - 1], doc[start : right - 1]
        if not (4 <= len(one) <= 16 and 4 <= len(two) <= 16 and _plain(one) and _plain(two)):
            continue
        verb_one, verb_two = _main_verb(doc, left, middle - 1), _main_verb(doc, start, right - 1)
        stop, first = doc[middle - 1], doc[start]
        if verb_one is None or verb_two is None or verb_one.dep_ != "ROOT" or verb_two.dep_ != "ROOT":
            continue
        if stop.whitespace_ != " " or re.search(
            r"(?:^|\s|\.)[A-Z]?[a-z]{0,2}$|\b(?:etc|vol|pp|Jr|Sr|Inc|Co|Corp)$", one.text
        ):
            continue
        if first.lower_ in ("but", "and", "so"):
            mark = ","
        elif first.lower_ in _PRONOUNS or first.lower_ in ("i", "however", "therefore", "thus"):
            mark = ";"
        else:
            continue
        lowered = _lowered(first)
        if lowered is None:
            continue
        changes = [Change(stop.idx, stop.idx + 1, mark)]
        if lowered != first.text[0]:
            changes.append(Change(first.idx, first.idx + 1, lowered))
        yield changes


def _plain(span: Span) -> bool:
    return _balanced(span.text) and not any(token.text in ';:()[]"“”—–?!…' for token in span)


def _sentences(doc: Doc) -> Iterator[tuple[int, int]]:
    """Stretches between full stops, as tokens: the parser's own sentences break at semicolons too."""
    start = 0
    for token in doc:
        last = token.i + 1 == len(doc)
        if token.text in (".", "!", "?") or "\n" in token.text or last:
            if start < token.i + 1:
                yield start, token.i + 1
            start = token.i + 1
