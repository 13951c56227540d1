"""Slips: single replacements in a text that needs no parse, and how they become a category's candidates."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from perturb.base import Change, Example
from perturb.rules.phrases.plain import base_language

Slip = tuple[int, int, str]
"""``(start, end, replacement)``: what ``text[start:end]`` is replaced by."""

SlipFinder = Callable[[str, str, random.Random], Iterator[Slip]]
"""Yields the slips of a text in a base language (``zh``), best first."""


def slip_candidates(find: SlipFinder, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
    """One candidate for each slip that ``find`` yields for the hypothesis."""
    language = base_language(example.translation.target_lang)
    for start, end, new in find(example.text, language, rng):
        yield [Change(start, end, new)]
