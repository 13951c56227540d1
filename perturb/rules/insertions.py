"""Untranslated, repeated and added material."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator, Sequence

from challenge_sets import Translation
from perturb.base import PERTURBATIONS, Change, Example, NotApplicableError, Perturbation
from perturb.rules.phrases import additions
from perturb.rules.phrases.concepts import concepts
from perturb.rules.phrases.plain import (
    balanced,
    base_language,
    inside,
    opens_sentence,
    protected,
    sentences,
    spaced,
)
from perturb.rules.phrases.repeats import repeated_spans
from perturb.rules.phrases.slips import Slip
from perturb.rules.phrases.tails import added_sentences, added_tails

_SHORT_SOURCE = 20
"""Characters of a segment that may be left untranslated as a whole; thrice as many in an alphabet."""

_CLAUSE = re.compile(r"[^\s,;:，；：、](?:[^,;:，；：、]|(?<=\d)[:,](?=\d))*")
_OTHER_ORDER = ("ko", "ja", "hi", "de")
"""Source languages whose clauses another language seldom keeps in order."""


@PERTURBATIONS.register("untranslated")
class Untranslated(Perturbation):
    """A source word, sentence or short segment left where its translation stood."""

    category = "untranslated"
    kind = "error"
    severity = "major"
    languages = ("en", "de", "ja", "zh-Hans")
    needs = frozenset({"source"})
    description = (
        "one source word (found through a small lexicon), clause, sentence or whole short segment is left in "
        "the source language in the place of its translation: untranslated text, major"
    )
    absent = "no span whose source can be told without an alignment"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """A word of the lexicon, else a sentence or clause where both sides have as many, else all."""
        translation = example.translation
        source_lang = base_language(translation.source_lang)
        target_lang = base_language(translation.target_lang)
        if source_lang == target_lang:
            raise NotApplicableError("source and target are the same language")
        if not translation.source.strip():
            raise NotApplicableError("the source is empty")
        words = list(_source_words(translation, source_lang, target_lang))
        rng.shuffle(words)
        for start, end, new in words:
            yield [Change(start, end, new)]
        for start, end, new in _source_sentences(translation, source_lang, target_lang, rng):
            yield [Change(start, end, new)]


def _source_words(translation: Translation, source_lang: str, target_lang: str) -> Iterator[Slip]:
    text, source = translation.hypothesis, translation.source
    lowered = text.lower()
    spans = protected(text)
    for here, there, keys in concepts(source_lang, target_lang):
        if not any(key in lowered for key in keys):
            continue
        # Once on each side: then the one is the other's translation, as far as a lexicon can tell.
        targets = list(there.finditer(text))
        sources = list(here.finditer(source))
        if len(targets) != 1 or len(sources) != 1:
            continue
        found, word = targets[0], sources[0].group()
        if (
            _alike(word, found.group())
            or text[found.end() : found.end() + 1] in ("'", "’")
            or inside(found.start(), found.end(), spans)
        ):
            continue
        if target_lang == "en" and _part_of_name(text, found.start(), found.end()):
            continue
        yield found.start(), found.end(), word


def _alike(word: str, other: str) -> bool:
    """Cognates, of which a reader would say misspelt, not untranslated: ``élections``, ``elections``."""
    first, second = (unicodedata.normalize("NFD", form.lower())[:5] for form in (word, other))
    plain = [[sign for sign in form if not unicodedata.combining(sign)][:4] for form in (first, second)]
    return plain[0] == plain[1]


def _part_of_name(text: str, start: int, end: int) -> bool:
    """A capital inside a sentence, or one behind the word: ``King Wu``, ``the Water Margin``."""
    if text[end : end + 1] == " " and text[end + 1 : end + 2].isupper():
        return True
    return text[start].isupper() and not opens_sentence(text, start)


def _source_sentences(
    translation: Translation, source_lang: str, target_lang: str, rng: random.Random
) -> Iterator[Slip]:
    text, source = translation.hypothesis, translation.source
    targets, sources = sentences(text, target_lang), sentences(source, source_lang)
    if len(targets) != len(sources):
        return
    limit = _SHORT_SOURCE * (3 if spaced(source_lang) and source_lang != "ko" else 1)
    if len(targets) == 1:
        start, end = targets[0]
        here, stop = sources[0]
        yield from _source_clauses(translation, source_lang, rng)
        if stop - here <= limit:
            yield start, end, source[here:stop]
        return
    ratio = len(text) / len(source)
    order = list(range(len(targets)))
    rng.shuffle(order)
    for at in order:
        (start, end), (here, stop) = targets[at], sources[at]
        proportion = (end - start) / (stop - here) / ratio
        piece = source[here:stop]
        # Sentences in step have lengths in step; a quotation that goes on elsewhere would stay open.
        if (
            0.6 <= proportion <= 1.6
            and balanced(text[start:end])
            and balanced(piece)
            and stop - here <= 4 * limit
        ):
            yield start, end, piece


def _source_clauses(translation: Translation, source_lang: str, rng: random.Random) -> Iterator[Slip]:
    """The first or last clause of one sentence, where clauses are as many and as long on both sides."""
    if source_lang in _OTHER_ORDER:
        return
    text, source = translation.hypothesis, translation.source
    targets, sources = _clauses(text), _clauses(source)
    if len(targets) != len(sources) or not 2 <= len(targets) <= 5:
        return
    ratio = sum(end - start for start, end in targets) / sum(end - start for start, end in sources)
    for (start, end), (here, stop) in zip(targets, sources, strict=True):
        if not 0.65 <= (end - start) / (stop - here) / ratio <= 1.5:
            return
    places = [0, len(targets) - 1]
    rng.shuffle(places)
    for at in places:
        (start, end), (here, stop) = targets[at], sources[at]
        # A quote or dash at the start belongs to the clause before it as well.
        if text[start].isalnum() and balanced(text[start:end]) and balanced(source[here:stop]):
            yield start, end, source[here:stop]


def _clauses(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _CLAUSE.finditer(text)]


@PERTURBATIONS.register("repetition")
class Repetition(Perturbation):
    """A phrase, clause or sentence said twice in a row."""

    category = "repetition"
    kind = "error"
    severity = "minor"
    languages = ("en", "de", "ja", "zh-Hans", "ko")
    description = (
        "one phrase is directly repeated, as translation systems do when they loop (the king the king said): "
        "a fluency error, minor"
    )
    absent = "no phrase whose repetition could not be meant"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """One phrase at a time: inserted once more right behind itself."""
        language = base_language(example.translation.target_lang)
        for at, again in repeated_spans(example.text, language, rng):
            yield [Change(at, at, again)]


@PERTURBATIONS.register("addition")
class Addition(Perturbation):
    """A phrase or short sentence that no source could have given."""

    category = "addition"
    kind = "error"
    severity = "major"
    languages = ("en", "de")
    description = (
        "one fluent phrase or short sentence, fitting the register, says what the source does not say: "
        "an addition, major"
    )
    absent = "no statement that could take an addition"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """A tail to a statement or a sentence behind one."""
        translation = example.translation
        language = base_language(translation.target_lang)
        register = _register(translation)
        # A tail is tried first twice as often as a sentence.
        kinds = [added_tails, added_tails, added_sentences]
        rng.shuffle(kinds)
        for kind in dict.fromkeys(kinds):
            for at, addition in kind(example.text, language, register, rng):
                yield [Change(at, at, addition)]


def _register(translation: Translation) -> str:
    if base_language(translation.source_lang) == "lzh":
        # Dictionaries explain a character by its parts: no story to add to.
        entry = translation.source.count("聲") and "从" in translation.source
        short = len(translation.source) < 40 and translation.source.rstrip("。").endswith("也")
        return "gloss" if entry or short else "classical"
    usual = "conversation" if translation.context else "any"
    return additions.REGISTERS.get((translation.domain or "").lower(), usual)
