"""MetricX-23 and -24 through the plain mT5 classes: one decoder step, one logit, no vocabulary.

Juraska et al. 2023, 2024. The score is the logit of one reserved token at the first decoder step, clamped to
0 (best) to 25. Only that row of the output layer is computed, in float32: in half precision the full layer
leaves few distinct scores, and its quarter of a million rows would take most of the memory of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from challenge_sets import InputError
from metrics.neural.batching import Budget
from metrics.neural.network import Network, Result, padded
from metrics.neural.readers import PromptReader
from metrics.neural.texts import Texts

SCORE_TOKEN = 250089
"""``<extra_id_10>``, whose logit the models were trained to make the score."""
WORST = 25.0


class MetricX(Network):
    """An mT5 that was trained to score."""

    def __init__(self, model: Any, reader: PromptReader, budget: Budget) -> None:
        self._model = model
        self._reader = reader
        self._budget = budget
        rows = model.lm_head.weight
        if len(rows) <= SCORE_TOKEN:
            raise InputError(
                f"{model.name_or_path}: no MetricX, whose score is output {SCORE_TOKEN}: it has {len(rows)}",
                hint="give the id or the folder of a MetricX checkpoint",
            )
        self._head = rows[SCORE_TOKEN].detach().float()
        # Only models with shared embeddings scale what the decoder gives; mT5 does not share them.
        self._scale = model.config.d_model**-0.5 if model.config.tie_word_embeddings else 1.0

    def results(self, inputs: Sequence[Texts]) -> Iterator[dict[int, Result]]:
        """One batch after the other."""
        import torch

        # By tokens, not by text: what is the same to the model has the same score to the last bit.
        places: dict[tuple[int, ...], list[int]] = {}
        for place, texts in enumerate(inputs):
            places.setdefault(self._reader.sequence(texts), []).append(place)
        distinct = list(places)

        def forward(batch: list[int]) -> list[float]:
            sequences = [distinct[number] for number in batch]
            ids, mask = padded(sequences, self._reader.pad, self._budget.device)
            with torch.inference_mode():
                encoded = self._model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
                decoded = self._model.decoder(
                    input_ids=torch.zeros((len(batch), 1), dtype=torch.long, device=self._budget.device),
                    encoder_hidden_states=encoded,
                    encoder_attention_mask=mask,
                    use_cache=False,
                ).last_hidden_state[:, 0]
                scores = (decoded.float() * self._scale) @ self._head
                return [_clamped(score) for score in scores.tolist()]

        for batch, scores in self._budget.run([len(ids) for ids in distinct], forward):
            yield {
                place: Result(score)
                for number, score in zip(batch, scores, strict=True)
                for place in places[distinct[number]]
            }


def _clamped(score: float) -> float:
    # An overflow is no score; clamped, it would be a perfect one or the worst.
    return min(max(score, 0.0), WORST) if math.isfinite(score) else math.nan
