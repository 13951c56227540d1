"""COMET models without Lightning: every text encoded once, batches filled by tokens, single heads in float32.

Rei et al. 2020 and 2022 (regression), Wan et al. 2022 and Rei et al. 2022 (unified), Guerreiro et al. 2024
(XCOMET). Scores equal those of the package's own ``predict()`` to the tolerance that batching leaves.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from challenge_sets.parallel import chunked
from metrics.neural.batching import Budget
from metrics.neural.network import Network, Result, padded
from metrics.neural.readers import JointReader, SegmentReader
from metrics.neural.spans import mqm_score, spans
from metrics.neural.texts import Texts

_EMBEDDINGS_KEPT = 2**14
_ROWS = 4096


class Regression(Network):
    """A regression COMET: an estimator over the embeddings of each part.

    A text is encoded once, whatever it is part of and however many inputs share it; the embeddings of the
    last ones are kept, because the variants of a segment share its source and reference.
    """

    def __init__(self, model: Any, reader: SegmentReader, budget: Budget) -> None:
        self._model = model
        self._reader = reader
        self._budget = budget
        # Sequences hold every mark, so that one with context is never taken for one without.
        self._embeddings: OrderedDict[tuple[int, ...], Any] = OrderedDict()

    def results(self, inputs: Sequence[Texts]) -> Iterator[dict[int, Result]]:
        """All at once: the encoder is what takes the time, and its work is shared by the inputs."""
        import torch

        # By tokens, not by text: what is the same to the model has the same score to the last bit.
        places: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for place, texts in enumerate(inputs):
            row = tuple(self._reader.sequence(part) for part in texts.parts().values())
            places.setdefault(row, []).append(place)
        names = list(inputs[0].parts())
        context = any(len(texts.hypothesis) > 1 for texts in inputs)
        with torch.inference_mode():
            embeddings = self._embed({ids for row in places for ids in row}, context)
            scores: list[float] = []
            for rows in chunked(places, _ROWS):
                columns = zip(*rows, strict=True)
                stacked = [torch.stack([embeddings[ids] for ids in column]) for column in columns]
                scores += self._estimate(dict(zip(names, stacked, strict=True))).tolist()
        yield {
            place: Result(score) for row, score in zip(places, scores, strict=True) for place in places[row]
        }

    def _embed(self, wanted: set[tuple[int, ...]], context: bool) -> dict[tuple[int, ...], Any]:
        kept = {ids: self._embeddings[ids] for ids in wanted if ids in self._embeddings}
        for ids in kept:
            self._embeddings.move_to_end(ids)
        # Sorted, so that the batches of the same texts are the same in every run.
        lacking = sorted(wanted - kept.keys())
        self._model.use_context = context

        def encode(places: list[int]) -> Any:
            ids, mask = padded([lacking[place] for place in places], self._reader.pad, self._budget.device)
            return self._model.get_sentence_embedding(ids, mask)

        for places, rows in self._budget.run([len(ids) for ids in lacking], encode):
            for place, row in zip(places, rows, strict=True):
                # A copy: a view would keep the whole batch alive.
                kept[lacking[place]] = self._embeddings[lacking[place]] = row.clone()
        while len(self._embeddings) > _EMBEDDINGS_KEPT:
            self._embeddings.popitem(last=False)
        return kept

    def _estimate(self, parts: dict[str, Any]) -> Any:
        import torch

        hypothesis, source = parts["hypothesis"], parts["source"]
        if "reference" in parts:
            return self._model.estimate(source, hypothesis, parts["reference"]).score
        features = (hypothesis, source, hypothesis * source, torch.abs(hypothesis - source))
        return self._model.estimator(torch.cat(features, dim=1)).view(-1)


class Unified(Network):
    """A unified COMET: the parts in one sequence, with a reference in three (source, reference, both).

    The score is the mean of the passes. Subclasses weigh them otherwise.
    """

    def __init__(self, model: Any, reader: JointReader, budget: Budget) -> None:
        self._model = model
        self._reader = reader
        self._budget = budget

    def results(self, inputs: Sequence[Texts]) -> Iterator[dict[int, Result]]:
        """One batch after the other."""
        import torch

        # By tokens, not by text: what is the same to the model has the same score to the last bit.
        places: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for place, texts in enumerate(inputs):
            places.setdefault(self._sequences(texts), []).append(place)
        distinct = list(places)

        def forward(batch: list[int]) -> dict[int, Result]:
            rows = [distinct[number] for number in batch]
            with torch.inference_mode():
                outputs = []
                for column in zip(*rows, strict=True):
                    ids, mask = padded(column, self._reader.pad, self._budget.device)
                    # As the package builds it: a mask of truth values.
                    outputs.append(self._model(input_ids=ids, attention_mask=mask.bool()))
                owners = [[(place, inputs[place]) for place in places[row]] for row in rows]
                return self._results(owners, outputs)

        for _, results in self._budget.run([len(row[-1]) for row in distinct], forward):
            yield results

    def _sequences(self, texts: Texts) -> tuple[tuple[int, ...], ...]:
        others = [part for part in (texts.source, texts.reference) if part]
        sequences = [self._reader.joined(texts.hypothesis, other) for other in others]
        if len(others) > 1:
            sequences.append(self._reader.joined(texts.hypothesis, *others))
        return tuple(sequences)

    def _results(
        self, owners: Sequence[Sequence[tuple[int, Texts]]], outputs: Sequence[Any]
    ) -> dict[int, Result]:
        """Results by place; ``owners`` has for each row of the outputs the inputs that it stands for."""
        import torch

        scores = torch.stack([each.score for each in outputs]).mean(dim=0).tolist()
        return {place: Result(score) for of, score in zip(owners, scores, strict=True) for place, _ in of}


class XComet(Unified):
    """XCOMET: a weighted mean of the passes (capped at 1) and of the score of the marked errors."""

    def _results(
        self, owners: Sequence[Sequence[tuple[int, Texts]]], outputs: Sequence[Any]
    ) -> dict[int, Result]:
        import torch

        *weights, error_weight = self._model.score_weights
        if len(outputs) == 1:
            # Without a reference the one pass takes the weight of all three.
            weights, label_weights = [sum(weights)], [1.0]
        else:
            label_weights = self._model.input_weights_spans.tolist()
        regression = sum(
            torch.where(each.score > 1.0, 1.0, each.score) * weight
            for each, weight in zip(outputs, weights, strict=True)
        )
        lengths = [len(self._reader.sequence(of[0][1].hypothesis)) for of in owners]
        probabilities = sum(
            torch.softmax(each.logits, dim=2)[:, : max(lengths)] * weight
            for each, weight in zip(outputs, label_weights, strict=True)
        )
        confidences, labels = (each.tolist() for each in probabilities.max(dim=2))
        marked_scores = [mqm_score(row[:length]) for row, length in zip(labels, lengths, strict=True)]
        scores = (regression.cpu() + torch.tensor(marked_scores) * error_weight).tolist()
        found = {}
        for row, of in enumerate(owners):
            # The marks around the text are no part of it.
            inner = slice(1, lengths[row] - 1)
            for place, texts in of:
                text = texts.hypothesis[-1]
                marked = spans(text, self._reader.offsets(text), labels[row][inner], confidences[row][inner])
                found[place] = Result(scores[row], marked)
        return found
