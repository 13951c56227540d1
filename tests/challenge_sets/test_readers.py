"""Every reader on real data and on inputs that broke other tools."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from challenge_sets import DataReport, InputError, Translation
from challenge_sets.readers import READERS, ReadOptions


def read(format: str, **options: Any) -> tuple[list[Translation], DataReport]:
    report = DataReport()
    return list(READERS[format](ReadOptions(**options)).translations(report)), report


def text(folder: Path, ref: bool = True, **more: Any) -> tuple[list[Translation], DataReport]:
    return read(
        "text",
        source_file=folder / "src.txt",
        hypotheses={"a": folder / "hyp.txt"},
        reference_file=folder / "ref.txt" if ref else None,
        source_lang="en",
        target_lang="de",
        **more,
    )


@pytest.mark.data
class TestSharedCases:
    def test_unequal_lines(self, cases: Path) -> None:
        with pytest.raises(InputError) as caught:
            text(cases / "unequal_lines")
        message = str(caught.value)
        assert "src.txt: 3 lines" in message
        assert "hyp.txt: 2 lines" in message
        assert "ref.txt: 3 lines" in message

    def test_line_separators(self, cases: Path) -> None:
        translations, _ = text(cases / "line_separators", ref=False)
        assert [t.hypothesis for t in translations] == ["eins", "zwei", "drei", "vier"]
        assert translations[0].source == "one\u2028still one"
        assert translations[1].source == "two\u0085still two"
        assert translations[2].source == "three\x0cstill three"

    def test_carriage_returns(self, cases: Path) -> None:
        translations, report = text(cases / "carriage_returns")
        assert [(t.source, t.hypothesis, t.reference) for t in translations] == [
            ("a", "A", "A\rx"),
            ("b", "B", "B"),
        ]
        assert report.counts["carriage return kept inside a text"] == 1

    def test_normalisation(self, cases: Path) -> None:
        import sacrebleu

        folder = cases / "normalisation"
        translations, report = read(
            "text",
            source_file=folder / "ref.txt",
            hypotheses={"a": folder / "hyp.txt"},
            reference_file=folder / "ref.txt",
            source_lang="en",
            target_lang="de",
        )
        assert report.counts["text normalised to NFC"] == 2
        hypotheses = [t.hypothesis for t in translations]
        references = [[str(t.reference) for t in translations]]
        # Two words are too few for 4-grams; effective order is what sentence BLEU uses.
        for hypothesis, reference in zip(hypotheses, references[0], strict=True):
            bleu = sacrebleu.sentence_bleu(hypothesis, [reference], use_effective_order=True)
            assert bleu.score == pytest.approx(100)
        assert sacrebleu.corpus_chrf(hypotheses, references).score == pytest.approx(100)

    def test_not_missing(self, cases: Path) -> None:
        translations, _ = read(
            "tsv",
            input=cases / "not_missing" / "rows.tsv",
            columns={"source": "src", "hypothesis": "mt"},
            source_lang="en",
            target_lang="de",
        )
        assert [(t.source, t.hypothesis) for t in translations] == [
            ("None", "NA"),
            ("n/a", "null"),
            ('"Hi', "there"),
            ("x", "y"),
            ('last"', "z"),
        ]


@pytest.mark.data
class TestRealData:
    def test_wmt23(self, data: Path) -> None:
        translations, report = read("mtme", input=data / "wmt23", source_lang="en", target_lang="de")
        assert len(translations) == 557 * 14
        assert Counter(t.domain for t in translations if t.system == "refA") == {
            "social": 212,
            "news": 139,
            "speech": 113,
            "user_review": 93,
        }
        assert len({t.doc for t in translations}) == 192
        assert report.counts["byte-order mark dropped"] == 1
        first = next(t for t in translations if t.system == "AIRC")
        assert not first.hypothesis.startswith("\ufeff")
        assert (translations[273 * 14].source, translations[277 * 14].source) == ("No idea.", "No idea.")
        reader = READERS["mtme"](ReadOptions(input=data / "wmt23"))
        under_test = reader.systems_under_test()
        assert under_test is not None
        assert len(under_test) == 12
        assert not {"refA", "synthetic_ref"} & set(under_test)

    def test_another_reference_can_be_chosen(self, data: Path) -> None:
        translations, _ = read("mtme", input=data / "wmt23", reference="synthetic_ref")
        by_key = {(t.item, t.system): t for t in translations}
        assert by_key["en-de/5", "AIRC"].reference == by_key["en-de/5", "synthetic_ref"].hypothesis
        with pytest.raises(InputError, match="known: refA, synthetic_ref"):
            read("mtme", input=data / "wmt23", reference="refB")

    def test_wmt24(self, data: Path) -> None:
        translations, _ = read("mtme", input=data / "wmt24_en-ja")
        by_key = {(t.item, t.system): t for t in translations}
        assert len(translations) == 337 * 13
        assert by_key["en-ja/176", "Aya23"].hypothesis == ""
        assert "\t" in by_key["en-ja/328", "Aya23"].source

    @pytest.mark.parametrize(
        ("target_lang", "rows"), [("en", 428), ("ja", 428), ("zh-Hans", 428), (None, 1284)]
    )
    def test_korean_context(self, data: Path, target_lang: str | None, rows: int) -> None:
        translations, report = read("korean-context", input=data / "korean_context", target_lang=target_lang)
        assert len(translations) == rows
        assert report.counts["cell that was never translated"] == rows // 107
        assert all(len(t.context) == t.meta["contextTurnCount"] for t in translations)
        reader = READERS["korean-context"](ReadOptions(input=data / "korean_context"))
        assert reader.systems_under_test() == ("gemma4-e4b-qat-q4-ablation-b",)

    def test_demetr(self, data: Path) -> None:
        reader = READERS["demetr"](ReadOptions(input=data / "demetr"))
        report = DataReport()
        pairs = list(reader.pairs(report))
        assert Counter(pair.category for pair in pairs) == {
            "critical_id9_ne_replaced": 684,
            "critical_id11_gender": 113,
            "critical_id20_shuffled": 1000,
            "critical_id23_noun_removed": 973,
            "critical_id24_subj_removed": 979,
            "major_id17_tense": 988,
            "minor_id28_final_punc_removed": 1000,
            "minor_id31_full_lower": 1000,
            "base_id33_shuffle_trans": 1000,
            "base_id35_reference": 1000,
        }
        assert {pair.category for pair in pairs if pair.kind == "control"} == {
            "base_id33_shuffle_trans",
            "base_id35_reference",
        }
        assert sum(pair.original == pair.perturbed for pair in pairs) == 6
        translations = {t.item: t for t in reader.translations(DataReport())}
        assert len(translations) == 1000
        assert sum(t.source.endswith("\xa0") for t in translations.values()) == 3
        # Joined on id: this file is in another order.
        assert all(translations[p.item].hypothesis == p.original for p in pairs)

    def test_classical_chinese_through_the_column_map(self, data: Path) -> None:
        translations, _ = read(
            "csv",
            input=data / "classical_chinese" / "passages.csv",
            columns={"source": "ChineseText", "hypothesis": "EnglishText", "domain": "Book English"},
            source_lang="lzh",
            target_lang="en",
        )
        assert len(translations) == 591
        assert translations[0].item == "lzh-en/1"
        assert sum(t.meta["original_translation"] == "True" for t in translations) == 65
        assert "Book period" in translations[0].meta
        assert translations[0].domain == "Chun Qiu Zuo Zhuan"


def test_the_bundled_set_holds_what_it_promises() -> None:
    path = Path(__file__).parents[2] / "challenge_sets" / "data" / "translations.jsonl"
    translations, report = read("jsonl", input=path)
    items = {t.item: t for t in translations}
    assert report.to_json() == {}
    assert len(items) >= 60
    assert Counter(t.system for t in translations) == dict.fromkeys(
        ("alder", "birch", "cedar", "dogwood"), len(items)
    )
    assert {(t.source_lang, t.target_lang) for t in translations} == {
        ("lzh", "en"),
        ("ko", "en"),
        ("en", "de"),
        ("en", "ko"),
    }
    assert all(t.reference for t in translations)
    segments = Counter(t.doc for t in items.values())
    assert all(3 <= count <= 8 for count in segments.values())
    assert all(t.context for t in items.values() if t.source_lang == "ko")
    assert {t.meta["speech_level"] for t in items.values() if t.target_lang == "ko"} == {
        "formal",
        "polite",
        "plain",
    }
    assert all(t.meta["period"] for t in items.values() if t.source_lang == "lzh")


HEADER = "source\thypothesis\n"
BAD = "not a valid record: "


@pytest.mark.parametrize(
    ("format", "content", "options", "problem"),
    [
        ("tsv", "a\tb\n1\t2\n", {}, ":1: no column 'source', 'hypothesis'"),
        ("tsv", HEADER + "1\t2\t3\n", {}, ":2: 3 fields, the header has 2"),
        ("tsv", HEADER + "1\t2\n", {"columns": {"sauce": "a"}}, "no field sauce"),
        ("tsv", HEADER, {}, "the table has no rows"),
        ("tsv", "", {}, ":1: the first line must name the columns"),
        ("tsv", "source\tsource\n", {}, ":1: the first line must name the columns, each once"),
        ("tsv", "system\tsource\thypothesis\ns\t1\t2\nt\t1\t2\n", {}, ":3: several systems need an item"),
        (
            "tsv",
            "item\tsource\thypothesis\ni\t1\t2\ni\t1\t3\n",
            {},
            "item 'i' of system 'system' occurs twice",
        ),
        (
            "tsv",
            "item\tsystem\tsource\thypothesis\ni\ta\t1\t2\ni\tb\tother\t2\n",
            {},
            "item 'i' has another source or language pair",
        ),
        ("jsonl", '{"source": "a", "hypothesis": "b", "x": 1e999}\n', {}, "no number that JSON can hold"),
        ("jsonl", '{"source": "a", "hypothesis": "b", "\\ud800": 1}\n', {}, "lone surrogate"),
        ("tsv", "item\tsource\thypothesis\n\t1\t2\n", {}, f":2: {BAD}'item' is empty"),
        (
            "tsv",
            "doc\tsource\thypothesis\nd\t1\t2\ne\t1\t3\nd\t1\t4\n",
            {},
            "document 'd' are not contiguous",
        ),
        (
            "tsv",
            "source_lang\tsource\thypothesis\nxx\t1\t2\n",
            {},
            f":2: {BAD}unknown language 'xx'",
        ),
        (
            "tsv",
            HEADER + "1\t2\n",
            {"target_lang": None},
            f":2: {BAD}the languages are not known",
        ),
        ("csv", 'source,hypothesis\n"a,b\n', {}, "broken CSV"),
        (
            "jsonl",
            '{"source": "a", "hypothesis": 3}\n',
            {},
            f":1: {BAD}'hypothesis' is not a string",
        ),
        ("jsonl", '{"source": "a", "hypothesis": "b", "position": "x"}\n', {}, ":1: "),
        (
            "jsonl",
            '{"source": "a", "hypothesis": "b", "context": [{"text": "x"}]}\n',
            {},
            "'speaker' is missing",
        ),
        (
            "jsonl",
            '{"source": "a", "hypothesis": "b", "context": ["x"]}\n',
            {},
            f":1: {BAD}'context'",
        ),
        ("jsonl", "{}\n", {}, "no column 'source', 'hypothesis'"),
        ("jsonl", "{}\n", {"documents_file": Path("x")}, "the format jsonl has no use for --docs"),
        ("tsv", HEADER, {"reference": "refA"}, "the format tsv has no use for --reference"),
    ],
)
def test_tables_that_are_refused(
    tmp_path: Path, format: str, content: str, options: dict[str, Any], problem: str
) -> None:
    path = tmp_path / f"rows.{format}"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(format, **({"input": path, "source_lang": "en", "target_lang": "de"} | options))
    assert problem in str(caught.value)


def test_csv_keeps_line_ends_inside_quotes_and_counts_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes('source,hypothesis,note\r\n"a\nb","x ""y""",1\r\n\r\nc,\u2028d,2\r\n'.encode())
    translations, _ = read("csv", input=path, source_lang="en", target_lang="de")
    assert [(t.source, t.hypothesis) for t in translations] == [("a\nb", 'x "y"'), ("c", "\u2028d")]
    assert [t.meta for t in translations] == [{"note": "1"}, {"note": "2"}]


