"""Omitted subjects and objects: what a pro-drop source leaves unsaid and a system fails to fill in."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules import clauses, edits, verb_classes
from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Token

_PRONOUNS = word_set("he she it they we i you")
_QUANTIFIERS = word_set(
    "no none nobody nothing neither nor one all both each every many few several some any such"
)
# With "it" these make an impersonal clause, which has no subject to omit.
_IMPERSONAL = word_set("seem appear take happen turn rain snow matter follow be")
_FULL_FORMS = {"ll": "will", "re": "are", "ve": "have", "m": "am"}

# Nouns that make one meaning with their verb ("put an end to"): nothing readable is left without them.
_IDIOM_OBJECTS = word_set(
    """
    place part care advantage turn time way heart mind note step action account attention effect form
    rise root shape lot deal day night week month year hour minute moment birth charge course office
    leave weight sense risk chance breath mile percent meter kilometer distance damage hold look
    position throne role end north south east west home
    """
)


@PERTURBATIONS.register("omitted_subject")
class OmittedSubject(Perturbation):
    """A finite clause loses its subject."""

    category = "omitted_subject"
    kind = "error"
    severity = "major"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = (
        "the subject of a finite clause is left out, as a pro-drop source leaves it out:"
        " an omission that hides who acts (MQM accuracy/omission, major)"
    )
    absent = "no finite clause whose subject can be dropped without making another reading"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Third-person and noun subjects first, then the speaker's own."""
        best: list[Change] = []
        later: list[Change] = []
        for group in clauses.verb_groups(example.required_parse):
            if _droppable_subject(group) and (change := _drop_subject(example.text, group)):
                speaker = group.subject.lower_ in ("i", "we", "you", "it")
                (later if speaker else best).append(change)
        for changes in (best, later):
            rng.shuffle(changes)
            yield from ([change] for change in changes)


def _droppable_subject(group: clauses.VerbGroup) -> bool:
    subject, verb = group.subject, group.verb
    sentence = subject.sent
    if subject.dep_ not in ("nsubj", "nsubjpass") or verb.dep_ == "relcl":
        return False
    if not clauses.plain_sentence(sentence) or not clauses.quiet_left(subject.left_edge):
        return False
    pronoun = subject.lower_ in _PRONOUNS
    if pronoun and subject.left_edge.i != subject.right_edge.i:
        return False
    if not pronoun and not _short_noun_phrase(subject):
        return False
    return (
        not _makes_imperative(group)
        and not _wh_clause(verb)
        and not _another_reading(group)
        and not (subject.lower_ == "it" and _impersonal(verb))
        and not (subject.lower_ in ("i", "you", "we") and _opens_main_clause(group))
    )


def _opens_main_clause(group: clauses.VerbGroup) -> bool:
    """Whether only an interjection or nothing stands before: "Alright, got it" is how people talk."""
    sentence = group.verb.sent
    before = [token for token in sentence.doc[sentence.start : group.subject.i] if token.is_alpha]
    if any(token.dep_ == "mark" for token in before):
        return False
    return len(before) <= 1 or (len(before) == 2 and before[0].pos_ == "INTJ")


def _short_noun_phrase(noun: Token) -> bool:
    if noun.pos_ not in ("NOUN", "PROPN") or noun.tag_ not in ("NN", "NNS", "NNP", "NNPS"):
        return False
    phrase = list(noun.subtree)
    if len(phrase) != phrase[-1].i - phrase[0].i + 1 or len(phrase) > 6:
        return False
    for token in phrase:
        if token.is_punct and token.text not in ("-", "'"):
            return False
        if token.lower_ in _QUANTIFIERS or token.pos_ in ("VERB", "AUX", "SCONJ"):
            return False
        if token.dep_ in ("relcl", "acl", "appos", "parataxis", "conj", "advmod", "advcl", "npadvmod"):
            return False
    return phrase[0].dep_ != "punct"


def _makes_imperative(group: clauses.VerbGroup) -> bool:
    """Without its subject "you go home" is an order, not a gap; so is "they put it there"."""
    finite = group.finite
    if group.aux:
        return finite.lemma_ == "do" and finite.tag_ == "VBP"
    return finite.lower_ == finite.lemma_.lower() and finite.lower_ not in ("am", "are", "is")


def _wh_clause(verb: Token) -> bool:
    wh = [child for child in verb.lefts if child.tag_ in ("WP", "WDT", "WP$", "WRB") or child.dep_ == "dobj"]
    return any(child.lower_ != "when" for child in wh)


def _impersonal(verb: Token) -> bool:
    if verb.lemma_.lower() in _IMPERSONAL:
        return True
    return any(child.dep_ in ("ccomp", "xcomp", "csubj", "acl") for child in verb.rights)


def _another_reading(group: clauses.VerbGroup) -> bool:
    """Whether the text without the subject is good English with the same or another meaning.

    After ``and`` the verb takes the subject of the clause before, which is right where both are the same; a
    clause that completes a verb ("he said he left") or follows ``that`` would be read as a relative clause.
    """
    subject, verb = group.subject, group.verb
    left = subject.left_edge
    before = left.nbor(-1) if left.i else None
    if before is None or left.is_sent_start:
        return False
    word = before.lower_
    if word in ("that", "as", "than", "so", "what", "like", "not", "only", "which", "who", "or", "nor"):
        return True
    if word in ("after", "before", "since", "until") and verb.tag_ not in ("VBD", "VBN", "VB"):
        return True
    if before.text == "," and any(
        child.dep_ in ("ccomp", "conj", "parataxis")
        and child.i < subject.i
        and any(
            below.dep_ in clauses.SUBJECTS and not _surely_differ(below, subject) for below in child.children
        )
        for child in verb.lefts
    ):
        return True
    if word in ("and", "but", "yet", "then") or (before.is_punct and verb.dep_ in ("conj", "ccomp")):
        if before.is_punct and before.text in (";", ":", ".", "—", "“", '"', "‘"):
            return False
        first = verb.head
        others = [child for child in first.lefts if child.dep_ in clauses.SUBJECTS]
        if word == "then" and verb.dep_ == "ROOT":
            return False
        return verb.dep_ != "conj" or not others or not _surely_differ(others[0], subject)
    return False


