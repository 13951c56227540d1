"""Names: exchanged for others (an error), written in another way or explained in parentheses (variations)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from perturb.base import PERTURBATIONS, Change, Example, NotApplicableError, Perturbation
from perturb.rules.edits import replace_word
from perturb.rules.lexica.gazetteer import exchanges
from perturb.rules.lexica.mentions import chinese_names, mentions
from perturb.rules.lexica.romanisation import CYCLE, characters, korean, pinyin_splits
from perturb.rules.tables import read_groups, read_rows

if TYPE_CHECKING:
    from spacy.tokens import Doc


def _changes(text: str, mapping: dict[str, str]) -> list[Change]:
    """One change a mention, the longest names first, in order of the text."""
    taken: list[tuple[int, int, str]] = []
    for name in sorted(mapping, key=len, reverse=True):
        for place in mentions(text, name):
            if not any(start < place.end and place.start < end for start, end, _ in taken):
                taken.append((place.start, place.end, mapping[name]))
    return [replace_word(text, start, end, new) for start, end, new in sorted(taken)]


@PERTURBATIONS.register("named_entity")
class NamedEntity(Perturbation):
    """A person, place, people or organisation is exchanged for another of its kind throughout."""

    category = "named_entity"
    kind = "error"
    severity = "critical"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = "a name replaced by another of the same kind wherever it stands: the wrong person or place"
    absent = "no name that can be exchanged"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Names known by a list or by their form, in random order; at most eight mentions are changed."""
        for mapping in exchanges(example.required_parse, example.translation, rng):
            changes = _changes(example.text, mapping)
            if 1 <= len(changes) <= 8:
                yield changes


@PERTURBATIONS.register("name_format")
class NameFormat(Perturbation):
    """A romanised Chinese or Korean name is joined, split or hyphenated, at every mention."""

    category = "name_format"
    kind = "variation"
    severity = "none"
    languages = ("en",)
    needs = frozenset({"parse", "source"})
    description = "a romanised name joined, split or hyphenated between its syllables: the same name"
    absent = "no romanised name whose syllables are certain"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Names whose syllables can be read in one way only, in random order."""
        doc = example.required_parse
        lang = example.translation.source_lang
        if lang not in ("ko", "lzh") and not lang.startswith("zh"):
            raise NotApplicableError("the source is neither Chinese nor Korean")
        forms = _korean_forms(example) if lang == "ko" else _chinese_forms(example, doc)
        rng.shuffle(forms)
        # Family name and given name run together are the boldest of the forms: last.
        forms.sort(key=lambda mapping: any(" " in old and "-" not in new for old, new in mapping.items()))
        for mapping in forms:
            if not any(new in example.text for new in mapping.values()):
                yield _changes(example.text, mapping)


def _chinese_forms(example: Example, doc: Doc) -> list[dict[str, str]]:
    text, source = example.text, example.translation.source
    listed = {
        place
        for key, members in read_groups("lexica/name_groups.tsv").items()
        if "place" in key
        for place in members
    }
    forms: list[dict[str, str]] = []
    days: dict[str, str] = {}
    for match in re.finditer(r"(?<![\w'’-])[A-Z][a-z]+(?:-[a-z]+)?(?![\w-])", text):
        word, found = match[0], mentions(text, match[0])
        if any(place.before or place.after for place in found) or word in listed or not found:
            continue
        splits = pinyin_splits(word.lower().replace("-", "'"))
        if len(splits) != 1 or len(splits[0]) != 2:
            continue
        if "-" in word:
            joined = word.replace("-", "")
            forms += [{word: joined}] if pinyin_splits(joined.lower()) == splits else []
        elif word.lower() in CYCLE:
            days[word] = " ".join(CYCLE[word.lower()])
        elif splits[0][0] == "zi" and characters(splits[0], source):
            forms.append({word: f"Zi {splits[0][1].capitalize()}"})
    # Days of the cycle are all written in one way, or the text would look careless.
    return forms + ([days] if days else []) + _person_forms(doc)


def _person_forms(doc: Doc) -> list[dict[str, str]]:
    names = list(chinese_names(doc))
    # Two persons spelled in two ways in one text are a slip; one person in another spelling is a choice.
    if len(names) != 1:
        return []
    name = names[0]
    splits = pinyin_splits(name.given.lower())
    if len(splits) != 1 or any(place.before != name.family for place in mentions(doc.text, name.given)):
        return []
    # A family name joined to a given name of one syllable would read as a misspelling: it is left alone.
    if len(splits[0]) != 2:
        return []
    return [{f"{name.family} {name.given}": f"{name.family} {splits[0][0].capitalize()}-{splits[0][1]}"}]


def _korean_forms(example: Example) -> list[dict[str, str]]:
    hyphened = re.finditer(r"(?<![\w'’-])([A-Z][a-z]+)-([a-z]+)(?![\w-])", example.text)
    source = example.translation.source
    return [{match[0]: match[1] + match[2]} for match in hyphened if korean(match[0], source)]


@PERTURBATIONS.register("name_annotation")
class NameAnnotation(Perturbation):
    """A name gets its characters, what an abbreviation stands for, or its country in parentheses."""

    category = "name_annotation"
    kind = "variation"
    severity = "none"
    languages = ("en",)
    needs = frozenset({"parse", "source"})
    description = "a true gloss in parentheses after a name's first mention, from the source or the lexicon"
    absent = "no name whose characters stand in the source, and no known abbreviation"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Names found in the source come first, then abbreviations and cities, each in random order."""
        for glosses in (list(_from_source(example)), list(_from_lexicon(example))):
            rng.shuffle(glosses)
            for end, gloss in glosses:
                yield [Change(end, end, f" ({gloss})")]


