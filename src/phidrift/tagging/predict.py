"""From a checkpoint folder and texts to spans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.tagging.alignment import (
    IGNORED,
    B,
    I,
    O,
    Pieces,
    Window,
    bio_spans,
    cut_windows,
    label_names,
    load_tokenizer,
    special_ids,
    tokenize,
)
from phidrift.tagging.quiet import quiet_transformers

_PADDED_PIECES = 4096  # a batch holds at most so many, padding included

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Tagger:
    """A checkpoint in memory."""

    model: Any
    tokenizer: Any
    entity: str
    limit: int  # pieces a window, special tokens not counted


def load_tagger(folder: Path) -> Tagger:
    """Loads a checkpoint, in 32-bit floats, onto the GPU where there is one.

    Raises:
        PhidriftError: no such folder, or its labels are not O, B-ENTITY, I-ENTITY.
    """
    import torch
    from transformers import AutoConfig, AutoModelForTokenClassification

    if not (folder / "config.json").is_file():
        raise PhidriftError("no checkpoint here", where=folder)
    config = AutoConfig.from_pretrained(folder)
    names = [config.id2label[number] for number in range(config.num_labels)]
    entity = names[-1].partition("-")[2]
    if names != label_names(entity):
        raise PhidriftError(f"labels are {', '.join(names)}, expected O, B-ENTITY, I-ENTITY", where=folder)
    with quiet_transformers():
        model = AutoModelForTokenClassification.from_pretrained(folder, config=config, dtype=torch.float32)
    tokenizer = load_tokenizer(str(folder))
    before, after = special_ids(tokenizer)
    limit = int(tokenizer.model_max_length) - len(before) - len(after)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Tagger(model.to(device).eval(), tokenizer, entity, limit)


def predict_spans(
    tagger: Tagger, texts: Sequence[str], advance: Callable[[int], None] | None = None
) -> list[tuple[Span, ...]]:
    """The spans that the tagger finds in each text, whatever its length.

    Each piece is judged in the window that owns it; over the whole text the most probable label sequence that is
    valid IOB2 is taken. Windows run in batches of about one length. What shares a batch changes a score by no
    more than the rounding of 32-bit sums (about 1e-6), so a label only in a tie; the same texts in the same
    order always give the same spans.

    Args:
        tagger: of `load_tagger`.
        texts: any lengths; an empty one has no span.
        advance: called with the number of texts done (as of `core.progress`).
    """
    pieces = tokenize(tagger.tokenizer, texts)
    windows = [
        (number, window)
        for number, text in enumerate(texts)
        for window in cut_windows(text, pieces[number], tagger.limit)
        if window.last > window.first
    ]
    scores = [np.zeros((len(of.ids), 3), np.float32) for of in pieces]
    left = np.bincount([number for number, _ in windows], minlength=len(texts))
    if advance:
        advance(int((left == 0).sum()))
    for batch in _batches(windows, pieces):
        found = _window_scores(tagger, [pieces[n].ids[w.first : w.last] for n, w in batch])
        done = 0
        for (number, window), of in zip(batch, found, strict=True):
            owned = slice(window.owned_first, window.owned_last)
            scores[number][owned] = of[window.owned_first - window.first : window.owned_last - window.first]
            left[number] -= 1
            done += left[number] == 0
        if advance:
            advance(int(done))
    return [
        bio_spans(of, best_labels(of, score), tagger.entity) for of, score in zip(pieces, scores, strict=True)
    ]


def _batches(
    windows: Sequence[tuple[int, Window]], pieces: Sequence[Pieces]
) -> list[list[tuple[int, Window]]]:
    """Windows from long to short, in batches that stay within the limit of padded pieces."""
    ordered = sorted(windows, key=lambda item: item[1].first - item[1].last)
    batches: list[list[tuple[int, Window]]] = []
    room = 0
    for item in ordered:
        if room < 1:
            batches.append([])
            room = max(1, _PADDED_PIECES // (item[1].last - item[1].first))
        batches[-1].append(item)
        room -= 1
    return batches


def _window_scores(tagger: Tagger, windows: Sequence[Sequence[int]]) -> list[Scores]:
    """Log probabilities [pieces, 3] of each window."""
    import torch

    before, after = special_ids(tagger.tokenizer)
    encoded = tagger.tokenizer.pad(
        [{"input_ids": [*before, *ids, *after]} for ids in windows], return_tensors="pt"
    ).to(tagger.model.device)
    with torch.inference_mode():
        logits = tagger.model(input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"]).logits
        found = torch.log_softmax(logits.float(), dim=-1).cpu().numpy()
    pad_left = tagger.tokenizer.padding_side == "left"
    longest = found.shape[1]
    result = []
    for row, ids in zip(found, windows, strict=True):
        used = len(before) + len(ids) + len(after)
        start = (longest - used if pad_left else 0) + len(before)
        result.append(row[start : start + len(ids)])
    return result


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
