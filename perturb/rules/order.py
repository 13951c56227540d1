"""Word order: one local move that no reader of the language would make."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from challenge_sets.languages import same_language
from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules import clauses, edits
from perturb.rules.german_order import german_moves
from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# Adjectives that may follow their noun, or that belong to a name or a set phrase with it.
_FREE_ADJECTIVES = word_set(
    """
    top bottom front back present available responsible proper general alone due such other same last
    next first second third own possible only elect many few several more most all double involved
    following previous certain various full half less little much enough public left right former above
    below upset nearby cold dark chill quiet wild deep professional individual official original final
    secret military criminal human local native elder adult expert royal imperial noble minor major
    """
)
# Before these words the adjective would join what follows: "a sea calm in broad daylight" is in order.
_AFTER_NOUN = ("NOUN", "PROPN", "ADJ", "NUM", "ADP")
_DETERMINERS = word_set("a an the this that these those his her its their our my your")


@PERTURBATIONS.register("word_order")
class WordOrder(Perturbation):
    """One phrase in a wrong place."""

    category = "word_order"
    kind = "error"
    severity = "minor"
    languages = ("en", "de")
    needs = frozenset({"parse"})
    description = (
        "one word or phrase is moved where the language does not allow it (adjective behind its noun,"
        " object before the verb, verb out of its bracket): an order error that can still be understood"
        " (MQM fluency/grammar, minor)"
    )
    absent = "no phrase whose order is certain"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Moves of several kinds; the kind is drawn first, lest the commonest crowd out the others."""
        if same_language(example.translation.target_lang, "de"):
            kinds = german_moves(example.text)
        else:
            kinds = _english_moves(example.text, example.required_parse)
        kinds = [moves for moves in kinds if moves]
        rng.shuffle(kinds)
        for moves in kinds:
            rng.shuffle(moves)
            yield from ([move] for move in moves)


def _english_moves(text: str, parse: Doc) -> list[list[Change]]:
    adjectives, objects, verbs, questions = [], [], [], []
    for token in parse:
        if (move := _adjective_behind_noun(text, token)) is not None:
            adjectives.append(move)
        if (move := _uninverted_question(text, token)) is not None:
            questions.append(move)
        group = clauses.verb_group(token)
        if group is None or not clauses.plain_sentence(token.sent):
            continue
        if (move := _complement_before_verb(text, group)) is not None:
            objects.append(move)
        if (move := _verb_before_auxiliary(text, group)) is not None:
            verbs.append(move)
    return [adjectives, objects, verbs, questions]


def _swap(text: str, start: int, middle: int, end: int) -> Change:
    """Swap ``text[start:middle]`` and ``text[middle:end]``, which a space separates."""
    first, second = text[start:middle].strip(), text[middle:end].strip()
    return Change(start, end, f"{second} {first}")


def _end(token: Token) -> int:
    return int(token.idx + len(token))


def _adjective_behind_noun(text: str, adjective: Token) -> Change | None:
    """``the old house`` → ``the house old``; an article before it is mended."""
    noun = adjective.head
    if adjective.dep_ != "amod" or adjective.tag_ != "JJ" or noun.tag_ not in ("NN", "NNS"):
        return None
    if noun.i != adjective.i + 1 or adjective.i == 0 or adjective.lower_ in _FREE_ADJECTIVES:
        return None
    if not adjective.is_lower or not adjective.is_alpha or not noun.is_alpha or not noun.is_lower:
        return None
    if len(adjective) < 3 or adjective.lower_.endswith(("ed", "ing", "able", "ible", "en", "th")):
        return None
    before = adjective.nbor(-1)
    if before.lower_ not in _DETERMINERS or before.head != noun or any(True for _ in adjective.children):
        return None
    if any(child.i > adjective.i and child.dep_ in ("amod", "compound") for child in noun.children):
        return None
    if noun.i + 1 < len(noun.doc):
        after = noun.nbor()
        if after.text[:1] in ("'", "’", "-", "–") or after.pos_ in _AFTER_NOUN:
            return None
    if before.lower_ in ("a", "an"):
        change = edits.replace_word(text, adjective.idx, _end(adjective), noun.text)
        return Change(change.start, _end(noun), f"{change.text} {adjective.text}")
    return Change(adjective.idx, _end(noun), f"{noun.text} {adjective.text}")


