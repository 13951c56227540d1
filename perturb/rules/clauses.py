"""What the parse says of a clause, and whether it can be believed: verb groups, subjects, agreement, forms.

A small parser is often wrong on literary text. Every function here returns nothing where tags, positions
and agreement do not tell the same story, so that a doubtful clause is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from perturb.rules.tables import word_set

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

Form = Literal["base", "third", "past", "participle", "gerund"]

FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
CLAUSES = frozenset({"ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis"})
SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl", "csubj", "csubjpass"})
_TAGS: dict[Form, str] = {
    "base": "VB",
    "third": "VBZ",
    "past": "VBD",
    "participle": "VBN",
    "gerund": "VBG",
}
_CAUSING = word_set("have get let make help see hear watch feel")
_WRITTEN_OUT = dict.fromkeys(("'s", "’s", "'m", "’m", "'re", "’re"), "be") | {"ca": "can", "wo": "will"}
_PERSON = {"i": 1, "you": 2, "he": 3, "she": 3, "it": 3, "we": 4, "they": 4}
_SINGULAR_WORDS = word_set("this that everyone everything someone something nobody nothing one")
_PLURAL_WORDS = word_set("these those many few both several some others")


@lru_cache(maxsize=8192)
def inflect(lemma: str, form: Form) -> str | None:
    """Inflect a verb; ``None`` where the lexicon does not know it (a guess by rule is no use here)."""
    from lemminflect import getAllInflections, getInflection

    if form == "base":
        return lemma or None
    if not lemma or not getAllInflections(lemma, upos="VERB"):
        return None
    found = getInflection(lemma, _TAGS[form])
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A clause's finite verb group: the content verb (or a copula) and its auxiliaries in order."""

    verb: Token
    aux: tuple[Token, ...]
    subject: Token
    """Head of the subject, or the relative pronoun that stands for it."""

    @property
    def finite(self) -> Token:
        """The inflected word: the first auxiliary, or the verb itself."""
        return self.aux[0] if self.aux else self.verb

    @property
    def negation(self) -> Token | None:
        """``not``, ``n't`` or ``never`` of this verb."""
        return next((child for child in self.verb.children if child.dep_ == "neg"), None)


def verb_group(verb: Token) -> VerbGroup | None:
    """Return the finite group of a clause whose subject stands before it; ``None`` for anything doubtful."""
    if verb.pos_ not in ("VERB", "AUX") or verb.dep_ not in CLAUSES:
        return None
    # "had the law twist": a bare infinitive that the tagger takes for a past tense.
    bare = verb.dep_ == "ccomp" and not any(child.dep_ == "mark" for child in verb.children)
    if bare and lemma_of(verb.head) in _CAUSING and verb.head.i < verb.i:
        return None
    aux = tuple(child for child in verb.lefts if child.dep_ in ("aux", "auxpass"))
    subjects = [child for child in verb.lefts if child.dep_ in SUBJECTS]
    if len(subjects) != 1 or any(child.dep_ in ("aux", "auxpass") for child in verb.rights):
        return None
    subject, finite = subjects[0], (aux[0] if aux else verb)
    if finite.tag_ not in FINITE or any(token.tag_ in FINITE for token in (*aux, verb) if token != finite):
        return None
    # Between subject and verb stand only adverbs and the group itself.
    if subject.right_edge.i >= finite.i:
        return None
    if any(token.text in (";", ":") for token in subject.subtree):
        return None
    if subject.right_edge.is_punct and sum(token.text == "," for token in subject.subtree) < 2:
        return None
    for token in verb.doc[subject.right_edge.i + 1 : verb.i]:
        if token not in aux and not (token.head == verb and token.dep_ in ("neg", "advmod")):
            return None
        if token.tag_ not in ("RB", "RBR") and token not in aux:
            return None
    return VerbGroup(verb, aux, subject) if _agrees(subject, finite) else None


@lru_cache(maxsize=2)
def verb_groups(doc: Doc) -> tuple[VerbGroup, ...]:
    """Every verb group of a text that can be believed, in order.

    Kept for the text at hand, which several categories look at one after the other.
    """
    return tuple(group for token in doc if (group := verb_group(token)) is not None)


def antecedent(subject: Token) -> Token:
    """The noun that a relative pronoun stands for, or the subject itself."""
    if subject.tag_ in ("WDT", "WP") and subject.head.dep_ == "relcl":
        return subject.head.head
    return subject


