"""In what sense a word of the lexicon is used, as far as the parse tells; doubtful uses are refused."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from perturb.rules.phrases.numerals import EN_ORDINALS
from perturb.rules.tables import read_lines, word_set

if TYPE_CHECKING:
    from spacy.tokens import Token

_NAME_ENTITIES = frozenset({"PERSON", "ORG", "GPE", "FAC", "WORK_OF_ART", "EVENT", "LAW", "PRODUCT", "LOC"})
PERSONS = word_set(
    "man woman person people boy girl king prince queen lady lord minister couple child son"
    " daughter brother sister emperor duke official student soldier guy"
)
_MEASURED_TIMES = word_set("year month week day hour minute century decade")
_SEASONS = word_set("spring summer autumn winter")
_TIMES = _SEASONS | word_set("morning afternoon evening century")
_SIDED = word_set("hand eye side leg arm foot ear knee")
_DIRECTIONS = word_set("north south east west northeast southwest northwest southeast")
_EVENTS = word_set(
    "death birth war battle meeting marriage wedding meal breakfast lunch dinner election arrival departure"
    " burial bed funeral sunrise sunset dawn dusk dark school class work game match vote attack trial banquet"
)
ORDINALS = EN_ORDINALS[:8]


def key_of(token: Token) -> str:
    """Under which lemma the lexicon knows the word."""
    # The parser's lemma of "elder" is "eld", and proper nouns keep their capital.
    return str(
        token.text if token.pos_ == "PROPN" or token.lower_.startswith("eld") else token.lemma_.lower()
    )


@lru_cache(maxsize=1)
def _fixed() -> re.Pattern[str]:
    # A look-ahead, because phrases overlap ("the new", "new moon").
    phrases = "|".join(read_lines("lexica/fixed_phrases.tsv"))
    return re.compile(rf"\b(?=((?:{phrases})\b))", re.IGNORECASE)


def in_phrase(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` lies in one of the fixed phrases, which are shorter than 60 characters."""
    left = max(0, start - 60)
    return any(
        match.start(1) + left < end and start < match.end(1) + left
        for match in _fixed().finditer(text[left : end + 60])
    )


def _children(token: Token, *deps: str) -> list[Token]:
    return [child for child in token.children if child.dep_ in deps]


def stands_free(token: Token) -> bool:
    """Whether the word stands for itself: not part of a name, a compound or a hyphenated word."""
    doc, here = token.doc, token.i
    if token.pos_ != "PROPN":
        if token.ent_type_ in _NAME_ENTITIES or (token.text[:1].isupper() and not token.is_sent_start):
            return False
        after = doc[here + 1] if here + 1 < len(doc) else None
        if token.text[:1].isupper() and after is not None and after.text[:1].isupper():
            return False
    before = doc[here - 1] if here and not doc[here - 1].whitespace_ else None
    behind = doc[here + 1] if here + 1 < len(doc) and not token.whitespace_ else None
    around = (before.text[-1] if before is not None else "") + (behind.text[0] if behind is not None else "")
    if any(char in "-–/'‘’_\"“" for char in around):
        # In quotes a word is often mentioned, not used; a hyphen makes another word of it.
        return False
    return token.dep_ not in ("compound", "prt") and not _children(token, "compound", "prt")


def _joined(token: Token) -> bool:
    return token.dep_ == "conj" or bool(_children(token, "conj"))


def _fits_noun(token: Token) -> bool:
    lemma = key_of(token)
    before = token.nbor(-1) if token.i else None
    if lemma in _MEASURED_TIMES:
        counted = [t for t in token.lefts if t.dep_ == "nummod" or t.lower_ in ("first", *ORDINALS)]
        return bool(counted) and token.dep_ != "npadvmod" and all(t.lower_ != "one" for t in counted)
    if lemma in _DIRECTIONS:
        return before is not None and before.lower_ in ("the", "to") and token.dep_ == "pobj"
    if lemma in _SEASONS:
        return token.tag_ == "NN" and token.ent_type_ == "DATE"
    if lemma in ("hand", "foot", "death", "birth"):
        return bool(_children(token, "poss"))
    if lemma == "tomorrow":
        return token.nbor().is_punct if token.i + 1 < len(token.doc) else True
    if lemma in ("beginning", "top", "bottom"):
        return token.dep_ == "pobj" and any(child.lower_ == "of" for child in token.children)
    if lemma in ("daughter", "son") and token.head.lemma_ in ("have", "bear"):
        return False
    # A bare plural or mass noun in an idiom ("at sea", "by horse") is left to the list of phrases.
    return token.dep_ in ("nsubj", "nsubjpass", "dobj", "pobj", "attr", "poss", "dative")


