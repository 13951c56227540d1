"""What must not move a score does not: order, batches, company, duplicates, a batch that was too large."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from challenge_sets import InputError
from metrics import METRICS, Answer, Request, Settings
from metrics.neural.metric import NeuralMetric
from metrics.requests import ModelOptions
from metrics.scoring import answer_in_turn

Text = tuple[str, str, str]

NAMES = ["comet22", "comet22-ref", "cometkiwi22", "xcomet-xl", "xcomet-xl-qe", "metricx24-large"]
OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 2.00 GiB"


@pytest.fixture(autouse=True)
def _alone(hub: Path) -> Iterator[None]:
    # Models of this size are slowed down by several threads.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    forget()
    yield
    # What a test did to a model must not reach the next one.
    forget()
    torch.set_num_threads(threads)


def forget() -> None:
    METRICS["comet22"](Settings("de")).close()


def metric_for(name: str, **options: Any) -> NeuralMetric:
    model = ModelOptions(device="cpu", **options)
    metric = METRICS[name].configured(model)(Settings("de", model=model))
    assert isinstance(metric, NeuralMetric)
    return metric


def requests_of(metric: NeuralMetric, texts: list[Text]) -> list[Request]:
    fields = metric.inputs()
    return [
        Request(mt, src if "source" in fields else "", ref if "reference" in fields else None)
        for mt, src, ref in texts
    ]


def raws(answers: list[Answer]) -> list[float]:
    found = [answer.raw for answer in answers if answer.raw is not None]
    assert len(found) == len(answers)
    return found


def furthest(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


PRECISIONS = [
    *((name, "fp32") for name in NAMES),
    *((name, "bf16") for name in ("comet22", "xcomet-xl", "metricx24-large")),
]


@pytest.mark.parametrize(("name", "precision"), PRECISIONS)
def test_order_batches_and_company(name: str, precision: str, texts: list[Text]) -> None:
    metric = metric_for(name, precision=precision)
    requests = requests_of(metric, texts)
    usual = raws(metric.score(requests))
    assert metric.tie_threshold < 0.1 * (max(usual) - min(usual))

    def moved_least(places: list[int]) -> None:
        if name.startswith("comet22"):
            # What was encoded before must not be what makes the scores equal.
            metric._network._embeddings.clear()
        found = raws(metric.score([requests[place] for place in places]))
        assert furthest(found, [usual[place] for place in places]) <= metric.tie_threshold

    every = list(range(len(requests)))
    for seed in range(3):
        moved_least(random.Random(seed).sample(every, len(every)))
    moved_least(every[:23])
    moved_least(every[23:])
    for place in (0, 3, 28, 31, 43, 45):
        moved_least([place])
    for tokens in (1, 64, 100_000):
        metric._budget.tokens = tokens
        moved_least(every)


@pytest.mark.parametrize(("name", "precision"), PRECISIONS)
def test_what_is_equal_to_the_model_has_one_score(name: str, precision: str, texts: list[Text]) -> None:
    metric = metric_for(name, precision=precision, batch_tokens=64)
    rows = [("The cat sat on the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat.")]
    # The same tokens: blanks are folded and dropped at the end, full-width forms are normalised.
    twins = [
        ("The  cat   sat on the mat. ", *rows[0][1:]),
        ("The\tcat sat\non the mat.", *rows[0][1:]),
        ("Ｔｈｅ cat sat on the mat．", *rows[0][1:]),
        (rows[0][0], "Die  Katze saß auf der Matte.", "The cat was sitting on the  mat."),
    ]
    requests = requests_of(metric, [*rows, *texts, *twins, *reversed(texts), *rows])
    answers = metric.score(requests)
    by_request: dict[Request, set[Any]] = {}
    for request, answer in zip(requests, answers, strict=True):
        by_request.setdefault(request, set()).add(answer)
    assert all(len(found) == 1 for found in by_request.values())
    alike = [answers[0], *answers[1 + len(texts) : 1 + len(texts) + len(twins)], answers[-1]]
    assert len({answer.raw for answer in alike}) == 1
    assert len({metric.view(request) for request in requests[1 + len(texts) : 4 + len(texts)]}) == 1


def counting(monkeypatch: pytest.MonkeyPatch, model: Any, method: str) -> list[int]:
    """The rows of every call of a model's method, as they come."""
    rows: list[int] = []
    plain = getattr(model, method)

    def counted(*args: Any, **kwargs: Any) -> Any:
        ids = args[0] if args else kwargs["input_ids"]
        rows.append(len(ids))
        return plain(*args, **kwargs)

    monkeypatch.setattr(model, method, counted)
    return rows


def variants(originals: int, each: int) -> list[Text]:
    return [
        (f"The cat {number} sat {variant}.", f"Die Katze {number}.", f"A cat {number}.")
        for number in range(originals)
        for variant in range(each)
    ]


def test_every_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = metric_for("comet22")
    rows = counting(monkeypatch, metric._network._model, "get_sentence_embedding")
    texts = variants(200, 5)
    first = raws(metric.score(requests_of(metric, texts)))
    assert sum(rows) == 200 * 5 + 200 + 200
    # What was encoded is kept over calls: a new hypothesis costs one row, what is known nothing.
    rows.clear()
    again = [
        *texts[::-1],
        ("The dog sat.", texts[0][1], texts[0][2]),
        (texts[0][1], texts[0][2], texts[0][0]),
    ]
    second = raws(metric.score(requests_of(metric, again)))
    assert sum(rows) == 1
    assert second[: len(texts)] == first[::-1]
    # Another metric with this model shares what it has encoded; the empty source is new.
    rows.clear()
    alone = metric_for("comet22-ref")
    alone.score(requests_of(alone, texts))
    assert sum(rows) == 1