def _complement_before_verb(text: str, group: clauses.VerbGroup) -> Change | None:
    """``he saw the king`` → ``he the king saw``; ``they went to Lu`` → ``they to Lu went``."""
    verb, subject = group.verb, group.subject
    if group.aux or verb.pos_ != "VERB" or verb.tag_ not in ("VBD", "VBZ", "VBP") or verb.dep_ == "relcl":
        return None
    if subject.tag_ not in ("PRP", "NNP"):
        return None
    if subject.right_edge.i + 1 != verb.i or clauses.contracted(verb) or clauses.shares_subject(verb):
        return None
    if any(child.dep_ in ("prt", "dative", "xcomp", "ccomp", "oprd", "acomp") for child in verb.children):
        return None
    right = [child for child in verb.rights if child.dep_ not in ("punct", "cc", "conj")]
    if not right or right[0].dep_ not in ("dobj", "prep"):
        return None
    phrase = list(right[0].subtree)
    contiguous = phrase[0].i == verb.i + 1 and len(phrase) == phrase[-1].i - phrase[0].i + 1
    if not contiguous or not 1 <= len(phrase) <= 5 or any(token.is_punct for token in phrase):
        return None
    if right[0].dep_ == "prep" and (len(phrase) < 2 or right[0].lower_ in ("of", "as", "like", "than")):
        return None
    if right[0].dep_ == "dobj" and subject.tag_ == "NNP" and phrase[0].tag_ not in ("DT", "PRP$", "PRP"):
        return None
    return _swap(text, verb.idx, _end(verb), _end(phrase[-1]))


def _verb_before_auxiliary(text: str, group: clauses.VerbGroup) -> Change | None:
    """``the city was built`` → ``the city built was``, where nothing stands between the two."""
    verb = group.verb
    if len(group.aux) != 1 or verb.i != group.aux[0].i + 1 or verb.pos_ != "VERB":
        return None
    auxiliary = group.aux[0]
    if (verb.tag_ == "VB") != (auxiliary.tag_ == "MD" or auxiliary.lemma_ == "do"):
        return None
    if not auxiliary.whitespace_ or clauses.contracted(auxiliary) or clauses.shares_subject(verb):
        return None
    if group.subject.tag_ in ("WDT", "WP") or verb.tag_ == "VBG":
        return None
    if any(child.dep_ in ("prt", "advmod") and child.i == verb.i + 1 for child in verb.children):
        return None
    return _swap(text, auxiliary.idx, _end(auxiliary), _end(verb))


def _uninverted_question(text: str, auxiliary: Token) -> Change | None:
    """``Where are you going?`` → ``Where you are going?``."""
    verb = auxiliary.head if auxiliary.dep_ in ("aux", "auxpass") else auxiliary
    if auxiliary.tag_ not in clauses.FINITE or verb.dep_ != "ROOT" or auxiliary.i == 0:
        return None
    if not verb.sent.text.rstrip("\"'”’ ").endswith("?") or auxiliary.lemma_ == "do":
        return None
    wh = auxiliary.nbor(-1)
    subject = next((child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")), None)
    if wh.tag_ not in ("WRB", "WP") or subject is None or subject.left_edge.i != auxiliary.i + 1:
        return None
    if subject.tag_ != "PRP" and verb == auxiliary:
        return None
    if subject.right_edge.i - subject.left_edge.i > 3 or clauses.contracted(auxiliary):
        return None
    return _swap(text, auxiliary.idx, _end(auxiliary), _end(subject.right_edge))
