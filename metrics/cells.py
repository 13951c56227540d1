"""The cells of a table: every side of every pair, joined with its translation, each distinct input once.

A cell holds no text. What is kept of a pair is its names and, for each kind of input, two numbers that
point at the distinct inputs; the texts stream by once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from challenge_sets import ChallengeSet, InputError, Pair, Turn
from challenge_sets.languages import normalise_language
from challenge_sets.sets import PAIRS, TRANSLATIONS
from metrics.keys import inputs_key
from metrics.requests import WHOLE, Reach, Request, Segment

NO_REFERENCE = -1
OWN_REFERENCE = -2
NO_PSEUDO_REFERENCE = -3
NO_NEIGHBOUR = -4
NO_NEIGHBOUR_REFERENCE = -5


class Kind(NamedTuple):
    """What decides the inputs of a request: target language, fields read, reference taken, document read."""

    target_lang: str
    inputs: tuple[str, ...]
    pseudo_reference: str | None
    reach: Reach | None = None


@dataclass(frozen=True, slots=True)
class Tested:
    """What a pair takes over from its translation."""

    item: str
    system: str
    doc: str
    position: int
    source: str
    hypothesis: str
    reference: str | None
    context: tuple[Turn, ...]
    source_lang: str
    target_lang: str


@dataclass(slots=True)
class Column:
    """The inputs of one kind: distinct keys in order of appearance, and for each pair which two it has.

    A negative number says why a pair has none.
    """

    numbers: dict[bytes, int] = field(default_factory=dict)
    original: array[int] = field(default_factory=lambda: array("q"))
    perturbed: array[int] = field(default_factory=lambda: array("q"))

    @property
    def applicable(self) -> int:
        """Cells that can be scored: two a pair."""
        return 2 * sum(number >= 0 for number in self.original)


class PairRow(NamedTuple):
    """The names of a pair."""

    pair: str
    item: str
    system: str
    doc: str


class Cells:
    """The cells of one set. Reads the translations when made; pairs are streamed by ``stream``.

    Raises ``InputError`` for two translations of one (item, system).
    """

    def __init__(self, challenge_set: ChallengeSet) -> None:
        self._set = challenge_set
        self._tested: dict[tuple[str, str], Tested] = {}
        self.rows: dict[str, list[PairRow]] = {}
        """Target language to its pairs, in the set's order; complete after the first ``stream``."""
        self.columns: dict[Kind, Column] = {}
        self._documents: dict[tuple[str, str, str], dict[str, int]] = {}
        self._in_order: dict[tuple[str, str, str], dict[str, int]] = {}
        self._read_translations()

    def _read_translations(self) -> None:
        # Systems share sources and references: one string object stands for all its equals.
        shared: dict[str, str] = {}

        def once(text: str) -> str:
            return shared.setdefault(text, text)

        for each in self._set.translations():
            key = (once(each.item), once(each.system))
            if key in self._tested:
                raise InputError(
                    f"two translations of item '{each.item}' by system '{each.system}'",
                    path=self._set.directory / TRANSLATIONS,
                )
            self._tested[key] = Tested(
                *key,
                doc=once(each.doc),
                position=each.position,
                source=once(each.source),
                hypothesis=each.hypothesis,
                reference=None if each.reference is None else once(each.reference),
                context=each.context,
                source_lang=once(each.source_lang),
                target_lang=normalise_language(each.target_lang),
            )
            document = self._documents.setdefault(_document_of(self._tested[key]), {})
            document[key[0]] = each.position

    @property
    def systems(self) -> list[str]:
        """Systems that the set holds translations of, sorted."""
        return sorted({system for _, system in self._tested})

    @property
    def target_langs(self) -> set[str]:
        """Target languages of the translations."""
        return {tested.target_lang for tested in self._tested.values()}

    @property
    def source_langs(self) -> list[str]:
        """Source languages of the translations, sorted."""
        return sorted({tested.source_lang for tested in self._tested.values()})

    @property
    def has_context(self) -> bool:
        """Whether any translation has earlier turns."""
        return any(tested.context for tested in self._tested.values())

    def tested(self, pair: Pair) -> Tested:
        """The translation that a pair was made from; ``InputError`` where the set does not hold it."""
        try:
            return self._tested[pair.item, pair.system]
        except KeyError:
            raise InputError(
                f"pair '{pair.pair}' belongs to item '{pair.item}' of system '{pair.system}', "
                f"which {TRANSLATIONS} does not hold",
                path=self._set.directory / PAIRS,
            ) from None

    def reference(self, tested: Tested, pseudo_reference: str | None) -> str | int:
        """The reference of a translation, or the negative number that says why there is none."""
        # A reference without a word in it cannot be meant: scored as one, every text would tie at the bottom.
        if pseudo_reference is None:
            return tested.reference if tested.reference and tested.reference.strip() else NO_REFERENCE
        if tested.system == pseudo_reference:
            return OWN_REFERENCE
        stand_in = self._tested.get((tested.item, pseudo_reference))
        return stand_in.hypothesis if stand_in and stand_in.hypothesis.strip() else NO_PSEUDO_REFERENCE

    def segments(self, tested: Tested, replaced: str | None, kind: Kind) -> tuple[Segment, ...] | int:
        """What of the document reaches a metric beside the segment ``tested``, in the document's order.

        That is the segments right before it or, for a whole document, all of them, the one under test with
        ``replaced`` for its hypothesis. A negative number says why there is none: a gap in the document.
        """
        if kind.reach is None:
            return ()
        places = self._places(_document_of(tested))
        here = places[tested.item]
        whole = kind.reach.previous == WHOLE
        wanted = [
            (place, item)
            for item, place in places.items()
            if whole or (item != tested.item and 0 <= here - place <= kind.reach.previous)
        ]
        # Positions run on without a gap, and no two segments share one.
        run = [*(place for place, _ in wanted), *([] if whole else [here])]
        start = 0 if whole else max(0, here - kind.reach.previous)
        if run != list(range(start, start + len(run))) or run[-1] < here:
            return NO_NEIGHBOUR
        found = []
        for _, item in wanted:
            neighbour = self._tested.get((item, tested.system))
            if neighbour is None:
                return NO_NEIGHBOUR
            reference = None
            if "reference" in kind.reach.fields:
                given = self.reference(neighbour, kind.pseudo_reference)
                if isinstance(given, int):
                    return NO_NEIGHBOUR_REFERENCE
                reference = given
            hypothesis = neighbour.hypothesis if replaced is None or item != tested.item else replaced
            found.append(
                Segment(
                    hypothesis if "hypothesis" in kind.reach.fields else "",
                    neighbour.source if "source" in kind.reach.fields else "",
                    reference,
                )
            )
        return tuple(found)

    def _places(self, document: tuple[str, str, str]) -> dict[str, int]:
        """Items of a document by position, which counts from its first segment."""
        if document not in self._in_order:
            positions = self._documents[document]
            items = sorted(positions, key=positions.__getitem__)
            self._in_order[document] = {item: positions[item] - positions[items[0]] for item in items}
        return self._in_order[document]

    def stream(self, kinds: set[Kind]) -> Iterator[tuple[Kind, bytes, Request]]:
        """Read the pairs once, fill the columns of ``kinds``, and yield each distinct input as it comes."""
        wanted: dict[str, list[tuple[Kind, Column]]] = {}
        for kind in sorted(kinds, key=repr):
            self.columns[kind] = Column()
            wanted.setdefault(kind.target_lang, []).append((kind, self.columns[kind]))
        first = not self.rows
        names: set[str] = set()
        for pair in self._set.pairs():
            tested = self.tested(pair)
            if first:
                if pair.pair in names:
                    raise InputError(f"two pairs are named '{pair.pair}'", path=self._set.directory / PAIRS)
                names.add(pair.pair)
                row = PairRow(pair.pair, tested.item, tested.system, tested.doc)
                self.rows.setdefault(tested.target_lang, []).append(row)
            for kind, column in wanted.get(tested.target_lang, ()):
                yield from self._place(pair, tested, kind, column)

    def _place(
        self, pair: Pair, tested: Tested, kind: Kind, column: Column
    ) -> Iterator[tuple[Kind, bytes, Request]]:
        # In the order of the inputs, which the key keeps.
        values: dict[str, Any] = dict.fromkeys(kind.inputs)
        for name in kind.inputs:
            if name == "reference":
                values[name] = self.reference(tested, kind.pseudo_reference)
                if isinstance(values[name], int):
                    column.original.append(values[name])
                    column.perturbed.append(values[name])
                    return
            elif name != "hypothesis":
                values[name] = getattr(tested, name)
        for text, side in ((pair.original, column.original), (pair.perturbed, column.perturbed)):
            values["hypothesis"] = text
            fields = values
            if kind.reach is not None:
                document = self.segments(tested, text, kind)
                if isinstance(document, int):
                    side.append(document)
                    continue
                # A document is one input, whichever of its segments is under test.
                whole = kind.reach.previous == WHOLE
                # What names the languages is no text of one segment.
                shared = {name: value for name, value in values.items() if name == "source_lang"}
                fields = ({"hypothesis": "", **shared} if whole else values) | {"document": document}
            key = inputs_key(list(fields.values()))
            number = column.numbers.get(key)
            if number is None:
                number = column.numbers[key] = len(column.numbers)
                yield kind, key, Request(**fields)
            side.append(number)


def _document_of(tested: Tested) -> tuple[str, str, str]:
    return tested.doc, tested.source_lang, tested.target_lang


def why_not(number: int, kind: Kind) -> str:
    """The reason of a cell that cannot be scored."""
    reasons: Mapping[int, str] = {
        NO_REFERENCE: "the item has no reference",
        OWN_REFERENCE: f"'{kind.pseudo_reference}' is the pseudo-reference itself",
        NO_NEIGHBOUR: "a segment of the document that the metric reads is not there, or shares its position",
        NO_NEIGHBOUR_REFERENCE: "another segment of the document has no reference",
        NO_PSEUDO_REFERENCE: f"the pseudo-reference '{kind.pseudo_reference}' has no translation of the item",
    }
    return reasons[number]
