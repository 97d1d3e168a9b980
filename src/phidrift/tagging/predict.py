"""From checkpoint folders and texts to spans, their scores, and the probabilities of every piece."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.core.models import loading
from phidrift.tagging.alignment import (
    IGNORED,
    B,
    I,
    O,
    Pieces,
    Window,
    bio_spans,
    check_vocabulary,
    cut_windows,
    load_tokenizer,
    special_ids,
    tokenize,
)
from phidrift.tagging.model_folders import check_files, checkpoint_entity
from phidrift.tagging.quiet import quiet_transformers

_PADDED_PIECES = 4096  # a batch holds at most so many, padding included

Scores = npt.NDArray[np.float32]
Placed = tuple[int, Window]  # number of the text, and a window of it


@dataclass(frozen=True)
class Tagger:
    """A checkpoint in memory.

    Attributes:
        model: in evaluation mode.
        tokenizer: a fast one.
        entity: what it marks.
        limit: pieces a window, special tokens not counted.
        tokenization: equal for taggers that cut a text into the same pieces and windows.
    """

    model: Any
    tokenizer: Any
    entity: str
    limit: int
    tokenization: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one tagger says of one text of n pieces.

    Attributes:
        pieces: of the text.
        probabilities: [n, 3], of O, B and I; each row sums to 1.
        labels: [n], the decoded sequence (see `best_labels`).
        spans: what the labels say.
        scores: one a span, 0 to 1: the mean, over its pieces, of the probability that a piece belongs to the entity.
    """

    pieces: Pieces
    probabilities: Scores
    labels: tuple[int, ...]
    spans: tuple[Span, ...]
    scores: tuple[float, ...]

    @property
    def belongs(self) -> Scores:
        """[n]: the probability that a piece belongs to the entity, 1 - P(O)."""
        return 1.0 - self.probabilities[:, O]


