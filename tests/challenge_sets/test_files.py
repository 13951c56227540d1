from pathlib import Path

import pytest

from challenge_sets import DataReport, InputError
from challenge_sets.files import atomic_file, parse_json, read_jsonl, read_lines


def lines(path: Path, content: bytes) -> tuple[list[str], dict[str, int]]:
    path.write_bytes(content)
    report = DataReport()
    return list(read_lines(path, report)), dict(report.counts)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\n\nb\n", ["", "", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        ("a\u2028b\u0085c\x0cd\u2029e\x1cf\n".encode(), ["a\u2028b\u0085c\x0cd\u2029e\x1cf"]),
        (b"None\nNA\n", ["None", "NA"]),
        ("a\u0308\n".encode(), ["ä"]),
    ],
)
def test_only_newline_ends_a_line(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    assert lines(tmp_path / "f.txt", content)[0] == expected


def test_what_was_changed_is_reported(tmp_path: Path) -> None:
    content = "\ufeffa\r\nb\rc\na\u0308\nx\u2028y\n".encode()
    _, counts = lines(tmp_path / "f.txt", content)
    assert counts == {
        "byte-order mark dropped": 1,
        "carriage return before a line end dropped": 1,
        "carriage return kept inside a text": 1,
        "text normalised to NFC": 1,
        "line or form separator kept inside a text": 1,
    }


def test_bytes_that_are_not_utf8_name_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"good\nb\xe4d\n")
    with pytest.raises(InputError, match=r"f\.txt:2: not UTF-8"):
        list(read_lines(tmp_path / "f.txt", DataReport()))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"a": 1}\n{"a": \n', ":2: broken JSON"),
        ("[1]\n", ":1: a line of this file must be a JSON object"),
        ('{"a": NaN}\n', ":1: broken JSON: NaN is not JSON"),
        ("[" * 100_000, ":1: JSON nested too deeply"),
    ],
)
def test_broken_jsonl(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_jsonl(path, DataReport()))
    assert problem in str(caught.value)


def test_lone_surrogate_is_refused() -> None:
    text = parse_json('"\\ud800"', path="f")
    with pytest.raises(InputError, match="lone surrogate"):
        DataReport().text(text, path="f")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "f.txt"
    with atomic_file(path) as stream:
        stream.write("one")
    with pytest.raises(RuntimeError), atomic_file(path) as stream:
        stream.write("two")
        raise RuntimeError
    assert path.read_text() == "one"
    assert [p.name for p in path.parent.iterdir()] == ["f.txt"]


def test_a_missing_file_and_a_file_in_the_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_lines(tmp_path / "none", DataReport()))
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="a file stands where a directory is needed"),
        atomic_file(tmp_path / "file" / "x"),
    ):
        pass
