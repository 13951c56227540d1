"""Why an answer was not understood."""

from __future__ import annotations

import re

EMPTY = "the answer is empty"
ECHO = "the answer repeats a text that it was given"
REFUSAL = "a refusal"
UNFINISHED_REASONING = "the reasoning is not finished"
NO_HEADING = "no heading of a severity"
NUMBER_ONLY = "a number where errors were asked for"
JSON_FOR_TEXT = "JSON where headings were asked for"
TWO_ENDS = "a quote may end on its line or on a later one"
OTHER_QUANTITY = "a number that may be another quantity than the score"
NO_NUMBER = "no number that is the whole answer or stands behind a label"

_REFUSAL = re.compile(
    r"\bI(?:'m| am)? (?:sorry|unable|not able|cannot|can't|can not|won't|will not|must decline)\b"
    r"|\bas an AI\b|\b(?:sorry|apologi[sz]e|unable to)\b|tut mir leid|\bich kann\b[^.]{0,40}\bnicht\b"
    r"|抱歉|对不起|無法|无法|申し訳|できません|죄송|할 수 없",
    re.IGNORECASE,
)


_LONGEST = 200


class NotUnderstoodError(Exception):
    """An answer is not in the form asked for; the message says what is wrong with it."""

    @property
    def reason(self) -> str:
        """What is wrong: one line of text that can be printed, whatever of the answer it quotes."""
        # Words of an answer end up in logs and tables.
        said = "".join(character if character.isprintable() else " " for character in str(self))
        said = " ".join(said.split())
        return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


class OverlookedError(NotUnderstoodError):
    """An answer is in form, and a part of it that is not may name an error."""


def is_refusal(answer: str) -> bool:
    """Whether an answer that holds no judgement begins like a refusal."""
    return _REFUSAL.search(answer[:400].replace("’", "'")) is not None
