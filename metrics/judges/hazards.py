"""What texts hold that could pass for an order or for an answer: found to be counted, never to be changed."""

from __future__ import annotations

import re
from collections.abc import Iterable

FENCE, HEADING, ORDER, JSON = "fence", "heading", "order", "json"
HAZARDS = (FENCE, HEADING, ORDER, JSON)
"""A fence had to give way; a line like one of an answer; an order or a role mark; a JSON answer."""

_LINE_END = "[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"
# What may stand before a heading holds no letter: it need not be given back, long as it may be.
_HEADING = re.compile(
    r"[\s#>*_\-+•\d.)(\[]*+"
    r"(?:(?:critical|major|minor)(?:\s+errors?)?[\s*_]*(?:[:：].*)?$"
    r"|no[- ]errors?[\s.*_]*$"
    r"|(?:final\s+)?(?:score|rating)\b[^:：=\d\n]{0,20}[:：=]?[\s*_]*\d"
    r"|contextBehaviou?r[\s*_]*[:：=])",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\s*+(?:#++\s*+|\**+)(?:system|assistant|user|human|model|developer)\**\s*[:：]", re.IGNORECASE
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}?"
    r"\b(?:instructions?|prompts?|rules|guidelines|(?:previous|above|earlier|everything)\b)"
    r"|\b(?:new|updated|system)\s+(?:instructions?|prompts?)\s*:"
    r"|\b(?:output|reply|respond|answer|return|write|print)\s+(?:only|just|exactly|with)\b[^.\n]{0,40}"
    r"(?:no[- ]error|score|\d{2,3}\b|perfect)"
    r"|\byou\s+(?:are|must)\s+now\b"
    r"|\b(?:ignorier|vergiss|missachte)\w*\b[^.\n]{0,40}\b(?:anweisung|vorgabe|regel|instruktion)"
    r"|(?:忽略|无视|無視|忘记|忘掉)[^。\n]{0,20}(?:指令|指示|说明|說明|规则|提示|要求|命令)"
    r"|(?:指示|命令|ルール|プロンプト)[^。\n]{0,12}(?:無視|忘れ)"
    r"|(?:지시|명령|규칙|프롬프트)[^.\n]{0,12}(?:무시|잊)"
    r"|<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?think(?:ing)?>|<(?:start|end)_of_turn>|</?s>",
    re.IGNORECASE,
)
_JSON = re.compile(r"[{,]\s*[\"'“]?(?:errors?|score|rating|severity|has_no_error)[\"'”]?\s*:", re.IGNORECASE)


def hazards(texts: Iterable[str]) -> set[str]:
    """Which kinds of hostile content stand in these texts: ``heading``, ``order``, ``json``.

    The time is linear in the length of the texts, whatever they hold.
    """
    found = set()
    for text in texts:
        # Line by line, so that white space is never looked through over many lines; equal lines once.
        lines = set(re.split(_LINE_END, text))
        if any(map(_HEADING.match, lines)):
            found.add(HEADING)
        if any(map(_ROLE.match, lines)) or _ORDER.search(text):
            found.add(ORDER)
        if _JSON.search(text):
            found.add(JSON)
    return found
