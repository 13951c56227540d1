"""Metrics on documents against comet's own context, against joined texts, and against means over windows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from metrics import METRICS, Request, Settings
from metrics.neural.texts import Sliding
from metrics.requests import ModelOptions, Segment

OPTIONS = ModelOptions(window=3, stride=2)
Texts = list[tuple[str, str, str]]


def metric(name: str) -> Any:
    return METRICS[name].configured(OPTIONS)(Settings("en", model=OPTIONS))


@pytest.fixture(autouse=True)
def _in_the_hub(hub: Path) -> None:
    pass


@pytest.fixture(scope="module")
def document(texts: Texts) -> list[Segment]:
    """Seven short segments; the order of the parts is that of the record."""
    short = [each for each in texts if all(0 < len(part) < 60 for part in each)]
    return [Segment(*each) for each in short[:7]]


def in_context(document: list[Segment], place: int) -> Request:
    return Request(*document[place], document=tuple(document[max(0, place - 2) : place]))


def whole(document: list[Segment]) -> Request:
    return Request("", document=tuple(document))


def prefixed(document: list[Segment], place: int, field: str, before: str) -> str:
    earlier = [getattr(each, before) for each in document[max(0, place - 2) : place]]
    return " </s> ".join([*earlier, getattr(document[place], field)])


@pytest.mark.parametrize("mode", ["doc-ref", "doc-hyp"])
def test_comet_in_context_is_comets_own(
    document: list[Segment], load_comet: Callable[[str], Any], mode: str
) -> None:
    model = load_comet("Unbabel/wmt22-comet-da")
    before = "reference" if mode == "doc-ref" else "hypothesis"
    samples = [
        {
            "mt": prefixed(document, place, "hypothesis", before),
            "src": prefixed(document, place, "source", "source"),
            "ref": prefixed(document, place, "reference", "reference"),
        }
        for place in range(len(document))
    ]
    model.enable_context()
    try:
        theirs = model.predict(samples, gpus=0, progress_bar=False, num_workers=0)["scores"]
    finally:
        model.use_context = False
    requests = [in_context(document, place) for place in range(len(document))]
    if mode == "doc-ref":  # as the runner hands them over
        blank = [tuple(each._replace(hypothesis="") for each in request.document) for request in requests]
        requests = [Request(*document[n], document=segments) for n, segments in enumerate(blank)]
    ours = [answer.raw for answer in metric(f"{mode}:comet22").score(requests)]
    assert ours == pytest.approx(theirs, abs=1e-6)
    plain = [answer.raw for answer in metric("comet22").score([Request(*each) for each in document])]
    assert ours[0] == pytest.approx(plain[0], abs=1e-6)
    assert all(abs(one - other) > 1e-4 for one, other in zip(ours[1:], plain[1:], strict=True))


def test_a_unified_comet_in_context_is_comets_own(
    document: list[Segment], load_comet: Callable[[str], Any]
) -> None:
    samples = [
        {
            "mt": prefixed(document, place, "hypothesis", "hypothesis"),
            "src": prefixed(document, place, "source", "source"),
        }
        for place in range(len(document))
    ]
    model = load_comet("Unbabel/wmt22-cometkiwi-da")
    theirs = model.predict(samples, gpus=0, progress_bar=False, num_workers=0)["scores"]
    requests = [in_context(document, place) for place in range(len(document))]
    assert [each.raw for each in metric("doc-hyp:cometkiwi22").score(requests)] == pytest.approx(
        theirs, abs=1e-6
    )


def test_mixed_documents_are_the_same_input_with_the_context_of_references(document: list[Segment]) -> None:
    """DOC and MIX: the segment is one system's, those before it are another's."""
    doc = in_context(document, 2)
    mixed = tuple(each._replace(hypothesis=f"{each.hypothesis} of others") for each in doc.document)
    mix = Request(*document[2], document=mixed)
    blind, seeing = metric("doc-ref:comet22"), metric("doc-hyp:comet22")
    assert "hypothesis" not in blind.reach.fields and "hypothesis" in seeing.reach.fields
    one, other = blind.score([doc, mix])
    assert one.raw == other.raw
    one, other = seeing.score([doc, mix])
    assert abs(one.raw - other.raw) > 1e-4


@pytest.mark.parametrize("name", ["xcomet-xl", "xcomet-xl-qe", "metricx24-xl", "metricx24-xl-ref", "comet22"])
def test_a_whole_document_is_its_joined_text(document: list[Segment], name: str) -> None:
    document = document[:3]
    joined = Request(*(" ".join(part) for part in zip(*document, strict=True)))  # type: ignore[arg-type]
    (ours,) = metric(f"whole:{name}").score([whole(document)])
    (plain,) = metric(name).score([joined])
    assert (ours.status, ours.raw, ours.errors) == ("ok", plain.raw, plain.errors)


@pytest.mark.parametrize("name", ["cometkiwi22", "metricx24-xl-qe", "xcomet-xl-qe"])
def test_slide_is_the_mean_over_windows(document: list[Segment], name: str) -> None:
    marked = [each._replace(hypothesis=f"{each.hypothesis} majorerr") for each in document]
    (ours,) = metric(f"slide:{name}").score([whole(marked)])
    windows = [marked[0:3], marked[2:5], marked[4:7]]
    joined = [Request(*(" ".join(part) for part in zip(*each, strict=True))) for each in windows]  # type: ignore[arg-type]
    apart = metric(name).score(joined)
    assert ours.raw == pytest.approx(fmean(each.raw for each in apart), abs=1e-6)
    if name.startswith("xcomet"):
        text = " ".join(each.hypothesis for each in marked)
        assert [error.span.text for error in ours.errors] == ["majorerr"] * 7
        for error in ours.errors:
            error.span.check(text)


@pytest.mark.parametrize(
    ("segments", "window", "stride", "starts"),
    [
        (7, 3, 2, [0, 2, 4]),
        (8, 3, 2, [0, 2, 4, 5]),  # the last one ends with the document
        (6, 6, 6, [0]),
        (12, 6, 6, [0, 6]),
        (13, 6, 6, [0, 6, 7]),
        (2, 6, 6, [0]),
        (1, 1, 1, [0]),
        (4, 1, 1, [0, 1, 2, 3]),
    ],
)
def test_where_windows_begin(segments: int, window: int, stride: int, starts: list[int]) -> None:
    assert Sliding(window, stride).starts(segments) == starts


def test_a_window_that_is_cut_counts_as_one(document: list[Segment], overlong_text: str) -> None:
    """SLIDE over a long window and a short one, with the long one scored in pieces."""
    options = ModelOptions(window=1, stride=1, overlong="window")

    def made(name: str) -> Any:
        return METRICS[name].configured(options)(Settings("en", model=options))

    segments = [Segment(overlong_text, "Lang."), document[0]]
    (ours,) = made("slide:cometkiwi22").score([whole(segments)])
    apart = made("cometkiwi22").score([Request(*segment) for segment in segments])
    assert ours.raw == pytest.approx(fmean(each.raw for each in apart), abs=1e-6)


def test_a_document_that_is_too_long_is_truncated(document: list[Segment], overlong_text: str) -> None:
    long = [*document[:2], Segment(overlong_text, "Lang.", "Long.")]
    (answer,) = metric("whole:xcomet-xl").score([whole(long)])
    assert answer.status == "truncated" and answer.raw is None
    (answer,) = metric("doc-hyp:comet22").score([Request("A.", "A.", "A.", document=tuple(long[1:]))])
    assert answer.status == "truncated"


def test_a_neighbour_without_a_reference_is_no_empty_reference(document: list[Segment]) -> None:
    gap = document[0]._replace(reference=None)
    (answer,) = metric("whole:comet22").score([whole([gap, document[1]])])
    assert (answer.status, answer.raw) == ("not_applicable", None)
