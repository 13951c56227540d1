"""Where a phrase or a sentence can be added to a text, and which one fits."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from perturb.rules.phrases.additions import DE_SENTENCES, DE_TAILS, EN_SENTENCES, EN_TAILS
from perturb.rules.phrases.plain import sentences

_EN_PAST = re.compile(
    r"\b(?:was|were|had|did|went|came|became|took|gave|fell|sent|led|(?<!is )said"
    r"|(?<!is )(?<!are )(?<!be )(?<!been )(?<!be able to )(?<!not )[a-z]{3,}ed(?! (?:to be|by)))\b"
)
_EN_PRESENT = re.compile(
    r"\b(?:is|are|am|has|have|does|do|becomes?|feels?|will|would|can|may|must|should)\b|['’](?:s|re|ll) "
)
_EN_FIRST = re.compile(
    r"(?:(?:So|And|But|Well|Yeah|Oh|Ah|Then|Now|Also|Actually|Anyway),? )?(?:I|We|I'm|I'll|I've|I’m"
    r"|I’ll)\b|[^,]{2,80}, (?:I|so I|but I)\b"
)
_EN_SUBJECT = re.compile(
    r"\b(?:he|she|it|they|there|this|that|the \w+|it's|that's|he's|she's|they're)\b", re.IGNORECASE
)
_EN_SPEAKER = re.compile(r"\b(?:I|me|my|we|us|our|you|your|You|Your|My|We|Our)\b")
_EN_FINITE = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|will|would|can|cannot|could|must|should|may|might|does|do|did"
    r"|went|came|became|gave"
    r"|took|fell|sent|led|said|says|[a-z]{2,}ed|[a-z]{2,}n't|let's"
    r"|makes?|takes?|gets?|needs?|wants?|knows?|think|like)\b|['’](?:s|re|m|ll|ve|d)\b"
)
_DE_FIRST = re.compile(r"\b(?:[Ii]ch|[Ww]ir)\b")
_DE_VERB = re.compile(
    r"\b(?:ist|sind|war|waren|hat|habe|haben|wird|werden|kann|muss|bin|[a-zäöüß]{2,}(?:t|te|ten|st))\b"
)
_DE_PAST = re.compile(
    r"\b(?:wurde|wurden|war|waren|hatte|hatten|[a-zäöü]+te|[a-zäöü]+ten|ge[a-zäöü]+(?:t|en))\b"
)
_NO_STATEMENT = re.compile(r"[\"“”„«»:;()\[\]]|['’]\Z|\b[A-Z]\.\Z|https?:|[#@]\w|\.\.|…")
_ATTRIBUTED = re.compile(
    r"\b(?:[Aa]ccording|said|says|reported(?:ly)?|noted|announced|confirmed|told|[Ll]aut|sagte|sagt"
    r"|so ein|bestätigten?|teilte|zufolge)\b"
)
_KEYWORD = re.compile(
    r"\b(?:according|surprise|report|experts?|laut|Experten|Bericht|brother|sister|Bruder|Schwester)\b"
)


def added_tails(text: str, language: str, register: str, rng: random.Random) -> Iterator[tuple[int, str]]:
    """Yield ``(offset, phrase)``: a phrase put before the full stop of a statement."""
    bank = EN_TAILS if language == "en" else DE_TAILS
    for start, end in _statements(text, language, register, rng):
        yield end - 1, _choose(bank, text, text[start:end], language, register, rng)


def added_sentences(text: str, language: str, register: str, rng: random.Random) -> Iterator[tuple[int, str]]:
    """Yield ``(offset, sentence)``: a short sentence put behind a statement."""
    bank = EN_SENTENCES if language == "en" else DE_SENTENCES
    for start, end in _statements(text, language, register, rng):
        yield end, " " + _choose(bank, text, text[start:end], language, register, rng)


def _statements(text: str, language: str, register: str, rng: random.Random) -> list[tuple[int, int]]:
    """Statements that end in a plain full stop, outside quotations and lists, in random order."""
    found = []
    quoted = False
    for start, end in sentences(text, language):
        piece = text[start:end]
        marks = len(re.findall(r"[\"“”„«»]", piece))
        opens = quoted
        quoted ^= bool(marks % 2)
        if opens or quoted or piece[-1] != "." or piece.count(" ") < 4 or _NO_STATEMENT.search(piece[:-1]):
            continue
        # Headings and lists state nothing; outside of talk the first person does not cite others on himself.
        if not (_DE_VERB if language == "de" else _EN_FINITE).search(piece):
            continue
        if register != "conversation" and (_DE_FIRST if language == "de" else _EN_SPEAKER).search(piece):
            continue
        found.append((start, end))
    rng.shuffle(found)
    return found


def _choose(
    bank: dict[str, tuple[str, ...]],
    text: str,
    sentence: str,
    language: str,
    register: str,
    rng: random.Random,
) -> str:
    if language == "en":
        past = bool(_EN_PAST.search(sentence)) and not _EN_PRESENT.search(sentence)
    else:
        past = bool(_DE_PAST.search(sentence))
    options: list[str] = []
    if register == "conversation":
        first = (_EN_FIRST.match if language == "en" else _DE_FIRST.search)(sentence)
        statement = language == "de" or _EN_SUBJECT.search(sentence)
        options += bank[
            "conversation:first" if first else "conversation:statement" if statement else "conversation"
        ]
    elif register == "classical":
        options += bank["classical:event" if past else "classical"]
    else:
        usual = "event" if past else "any"
        options += bank[usual if register == "any" or register not in bank else register]
        options += bank["event"] if past and register == "news" else ()
    taken = set(_KEYWORD.findall(text))
    fresh = [option for option in options if not taken & set(_KEYWORD.findall(option))]
    if _ATTRIBUTED.search(sentence):
        # What already has its source takes no second one.
        fresh = [option for option in fresh if not _ATTRIBUTED.search(option)]
    return rng.choice(fresh or list(bank["event" if past else "any"]))