def load_tagger(folder: Path) -> Tagger:
    """Loads a checkpoint, in 32-bit floats, onto the GPU where there is one.

    Weights are read from safetensors alone, since other files may hold code.

    Raises:
        PhidriftError: no such folder, its labels are not O, B-ENTITY, I-ENTITY, its files are not those that its
            training wrote, its weights are missing, damaged or not those of its configuration, or its tokenizer
            doesn't fit it.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForTokenClassification

    entity = checkpoint_entity(folder)
    check_files(folder)
    mend = "train it anew, or copy the whole folder again"
    try:
        with loading(str(folder)), quiet_transformers():
            model, report = AutoModelForTokenClassification.from_pretrained(
                folder, dtype=torch.float32, use_safetensors=True, output_loading_info=True
            )
    except (SafetensorError, RuntimeError) as error:  # cut off, or of other shapes than config.json says
        raise PhidriftError("the weights can't be read", where=folder, mend=mend) from error
    if report["missing_keys"]:
        # transformers would fill them with random numbers, and say so only in its log.
        problem = f"{len(report['missing_keys'])} weights of the model are missing"
        raise PhidriftError(problem, where=folder, mend=mend)
    unused = [key for key in report["unexpected_keys"] if "pooler" not in key]
    if unused:
        problem = f"its configuration has no place for {len(unused)} of its weights"
        raise PhidriftError(problem, where=folder, mend=mend)
    tokenizer = load_tokenizer(str(folder))
    check_vocabulary(tokenizer, model, str(folder))
    before, after = special_ids(tokenizer)
    limit = int(tokenizer.model_max_length) - len(before) - len(after)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Tagger(model.to(device).eval(), tokenizer, entity, limit, _tokenization(tokenizer, limit))


def _tokenization(tokenizer: Any, limit: int) -> str:
    backend = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode("utf-8")).hexdigest()
    return f"{limit} {tokenizer.padding_side} {tokenizer.pad_token_id} {backend}"


def predict_spans(
    tagger: Tagger, texts: Sequence[str], advance: Callable[[int], None] | None = None
) -> list[tuple[Span, ...]]:
    """The spans that the tagger finds in each text, whatever its length; those of `predict`."""
    (found,) = predict([tagger], texts, advance)
    return [prediction.spans for prediction in found]


def predict(
    taggers: Sequence[Tagger], texts: Sequence[str], advance: Callable[[int], None] | None = None
) -> list[list[Prediction]]:
    """[taggers][texts]: what each tagger says of each text, whatever its length.

    Each piece is judged in the window that owns it; over the whole text the most probable label sequence that is
    valid IOB2 is taken. Windows run in batches of about one length, and taggers that cut texts alike share pieces,
    windows and batches. What shares a batch changes a score by no more than the rounding of 32-bit sums (about 1e-6),
    so a label only in a tie; the same texts in the same order always give the same spans.

    Args:
        taggers: of `load_tagger`.
        texts: any lengths; an empty one has no span.
        advance: called with the number of texts done by one tagger (as of `core.progress`).

    Raises:
        PhidriftError: a model's output isn't finite: what it marks would mean nothing.
    """
    result: list[list[Prediction]] = [[] for _ in taggers]
    for alike in _alike(taggers):
        group = [taggers[number] for number in alike]
        pieces = tokenize(group[0].tokenizer, texts)
        every = _log_probabilities(group, texts, pieces, advance)
        for number, scores in zip(alike, every, strict=True):
            entity = taggers[number].entity
            result[number] = [_decoded(of, score, entity) for of, score in zip(pieces, scores, strict=True)]
    return result


def _alike(taggers: Sequence[Tagger]) -> list[list[int]]:
    """The numbers of the taggers, those of one tokenization together."""
    groups: dict[str, list[int]] = {}
    for number, tagger in enumerate(taggers):
        groups.setdefault(tagger.tokenization, []).append(number)
    return list(groups.values())


def _log_probabilities(
    group: Sequence[Tagger],
    texts: Sequence[str],
    pieces: Sequence[Pieces],
    advance: Callable[[int], None] | None,
) -> list[list[Scores]]:
    """[taggers][texts] of [n, 3], for taggers of one tokenization."""
    windows = [
        (number, window)
        for number, text in enumerate(texts)
        for window in cut_windows(text, pieces[number], group[0].limit)
        if window.last > window.first
    ]
    scores = [[np.zeros((len(of.ids), 3), np.float32) for of in pieces] for _ in group]
    left = np.bincount([number for number, _ in windows], minlength=len(texts))
    if advance:
        advance(int((left == 0).sum()) * len(group))
    for batch in _batches(windows):
        encoded, starts = _encoded(group[0].tokenizer, [pieces[n].ids[w.first : w.last] for n, w in batch])
        for number, _ in batch:
            left[number] -= 1
        done = len({number for number, _ in batch if left[number] == 0})
        for tagger, own in zip(group, scores, strict=True):
            found = _batch_scores(tagger, encoded)
            for (number, window), start, row in zip(batch, starts, found, strict=True):
                first = start + window.owned_first - window.first
                owned = row[first : first + window.owned_last - window.owned_first]
                own[number][window.owned_first : window.owned_last] = owned
            if advance:
                advance(done)
    return scores


def _batches(windows: Sequence[Placed]) -> list[list[Placed]]:
    """Windows from long to short, in batches that stay within the limit of padded pieces."""
    ordered = sorted(windows, key=lambda item: item[1].first - item[1].last)
    batches: list[list[Placed]] = []
    room = 0
    for item in ordered:
        if room < 1:
            batches.append([])
            room = max(1, _PADDED_PIECES // (item[1].last - item[1].first))
        batches[-1].append(item)
        room -= 1
    return batches


def _encoded(tokenizer: Any, windows: Sequence[Sequence[int]]) -> tuple[Any, list[int]]:
    """(tensors of the windows with special tokens and padding, where the pieces of each begin)."""
    before, after = special_ids(tokenizer)
    encoded = tokenizer.pad([{"input_ids": [*before, *ids, *after]} for ids in windows], return_tensors="pt")
    longest = encoded["input_ids"].shape[1]
    used = [len(before) + len(ids) + len(after) for ids in windows]
    pad_left = tokenizer.padding_side == "left"
    return encoded, [(longest - each if pad_left else 0) + len(before) for each in used]


def _batch_scores(tagger: Tagger, encoded: Any) -> Scores:
    """Log probabilities [windows, length, 3]."""
    import torch

    encoded = encoded.to(tagger.model.device)
    with torch.inference_mode():
        logits = tagger.model(input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"]).logits
        found: Scores = torch.log_softmax(logits.float(), dim=-1).cpu().numpy()
    return found


def _decoded(pieces: Pieces, scores: Scores, entity: str) -> Prediction:
    if not np.isfinite(scores).all():
        raise PhidriftError(f"the {entity} tagger's output is not finite", mend="train it anew")
    labels = best_labels(pieces, scores)
    spans = bio_spans(pieces, labels, entity)
    probabilities = np.exp(scores)
    belongs = 1.0 - probabilities[:, O]
    means, number = [], 0
    for span in spans:
        # Pieces come in text order, though those of one character share its offsets.
        while pieces.offsets[number][1] <= span.start:
            number += 1
        within = []
        while number < len(pieces.offsets) and pieces.offsets[number][0] < span.end:
            if pieces.offsets[number][0] < pieces.offsets[number][1]:
                within.append(float(belongs[number]))
            number += 1
        means.append(min(1.0, max(0.0, sum(within) / len(within))))
    return Prediction(pieces, probabilities, tuple(labels), spans, tuple(means))


def best_labels(pieces: Pieces, scores: Scores) -> list[int]:
    """The valid IOB2 sequence with the highest summed log probability (Viterbi, 1967).

    Valid: I comes only after B or I. Pieces that show nothing are passed over.

    Args:
        pieces: n pieces.
        scores: [n, 3], log probabilities of O, B and I.

    Returns:
        n labels; on equal sums the lower label number.
    """
    shown = [number for number, (start, end) in enumerate(pieces.offsets) if start < end]
    total_o, total_b, total_i = 0.0, -np.inf, -np.inf
    came_from: list[tuple[int, int]] = []  # the label before an O or B, and before an I
    for score_o, score_b, score_i in scores[shown].tolist():
        best = max((total_o, -O), (total_b, -B), (total_i, -I))
        inner = max((total_b, -B), (total_i, -I))
        came_from.append((-best[1], -inner[1]))
        total_o, total_b, total_i = best[0] + score_o, best[0] + score_b, inner[0] + score_i
    labels = [IGNORED] * len(pieces.ids)
    label = -max((total_o, -O), (total_b, -B), (total_i, -I))[1]
    for number, (before_other, before_i) in zip(reversed(shown), reversed(came_from), strict=True):
        labels[number] = label
        label = before_i if label == I else before_other
    return labels
