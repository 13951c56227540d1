"""Tiny checkpoints behind the ids that users type, in a folder laid out as a hub cache.

The code under test then finds and loads them as it would the real ones. Tokenizers follow the real ones
in what matters: what becomes of blanks, full-width forms and unknown characters, where offsets begin,
and that ``</s>`` in a text is the end-of-sentence token. Weights are random, with fixed seeds; the last
layers are scaled so that different texts get clearly different scores.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import yaml
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import nn

HIDDEN = 32
MARKERS = {"minorerr": "minor", "majorerr": "major", "criterr": "critical"}
"""Words that the tiny XCOMET marks as errors; it marks nothing else."""
SCORE_TOKEN = 250_089
"""Position of the output vocabulary whose first logit is MetricX's score."""

TEXTS: list[tuple[str, str, str]] = [
    # hypothesis, source, reference
    ("The cat sat on the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("The dog sat on the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("She bought 3 tickets for 20 euros.", "Sie kaufte 3 Karten für 20 Euro.", "She bought three tickets."),
    ("Yes.", "Ja.", "Yes."),
    ("No, thanks!", "Nein, danke!", "No, thank you!"),
    (
        "The committee will meet again next week to decide on the budget of the town.",
        "Der Ausschuss wird nächste Woche erneut zusammentreten, um über den Haushalt zu entscheiden.",
        "Next week the committee meets again to settle the budget of the town.",
    ),
    (
        "He said that he would not come.",
        "Er sagte, dass er nicht kommen würde.",
        "He said he would not come.",
    ),
    ("He said that he would come.", "Er sagte, dass er nicht kommen würde.", "He said he would not come."),
    (
        "Das Wetter ist heute sehr schön.",
        "The weather is very nice today.",
        "Heute ist das Wetter sehr schön.",
    ),
    ("Der Zug nach Köln fällt aus.", "The train to Cologne is cancelled.", "Der Zug nach Köln entfällt."),
    (
        "Wir haben den Bericht gelesen, aber wir verstehen nicht, warum die Zahlen gestiegen sind.",
        "We have read the report, but we do not understand why the figures have risen.",
        "Den Bericht haben wir gelesen, doch uns ist unklar, warum die Zahlen stiegen.",
    ),
    ("Bitte schließen Sie die Tür.", "Please close the door.", "Schließen Sie bitte die Tür."),
    (
        "I ate rice with my friend yesterday.",
        "어제 친구와 밥을 먹었어요.",
        "Yesterday I had a meal with my friend.",
    ),
    ("Where is the station?", "역이 어디예요?", "Where is the station?"),
    ("The teacher praised the student.", "선생님이 학생을 칭찬하셨다.", "The teacher praised the pupil."),
    ("저는 내일 서울에 갑니다.", "I am going to Seoul tomorrow.", "나는 내일 서울에 가요."),
    ("감사합니다.", "Thank you.", "고맙습니다."),
    (
        "비가 와서 경기가 취소되었습니다.",
        "The match was called off because of rain.",
        "비 때문에 경기가 취소됐다.",
    ),
    ("我明天去北京。", "I am going to Beijing tomorrow.", "明天我要去北京。"),
    ("谢谢你的帮助！", "Thank you for your help!", "多谢你的帮助！"),
    ("他没有说他什么时候回来。", "He did not say when he would be back.", "他没说什么时候回来。"),
    ("The meeting begins at nine.", "会议九点开始。", "The meeting starts at nine o'clock."),
    ("My mother likes tea.", "我妈妈喜欢喝茶。", "My mother likes to drink tea."),
    ("私は昨日本を読みました。", "I read a book yesterday.", "昨日、本を読んだ。"),
    ("ありがとうございます。", "Thank you very much.", "どうもありがとう。"),
    ("東京は大きい町です。", "Tokyo is a big city.", "東京は大都市だ。"),
    ("It rained in the morning.", "朝、雨が降った。", "It was raining in the morning."),
    ("I want to drink coffee.", "コーヒーを飲みたいです。", "I would like to drink some coffee."),
    # An empty hypothesis, and one of blanks only.
    ("", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("", "会议九点开始。", "The meeting starts at nine o'clock."),
    ("   ", "역이 어디예요?", "Where is the station?"),
    # Characters that the tokenizers do not know.
    ("I am so happy 😀!", "Ich bin so froh 😀!", "I am so glad 😀!"),
    ("😀🎉👍🏽", "😀🎉👍🏽", "😀🎉"),
    ("Good night 👩‍👩‍👧 and see you", "Gute Nacht 👩‍👩‍👧 und bis bald", "Good night, see you soon"),
    # Blanks that tokenizers fold, and forms that they normalise.
    ("The  cat   sat on    the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("  The cat sat on the mat.  ", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("The cat\tsat\non the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("Ｔｈｅ cat… sat", "Die Katze … saß", "The cat… sat"),
    ("한국어 문장 (테스트) 100%", "A Korean sentence (test) 100%", "한국어 문장 (시험) 100%"),
    ("Copied text", "Copied text", "Copied text"),
    ("?", "?", "!"),
    ("12 345,67", "12.345,67", "12,345.67"),
    # Words that the tiny XCOMET marks.
    ("The minorerr cat sat on the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("The majorerr majorerr cat criterr sat.", "Die Katze saß.", "The cat sat."),
    ("The cat sat criterr", "Die Katze saß.", "The cat sat."),
    # A long one that every model still reads in full.
    (
        " ".join(["The committee will meet again next week to decide on the budget of the town."] * 8),
        " ".join(["Der Ausschuss wird nächste Woche zusammentreten."] * 3),
        "The committee meets again next week, eight times.",
    ),
    # Duplicates: of everything, of the hypothesis alone, of source and hypothesis.
    ("The cat sat on the mat.", "Die Katze saß auf der Matte.", "The cat was sitting on the mat."),
    ("我明天去北京。", "I am going to Beijing tomorrow.", "明天我要去北京。"),
    ("Yes.", "Ja, gern.", "Yes, gladly."),
    ("No, thanks!", "Nein, danke!", "No!"),
]

_WORDS = (
    "source candidate reference the The cat sat on mat was is and of to in that he would not come meet again"
)
_WORDS += " next week committee budget town die Die Katze der Matte ist nicht"
_ENDINGS = ["ing", "ed", "er", "en"]

Piece = tuple[str, float]


def _pieces() -> list[Piece]:
    """Pieces after the special ones: single characters of the texts, some endings, some words.

    Characters beyond the Basic Multilingual Plane stay unknown, as emoji are to MetricX.
    """
    ascii_text = "".join(map(chr, range(33, 127)))
    known = normalizers.NFKC().normalize_str(ascii_text + "".join(map("".join, TEXTS)))
    letters = sorted(letter for letter in set(known) if letter.isprintable() and "!" <= letter < "\U00010000")
    pieces = [("▁", -3.0), *((letter, -6.0 - 0.01 * rank) for rank, letter in enumerate(letters))]
    pieces += [(ending, -5.0 - 0.1 * rank) for rank, ending in enumerate(_ENDINGS)]
    words = [*_WORDS.split(), *MARKERS]
    pieces += [(f"▁{word}", -4.0 - 0.01 * rank) for rank, word in enumerate(words)]
    # Marker words count after a bracket or between Chinese characters, too.
    return pieces + [(word, -4.0) for word in MARKERS]


def _unigram(special: Sequence[str], unknown: int, last: Sequence[str] = ()) -> Tokenizer:
    # The real vocabularies give their special pieces the score 0, the best of all: a "</s>" in a text
    # is found by the Unigram model even where special tokens are to be split.
    vocabulary = [(piece, 0.0) for piece in special] + _pieces() + [(piece, 0.0) for piece in last]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown, byte_fallback=False))
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def _xlmr_tokenizer(keep_blanks: bool) -> Tokenizer:
    """A tokenizer like XLM-R's.

    Two kinds are in use. Without ``keep_blanks``, text is split at white space first and offsets leave
    blanks out, as with ``xlm-roberta-large``; with it, a word's offsets begin at the blank before it.
    Both drop blanks at the end.
    """
    tokenizer = _unigram(("<s>", "<pad>", "</s>", "<unk>"), 3, ("<mask>",))
    if keep_blanks:
        tokenizer.normalizer = _folding()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
        )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def _mt5_tokenizer() -> Tokenizer:
    """A tokenizer like mT5's: ``</s>`` at the end, no token at the start."""
    tokenizer = _unigram(("<pad>", "</s>", "<unk>"), 2)
    tokenizer.normalizer = _folding()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return tokenizer


def _folding() -> normalizers.Normalizer:
    return normalizers.Sequence(
        [
            normalizers.NFKC(),
            # The real character maps turn tabs and line feeds into blanks.
            normalizers.Replace(Regex(r"\s"), " "),
            normalizers.Strip(left=False, right=True),
            normalizers.Replace(Regex(" {2,}"), "▁"),
        ]
    )


def _snapshot(folder: Path, repo: str) -> Path:
    """An empty snapshot of a repository, with ``main`` pointing to it."""
    home = folder / "hub" / f"models--{repo.replace('/', '--')}"
    commit = hashlib.sha1(repo.encode()).hexdigest()
    snapshot = home / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(commit, encoding="ascii")
    return snapshot


def _json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _encoder(folder: Path, repo: str, xl: bool) -> Path:
    """Configuration and tokenizer of an encoder; the checkpoints hold its weights."""
    from transformers import XLMRobertaConfig, XLMRobertaXLConfig

    snapshot = _snapshot(folder, repo)
    tokenizer = _xlmr_tokenizer(keep_blanks=xl)
    tokenizer.save(str(snapshot / "tokenizer.json"))
    _json(
        snapshot / "tokenizer_config.json",
        {"model_max_length": 512, "tokenizer_class": "XLMRobertaTokenizer"},
    )
    (XLMRobertaXLConfig if xl else XLMRobertaConfig)(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=514,
        pad_token_id=1,
        type_vocab_size=1,
    ).save_pretrained(snapshot)
    return snapshot


_ENCODERS = {"xlm-roberta-large": False, "microsoft/infoxlm-large": False, "facebook/xlm-roberta-xl": True}
_SHARED: dict[str, Any] = {
    "activations": "Tanh",
    "batch_size": 4,
    "dropout": 0.1,
    "encoder_model": "XLM-RoBERTa",
    "final_activation": None,
    "hidden_sizes": [48, 24],
    "keep_embeddings_frozen": True,
    "layer_norm": False,
    "layer_transformation": "sparsemax",
    "loss": "mse",
    "nr_frozen_epochs": 0.3,
    "optimizer": "AdamW",
    "train_data": ["data/train.csv"],
    "validation_data": ["data/dev.csv"],
}
_XL = {"encoder_model": "XLM-RoBERTa-XL", "pretrained_model": "facebook/xlm-roberta-xl"}
_COMETS: dict[str, dict[str, Any]] = {
    "Unbabel/wmt22-comet-da": {
        "class_identifier": "regression_metric",
        "pretrained_model": "xlm-roberta-large",
        "layer": "mix",
        "pool": "avg",
    },
    "Unbabel/wmt20-comet-qe-da": {
        "class_identifier": "referenceless_regression_metric",
        "pretrained_model": "xlm-roberta-large",
        "layer": "mix",
        "pool": "avg",
        "layer_transformation": "softmax",
        "layer_norm": True,
    },
    "Unbabel/wmt22-cometkiwi-da": {
        "class_identifier": "unified_metric",
        "pretrained_model": "microsoft/infoxlm-large",
        "sent_layer": "mix",
        "word_layer": 2,
        "input_segments": ["mt", "src"],
        "word_level_training": False,
    },
    "Unbabel/wmt23-cometkiwi-da-xl": {
        "class_identifier": "unified_metric",
        **_XL,
        "sent_layer": "mix",
        "word_layer": 2,
        "input_segments": ["mt", "src"],
        "word_level_training": False,
        # comet reads this name as softmax, which it must tell from hparams.yaml.
        "layer_transformation": "sparsemax_patch",
    },
    "Unbabel/XCOMET-XL": {
        "class_identifier": "xcomet_metric",
        **_XL,
        "sent_layer": "mix",
        "word_layer": 0,
        "word_level_training": True,
        "error_labels": list(MARKERS.values()),
        "cross_entropy_weights": [0.08, 0.486, 0.505, 0.533],
    },
}


def _comet(folder: Path, repo: str, encoder: Path) -> None:
    """A COMET checkpoint with ``hparams.yaml`` beside it."""
    from comet.models import str2model
    from pytorch_lightning import __version__ as lightning_version

    hparams = _SHARED | _COMETS[repo]
    arguments = hparams | {"pretrained_model": str(encoder)}
    kind = arguments.pop("class_identifier")
    model = str2model[kind](**arguments, load_pretrained_weights=False, local_files_only=True).eval()
    _randomise(model, seed=zlib.crc32(repo.encode()))
    if kind == "xcomet_metric":
        _drive_tags(model)
    _scale_estimator(model, centre=0.55, spread=0.1)
    snapshot = _snapshot(folder, repo)
    (snapshot / "checkpoints").mkdir()
    (snapshot / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")
    torch.save(
        {
            "state_dict": model.state_dict(),
            "hyper_parameters": hparams,
            "pytorch-lightning_version": lightning_version,
        },
        snapshot / "checkpoints" / "model.ckpt",
    )


@torch.no_grad()
def _randomise(model: nn.Module, seed: int, gain: float = 1.4) -> None:
    """Random weights wide enough that attention and estimator tell texts apart, the same in every run."""
    generator = torch.Generator().manual_seed(seed)
    embeddings = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if id(parameter) in embeddings:
            parameter.copy_(noise)
        elif name.endswith("bias"):
            parameter.copy_(0.1 * noise)
        elif parameter.dim() == 1:
            # Of normalisations and of the mixture of layers: these begin at ones and zeros.
            parameter.add_(0.1 * noise)
        else:
            parameter.copy_(noise * gain / parameter.shape[1] ** 0.5)


@torch.no_grad()
def _drive_tags(model: Any) -> None:
    """Three dimensions of the embeddings belong to the marker words, and only these reach the tags.

    The XL encoder does not normalise its embeddings, so that layer 0 is their plain sum: positions
    and all other tokens are zero there. Elsewhere positions stay, and word order moves the score.
    The tag logits are (6, 0, 0, 0) for ordinary tokens and 12 at the severity of a marker.
    """
    embeddings = model.encoder.model.embeddings
    embeddings.token_type_embeddings.weight.zero_()
    for table in (embeddings.word_embeddings, embeddings.position_embeddings):
        table.weight[:, : len(MARKERS)] = 0.0
    model.hidden2tag.weight.zero_()
    model.hidden2tag.bias.copy_(torch.tensor([6.0, 0.0, 0.0, 0.0]))
    for number, word in enumerate(MARKERS):
        for piece in (f"▁{word}", word):
            token = model.encoder.tokenizer.convert_tokens_to_ids(piece)
            embeddings.word_embeddings.weight[token, number] = 1.0
        model.hidden2tag.weight[number + 1, number] = 12.0


def _rounded(value: float) -> float:
    # Few digits, so that the last bits of a sum do not decide on the bytes of a checkpoint.
    return float(f"{value:.3g}")


@torch.no_grad()
def _scale_estimator(model: Any, centre: float, spread: float) -> None:
    """Scale the last layer so that the texts' scores have about this mean and standard deviation."""
    batch = [{"mt": mt, "src": src, "ref": ref} for mt, src, ref in TEXTS[:28]]
    inputs = model.prepare_sample(batch, stage="predict")
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    scores = torch.cat([model(**each).score for each in inputs])
    last = model.estimator.ff[-1]
    factor = _rounded(spread / scores.std().item())
    last.weight.mul_(factor)
    last.bias.copy_(last.bias * factor + _rounded(centre - factor * scores.mean().item()))


@torch.no_grad()
def _first_state(model: Any, tokenizer: Callable[..., Any], text: tuple[str, str, str]) -> torch.Tensor:
    """The state that the first logits are made of, for MetricX-24's input. Shape ``(d_model,)``."""
    hypothesis, source, reference = text
    ids = tokenizer(f"source: {source} candidate: {hypothesis} reference: {reference}")["input_ids"][:-1]
    output = model(
        input_ids=torch.tensor([ids]),
        decoder_input_ids=torch.zeros(1, 1, dtype=torch.long),
        output_hidden_states=True,
        use_cache=False,
    )
    return output.decoder_hidden_states[-1][0, 0]


_METRICX = {
    "google/metricx-24-hybrid-large-v2p6": "google/mt5-large",
    "google/metricx-24-hybrid-xl-v2p6": "google/mt5-xl",
    "google/metricx-23-xl-v2p0": "google/mt5-xl",
    "google/metricx-23-qe-xl-v2p0": "google/mt5-xl",
}
_MT5 = ("google/mt5-large", "google/mt5-xl", "google/mt5-xxl")


def _metricx(folder: Path) -> None:
    """Tokenizers and models of MetricX; the models are one model, its weights lie on the disk once."""
    from transformers import AutoTokenizer, MT5Config, MT5ForConditionalGeneration

    config = MT5Config(
        vocab_size=250_112,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    for repo in _MT5:
        snapshot = _snapshot(folder, repo)
        config.save_pretrained(snapshot)
        _mt5_tokenizer().save(str(snapshot / "tokenizer.json"))
        _json(
            snapshot / "tokenizer_config.json",
            {
                "additional_special_tokens": None,
                "eos_token": "</s>",
                "extra_ids": 0,
                "pad_token": "<pad>",
                "tokenizer_class": "T5Tokenizer",
                "unk_token": "<unk>",
            },
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(24)
        model = MT5ForConditionalGeneration(config).eval()
    _spread_scores(model, AutoTokenizer.from_pretrained(snapshot, local_files_only=True))
    weights: Path | None = None
    for repo in _METRICX:
        snapshot = _snapshot(folder, repo)
        if weights is None:
            weights = snapshot / "model.safetensors"
            model.save_pretrained(snapshot)
        else:
            (snapshot / weights.name).symlink_to(os.path.relpath(weights, snapshot))
        _json(
            snapshot / "config.json",
            config.to_dict() | {"architectures": ["MT5ForRegression"], "tie_word_embeddings": False},
        )


@torch.no_grad()
def _spread_scores(model: Any, tokenizer: Callable[..., Any]) -> None:
    """Point the scoring row along what differs most between texts: mean about 11, deviation about 4."""
    states = torch.stack([_first_state(model, tokenizer, text) for text in TEXTS[:28]])
    mean = states.mean(dim=0)
    centred = states - mean
    # What differs, apart from the mean's own direction: that one sets the level.
    centred = centred - torch.outer(centred @ mean, mean) / (mean @ mean)
    direction = torch.linalg.svd(centred, full_matrices=False).Vh[0]
    direction = direction * torch.sign(direction[direction.abs().argmax()])
    row = 11.0 * mean / (mean @ mean) + 4.0 * direction / (centred @ direction).std()
    model.lm_head.weight[SCORE_TOKEN] = torch.tensor([_rounded(value) for value in row.tolist()])


def build_hub(folder: Path) -> Path:
    """Make all checkpoints under ``folder/hub``; ``folder`` is what ``HF_HOME`` must name. Returns it."""
    encoders = {repo: _encoder(folder, repo, xl) for repo, xl in _ENCODERS.items()}
    for repo, hparams in _COMETS.items():
        _comet(folder, repo, encoders[hparams["pretrained_model"]])
    _metricx(folder)
    return folder
