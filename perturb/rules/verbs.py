"""Tense and negation: the finite verb of one clause, with its auxiliaries and its agreement."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules import clauses, edits, verb_classes
from perturb.rules.polarity import turned
from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Token

_PAST_TIME = re.compile(
    r"\b(1\d{3}|20[01]\d|ago|yesterday|last|earlier|previously|formerly|century|recently|ancient|originally)\b",
    re.IGNORECASE,
)
_HABITUAL = word_set(
    "often usually generally normally typically commonly sometimes frequently tend every any"
)
_BOUND_TO_TENSE = word_set(
    """
    now today currently nowadays always never already yet since still ever just until used if unless
    wish though suppose supposed rather
    """
)


@PERTURBATIONS.register("tense")
class Tense(Perturbation):
    """One finite verb in a wrong tense."""

    category = "tense"
    kind = "error"
    severity = "major"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = (
        "one clause is moved to another tense (past, present, future), auxiliaries and agreement included:"
        " it says that something happens at another time (MQM accuracy/mistranslation, major)"
    )
    absent = "no clause whose tense can change alone"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Sentences with one finite verb first, then clauses that carry their own tense."""
        tiers: tuple[list[list[Change]], ...] = ([], [], [], [])
        for group in clauses.verb_groups(example.required_parse):
            tier = _independence(group)
            if tier is not None and (changes := _shift(group)):
                # A present may be timeless, which makes its past a weaker error.
                timeless = group.finite.tag_ in ("VBZ", "VBP") and clauses.lemma_of(group.finite) != "have"
                tiers[3 if timeless else tier].append(changes)
        for tier_changes in tiers:
            rng.shuffle(tier_changes)
        yield from chain.from_iterable(tiers)


def _independence(group: clauses.VerbGroup) -> int | None:
    """How freely the clause's tense may change: 0 alone in its sentence … 2; ``None``: leave it."""
    verb, sentence = group.verb, group.verb.sent
    words = clauses.sentence_words(sentence)
    if not clauses.plain_sentence(sentence) or clauses.shares_subject(verb) or words & _BOUND_TO_TENSE:
        return None
    lemma = clauses.lemma_of(verb)
    if (
        lemma in verb_classes.SAYING | verb_classes.STRANDED | verb_classes.TELLING
        or group.subject.lower_ in ("this", "that", "there")
    ):
        return None
    if any(child.dep_ in ("advcl", "csubj") for child in verb.children) or verb.dep_ == "advcl":
        return None
    finites = [token for token in sentence if token.tag_ in clauses.FINITE]
    if len(finites) == 1:
        return 0
    if verb.dep_ == "relcl":
        return 1 if group.subject.tag_ in ("WDT", "WP") else None
    if verb.dep_ == "ccomp":
        told = verb.head.lemma_.lower() in verb_classes.SAYING - {"mean"} and any(
            c.dep_ == "mark" for c in verb.lefts
        )
        return 1 if told else None
    if verb.dep_ != "ROOT":
        return None
    below = {
        token for child in verb.children if child.dep_ in ("nsubj", "dobj", "prep") for token in child.subtree
    }
    rest = [token for token in finites if token != group.finite and token not in below]
    return None if rest else 2


def _shift(group: clauses.VerbGroup) -> list[Change]:
    """The changes that move the clause to another tense; none where the result would not show or not hold."""
    finite, verb = group.finite, group.verb
    who = clauses.person(group.subject)
    if clauses.contracted(finite):
        return []
    auxiliary = clauses.lemma_of(finite) if group.aux else ""
    told = verb.dep_ == "ccomp"
    if auxiliary == "will":
        return _future_to_past(group, who)
    if auxiliary == "have":
        return [] if finite.tag_ == "VBD" else _perfect_to_future(group)
    if auxiliary not in ("", "be", "do"):
        return []
    if finite.tag_ == "VBD":
        lemma = auxiliary or clauses.lemma_of(verb)
        back = lemma in verb_classes.STATES or verb.tag_ == "VBG" or _PAST_TIME.search(verb.sent.text)
        if back and not told:
            return _reword(finite, clauses.present(lemma, who))
        return _to_future(group, lemma)
    if told:
        return _to_future(group, auxiliary or clauses.lemma_of(verb))
    if _timeless(verb):
        return []
    return _reword(finite, clauses.past(auxiliary or clauses.lemma_of(verb), who))


def _timeless(verb: Token) -> bool:
    """Whether the present defines something, so that its past says much the same."""
    if verb.lemma_.lower() in verb_classes.DEFINING:
        return True
    if clauses.sentence_words(verb.sent) & _HABITUAL:
        return True
    nouns = [child for child in verb.children if child.dep_ in ("attr", "nsubj", "nsubjpass")]
    return any(
        noun.lower_ == "it"
        or (noun.dep_ == "attr" and any(word.lower_ in ("a", "an", "the", "one") for word in noun.lefts))
        for noun in nouns
    )


def _reword(token: Token, new: str | None) -> list[Change]:
    if new is None or new == token.lower_:
        return []
    return [edits.replace_word(token.doc.text, token.idx, token.idx + len(token), new)]


def _to_future(group: clauses.VerbGroup, lemma: str) -> list[Change]:
    """Put ``will`` before the verb and the adverbs that lean on it."""
    finite = group.finite
    if lemma == "do" and group.aux:
        return _reword(finite, "will")
    if group.subject.right_edge.i + 1 > finite.i or clauses.inflect(lemma, "base") is None:
        return []
    first = group.verb.doc[group.subject.right_edge.i + 1]
    if first == finite:
        return [Change(finite.idx, finite.idx + len(finite), f"will {lemma}")]
    return [
        Change(first.idx, first.idx, "will "),
        Change(finite.idx, finite.idx + len(finite), lemma),
    ]


def _perfect_to_future(group: clauses.VerbGroup) -> list[Change]:
    have, after = group.finite, (*group.aux[1:], group.verb)[0]
    if after.tag_ != "VBN":
        return []
    return [
        Change(have.idx, have.idx + len(have), "will"),
        Change(after.idx, after.idx + len(after), clauses.lemma_of(after)),
    ]


def _future_to_past(group: clauses.VerbGroup, who: int | None) -> list[Change]:
    will, after = group.finite, (*group.aux[1:], group.verb)[0]
    if clauses.lemma_of(after) == "have" or after.tag_ not in ("VB", "VBP"):
        return []
    between = group.verb.doc[will.i + 1 : after.i]
    if any(token.dep_ == "neg" for token in between):
        if clauses.lemma_of(after) != "be":
            return _reword(will, "did")
        was = clauses.past("be", who)
        if was is None:
            return []
        return [
            Change(will.idx, will.idx + len(will), was),
            edits.delete(will.doc.text, after.idx, after.idx + 2),
        ]
    past = clauses.past(clauses.lemma_of(after), who)
    if past is None:
        return []
    return [
        Change(will.idx, will.nbor().idx, ""),
        Change(after.idx, after.idx + len(after), past),
    ]


@PERTURBATIONS.register("negation")
class Negation(Perturbation):
    """A clause gains or loses its ``not``."""

    category = "negation"
    kind = "error"
    severity = "critical"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = (
        "a clause is negated, or its negation is lost, with do-support and agreement:"
        " it says the opposite (MQM accuracy/mistranslation, critical)"
    )
    absent = "no clause whose polarity can be turned around without breaking the sentence"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Negations lost and gained, in random order."""
        found = [
            changes for group in clauses.verb_groups(example.required_parse) if (changes := turned(group))
        ]
        rng.shuffle(found)
        yield from found