def _surely_differ(one: Token, other: Token) -> bool:
    """Whether two subjects cannot be the same person or thing."""
    a, b = one.lower_, other.lower_
    speakers = {"i", "you", "we"}
    if a in _PRONOUNS and b in _PRONOUNS:
        return a != b and (a in speakers or b in speakers or {a, b} == {"he", "she"})
    if a in _PRONOUNS or b in _PRONOUNS:
        return a in speakers or b in speakers
    return one.lemma_.lower() != other.lemma_.lower()


def _drop_subject(text: str, group: clauses.VerbGroup) -> Change | None:
    subject, finite = group.subject, group.finite
    start = subject.left_edge.idx
    end = subject.right_edge.idx + len(subject.right_edge)
    if text[end : end + 1] == " ":
        return edits.delete(text, start, end)
    # A contracted auxiliary loses its host: "I'm tired" leaves "am tired".
    full = _FULL_FORMS.get(finite.lower_[1:]) if finite.lower_[:1] in ("'", "’") else None
    if full is None or finite.idx != end:
        return None
    stop = finite.idx + len(finite)
    capital = text[start].isupper() and edits.begins_sentence(text, start)
    return Change(start, stop, full.capitalize() if capital else full)


@PERTURBATIONS.register("omitted_object")
class OmittedObject(Perturbation):
    """A transitive verb loses its object."""

    category = "omitted_object"
    kind = "error"
    severity = "major"
    languages = ("en",)
    needs = frozenset({"parse"})
    description = (
        "the direct object of a verb that cannot do without one is left out:"
        " an omission that hides what the action is done to (MQM accuracy/omission, major)"
    )
    absent = "no transitive verb whose object can be left out"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Verbs of a closed list, their objects right behind them; places in random order."""
        places = [
            edits.delete(example.text, token.left_edge.idx, token.right_edge.idx + len(token.right_edge))
            for token in example.required_parse
            if _droppable_object(token)
        ]
        rng.shuffle(places)
        yield from ([place] for place in places)


def _droppable_object(noun: Token) -> bool:
    verb = noun.head
    if noun.dep_ != "dobj" or verb.pos_ != "VERB" or verb.lemma_.lower() not in verb_classes.TRANSITIVE:
        return False
    phrase = list(noun.subtree)
    if phrase[0].i != verb.i + 1 or len(phrase) != phrase[-1].i - phrase[0].i + 1 or len(phrase) > 7:
        return False
    if noun.pos_ == "PRON":
        if noun.tag_ != "PRP" or noun.lower_.endswith(("self", "selves")) or len(phrase) > 1:
            return False
    elif noun.pos_ not in ("NOUN", "PROPN") or noun.lemma_.lower() in _IDIOM_OBJECTS:
        return False
    if any(token.is_punct and token.text not in ("-", "'") for token in phrase) or phrase[-1].text[-1] == ".":
        return False
    if any(token.dep_ in ("relcl", "acl", "appos", "advcl", "ccomp", "npadvmod") for token in phrase):
        return False
    joined = any(token.tag_ == "CC" for token in phrase)
    if any(
        token.tag_ in ("VB", "VBD", "VBZ", "VBP") or (joined and token.tag_[:2] == "VB") for token in phrase
    ):
        return False
    if any(token.lower_ in ("no", "nothing", "any", "what", "how", "such", "so") for token in phrase):
        return False
    return _plain_transitive(verb, noun) and _clean_right(verb, phrase[-1])


def _plain_transitive(verb: Token, noun: Token) -> bool:
    """One object, no particle, no second predicate, active, and not read as an adjective or noun."""
    if verb.tag_ == "VBN" and not any(child.dep_ == "aux" for child in verb.lefts):
        return False
    if verb.dep_ in ("amod", "acl", "compound", "nsubj", "pobj", "relcl", "csubj"):
        return False
    if verb.dep_ == "xcomp" and verb.head.pos_ in ("ADJ", "NOUN"):
        return False
    if verb.dep_ == "conj" and verb.head.pos_ != "VERB":
        return False
    for child in verb.children:
        if child == noun:
            continue
        if child.dep_ in ("dative", "prt", "oprd", "xcomp", "ccomp", "dobj", "auxpass", "acomp", "attr"):
            return False
        if child.tag_ in ("WP", "WDT", "WRB") and child.lower_ != "when":
            return False
        if child.dep_ == "conj" and child.i > noun.i:
            # "took the city and burned it" would share the later object.
            return False
    return True


def _clean_right(verb: Token, last: Token) -> bool:
    if last.i + 1 >= len(last.doc):
        return True
    after = last.nbor()
    if after.text in (".", "!", ";", ",", "?"):
        return True
    if after.tag_ == "IN" and after.dep_ in ("prep", "mark"):
        if after.lower_ in ("of", "on", "off", "over", "up", "down", "out", "with", "than", "as", "that"):
            return False
        return after.dep_ == "mark" or after.head == verb
    return after.tag_ == "CC" and after.head == verb
