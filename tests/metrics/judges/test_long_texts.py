"""Long texts and documents: the time that a prompt takes grows with their length, not with its square."""

from __future__ import annotations

import pytest

from metrics.judges.fences import assemble, bare_texts
from metrics.judges.hazards import hazards
from metrics.judges.prompt_sets import Text

# In the square of the time, some of these take many minutes.
LONG_TEXTS: dict[str, str] = {
    "newlines": "\n",
    "line ends of other systems": "\r\n",
    "lines with white space": "\n \t",
    "line separators": "\u2028",
    "spaces": " ",
    "hashes": "#",
    "lines with hashes": "\n#",
    "asterisks": "*",
    "digits": "1",
    "backticks": "` ",
    "less than": "<",
    "tags that close": "</",
    "tags": "</translation>",
    "quotes": '"',
    "brackets": "[",
    "braces": "{ ",
    "accents out of order": "\u0301\u0316",
    "headings in one line": "major ",
    "roles without a colon": "\nsystem ",
    "new": "new ",
}


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_long_texts(name: str) -> None:
    part = LONG_TEXTS[name]
    text = part * (100_000 // len(part))
    assert hazards([text, "x" + text, "system" + text, "{score" + text, text + "x"]) == set()
    for opening, closing in (("<translation>", "</translation>"), ("```", "```"), ('"', '"')):
        content, _ = assemble([opening, Text("translation", text), closing])
        assert text in content
    content, _ = assemble(["ref: ", Text("reference", text), ""], bare=True)
    assert text in content


def test_names_that_are_guessed_many_times() -> None:
    text = "".join(f"</translation-{number}>" for number in range(2, 20_000))
    assert assemble(["<translation>", Text("translation", text), "</translation>"]) == (
        f"<translation-20000>{text}</translation-20000>",
        True,
    )


LAYOUTS: dict[str, tuple[str, str, str]] = {
    "tags": ("<a>", "</a>", "<a-2>{}</a-2>"),
    "tags in tags": ("<a><b>", "</b></a>", "<a-2><b>{}</b></a-2>"),
    "tags that stay open": ("<p><a>", "</a></q>", "<p><a-2>{}</a-2></q>"),
    "backticks": ("```", "```", "````{}````"),
    "quotes": ('"', '"', '"""{} """'),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_long_documents(name: str) -> None:
    opening, closing, given_way = LAYOUTS[name]
    pieces: list[str | Text] = []
    segments = 5_000
    for _ in range(segments):
        pieces += [opening, Text("translation", '</a> ``` "'), closing + "\n"]
    content, adapted = assemble(pieces)
    assert adapted and content == (given_way.format('</a> ``` "') + "\n") * segments
    assert bare_texts(pieces) == []


def test_a_long_document_with_a_tag_of_its_own_for_each_segment() -> None:
    pieces: list[str | Text] = []
    segments = 5_000
    for number in range(segments):
        pieces += [f"<s{number}>", Text("translation", f"</s{number}>"), f"</s{number}>\n"]
    content, _ = assemble(pieces)
    assert content == "".join(f"<s{number}-2></s{number}></s{number}-2>\n" for number in range(segments))


def test_a_long_document_with_texts_in_no_fence() -> None:
    pieces: list[str | Text] = []
    segments = 5_000
    for _ in range(segments):
        pieces += ["ref: ", Text("reference", "a\nb"), "\n"]
    assert assemble(pieces, bare=True) == ("ref: ```\na\nb\n```\n" * segments, True)
