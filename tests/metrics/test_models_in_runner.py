"""Metrics with a model: parts written as they come, one model at a time, limits known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from challenge_sets import ChallengeSet, InputError, MarkedError, Span
from metrics import METRICS, Answer, Metric, Request, read_about, read_scores
from metrics.marked import ERRORS, read_marked_errors
from metrics.requests import ModelOptions
from metrics.runner import plan_set, score_set

Make = Callable[..., ChallengeSet]
LONGEST = 40


class Slow(Metric):
    """Answers two requests at a time; marks the word 'mat' and refuses long texts."""

    name = "slow"
    description = "for a test"
    batch = 8
    events: list[tuple[str, str]]
    dies_after: int | None = None

    def parts(self) -> Mapping[str, str]:
        return {"version": "1"}

    def devices(self) -> tuple[str, ...]:
        return ("cpu",)

    @property
    def model_key(self) -> str:
        return f"model of {self.name}"

    def close(self) -> None:
        Slow.events.append((self.name, "close"))

    def screen(self, requests: Sequence[Request]) -> list[Answer | None]:
        return [
            Answer(None, "truncated", f"{len(request.hypothesis)} characters, {LONGEST} are read")
            if len(request.hypothesis) > LONGEST
            else None
            for request in requests
        ]

    def score(self, requests: Sequence[Request]) -> list[Answer]:
        found: dict[int, Answer] = {}
        for part in self.score_in_turn(requests):
            found |= part
        return [found[place] for place in range(len(requests))]

    def score_in_turn(self, requests: Sequence[Request]) -> Iterator[dict[int, Answer]]:
        refused = self.screen(requests)
        yield {place: answer for place, answer in enumerate(refused) if answer is not None}
        left = [place for place, answer in enumerate(refused) if answer is None]
        for start in range(0, len(left), 2):
            if Slow.dies_after is not None and len(Slow.events) >= Slow.dies_after:
                raise KeyboardInterrupt
            places = left[start : start + 2]
            for place in places:
                Slow.events.append((self.name, requests[place].hypothesis))
            yield {place: self.answer(requests[place].hypothesis) for place in places}

    def answer(self, text: str) -> Answer:
        at = text.find("mat")
        marked = () if at < 0 else (MarkedError(Span(at, at + 3, "mat"), "minor", 0.75),)
        return Answer(float(len(text)), errors=marked, unknown=text.count("?"))


class Slower(Slow):
    name = "slower"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in (Slow, Slower):
        monkeypatch.setitem(METRICS._classes, metric.name, metric)
    Slow.events, Slow.dies_after = [], None


@pytest.fixture
def challenge_set(write_set: Make, translation: Callable, pair: Callable, tmp_path: Path) -> ChallengeSet:
    records = []
    for number in range(9):
        tested = translation(str(number), f"A cat, {number}, on a mat.")
        records += [tested, pair(tested, f"A dog, {number}, on a mat?")]
    tested = translation("long", "A cat " * 9)
    return write_set(tmp_path / "set", [*records, tested, pair(tested, "A dog.")])


def test_what_was_answered_before_the_end_is_not_asked_again(
    challenge_set: ChallengeSet, tmp_path: Path
) -> None:
    Slow.dies_after = 6
    with pytest.raises(KeyboardInterrupt):
        score_set(challenge_set, ["slow"], tmp_path / "out")
    before = [text for _, text in Slow.events if text != "close"]
    assert len(before) == 6
    Slow.events, Slow.dies_after = [], None
    (result,) = score_set(challenge_set, ["slow"], tmp_path / "out")
    after = [text for _, text in Slow.events if text != "close"]
    assert len(after) == len(set(after)) == 19 - 6 and not set(after) & set(before)
    assert result.counts == {"ok": 19, "truncated": 1} and result.missing == 1


def test_one_model_at_a_time(challenge_set: ChallengeSet, tmp_path: Path) -> None:
    score_set(challenge_set, ["slow", "length", "slower"], tmp_path / "out")
    names = [name for name, _ in Slow.events]
    assert names == ["slow"] * 20 + ["slower"] * 20
    assert [place for place, (_, text) in enumerate(Slow.events) if text == "close"] == [19, 39]
    assert [each.about.name for each in read_about(tmp_path / "out").metrics] == ["slow", "slower", "length"]


def test_too_long_is_a_status_or_an_error_before_anything_is_scored(
    challenge_set: ChallengeSet, tmp_path: Path
) -> None:
    (plan,) = plan_set(challenge_set, ["slow"], tmp_path / "out")
    assert (plan.tally.to_score, plan.tally.screened) == (20, 1)
    with pytest.raises(InputError, match=r"slow: a text is too long: 54 characters.*'A cat A cat"):
        score_set(challenge_set, ["slow"], tmp_path / "out", model=ModelOptions(overlong="error"))
    assert not any(text != "close" for _, text in Slow.events) and not (tmp_path / "out").exists()
    score_set(challenge_set, ["slow"], tmp_path / "out")
    (score,) = [each for each in read_scores(tmp_path / "out") if each.status == "truncated"]
    assert (score.item, score.side, score.value) == ("long", "original", None)
    assert score.reason == "54 characters, 40 are read"


def test_marked_errors_and_unknown_tokens_come_out(challenge_set: ChallengeSet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (result,) = score_set(challenge_set, ["slow"], out)
    assert result.unknown_tokens == 9
    marked = list(read_marked_errors(out))
    texts = {
        (pair.pair, side): getattr(pair, side)
        for pair in challenge_set.pairs()
        for side in ("original", "perturbed")
    }
    assert (
        len(marked) == 19
    )  # the text without a score has no line, the one without an error has an empty one
    assert sorted(len(each.errors) for each in marked) == [0] + [1] * 18
    for each in marked:
        for error in each.errors:
            error.span.check(texts[each.pair, each.side])
            assert (error.span.text, error.severity, error.confidence) == ("mat", "minor", 0.75)
    reasons = {
        score.reason for score in read_scores(out) if score.status == "ok" and score.side == "perturbed"
    }
    assert reasons == {"", "1 tokens unknown to the model"}

    Slow.events = []
    score_set(challenge_set, ["slow"], out)  # all from the store
    assert list(read_marked_errors(out)) == marked
    assert [text for _, text in Slow.events if text != "close"] == []
    (out / ERRORS).write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"errors\.jsonl: does not match its hash"):
        read_about(out)
    with pytest.raises(InputError, match=r"errors\.jsonl:1: not a valid record: no field 'metric'"):
        list(read_marked_errors(out))


def test_no_file_of_errors_where_nothing_marks_any(small_set: Make, tmp_path: Path) -> None:
    challenge_set = small_set(tmp_path / "set")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ERRORS).write_text("left over", encoding="utf-8")
    score_set(challenge_set, ["length"], tmp_path / "out")
    assert not (tmp_path / "out" / ERRORS).exists() and list(read_marked_errors(tmp_path / "out")) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"precision": "fp8"}, "precision is 'fp8', it is one of fp32, bf16, fp16"),
        ({"overlong": "cut"}, "overlong is 'cut', it is one of exclude, window, error"),
        ({"batch_tokens": 0}, "batch_tokens is 0, it is at least 1"),
        ({"window": 3, "stride": 4}, "a stride of 4 skips segments between windows of 3"),
    ],
)
def test_options_that_are_none(options: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ModelOptions(**options)


def test_a_revision_belongs_to_one_checkpoint(challenge_set: ChallengeSet, tmp_path: Path) -> None:
    for names in (["slow", "slower"], ["length"]):
        with pytest.raises(InputError, match="a revision belongs to one checkpoint"):
            score_set(challenge_set, names, tmp_path / "out", model=ModelOptions(revision="v1"))