def test_no_more_embeddings_are_kept_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.neural.comet._EMBEDDINGS_KEPT", 10)
    metric = metric_for("comet22")
    texts = variants(8, 3)
    scores = raws(metric.score(requests_of(metric, texts)))
    assert len(metric._network._embeddings) == 10
    assert (
        furthest(raws(metric.score(requests_of(metric, texts[::-1]))), scores[::-1]) <= metric.tie_threshold
    )


@pytest.mark.parametrize(("name", "passes"), [("cometkiwi22", 1), ("xcomet-xl-qe", 1), ("xcomet-xl", 3)])
def test_joint_models_score_distinct_inputs_once(
    name: str, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = metric_for(name)
    rows = counting(monkeypatch, metric._network._model, "forward")
    texts = variants(10, 3)
    metric.score(requests_of(metric, [*texts, *texts, ("The  cat 0 sat 0.", *texts[0][1:])]))
    assert sum(rows) == len(texts) * passes


# --- out of memory -------------------------------------------------------------------------------------


def short_of_memory(
    monkeypatch: pytest.MonkeyPatch, metric: NeuralMetric, most: int, error: Exception
) -> list[int]:
    """Let the encoder fail for more tokens than ``most``; gives the tokens of every pass that was done."""
    encoder = metric._network._model.encoder
    plain = encoder.forward
    done: list[int] = []
    failed: list[int] = []

    def forward(*args: Any, **kwargs: Any) -> Any:
        tokens = (args[0] if args else kwargs["input_ids"]).numel()
        if tokens > most:
            failed.append(tokens)
            assert len(failed) < 5, "it is tried again for ever"
            raise error
        done.append(tokens)
        return plain(*args, **kwargs)

    monkeypatch.setattr(encoder, "forward", forward)
    return done


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("comet22", torch.OutOfMemoryError(OUT_OF_MEMORY)),
        ("xcomet-xl", RuntimeError("MPS backend out of memory (MPS allocated: 17.89 GB)")),
        ("cometkiwi22", RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")),
        ("metricx24-large", MemoryError()),
    ],
)
def test_smaller_batches_where_memory_runs_out(
    name: str,
    error: Exception,
    texts: list[Text],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    metric = metric_for(name)
    requests = requests_of(metric, texts)
    usual = raws(metric.score(requests))
    forget()
    short = metric_for(name, batch_tokens=2200)
    done = short_of_memory(monkeypatch, short, 1000, error)
    assert furthest(raws(short.score(requests)), usual) <= metric.tie_threshold
    (said,) = capsys.readouterr().err.strip().splitlines()
    assert all(word in said for word in ("cpu", "2200", "550", "--batch-tokens"))
    # For the rest of the run batches stay small, and nothing is said again.
    short.score(requests_of(short, variants(50, 3)))
    assert 250 < max(done) <= 550
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["comet22", "xcomet-xl-qe", "metricx24-large"])
def test_memory_that_runs_out_again(
    name: str, texts: list[Text], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    metric = metric_for(name, batch_tokens=2000)
    short_of_memory(monkeypatch, metric, 0, torch.OutOfMemoryError(OUT_OF_MEMORY))
    # Through the runner's way of asking: it must not try every request on its own.
    with pytest.raises(InputError) as caught:
        list(answer_in_turn(metric, requests_of(metric, texts)))
    assert "out of memory" in str(caught.value) and "--batch-tokens" in str(caught.value)
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_other_errors_of_a_model_are_not_taken_for_want_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = metric_for("cometkiwi22")

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(metric._network._model.encoder, "forward", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        metric.score([Request("A cat.", "Eine Katze.")])


# --- no number -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_number_is_no_score(
    name: str, value: float, texts: list[Text], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*texts[:20], ("zq", "zq", "zq"), *texts[20:]]
    metric = metric_for(name)
    requests = requests_of(metric, texts)
    usual = metric.score(requests)
    forget()
    network = metric._network
    (culprit,) = metric.reader.ids("q")[-1:]
    poison(monkeypatch, network._model, culprit, value)
    answers = metric.score(requests)
    assert answers[20].raw is None
    assert (answers[20].status, answers[20].errors) == ("failed", None)
    assert "finite" in answers[20].reason
    others = [place for place in range(len(texts)) if place != 20]
    assert (
        furthest(raws([answers[n] for n in others]), raws([usual[n] for n in others])) <= metric.tie_threshold
    )


def poison(monkeypatch: pytest.MonkeyPatch, model: Any, token: int, value: float) -> None:
    """Let the encoder give this value for every input with this token."""
    plain: Callable[..., Any] = model.encoder.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        output = plain(*args, **kwargs)
        ids = args[0] if args else kwargs["input_ids"]
        rows = (ids == token).any(dim=1)
        states = output["all_layers"] if "all_layers" in output else [output["last_hidden_state"]]
        for state in states:
            state[rows] = value
        return output

    monkeypatch.setattr(model.encoder, "forward", forward)
