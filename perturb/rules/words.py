"""Wrong words: lexical errors (a contrary, a neighbour, another number) and wrong titles of rank."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules.edits import begins_sentence, replace_word
from perturb.rules.lexica.mentions import is_english
from perturb.rules.lexica.senses import ORDINALS, PERSONS, fits, in_phrase, key_of, stands_free
from perturb.rules.phrases.numerals import EN_SMALL, EN_TENS
from perturb.rules.tables import alternation, read_groups, read_lines, read_rows, word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_INFLECTED = {"NOUN": ("NNS",), "VERB": ("VBD", "VBG", "VBN", "VBZ"), "ADJ": ("JJR", "JJS"), "ADV": ()}
# Plurals that the inflection lexicon lacks, or gives in a rarer form first.
_PLURALS = {"ox": "oxen", "fish": "fish", "euro": "euros", "burger": "burgers", "phoenix": "phoenixes"}
_CARDINALS = EN_SMALL[1:8]
"""Three to nine."""
_COUNTING = frozenset({*ORDINALS, *_CARDINALS, *EN_TENS})
_COUNTED_TIMES = word_set("year month day generation century week season")


@lru_cache(maxsize=1)
def _contrasts() -> dict[tuple[str, str], dict[str, str]]:
    table: dict[tuple[str, str], dict[str, str]] = {}
    for pos, frame, lemma, other in read_rows("lexica/contrasts.tsv"):
        table.setdefault((pos, lemma), {})[frame] = other
    return table


def _inflect(token: Token, lemma: str) -> str | None:
    """``lemma`` in the form of ``token``; ``None`` where no one-word form is known."""
    if token.tag_ not in _INFLECTED.get(token.pos_, ()) or token.lower_.startswith("eld"):
        return lemma
    from lemminflect import getAllInflections, getInflection

    if token.pos_ == "NOUN" and lemma in _PLURALS:
        return _PLURALS[lemma]
    if " " in lemma or token.tag_ not in getAllInflections(lemma, upos=token.pos_):
        return None
    forms = getInflection(lemma, tag=token.tag_)
    return forms[0] if forms else None


def _other_number(token: Token, rng: random.Random) -> str | None:
    """Another number word of the same shape for one that counts; never 1, which changes agreement."""
    word, doc = token.lower_, token.doc
    after = doc[token.i + 1] if token.i + 1 < len(doc) else None
    if after is None or (token.text[:1].isupper() and not token.is_sent_start):
        return None
    choices: tuple[str, ...]
    if word in ORDINALS:
        if not (token.dep_ == "amod" and token.head == after and token.head.lemma_.lower() in _COUNTED_TIMES):
            return None
        choices = ORDINALS[1:] if word != "second" else ORDINALS[2:]
    elif word in _CARDINALS or word in EN_TENS:
        counts = token.dep_ == "nummod" and after.tag_ == "NNS" and token.head == after
        big = after.lower_ in ("hundred", "thousand", "million", "billion")
        if not (counts or (big and after.head.tag_ == "NNS")):
            return None
        choices = _CARDINALS if word in _CARDINALS else EN_TENS
    else:
        return None
    return rng.choice([other for other in choices if other != word])


@PERTURBATIONS.register("lexical")
class Lexical(Perturbation):
    """A content word is translated by its contrary or a neighbour in meaning, or a number word by another."""

    category = "lexical"
    kind = "error"
    severity = "major"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = "one word replaced by its contrary, a co-hyponym or another number: a mistranslated word"
    absent = "no word of the lexicon in a plain sense"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Words that occur once, in random order; number words come first in one text of four."""
        doc = example.required_parse
        text = example.text
        tokens = list(doc)
        uses = Counter(token.lower_ for token in tokens)
        present = uses.keys() | {token.lemma_.lower() for token in tokens}
        lemmas = Counter(map(key_of, tokens))
        contrasts: list[Change] = []
        numbers: list[Change] = []
        for token in tokens:
            if uses[token.lower_] != 1 or not _in_lexicon(token) or lemmas[key_of(token)] != 1:
                continue
            if not stands_free(token):
                continue
            here = (token.idx, token.idx + len(token))
            if (number := _other_number(token, rng)) and number not in present:
                found, replacement = numbers, number
            elif (word := _replacement(token)) and present.isdisjoint(word[1].split()):
                found, replacement = contrasts, word[0]
            else:
                continue
            if not in_phrase(text, *here):
                found.append(replace_word(text, *here, replacement))
        rng.shuffle(contrasts)
        rng.shuffle(numbers)
        for change in numbers + contrasts if rng.random() < 0.25 else contrasts + numbers:
            yield [change]


