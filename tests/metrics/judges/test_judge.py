"""What a judge's answers become: raw scores, values, errors with their places, labels, statuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import scripted_actions as actions
import scripted_faults as faults
from scripted_actions import Action, ReceivedCall
from scripted_server import ScriptedServer

from challenge_sets import ChallengeSet, InputError, Turn
from metrics.judges.options import JudgeOptions
from metrics.registry import METRICS
from metrics.requests import ModelOptions, Request, Settings

SLEEPS, CAT, DREAMS, SHORT = "The dog sleeps.", "The cat sleeps.", "He dreams of cats.", "He dreams."
CELLS = {
    SLEEPS: ("0-alder-0", "original"),
    CAT: ("0-alder-0", "perturbed"),
    DREAMS: ("1-alder-0", "original"),
    SHORT: ("1-alder-0", "perturbed"),
}
NONE = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"
MQM = {
    SLEEPS: NONE,
    CAT: "Critical:\nno-error\nMajor:\naccuracy/mistranslation - \"cat\"\nMinor:\nfluency/grammar - 'sleeps'",
    DREAMS: 'Critical:\nno-error\nMajor:\nno-error\nMinor:\nstyle/awkward - "dreams of"',
    SHORT: 'Critical:\naccuracy/omission - "von Katzen"\nMajor:\n'
    + "".join(f'accuracy/mistranslation - "{word}"\n' for word in ("He", "dreams", "he"))
    + 'Minor:\nfluency/register - "nowhere"\nstyle/awkward - "He dreams"',
}
Make = Callable[..., ChallengeSet]


def by_cell(metric: str, found: dict) -> dict[str, Any]:
    return {text: found[metric, *cell] for text, cell in CELLS.items()}


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("mqm", {SLEEPS: 0.0, CAT: 6.0, DREAMS: 1.0, SHORT: 25 + 15 + 2.0}),
        ("mqm-ref", {SLEEPS: 0.0, CAT: 6.0, DREAMS: 1.0, SHORT: 25 + 15 + 2.0}),
        ("gemba-mqm", {SLEEPS: 0.0, CAT: 6.0, DREAMS: 1.0, SHORT: 25.0}),
        ("gemba-mqm-ref", {SLEEPS: 0.0, CAT: 6.0, DREAMS: 1.0, SHORT: 25.0}),
    ],
)
def test_errors_become_a_penalty(
    name: str, raw: dict[str, float], conversation: Make, answering: Callable, judged: Callable,
    rows: Callable, tmp_path: Path,
) -> None:  # fmt: skip
    with ScriptedServer(answering(MQM)) as server:
        (result,) = judged(server, conversation(), name, tmp_path / "out")
        assert server.counts.calls == 4
    found = by_cell(name, rows(tmp_path / "out"))
    assert {text: (row.raw, row.value, row.status, row.reason) for text, row in found.items()} == {
        text: (number, 0.0 - number, "ok", "") for text, number in raw.items()
    }
    assert "-0.0" not in (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8")
    assert (result.counts, result.missing, result.about.higher_is_better) == ({"ok": 4}, 0, False)


def test_errors_have_their_places(
    conversation: Make, answering: Callable, judged: Callable, marked: Callable, tmp_path: Path
) -> None:
    with ScriptedServer(answering(MQM)) as server:
        judged(server, conversation(), "mqm", tmp_path / "out")
    lines = marked(tmp_path / "out")
    assert [(line["pair"], line["side"]) for line in lines] == list(CELLS.values())
    assert {(line["metric"], line["system"], line["doc"]) for line in lines} == {("mqm", "alder", "d")}
    assert all("labels" not in line for line in lines)
    said = [
        [
            (each["severity"], each["category"], each["quote"], each["start"], each["end"], each["text"])
            for each in line["errors"]
        ]
        for line in lines
    ]
    assert said == [
        [],
        [
            ("major", "accuracy/mistranslation", "cat", 4, 7, "cat"),
            ("minor", "fluency/grammar", "sleeps", 8, 14, "sleeps"),
        ],
        [("minor", "style/awkward", "dreams of", 3, 12, "dreams of")],
        [
            ("critical", "accuracy/omission", "von Katzen", None, None, None),
            ("major", "accuracy/mistranslation", "He", 0, 2, "He"),
            ("major", "accuracy/mistranslation", "dreams", 3, 9, "dreams"),
            ("major", "accuracy/mistranslation", "he", 0, 2, "He"),
            ("minor", "fluency/register", "nowhere", None, None, None),
            ("minor", "style/awkward", "He dreams", 0, 9, "He dreams"),
        ],
    ]
    assert lines[3]["errors"][0]["source"] == {"start": 10, "end": 20, "text": "von Katzen"}
    assert [each.get("source") for each in lines[3]["errors"][1:]] == [None] * 5


@pytest.mark.parametrize("name", ["da", "da-ref", "gemba-da", "gemba-da-ref"])
def test_a_number_is_the_score(
    name: str, conversation: Make, answering: Callable, judged: Callable, rows: Callable, tmp_path: Path
) -> None:
    said = {SLEEPS: "100", CAT: "**Score: 7.5/100**", DREAMS: "0", SHORT: "88 out of 100"}
    with ScriptedServer(answering(said)) as server:
        (result,) = judged(server, conversation(), name, tmp_path / "out")
        assert ("The dog is asleep." in server.calls[0].last_user) == name.endswith("-ref")
    found = by_cell(name, rows(tmp_path / "out"))
    numbers = {SLEEPS: 100.0, CAT: 7.5, DREAMS: 0.0, SHORT: 88.0}
    assert {text: (row.value, row.raw) for text, row in found.items()} == {
        text: (number, number) for text, number in numbers.items()
    }
    assert result.about.higher_is_better
    assert not (tmp_path / "out" / "errors.jsonl").exists()


def test_spans_and_a_number(
    conversation: Make, answering: Callable, judged: Callable, rows: Callable, marked: Callable,
    tmp_path: Path,
) -> None:  # fmt: skip
    said = {
        SLEEPS: "Major:\nno-error\nMinor:\nno-error\nScore: 99",
        CAT: 'Major:\naccuracy/mistranslation - "cat"\nMinor:\nno-error\nScore: 20',
        DREAMS: 'Major:\nno-error\nMinor:\nstyle/awkward - "of"',
        SHORT: "70",
    }
    with ScriptedServer(answering(said)) as server:
        (result,) = judged(server, conversation(), "esa", tmp_path / "out")
    found = by_cell("esa", rows(tmp_path / "out"))
    assert [(row.value, row.status) for row in found.values()] == [
        (99.0, "ok"),
        (20.0, "ok"),
        (None, "unparsed"),
        (None, "unparsed"),
    ]
    assert found[DREAMS].reason == "errors without a score"
    assert found[SHORT].reason
    assert [len(line["errors"]) for line in marked(tmp_path / "out")] == [0, 1]
    assert (result.counts, result.missing) == ({"ok": 2, "unparsed": 2}, 2)


def test_two_calls_a_cell(
    conversation: Make, answering: Callable, judged: Callable, rows: Callable, marked: Callable,
    tmp_path: Path,
) -> None:  # fmt: skip
    first = {
        SLEEPS: "Major:\nno-error\nMinor:\nno-error",
        CAT: 'Major:\naccuracy/mistranslation - "cat"\nMinor:\nno-error',
        DREAMS: "I am not sure that I can judge this.",
        SHORT: 'Major:\naccuracy/omission - "von Katzen"\nMinor:\nno-error',
    }
    then = {SLEEPS: "95", CAT: "33", SHORT: "No idea, really."}
    with ScriptedServer(answering(first, then)) as server:
        (result,) = judged(server, conversation(), "gemba-esa", tmp_path / "out")
        # The answer that was not understood leads to no second call.
        assert server.counts.calls == 4 + 3
        seconds = [call.last_user for call in server.calls if first[CAT] in call.last_user]
        assert len(seconds) == 1
        judged(server, conversation(), "gemba-esa", tmp_path / "out")
        assert server.counts.calls == 7
    found = by_cell("gemba-esa", rows(tmp_path / "out"))
    assert [(row.value, row.status) for row in found.values()] == [
        (95.0, "ok"),
        (33.0, "ok"),
        (None, "unparsed"),
        (None, "unparsed"),
    ]
    errors = [[each["quote"] for each in line["errors"]] for line in marked(tmp_path / "out")]
    assert errors == [[], ["cat"]]
    assert result.counts == {"ok": 2, "unparsed": 2}


def test_a_second_call_that_failed_is_all_that_is_asked_again(
    conversation: Make, answering: Callable, judged: Callable, tmp_path: Path
) -> None:
    first = dict.fromkeys(CELLS, "Major:\nno-error\nMinor:\nno-error")
    with ScriptedServer() as server:
        server._script = answering(first, dict.fromkeys(CELLS, actions.filtered()))
        (result,) = judged(server, conversation(), "gemba-esa", tmp_path / "out")
        assert (server.counts.calls, result.counts) == (8, {"failed": 4})
        server._script = answering(first, dict.fromkeys(CELLS, "50"))
        (result,) = judged(server, conversation(), "gemba-esa", tmp_path / "out")
        assert (server.counts.calls, result.counts) == (12, {"ok": 4})


def test_a_document_is_one_input(
    conversation: Make, answering: Callable, judged: Callable, rows: Callable, tmp_path: Path
) -> None:
    said = {(SLEEPS, DREAMS): "90", (CAT, DREAMS): "30", (SLEEPS, SHORT): "50"}
    with ScriptedServer(answering(said)) as server:
        (result,) = judged(server, conversation(), "document-da", tmp_path / "out")
        assert server.counts.calls == 3
        message = server.calls[0].last_user
        assert message.index("Der Hund schläft.") < message.index("Er träumt von Katzen.")
    found = by_cell("document-da", rows(tmp_path / "out"))
    assert [row.value for row in found.values()] == [90.0, 30.0, 90.0, 50.0]
    assert (result.about.unit, result.tally.duplicates) == ("document", 1)
    assert result.blind_pairs == 0 and not any(row.reason for row in found.values())


@pytest.mark.parametrize("name", ["mqm-context", "judge:"])
def test_context_and_its_label(
    name: str, conversation: Make, answering: Callable, judged: Callable, marked: Callable, rows: Callable,
    tmp_path: Path, data: Path,
) -> None:  # fmt: skip
    if name == "judge:":
        name += str(data / "korean_context" / "judge-prompts")
    labels = {
        SLEEPS: "used_correctly",
        CAT: "missed_required_context",
        DREAMS: "something_else",
        SHORT: "unclear",
    }
    said = {text: f"{MQM[text]}\ncontextBehavior: {label}" for text, label in labels.items()}
    with ScriptedServer(answering(said)) as server:
        (result,) = judged(server, conversation(), name, tmp_path / "out")
        asked = {text: call.last_user for call in server.calls for text in CELLS if text in call.last_user}
        assert asked[DREAMS].index("Wo ist der Hund?") < asked[DREAMS].index("Der Hund schläft.")
        assert "20s ago" in asked[DREAMS]
        assert "10s ago" in asked[SLEEPS]
    shown = result.about.name
    assert [row.raw for row in by_cell(shown, rows(tmp_path / "out")).values()] == [0.0, 6.0, 1.0, 42.0]
    assert [line.get("labels") for line in marked(tmp_path / "out")] == [
        {"contextBehavior": "used_correctly"},
        {"contextBehavior": "missed_required_context"},
        None,
        {"contextBehavior": "unclear"},
    ]


def test_the_benchmarks_judge_on_the_benchmarks_data(
    judged: Callable, command: Callable, tmp_path: Path, data: Path
) -> None:
    korean = data / "korean_context"
    build = ("perturb", "build", "--format", "korean-context", "--input", korean, "--limit", "4")
    command(*build, "--out", tmp_path / "set")
    name = f"judge:{korean / 'judge-prompts'}"
    with ScriptedServer() as server:
        results = judged(server, ChallengeSet(tmp_path / "set"), name, tmp_path / "out")
        models = {call.body["messages"][0]["content"] for call in server.calls}
        assert server.counts.calls == sum(result.tally.distinct for result in results)
    assert models == {(korean / "judge-prompts" / "system.md").read_text(encoding="utf-8").strip()}
    assert sorted(result.about.target_lang for result in results) == ["en", "ja", "zh-Hans"]
    assert {result.about.name for result in results} == {"gemba-mqm-context-v1"}
    assert sum(sum(result.counts.values()) for result in results) == 2 * 38
    assert all(set(result.counts) == {"ok"} for result in results)


def test_a_prompt_set_of_ones_own(
    conversation: Make, answering: Callable, judged: Callable, rows: Callable, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "manifest.toml").write_text(
        'name = "badness"\nversion = "2"\ndescription = "how bad"\nunit = "segment"\nneeds = ["source"]\n'
        'output = "number"\n[score]\nminimum = 0\nmaximum = 10\nhigher_is_better = false\n',
        encoding="utf-8",
    )
    (folder / "user.md").write_text("<a>{{ source }}</a>\n<b>{{ translation }}</b>", encoding="utf-8")
    said = {SLEEPS: "0", CAT: "9", DREAMS: "10", SHORT: "11"}
    with ScriptedServer(answering(said)) as server:
        (result,) = judged(server, conversation(), f"judge:{folder}", tmp_path / "out")
    found = by_cell("badness", rows(tmp_path / "out"))
    assert [row.value for row in found.values()] == [0.0, -9.0, -10.0, None]
    assert found[SHORT].status == "unparsed"
    assert "out of the range from 0 to 10" in found[SHORT].reason
    assert "|prompts:badness 2|" in result.about.signature


def test_references_and_their_stand_ins(
    conversation: Make, answering: Callable, judged: Callable, rows: Callable, tmp_path: Path
) -> None:
    said = dict.fromkeys(CELLS, "60")
    with ScriptedServer(answering(said)) as server:
        (given,) = judged(server, conversation(), "da-ref", tmp_path / "out")
        (stood_in,) = judged(server, conversation(), "da-ref", tmp_path / "out", pseudo_reference="birch")
        asked = [call.last_user for call in server.calls]
        (plain,) = judged(server, conversation(), "da", tmp_path / "out", pseudo_reference="birch")
    assert "|ref:given|" in given.about.signature
    assert "|ref:pseudo=birch|" in stood_in.about.signature
    assert (stood_in.about.pseudo_reference, plain.about.pseudo_reference) == ("birch", None)
    assert "|ref:" not in plain.about.signature
    assert ["A dog is sleeping." in text for text in asked].count(True) == 2
    assert ["The dog is asleep." in text for text in asked].count(True) == 2
    assert len(asked) == 8


def test_a_reference_that_is_wanting(conversation: Make, judged: Callable, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        with pytest.raises(InputError, match="mqm-ref: a reference is needed"):
            judged(server, conversation(reference=None), "mqm-ref", tmp_path / "out")
        assert server.counts.calls == 0
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("action", "status", "reason"),
    [
        (actions.ok("I cannot judge this."), "unparsed", ""),
        (actions.out_of_length(), "unparsed", "cut off at the end of the answer budget"),
        (actions.refusal(), "failed", "the model refused"),
        (
            actions.filtered('Critical:\nno-error\nMajor:\naccuracy/addition - "a"'),
            "failed",
            "content filter",
        ),
        (actions.tool_calls(), "failed", "finish_reason is 'tool_calls'"),
        (faults.context_length(), "truncated", "too long for the model"),
        (faults.content_filter(), "failed", "refused"),
    ],
    ids=lambda value: value.name if isinstance(value, Action) else None,
)
def test_what_is_not_understood_is_no_score(
    action: Action, status: str, reason: str, conversation: Make, answering: Callable, judged: Callable,
    rows: Callable, marked: Callable, tmp_path: Path,
) -> None:  # fmt: skip
    with ScriptedServer(answering(MQM | {DREAMS: action})) as server:
        (result,) = judged(server, conversation(), "mqm", tmp_path / "out")
    found = by_cell("mqm", rows(tmp_path / "out"))
    bad = found.pop(DREAMS)
    assert (bad.value, bad.raw, bad.status) == (None, None, status)
    assert reason in bad.reason
    assert bad.reason
    assert [row.raw for row in found.values()] == [0.0, 6.0, 42.0]
    assert (result.counts, result.missing) == ({"ok": 3, status: 1}, 1)
    assert len(marked(tmp_path / "out")) == 3


def test_texts_that_make_one_prompt_are_asked_once(
    options: Callable[..., JudgeOptions], tmp_path: Path
) -> None:
    """Requests may differ in what a prompt leaves out; the steps that follow are asked once, too."""

    first = "Major:\nno-error\nMinor:\nno-error"

    def answer(call: ReceivedCall) -> Action:
        return actions.ok("70" if first in call.last_user else first)

    with ScriptedServer(answer, latency=0.05) as server:
        settings = Settings("en", judge=options(server, tmp_path))
        judge = METRICS["gemba-esa"].configured(ModelOptions())(settings)
        request = Request("The dog.", "Der Hund.", source_lang="de")
        others = [replace(request, context=(Turn("a", str(number)),)) for number in range(5)]
        answers = judge.score([request, *others, request])
        judge.close()
        assert server.counts.calls == 2
    assert [each.raw for each in answers] == [70.0] * 7


def test_what_a_signature_holds(options: Callable[..., JudgeOptions], tmp_path: Path) -> None:
    def signature(name: str = "mqm", language: str = "en", samples: int = 1, **fields: Any) -> str:
        settings = Settings(language, judge=options(server, tmp_path, samples=samples, **fields))
        metric = METRICS[name].configured(ModelOptions())
        made = metric(metric.repeated(settings)[-1])
        found: str = made.signature()
        made.close()
        return found

    with ScriptedServer() as server:
        signatures = [
            signature(),
            signature("mqm-ref"),
            signature("da"),
            signature("gemba-mqm"),
            signature(language="ja"),
            signature(samples=2),
            signature(model="m-2"),
            signature(base_url=server.base_url + "/other"),
            signature(temperature=0.5),
            signature(max_tokens=100),
            signature(dialect="reasoning"),
            signature(structured="on"),
            signature(extra={"seed": 1}),
            signature(extra={"seed": "1"}),
            # Parameters that bear the names of other parts.
            *(signature(extra={name: 1}) for name in ("sample", "prompts", "endpoint", "cap", "lang", "ref")),
            signature(extra={"sample": 2}),
        ]
        assert len(set(signatures)) == len(signatures)
        assert signature(timeout=7.0, concurrency=3, attempts=2) == signature()
        assert signature(extra={"b": 1, "a": 2}) == signature(extra={"a": 2, "b": 1})
        assert signature(base_url=server.base_url + "/") == signature()
        assert server.counts.calls == 0
    assert signatures[0].startswith(f"mqm|lang:en|model:m-1|endpoint:{server.base_url}|prompts:mqm 1|digest:")


def test_errors_of_a_document_lie_in_its_segments_joined(
    conversation: Make, answering: Callable, judged: Callable, rows: Callable, marked: Callable,
    tmp_path: Path,
) -> None:  # fmt: skip
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "manifest.toml").write_text(
        'name = "doc-mqm"\nversion = "1"\ndescription = "d"\nunit = "document"\n'
        'needs = ["source", "document"]\noutput = "mqm"\n[score]\ncap = 5\n',
        encoding="utf-8",
    )
    each = "<s>{{ segment.source }}</s><t>{{ segment.translation }}</t>"
    user = f"{{% for segment in segments %}}{each}{{% endfor %}}"
    (folder / "user.md").write_text(user, encoding="utf-8")
    said = {
        (SLEEPS, DREAMS): 'Critical:\nno-error\nMajor:\nno-error\nMinor:\nstyle/awkward - "cats"',
        (CAT, DREAMS): 'Critical:\naccuracy/mistranslation - "cat"\nMajor:\nno-error\nMinor:\nno-error',
        (SLEEPS, SHORT): 'Critical:\nno-error\nMajor:\naccuracy/omission - "Katzen"\nMinor:\nno-error',
    }
    with ScriptedServer(answering(said)) as server:
        judged(server, conversation(), f"judge:{folder}", tmp_path / "out")
    found = by_cell("doc-mqm", rows(tmp_path / "out"))
    assert [row.raw for row in found.values()] == [1.0, 5.0, 1.0, 5.0]
    texts = [f"{SLEEPS} {DREAMS}", f"{CAT} {DREAMS}", f"{SLEEPS} {DREAMS}", f"{SLEEPS} {SHORT}"]
    places = []
    for line, text in zip(marked(tmp_path / "out"), texts, strict=True):
        (error,) = line["errors"]
        places.append((error["start"], error["text"], error.get("source")))
        assert error["start"] is None or text[error["start"] : error["end"]] == error["text"]
    # Behind "Der Hund schläft." and a space.
    in_source = {"start": 18 + 14, "end": 18 + 20, "text": "Katzen"}
    assert places == [(29, "cats", None), (4, "cat", None), (29, "cats", None), (None, None, in_source)]
