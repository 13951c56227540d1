"""Words that say that something is wrong, and whether they are denied: what prose says of errors."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from challenge_sets.records import Severity
from metrics.judges.reading.vocabulary import SEVERITIES

_SEVERE = "|".join(sorted((name for name in SEVERITIES if name.isalpha() and len(name) > 4), reverse=True))
_THING = r"(?:errors?|issues?|mistakes?|problems?|flaws?|slips?|inaccurac(?:y|ies)|fehler|erreurs?|errores)"
_FAULT = (
    r"mistranslat\w*|untranslated|omit\w*|omission\w*|missing|missed|incorrect\w*|inaccura\w+|wrong\w*|"
    r"erroneous\w*|ungrammatical\w*|unnatural\w*|awkward\w*|mis-?spel\w+|mistaken\w*|inappropriate\w*|"
    r"inconsisten\w+|unidiomatic\w*|mislead\w*|misrender\w*|misinterpret\w*|typos?|nonsens\w+|distort\w*|"
    r"clums\w+|bad(?:ly)?|poor(?:ly)?|(?:too|overly) literal\w*|fail(?:s|ed)? to|non-translation|lacks?|"
    r"absent|(?:alters|changes|loses) the \w+|needs? to be|corrected|corrections?|too \w+|"
    r"(?:penalty|mqm score)\W{1,4}[1-9]\d*|"
    r"(?:an?|the only|one|two|three|four|five|[1-9]\d*|another|some|several|few|multiple|many|grammar|"
    r"grammatical|spelling|punctuation|styl\w+|tense|agreement|word|lexical|slight|small)\s+"
    rf"(?:(?!(?:{_SEVERE})\b)\w+\s+)?{_THING}(?!-?\s?free|\s+(?:annotation|analysis|list|report))|"
    r"falsch\w*|fehlt|fehlen\w*|fehlerhaft\w*|unpassend\w*|übersetzungsfehler|fehlübersetz\w+|weggelassen|"
    r"ausgelassen|ungenau\w*|unnatürlich\w*|incorrect[oa]s?|contresens|mal tradui\w+|mal traduci\w+|omis\w*"
)
# What is denied here should be there.
_LACK = (
    r"(?:not|\w+n['’]t)\s+(?!only)(?:\w+ly\s+|been\s+)*(?:translated|rendered|conveyed|correct|accurate|"
    r"idiomatic|natural|grammatical|fluent|appropriate|right)|should (?:be|have been|read)|"
    r"nicht\s+(?:\w+\s+)?(?:übersetzt|richtig|korrekt)"
)
_NEGATION = (
    r"no|not(?! only)|nor|neither|none|never|nothing|without|cannot|free (?:of|from)|\w+n['’]t|zero|any|"
    r"absence of|avoid\w*|rather than|instead of|kein\w*|nichts?|ohne|weder|noch|nie|pas|sans|aucune?|sin|"
    r"ningun[oa]?|ningún"
)
_BUT = (
    r"but|however|though|although|yet|only|other than|besides|while|whereas|nevertheless|nonetheless|aber|"
    r"jedoch|allerdings|nur|obwohl|mais|pero"
)
_EXCEPTION = r"except\w*|apart from|aside from|save for|außer|abgesehen von|sauf|à part|salvo"
_FOUND = (
    r"(?:is|are|was|were|been|be)\s+(?:found|detected|identified|present|noted|observed|made|seen|made)|"
    r"(?:has|have) been\s+\w+"
)
_PRAISE = re.compile(
    r"\b(?:right|correct(?:ly)?|accurate(?:ly)?|well|good|natural(?:ly)?|fine|appropriate(?:ly)?|preserv\w+|"
    r"faithful\w*|kept|keeps?|convey\w*|fluent(?:ly)?|perfect\w*|excellent|proper(?:ly)?|acceptable|suitable|"
    r"match\w*|captur\w+|richtig|korrekt|gut)\b|准确|準確|正确|正確|自然|流畅|정확|자연스|適切"
)
_FURTHER = re.compile(
    r"\b(?:another|also|too(?=\s*(?:[.,;!]|$))|as well|additional\w*|furthermore|further|moreover|besides|"
    r"in addition|weitere\w*|auch|außerdem|zudem|ebenso|ebenfalls)\b"
)
_EVENT = re.compile(
    rf"(?P<end>[.!?;:](?=\s|$)|\n)|(?P<comma>,)|\b(?:(?P<lack>{_LACK})|(?P<but>{_BUT})|(?P<exception>{_EXCEPTION})|"
    rf"(?P<negation>{_NEGATION})|(?P<severity>(?:{_SEVERE})\b"
    # "two minor ones", "it is minor."; not "a major city".
    rf"(?=(?:\W+\w+){{0,2}}?\W+(?:{_THING}|ones?)\b|\s*(?:[.,;)]|$)))|"
    rf"(?P<fault>{_FAULT})|(?P<thing>{_THING})|"
    rf"(?P<passed>{_FOUND})|"
    r"(?P<verb>is|are|was|were|has|have|sounds?|reads?|seems?|feels?|ist|sind))\b"
)
_OTHER_SENTENCE = re.compile(r"[。．.!?！？;；\n]|但|不过|然而|しかし|ただし|하지만|그러나|지만")
_OTHER_FAULT = re.compile(
    "误译|誤譯|错译|錯譯|漏译|漏譯|错误|錯誤|遗漏|遺漏|不准确|不準確|不自然|不正确|不正確|誤訳|訳抜け|訳し漏れ|誤り|"
    "間違|不適切|오역|누락|어색|틀린|틀렸|잘못|부정확|부자연"
)
_OTHER_NEGATION = re.compile("没|沒|无|無|未|不存在|不是|なし|ない|なく|ませ|없|않|아니")
_QUOTED = re.compile(
    '"[^"]*"|“[^“”]*[”"]|„[^“”„]*[“”"]|«[^»]*»|»[^«]*«|‹[^›]*›|「[^」]*」|『[^』]*』|‘[^’]*’|`[^`]+`|'
    "(?<!\\w)'[^'\\n]+'(?!\\w)"
)


class Said(NamedTuple):
    """What a text says of errors, apart from its quotes and from what it denies.

    ``fault``: something is wrong. ``excepted``: there is no error, but. ``praise``: something is right, and
    nothing wrong. ``further``: it is about one more. ``severities``: those of the errors that it speaks of.
    ``quotes``: what it quotes.
    """

    fault: bool
    excepted: bool
    praise: bool
    further: bool
    severities: frozenset[Severity]
    quotes: tuple[str, ...]


@lru_cache(maxsize=512)
def said_in(text: str) -> Said:
    """What a plain text says of errors."""
    quotes = tuple(inner for found in _QUOTED.finditer(text) if (inner := found[0][1:-1].strip()))
    words = _QUOTED.sub('""', text).casefold()
    fault, excepted, severities = _events(words)
    fault = fault or (not words.isascii() and _other_fault(words))
    praise = not fault and _PRAISE.search(words) is not None
    return Said(fault, excepted, praise, _FURTHER.search(words) is not None, frozenset(severities), quotes)


def _events(words: str) -> tuple[bool, bool, set[Severity]]:
    fault = excepted = negated = comma = denied = False
    severities: set[Severity] = set()
    for event in _EVENT.finditer(words):
        kind = event.lastgroup
        if kind == "end":
            negated = comma = denied = False
        elif kind == "but":
            excepted = excepted or denied
            negated = False
        elif kind == "exception":
            excepted, negated = True, False
        elif kind == "negation":
            negated, comma = True, False
        elif kind == "comma":
            comma = negated
        elif kind == "verb":
            # "No errors, the tense is wrong", "no-error: it is wrong": a clause of its own.
            negated, comma = negated and not (comma or denied), False
        elif kind == "lack":
            fault = True
        elif negated:
            denied = denied or kind in ("thing", "fault")
        elif kind == "fault":
            fault = True
        elif kind == "severity":
            severities.add(SEVERITIES[event["severity"]])
    return fault, excepted, severities


def _other_fault(words: str) -> bool:
    return any(
        _OTHER_FAULT.search(sentence) and not _OTHER_NEGATION.search(sentence)
        for sentence in _OTHER_SENTENCE.split(words)
    )