def test_the_options_select_rows_where_the_table_names_languages(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("source_lang\ttarget_lang\tsource\thypothesis\neng\tde\ta\tb\nen\tzh_CN\tc\td\n")
    translations, _ = read("tsv", input=path, target_lang="zh-Hans")
    assert [(t.target_lang, t.source) for t in translations] == [("zh-Hans", "c")]


def test_escapes_in_jsonl_are_normalised(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"source": "a", "hypothesis": "a\\u0308", "x": {"y": ["o\\u0308"]}}\n')
    translations, report = read("jsonl", input=path, source_lang="en", target_lang="de")
    assert translations[0].hypothesis == "ä"
    assert translations[0].meta == {"x": {"y": ["ö"]}}
    assert report.counts["text normalised to NFC"] == 2


def test_documents_and_positions_of_plain_text(tmp_path: Path) -> None:
    for name, content in {
        "src.txt": "a\nb\nc\n",
        "hyp.txt": "A\n\nC\n",
        "ref.txt": "x\ny\nz\n",
        "docs.txt": "news\td1\nnews\td1\nd2\n",
    }.items():
        (tmp_path / name).write_text(content)
    translations, _ = text(tmp_path, documents_file=tmp_path / "docs.txt")
    assert [(t.item, t.doc, t.position, t.domain, t.hypothesis) for t in translations] == [
        ("en-de/1", "d1", 0, "news", "A"),
        ("en-de/2", "d1", 1, "news", ""),
        ("en-de/3", "d2", 0, None, "C"),
    ]


@pytest.mark.parametrize(
    ("format", "problem"),
    [("mtme", "no such language pair"), ("korean-context", "no such file"), ("demetr", "no JSON file")],
)
def test_a_folder_that_is_no_benchmark(tmp_path: Path, format: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(format, input=tmp_path)
    with pytest.raises(InputError, match="no such file or directory"):
        read(format, input=tmp_path / "absent")
    with pytest.raises(InputError, match="needs --input"):
        read(format)


DEMETR_ROW = {
    "id": 1,
    "src_sent": "eins",
    "eng_sent": "one",
    "mt_sent": "one thing",
    "pert_sent": "two thing",
    "lang_tag": "german",
    "pert_check": True,
    "severity": "major",
    "pert_id": 1,
    "pert_name": "made_up",
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mt_sent": None}, "a text is expected where None stands"),
        ({"severity": "fatal"}, "severity is 'fatal'"),
        ({"id": [1]}, "unhashable"),
        ({"pert_name": ""}, "category must not be empty"),
        ({"lang_tag": "no-such-tongue"}, "unknown language 'no-such-tongue'"),
    ],
)
def test_broken_demetr_names_the_element(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    path = tmp_path / "made_up.json"
    path.write_text(json.dumps([DEMETR_ROW, DEMETR_ROW | {"id": 2} | change]))
    reader = READERS["demetr"](ReadOptions(input=path))
    with pytest.raises(InputError, match="element 2: not a valid record") as caught:
        list(reader.pairs(DataReport()))
    assert problem in str(caught.value)
    path.write_text(
        json.dumps([DEMETR_ROW, {key: DEMETR_ROW[key] for key in DEMETR_ROW if key != "eng_sent"}])
    )
    with pytest.raises(InputError, match="element 2: not a valid record: no field"):
        list(reader.pairs(DataReport()))
    with pytest.raises(InputError, match="into English only"):
        READERS["demetr"](ReadOptions(input=path, target_lang="de"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"translation": None}, f":1: {BAD}a text is expected where None stands"),
        ({"source_id": "unknown"}, f":1: {BAD}no field 'unknown'"),
        ({"source": "other"}, ":1: the source differs"),
        ({"target_language": "xx"}, f":1: {BAD}unknown language"),
    ],
)
def test_broken_korean_rows_name_the_line(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    turn = {"speakerRole": "self", "relativeTimeLabel": None, "sourceText": "안녕"}
    sample = {"sampleId": "s1", "contextTurns": [turn], "currentSource": turn, "contextTurnCount": 1}
    sample |= {"speakerMode": "single", "contextExpectation": "use", "primaryPhenomenon": "x"}
    sample |= {"secondaryPhenomena": []}
    row = {"source_id": "s1", "source": "안녕", "source_lang": "Korean", "target_language": "en"}
    row |= {"participant_id": "p-ablation-b", "translation": "hi"}
    for name, content in {
        "dataset/runtime.json": json.dumps([sample]),
        "ablation/translations.jsonl": json.dumps(row | change),
        "ablation/translation-failures.jsonl": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        read("korean-context", input=tmp_path)
    assert problem in str(caught.value)
