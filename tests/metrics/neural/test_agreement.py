"""Scores and spans are those of COMET's own ``predict()`` and of a plain forward pass of MetricX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import comet
import pytest
import torch
from transformers import AutoTokenizer, MT5ForConditionalGeneration

from metrics import METRICS, Answer, Request, Settings
from metrics.requests import ModelOptions

Text = tuple[str, str, str]
Loader = Callable[[str], Any]

COMETS = [
    ("comet22", "Unbabel/wmt22-comet-da", ("mt", "src", "ref")),
    ("cometkiwi22", "Unbabel/wmt22-cometkiwi-da", ("mt", "src")),
    ("cometkiwi23-xl", "Unbabel/wmt23-cometkiwi-da-xl", ("mt", "src")),
    ("xcomet-xl", "Unbabel/XCOMET-XL", ("mt", "src", "ref")),
    ("xcomet-xl-qe", "Unbabel/XCOMET-XL", ("mt", "src")),
    ("comet:Unbabel/wmt20-comet-qe-da", "Unbabel/wmt20-comet-qe-da", ("mt", "src")),
]
XCOMETS = [("mt", "src", "ref"), ("mt", "src")]


@pytest.fixture(autouse=True)
def _in_the_hub(hub: Path) -> Iterator[None]:
    # Models of this size are slowed down by several threads.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def scored(name: str, texts: list[Text], **options: Any) -> list[Answer]:
    model = ModelOptions(device="cpu", **options)
    metric = METRICS[name].configured(model)(Settings("de", model=model))
    fields = metric.inputs()
    requests = [
        Request(
            hypothesis,
            source if "source" in fields else "",
            reference if "reference" in fields else None,
        )
        for hypothesis, source, reference in texts
    ]
    return metric.score(requests)


def raws(answers: list[Answer]) -> list[float]:
    found = [answer.raw for answer in answers if answer.raw is not None]
    assert len(found) == len(answers)
    return found


def samples(texts: list[Text], fields: tuple[str, ...]) -> list[dict[str, str]]:
    return [
        {name: text for name, text in zip(("mt", "src", "ref"), triple, strict=True) if name in fields}
        for triple in texts
    ]


def predicted(model: Any, rows: list[dict[str, str]]) -> Any:
    return model.predict(rows, batch_size=8, gpus=0, progress_bar=False, num_workers=0)


def furthest(ours: list[float], theirs: list[float]) -> float:
    return max(abs(one - other) for one, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(("name", "repo", "fields"), COMETS)
def test_scores_of_comet(
    name: str, repo: str, fields: tuple[str, ...], load_comet: Loader, texts: list[Text]
) -> None:
    theirs = predicted(load_comet(repo), samples(texts, fields)).scores
    assert furthest(raws(scored(name, texts)), theirs) <= 1e-6


def test_reference_alone_is_comet_with_an_empty_source(load_comet: Loader, texts: list[Text]) -> None:
    rows = [row | {"src": ""} for row in samples(texts, ("mt", "ref"))]
    ours = raws(scored("comet22-ref", texts))
    assert furthest(ours, predicted(load_comet("Unbabel/wmt22-comet-da"), rows).scores) <= 1e-6
    assert ours == raws(scored("comet-ref:Unbabel/wmt22-comet-da", texts))
    # That the source is gone makes a difference, and a source in the request none.
    assert furthest(ours, raws(scored("comet22", texts))) > 1e-2
    assert ours == raws(scored("comet22-ref", [(mt, "", ref) for mt, _, ref in texts]))


MARKED: list[Text] = [
    (text, "Die Katze saß.", "The cat sat.")
    for text in (
        "The cat sat on the mat.",
        "minorerr",
        "majorerr cat",
        "The cat sat criterr",
        "The minorerr cat majorerr sat criterr.",
        # Neighbours of one severity, and of unlike ones in either order.
        "The minorerr minorerr cat",
        "The minorerr criterr cat",
        "The criterr minorerr cat",
        "minorerr majorerr criterr",
        "minorerrmajorerr criterrminorerr",
        # A penalty of 25, and of more.
        "majorerr a majorerr b majorerr c majorerr d majorerr",
        "criterr a criterr b criterr",
        " ".join(["criterr cat"] * 30),
        "",
        "   ",
        "猫majorerr很大。",
        "  The   majorerr\tcat \n sat  ",
        "😀minorerr😀",
    )
]


@pytest.mark.parametrize("fields", XCOMETS)
def test_scores_of_marked_texts(fields: tuple[str, ...], load_comet: Loader) -> None:
    theirs = predicted(load_comet("Unbabel/XCOMET-XL"), samples(MARKED, fields))
    name = "xcomet-xl" if "ref" in fields else "xcomet-xl-qe"
    assert furthest(raws(scored(name, MARKED)), theirs.scores) <= 1e-6
    # 0.22 of the score is that of the errors: from none to the worst, they are all there.
    assert {0.0, 0.6, 0.8, 1.0} <= {round(score, 6) for score in theirs.metadata.mqm_scores}


@pytest.mark.parametrize("fields", XCOMETS)
def test_spans_of_comet_where_it_has_no_quirk(fields: tuple[str, ...], load_comet: Loader) -> None:
    plain = [
        text
        for text in MARKED
        if not any(
            f"{one} {other}" in text[0] or f"{one}{other}" in text[0]
            for one in ("minorerr", "majorerr", "criterr")
            for other in ("minorerr", "majorerr", "criterr")
            if one != other
        )
    ]
    assert len(plain) > 10
    theirs = predicted(load_comet("Unbabel/XCOMET-XL"), samples(plain, fields)).metadata.error_spans
    answers = scored("xcomet-xl" if "ref" in fields else "xcomet-xl-qe", plain)
    for (hypothesis, _, _), answer, spans in zip(plain, answers, theirs, strict=True):
        expected = []
        for span in spans:
            # Their offsets take in the blanks before a word, and what they call its text is decoded.
            whole = hypothesis[span["start"] : span["end"]]
            start = span["start"] + len(whole) - len(whole.lstrip())
            expected.append((start, start + len(whole.strip()), span["severity"]))
        errors = answer.errors or ()
        assert [(each.span.start, each.span.end, each.severity) for each in errors] == expected, hypothesis
        for error, span in zip(errors, spans, strict=True):
            error.span.check(hypothesis)
            assert error.confidence == pytest.approx(span["confidence"], abs=1e-6)


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        # comet gives "minorerr criterr" as one minor error.
        ("The minorerr criterr cat", [(4, 12, "minor"), (13, 20, "critical")]),
        ("criterrminorerr", [(0, 7, "critical"), (7, 15, "minor")]),
        # One error over a blank that belongs to neither word.
        ("The majorerr  majorerr cat", [(4, 22, "major")]),
        ("The cat sat criterr", [(12, 19, "critical")]),
    ],
)
def test_spans_where_comet_has_quirks(hypothesis: str, expected: list[tuple[int, int, str]]) -> None:
    (answer,) = scored("xcomet-xl", [(hypothesis, "Die Katze saß.", "The cat sat.")])
    assert answer.errors is not None
    assert [(each.span.start, each.span.end, each.severity) for each in answer.errors] == expected


def other_checkpoint(
    of: str, out: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]
) -> tuple[str, Any]:
    """A changed checkpoint on disk, as the user names it and as comet loads it."""
    source = Path(comet.download_model(of, local_files_only=True))
    saved = torch.load(source, weights_only=True)
    change(saved["state_dict"], saved["hyper_parameters"])
    (out / "checkpoints").mkdir(parents=True)
    torch.save(saved, out / "checkpoints" / "model.ckpt")
    (out / "hparams.yaml").write_bytes((source.parents[1] / "hparams.yaml").read_bytes())
    model = comet.load_from_checkpoint(
        str(out / "checkpoints" / "model.ckpt"), local_files_only=True, strict=True
    )
    return str(out), model


@pytest.mark.parametrize(
    ("begin", "end"), [("minor", ""), ("", "major"), ("critical", "minor"), ("major", "major")]
)
def test_marks_as_errors_count_as_comet_counts_them(begin: str, end: str, tmp_path: Path) -> None:
    severities = ("minor", "major", "critical")

    def mark(state: dict[str, Any], _: dict[str, Any]) -> None:
        embeddings = state["encoder.model.embeddings.word_embeddings.weight"]
        for token, severity in ((0, begin), (2, end)):
            if severity:
                embeddings[token, severities.index(severity)] = 1.0

    path, model = other_checkpoint("Unbabel/XCOMET-XL", tmp_path / "marks", mark)
    for fields, name, usual in (
        (("mt", "src", "ref"), f"comet:{path}", "xcomet-xl"),
        (("mt", "src"), f"comet-qe:{path}", "xcomet-xl-qe"),
    ):
        theirs = predicted(model, samples(MARKED, fields))
        # An error that the end mark leaves open is none to comet, and takes what is before it along.
        assert (theirs.metadata.mqm_scores[0] < 1) == bool(begin)
        answers = scored(name, MARKED)
        assert furthest(raws(answers), theirs.scores) <= 1e-6
        # To a reader the marks are nothing: the errors are those of a model that does not call them wrong.
        for one, other in zip(answers, scored(usual, MARKED), strict=True):
            assert [each.span for each in one.errors or ()] == [each.span for each in other.errors or ()]


def test_what_is_above_1_counts_as_1(tmp_path: Path, texts: list[Text]) -> None:
    def lift(state: dict[str, Any], _: dict[str, Any]) -> None:
        state["estimator.ff.6.bias"] += 0.45

    path, model = other_checkpoint("Unbabel/XCOMET-XL", tmp_path / "high", lift)
    for fields, name in ((("mt", "src", "ref"), f"comet:{path}"), (("mt", "src"), f"comet-qe:{path}")):
        theirs = predicted(model, samples(texts, fields))
        assert furthest(raws(scored(name, texts)), theirs.scores) <= 1e-6
        # Passes lie on both sides of 1.
        assert 10 < sum(score >= 1 for score in theirs.metadata.src_scores) < 40


def test_any_labels_count_as_comet_counts_them(tmp_path: Path, texts: list[Text]) -> None:
    def shake(state: dict[str, Any], settings: dict[str, Any]) -> None:
        generator = torch.Generator().manual_seed(7)
        settings["word_layer"] = 2
        state["hidden2tag.weight"].copy_(torch.randn(state["hidden2tag.weight"].shape, generator=generator))
        state["hidden2tag.bias"].copy_(torch.tensor([2.0, 0.0, 0.0, 0.0]))

    path, model = other_checkpoint("Unbabel/XCOMET-XL", tmp_path / "any", shake)
    for fields, name in ((("mt", "src", "ref"), f"comet:{path}"), (("mt", "src"), f"comet-qe:{path}")):
        rows = samples(texts, fields)
        theirs = predicted(model, rows)
        answers = scored(name, texts)
        assert furthest(raws(answers), theirs.scores) <= 1e-6
        assert len({round(score, 2) for score in theirs.metadata.mqm_scores}) > 10
        # The errors, character by character, against the labels of the tokens that comet gives.
        severities: list[set[str]] = []
        for (hypothesis, _, _), row, answer in zip(texts, rows, answers, strict=True):
            painted = painted_by_tokens(model, row)
            given = ["none"] * len(hypothesis)
            for error in answer.errors or ():
                start, end = error.span.start, error.span.end
                error.span.check(hypothesis)
                assert error.span.text == error.span.text.strip() != ""
                assert set(given[start:end]) == {"none"}
                given[start:end] = [error.severity] * (end - start)
            for letter, ours, label in zip(hypothesis, given, painted, strict=True):
                assert letter.isspace() or ours == label, hypothesis
            severities.append(set(given))
        assert sum(len(each) > 2 for each in severities) > 10


@torch.inference_mode()
def painted_by_tokens(model: Any, row: dict[str, str]) -> list[str]:
    """The severity of each character of one hypothesis, by the labels of the tokens.

    Where the tokens of two errors share a character the later one has it.
    """
    batch = model.prepare_sample([row], stage="predict")
    weights = [1.0] if len(batch) == 1 else [0.1667, 0.3333, 0.5]
    offsets = batch[0]["mt_offsets"][0]
    probabilities = sum(
        torch.softmax(model(**part).logits, dim=2)[0, : len(offsets)] * weight
        for part, weight in zip(batch, weights, strict=True)
    )
    painted = ["none"] * len(row["mt"])
    for label, (start, end) in list(zip(probabilities.argmax(dim=1).tolist(), offsets, strict=True))[1:-1]:
        if label:
            painted[start:end] = [("", "minor", "major", "critical")[label]] * (end - start)
    return painted


# --- the spelling of marks -----------------------------------------------------------------------------

LITERAL = ["a</s>b", "a </s> b", "<s>", "x<pad>y", "the cat <pad> sat", "</s>", "<mask> me"]


def pieces(tokenizer: Any, text: str) -> list[int]:
    """Ids by hand: the words that the vocabulary holds are one piece, all others are taken apart."""
    vocabulary = tokenizer.get_vocab()
    found: list[str] = []
    for word in text.split():
        whole = f"▁{word}"
        found += [whole] if whole in vocabulary else ["▁", *word]
    return [vocabulary[piece] for piece in found]


@torch.inference_mode()
def joint_score(model: Any, *sequences: list[int]) -> float:
    ids = [0, *sequences[0], 2]
    for other in sequences[1:]:
        ids += [2, *other, 2]
    tensor = torch.tensor([ids])
    return float(model(input_ids=tensor, attention_mask=torch.ones_like(tensor, dtype=torch.bool)).score)


def test_marks_in_a_text_are_text_to_a_regression_model(load_comet: Loader) -> None:
    model = load_comet("Unbabel/wmt22-comet-da")

    @torch.inference_mode()
    def embedding(part: str) -> Any:
        ids = torch.tensor([[0, *pieces(model.encoder.tokenizer, part), 2]])
        return model.get_sentence_embedding(ids, torch.ones_like(ids))

    ours = raws(scored("comet22", [(text, "the cat", text) for text in LITERAL]))
    rows = [{"src": "the cat", "mt": text, "ref": text} for text in LITERAL]
    theirs = predicted(model, rows).scores
    for text, score, taken_for_marks in zip(LITERAL, ours, theirs, strict=True):
        by_hand = model.estimate(*map(embedding, ("the cat", text, text))).score.item()
        assert abs(score - by_hand) <= 1e-6, text
        assert abs(score - taken_for_marks) > 1e-3, text


def test_marks_in_a_text_are_text_to_a_joint_model(load_comet: Loader) -> None:
    model = load_comet("Unbabel/wmt22-cometkiwi-da")
    ours = raws(scored("cometkiwi22", [(text, f"sat {text}", "") for text in LITERAL]))
    theirs = predicted(model, [{"src": f"sat {text}", "mt": text} for text in LITERAL]).scores
    for text, score, taken_for_marks in zip(LITERAL, ours, theirs, strict=True):
        by_hand = joint_score(
            model, *(pieces(model.encoder.tokenizer, part) for part in (text, f"sat {text}"))
        )
        assert abs(score - by_hand) <= 1e-6, text
        assert abs(score - taken_for_marks) > 1e-3, text


def test_marks_in_a_text_are_text_to_metricx(hub: Path) -> None:
    # The source is '</s>', the hypothesis 'the<pad>cat'.
    before, between, after = ["▁source", ":", "▁"], ["▁candidate", ":"], ["▁reference", ":", "▁", "x"]
    texts = (list("</s>"), ["▁the", *"<pad>", *"cat"])
    tokenizer = AutoTokenizer.from_pretrained("google/mt5-large", local_files_only=True)
    ids = tokenizer.convert_tokens_to_ids([*before, *texts[0], *between, *texts[1], *after])
    model = MT5ForConditionalGeneration.from_pretrained(METRICX[0][1], local_files_only=True).eval()
    with torch.inference_mode():
        start = torch.zeros(1, 1, dtype=torch.long)
        output = model(input_ids=torch.tensor([ids]), decoder_input_ids=start, use_cache=False)
    by_hand = clamped([output.logits[0, 0, SCORE_TOKEN].item()])
    ours = raws(scored("metricx24-large", [("the<pad>cat", "</s>", "x")]))
    assert furthest(ours, by_hand) <= 1e-5
    prompt = "source: </s> candidate: the<pad>cat reference: x"
    taken_for_marks = metricx_logits(METRICX[0][1], METRICX[0][2], [prompt], keep_end=False)
    assert furthest(ours, clamped(taken_for_marks)) > 1e-2


def test_marks_in_a_text_do_not_shift_errors() -> None:
    hypothesis = "a </s> minorerr <pad> b criterr<s>"
    (answer,) = scored("xcomet-xl", [(hypothesis, "Die Katze.", "The cat.")])
    assert [(each.span.text, each.span.start) for each in answer.errors or ()] == [
        ("minorerr", 7),
        ("criterr", 24),
    ]


# --- MetricX -------------------------------------------------------------------------------------------

SCORE_TOKEN = 250_089
METRICX: list[tuple[str, str, str, Callable[[str, str, str], str]]] = [
    (
        "metricx24-large",
        "google/metricx-24-hybrid-large-v2p6",
        "google/mt5-large",
        lambda mt, src, ref: f"source: {src} candidate: {mt} reference: {ref}",
    ),
    (
        "metricx24-xl-ref",
        "google/metricx-24-hybrid-xl-v2p6",
        "google/mt5-xl",
        lambda mt, src, ref: f"source:  candidate: {mt} reference: {ref}",
    ),
    (
        "metricx24-xl-qe",
        "google/metricx-24-hybrid-xl-v2p6",
        "google/mt5-xl",
        lambda mt, src, ref: f"source: {src} candidate: {mt}",
    ),
    (
        "metricx23-xl",
        "google/metricx-23-xl-v2p0",
        "google/mt5-xl",
        lambda mt, src, ref: f"candidate: {mt} reference: {ref}",
    ),
    (
        "metricx23-xl-qe",
        "google/metricx-23-qe-xl-v2p0",
        "google/mt5-xl",
        lambda mt, src, ref: f"candidate: {mt} source: {src}",
    ),
]


@torch.inference_mode()
def metricx_logits(repo: str, tokenizer_repo: str, prompts: list[str], *, keep_end: bool) -> list[float]:
    """Prompt by prompt, the whole vocabulary computed, as the published code does it; not clamped."""
    model = MT5ForConditionalGeneration.from_pretrained(repo, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_repo, local_files_only=True)
    found = []
    for prompt in prompts:
        ids = tokenizer(prompt, max_length=1536, truncation=True).input_ids
        output = model(
            input_ids=torch.tensor([ids if keep_end else ids[:-1]]),
            decoder_input_ids=torch.zeros(1, 1, dtype=torch.long),
            use_cache=False,
        )
        found.append(float(output.logits[0, 0, SCORE_TOKEN].float()))
    return found


def clamped(logits: list[float]) -> list[float]:
    return [min(25.0, max(0.0, logit)) for logit in logits]


@pytest.mark.parametrize(("name", "repo", "tokenizer", "prompt"), METRICX)
def test_scores_of_metricx(
    name: str, repo: str, tokenizer: str, prompt: Callable[[str, str, str], str], texts: list[Text]
) -> None:
    prompts = [prompt(*text) for text in texts]
    logits = metricx_logits(repo, tokenizer, prompts, keep_end=False)
    answers = scored(name, texts)
    assert furthest(raws(answers), clamped(logits)) <= 1e-5
    assert all(answer.errors is None for answer in answers)
    # The test would notice an end mark that is left in.
    kept = clamped(metricx_logits(repo, tokenizer, prompts[:10], keep_end=True))
    assert furthest(clamped(logits[:10]), kept) > 1e-2


def test_metricx_stays_between_0_and_25(tmp_path: Path, texts: list[Text]) -> None:
    _, repo, tokenizer, prompt = METRICX[0]
    model = MT5ForConditionalGeneration.from_pretrained(repo, local_files_only=True)
    with torch.no_grad():
        model.lm_head.weight[SCORE_TOKEN] *= 2
    model.save_pretrained(tmp_path)
    logits = metricx_logits(str(tmp_path), tokenizer, [prompt(*text) for text in texts], keep_end=False)
    assert max(logits) > 25
    # What rounding does is doubled as well.
    assert furthest(raws(scored(f"metricx:{tmp_path}", texts)), clamped(logits)) <= 2e-5
    with torch.no_grad():
        model.lm_head.weight[SCORE_TOKEN] *= -1
    model.save_pretrained(tmp_path / "below")
    assert set(raws(scored(f"metricx:{tmp_path / 'below'}", texts))) == {0.0}


# --- half precision ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        *((name, "bf16") for name in ("comet22", "cometkiwi23-xl", "xcomet-xl", "metricx24-large")),
        *((name, "fp16") for name in ("comet22", "metricx24-large")),
    ],
)
def test_half_precision_stays_near(name: str, precision: str, texts: list[Text]) -> None:
    model = ModelOptions(device="cpu", precision=precision)  # type: ignore[arg-type]
    threshold = METRICS[name].configured(model)(Settings("de", model=model)).tie_threshold
    exact, half = raws(scored(name, texts)), raws(scored(name, texts, precision=precision))
    assert 0 < furthest(half, exact) <= threshold
    # The heads are in single precision: few distinct scores would be a sign that they are not.
    assert len(set(half)) >= 0.95 * len(set(exact))