def _from_source(example: Example) -> Iterator[tuple[int, str]]:
    lang, source = example.translation.source_lang, example.translation.source
    text, doc = example.text, example.required_parse
    if lang in ("lzh", "ja") or lang.startswith("zh"):
        for name, language, *spellings in read_rows("lexica/glosses.tsv"):
            known = [spelling for spelling in spellings if spelling in source]
            if (language == "ja") == (lang == "ja") and len(known) == 1:
                yield from _first(text, name, known[0])
    if lang == "lzh" or lang.startswith("zh"):
        for person in chinese_names(doc):
            given = pinyin_splits(person.given.lower())
            if len(given) == 1 and (found := characters((person.family.lower(), *given[0]), source)):
                yield from _first(text, f"{person.family} {person.given}", found)
        for token in doc:
            splits = pinyin_splits(token.lower_.replace("’", "'"))
            certain = len(splits) == 1 and len(splits[0]) == 2 and token.text[:1].isupper()
            if token.pos_ == "PROPN" and certain and (found := characters(splits[0], source)):
                yield from _first(text, token.text, found)
    if lang == "ko":
        for token in doc:
            if token.pos_ == "PROPN" and token.text.istitle() and (found := korean(token.text, source)):
                yield from _first(text, token.text, found)


def _from_lexicon(example: Example) -> Iterator[tuple[int, str]]:
    text, lowered = example.text, example.text.lower()
    for short, long in read_rows("lexica/abbreviations.tsv"):
        if long.lower() not in lowered:
            yield from _first(text, short, long)
    for city, country in read_rows("lexica/city_countries.tsv"):
        if country[:5] not in text:
            yield from _first(text, city, country)


def _first(text: str, name: str, gloss: str) -> Iterator[tuple[int, str]]:
    """The end of the first mention, unless it is a possessive, part of a longer name or glossed already."""
    found = mentions(text, name)
    if not found or gloss in text:
        return
    place, after = found[0], text[found[0].end :][:3]
    if place.after or place.before or re.match(r"['’]|-|/|\.\w| \(|\)|, [A-Z]", after):
        return
    before = text[: place.start]
    if before.count("(") > before.count(")") or re.search(r"[\w’']-$|/$", before):
        return
    yield place.end, gloss
