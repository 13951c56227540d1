"""Polarity: the ``not`` that a clause gains or loses, with do-support and agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perturb.base import Change
from perturb.rules import clauses, edits, verb_classes
from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Span

_QUANTIFIED = word_set("all every each both many few some several most much one none everyone everything")
_WISHING = word_set("hope wish guess thank bet swear pray tend manage")
_MODALS = {
    "can": "cannot",
    "will": "will not",
    "could": "could not",
    "would": "would not",
    "should": "should not",
}


def turned(group: clauses.VerbGroup) -> list[Change]:
    """The changes that give the clause the opposite polarity; none where the sentence would not hold."""
    if not _can_turn(group):
        return []
    return _affirm(group) if group.negation else _negate(group)


def _can_turn(group: clauses.VerbGroup) -> bool:
    verb, subject = group.verb, group.subject
    if not clauses.plain_sentence(verb.sent) or clauses.shares_subject(verb):
        return False
    if verb.dep_ not in ("ROOT", "conj", "ccomp", "relcl") or subject.dep_ in ("expl", "csubj"):
        return False
    if subject.lower_ in _QUANTIFIED or any(word.lower_ in _QUANTIFIED for word in subject.lefts):
        return False
    if any(word.like_num for word in subject.subtree):
        return False
    if clauses.lemma_of(verb) in ("let", "used", "dare", "need"):
        return False
    return not (_clause_words(group) & verb_classes.POLAR)


def _clause_words(group: clauses.VerbGroup) -> frozenset[str]:
    """Words of the sentence, or of the part between ";" or ":" that holds the clause."""
    stretch: Span = group.verb.sent
    start, end = stretch.start, stretch.end
    for token in stretch:
        if token.text in (";", ":"):
            if token.i < group.finite.i:
                start = token.i + 1
            elif token.i > group.verb.i:
                end = token.i
                break
    skip = group.negation
    return frozenset(token.lower_ for token in group.verb.doc[start:end] if token != skip)


def _negate(group: clauses.VerbGroup) -> list[Change]:
    finite, verb = group.finite, group.verb
    stop = finite.idx + len(finite)
    lemma = clauses.lemma_of(finite)
    if _unlike_negated(group):
        return []
    if lemma in ("be", "have") and (group.aux or lemma == "be"):
        if finite.lower_ in ("'s", "’s") and lemma != "be":
            return []
        return [Change(stop, stop, " not")]
    if finite.tag_ == "MD":
        new = _MODALS.get(finite.lower_)
        return [] if new is None else [edits.replace_word(finite.doc.text, finite.idx, stop, new)]
    if group.aux or clauses.contracted(finite):
        return []
    if lemma == "have" and any(child.dep_ == "xcomp" for child in verb.children):
        return []
    who = clauses.person(group.subject)
    do = "did" if finite.tag_ == "VBD" else None if who is None else "does" if who == 3 else "do"
    if do is None or clauses.inflect(lemma, "past") is None:
        return []
    first = verb.doc[group.subject.right_edge.i + 1]
    if first != finite:
        return []
    return [Change(finite.idx, stop, f"{do} not {lemma}")]


def _unlike_negated(group: clauses.VerbGroup) -> bool:
    """Whether a ``not`` would sit oddly: before an adverb, in "I do not hope", before what was said."""
    finite, verb = group.finite, group.verb
    if finite.i + 1 < len(verb.doc):
        after = finite.nbor()
        if after.tag_ in ("RB", "RBR", "RBS") or not finite.whitespace_:
            return True
    if clauses.lemma_of(verb) in verb_classes.SAYING | _WISHING:
        return True
    if any(child.dep_ == "advcl" and child.tag_ == "VBG" for child in verb.children):
        return True
    if verb.dep_ == "ROOT":
        return False
    if verb.dep_ == "relcl" and group.subject.tag_ not in ("WDT", "WP"):
        return True
    return any(token.tag_ in ("WRB", "WP") for token in verb.subtree if token.i < verb.i)


def _affirm(group: clauses.VerbGroup) -> list[Change]:
    """Take ``not`` or ``n't`` out; a bare ``do`` goes with it and leaves its tense to the verb."""
    negation, finite, verb = group.negation, group.finite, group.verb
    text = verb.doc.text
    if negation is None or negation.lower_ not in ("not", "n't", "n’t") or negation.i < finite.i:
        return []
    stop = negation.idx + len(negation)
    lemma = clauses.lemma_of(finite)
    if lemma == "do" and group.aux:
        who = clauses.person(group.subject)
        if verb.i != negation.i + 1 or len(group.aux) != 1:
            return []
        base = clauses.lemma_of(verb)
        new = clauses.past(base, who) if finite.tag_ == "VBD" else clauses.present(base, who)
        return [] if new is None else [Change(finite.idx, verb.idx + len(verb), new)]
    full = {"ca": "can", "wo": "will", "sha": "shall"}.get(finite.lower_, finite.text)
    if text[finite.idx + len(finite) : stop].strip() != negation.text:
        return []
    return [Change(finite.idx, stop, full)]
