"""The tiny checkpoints are what the other tests take them for."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Text = tuple[str, str, str]
Loader = Callable[[str], Any]

ENCODERS = ("xlm-roberta-large", "microsoft/infoxlm-large", "facebook/xlm-roberta-xl")
COMETS = {
    "Unbabel/wmt22-comet-da": "RegressionMetric",
    "Unbabel/wmt20-comet-qe-da": "ReferencelessRegression",
    "Unbabel/wmt22-cometkiwi-da": "UnifiedMetric",
    "Unbabel/wmt23-cometkiwi-da-xl": "UnifiedMetric",
    "Unbabel/XCOMET-XL": "XCOMETMetric",
}
METRICX = {
    "google/metricx-24-hybrid-large-v2p6": "google/mt5-large",
    "google/metricx-24-hybrid-xl-v2p6": "google/mt5-xl",
    "google/metricx-23-xl-v2p0": "google/mt5-xl",
    "google/metricx-23-qe-xl-v2p0": "google/mt5-xxl",
}


def encoder_tokenizer(repo: str) -> Any:
    from transformers import XLMRobertaTokenizerFast

    return XLMRobertaTokenizerFast.from_pretrained(repo, local_files_only=True)


def samples(texts: list[Text], *fields: str) -> list[dict[str, str]]:
    return [
        {name: text for name, text in zip(("mt", "src", "ref"), triple, strict=True) if name in fields}
        for triple in texts
    ]


def predict(model: Any, rows: list[dict[str, str]], batch_size: int = 16) -> Any:
    return model.predict(rows, batch_size=batch_size, gpus=0, progress_bar=False)


def test_hub_is_small_and_complete(hub: Path) -> None:
    assert Path(os.environ["HF_HOME"]) == hub
    commits = {ref: ref.read_text() for ref in hub.glob("hub/models--*/refs/main")}
    assert len(commits) == len(ENCODERS) + len(COMETS) + len(METRICX) + 3
    for ref, commit in commits.items():
        assert len(commit) == 40 and int(commit, 16)
        assert (ref.parents[1] / "snapshots" / commit).is_dir()
    assert sum(path.lstat().st_size for path in hub.rglob("*")) < 100e6


def test_a_second_hub_has_the_same_bytes(hub: Path, tmp_path: Path) -> None:
    again = sys.modules["tiny_checkpoints"].build_hub(tmp_path)
    names = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert len(names) > 40
    assert [name for name in names if (again / name).read_bytes() != (hub / name).read_bytes()] == []


def test_texts_hold_what_agreement_needs(texts: list[Text], overlong_text: str, hub: Path) -> None:
    assert len(texts) == 50
    assert len(set(texts)) < 50
    assert any(not hypothesis for hypothesis, _, _ in texts)
    assert any("😀" in hypothesis for hypothesis, _, _ in texts)
    assert any("   " in hypothesis.strip() for hypothesis, _, _ in texts)
    for repo in ENCODERS:
        tokenizer = encoder_tokenizer(repo)
        counts = [
            sum(map(len, tokenizer(list(text), add_special_tokens=False)["input_ids"])) for text in texts
        ]
        assert 180 < max(counts) <= 506
        assert len(tokenizer(overlong_text, verbose=False)["input_ids"]) > 1536


@pytest.mark.parametrize("repo", ENCODERS)
def test_encoder_tokenizer_is_like_xlmr(repo: str, hub: Path) -> None:
    tokenizer = encoder_tokenizer(repo)
    special = ("bos", "pad", "eos", "unk", "mask")
    assert [getattr(tokenizer, f"{name}_token") for name in special] == [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        "<mask>",
    ]
    assert [getattr(tokenizer, f"{name}_token_id") for name in special[:4]] == [0, 1, 2, 3]
    assert tokenizer.mask_token_id == len(tokenizer) - 1

    def ids(text: str) -> list[int]:
        return tokenizer(text)["input_ids"]

    assert ids("") == [0, 2]
    assert ids("the cat  \n") == ids("the cat") == ids("the   cat")
    assert ids("ｃａｔ…") == ids("cat...")
    # One unknown token for a run of unknown characters.
    assert tokenizer.convert_ids_to_tokens(ids("a 😀🎉 b")) == [
        "<s>",
        "▁",
        "a",
        "▁",
        "<unk>",
        "▁",
        "b",
        "</s>",
    ]
    assert 3 not in ids("Größe 100% 역이 어디예요? 会议九点 コーヒー")
    pair = tokenizer.build_inputs_with_special_tokens([7, 8], [9])
    assert pair == [0, 7, 8, 2, 2, 9, 2]


@pytest.mark.parametrize(("repo", "start"), [("xlm-roberta-large", 4), ("facebook/xlm-roberta-xl", 3)])
def test_offsets_leave_the_blank_out_or_take_it_in(repo: str, start: int, hub: Path) -> None:
    offsets = encoder_tokenizer(repo)("The cat", return_offsets_mapping=True)["offset_mapping"]
    assert offsets == [(0, 0), (0, 3), (start, 7), (0, 0)]


@pytest.mark.parametrize("repo", ENCODERS)
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("literal", ["<s>", "</s>", "<pad>", "<mask>"])
def test_special_tokens_in_a_text_stay_special(repo: str, split: bool, literal: str, hub: Path) -> None:
    # As with the real vocabulary, where special pieces have the best score of all: split_special_tokens
    # keeps the text away from the special tokens, but the Unigram model finds the same piece again.
    tokenizer = encoder_tokenizer(repo)
    for text in (f"a {literal} b", f"a{literal}b"):
        ids = tokenizer(text, add_special_tokens=False, split_special_tokens=split)["input_ids"]
        assert tokenizer.convert_tokens_to_ids(literal) in ids


@pytest.mark.parametrize(("repo", "kind"), COMETS.items())
def test_comet_scores_tell_texts_apart(repo: str, kind: str, load_comet: Loader, texts: list[Text]) -> None:
    model = load_comet(repo)
    assert type(model).__name__ == kind
    scores = predict(model, samples(texts, "mt", "src", "ref")).scores
    assert all(map(math.isfinite, scores))
    distinct = sorted({round(score, 5) for score in scores})
    assert len(distinct) >= 40
    gaps = sorted(abs(one - other) for one in scores for other in scores if one != other)
    assert gaps[len(gaps) // 2] > 0.05
    # Swapped sides and changed order move the score by far more than rounding does.
    small = [
        {"mt": mt, "src": src, "ref": ref}
        for mt, src, ref in (
            ("the cat sat on the mat", "die Katze", "the mat was on the cat"),
            ("the mat sat on the cat", "die Katze", "the mat was on the cat"),
            ("die Katze", "the cat sat on the mat", "the mat was on the cat"),
        )
    ]
    first, reordered, swapped = predict(model, small).scores
    assert abs(first - reordered) > 1e-4
    assert abs(first - swapped) > 1e-3


@pytest.mark.parametrize("repo", COMETS)
def test_batches_move_comet_scores_by_rounding_alone(
    repo: str, load_comet: Loader, texts: list[Text]
) -> None:
    rows = samples(texts, "mt", "src", "ref")
    model = load_comet(repo)
    alone, batched = predict(model, rows, 1).scores, predict(model, rows, 16).scores
    assert max(abs(one - other) for one, other in zip(alone, batched, strict=True)) < 1e-6


def test_hparams_rebuild_the_models(hub: Path, load_comet: Loader) -> None:
    import comet

    for repo in COMETS:
        again = comet.load_from_checkpoint(
            comet.download_model(repo, local_files_only=True),
            reload_hparams=True,
            strict=True,
            local_files_only=True,
        )
        assert again.hparams.pretrained_model in ENCODERS
        assert again.hparams.hidden_sizes == load_comet(repo).hparams.hidden_sizes


SPANS = [
    ("The cat sat on the mat.", []),
    ("", []),
    ("The minorerr cat sat.", [("minorerr", "minor", 3, 12)]),
    ("The majorerr cat sat.", [("majorerr", "major", 3, 12)]),
    ("The cat criterr sat.", [("criterr", "critical", 7, 15)]),
    ("criterr cat", [("criterr", "critical", 0, 7)]),
    ("The cat (minorerr) sat.", [("minorerr", "minor", 9, 17)]),
    ("猫majorerr很大。", [("majorerr", "major", 1, 9)]),
    ("The cat sat majorerr", [("majorerr", "major", 11, 20)]),
    ("minorerr cat criterr.", [("minorerr", "minor", 0, 8), ("criterr", "critical", 12, 20)]),
    # comet's own way: neighbours become one span with the first severity.
    ("The minorerr criterr cat", [("minorerr criterr", "minor", 3, 20)]),
]


@pytest.mark.parametrize("fields", [("mt", "src", "ref"), ("mt", "src")])
def test_xcomet_marks_the_marker_words(fields: tuple[str, ...], load_comet: Loader) -> None:
    texts = [(text, "Die Katze saß.", "The cat sat.") for text, _ in SPANS]
    found = predict(load_comet("Unbabel/XCOMET-XL"), samples(texts, *fields), 4).metadata.error_spans
    # Of the tag logits 6 and 12, twice 0: by hand.
    confidence = math.exp(12) / (math.exp(12) + math.exp(6) + 2)
    for (text, expected), spans in zip(SPANS, found, strict=True):
        marked = [(span["text"].strip(), span["severity"], span["start"], span["end"]) for span in spans]
        assert marked == expected, text
        for span in spans:
            # The severities of a merged span differ, but every marker is as sure of its own.
            assert span["confidence"] == pytest.approx(confidence, rel=1e-5)


def test_xcomet_marks_nothing_else(load_comet: Loader, texts: list[Text]) -> None:
    found = predict(load_comet("Unbabel/XCOMET-XL"), samples(texts, "mt", "src", "ref")).metadata
    for (hypothesis, _, _), spans in zip(texts, found.error_spans, strict=True):
        assert bool(spans) == ("err" in hypothesis), hypothesis
    assert len({round(score, 5) for score in found.src_scores}) >= 40


@pytest.mark.parametrize(("repo", "tokenizer_repo"), METRICX.items())
def test_metricx_scores_lie_within_bounds(
    repo: str, tokenizer_repo: str, hub: Path, texts: list[Text]
) -> None:
    import torch
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    model = MT5ForConditionalGeneration.from_pretrained(repo, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_repo, local_files_only=True)
    ids = tokenizer("source: a candidate: 😀")["input_ids"]
    assert (ids[-1], ids.count(1), ids.count(2)) == (1, 1, 1)
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id) == (0, 1, 2)
    assert not torch.equal(model.get_input_embeddings().weight, model.lm_head.weight)

    def score(text: str) -> float:
        with torch.inference_mode():
            output = model(
                input_ids=torch.tensor([tokenizer(text)["input_ids"][:-1]]),
                decoder_input_ids=torch.zeros(1, 1, dtype=torch.long),
                use_cache=False,
            )
        return output.logits[0, 0, 250_089].item()

    scores = [
        score(f"source: {source} candidate: {hypothesis} reference: {reference}")
        for hypothesis, source, reference in texts
    ]
    assert sum(0 < value < 25 for value in scores) >= 40
    assert len({round(value, 3) for value in scores}) >= 40
    assert max(scores) - min(scores) > 10
    hypothesis, source, reference = texts[0]
    templates = (
        f"source: {source} candidate: {hypothesis} reference: {reference}",
        f"source:  candidate: {hypothesis} reference: {reference}",
        f"source: {source} candidate: {hypothesis}",
        f"candidate: {hypothesis} reference: {reference}",
        f"candidate: {hypothesis} source: {source}",
    )
    assert len({round(score(text), 2) for text in templates}) == len(templates)


def test_child_processes_find_the_hub(hub: Path) -> None:
    script = (
        "import json, sys; from huggingface_hub import snapshot_download;"
        "print(json.dumps([snapshot_download(repo, local_files_only=True) for repo in sys.argv[1:]]))"
    )
    repos = (*ENCODERS, *COMETS, *METRICX, *METRICX.values())
    done = subprocess.run(
        [sys.executable, "-c", script, *repos], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert all(Path(snapshot).is_relative_to(hub) for snapshot in json.loads(done.stdout))
