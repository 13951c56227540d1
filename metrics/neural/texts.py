"""From a request to the texts of a forward pass: one segment, a segment in its context, a whole document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from challenge_sets import Unit
from metrics.requests import WHOLE, Reach, Request, Segment

SPACE = " "
"""What joins the segments of a document that is scored as one text."""


class Texts(NamedTuple):
    """What one forward pass sees. Of each part the last text is scored, those before it are its context.

    A part that the metric does not read is empty.
    """

    hypothesis: tuple[str, ...]
    source: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()

    def parts(self) -> Mapping[str, tuple[str, ...]]:
        """Source, hypothesis and reference by name, those that are read."""
        named = {"source": self.source, "hypothesis": self.hypothesis, "reference": self.reference}
        return {name: texts for name, texts in named.items() if texts}


class Pass(NamedTuple):
    """One forward pass of a request: its share in the mean of all, and where its hypothesis begins.

    The offset counts in the text that the errors of the answer count in.
    """

    texts: Texts
    offset: int = 0
    share: float = 1.0


class Layout(ABC):
    """How the texts of a request are laid out for the model; one request may need several passes.

    ``fields`` of its methods are those that the metric reads: some of hypothesis, source and reference.
    """

    unit: Unit = "segment"

    @abstractmethod
    def reach(self, fields: tuple[str, ...]) -> Reach | None:
        """What of the document the metric needs besides the segment."""

    @abstractmethod
    def passes(self, request: Request, fields: tuple[str, ...]) -> list[Pass]:
        """The forward passes whose mean is the score."""

    def everything(self, request: Request, fields: tuple[str, ...]) -> Texts:
        """All that is read in one piece, each text once; the errors of the answer count in its hypothesis."""
        return self.passes(request, fields)[0].texts

    def parts(self) -> Mapping[str, str]:
        """For the signature."""
        return {}


@dataclass(frozen=True, slots=True)
class Alone(Layout):
    """Each segment on its own."""

    def reach(self, fields: tuple[str, ...]) -> Reach | None:
        """Nothing."""
        return None

    def passes(self, request: Request, fields: tuple[str, ...]) -> list[Pass]:
        """One pass."""
        return [Pass(_joined([_segment(request)], fields))]


@dataclass(frozen=True, slots=True)
class InContext(Layout):
    """The previous segments before each part, the separator of the tokenizer between them.

    Vernikos et al. 2022 (Embarrassingly Easy Document-Level MT Metrics), section 3: two previous sentences,
    those of the *reference* before hypothesis and reference. Then two documents whose segments were drawn
    from different systems are the same input; with ``hypothesis`` before the hypothesis they are not.
    """

    previous: int
    before_hypothesis: Literal["ref", "hyp"]

    def reach(self, fields: tuple[str, ...]) -> Reach | None:
        """The segments right before the one that is scored, without their hypotheses if unused."""
        unused = {"hypothesis"} if self.before_hypothesis == "ref" else set()
        return Reach(self.previous, tuple(name for name in fields if name not in unused))

    def passes(self, request: Request, fields: tuple[str, ...]) -> list[Pass]:
        """One pass."""
        segments = [*request.document, _segment(request)]
        hypotheses = [segment.hypothesis for segment in segments]
        if self.before_hypothesis == "ref":
            hypotheses[:-1] = [segment.reference or "" for segment in request.document]
        sources = tuple(segment.source for segment in segments) if "source" in fields else ()
        references = tuple(segment.reference or "" for segment in segments) if "reference" in fields else ()
        return [Pass(Texts(tuple(hypotheses), sources, references))]

    def parts(self) -> Mapping[str, str]:
        """What precedes the hypothesis, and how much."""
        return {"context": self.before_hypothesis, "previous": str(self.previous)}


@dataclass(frozen=True, slots=True)
class WholeDocument(Layout):
    """All segments of a document joined by a space and scored as one text."""

    unit: Unit = "document"

    def reach(self, fields: tuple[str, ...]) -> Reach | None:
        """Every segment."""
        return Reach(WHOLE, fields)

    def passes(self, request: Request, fields: tuple[str, ...]) -> list[Pass]:
        """One pass."""
        return [Pass(_joined(request.document, fields))]

    def parts(self) -> Mapping[str, str]:
        """The unit and the joint."""
        return {"unit": "document", "join": "space"}


@dataclass(frozen=True, slots=True)
class Sliding(Layout):
    """SLIDE: a window slides over the document, each stop is scored, the mean is the document's score.

    Raunak, Kocmi and Post 2024. A document shorter than the window is scored whole. Where the stride does
    not come out even, a last window ends with the document, so that no segment stays unseen.
    """

    window: int
    stride: int
    unit: Unit = "document"

    def reach(self, fields: tuple[str, ...]) -> Reach | None:
        """Every segment."""
        return Reach(WHOLE, fields)

    def starts(self, segments: int) -> list[int]:
        """Where the windows of a document of so many segments begin."""
        last = max(0, segments - self.window)
        starts = list(range(0, last + 1, self.stride))
        return starts if starts[-1] == last else [*starts, last]

    def passes(self, request: Request, fields: tuple[str, ...]) -> list[Pass]:
        """One pass a window."""
        document = request.document
        starts = self.starts(len(document))
        found = []
        for start in starts:
            offset = sum(len(segment.hypothesis) + len(SPACE) for segment in document[:start])
            joined = _joined(document[start : start + self.window], fields)
            found.append(Pass(joined, offset, 1 / len(starts)))
        return found

    def everything(self, request: Request, fields: tuple[str, ...]) -> Texts:
        """The document: its windows overlap."""
        return _joined(request.document, fields)

    def parts(self) -> Mapping[str, str]:
        """Window and stride, in segments."""
        return {"unit": "document", "join": "space", "window": str(self.window), "stride": str(self.stride)}


def _segment(request: Request) -> Segment:
    return Segment(request.hypothesis, request.source, request.reference)


def _joined(segments: Sequence[Segment], fields: tuple[str, ...]) -> Texts:
    def part(name: str) -> tuple[str, ...]:
        if name not in fields:
            return ()
        return (SPACE.join(getattr(segment, name) or "" for segment in segments),)

    return Texts(part("hypothesis"), part("source"), part("reference"))
