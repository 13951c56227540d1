"""Pronouns that point at somebody else: the reference error of pro-drop and gender-neutral sources."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules import clauses, edits
from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Token

Case = Literal["subject", "object", "possessive"]

# What may stand for each form. "he" does not become "they" nor "it" "they": both can be the same referent.
_SUBJECT = {
    "he": ("she",),
    "she": ("he",),
    "they": ("we",),
    "we": ("they",),
    "i": ("he", "she", "you"),
    "you": ("they", "he", "she", "I"),
}
_OBJECT = {
    "him": ("her",),
    "her": ("him",),
    "them": ("it",),
    "us": ("them",),
    "me": ("him", "her", "us"),
    "you": ("them", "him", "me"),
}
_POSSESSIVE = {
    "his": ("her",),
    "her": ("his",),
    "their": ("our", "his"),
    "our": ("their",),
    "my": ("his", "her", "your"),
    "your": ("my", "his", "her"),
}
_FAMILIES = (
    word_set("he him his himself"),
    word_set("she her hers herself"),
    word_set("they them their theirs themselves themself"),
    word_set("we us our ours ourselves let's"),
    word_set("i me my mine myself"),
    word_set("you your yours yourself yourselves"),
)
_REFLEXIVE = word_set("himself herself themselves themself ourselves myself yourself yourselves itself")
_TOGETHER = word_set("both all together each other another mutual between among together")
# A possessive before one of these is bound to its clause, part of a title, or of a fixed phrase.
_BOUND_NOUNS = word_set(
    """
    belt appearance own way mind best turn life majesty highness excellency lord lordship grace honor
    honour eminence holiness head hand eye face foot leg arm heart breath mouth lip tongue shoulder knee
    hair body finger temper step place time god goodness pleasure name knowledge opinion word tooth gaze
    voice age lack part self
    """
)
_IDIOM_VERBS = word_set("thank excuse see know guess mean suppose let bet swear forgive bless think")


@PERTURBATIONS.register("pronoun")
class Pronoun(Perturbation):
    """One personal or possessive pronoun points at somebody else."""

    category = "pronoun"
    kind = "error"
    severity = "major"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = (
        "one pronoun is replaced by that of another person or gender, with the verb's agreement:"
        " a reference error (MQM accuracy/mistranslation, major)"
    )
    absent = "no pronoun that can be replaced without breaking what is bound to it"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Pronouns without another of their family in the sentence first; places in random order."""
        alone: list[list[Change]] = []
        repeated: list[list[Change]] = []
        for token in example.required_parse:
            options = _options(token)
            if not options:
                continue
            if changes := _replace(token, rng.choice(options)):
                (repeated if _family_size(token) > 1 else alone).append(changes)
        for places in (alone, repeated):
            rng.shuffle(places)
            yield from places


def _case(token: Token) -> Case | None:
    if token.tag_ == "PRP$":
        return "possessive" if token.dep_ == "poss" and token.head.i > token.i else None
    if token.tag_ != "PRP":
        return None
    if token.dep_ in ("nsubj", "nsubjpass"):
        return "subject"
    return "object" if token.dep_ in ("dobj", "pobj", "dative") else None