def person(subject: Token) -> int | None:
    """1 ``I``, 2 ``you``, 3 third singular, 4 plural; ``None`` where it cannot be told."""
    subject = antecedent(subject)
    lower = subject.lower_
    if any(child.dep_ == "conj" for child in subject.children):
        joined = any(child.lower_ == "and" for child in subject.children if child.dep_ == "cc")
        return 4 if joined else None
    if lower in _PERSON:
        return _PERSON[lower]
    if lower in _SINGULAR_WORDS:
        return 3
    if lower in _PLURAL_WORDS or subject.tag_ in ("NNS", "NNPS"):
        return 4
    return 3 if subject.tag_ in ("NN", "NNP") else None


def _agrees(subject: Token, finite: Token) -> bool:
    who = person(subject)
    form = finite.lower_
    if form in ("was", "'s", "’s"):
        return who in (1, 3, None)
    if form == "were" or finite.tag_ == "VBP":
        return who != 3 and not (form == "am" and who != 1)
    return finite.tag_ != "VBZ" or who in (3, None)


def present(lemma: str, who: int | None) -> str | None:
    """Present tense for a person (see ``person``); ``None`` where the person is unknown or the form is."""
    if who is None or not lemma:
        return None
    if lemma == "be":
        return {1: "am", 3: "is"}.get(who, "are")
    if lemma == "have":
        return "has" if who == 3 else "have"
    return inflect(lemma, "third") if who == 3 else lemma


def past(lemma: str, who: int | None) -> str | None:
    """Past tense for a person; only ``be`` needs to know it."""
    if lemma == "be":
        return None if who is None else "was" if who in (1, 3) else "were"
    return inflect(lemma, "past")


def lemma_of(token: Token) -> str:
    """The verb's lemma, contractions written out (``'s`` of a copula, ``'m``, ``ca`` of ``can't``).

    Empty where the lemma does not give the word back: the lemmatiser's rules make "hop" of "hopes".
    """
    lemma = _WRITTEN_OUT.get(token.lower_, str(token.lemma_).lower())
    if (
        token.tag_ not in ("VBZ", "VBD", "VBN", "VBG")
        or token.lower_[:1] in ("'", "’")
        or lemma in ("be", "have", "do")
    ):
        return lemma
    from lemminflect import getInflection

    for guess in (lemma, lemma + "e"):
        if token.lower_ in getInflection(guess, token.tag_):
            return guess
    return ""


def shares_subject(verb: Token) -> bool:
    """Whether another verb is joined to this one without a subject of its own: an edit would strand it."""
    joined = [child for child in verb.children if child.dep_ == "conj"]
    if verb.dep_ == "conj" and not any(child.dep_ in SUBJECTS for child in verb.children):
        return True
    return any(
        child.pos_ in ("VERB", "AUX") and not any(below.dep_ in SUBJECTS for below in child.children)
        for child in joined
    )


def sentence_words(sentence: Span) -> frozenset[str]:
    """The sentence's words in lower case, for guards on what stands anywhere in it."""
    return frozenset(token.lower_ for token in sentence)


def plain_sentence(sentence: Span) -> bool:
    """Whether the sentence is prose that a parse can be made of: a full stop, no question, no list."""
    last = sentence.text.rstrip().rstrip("\"'”’)]")
    return bool(last) and last[-1] in ".!;:" and 4 <= len(sentence) <= 70


def contracted(token: Token) -> bool:
    """Whether the word is written together with the one before it or after it (``he'll``, ``don't``)."""
    return token.lower_[:1] in ("'", "’") or (not token.whitespace_ and _starts_contraction(token))


def _starts_contraction(token: Token) -> bool:
    after = token.nbor() if token.i + 1 < len(token.doc) else None
    return after is not None and ("'" in after.text or "’" in after.text) and len(after.text) > 1


def quiet_left(token: Token) -> bool:
    """Whether a clause may begin at ``token``: the text, punctuation or a joining word stands before it."""
    if token.is_sent_start or token.i == 0:
        return True
    before = token.nbor(-1)
    return (
        before.is_punct
        or before.is_space
        or before.dep_ in ("cc", "mark")
        or before.tag_ in ("CC", "IN", "RB")
    )


def quoted_word(token: Token) -> bool:
    """Whether the word stands alone in quotes or brackets: it is talked about, not used."""
    if token.i == 0 or token.i + 1 >= len(token.doc):
        return False
    return token.nbor(-1).is_punct and token.nbor().is_punct and not token.nbor(-1).whitespace_
