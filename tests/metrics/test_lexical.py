"""BLEU, chrF, chrF++ and TER against sacrebleu's own functions, and what they cannot see."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from challenge_sets import InputError, MissingExtraError
from metrics import METRICS, Request, Settings
from metrics import lexical as lexical_module
from metrics.lexical import tokenizer_for
from metrics.ngrams import ReferenceGrams

Texts = list[tuple[str, str]]  # hypothesis, reference


def sacrebleu_score(name: str, target_lang: str) -> Callable[[str, list[str]], float]:
    tokenize = tokenizer_for(target_lang)
    by_character = tokenize in ("zh", "ja-mecab")
    functions = {
        "bleu": partial(sacrebleu.sentence_bleu, tokenize=tokenize, use_effective_order=True),
        "chrf": sacrebleu.sentence_chrf,
        "chrf++": partial(sacrebleu.sentence_chrf, word_order=2),
        "ter": partial(sacrebleu.sentence_ter, normalized=by_character, asian_support=by_character),
    }
    return lambda hypothesis, references: functions[name](hypothesis, references).score


def demetr(data: Path) -> Texts:
    texts = []
    for path in sorted((data / "demetr").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))[:100]:
            texts += [(row["mt_sent"], row["eng_sent"]), (row["pert_sent"], row["eng_sent"])]
    return sorted(texts, key=lambda text: text[1])


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def wmt23(data: Path) -> Texts:
    folder = data / "wmt23"
    references = lines(next((folder / "references").glob("*refA*")))
    systems = sorted((folder / "system-outputs").rglob("*.txt"))[:3]
    return [text for path in systems for text in zip(lines(path), references, strict=True)]


def wmt24_ja(data: Path) -> Texts:
    folder = data / "wmt24_en-ja"
    references = lines(folder / "references" / "en-ja.refA.txt")
    hypotheses = lines(folder / "system-outputs" / "en-ja" / "Aya23.txt")
    return list(zip(hypotheses, references, strict=True))[:250]


def korean(data: Path) -> Texts:
    items = json.loads((data / "korean_context" / "dataset" / "runtime.json").read_text(encoding="utf-8"))
    turns = [turn["sourceText"] for item in items for turn in item["contextTurns"]]
    return list(pairwise(turns))[:250]


def chinese(data: Path) -> Texts:
    with (data / "classical_chinese" / "passages.csv").open(encoding="utf-8", newline="") as stream:
        passages = [row["ChineseText"][:120] for row in csv.DictReader(stream)][:250]
    return list(pairwise(passages))


@pytest.mark.data
@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
@pytest.mark.parametrize(
    ("target_lang", "read", "most"),
    [
        ("en", demetr, 2000),
        ("de", wmt23, 300),
        ("ja", wmt24_ja, 250),
        ("ko", korean, 250),
        ("zh-Hans", chinese, 240),
        ("lzh", chinese, 240),
    ],
)
def test_equal_to_sacrebleu_on_real_texts(
    data: Path, name: str, target_lang: str, read: Callable[[Path], Texts], most: int
) -> None:
    texts = read(data)
    if name == "ter":
        # Its time grows with the cube of the length, and what it does is sacrebleu's own code.
        texts = sorted(texts, key=lambda text: len(text[0]) + len(text[1]))
    texts = texts[: 200 if name == "ter" else most]
    assert len(texts) >= 200
    metric = METRICS[name](Settings(target_lang))
    expected = sacrebleu_score(name, target_lang)
    answers = metric.score([Request(hypothesis, reference=reference) for hypothesis, reference in texts])
    for (hypothesis, reference), answer in zip(texts, answers, strict=True):
        assert answer.status == "ok"
        assert answer.raw == pytest.approx(expected(hypothesis, [reference]), abs=1e-9)
    assert len({answer.raw for answer in answers}) > 5


# Few letters make repeated n-grams; punctuation, digits and every kind of space try the tokenizers.
awkward = st.text(
    alphabet=st.sampled_from(
        [*"aab1-.,;:'\"&<>()[]{}~`@/+*|_%$", "é", "中", "あ", " ", " ", "\u00a0", "\u3000", "\t", "\u2028"]
    ),
    max_size=40,
) | st.sampled_from(["", "<skipped>", "a -<skipped>b", "x&quot;y &amp;lt; z", "a-\nb .5", "None", "12,5.-3-"])


@given(st.lists(awkward, min_size=1, max_size=6), awkward, st.sampled_from(["bleu", "chrf", "chrf++", "ter"]))
def test_equal_to_sacrebleu_on_awkward_texts(hypotheses: list[str], reference: str, name: str) -> None:
    answers = METRICS[name](Settings("en")).score([Request(text, reference=reference) for text in hypotheses])
    expected = sacrebleu_score(name, "en")
    for text, answer in zip(hypotheses, answers, strict=True):
        assert answer.raw == pytest.approx(expected(text, [reference]), abs=1e-9)


@given(awkward)
def test_bleu_tokens_are_those_of_the_whole_text(text: str) -> None:
    tokens = METRICS["bleu"](Settings("en"))._tokens(text)  # type: ignore[attr-defined]
    assert tokens == BLEU(tokenize="13a")._preprocess_segment(text).split()


@given(st.text("ab ", max_size=30), st.lists(st.text("abc ", max_size=30), max_size=8))
def test_matches_do_not_depend_on_what_was_matched_before(reference: str, texts: list[str]) -> None:
    known = ReferenceGrams(reference, 6)
    for text in [*texts, *(text[:4] + "b" + text[5:] for text in texts)]:
        assert known.match(text) == ReferenceGrams(reference, 6).match(text)


def lexical_cases(cases: Path) -> Iterator[dict[str, str]]:
    for line in lines(cases / "lexical" / "pairs.jsonl"):
        yield json.loads(line)


def test_chinese_in_every_spelling_takes_the_chinese_tokenizer(cases: Path) -> None:
    seen = 0
    for case in lexical_cases(cases):
        if "zh tokenizer" not in case["right"]:
            continue
        bleu = METRICS["bleu"](Settings(case["target_lang"]))
        (answer,) = bleu.score([Request(case["hypothesis"], reference=case["reference"])])
        assert "|tok:zh|" in bleu.signature()
        assert answer.raw is not None and answer.raw > 20
        plain = sacrebleu.sentence_bleu(case["hypothesis"], [case["reference"]], tokenize="13a")
        assert plain.score == 0
        seen += 1
    assert seen == 5


def test_effective_order_gives_a_short_equal_text_all_of_bleu(cases: Path) -> None:
    (case,) = [case for case in lexical_cases(cases) if "effective order" in case["right"]]
    bleu = METRICS["bleu"](Settings(case["target_lang"]))
    (answer,) = bleu.score([Request(case["hypothesis"], reference=case["reference"])])
    assert answer.raw == pytest.approx(100.0)


def test_chrf_sees_no_spacing(cases: Path) -> None:
    spacing = [case for case in lexical_cases(cases) if "spacing" in case["right"]]
    assert len(spacing) == 2
    for case in spacing:
        chrf = METRICS["chrf"](Settings(case["target_lang"]))
        edited = Request(case["hypothesis"], reference=case["reference"])
        whole = Request(case["reference"], reference=case["reference"])
        assert [answer.raw for answer in chrf.score([edited, whole])] == [100.0, 100.0]
        assert chrf.view(edited) == chrf.view(whole)


@pytest.mark.parametrize(
    ("name", "one", "other", "same"),
    [
        ("bleu", "The end .", "The end.", True),
        ("bleu", "the end", "The end", False),
        ("bleu", "The  end", "The end", True),
        ("chrf", "not able", "notable", True),
        ("chrf", "not able", "not Able", False),
        ("chrf++", "not able", "notable", False),
        ("chrf++", "The end .", "The end.", True),
        ("ter", "The End", "the end", True),
        ("ter", "The end .", "The end.", False),
        ("length", "abc", "xyz", False),
        ("length", "abc", "abcd", False),
        ("random", "abc", "abd", False),
        ("source-copy", "a b", "ab", True),
    ],
)
def test_what_a_metric_looks_at(name: str, one: str, other: str, same: bool) -> None:
    metric = METRICS[name](Settings("en"))
    first, second = (Request(text, source="Quelle ab", reference="The able end.") for text in (one, other))
    assert (metric.view(first) == metric.view(second)) is same
    if same:
        first_answer, second_answer = metric.score([first, second])
        assert first_answer == second_answer


@pytest.mark.parametrize(
    ("tag", "tokenizer"),
    [
        ("zh-Hans", "zh"),
        ("zh-Hant", "zh"),
        ("lzh", "zh"),
        ("ja", "ja-mecab"),
        ("ko", "ko-mecab"),
        ("th", "13a"),
        ("en-GB", "13a"),
    ],
)
def test_tokenizer_of_a_language(tag: str, tokenizer: str) -> None:
    assert tokenizer_for(tag) == tokenizer
    assert f"|tok:{tokenizer}" in METRICS["bleu"](Settings(tag)).signature()


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_missing_tokenizer_names_the_extra(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical_module, "extra_available", lambda extra: False)
    with pytest.raises(MissingExtraError, match=rf'pip install "mt-blindspots\[{language}\]"'):
        METRICS["bleu"](Settings(language))
    METRICS["chrf"](Settings(language))


def test_signatures_hold_sacrebleus_own_and_the_kind_of_reference() -> None:
    bleu = BLEU(effective_order=True)
    bleu.num_refs = 1
    given_reference = METRICS["bleu"](Settings("en")).signature()
    assert given_reference == f"bleu|lang:en|ref:given|{bleu.get_signature().format()}"
    pseudo = METRICS["bleu"](Settings("en", "a|b:c")).signature()
    assert "|ref:pseudo=a%7Cb:c|" in pseudo
    names = [name for name in METRICS if METRICS[name].model_card() is None and not METRICS[name].remote]
    signatures = {METRICS[name](Settings("en")).signature() for name in names}
    assert len(signatures) == len(names) >= 7


def test_a_text_is_never_missing_and_a_missing_reference_is() -> None:
    bleu = METRICS["bleu"](Settings("en"))
    texts = ["None", "NA", "null", "", "x"]
    answers = bleu.score([Request(text, reference="None") for text in texts])
    assert [answer.status for answer in answers] == ["ok"] * 5
    assert [answer.raw for answer in answers[:2]] == [pytest.approx(100.0), 0.0]
    (answer,) = bleu.score([Request("x", reference=None)])
    assert (answer.status, answer.raw) == ("not_applicable", None)


def test_higher_is_better_after_orientation() -> None:
    ter = METRICS["ter"](Settings("en"))
    perfect, worse = ter.score([Request("a b c", reference="a b c"), Request("a b", reference="a b c")])
    assert (perfect.raw, worse.raw) == (0.0, pytest.approx(100 / 3))
    assert perfect.raw is not None and worse.raw is not None
    assert str(ter.oriented(perfect.raw)) == "0.0"
    assert ter.oriented(perfect.raw) > ter.oriented(worse.raw)


def test_sentinels() -> None:
    requests = [Request(text, source="Haus 12") for text in ("Haus 12", "house 12", "")]
    scores = {
        name: [answer.raw for answer in METRICS[name](Settings("en")).score(requests)]
        for name in ("length", "random", "source-copy")
    }
    assert scores["length"] == [7.0, 8.0, 0.0]
    assert scores["random"] == [answer.raw for answer in METRICS["random"](Settings("de")).score(requests)]
    assert all(raw is not None and 0 <= raw < 1 for raw in scores["random"])
    assert len(set(scores["random"])) == 3
    expected = [sacrebleu.sentence_chrf(each.hypothesis, [each.source]).score for each in requests]
    assert scores["source-copy"] == pytest.approx(expected, abs=1e-9)
    assert {name for name in METRICS if METRICS[name].sentinel} == set(scores)


def test_random_is_uniform() -> None:
    answers = METRICS["random"](Settings("en")).score([Request(str(number)) for number in range(4000)])
    numbers = [answer.raw for answer in answers if answer.raw is not None]
    # The mean of 4,000 uniform numbers has a standard error of 0.0046.
    assert sum(numbers) / len(numbers) == pytest.approx(0.5, abs=0.02)
    assert sum(number < 0.1 for number in numbers) / len(numbers) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    ("target_lang", "text", "words"),
    [
        ("zh-Hans", "他有3个孩子。", "他 有 3 个 孩 子 。"),
        ("ja", "本を買った。", "本 を 買 った 。"),
        ("ja", "これはペンです。", "これはペンです 。"),
        ("ko", "책을 샀다.", "책을 샀다."),
        ("de", "Das Haus.", "das haus."),
    ],
)
def test_words_that_ter_counts(target_lang: str, text: str, words: str) -> None:
    assert METRICS["ter"](Settings(target_lang)).view(Request(text)) == words


def test_registered_names_are_the_classes_names() -> None:
    assert [METRICS[name].name for name in METRICS] == list(METRICS)
    with pytest.raises(InputError, match="did you mean 'chrf'"):
        METRICS["chrff"]
