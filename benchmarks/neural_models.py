"""Models of middle size with random weights in a folder laid out as a hub cache, and texts for them."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

LAYERS, WIDTH, INNER, HEADS = 6, 384, 1536, 12
MT5_VOCABULARY = 250_112
SCORE_TOKEN = 250_089
"""Place in the output vocabulary whose logit is MetricX's score."""
# The small MetricX is there to be run over many texts, for memory's sake.
COMET, KIWI, XCOMET = "Unbabel/wmt22-comet-da", "Unbabel/wmt22-cometkiwi-da", "Unbabel/XCOMET-XL"
METRICX, SMALL = "google/metricx-24-hybrid-large-v2p6", "google/metricx-24-hybrid-xl-v2p6"
_MT5 = {METRICX: ("google/mt5-large", 256, 4), SMALL: ("google/mt5-xl", 64, 2)}
_UNIFIED = {"sent_layer": "mix", "word_layer": LAYERS, "layer_transformation": "sparsemax"}
_COMETS: dict[str, tuple[str, bool, dict[str, Any]]] = {
    # Encoder, whether it is of the XL kind, settings.
    COMET: ("xlm-roberta-large", False, {"class_identifier": "regression_metric", "layer": "mix"}),
    KIWI: (
        "microsoft/infoxlm-large",
        False,
        {"class_identifier": "unified_metric", "input_segments": ["mt", "src"], **_UNIFIED},
    ),
    XCOMET: (
        "facebook/xlm-roberta-xl",
        True,
        {"class_identifier": "xcomet_metric", "word_level_training": True, **_UNIFIED},
    ),
}


class Row(NamedTuple):
    """One hypothesis with its source and reference."""

    mt: str
    src: str
    ref: str


def _syllables(seed: int) -> list[str]:
    rng = random.Random(seed)
    return sorted({"".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 5))) for _ in range(3000)})


def rows(originals: int, variants: int, seed: int = 1) -> Iterator[Row]:
    """Texts of random words: about 25 a reference (lognormal, 3 to 100), of 1.4 tokens a word.

    Lengths of source and original scatter around that of the reference as in DEMETR: the standard deviation
    of the logarithm is 0.14 for sources within one language, 0.11 for translations. A variant differs from
    its original in one word.
    """
    rng = random.Random(seed)
    syllables = _syllables(0)
    words = ["".join(rng.choices(syllables, k=rng.choice((1, 1, 1, 2, 2)))) for _ in range(5000)]

    def drawn(median: float, deviation: float) -> list[str]:
        count = round(rng.lognormvariate(math.log(median), deviation))
        return rng.choices(words, k=min(100, max(3, count)))

    for _ in range(originals):
        reference = drawn(25, 0.5)
        source = drawn(len(reference), 0.14)
        original = drawn(len(reference), 0.11)
        for place, word in enumerate(reference[: len(original)]):
            original[place] = word if rng.random() < 0.7 else original[place]
        hypotheses = [original]
        for _ in range(variants):
            place = rng.randrange(len(original))
            put = rng.choice(([], [rng.choice(words)], [original[place], rng.choice(words)]))
            hypotheses.append([*original[:place], *put, *original[place + 1 :]])
        for hypothesis in hypotheses:
            yield Row(*map(" ".join, (hypothesis, source, reference)))


def build_hub(folder: Path, names: tuple[str, ...]) -> None:
    """Make these checkpoints with their encoders and tokenizers; ``folder`` is what ``HF_HOME`` names."""
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for name in names:
            torch.manual_seed(1)
            if name in _COMETS:
                _comet(folder, name)
            else:
                _metricx(folder, name)


def _snapshot(folder: Path, repo: str) -> Path:
    commit = hashlib.sha1(repo.encode()).hexdigest()
    home = folder / "hub" / f"models--{repo.replace('/', '--')}"
    for part, content in (("refs/main", commit), (f"snapshots/{commit}/README.md", "random weights\n")):
        (home / part).parent.mkdir(parents=True)
        (home / part).write_text(content, encoding="utf-8")
    return home / "snapshots" / commit


