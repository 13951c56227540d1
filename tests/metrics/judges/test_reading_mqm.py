"""Errors under headings: what is read, whatever its dress, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metrics.judges.forms import Form, Judged, Scoring, Verdict
from metrics.judges.reading import read_answer

MQM = Form("mqm")
JUDGED = Judged("He sat on the bank, as such.", "Er saß am Ufer, sozusagen.")
NONE = "Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error"

Marked = tuple[str, str | None, str | None]


def marked(verdict: Verdict) -> list[Marked]:
    assert verdict.understood, verdict.reason
    assert verdict.errors is not None
    return [(error.severity, error.category, error.quote) for error in verdict.errors]


BANK: list[Marked] = [("major", "accuracy/mistranslation", "bank")]
LINE = 'accuracy/mistranslation - "bank"'

DRESSED = {
    "as asked": f"Critical:\nno-error\nMajor:\n{LINE}\nMinor:\nno-error",
    "another order": f"Minor:\nno-error\nMajor:\n{LINE}\nCritical:\nno-error",
    "one heading": f"Major:\n{LINE}",
    "heading and error on one line": f"Major: {LINE}",
    "all on their lines": f"Critical: no-error\nMajor: {LINE}\nMinor: no-error",
    "bold on their lines": f"**Critical:** no-error\n**Major:** {LINE}\n**Minor:** None.",
    "bold": f"**Critical:**\nno-error\n**Major:**\n{LINE}\n**Minor:**\nno-error",
    "bold, colon outside": f"**Critical**:\nno-error\n**Major**:\n{LINE}\n**Minor**:\nno-error",
    "headings of markdown": f"### Critical\n\nno-error\n\n### Major\n\n- {LINE}\n\n### Minor\n\nno-error",
    "headings of markdown in bold": f"### **Critical:**\nno-error\n### **Major:**\n* {LINE}",
    "no colon": f"Critical\nno-error\nMajor\n{LINE}\nMinor\nno-error",
    "numbered": f"1. Critical:\nno-error\n2. Major:\n{LINE}\n3. Minor:\nno-error",
    "numbered with brackets": f"1) Critical:\n(none)\n2) Major:\n1) {LINE}",
    "bullets": f"- Critical:\n  - no-error\n- Major:\n  - {LINE}\n- Minor:\n  - no-error",
    "errors": f"Critical errors:\nNo errors.\nMajor errors:\n{LINE}\nMinor errors:\nNo errors.",
    "brackets": f"[Critical]\nno-error\n[Major]\n{LINE}",
    "full-width": f"Critical：\nno-error\nＭajor：\n{LINE}\nMinor：\nno-error",
    "carriage returns": f"Critical:\r\nno-error\r\nMajor:\r\n{LINE}\r\nMinor:\r\nno-error\r\n",
    "no-break spaces": f"\u00a0Critical:\u00a0\n\u00a0no-error\n\u3000Major:\n\u00a0{LINE}\u00a0",
    "indented": f"    Critical:\n    no-error\n    Major:\n        {LINE}",
    "blank lines": f"\n\nCritical:\n\nno-error\n\n\nMajor:\n\n{LINE}\n\n",
    "upper case": f"CRITICAL:\nNO-ERROR\nMAJOR:\n{LINE}",
    "upper case of classes": 'MAJOR:\nAccuracy/Mistranslation - "bank"',
    "block of code": f"```\nCritical:\nno-error\nMajor:\n{LINE}\n```",
    "block with a name": f"```text\nMajor:\n{LINE}\n```\n",
    "reasoning": f"<think>\nCritical:\nno-error\nhm\n</think>\n\nMajor:\n{LINE}",
    "other reasoning": f"<Reasoning>The bank.</Reasoning>Major:\n{LINE}",
    "reasoning whose beginning is not there": f"The bank is wrong.\n</think>\nMajor:\n{LINE}",
    "typographic quotes": "Major:\naccuracy/mistranslation – “bank”",
    "German quotes": "Major:\naccuracy/mistranslation - „bank“",
    "French quotes": "Major:\naccuracy/mistranslation — «bank»",
    "corner brackets": "Major:\naccuracy/mistranslation：「bank」",
    "single quotes": "Major:\naccuracy/mistranslation - 'bank'",
    "backticks": "Major:\n`accuracy/mistranslation` - `bank`",
    "full-width quotes": "Major:\naccuracy/mistranslation - ＂bank＂",
    "bold class": 'Major:\n- **accuracy/mistranslation** - "bank"',
    "bold line": 'Major:\n**accuracy/mistranslation - "bank"**',
    "bold quote": 'Major:\naccuracy/mistranslation - **"bank"**',
    "no dash": 'Major:\naccuracy/mistranslation "bank"',
    "colon": 'Major:\naccuracy/mistranslation: "bank"',
    "parts in brackets": 'Major:\nAccuracy (mistranslation) - "bank"',
    "parts with a dash": 'Major:\naccuracy-mistranslation - "bank"',
    "parts with a spaced dash": 'Major:\nAccuracy - Mistranslation - "bank"',
    "parts with a colon": 'Major:\nAccuracy: mistranslation: "bank"',
    "in angle brackets": 'Major:\n<accuracy/mistranslation> - "bank"',
    "quote first": 'Major:\n"bank" - accuracy/mistranslation',
    "quote first, class in brackets": 'Major:\n- "bank" (accuracy/mistranslation)',
    "severity in brackets": 'accuracy/mistranslation (major) - "bank"',
    "severity in front": '[Major] accuracy/mistranslation - "bank"',
    "severity in front, bold": '- **[MAJOR]** accuracy/mistranslation - "bank"',
    "severity in front with a dash": 'Major - accuracy/mistranslation - "bank"',
    "severity before the quote": 'accuracy/mistranslation - major - "bank"',
    "severity again": 'Major:\n[Major] accuracy/mistranslation (major) - "bank" (major)',
    "explanation behind": 'Major:\naccuracy/mistranslation - "bank" (it should be "shore")',
    "explanation below": f"Major:\n{LINE}\n  This is the river's shore, not a house of money.",
    "explanation under its own heading": f"Major:\n{LINE}\n\nExplanation:\nThe bank is a shore.",
    "closing remark": f"Critical:\nno-error\nMajor:\n{LINE}\nMinor:\nno-error\n\nI hope this helps!",
    "words in front": f"Sure, here is the annotation:\n\nCritical:\nno-error\nMajor:\n{LINE}",
    "a title in front": f"## MQM annotation\n\nMajor:\n{LINE}",
    "German": f"Kritisch:\nkeine\nSchwerwiegend:\n{LINE}\nGeringfügig:\nKeine Fehler.",
    "German with nouns": f"Kritische Fehler:\nkeine Fehler\nSchwerwiegende Fehler:\n{LINE}",
    "Chinese": f"致命：\n无错误\n主要：\n{LINE}\n次要：\n无",
    "Chinese with nouns": f"致命错误：无\n主要错误：{LINE}\n轻微错误：无",
    "Korean": f"치명적:\n없음\n주요:\n{LINE}\n경미:\n오류 없음",
    "Japanese": f"致命的:\nなし\n主要:\n{LINE}\n軽微:\nエラーなし",
    "two languages": f"Critical (致命):\nno-error\nMajor (主要):\n{LINE}\n次要 / Minor:\n无",
    "byte-order mark": f"\ufeffMajor:\n{LINE}",
}


@pytest.mark.parametrize("answer", DRESSED.values(), ids=DRESSED.keys())
def test_the_dress_does_not_matter(answer: str) -> None:
    assert marked(read_answer(answer, MQM, JUDGED)) == BANK


NO_ERRORS = (
    "no-error",
    "No-error.",
    "no error",
    "No errors.",
    "No error(s).",
    "no_error",
    "**no-error**",
    "- no-error",
    "(no-error)",
    "None",
    "none.",
    "None found.",
    "N/A",
    "keine",
    "Keine Fehler.",
    "无错误",
    "无错误。",
    "无",
    "없음",
    "오류 없음",
    "エラーなし",
    "なし",
    "no-error (it reads well)",
    "No errors. The translation is fine.",
    'no-error - ""',
)


@pytest.mark.parametrize("said", NO_ERRORS)
def test_no_error_in_many_words(said: str) -> None:
    answer = f"Critical:\n{said}\nMajor:\n{said}\nMinor:\n{said}"
    assert marked(read_answer(answer, MQM, JUDGED)) == []


def test_no_error_that_names_its_severity() -> None:
    right = "Critical:\nNo critical errors\nMajor:\nNo major errors found.\nMinor:\nno minor issues"
    assert marked(read_answer(right, MQM, JUDGED)) == []
    wrong = right.replace("No critical", "No major")
    assert not read_answer(wrong, MQM, JUDGED).understood


NOT_UNDERSTOOD = {
    "empty": ("", "empty"),
    "blank": (" \n\n\t", "empty"),
    "an empty block": ("```\n```", "empty"),
    "refusal": ("I cannot rate this text.", "refusal"),
    "a refusal in German": ("Tut mir leid, das geht nicht.", "refusal"),
    "words": ("The translation is fine.", "no heading"),
    "no-error alone": ("no-error", "no heading"),
    "a number": ("85", "a number"),
    "a score": ("**95/100**", "a number"),
    "JSON": ('{"errors": []}', "JSON"),
    "echo": ("He sat on the bank, as such.", "repeats"),
    "echo of the source": ("```\nEr saß am Ufer, sozusagen.\n```", "repeats"),
    "unfinished reasoning": ("<think>\n" + NONE, "reasoning"),
    "reasoning unfinished again": ("<think>a</think><think>\n" + NONE, "reasoning"),
    "reasoning alone": ("<think>" + NONE + "</think>", "empty"),
    "refusal under a heading": ("Critical:\nI cannot rate this text.", "neither"),
    "refusal under the last": ("Critical:\nno-error\nMajor:\nno-error\nMinor:\nI am not sure.", "neither"),
    "nothing under the last": ("Critical:\nno-error\nMajor:\nno-error\nMinor:", "neither"),
    "nothing under one": (f"Critical:\nMajor:\n{LINE}\nMinor:\nno-error", "neither"),
    "a heading is missing": ("Critical:\nno-error\nMajor:\nno-error", "minor"),
    "one heading alone": ("Critical: no-error", "major, minor"),
    "contradiction": (f"Major:\n{LINE}\nno-error", "errors and no-error"),
    "contradiction, turned": (f"Major:\nno-error\n{LINE}", "errors and no-error"),
    "twice": (f"Major:\n{LINE}\nMajor:\n{LINE}", "twice"),
    "the whole twice": (f"{NONE}\n{NONE}", "twice"),
    "severe": (f"Severe:\n{LINE}\nMinor:\nno-error", "severe"),
    "an ambiguous Chinese heading": (f"致命：\n无\n严重：\n{LINE}\n轻微：\n无", "严重"),
    "an ambiguous Korean heading": (f"치명적:\n없음\n심각:\n{LINE}", "심각"),
    "an unknown heading": (f"Major:\n{LINE}\nCosmetic:\n{LINE}", "looks like a heading"),
    "an unknown heading in bold": (f"Major:\n{LINE}\n**Cosmetic**\n{LINE}", "looks like a heading"),
    "an unknown heading in front": (f"Cosmetic:\n{LINE}\nMajor:\nno-error", "Cosmetic"),
    "an unknown heading with its error": (f"Cosmetic: {LINE}\nMajor:\n{LINE}", "Cosmetic"),
    "an unknown heading with no-error": (f"{NONE}\nCosmetic: no-error", "looks like a heading"),
    "an error under a remark": (f"Major:\n{LINE}\nExplanation:\n{LINE}", "no severity"),
    "an error before the headings": (f"{LINE}\n{NONE}", "without a severity"),
    "another severity than the heading's": (
        'Minor:\naccuracy/mistranslation (major) - "bank"',
        "under the heading",
    ),
    "another severity behind": (f"Minor:\n{LINE} (major)", "major"),
    "two severities on a line": ('[Major] accuracy/mistranslation (minor) - "bank"', "two severities"),
    "the quote does not end": ('Critical:\nno-error\nMajor:\naccuracy/mistranslation - "ba', "may be cut"),
    "no-error with a quote": ('Major:\nno-error - "bank"', "no-error and a quote"),
    "two errors on a line": ('Major:\nother - "bank", accuracy/omission - "sat"', "two errors"),
    "two errors on a line, and": ('Major:\nother - "bank"; style/awkward: "sat"', "two errors"),
    "a quote without a class": (f'Major:\n{LINE}\n- "as such"', "without a class"),
    "a class as a heading": ('Major:\naccuracy/mistranslation:\n- "bank"', "looks like a heading"),
    "an answer cut in a heading": (f"Critical:\nno-error\nMajor:\n{LINE}\nMin", None),
    "a class that says nothing": ("Major:\naccuracy/mistranslation: none", "without saying"),
}


@pytest.mark.parametrize(("answer", "reason"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD.keys())
def test_what_is_not_in_form_is_not_understood(answer: str, reason: str | None) -> None:
    verdict = read_answer(answer, MQM, JUDGED)
    if reason is None:
        # Prose behind a whole section: nothing tells that the answer is cut.
        assert verdict.understood
        return
    assert not verdict.understood
    assert reason in verdict.reason
    assert (verdict.number, verdict.errors, verdict.labels) == (None, None, {})


ERROR_LINES: dict[str, tuple[str, list[Marked]]] = {
    "no error as a quote": (
        'accuracy/mistranslation - "no error"',
        [("major", "accuracy/mistranslation", "no error")],
    ),
    "two quotes": (
        'accuracy/mistranslation - "bank", "as such"',
        [("major", "accuracy/mistranslation", "bank")],
    ),
    "a known class without a quote": ("non-translation", [("major", "non-translation", None)]),
    "the same with a dot": ("Non-translation.", [("major", "non-translation", None)]),
    "explained without a quote": (
        "accuracy/omission - the adverb is missing",
        [("major", "accuracy/omission", None)],
    ),
    "an empty quote": ('accuracy/omission - ""', [("major", "accuracy/omission", None)]),
    "an unknown class": ('wrong word - "bank"', [("major", "wrong word", "bank")]),
    "an unknown class with parts": ('Design/Markup: "bank"', [("major", "Design/Markup", "bank")]),
    "the first part of a class": ('Accuracy - "bank"', [("major", "accuracy", "bank")]),
    "a space at the end of the quote": (
        'style/awkward - "as such "',
        [("major", "style/awkward", "as such ")],
    ),
    "a quote in the quote, not in the text": (
        'style/awkward - "she said "no" to it"',
        [("major", "style/awkward", 'she said "no" to it')],
    ),
    "an apostrophe": ("style/awkward - 'don't go'", [("major", "style/awkward", "don't go")]),
    "a line separator in the quote": (
        'style/awkward - "as\u2028such"',
        [("major", "style/awkward", "as\u2028such")],
    ),
    "several lines": (
        'accuracy/mistranslation - "bank"\naccuracy/mistranslation - "sat"',
        [("major", "accuracy/mistranslation", "bank"), ("major", "accuracy/mistranslation", "sat")],
    ),
    "a correction below": (
        'accuracy/mistranslation - "bank"\nSuggestion - "shore"\nCorrection: "shore"\nIt says: "Ufer"',
        BANK,
    ),
    "sentences with a dash and a quote": (
        'accuracy/mistranslation - "bank"\nThe sense is lost - "bank" is for money.\nFix - "shore"',
        BANK,
    ),
    "a heading as a quote": (
        'accuracy/addition - "Critical:"',
        [("major", "accuracy/addition", "Critical:")],
    ),
    "a quote that does not end amid the answer": (
        'accuracy/mistranslation - "bank\naccuracy/mistranslation - "sat"',
        [("major", "accuracy/mistranslation", "bank"), ("major", "accuracy/mistranslation", "sat")],
    ),
    "locale": ('locale convention/date - "bank"', [("major", "locale convention/date", "bank")]),
    "fluency in brackets": ('Fluency (register): "bank"', [("major", "fluency/register", "bank")]),
}


@pytest.mark.parametrize(("lines", "errors"), ERROR_LINES.values(), ids=ERROR_LINES.keys())
def test_lines_of_errors(lines: str, errors: list[Marked]) -> None:
    assert marked(read_answer(f"Major:\n{lines}", MQM, JUDGED)) == errors


def test_severities_in_lines_need_no_headings_and_may_repeat() -> None:
    inline = 'Major: accuracy/mistranslation - "bank"\nMajor: style/awkward - "as such"\nMinor: other - "sat"'
    tagged = inline.replace("Major:", "[Major]").replace("Minor:", "(minor)")
    expected = [*BANK, ("major", "style/awkward", "as such"), ("minor", "other", "sat")]
    assert marked(read_answer(inline, MQM, JUDGED)) == expected
    assert marked(read_answer(tagged, MQM, JUDGED)) == expected
    # Further errors stand under the severity of a line with a colon.
    under = 'Major: accuracy/mistranslation - "bank"\nstyle/awkward - "as such"'
    assert marked(read_answer(under, MQM, JUDGED)) == expected[:2]


def test_classes_of_the_form_are_the_known_ones() -> None:
    form = Form("mqm", classes=("Wortwahl/falsch", "Auslassung"))
    verdict = read_answer(
        "Major:\nauslassung\nwortwahl (falsch) - \"bank\"\naccuracy/x - 'sat'", form, JUDGED
    )
    assert marked(verdict) == [
        ("major", "Auslassung", None),
        ("major", "Wortwahl/falsch", "bank"),
        ("major", "accuracy/x", "sat"),
    ]


def test_only_the_severities_asked_for() -> None:
    form = Form("mqm", severities=("major", "minor"))
    assert marked(read_answer("Major:\nno-error\nMinor:\nno-error", form, JUDGED)) == []
    assert marked(read_answer(NONE, form, JUDGED)) == []
    verdict = read_answer(f"Critical:\n{LINE}\nMajor:\nno-error\nMinor:\nno-error", form, JUDGED)
    assert "not asked for" in verdict.reason


BEHAVIOUR = ("used_correctly", "missed_required_context", "unclear")
LABELLED = Form("mqm", labels={"contextBehavior": BEHAVIOUR})

LABELS = {
    "contextBehavior: used_correctly": "used_correctly",
    "context_behavior: used_correctly": "used_correctly",
    "Context behavior: **used_correctly**.": "used_correctly",
    "**Context Behaviour**: Used correctly": "used_correctly",
    "- contextBehavior：missed_required_context": "missed_required_context",
    "contextBehavior = unclear (no context is needed)": "unclear",
    "contextBehavior:\nused_correctly": "used_correctly",
    "## contextBehavior:\n\n`used_correctly`": "used_correctly",
    "contextBehavior: used_correctly\ncontextBehavior: used_correctly": "used_correctly",
    "contextBehavior: perhaps": None,
    "contextBehavior: used_correctly | missed_required_context | unclear": None,
    "contextBehavior: used_correctly\ncontextBehavior: unclear": None,
    "contextBehavior:": None,
    "behavior: used_correctly": None,
    "": None,
}


@pytest.mark.parametrize(("line", "label"), LABELS.items())
@pytest.mark.parametrize("in_front", [False, True])
def test_labels(line: str, label: str | None, in_front: bool) -> None:
    answer = f"{line}\n{NONE}" if in_front else f"{NONE}\n{line}"
    verdict = read_answer(answer, LABELLED, JUDGED)
    assert marked(verdict) == []
    assert verdict.labels == ({} if label is None else {"contextBehavior": label})


def test_a_label_amid_the_sections_does_not_end_them() -> None:
    answer = f"Major:\ncontextBehavior: unclear\n{LINE}"
    verdict = read_answer(answer, LABELLED, JUDGED)
    assert marked(verdict) == BANK
    assert verdict.labels == {"contextBehavior": "unclear"}


def test_the_collected_replies(cases: Path) -> None:
    """``right`` of each reply: a penalty without and with a cap, a span, a label, or that it is unparsed."""
    uncapped, capped = Scoring(), Scoring(cap=25, most_errors=5)
    form = Form("mqm", labels={"contextBehavior": BEHAVIOUR})
    seen = 0
    for line in (cases / "judge_replies" / "mqm.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        right = case["right"]
        verdict = read_answer(case["reply"], form, Judged("no error"))
        seen += 1
        if isinstance(right, str):
            assert not verdict.understood, case
            continue
        assert verdict.errors is not None, case
        assert uncapped.penalty(verdict.errors) == right["penalty"]
        if "penalty_gemba_capped" in right:
            assert capped.penalty(verdict.errors) == right["penalty_gemba_capped"]
        if "span" in right:
            assert [error.quote for error in verdict.errors] == [right["span"]]
        if "context_behavior" in right:
            assert verdict.labels["contextBehavior"] == right["context_behavior"]
    assert seen == 13


DENIED = (
    "accuracy/mistranslation - not present",
    "accuracy/mistranslation - no error found here.",
    "accuracy/omission - nothing omitted",
    "accuracy/mistranslation: No issues found, the meaning is preserved",
    'accuracy/mistranslation - ""',
    'accuracy/mistranslation - "none"',
    'accuracy/omission - "N/A"',
    'accuracy/mistranslation - "" (none)',
    'accuracy/omission - "" (none)',
    '<class> - "<span>"',
    'error/type - "span"',
    'accuracy/mistranslation - "[span]"',
    'accuracy/mistranslation - "..."',
    'no-error or accuracy/mistranslation - "..."',
)


@pytest.mark.parametrize("line", DENIED)
def test_a_line_that_denies_its_error_or_fills_in_nothing_is_none(line: str) -> None:
    for answer in (f"Critical:\nno-error\nMajor:\n{line}\nMinor:\nno-error", f"Major: {line}"):
        assert not read_answer(answer, MQM, JUDGED).understood


@pytest.mark.parametrize(
    "line",
    [
        "accuracy/mistranslation - not translated at all",
        "accuracy/omission - no translation of the adverb: it is missing",
        'accuracy/mistranslation - "as such" (nothing of the kind)',
        'fluency/punctuation - "."',
    ],
)
def test_a_line_that_denies_something_else_is_an_error(line: str) -> None:
    assert len(marked(read_answer(f"Major:\n{line}", MQM, JUDGED))) == 1


@pytest.mark.parametrize(
    "answer",
    [
        f"I cannot evaluate this. The expected format is:\n{NONE}",
        f"If the translation were perfect I would say:\n{NONE}\nBut it is not.",
        f"If the translation were perfect:\n{NONE}",
        f"{NONE}\nBut it is not.",
        f"I cannot judge this. For example:\nMajor:\n{LINE}",
    ],
)
def test_a_form_that_is_only_shown_is_no_judgement(answer: str) -> None:
    assert not read_answer(answer, MQM, JUDGED).understood
