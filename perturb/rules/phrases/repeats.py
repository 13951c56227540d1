"""Phrases that a translation system may loop on and no writer repeats."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases.plain import final_mark, inside, protected, sentences
from perturb.rules.phrases.slips import Slip

_EN_FUNCTION = (
    "of|in|on|at|to|from|with|for|by|into|and|but|or|was|were|is|are|had|has|have|will|would|can|could"
    "|should|that|who|which"
    "|when|where|while|because|so|as|if|after|before|until|during|without|through|did|does|must|may|not"
    "|he|she|they|it|we|I"
    "|you|over|under|between|against|about|than"
)
_EN_DETERMINER = "the|a|an|his|her|their|my|your|our|its|this|these"
_EN_PHRASE = re.compile(
    rf"(?<![\w’'-])((?:(?:in|on|at|to|from|with|by"
    rf"|into) )?(?:{_EN_DETERMINER}) (?:(?!(?:{_EN_FUNCTION})\b)[a-z]{{3,}} )?"
    rf"(?!(?:{_EN_FUNCTION}|same|other|others|most|first|few|more|own|next|last|only|best|many|two|three"
    rf"|little|very|one|lot|top|hundred|thousand|million|too|together|away|back|alone|again|there|here"
    rf"|now|then|home|today|so|all|once|\w+ly)\b)"
    rf"[a-z]{{3,}})(?= (?:{_EN_FUNCTION})\b|[.,;!?](?:\s|\Z))",
    re.IGNORECASE,
)
_DE_PHRASE = re.compile(
    r"(?<![\w-])((?:(?:in|auf|mit|von|zu|für|bei|an|aus|nach|über|unter|durch|gegen|seit|vor) )?"
    r"(?:der|die|das|den|dem|des|eine?[mnrs]?|(?:mein|dein|sein|ihr|unser)(?:e[mnrs]?)?|diese[mnrs]?|im"
    r"|am|zum|zur|vom|beim) "
    r"(?:[a-zäöüß]{3,}(?:e|en|er|es|em) )?[A-ZÄÖÜ][a-zäöüß]{2,})(?= [a-zäöüß]|[.,;!?](?:\s|\Z))",
    re.IGNORECASE,
)
_JA_PHRASE = re.compile(
    r"(?<![一-龥ァ-ヺー\d])([一-龥ァ-ヺー]{2,8}(?:から|まで|では|には|を|が)|[一-龥ァ-ヺー]{4,8}(?:に|で))(?=[一-龥ァ-ヺ])"
)
# Urging and sighing are repeated on purpose: such clauses are left out.
_SPOKEN_END = "吧啊呀哦啦嘛呢吗了的よねぜぞさなわか"
_KO_PHRASE = re.compile(r"(?<![가-힣])([가-힣]{2,6}(?:을|를|에서|에게|으로|까지|부터))(?= [가-힣])")
_CJK_CLAUSE = re.compile(
    r"(?:(?<=[，、。！？；：])|\A)([^，、。！？；：,.!?…\s「」『』“”\"（）()]{6,14})(?=[，。、])"
)
_SENTENCE_WORDS = (5, 14)


def repeated_spans(text: str, language: str, rng: random.Random) -> Iterator[tuple[int, str]]:
    """Yield ``(offset, phrase)`` in random order: the phrase that ends at the offset, to insert again."""
    spans = protected(text)
    finders = {"en": _latin, "de": _latin, "zh": _chinese, "ja": _japanese, "ko": _korean}
    found = list(finders[language](text, language))
    rng.shuffle(found)
    for start, end, again in found:
        if not inside(start, end, spans):
            yield end, again
    if language in ("en", "de"):
        whole = list(_sentence(text, language))
        rng.shuffle(whole)
        yield from whole


def _latin(text: str, language: str) -> Iterator[Slip]:
    for found in (_EN_PHRASE if language == "en" else _DE_PHRASE).finditer(text):
        phrase = found[1]
        words = phrase.split(" ")
        # A name inside keeps its capital; a capital inside an English phrase is a name that may go on.
        if language == "en" and any(word[0].isupper() for word in words[1:]):
            continue
        if language == "de" and (
            not words[-1][0].isupper() or any(word[0].isupper() for word in words[1:-1])
        ):
            continue
        if (
            language == "de"
            and text[found.end() : found.end() + 1] == " "
            and text[found.end() + 1].isupper()
        ):
            continue
        again = phrase[0].lower() + phrase[1:]
        yield found.start(1), found.end(1), " " + again


def _sentence(text: str, language: str) -> Iterator[tuple[int, str]]:
    for start, end in sentences(text, language):
        at = final_mark(text, start, end)
        if (
            at == end - 1
            and text[at] == "."
            and _SENTENCE_WORDS[0] <= text.count(" ", start, end) < _SENTENCE_WORDS[1]
        ):
            yield end, " " + text[start:end]


def _chinese(text: str, language: str) -> Iterator[Slip]:
    for found in _CJK_CLAUSE.finditer(text):
        if len(set(found[1])) > 4 and found[1][-1] not in _SPOKEN_END:
            yield found.start(1), found.end(1), found[1]


def _japanese(text: str, language: str) -> Iterator[Slip]:
    phrases = [(found.start(1), found.end(1), found[1]) for found in _JA_PHRASE.finditer(text)]
    # Clauses divide Japanese by the same marks as Chinese.
    yield from phrases or _chinese(text, language)


def _korean(text: str, language: str) -> Iterator[Slip]:
    for found in _KO_PHRASE.finditer(text):
        yield found.start(1), found.end(1), " " + found[1]
