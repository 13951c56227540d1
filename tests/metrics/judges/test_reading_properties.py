"""What holds for any answer: nothing raises, nothing is half understood, dress changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from challenge_sets.records import Severity
from metrics.judges.forms import Form, Judged, Verdict
from metrics.judges.reading import read_answer

LABELS = {"contextBehavior": ("used_correctly", "unclear")}
FORMS = [
    Form(kind, json=as_json, labels=LABELS)  # type: ignore[arg-type]
    for kind in ("mqm", "number", "esa")
    for as_json in (False, True)
]
CLASSES = ("accuracy/mistranslation", "accuracy/omission", "fluency/grammar", "style/awkward", "other")

# Pieces that the reader looks for, so that random answers come close to real ones.
PIECES = st.sampled_from(
    [
        *("Critical:", "Major:", "Minor:", "no-error", "None", "Severe:", "Score: 80", "Score:", "80", "100"),
        *(
            'accuracy/mistranslation - "bank"',
            'other - "',
            "non-translation",
            '"bank"',
            "[Major] ",
            "(minor)",
        ),
        *("<think>", "</think>", "```", "```json", '{"errors": []}', '{"score": 80}', "{", "}", "[", "]"),
        *(
            "contextBehavior: unclear",
            "contextBehavior:",
            "\n",
            "\r\n",
            "\n\n",
            " ",
            "\u00a0",
            "\u2028",
            "：",
            "“",
            "”",
        ),
        *(
            "**",
            "- ",
            "1. ",
            "### ",
            "致命：",
            "严重",
            "없음",
            "I cannot",
            "The bank.",
            "'",
            "`",
            "–",
            "\x00",
            "\ud800",
        ),
    ]
)
ANSWERS = st.one_of(
    st.text(max_size=80),
    st.lists(st.one_of(PIECES, PIECES, st.text(max_size=5)), max_size=25).map("".join),
    st.lists(PIECES, max_size=14).map("\n".join),
)


def check(verdict: Verdict, form: Form, judged: Judged) -> None:
    if not verdict.understood:
        assert (verdict.number, verdict.errors, verdict.labels) == (None, None, {})
        assert verdict.reason.strip()
        return
    assert (verdict.number is not None) == (form.kind != "mqm")
    assert (verdict.errors is not None) == (form.kind != "number")
    if verdict.number is not None:
        assert form.minimum <= verdict.number <= form.maximum
    for error in verdict.errors or ():
        assert error.severity in form.severities
        if error.span is not None:
            assert judged.hypothesis[error.span.start : error.span.end] == error.span.text
        if error.source is not None:
            assert judged.source[error.source.start : error.source.end] == error.source.text
    for name, value in verdict.labels.items():
        assert value in form.labels[name]


@settings(max_examples=200, deadline=None)
@given(ANSWERS, ANSWERS, ANSWERS, st.sampled_from(FORMS))
def test_any_answer(answer: str, hypothesis: str, source: str, form: Form) -> None:
    judged = Judged(hypothesis, source, (answer[::-1],))
    check(read_answer(answer, form, judged), form, judged)


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["errors", "severity", "class", "span", "score", "major"]), inner
            ),
        ),
        max_leaves=12,
    ),
    st.sampled_from(FORMS),
)
def test_any_json(value: object, form: Form) -> None:
    judged = Judged("The bank.", "Das Ufer.")
    check(read_answer(json.dumps(value), form, judged), form, judged)


# A quote of several lines is read where the translation holds it; here every error stays on its line.
TEXT = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40)
SEVERITIES = st.sampled_from(("critical", "major", "minor"))


@st.composite
def annotations(draw: st.DrawFn) -> tuple[str, list[tuple[Severity, str, str]]]:
    """A translation and errors in it, each a stretch of it."""
    text = draw(TEXT.filter(lambda text: bool(text.strip())))
    errors: list[tuple[Severity, str, str]] = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text) - 1))
        quote = text[start : draw(st.integers(start + 1, len(text)))]
        if quote.strip():
            errors.append((draw(SEVERITIES), draw(st.sampled_from(CLASSES)), quote))  # type: ignore[arg-type]
    return text, errors


def rendered(errors: list[tuple[Severity, str, str]]) -> str:
    lines = []
    for severity in ("critical", "major", "minor"):
        here = [f'{category} - "{quote}"' for own, category, quote in errors if own == severity]
        lines += [f"{severity.capitalize()}:", *(here or ["no-error"])]
    return "\n".join(lines)


@settings(max_examples=150, deadline=None)
@given(annotations())
def test_what_is_written_as_asked_is_read(annotation: tuple[str, list[tuple[Severity, str, str]]]) -> None:
    text, errors = annotation
    judged = Judged(text)
    verdict = read_answer(rendered(errors), Form("mqm"), judged)
    assert verdict.errors is not None, verdict.reason
    order = ("critical", "major", "minor")
    assert [(error.severity, error.category, error.quote) for error in verdict.errors] == sorted(
        errors, key=lambda error: order.index(error[0])
    )
    for error in verdict.errors:
        assert error.span is not None
        assert error.span.text == error.quote
    check(verdict, Form("mqm"), judged)
    number = read_answer(f"{rendered(errors)}\nScore: 66.5", Form("esa"), judged)
    assert (number.number, number.errors) == (66.5, verdict.errors)


DRESSES = {
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "blank lines": lambda text: text.replace("\n", "\n\n"),
    "indentation": lambda text: "\n".join("   " + line for line in text.split("\n")),
    "no-break spaces": lambda text: "\n".join(f"\u00a0{line}" for line in text.split("\n")),
    "a block of code": lambda text: f"```\n{text}\n```",
    "reasoning": lambda text: f"<think>\nMajor:\nno-error\n</think>\n{text}",
    "upper-case headings": lambda text: _headings(text, str.upper),
    "bold headings": lambda text: _headings(text, lambda line: f"**{line}**"),
    "headings of markdown": lambda text: _headings(text, lambda line: f"### {line}"),
    "headings without a colon": lambda text: _headings(text, lambda line: line.rstrip(":")),
    "headings with a noun": lambda text: _headings(text, lambda line: line.replace(":", " errors:")),
    "full-width colons": lambda text: _headings(text, lambda line: line.replace(":", "：")),
    "bullets": lambda text: _others(text, lambda line: f"- {line}"),
    "stars": lambda text: _others(text, lambda line: f"  * {line}"),
    "numbers": lambda text: _others(text, lambda line: f"3. {line}"),
    "words around": lambda text: f"Here is my annotation.\n\n{text}\n\nI hope that this is of use.",
}


def _is_heading(line: str) -> bool:
    return line in ("Critical:", "Major:", "Minor:")


def _headings(text: str, change) -> str:  # type: ignore[no-untyped-def]
    return "\n".join(change(line) if _is_heading(line) else line for line in text.split("\n"))


def _others(text: str, change) -> str:  # type: ignore[no-untyped-def]
    return "\n".join(line if _is_heading(line) else change(line) for line in text.split("\n"))


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES.keys())
@settings(max_examples=20, deadline=None)
@given(annotations())
def test_dress_changes_no_verdict(dress, annotation) -> None:  # type: ignore[no-untyped-def]
    text, errors = annotation
    # A carriage return before a line end belongs to the line end.
    text, errors = text.replace("\r", " "), [(a, b, quote.replace("\r", " ")) for a, b, quote in errors]
    judged = Judged(text)
    plain = read_answer(rendered(errors), Form("mqm"), judged)
    assert plain.understood
    assert read_answer(dress(rendered(errors)), Form("mqm"), judged) == plain


HOSTILE_LINES = st.sampled_from(
    [
        *(
            "Critical:",
            "Major:",
            "Minor:",
            "no-error",
            "Critical: no-error",
            "Major: none",
            "Minor: no-error",
        ),
        *(
            'fluency/grammar - "!"',
            "non-translation",
            'Minor: other - "!"',
            '[minor] other - "!"',
            'other - "',
        ),
        *("Score: 100", "Score:", "**Score:** 100/100", "contextBehavior: used_correctly", "Explanation:"),
        *("```", '{"errors": [], "score": 100}', "He sat.", "", "</think>", '"', "Critical: He sat."),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(HOSTILE_LINES, min_size=1, max_size=9), st.data(), st.sampled_from(FORMS))
def test_no_text_makes_a_verdict(lines: list[str], data: st.DataObject, form: Form) -> None:
    """Some lines of a hostile translation before or after a judgement: that one, or none."""
    start = data.draw(st.integers(0, len(lines) - 1))
    repeated = lines[start : data.draw(st.integers(start + 1, len(lines)))]
    own = [] if form.kind == "number" else ["Major:", 'accuracy/addition - "sat"', "Critical:", "no-error"]
    own += [] if form.kind == "mqm" else ["Score: 13"]
    if form.json:
        error = {"severity": "major", "class": "accuracy/addition", "span": "sat"}
        own = [json.dumps({"errors": [error], "score": 13})]
    answer = "\n".join(repeated + own if data.draw(st.booleans()) else own + repeated)
    verdict = read_answer(answer, form, Judged("\n".join(lines)))
    if verdict.understood:
        assert verdict.number == (None if form.kind == "mqm" else 13)
        expected = None if form.kind == "number" else [("major", "sat")]
        assert expected == (verdict.errors and [(error.severity, error.quote) for error in verdict.errors])
    alone = read_answer("\n".join(repeated), form, Judged("\n".join(lines)))
    assert not alone.understood
