"""Categories of the minimal-pair study that no rule can make: registered, so that they are not forgotten."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from perturb.base import PERTURBATIONS, Change, Example, NotApplicableError, Perturbation


class _NeedsLLM(Perturbation):
    kind = "error"
    severity = "critical"
    languages = ("en",)
    needs = frozenset({"llm"})

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Never yields: ``build`` lists the category as one that needs an LLM."""
        raise NotApplicableError("needs an LLM")


@PERTURBATIONS.register("modern_sense")
class ModernSense(_NeedsLLM):
    """A classical word rendered by what the same character means today."""

    category = "modern_sense"
    description = "a classical word translated by its modern sense"


@PERTURBATIONS.register("modern_chinese")
class ModernChinese(_NeedsLLM):
    """Modern Chinese instead of the target language."""

    category = "modern_chinese"
    description = "the output is modern Chinese instead of the target language"
