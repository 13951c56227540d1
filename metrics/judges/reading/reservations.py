"""Words with which an answer refuses, supposes, or takes back what it says."""

from __future__ import annotations

import re

from metrics.judges.reading.dress import plain

_JUDGE = (
    r"(?:rate|rated|evaluate|evaluated|judge|judged|assess|assessed|score|scored|grade|graded|annotate|"
    r"annotated|assist|help|provide|give|comply|determine|do (?:this|that))"
)
_CANNOT = (
    r"(?:can ?not|can['’]t|could not|couldn['’]t|won['’]t|will not|unable to|not able to|"
    r"not possible to|impossible to)"
)
_REFUSES = re.compile(
    rf"\b{_CANNOT}\s+(?:\w+\s+){{0,2}}?{_JUDGE}\b|\b(?:i|we)\s+(?:must\s+|have to\s+)?(?:refuse|decline)\b|"
    r"\b(?:i['’]m|i am)\s+(?:\w+\s+)?sorry\b|^\W*sorry\b|\bas an ai\b|"
    r"\bnot comfortable\b|\b(?:rating|scoring|evaluation|judg(?:e)?ment) is (?:not |im)possible\b|"
    r"\bplease provide\b|\bno translation (?:was|is|has been|to|provided|given)\b|"
    r"\bno (?:score|rating) can be\b|"
    r"\bnicht\s+(?:bewerten|beurteilen)\b|tut mir leid|抱歉|对不起|無法|无法|申し訳|できません|죄송|할 수 없",
)
_SUPPOSES = re.compile(
    r"\b(?:(?<!as )if(?! (?:you|needed|necessary|required|any)\b)|would(?! you\b)|were it|"
    r"suppos\w+|assuming|hypothetical\w*|for example|for instance|e\.g\.|imagine|"
    r"expected format|format (?:is|would|should)|"
    r"wenn|falls|wäre|würde|angenommen|zum beispiel)\b|如果|假如|例如|もし|例えば|만약|예를 들어"
)
_TAKES_BACK = re.compile(
    r"\b(?:actually|on reflection|on second thought|minus|scratch that|i mean|correction|"
    r"reconsider\w*|revis\w+|withdraw\w*|not (?:the|my) (?:final )?score|wait|"
    r"but (?:it|this|that) is(?: not|n['’]t)|"
    r"eigentlich|vielmehr|abzüglich|doch lieber)\b|(?:^|[;.,]\s*)no,"
)
_NUMBER_WORDS = re.compile(
    r"\b(?:ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]\w+)?|hundred|zero|"
    r"zehn|(?:\w+und)?(?:zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)|hundert)\b|"
    r"[一二三四五六七八九]十|[이삼사오육칠팔구]십(?=점)"
)


def _said(text: str) -> str:
    return " ".join(plain(text).casefold().split())


def refuses(text: str) -> bool:
    """Whether a text says that its author does not judge."""
    return _REFUSES.search(_said(text)) is not None


def supposes(text: str) -> bool:
    """Whether a text speaks of what is only supposed, or gives an example."""
    return _SUPPOSES.search(_said(text)) is not None


def takes_back(text: str) -> bool:
    """Whether a text corrects what was said."""
    return _TAKES_BACK.search(_said(text)) is not None


def reserved(text: str) -> str:
    """Why what stands beside this text may not be meant; empty where nothing says so."""
    if refuses(text):
        return "it refuses to judge"
    if supposes(text):
        return "it speaks of what is only supposed"
    return "it takes back what is said" if takes_back(text) else ""


def reserved_score(text: str) -> str:
    """As ``reserved``, for a text beside a score: a number in words may be another score."""
    return reserved(text) or ("it names another number" if _NUMBER_WORDS.search(_said(text)) else "")
