"""Numbers as answers, and the score at the end of an ESA answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metrics.judges.forms import Form, Judged
from metrics.judges.reading import read_answer

NUMBER = Form("number")
JUDGED = Judged("It costs 85 dollars.", "Das kostet 85 Dollar.")

UNDERSTOOD = {
    "85": 85.0,
    "0": 0.0,
    "100": 100.0,
    " 85 \n": 85.0,
    "85.": 85.0,
    "85.5": 85.5,
    "95.5": 95.5,
    "85,5": 85.5,
    "8５": 85.0,
    "８５．５": 85.5,
    "٨٥": 85.0,
    "**85**": 85.0,
    "`85`": 85.0,
    "# 85": 85.0,
    "```\n85\n```": 85.0,
    '"85"': 85.0,
    "['85']": 85.0,
    "[85]": 85.0,
    "<85>": 85.0,
    "85%": 85.0,
    "85 %": 85.0,
    "85/100": 85.0,
    "85 / 100": 85.0,
    "**85**/100": 85.0,
    "95 out of 100": 95.0,
    "95 von 100": 95.0,
    "85 points": 85.0,
    "85分": 85.0,
    "85点": 85.0,
    "85점": 85.0,
    "$\\boxed{85}$": 85.0,
    "Score: 85": 85.0,
    "score = 85": 85.0,
    "Score 85": 85.0,
    "Score is 85.": 85.0,
    "The score is 85.": 85.0,
    "The final score is: 85": 85.0,
    "Score: 95/100": 95.0,
    "Score: 95 out of 100.": 95.0,
    "Score (0-100): 85": 85.0,
    "Score (0–100): **85**": 85.0,
    "Score（0-100）：85": 85.0,
    "**Score:** 85": 85.0,
    "**Score**: 85/100": 85.0,
    "### Score: 85": 85.0,
    "- Score: 85": 85.0,
    "1. Score: 85": 85.0,
    "final_score: 85": 85.0,
    "Quality rating: 85": 85.0,
    "Overall translation quality: 85": 85.0,
    "Score — 85": 85.0,
    "Score:\n85": 85.0,
    "## Score\n\n**85**": 85.0,
    "<score>85</score>": 85.0,
    "Score: 85 (a good translation)": 85.0,
    "Score: 85. The translation is good.": 85.0,
    "Punktzahl: 85": 85.0,
    "Bewertung: 85,5 Punkte": 85.5,
    "分数：85": 85.0,
    "最终得分：85分": 85.0,
    "评分为85": 85.0,
    "スコア：85": 85.0,
    "スコアは85点です。": 85.0,
    "점수: 85점": 85.0,
    "최종 점수는 85점입니다.": 85.0,
    "The translation keeps the sense.\nScore: 85": 85.0,
    "Score: 85\n\nThe price of 85 dollars is kept, 1 word is odd.": 85.0,
    "Score: 85\nScore: 85": 85.0,
    "The translation is good.\n\n85": 85.0,
    "85\n\nThe translation is good.": 85.0,
    "<think>90? No, 85.</think>\n85": 85.0,
    '{"score": 85}': 85.0,
    '{"score": 85.5, "explanation": "2 words are odd"}': 85.5,
    '```json\n{"Score": "85/100"}\n```': 85.0,
    'Here it is: {"final_score": 85}': 85.0,
    "Quality: good\nScore: 85": 85.0,
}

NOT_UNDERSTOOD = {
    "": "empty",
    "-5": "out of the range",
    "−5": "out of the range",
    "101": "out of the range",
    "Score: 101": "out of the range",
    "Score: -5": "out of the range",
    "- 5": "no number",
    ">90": "no number",
    "90-95": "more than one number",
    "Score: 90-95": "not one number",
    "90 to 95": "more than one number",
    "Error code 42": "no number",
    "HTTP 500": "no number",
    "8/10": "out of 10",
    "Score: 8/10": "out of 10",
    "Score: 8 out of ten": "not one number",
    "Score: 8 (out of ten)": "not one number",
    "Score: 80\nScore: 90": "different scores",
    "Quality: 80\nScore: 90": "different scores",
    "Score: 80\n90": "besides the score",
    "80\n90": "more than one number",
    "85\nIt costs 3 dollars.": "more than one number",
    "Good.\n85\nBad.": "amid the text",
    "I would say somewhere in the eighties": "no number",
    "I would give it 85, perhaps": "no number",
    "Score: high": "no number",
    "Score:": "no number",
    "85,500": "fraction or thousands",
    "1e2": "more than one number",
    "8*5": "more than one number",
    "8⁵": "no number",
    "½": "no number",
    "nan": "no number",
    "Score: NaN": "no number",
    "I cannot rate this.": "refusal",
    "It costs 85 dollars.": "repeats",
    '{"score": NaN}': "not JSON",
    '{"score": true}': "the score is",
    '{"score": null}': "the score is",
    '{"score": [85]}': "the score is",
    '{"score": "good"}': "the score is",
    '{"score": 850}': "out of the range",
    '{"score": 1e999}': "the score is",
    '{"score": 80, "score": 90}': "twice",
    '{"score": 80, "rating": 90}': "different scores",
    '{"score": 80} {"score": 90}': "more than one JSON object",
    '[{"score": 80}]': "part of something else",
    '{"scores": {"score": 80}}': "no score",
    '{"score": 80': "broken JSON",
    'Score: 90\n{"score": 80}': "besides that of the JSON",
}


@pytest.mark.parametrize(("answer", "number"), UNDERSTOOD.items())
def test_numbers(answer: str, number: float) -> None:
    verdict = read_answer(answer, NUMBER, JUDGED)
    assert verdict.understood, verdict.reason
    assert verdict.number == number
    assert verdict.errors is None


@pytest.mark.parametrize(("answer", "reason"), NOT_UNDERSTOOD.items())
def test_what_is_no_number_is_not_understood(answer: str, reason: str) -> None:
    verdict = read_answer(answer, NUMBER, JUDGED)
    assert not verdict.understood, verdict
    assert reason in verdict.reason
    assert (verdict.number, verdict.errors, verdict.labels) == (None, None, {})


def test_the_range_is_that_of_the_form() -> None:
    stars = Form("number", minimum=1, maximum=5)
    for answer, number in {"4": 4.0, "4/5": 4.0, "Score (1-5): 3,5": 3.5, "4 out of 5": 4.0}.items():
        assert read_answer(answer, stars, JUDGED).number == number
    for answer in ("0", "6", "80%", "80/100", "85"):
        assert not read_answer(answer, stars, JUDGED).understood
    penalty = Form("number", minimum=-25, maximum=0)
    assert read_answer("-5", penalty, JUDGED).number == -5
    assert not read_answer("5", penalty, JUDGED).understood


@pytest.mark.parametrize("dash", "-−‐‑‒–—―﹣－")
def test_a_dash_that_touches_a_digit_is_its_sign(dash: str) -> None:
    penalty = Form("number", minimum=-25, maximum=0)
    for frame in (
        "{}5",
        "Score {}5",
        "Score: {}5",
        "Score{}5",
        "**Score:** {}5",
        "Score:\n{}5",
        "Score: {}5.0",
    ):
        answer = frame.format(dash)
        assert read_answer(answer, penalty, JUDGED).number == -5, answer
        verdict = read_answer(answer, NUMBER, JUDGED)
        assert not verdict.understood, answer
        assert "out of the range" in verdict.reason
    for frame in ("{} 5", "Score: {} 5", "Score: 90{}95", 'Score {}"5"'):
        assert not read_answer(frame.format(dash), NUMBER, JUDGED).understood, frame.format(dash)
    assert read_answer(f"Score (0{dash}100): 85", NUMBER, JUDGED).number == 85


def test_a_json_form_wants_an_object() -> None:
    form = Form("number", json=True)
    assert read_answer('{"score": 85}', form, JUDGED).number == 85
    assert "no JSON object" in read_answer("85", form, JUDGED).reason
    assert "refusal" in read_answer("I cannot do that.", form, JUDGED).reason


def test_labels_beside_a_number() -> None:
    form = Form("number", labels={"contextBehavior": ("used_correctly", "unclear")})
    verdict = read_answer("85\ncontextBehavior: unclear", form, JUDGED)
    assert (verdict.number, verdict.labels) == (85.0, {"contextBehavior": "unclear"})
    verdict = read_answer('{"score": 85, "context_behavior": "unclear"}', form, JUDGED)
    assert (verdict.number, verdict.labels) == (85.0, {"contextBehavior": "unclear"})


def test_the_collected_replies(cases: Path) -> None:
    seen = 0
    for line in (cases / "judge_replies" / "scores.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        verdict = read_answer(case["reply"], NUMBER, Judged(""))
        seen += 1
        if isinstance(case["right"], str):
            assert not verdict.understood, case
        else:
            assert verdict.number == case["right"], case
    assert seen == 10


ESA = Form("esa")
ERRORS = 'Critical:\nno-error\nMajor:\naccuracy/mistranslation - "costs"\nMinor:\nno-error'
CLEAN = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"


@pytest.mark.parametrize(
    "score",
    ["Score: 77", "**Score:** 77/100", "Score (0-100): 77", "\nScore: 77.", "Final score:\n77", "评分：77"],
)
@pytest.mark.parametrize("in_front", [False, True])
def test_errors_and_a_score(score: str, in_front: bool) -> None:
    verdict = read_answer(f"{score}\n{ERRORS}" if in_front else f"{ERRORS}\n{score}", ESA, JUDGED)
    assert verdict.understood, verdict.reason
    assert verdict.number == 77
    assert verdict.errors is not None
    assert [(error.severity, error.quote) for error in verdict.errors] == [("major", "costs")]
    assert read_answer(f"{CLEAN}\n{score}", ESA, JUDGED).errors == ()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ERRORS, "without a score"),
        ("Score: 77", "no heading"),
        (f"{ERRORS}\n77", "without a score"),
        (f"{ERRORS}\nScore: 177", "out of the range"),
        (f"{ERRORS}\nScore: 7/10", "out of 10"),
        (f"{ERRORS}\nScore: 77\nScore: 80", "different scores"),
        ("Critical:\nMajor:\nMinor:\nScore: 77", "neither"),
        ("Critical:\nno-error\nScore: 77", "major, minor"),
        ("77", "a number"),
        ('{"errors": [], "score": 77}', "JSON"),
    ],
)
def test_both_must_be_there(answer: str, reason: str) -> None:
    verdict = read_answer(answer, ESA, JUDGED)
    assert not verdict.understood
    assert reason in verdict.reason


REFUSED = {
    "I'm sorry, I cannot rate this.\n\n0": "refusal",
    "I cannot evaluate this translation.\nScore: 0": "refusal",
    "I can't assist with that.\n\nScore: 0/100": "refusal",
    '{"error": "Cannot rate", "score": 0}': "refusal",
    '{"score": 0, "refusal": true}': "refusal",
    '{"score": 0, "explanation": "I cannot judge this."}': "refusal",
    'I refuse. {"score": 0}': "refusal",
    "I am not comfortable rating this.\nScore: 0": "refusal",
    "Rating is impossible.\nScore: 0": "refusal",
    "No translation was provided.\n0": "refusal",
    "Please provide the translation.\nScore: 0": "refusal",
    "Score: 100\nPenalty: 15": "besides the score",
    "Score (0-10): 8": "the scale",
    "Score (1-5): 4": "the scale",
    "Score (1-10):\n8": "the scale",
    "Score (out of 10): 8.5": "the scale",
    "On a scale of 1 to 10:\n8": "more than one number",
    "On a scale of 1 to 10.\nScore: 8": "another scale",
    '{"score": 8, "max": 10}': "another scale",
    '{"score": 8, "scale": "0-10"}': "another scale",
    '{"score": 0.85} on a scale from 0 to 1': "another scale",
    "Number of errors:\n3": "another quantity",
    "Errors found:\n\n2": "another quantity",
    "Penalty:\n5": "another quantity",
    "Confidence:\n90": "another quantity",
    "**Confidence**\n90": "another quantity",
    "Line:\n12": "another quantity",
    "3\nThat is the number of errors.": "another quantity",
    "With the right day, the score would be:\n95": "supposed",
    "If the day were right:\n85": "supposed",
    "Score: 85, if the day were right": "supposed",
    "Score: 85 (if the day were right)": "supposed",
    "Score: 85; no, actually ninety": "takes back",
    "85\n\nOn reflection, ninety.": "takes back",
    "Score: 85\nOr ninety.": "another number",
    "Score: 100 (minus five)": "takes back",
    "Score: 90, but the day is off, so rather eighty": "another number",
    "Score: 80\nReference score: 100": "besides the score",
    "<50": "bound",
    "Score: <50": "bound",
    "~85": "no number",
    "~~85~~": "no number",
    "Score: ~85": "not one number",
    "1. ": "begin a list",
    "5.000": "thousands",
    "1.000": "thousands",
    "Score: 5.000": "thousands",
}


@pytest.mark.parametrize(("answer", "reason"), REFUSED.items())
def test_a_number_that_may_not_be_meant_is_no_score(answer: str, reason: str) -> None:
    verdict = read_answer(answer, NUMBER, JUDGED)
    assert not verdict.understood, verdict
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("answer", "number"),
    {
        "Score (out of 100): 85": 85.0,
        '{"score": 85, "max": 100, "scale": "0-100"}': 85.0,
        "On a scale from 0 to 100.\nScore: 85": 85.0,
        "0.850": 0.85,
        "Sure! Here is my score:\n85": 85.0,
        "85\nWould you like me to explain?": 85.0,
        '{"score": 85, "error": null, "refusal": false}': 85.0,
    }.items(),
)
def test_the_scale_asked_for_and_talk_change_nothing(answer: str, number: float) -> None:
    verdict = read_answer(answer, NUMBER, JUDGED)
    assert verdict.number == number, verdict.reason


@pytest.mark.parametrize(
    "answer",
    [
        f"{ERRORS}\nScore: 80\nReference score: 100",
        f"I cannot evaluate this translation.\n{ERRORS}\nScore: 0",
        f"{ERRORS}\nScore (0-10): 8",
    ],
)
def test_errors_and_a_score_that_may_not_be_meant(answer: str) -> None:
    assert not read_answer(answer, ESA, JUDGED).understood
