"""Punctuation, casing and typing errors."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules.phrases.capitals import casing_slips
from perturb.rules.phrases.marks import punctuation_slips
from perturb.rules.phrases.slips import slip_candidates
from perturb.rules.phrases.typos import typing_slips


@PERTURBATIONS.register("punctuation")
class Punctuation(Perturbation):
    """One punctuation mark dropped, exchanged or put where none may stand."""

    category = "punctuation"
    kind = "error"
    severity = "minor"
    languages = ("en", "de", "ja", "zh-Hans", "ko")
    description = (
        "one mark missing or wrong (sentences run together, a needed comma or closing quote dropped, a "
        "question with a full stop, 。 as a half-width stop): a punctuation error, minor"
    )
    absent = "no mark whose change a careful reader must call an error"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """One mark at a time; the end of the text comes last."""
        return slip_candidates(punctuation_slips, example, rng)


@PERTURBATIONS.register("casing")
class Casing(Perturbation):
    """One capital written small."""

    category = "casing"
    kind = "error"
    severity = "minor"
    languages = ("en", "de")
    description = (
        "a name, the first word of a sentence, the pronoun I or a German noun without its capital: "
        "a spelling error, minor"
    )
    absent = "no capital that must be one"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """One word at a time."""
        return slip_candidates(casing_slips, example, rng)


@PERTURBATIONS.register("typo")
class Typo(Perturbation):
    """One word misspelt by one slip of the hand or of the input method."""

    category = "typo"
    kind = "error"
    severity = "minor"
    languages = ("en", "de", "ja", "zh-Hans")
    description = (
        "one word misspelt into a non-word by one letter swapped, doubled, dropped or hit beside its key, or "
        "by a homophone or look-alike character (已经 → 己经): a spelling error, minor"
    )
    absent = "no word that a slip surely misspells"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """One slip at a time, words in random order."""
        return slip_candidates(typing_slips, example, rng)