def _tokenizer(special: list[str], single: str, pair: str, **settings: Any) -> Callable[[Path], int]:
    """What saves a Unigram tokenizer over the syllables in a folder and returns how many pieces it has."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    pieces = [("▁", -9.0), *((letter, -12.0) for letter in "abcdefghijklmnopqrstuvwxyz:")]
    for syllable in _syllables(0):
        pieces += [(f"▁{syllable}", -7.0), (syllable, -8.0)]
    vocabulary = [(piece, 0.0) for piece in special] + pieces
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=special.index("<unk>")))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    marks = [(mark, special.index(mark)) for mark in special if mark in single.split()]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks)

    def save(snapshot: Path) -> int:
        tokenizer.save(str(snapshot / "tokenizer.json"))
        (snapshot / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
        return int(tokenizer.get_vocab_size())

    return save


def _comet(folder: Path, name: str) -> None:
    import torch
    import yaml
    from comet.models import str2model
    from pytorch_lightning import __version__ as lightning_version
    from transformers import XLMRobertaConfig, XLMRobertaXLConfig

    encoder_name, xl, settings = _COMETS[name]
    encoder = _snapshot(folder, encoder_name)
    size = _tokenizer(
        ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        "<s> $A </s>",
        "<s> $A </s> </s> $B </s>",
        model_max_length=512,
        tokenizer_class="XLMRobertaTokenizer",
    )(encoder)
    (XLMRobertaXLConfig if xl else XLMRobertaConfig)(
        vocab_size=size,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=514,
        pad_token_id=1,
        type_vocab_size=1,
    ).save_pretrained(encoder)
    hparams = {
        "encoder_model": "XLM-RoBERTa-XL" if xl else "XLM-RoBERTa",
        "pretrained_model": encoder_name,
        "hidden_sizes": [3 * WIDTH, WIDTH],
        **settings,
    }
    arguments = hparams | {"pretrained_model": str(encoder)}
    kind = arguments.pop("class_identifier")
    model = str2model[kind](**arguments, load_pretrained_weights=False, local_files_only=True).eval()
    _randomise(model)
    if kind == "xcomet_metric":
        # Here and there a token is marked as an error, most are not.
        model.hidden2tag.bias[0] += 1.2
    _centre(model)
    snapshot = _snapshot(folder, name)
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


def _randomise(model: Any) -> None:
    """Weights that keep the scale of what they are given, so that every layer passes on what it gets."""
    from torch import nn

    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight.normal_(std=module.in_features**-0.5)
        elif isinstance(module, nn.Embedding):
            module.weight.normal_()


def _centre(model: Any) -> None:
    """Shift scores to about 0.5: XCOMET cuts at 1. To stretch them would stretch what rounding does, too."""
    import torch

    inputs = model.prepare_sample([row._asdict() for row in rows(16, 0, seed=2)], stage="predict")
    passes = inputs if isinstance(inputs, tuple) else (inputs,)
    model.estimator.ff[-1].bias += 0.5 - torch.cat([model(**each).score for each in passes]).mean()


def _metricx(folder: Path, name: str) -> None:
    import torch
    from transformers import MT5Config, MT5ForConditionalGeneration

    tokenizer_name, width, layers = _MT5[name]
    config = MT5Config(
        vocab_size=MT5_VOCABULARY,
        d_model=width,
        d_kv=64,
        d_ff=width * 11 // 4,
        num_layers=layers,
        num_heads=width // 64,
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    tokenizers = _snapshot(folder, tokenizer_name)
    config.save_pretrained(tokenizers)
    _tokenizer(
        ["<pad>", "</s>", "<unk>"],
        "$A </s>",
        "$A </s> $B </s>",
        eos_token="</s>",
        extra_ids=0,
        pad_token="<pad>",
        tokenizer_class="T5Tokenizer",
        unk_token="<unk>",
    )(tokenizers)
    model = MT5ForConditionalGeneration(config).eval()
    # Along what the decoder says of some text, so that scores lie about the middle of the scale, 0 to 25.
    encoded = model.encoder(input_ids=torch.randint(3, 1000, (1, 80))).last_hidden_state
    first = torch.zeros((1, 1), dtype=torch.long)
    state = model.decoder(input_ids=first, encoder_hidden_states=encoded, use_cache=False).last_hidden_state[
        0, 0
    ]
    noise = torch.randn(width) / width**0.5
    model.lm_head.weight[SCORE_TOKEN].copy_(12.5 * state / (state @ state) + 3 * noise)
    model.save_pretrained(_snapshot(folder, name))