def _in_lexicon(token: Token) -> bool:
    """Whether the word can be exchanged at all, before the parse is asked how it is used."""
    return (_pos(token), key_of(token)) in _contrasts() or token.lower_ in _COUNTING


def _pos(token: Token) -> str:
    return "ADP" if token.pos_ == "SCONJ" else str(token.pos_)


def _replacement(token: Token) -> tuple[str, str] | None:
    """The contrasting word in the token's form, and its lemma."""
    for frame, other in _contrasts().get((_pos(token), key_of(token)), {}).items():
        if not fits(token, frame):
            continue
        of_person = key_of(token) == "old" and token.head.lemma_.lower() in PERSONS
        contrast = "young" if of_person else other
        if (form := _inflect(token, contrast)) is not None:
            return form, contrast
    return None


@lru_cache(maxsize=1)
def _titles() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of every title in singular and plural, and the way from a form to its singular."""
    singular = {title: title for members in read_groups("lexica/titles.tsv").values() for title in members}
    for title in list(singular):
        if title[0].islower():
            singular[title + ("es" if title.endswith("s") else "s")] = title
    return re.compile(rf"(?<![\w-])(?:{alternation(singular)})(?![\w-])", re.IGNORECASE), singular


@lru_cache(maxsize=1)
def _title_words() -> frozenset[str]:
    """The letters that each title begins with."""
    starts = (re.match(r"[a-z]+", form.lower()) for form in _titles()[1])
    return frozenset(start[0] for start in starts if start)


@lru_cache(maxsize=1)
def _not_titles() -> re.Pattern[str]:
    phrases = "|".join(read_lines("lexica/not_titles.tsv"))
    return re.compile(rf"\b(?:{phrases})\b", re.IGNORECASE)


# Pairs that one source word may stand for: no mistranslation, or hardly one.
_NEAR = (
    {"king", "emperor"},
    {"governor", "prefect", "magistrate"},
    {"general", "commander", "commandant", "colonel", "grand general", "grand commandant"},
    {"minister", "chancellor", "chief minister", "grand minister", "prime minister"},
    {"director", "manager", "chairman", "boss"},
    {"senator", "congressman", "representative"},
    {"queen", "empress"},
)
_OFFICE_OF = word_set("minister president director manager chairman secretary professor judge teacher")
# Titles of a name only: alone they are other words, or no mark of rank.
_RANKS = word_set("major sergeant captain judge lieutenant")


@dataclass(frozen=True, slots=True)
class _Title:
    """Where a title stands, its singular, and the name that follows (``Jing``, ``of Zhou``)."""

    start: int
    end: int
    title: str
    plural: bool
    name: str


def _mentions(doc: Doc) -> Iterator[tuple[_Title, bool]]:
    """Every mention of a title, and whether it may be exchanged."""
    text = doc.text
    pattern, singular = _titles()
    # Most texts have no title: looking for words is far cheaper than trying every title at every place.
    if _title_words().isdisjoint(re.findall(r"[a-z]+", text.lower())):
        return
    barred = [match.span() for match in _not_titles().finditer(text)]
    for match in pattern.finditer(text):
        form = next(f for f in (match[0], match[0].lower(), match[0].capitalize()) if f in singular)
        name = re.match(r"\.? ((?:of (?:the )?)?[A-Z][\w'’-]+)", text[match.end() :])
        title = singular[form]
        found = _Title(*match.span(), title, form != title, name[1] if name else "")
        clear = not any(start < match.end() and match.start() < end for start, end in barred)
        yield found, clear and _is_title(doc, found)


def _is_title(doc: Doc, found: _Title) -> bool:
    span = doc.char_span(found.start, found.end)
    if span is None:
        return False
    last, capital = span[-1], doc.text[found.start].isupper()
    before = doc[span.start - 1] if span.start else None
    after = doc[span.end] if span.end < len(doc) else None
    if found.title[0].isupper():
        person = after is not None and after.ent_type_ == "PERSON" and not is_english(after.text)
        return person and (before is None or not before.text[:1].isupper())
    if last.pos_ not in ("NOUN", "PROPN") or found.title in ("engineer", "teacher"):
        return False
    if before is not None:
        # "Grand Historian", "Qi King", "Luther King": the title is part of something longer.
        longer = before.text[:1].isupper() and before.pos_ in ("PROPN", "ADJ", "NOUN", "NUM")
        if longer or before.text in ("-", "–", "/") or (before.dep_ == "compound" and before.head == last):
            return False
    if found.title == "boss" and (after is None or after.text not in ("!", ",")):
        # The boss of a firm, a team or a game: no form of address.
        return False
    if found.title in _RANKS and not (capital and found.name):
        return False
    if after is not None and after.pos_ == "NOUN" and last.head == after:
        return False
    follows = doc.text[found.end : found.end + 4]
    return not (found.title in _OFFICE_OF and re.match(r" (?:of|for)\b", follows))


@PERTURBATIONS.register("title")
class Title(Perturbation):
    """A title, rank or office is translated by another: ``Duke of Zhou`` becomes ``Marquis of Zhou``."""

    category = "title"
    kind = "error"
    severity = "major"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = (
        "a title, rank or office replaced by another of the same gender: the person's standing is wrong"
    )
    absent = "no title of rank or office that can be exchanged"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """A title that stands once, then a titled name that does, then one person's title throughout."""
        doc = example.required_parse
        found = list(_mentions(doc))
        by_title: dict[str, list[tuple[_Title, bool]]] = {}
        for mention, clear in found:
            by_title.setdefault(mention.title, []).append((mention, clear))
        once: list[list[_Title]] = []
        named: list[list[_Title]] = []
        throughout: list[list[_Title]] = []
        for mentions in by_title.values():
            names = Counter(mention.name for mention, _ in mentions)
            if len(mentions) == 1:
                once += [[mention] for mention, clear in mentions if clear]
            elif "" not in names:
                named += [[mention] for mention, clear in mentions if clear and names[mention.name] == 1]
            one_person = len(set(names) - {""}) <= 1 and all(clear for _, clear in mentions)
            if 2 <= len(mentions) <= 6 and one_person:
                throughout.append([mention for mention, _ in mentions])
        for places in (once, named, throughout):
            rng.shuffle(places)
            for place in places:
                ancient = example.translation.source_lang == "lzh"
                choices = [other for other in _others(place[0], ancient) if other not in by_title]
                if choices:
                    other = rng.choice(choices)
                    yield [_exchange(example.text, mention, other) for mention in place]


def _others(mention: _Title, ancient: bool) -> list[str]:
    """What the title may be mistaken for; in an ancient text an office is one of the court's."""
    title, tables = mention.title, read_groups("lexica/titles.tsv")
    members = next(members for members in tables.values() if title in members)
    if ancient and title in tables["court offices"]:
        members = tables["court offices"]
    near = set().union(*(pair for pair in _NEAR if title in pair), {title})
    named = bool(mention.name) and not mention.plural
    return [
        other
        for other in members
        if other not in near and (named or " " not in other or other == "prime minister")
    ]


def _exchange(text: str, mention: _Title, other: str) -> Change:
    if mention.plural:
        other += "es" if other.endswith("s") else "s"
    end = mention.end
    if other[0].isupper() and mention.title[0].isupper():
        return Change(mention.start, end, other if mention.title.endswith(".") else other.rstrip("."))
    capital = text[mention.start].isupper() and (mention.name or not begins_sentence(text, mention.start))
    return replace_word(text, mention.start, end, other.title() if capital else other)
