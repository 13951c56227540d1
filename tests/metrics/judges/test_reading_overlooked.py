"""Errors that are named in another shape than asked for: none is lost, and talk stays talk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.judges.forms import Form, Judged
from metrics.judges.reading import read_answer

MQM = Form("mqm")
JUDGED = Judged("He sat on the bank, as such, with a dog.", "Er saß still am Ufer, sozusagen.")
NONE = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error\n"
BANK = 'accuracy/mistranslation - "bank"'
FOUND = f"Critical:\nno-error\nMajor:\n{BANK}\nMinor:\nno-error\n"

UNDER_NO_ERROR = [
    '**Major** - wrong word "dog"',
    "**Major** - wrong word",
    '[Major] "dog" wrong word',
    "[Major] wrong word",
    "(minor) the tone",
    '**Minor** "dog"',
    "Minor - the tone is off",
    'Minor "dog" is odd',
    'Minor: "dog" is odd',
    "Minor: the tone is off",
    '- wrong tense: "sleeps"',
    '- tense of "sleeps"',
    '- "dog" (tense)',
    '"dog" - tense',
    '"dog" → "cat"',
    "dog -> cat",
    '* Mistranslation of "dog" as "cat"',
    "- mistranslation: dog -> cat",
    "Mistranslation: dog",
    "Omissions: still",
    "- Omission",
    "Addition (with a dog)",
    "fluency/grammar (der)",
    "fluency/grammar in the first word",
    "- Class: accuracy/omission",
    '- Class: accuracy/omission\n  Span: "still"',
    "Error type: grammar",
    "The verb (grammar)",
    'Grammar: "sat"',
    "Grammar: sat -> sits",
    '- "house" is mistranslated',
    '1. "house" is mistranslated',
    '"house" is mistranslated.',
    "The word house is wrong.",
    "The adverb is not translated.",
    "It should be a shore.",
    "There is one error in the first word.",
    "However, two mistakes remain.",
    'Additional minor issue: "dog" is awkward',
    "Additional minor issue: the tone",
    "\nOverall good, with minor issues.",
    "There is a minor issue with the tone.",
    "I would call it minor.",
    "No major errors, but minor ones.",
    'No major errors, but "dog" is odd.',
    "There are no errors, except for the tone.",
    "No errors, the tense is wrong.",
    "| Severity | Class | Span |\n|---|---|---|\n| Major | grammar | sat |",
    '| fluency/grammar | "sat" |',
    "Notes:\n- the tense is wrong",
    "Explanation: the tense is wrong.",
    "Explanation:\nThe first word is mistranslated.",
    "Das Wort ist falsch übersetzt.",
    "“bank”是误译。",
    '"bank"은 오역입니다.',
    "「bank」は誤訳です。",
    "no-error - the tense is wrong",
    "~~no-error~~ bank is wrong",
    'The phrase "as such" sounds odd.',
    '"as such" could be improved',
    'I am not sure about "bank".',
    'The translation drops "still".',
    'Consider "shore".',
    "Register: too formal",
    "The only issue is the tone.",
    "Apart from the tone, all is well.",
    "Error: bank",
    "Error 1 - the tone",
    'Potential issue: "bank" may be unclear',
    "Category: style",
    "Tense mismatch: sat",
    "bank",
    "- bank",
    "sat on",
    "Accuracy - bank",
    "accuracy_mistranslation bank",
    "Accuracy (Mistranslation) bank",
    "<error>bank</error>",
    '{"errors": [{"span": "bank"}]}',
    '{\n  "errors": [{"span": "bank"}]\n}',
    "Severe: bank",
    'Neutral: "bank"',
    "**Serious** - the tone",
    "MQM score: 5",
    "bank ≠ Ufer",
    "no-error, fluency/grammar",
]


@pytest.mark.parametrize("line", UNDER_NO_ERROR)
@pytest.mark.parametrize("listed", [False, True])
def test_an_error_named_where_none_is_listed(line: str, listed: bool) -> None:
    for end in ("", "\nI hope this helps!"):
        answer = (NONE.replace("no-error", "- no-error") if listed else NONE) + line + end
        verdict = read_answer(answer, MQM, JUDGED)
        assert not verdict.understood, verdict
        assert not read_answer(f"{answer}\nScore: 90", Form("esa"), JUDGED).understood
    before = NONE.replace("no-error\nMinor", f"no-error\n{line}\nMinor")
    assert not read_answer(before, MQM, JUDGED).understood


BESIDE = {
    "another item of a numbered list": (
        'Major:\n1. accuracy/mistranslation - "bank"\n2. The word "is" is mistranslated, too.\n'
        '3. "Text" is untranslated'
    ),
    "another bullet": f"Major:\n- {BANK}\n- tense of sat",
    "another bullet by its last part": f"Major:\n- {BANK}\n- Omission of still",
    "another class of a known kind": f"Major:\n{BANK}\nOmission of still",
    "another class in full": f"Major:\n{BANK}\nfluency/grammar of the verb",
    "another class somewhere": f"Major:\n{BANK}\nThe verb shows fluency/grammar as well.",
    "more of it": f"Major:\n{BANK}\nThe tense is also wrong.",
    "more of it, with a quote": f'Major:\n{BANK}\n"sat" is awkward.',
    "an error of more words": f'Major:\n{BANK}\nThe verb tense - "sat"',
    "an error that sounds like a remark": f'Major:\n{BANK}\nwrong translation - "sat"',
    "another severity": f'Major:\n{BANK}\n[Minor] the tone of "sat"',
    "another severity in words": f"{FOUND}\nThere is also a minor issue with the tone.",
    "one more of a severity": f"{FOUND}\nAnother major issue is the tone.",
    "a heading and a remark": f'Major: wrong word "dog"\n{BANK}\nMinor:\nno-error',
    "two classes and quotes": f'Major:\n{BANK}; fluency/grammar - "sat"',
    "two classes with and": f'Major:\n{BANK} and fluency/grammar - "sat"',
    "two classes with also": f'Major:\n{BANK}; also fluency/grammar: "sat"',
    "two classes and severities": f'Major:\n{BANK} (major); fluency/grammar - "sat" (major)',
    "two classes, numbered": 'Major: 1) accuracy/mistranslation - "bank" 2) fluency/grammar - "sat"',
    "two classes by their last parts": f'Major:\n{BANK}, grammar - "sat"',
    "a class behind": f"Major:\n{BANK}; fluency/grammar",
    "two quotes first": 'Major:\n"bank" - accuracy/mistranslation; "sat" - fluency/grammar',
    "two classes in front": 'Major:\naccuracy/mistranslation, fluency/grammar - "bank"',
    "two classes without quotes": "Major:\naccuracy/mistranslation, fluency/grammar",
    "explained, and another": 'Major:\naccuracy/omission - the adverb; fluency/grammar - "sat"',
    "no-error and an error": 'Major:\nno-error, fluency/grammar - "dog"',
    "none and an error": 'Major:\nNone; wrong word - "dog"',
    "no-error with an exception": "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error (except the tone)",
    "no-error, though": 'Critical:\nno-error\nMajor:\nno-error\nMinor: no-error (though "dog" is awkward)',
    "no-error, though, without a quote": NONE.replace(
        "Minor:\nno-error", "Minor: no-error (but it is stiff)"
    ),
    "no-error, and a fault": NONE.replace("Minor:\nno-error", "Minor: no-error. The tense is wrong."),
    "none, but": NONE.replace("Minor:\nno-error", "Minor:\nNone, but the tone is off."),
    "all on one line": 'Critical: no-error Major: no-error Minor: fluency/grammar "dog"',
    "in front of the headings": f"[Major] wrong word\n{NONE}",
    "a class in front of the headings": f"fluency/grammar (der)\n{NONE}",
    "a list in front of the headings": f'- "dog" is wrong\n\n{NONE}',
    "a severity in front of the headings": f'There is a minor issue with "dog".\n\n{NONE}',
    "a quote of other words": f'Major:\n{BANK}\nThe phrase "as such" sounds odd.',
    "a quote of other words, briefly": f'Major:\n{BANK}\nSame for "sat".',
    "a quote of other words, also": f'Major:\n{BANK}\nAlso "sat".',
    "other words without marks": f"Major:\n{BANK}\nsat on",
    "other words in a closing remark": f'{FOUND}\nThe phrase "as such" sounds odd.',
    "another scheme of severities": f'Major:\n{BANK}\nNeutral: "sat"',
    "another class in an open quote": f'Major:\nother - "bank; fluency/grammar - sat\n{BANK}',
    "under a remark": f"{FOUND}\nExplanation:\n[Minor] the tone",
    "a class and its quote below": 'Major:\n- accuracy/mistranslation\n  - "bank"',
    "an unknown class on another line": f'Major:\n{BANK}\nClass: wrong sense\nSpan: "sat"',
    "behind a blank line": f"{NONE}\n{BANK}",
}


@pytest.mark.parametrize("answer", BESIDE.values(), ids=BESIDE.keys())
def test_an_error_beside_what_is_listed(answer: str) -> None:
    for text in (answer, answer.replace("\n", "\r\n"), f"```\n{answer}\n```"):
        verdict = read_answer(text, MQM, JUDGED)
        assert not verdict.understood, verdict


TALK = [
    "I hope this helps!",
    "Overall the translation is good.",
    "The translation is accurate and reads well.",
    "There are no mistranslations, omissions or additions.",
    "No critical, major or minor errors were found.",
    "There are no errors in the translation.",
    "Nothing is missing or wrong.",
    "The translation is not awkward.",
    'The word "bank" is right here.',
    "Explanation: the meaning is preserved.",
    "Explanation:\nThe meaning is preserved.\n- Accuracy: all of it is there.\n- Fluency: it reads well.",
    "Explanation:\n- the sense is kept\n- the tone fits",
    "Overall, the translation is good because:\n- it keeps the sense\n- it reads well",
    "Note that the source speaks of a major city.",
    "Total penalty: 0",
    "Die Übersetzung ist gut und enthält keine Fehler.",
    "翻译准确，没有错误。",
    "번역은 정확하며 오류가 없습니다.",
    "誤訳はありません。",
    "---",
    "Penalty: 0",
    "Errors: none were found.",
    'The source and the translation match well; "still" is conveyed by the tone.',
    "Would you like me to explain?",
    "**Notes**\nThe tone is kept.",
]


@pytest.mark.parametrize("talk", TALK)
def test_talk_that_finds_no_fault(talk: str) -> None:
    for none in (NONE, NONE.replace("no-error", "- no-error"), f"Here is my annotation:\n\n{NONE}"):
        for gap in ("", "\n"):
            verdict = read_answer(f"{none}{gap}{talk}", MQM, JUDGED)
            assert verdict.errors == (), verdict.reason


EXPLAINED = [
    "This is the river's shore, not a house of money.",
    'The word "bank" is a mistranslation of "Ufer".',
    '"Ufer" is mistranslated.',
    'It should be "shore".',
    "The translation is wrong here.",
    "The meaning is lost.",
    'Suggestion: "shore"',
    '- Explanation: "bank" is wrong, "shore" would be right.',
    '  - "bank" should be the shore',
    "- the word is wrong",
    'bank → "shore"',
    "bank → shore",
    "Severity: major",
    "I rated it as a major error because the sense is lost.",
    "Mistranslation: the word means the shore of a river.",
    'Correction - "shore"',
    'The translation says "bank" where the source says "Ufer".',
    'Consider "shore" instead of "bank".',
    "Category: accuracy",
    "Type: Mistranslation",
    'bank -> "shore"',
]


@pytest.mark.parametrize("talk", EXPLAINED)
def test_explanations_of_a_listed_error(talk: str) -> None:
    verdict = read_answer(f"Major:\n{BANK}\n{talk}\nMinor:\nno-error", MQM, JUDGED)
    assert verdict.errors is not None, verdict.reason
    assert [error.quote for error in verdict.errors] == ["bank"]


CLOSING = [
    'The word "bank" is a mistranslation of "Ufer".',
    "The translation changes the sense by one wrong word.",
    "Overall, one major error was found, and no minor ones.",
    "Overall, the translation has one major error.",
    "Explanation:\nThe source means a shore; this is a mistranslation.",
    '**Explanation:**\n- The word "bank" is wrong: it should be "shore".',
    "The accuracy/mistranslation is grave.",
    '- The word "bank" should be "shore"',
    "I hope this helps!",
]


@pytest.mark.parametrize("talk", CLOSING)
def test_closing_remarks_on_a_listed_error(talk: str) -> None:
    verdict = read_answer(f"{FOUND}\n{talk}", MQM, JUDGED)
    assert verdict.errors is not None, verdict.reason
    assert [error.quote for error in verdict.errors] == ["bank"]


FRONT = [
    "Sure, here is the annotation of critical, major and minor errors:",
    'I will compare the texts.\nThe word "bank" could be wrong, since it means a house of money.',
    "Translation: He sat on the bank, as such, with a dog.",
    "Let me look for mistranslations.",
]


@pytest.mark.parametrize("talk", FRONT)
def test_thinking_aloud_before_the_headings(talk: str) -> None:
    for answer, quotes in ((NONE, []), (FOUND, ["bank"])):
        verdict = read_answer(f"{talk}\n\n{answer}", MQM, JUDGED)
        assert verdict.errors is not None, verdict.reason
        assert [error.quote for error in verdict.errors] == quotes


def test_more_dresses_of_a_clean_answer() -> None:
    for answer in (
        "[Critical] no-error\n[Major] no-error\n[Minor] no-error",
        "**Critical** None\n**Major** None\n**Minor** None",
        "Critical: no-error (all is well)\nMajor: None. It reads well.\nMinor: N/A",
    ):
        assert read_answer(answer, MQM, JUDGED).errors == (), answer


def test_a_remark_apart_from_a_repeated_text_is_heard() -> None:
    judged = Judged("He sat.\nOn the bank.\nAll day.")
    for remark, understood in (("I hope this helps!", True), ('- "day" is mistranslated', False)):
        answer = f"{judged.hypothesis}\n\n{NONE}\n{judged.hypothesis}\n{remark}"
        assert read_answer(answer, MQM, judged).understood == understood


def test_a_remark_beside_the_score_is_heard() -> None:
    for score, understood in (
        ("Score: 95 (a good translation)", True),
        ("Score: 95 (one minor issue)", False),
        ("Score: 95. The tense is wrong.", False),
    ):
        assert read_answer(NONE + score, Form("esa"), JUDGED).understood == understood


JSON_FORM = Form("mqm", json=True, labels={"contextBehavior": ("missed_required_context", "unclear")})
ERROR = {"severity": "critical", "class": "other", "span": "dog"}

CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "a class that is none": {"errors": [{"span": "", "class": "no-error", "severity": "critical"}]},
    "a class that is none, with a span": {"errors": [{"span": "dog", "class": "None", "severity": "major"}]},
    "no class, and a span that is none": {"errors": [{"span": "N/A", "class": None, "severity": "major"}]},
    "an error of nothing": {"errors": [{"span": "", "class": "", "severity": "major"}]},
    "an error of a severity alone": {"errors": [{"severity": "major"}]},
    "a list beside": {"errors": [], "critical": [{"span": "dog", "class": "other"}]},
    "a list beside that lacks one": {"errors": [ERROR], "critical": []},
    "a list beside with another": {"errors": [ERROR], "critical": [{"span": "cat", "class": "other"}]},
    "a list beside with more": {"errors": [ERROR], "critical": [ERROR, ERROR]},
    "a list beside of another severity": {"errors": [ERROR], "minor": [ERROR]},
    "a text beside": {"errors": [], "major": "the tense"},
    "a number beside": {"errors": [], "major": 1},
    "a count beside": {"errors": [], "major_errors": 2},
    "a count inside": {"errors": [], "summary": {"critical_count": 0, "minor_count": 1}},
    "a total": {"errors": [ERROR], "total_errors": 2},
    "has_no_error": {"errors": [], "has_no_error": False},
    "no_error": {"errors": [], "no_error": False},
    "noError": {"errors": [ERROR], "noError": True},
    "no_errors": {"errors": [], "no_errors": "false"},
    "has_errors": {"errors": [], "has_errors": True},
    "hasErrors": {"errors": [ERROR], "hasErrors": False},
    "errors_found": {"errors": [], "errors_found": 1},
    "errors_found, a flag": {"errors": [], "errors_found": True},
    "error_free": {"errors": [ERROR], "error_free": True},
    "is_correct": {"errors": [], "is_correct": False},
    "annotations": {"errors": [], "annotations": [ERROR]},
    "mistakes": {"errors": [], "mistakes": ["dog"]},
    "issues": {"errors": [], "issues": "the tense of sat"},
    "problems": {"errors": [], "problems": {"dog": "sense"}},
    "spans": {"errors": [], "error_spans": ["dog"]},
    "more annotations": {"errors": [ERROR], "annotations": [ERROR, ERROR | {"span": "sat"}]},
    "a list of another name": {"errors": [], "result": [{"span": "dog", "kind": "sense"}]},
    "an analysis with errors": {"analysis": {"errors": [ERROR]}, "errors": []},
    "an analysis with a list": {"analysis": {"accuracy": {"mistakes": ["dog"]}}, "errors": []},
    "a severity": {"errors": [], "severity": "major"},
    "a remark": {"errors": [], "explanation": 'The word "dog" is mistranslated.'},
    "a remark on a severity": {"errors": [ERROR], "comment": "Another minor issue is the tone."},
    "remarks": {"errors": [], "notes": ["It reads well.", "One word is wrong."]},
    "a remark inside": {"errors": [], "analysis": {"fluency": "The tense is wrong."}},
    "under severities, and others": {"critical": [], "major": [], "minor": [], "mistakes": [ERROR]},
    "under severities, and a flag": {"critical": [], "major": [], "minor": [], "has_no_error": False},
    "errors under two spellings": {"errors": [], "ERRORS_": [ERROR]},
}


@pytest.mark.parametrize("value", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_an_object_that_says_two_things(value: dict[str, Any]) -> None:
    verdict = read_answer(json.dumps(value), JSON_FORM, JUDGED)
    assert not verdict.understood, verdict
    esa = read_answer(json.dumps(value | {"score": 90}), Form("esa", json=True), JUDGED)
    assert not esa.understood, esa


AGREEING: dict[str, dict[str, Any]] = {
    "lists under severities": {"critical": [ERROR], "major": [], "minor": []},
    "lists without their severity": {"critical": [{"class": "other", "span": "dog"}], "minor": []},
    "numbers": {"critical": 1, "major": 0, "minor": 0},
    "a summary": {"summary": {"critical_count": 1, "total_errors": 1}},
    "flags": {"has_no_error": False, "has_errors": True, "no_error": None, "is_correct": False},
    "another list of the same": {"annotations": [ERROR]},
    "an analysis": {"analysis": {"accuracy": "The word dog is wrong.", "fluency": "fine"}},
    "a remark": {"explanation": "A critical error: the word is mistranslated.", "confidence": 0.9},
    "a label": {"contextBehavior": "missed_required_context"},
}


@pytest.mark.parametrize("beside", AGREEING.values(), ids=AGREEING.keys())
def test_an_object_that_says_it_twice(beside: dict[str, Any]) -> None:
    verdict = read_answer(json.dumps({"errors": [ERROR]} | beside), JSON_FORM, JUDGED)
    assert verdict.errors is not None, verdict.reason
    assert [(error.severity, error.quote) for error in verdict.errors] == [("critical", "dog")]


CLEAN: dict[str, dict[str, Any]] = {
    "lists under severities": {"critical": [], "major": [], "minor": []},
    "words under severities": {"critical": "no-error", "major": "None", "minor": ""},
    "numbers": {"critical": 0, "major": 0, "minor": 0, "error_count": 0},
    "flags": {"has_no_error": True, "no_error": True, "has_errors": False, "is_correct": True},
    "empty lists": {"annotations": [], "mistakes": "none", "issues": {}, "error_spans": None},
    "an analysis": {"analysis": {"accuracy": "The sense is kept.", "errors": []}},
    "a remark": {"explanation": "There are no errors; it reads well."},
    "what it was given": {"source": JUDGED.source, "translation": JUDGED.hypothesis},
    "a label": {"contextBehavior": "missed_required_context"},
    "a label in words": {"contextBehavior": "Missed required context"},
}


@pytest.mark.parametrize("beside", CLEAN.values(), ids=CLEAN.keys())
def test_an_object_that_says_twice_that_there_is_none(beside: dict[str, Any]) -> None:
    verdict = read_answer(json.dumps({"errors": []} | beside), JSON_FORM, JUDGED)
    assert verdict.errors == (), verdict.reason


def test_words_around_an_object() -> None:
    for before, after, understood in (
        ("Here is my annotation of the errors:", "Let me know.", True),
        ('The word "bank" could be wrong, but fits.', "", True),
        ("", "The translation is good.", True),
        ("", '- "dog" is mistranslated', False),
        ("", "However, the tense is wrong.", False),
        ("", "Major: the tense", False),
        ("", 'Major:\naccuracy/omission - "still"', False),
        ('accuracy/omission - "still"', "", False),
        ("[Minor] the tone", "", False),
    ):
        verdict = read_answer(f'{before}\n{{"errors": []}}\n{after}', JSON_FORM, JUDGED)
        assert verdict.understood == understood, (before, after, verdict)
    around = f'Critical:\nother - "dog"\n{json.dumps({"errors": [ERROR]})}\nThe word "dog" is wrong.'
    assert read_answer(around, JSON_FORM, JUDGED).understood


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.sampled_from(["mqm", "number", "esa"]))
def test_a_reason_is_one_line_that_can_be_printed(text: str, kind: Any) -> None:
    for answer in (
        json.dumps({"errors": {text: []}, "score": text}),
        json.dumps({"errors": [{"severity": text}], "score": text}, ensure_ascii=False),
        json.dumps({"errors": [], text: [ERROR]}),
        f"Major:\n{BANK}\n## {text}",
        f"{NONE}[Major] {text}",
        text,
    ):
        for as_json in (False, True):
            reason = read_answer(answer, Form(kind, json=as_json), JUDGED).reason
            assert len(reason) <= 200
            assert reason.isprintable()


def test_a_key_of_an_object_breaks_no_line_of_the_reason() -> None:
    key = "a\nb\r\x1b[31m\u2028\x00\u202e" * 30
    verdict = read_answer(json.dumps({"errors": {key: []}}), JSON_FORM, JUDGED)
    assert verdict.reason.startswith("'errors' names what is no severity: a b")
    assert verdict.reason.isprintable()
    assert len(verdict.reason) <= 200