def _fits_verb(token: Token, frame: str) -> bool:
    preps = {child.lower_ for child in _children(token, "prep", "agent", "dative")}
    objects = _children(token, "dobj")
    if token.i and token.nbor(-1).pos_ == "VERB":
        # "tear open", "go eat": half of a larger verb.
        return False
    passive = bool(_children(token, "nsubjpass")) and token.tag_ == "VBN"
    clauses = _children(token, "xcomp", "ccomp", "oprd", "acomp", "attr")
    if token.lemma_ in ("allow", "permit") and not passive and not _children(token, "nsubj"):
        # "Please allow me": a request cannot forbid.
        return False
    if frame == "infinitive":
        return any(
            c.dep_ in ("xcomp", "ccomp") and any(t.lower_ == "to" for t in c.lefts) for c in clauses
        ) and (
            token.lemma_ in ("agree", "refuse")
            or bool(objects)
            or passive
            or any(_children(c, "nsubj") for c in clauses)
        )
    if (
        clauses
        or preps & {"from", "to", "as", "for", "at", "into", "under", "upon", "with"}
        or _joined(token)
    ):
        return False
    if _children(token, "dative") or any(
        t.tag_ == "PRP" and t.text.lower().endswith("self") for t in objects
    ):
        return False
    if frame == "none":
        if any(c.tag_ in ("RBR", "JJR") or c.lower_ in ("first", "last") for c in token.children):
            # "stood first", "grow longer": the verb says less than the place or degree behind it.
            return False
        simple = token.dep_ in ("ROOT", "conj", "advcl", "ccomp", "relcl", "xcomp") and bool(
            _children(token, "nsubj")
        )
        return simple and not objects and not preps & {"on", "by", "in"} and token.tag_ != "VBN"
    return (bool(objects) or passive) and (token.tag_ != "VBG" or token.dep_ in ("ROOT", "pcomp", "advcl"))


def _fits_adjective(token: Token) -> bool:
    head = token.head
    if any(c.dep_ in ("npadvmod", "prep", "advmod") or c.lower_ == "than" for c in token.children):
        if not (key_of(token) in ("able", "unable") or token.dep_ == "acomp"):
            return False
        if _children(token, "npadvmod", "prep"):
            return False
    lemma = key_of(token)
    if _joined(token) or (token.tag_ == "JJS" and lemma in ("good", "bad")):
        return False
    if lemma in ("able", "unable"):
        return token.dep_ == "acomp" and bool(_children(token, "xcomp")) and not _children(head, "neg")
    if lemma in ("alive", "dead", "sick", "hungry", "healthy", "full", "empty"):
        return token.dep_ == "acomp" and not _children(token, "xcomp")
    if lemma in ("right", "left"):
        return token.dep_ == "amod" and head.lemma_ in _SIDED
    if lemma in ("early", "late"):
        return token.dep_ == "amod" and head.lemma_.lower() in _TIMES
    if lemma in ("many", "few"):
        return token.dep_ == "amod" and head.tag_ == "NNS" and token.tag_ == "JJ" and token.left_edge == token
    if token.dep_ == "amod":
        return head.pos_ in ("NOUN", "PROPN") and token.i < head.i and head.lower_ != "one"
    return token.dep_ == "acomp" and head.lemma_ == "be" and not _children(token, "xcomp", "ccomp")


def _fits_adverb(token: Token) -> bool:
    if (
        token.dep_ != "advmod"
        or token.tag_ != "RB"
        or token.head.pos_ not in ("VERB", "AUX")
        or list(token.children)
        or _joined(token)
    ):
        return False
    bare = token.lower_ in ("never", "nowhere") and token.head.tag_ == "VB"
    return not (bare or _children(token.head, "neg"))


def fits(token: Token, frame: str) -> bool:
    """Whether the word is used in the plain sense, and in the verb's frame, that its entry means."""
    pos = token.pos_
    if pos == "NOUN":
        return token.tag_ in ("NN", "NNS") and not _joined(token) and _fits_noun(token)
    if pos == "VERB":
        return _fits_verb(token, frame)
    if pos == "ADJ":
        return _fits_adjective(token)
    if pos == "ADV":
        return _fits_adverb(token)
    if pos == "PRON":
        asked = any(t.lower_ == "please" for t in token.sent)
        return token.dep_ in ("nsubj", "nsubjpass") and not _children(token.head, "neg") and not asked
    if pos == "PROPN":
        return token.ent_type_ == "DATE" and not _joined(token)
    if pos in ("ADP", "SCONJ"):
        objects = _children(token, "pobj")
        if token.dep_ == "mark":
            return token.lower_ in ("before", "after") and token.head.tag_ != "VBG"
        if token.lower_ in ("before", "after") and objects and not _is_time(objects[0]):
            return False
        if not objects or objects[0].pos_ not in ("NOUN", "PROPN") or _children(token, "npadvmod"):
            return False
        if token.lower_ == "without" and (objects[0].left_edge == objects[0] or _counts_none(objects[0])):
            return False
        return token.dep_ == "prep"
    return False


def _is_time(noun: Token) -> bool:
    return noun.ent_type_ in ("DATE", "TIME", "EVENT") or noun.lemma_.lower() in _EVENTS


def _counts_none(noun: Token) -> bool:
    return any(t.lower_ in ("any", "slightest", "least", "single") for t in noun.subtree)
