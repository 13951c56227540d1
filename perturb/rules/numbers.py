"""Numbers, units and dates."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from perturb.base import PERTURBATIONS, Change, Example, Perturbation
from perturb.rules.phrases.digits import digit_slips
from perturb.rules.phrases.number_words import number_word_slips
from perturb.rules.phrases.slips import slip_candidates
from perturb.rules.phrases.units import unit_slips


@PERTURBATIONS.register("number")
class Number(Perturbation):
    """One number turned into another by a slip a translator could make."""

    category = "number"
    kind = "error"
    severity = "major"
    languages = ("en", "de", "ja", "zh-Hans", "ko")
    description = (
        "one number, written in digits or words, is another (27 → 72, three → five, 三个 → 五个): "
        "a mistranslated number, major"
    )
    absent = "no number that can be changed alone"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Digits or words first, by chance; every place of the text once."""
        kinds = [digit_slips, number_word_slips]
        rng.shuffle(kinds)
        for slips in kinds:
            yield from slip_candidates(slips, example, rng)


@PERTURBATIONS.register("unit_date")
class UnitDate(Perturbation):
    """One unit, currency, month, weekday, century or era turned into another of its kind."""

    category = "unit_date"
    kind = "error"
    severity = "major"
    languages = ("en", "de")
    description = (
        "one unit of measure or time, currency, month, weekday, season, century or era is another of its "
        "kind (kilometres → miles, March → May, million → billion): a mistranslation, major"
    )
    absent = "no unit or date that can be changed alone"

    def candidates(self, example: Example, rng: random.Random) -> Iterator[Sequence[Change]]:
        """Every place of the text once, in random order."""
        return slip_candidates(unit_slips, example, rng)