def _options(token: Token) -> list[str]:
    """Forms that may replace the pronoun; none where it is impersonal, generic, bound or in a set phrase."""
    case = _case(token)
    if case is None or any(True for _ in token.children) or clauses.quoted_word(token):
        return []
    table = {"subject": _SUBJECT, "object": _OBJECT, "possessive": _POSSESSIVE}[case]
    options = list(table.get(token.lower_, ()))
    words = clauses.sentence_words(token.sent)
    if not options or words & _REFLEXIVE:
        return []
    if case == "possessive":
        return options if _free_possessive(token) else []
    verb = token.head if token.dep_ != "pobj" else token.head.head
    if token.dep_ == "pobj" and verb.tag_ in ("WDT", "WP", "DT", "CD"):
        return []
    if verb.lemma_.lower() in _IDIOM_VERBS:
        return []
    if token.dep_ == "dobj" and any(child.dep_ in ("ccomp", "oprd") for child in verb.children):
        return []
    # The new pronoun must not meet itself in the clause ("I asked me"), nor change a plural's company.
    near = (
        {word.lower_ for word in verb.subtree if word.tag_ in ("PRP", "PRP$")}
        if verb.pos_ == "VERB"
        else words
    )
    subject = next((child for child in verb.lefts if child.dep_ in clauses.SUBJECTS), None)
    if subject is not None and case == "object":
        near |= {subject.lower_}
    if near & {"i", "me", "my", "we", "us", "our"}:
        near |= {"i", "we"}
    plural_only = words & _TOGETHER
    return [
        new
        for new in options
        if not any(new.lower() in family and near & family for family in _FAMILIES)
        and not (plural_only and _number(token.lower_) != _number(new))
    ]


def _free_possessive(token: Token) -> bool:
    noun = token.head
    if noun.lemma_.lower() in _BOUND_NOUNS or noun.lower_ in _BOUND_NOUNS or noun.lower_ == "own":
        return False
    if token.nbor().lower_ in _BOUND_NOUNS or any(
        word.lower_ in ("own", "majesty") for word in token.doc[token.i + 1 : noun.i + 2]
    ):
        return False
    if noun.i - token.i > 4 or noun.pos_ not in ("NOUN", "PROPN"):
        return False
    return not (token.lower_ in ("my", "your", "our") and noun.lemma_.lower() in ("lord", "god", "goodness"))


def _number(word: str) -> str:
    if word.lower() in ("they", "them", "their", "we", "us", "our"):
        return "plural"
    return "any" if word.lower() in ("you", "your") else "singular"


def _family_size(token: Token) -> int:
    family = next((family for family in _FAMILIES if token.lower_ in family), frozenset())
    return sum(word.lower_ in family for word in token.sent)


def _replace(token: Token, new: str) -> list[Change]:
    text = token.doc.text
    first = edits.replace_word(text, token.idx, token.idx + len(token), new)
    if _case(token) != "subject":
        return [first]
    verb = token.head
    group = clauses.verb_group(verb)
    if group is None or group.subject != token:
        return []
    if clauses.shares_subject(verb) and _agreement(token.lower_) != _agreement(new):
        return []
    finite = group.finite
    if finite.tag_ in ("MD", "VBD") and clauses.lemma_of(finite) != "be":
        return [first]
    if _agreement(token.lower_) == _agreement(new):
        return [first]
    # "they are brothers" would leave a plural predicate behind.
    if _number(token.lower_) != _number(new) and any(child.dep_ == "attr" for child in verb.children):
        return []
    who = {"I": 1, "you": 2, "he": 3, "she": 3, "we": 4, "they": 4}[new]
    if clauses.contracted(finite):
        return _contracted(token, finite, first, who)
    lemma = clauses.lemma_of(finite)
    form = clauses.past(lemma, who) if finite.tag_ == "VBD" else clauses.present(lemma, who)
    if form is None:
        return []
    return [first, edits.replace_word(text, finite.idx, finite.idx + len(finite), form)]


def _agreement(word: str) -> str:
    lower = word.lower()
    return "third" if lower in ("he", "she") else "first" if lower == "i" else "other"


def _contracted(token: Token, finite: Token, first: Change, who: int) -> list[Change]:
    """``I'm`` becomes ``he's``; ``'ve`` becomes ``'s``; anything else is left alone."""
    if finite.i != token.i + 1 or finite.lower_[:1] not in ("'", "’"):
        return []
    mark, ending = finite.text[0], finite.lower_[1:]
    be, have = {1: "m", 3: "s"}.get(who, "re"), {3: "s"}.get(who, "ve")
    new = {"m": be, "re": be, "ve": have}.get(ending)
    if new is None:
        return []
    return [first, Change(finite.idx, finite.idx + len(finite), mark + new)]
