"""Limits to the token, windows over what is longer, unknown tokens, and the spelling of marks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from metrics import METRICS, Answer, Request, Settings
from metrics.neural.metric import NeuralMetric
from metrics.neural.readers import JointReader, PromptReader, Reader, SegmentReader
from metrics.neural.texts import Pass, Texts
from metrics.requests import ModelOptions, Segment

Loader = Callable[[str], Any]

EVERY = [
    "comet22",
    "comet22-ref",
    "cometkiwi22",
    "cometkiwi23-xl",
    "xcomet-xl",
    "xcomet-xl-qe",
    "metricx24-large",
    "metricx24-xl-qe",
]


@pytest.fixture(autouse=True)
def _in_the_hub(hub: Path) -> Iterator[None]:
    # Models of this size are slowed down by several threads.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def metric_for(name: str, **options: Any) -> NeuralMetric:
    model = ModelOptions(device="cpu", **options)
    metric = METRICS[name].configured(model)(Settings("de", model=model))
    assert isinstance(metric, NeuralMetric)
    return metric


def request_of(metric: NeuralMetric, hypothesis: str, source: str, reference: str) -> Request:
    fields = metric.inputs()
    return Request(
        hypothesis, source if "source" in fields else "", reference if "reference" in fields else None
    )


def tokens(number: int) -> str:
    """A text of so many tokens: 'the' is one."""
    return " ".join(["the"] * number)


# --- limits --------------------------------------------------------------------------------------------

LIMITS = [
    # Each part has 510 tokens with its two marks: 508 of the text.
    ("comet22", (508, 508, 508), "ok", ""),
    ("comet22", (509, 1, 1), "truncated", "source 1, hypothesis 509, reference 1 tokens, with"),
    ("comet22", (1, 509, 1), "truncated", "reference 1 tokens, with marks up to 511; the model"),
    ("comet22", (1, 1, 600), "truncated", "reference 600 tokens, with marks up to 602"),
    # A source that is not read has no length.
    ("comet22-ref", (508, 600, 508), "ok", ""),
    ("comet22-ref", (508, 1, 509), "truncated", "hypothesis 508, reference 509 tokens, with marks up to 511"),
    ("comet:Unbabel/wmt20-comet-qe-da", (508, 508, 600), "ok", ""),
    ("comet:Unbabel/wmt20-comet-qe-da", (508, 509, 1), "truncated", "source 509, hypothesis 508 tokens"),
    # All parts together 512, with four marks for two parts and six for three.
    ("cometkiwi22", (254, 254, 600), "ok", ""),
    ("cometkiwi22", (508, 0, 1), "ok", ""),
    ("cometkiwi22", (255, 254, 1), "truncated", "source 254, hypothesis 255 tokens, with marks 513 together"),
    ("cometkiwi23-xl", (254, 254, 1), "ok", ""),
    ("cometkiwi23-xl", (254, 255, 1), "truncated", "hypothesis 254 tokens, with marks 513 together"),
    ("xcomet-xl-qe", (254, 254, 600), "ok", ""),
    ("xcomet-xl-qe", (255, 254, 1), "truncated", "with marks 513 together; the model reads 512"),
    ("xcomet-xl", (169, 169, 168), "ok", ""),
    (
        "xcomet-xl",
        (169, 169, 169),
        "truncated",
        "source 169, hypothesis 169, reference 169 tokens, with marks 513 together; the model reads 512",
    ),
    # 'source', 'candidate' and 'reference' are one token each here, and so is each colon: six, and the end.
    ("metricx24-large", (510, 510, 509), "ok", ""),
    ("metricx24-large", (510, 510, 510), "truncated", "reference 510 tokens, with marks 1537 together"),
    ("metricx24-xl-qe", (766, 765, 9999), "ok", ""),
    ("metricx24-xl-qe", (766, 766, 1), "truncated", "hypothesis 766 tokens, with marks 1537 together"),
    ("metricx23-xl", (510, 9999, 509), "ok", ""),
    ("metricx23-xl", (510, 1, 510), "truncated", "reference 510 tokens, with marks 1025 together"),
    ("metricx23-xl-qe", (510, 510, 1), "truncated", "hypothesis 510 tokens, with marks 1025 together"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "counts", "status", "reason"), LIMITS)
def test_limits_to_the_token(name: str, counts: tuple[int, int, int], status: str, reason: str) -> None:
    metric = metric_for(name)
    request = request_of(metric, *map(tokens, counts))
    (screened,) = metric.screen([request])
    if status == "ok":
        assert screened is None
        # With one more token of the hypothesis it does not.
        (longer,) = metric.screen([request_of(metric, tokens(counts[0] + 1), *map(tokens, counts[1:]))])
        assert longer is not None and longer.status == "truncated"
    else:
        assert screened is not None
        assert (screened.raw, screened.status) == (None, status)
        assert reason in screened.reason
        assert screened.reason.endswith(f"the model reads {metric.limit}")
        # Scoring says the same, and needs no model for it.
        assert metric.score([request]) == [screened]


@pytest.mark.parametrize("over", [0, 1])
def test_comet_cuts_where_the_limit_says(over: int, load_comet: Loader) -> None:
    model = load_comet("Unbabel/wmt22-comet-da")
    metric = metric_for("comet22")
    assert isinstance(metric.reader, SegmentReader)
    text = tokens(508 + over)
    (theirs,) = model.encoder.prepare_sample([text])["input_ids"].tolist()
    assert (tuple(theirs) == metric.reader.sequence((text,))) == (not over)

    kiwi = load_comet("Unbabel/wmt22-cometkiwi-da")
    reader = metric_for("cometkiwi22").reader
    assert isinstance(reader, JointReader)
    mt, src = tokens(300), tokens(208 + over)
    (prepared,) = kiwi.prepare_sample([{"mt": mt, "src": src}], stage="predict")
    assert (tuple(prepared["input_ids"][0].tolist()) == reader.joined((mt,), (src,))) == (not over)

    xcomet = load_comet("Unbabel/XCOMET-XL")
    reader = metric_for("xcomet-xl").reader
    assert isinstance(reader, JointReader)
    ref = tokens(100 + over)
    *_, whole = xcomet.prepare_sample([{"mt": mt, "src": tokens(106), "ref": ref}], stage="predict")
    assert (tuple(whole["input_ids"][0].tolist()) == reader.joined((mt,), (tokens(106),), (ref,))) == (
        not over
    )


def test_the_limit_of_metricx_is_that_of_its_tokenizer() -> None:
    tokenizer = AutoTokenizer.from_pretrained("google/mt5-large", local_files_only=True)
    reader = metric_for("metricx24-large").reader
    assert isinstance(reader, PromptReader)
    for count, fits in ((510, True), (511, False)):
        texts = Texts((tokens(count),), (tokens(510),), (tokens(509),))
        ids = tokenizer(reader.prompt(texts), max_length=1536, truncation=True).input_ids[:-1]
        assert (tuple(ids) == reader.sequence(texts)) == fits == reader.lengths(texts).fits


def test_context_counts() -> None:
    metric = metric_for("doc-ref:comet22")
    before = Segment("", tokens(100), tokens(200))
    # <s> context </s> text </s>
    for count, status in ((307, None), (308, "truncated")):
        request = Request(tokens(count), tokens(1), tokens(1), document=(before,))
        (answer,) = metric.screen([request])
        assert (answer and answer.status) == status
    assert (
        answer is not None and "hypothesis 508, reference 201 tokens, with marks up to 511" in answer.reason
    )


@pytest.mark.parametrize("name", EVERY)
def test_an_edit_beyond_the_limit_has_no_score(name: str, cases: Path, load_comet: Loader) -> None:
    case = json.loads((cases / "truncation" / "document.json").read_text(encoding="utf-8"))
    assert case["right"].endswith("never delta 0")
    metric = metric_for(name)
    sides = [case["original"], case["perturbed"]]
    requests = [request_of(metric, text, "Satz 1.", "Sentence 1.") for text in sides]
    short = request_of(metric, "Sentence 1.", "Satz 1.", "Sentence 1.")
    for answers in (metric.score([requests[0], short, requests[1]]), metric.score(requests)):
        for answer in (answers[0], answers[-1]):
            assert (answer.raw, answer.status) == (None, "truncated")
            assert f"hypothesis {len(metric.reader.ids(sides[answers.index(answer) > 0]))}" in answer.reason
    assert [answer and answer.status for answer in metric.screen([requests[0], short, requests[1]])] == [
        "truncated",
        None,
        "truncated",
    ]
    strict = metric_for(name, overlong="error")
    assert [each and each.status for each in strict.screen(requests)] == ["truncated"] * 2
    assert metric.score([short])[0].status == "ok"


def test_comet_itself_sees_no_edit_beyond_the_limit(cases: Path, load_comet: Loader) -> None:
    case = json.loads((cases / "truncation" / "document.json").read_text(encoding="utf-8"))
    rows = [{"src": "", "mt": case[side], "ref": "Sentence 1."} for side in ("original", "perturbed")]
    one, other = load_comet("Unbabel/wmt22-comet-da").predict(rows, gpus=0, progress_bar=False).scores
    assert abs(one - other) < 1e-6


# --- windows -------------------------------------------------------------------------------------------


def numbered(words: int) -> str:
    return " ".join(f"{number}a{number}" for number in range(words))


TALL: list[tuple[str, tuple[str, str, str]]] = [
    ("comet22", (numbered(400), numbered(150), numbered(500))),
    ("comet22", (numbered(10), numbered(300), numbered(10))),
    ("comet22-ref", (numbered(400), "", numbered(100))),
    ("cometkiwi22", (numbered(200), numbered(300), "")),
    ("cometkiwi23-xl", (numbered(200), numbered(300), "")),
    ("cometkiwi22", (numbered(600), "12", "")),
    ("xcomet-xl", (numbered(150), numbered(120), numbered(180))),
    ("metricx24-large", (numbered(300), numbered(400), numbered(500))),
    ("metricx24-xl-qe", (numbered(900), numbered(100), "")),
]


@pytest.mark.parametrize(("name", "texts"), TALL)
def test_windows_cover_every_token(name: str, texts: tuple[str, str, str]) -> None:
    metric = metric_for(name, overlong="window")
    reader = metric.reader
    request = request_of(metric, *texts)
    (plain,) = metric_for(name)._passes(request)
    assert not reader.lengths(plain.texts).fits
    windows = reader.windows(plain)
    assert all(reader.lengths(window.texts).fits for window in windows)
    for part, (text,) in plain.texts.parts().items():
        pieces = [window.texts.parts()[part][0] for window in windows]
        assert all(piece in text for piece in pieces)
        spans = reader.offsets(text)
        seen = places(reader, text, pieces)
        assert seen[0][0] == 0 and seen[-1][1] == len(spans)
        if len(spans) > 4 * len(windows):
            for (_, end), (start, _) in pairwise(seen):
                # A quarter of a window is in common, but for rounding at both ends.
                assert end - start >= 0.25 * (seen[0][1] - seen[0][0]) - 2
    # As few as fit, but for marks and rounding: of one fewer each would hold a larger share of the tokens.
    lengths = reader.lengths(plain.texts)
    content = sum(lengths.parts.values()) if lengths.joint else max(lengths.parts.values())
    assert content / (1 + 0.75 * (len(windows) - 2)) > reader.limit - 20


def places(reader: Reader, text: str, pieces: list[str]) -> list[tuple[int, int]]:
    """Half-open ranges of the tokens of a text that its pieces hold; each begins no earlier than the last."""
    offsets = reader.offsets(text)
    found = []
    start = 0
    for piece in pieces:
        start = text.index(piece, start)
        inside = [
            number
            for number, (begin, end) in enumerate(offsets)
            if begin >= start and end <= start + len(piece)
        ]
        found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return found


@pytest.mark.parametrize(("name", "texts"), TALL)
def test_the_score_of_windows_is_their_mean(name: str, texts: tuple[str, str, str]) -> None:
    metric = metric_for(name, overlong="window")
    request = request_of(metric, *texts)
    (plain,) = metric._passes(request)
    apart = []
    for window in metric.reader.windows(plain):
        source = window.texts.source[-1] if window.texts.source else ""
        reference = window.texts.reference[-1] if window.texts.reference else ""
        apart.append(request_of(metric, window.texts.hypothesis[-1], source, reference))
    short = request_of(metric, "The cat.", "Die Katze.", "A cat.")
    first, whole, last = metric.score([short, request, short])
    scores = [answer.raw for answer in metric_for(name).score(apart) if answer.raw is not None]
    assert len(scores) == len(apart) > 1
    assert whole.raw == pytest.approx(fmean(scores), abs=metric.tie_threshold)
    # A text that fits is scored as without windows.
    (usual,) = metric_for(name).score([short])
    assert first == last
    assert first.raw == pytest.approx(usual.raw, abs=metric.tie_threshold)
    assert "|overlong:window, overlap 0.25" in metric.signature()
    assert (
        "|overlong:exclude" in metric_for(name).signature() == metric_for(name, overlong="error").signature()
    )


def test_errors_in_windows_stand_where_they_are_in_the_whole_text() -> None:
    words = [f"{number}a" for number in range(400)]
    severities = {"minorerr": "minor", "majorerr": "major", "criterr": "critical"}
    for place, marker in zip(range(3, 400, 11), list(severities) * 20, strict=False):
        words[place] = marker
    text = "  ".join(words)
    metric = metric_for("xcomet-xl", overlong="window")
    (answer,) = metric.score([Request(text, numbered(80), numbered(90))])
    assert answer.status == "ok" and answer.errors is not None
    expected = []
    start = 0
    for word in words:
        if word in severities:
            expected.append((start, start + len(word), severities[word]))
        start += len(word) + 2
    assert [(each.span.start, each.span.end, each.severity) for each in answer.errors] == expected
    for each in answer.errors:
        each.span.check(text)


def test_what_cannot_be_cut_into_windows() -> None:
    metric = metric_for("comet22-ref", overlong="window")
    (answer,) = metric.score([Request(tokens(120_000), "", "the")])
    assert (answer.raw, answer.status) == (None, "truncated")
    assert "hypothesis 120000, reference 1 tokens" in answer.reason
    assert "cannot be cut into windows" in answer.reason


# --- unknown tokens, marks, views ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "texts", "unknown"),
    [
        ("comet22", ("A cat.", "Eine Katze.", "The cat."), 0),
        # Those of every part that is read; a run of them is one token.
        ("comet22", ("A 😀 cat 😀.", "Eine 😀🎉 Katze.", "The 👍🏽 cat."), 4),
        ("comet22-ref", ("A 😀 cat 😀.", "Eine 😀🎉 Katze.", "The 👍🏽 cat."), 3),
        ("cometkiwi22", ("A 😀 cat 😀.", "Eine 😀🎉 Katze.", "The 👍🏽 cat."), 3),
        ("xcomet-xl", ("A 😀 cat 😀.", "Eine 😀🎉 Katze.", "The 👍🏽 cat."), 4),
        ("metricx24-large", ("A 😀 cat 😀.", "Eine 😀🎉 Katze.", "The 👍🏽 cat."), 4),
        ("metricx24-xl-qe", ("😀", "😀", "😀"), 2),
    ],
)
def test_unknown_tokens_are_counted(name: str, texts: tuple[str, str, str], unknown: int) -> None:
    metric = metric_for(name)
    (answer,) = metric.score([request_of(metric, *texts)])
    assert (answer.status, answer.unknown) == ("ok", unknown)


@pytest.mark.parametrize("name", EVERY)
def test_the_spelling_of_a_mark_is_text(name: str) -> None:
    reader = metric_for(name).reader
    backend = reader._backend
    marks = {backend.token_to_id(mark) for mark in ("<s>", "</s>", "<pad>", "<mask>")} - {None}
    for mark in ("<s>", "</s>", "<pad>", "<mask>"):
        for text in (mark, f"a {mark} b", f"a{mark}b", f"{mark}{mark}", f"😀{mark} x"):
            ids = reader.ids(text)
            assert marks.isdisjoint(ids), text
            letters = [backend.id_to_token(token) for token in ids]
            assert "".join(letters).replace("▁", "").replace("<unk>", "") == "".join(text.split()).replace(
                "😀", ""
            )
            offsets = reader.offsets(text)
            assert len(offsets) == len(ids)
            assert offsets[-1][1] == len(text)
    # What is around a mark is cut into tokens as it would be elsewhere.
    assert reader.ids("The cat sat on the mat </s> 😀")[:6] == reader.ids("The cat sat on the mat")[:6]
    assert len(reader.ids("</s>")) == 5


def test_reader_leaves_out_nothing_and_adds_nothing(overlong_text: str) -> None:
    # Neither the limit of the tokenizer nor its padding reaches the reader.
    for name in EVERY:
        reader = metric_for(name).reader
        assert len(reader.ids(overlong_text)) > 1536
        assert len(reader.ids("the cat")) == len(reader.offsets("the cat")) < 10
        assert reader.ids("") == ()


@pytest.mark.parametrize("name", EVERY)
def test_a_view_is_what_the_model_sees(name: str) -> None:
    metric = metric_for(name)

    def view(hypothesis: str, source: str = "Eine Katze.", reference: str = "The cat.") -> Any:
        return metric.view(request_of(metric, hypothesis, source, reference))

    usual = view("A cat sat on it.")
    for same in ("A  cat sat on it.", "A cat sat on it. ", "A\tcat sat\non it.", "Ａ cat sat on it."):
        assert view(same) == usual, same
    for other in ("A cat sat on it!", "a cat sat on it.", "A cat sat in it.", "A catsat on it.", ""):
        assert view(other) != usual, other
        assert repr(view(other)) != repr(usual)
    # Two emoji are the same to a model that knows neither.
    assert view("😀") == view("🎉") != view("a")
    # Equal views mean equal scores, to the last bit.
    hypotheses = ["A cat sat on it.", "A  cat sat on it.", "😀", "🎉"]
    answers: list[Answer] = metric.score(
        [request_of(metric, text, "Eine Katze.", "The cat.") for text in hypotheses]
    )
    assert answers[0].raw == answers[1].raw and answers[2].raw == answers[3].raw


def test_a_window_moves_with_its_document() -> None:
    reader = metric_for("cometkiwi22").reader
    text = numbered(200)
    windows = reader.windows(Pass(Texts((text,), (text,)), offset=1000))
    for window in windows:
        (piece,) = window.texts.hypothesis
        assert text[window.offset - 1000 :].startswith(piece)


def test_unknown_tokens_of_windows_are_counted_once() -> None:
    metric = metric_for("comet22-ref", overlong="window")
    (answer,) = metric.score([Request(" ".join(["the 😀"] * 600), "", "the cat")])
    assert answer.unknown == 600


def test_errors_of_windows_do_not_overlap() -> None:
    metric = metric_for("xcomet-xl-qe", overlong="window")
    (answer,) = metric.score([Request(" ".join(["majorerr"] * 700), "Satz.")])
    assert answer.errors is not None
    for one, other in pairwise(answer.errors):
        assert one.span.end <= other.span.start


def test_an_empty_hypothesis_in_its_context_needs_a_reference_too() -> None:
    metric = metric_for("doc-ref:comet22")
    before = (Segment("", "Vorher.", "Before."),)
    (answer,) = metric.score([Request("", "Satz.", None, document=before)])
    assert (answer.raw, answer.status) == (None, "not_applicable")
