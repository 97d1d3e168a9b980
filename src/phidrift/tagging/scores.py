"""Strict entity-level scores on character spans, and what is left undefined.

A predicted span is right if a gold span of the same document has the same start and the same end. Counts are summed
over documents (micro) before anything is divided.

    Gold  (0, 4) (10, 14)         predicted  (0, 4) (10, 12) (20, 24)
    tp 1, fp 2, fn 1: precision 1/3, recall 1/2, F1 2*1 / (2*1 + 2 + 1) = 0.4

What is 0 and what is undefined (None, with a reason):

    | gold | predicted | precision | recall | F1   |
    |------|-----------|-----------|--------|------|
    | yes  | none      | undefined | 0      | 0    |
    | none | yes       | 0         | undefined | undefined |
    | none | none      | undefined | undefined | undefined |

A tagger that never predicts anything has F1 0 wherever there is something to find. Where there is nothing, F1 would be
0 after one false span and undefined without: it says nothing of finding, so it is undefined in both cases.
"""

from bisect import bisect_left
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from phidrift.core.document import Span
from phidrift.core.text import tokens

Bounds = Collection[tuple[int, int]]


def bounds(spans: Sequence[Span]) -> frozenset[tuple[int, int]]:
    """(start, end) of each span."""
    return frozenset((span.start, span.end) for span in spans)


def strict_counts(gold: Bounds, predicted: Bounds) -> tuple[int, int, int]:
    """(tp, fp, fn) of one document; a span given twice counts once."""
    wanted, said = set(gold), set(predicted)
    hits = len(wanted & said)
    return hits, len(said) - hits, len(wanted) - hits


def precision(tp: int, fp: int) -> float | None:
    """Share of predicted spans that are right, 0 to 1; None if nothing was predicted."""
    return tp / (tp + fp) if tp + fp else None


def recall(tp: int, fn: int) -> float | None:
    """Share of gold spans that were found, 0 to 1; None if there are none."""
    return tp / (tp + fn) if tp + fn else None


def f1(tp: int, fp: int, fn: int) -> float | None:
    """2 tp / (2 tp + fp + fn), 0 to 1; None if there is no gold span."""
    return 2 * tp / (2 * tp + fp + fn) if tp + fn else None


def mean_defined(values: Sequence[float | None]) -> float | None:
    """Mean of the values that are defined; None if none is."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def bootstrap_f1(
    counts: npt.NDArray[np.int64], resamples: int, seed: int, level: float = 0.95
) -> tuple[float, float] | None:
    """Percentile interval of F1 over documents drawn with replacement (Efron, 1979).

    Args:
        counts: [runs, documents, 3], tp, fp and fn. All runs see the same draw of documents, and a draw's F1 is
            the mean of the runs' F1.
        resamples: draws; those in which no run's F1 is defined are left out.
        seed: of the draws.
        level: of the interval.

    Returns:
        (low, high), 0 to 1; None if there are no documents, no draws, or no draw is defined. It speaks of other
        documents of the same kind, not of other corpora and not of other seeds.
    """
    runs, documents, _ = counts.shape
    if not runs or not documents or not resamples:
        return None
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(documents, np.full(documents, 1 / documents), size=resamples)
    tp, fp, fn = np.einsum("bd,rdc->cbr", draws, counts)  # each [resamples, runs]
    of = 2 * tp + fp + fn
    defined = tp + fn > 0
    scores = np.divide(2 * tp, of, out=np.zeros(of.shape), where=defined)
    kept = defined.any(axis=1)
    if not kept.any():
        return None
    means = scores[kept].sum(axis=1) / defined[kept].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def token_offsets(text: str) -> list[tuple[int, int]]:
    """Where each token of core.text lies.

    >>> token_offsets("on 3/4")
    [(0, 2), (3, 4), (4, 5), (5, 6)]
    """
    found, position = [], 0
    for token in tokens(text):
        start = text.index(token, position)  # only blanks lie between two tokens
        position = start + len(token)
        found.append((start, position))
    return found


def token_f1(
    tokens_of: Sequence[Sequence[tuple[int, int]]], gold: Sequence[Bounds], predicted: Sequence[Bounds]
) -> float | None:
    """F1 over tokens (offsets of `token_offsets` for each document) that a gold, and a predicted, span touches.

    Where this is much above the strict F1, the tagger finds the place and misses the boundary.
    """
    tp = fp = fn = 0
    for offsets, wanted, said in zip(tokens_of, gold, predicted, strict=True):
        hits, false, missed = strict_counts(_touched(offsets, wanted), _touched(offsets, said))
        tp, fp, fn = tp + hits, fp + false, fn + missed
    return f1(tp, fp, fn)


def overlap_f1(gold: Sequence[Bounds], predicted: Sequence[Bounds]) -> float | None:
    """Harmonic mean of the share of predicted spans that touch a gold one and the share of gold spans touched.

    0 to 1, over all documents; None and 0 as for the strict F1.
    """
    said, wanted = sum(map(len, predicted)), sum(map(len, gold))
    if not wanted:
        return None
    right = sum(len(_touched(p, g)) for g, p in zip(gold, predicted, strict=True))
    found = sum(len(_touched(g, p)) for g, p in zip(gold, predicted, strict=True))
    if not right:
        return 0.0
    share_right, share_found = right / said, found / wanted
    return 2 * share_right * share_found / (share_right + share_found)


def _touched(of: Collection[tuple[int, int]], by: Bounds) -> list[tuple[int, int]]:
    """Those of `of` that share a character with one of `by`, which are free of overlap."""
    ordered = sorted(by)
    starts = [start for start, _ in ordered]
    touched = []
    for start, end in of:
        before = bisect_left(starts, end) - 1  # the last that starts before `end` also ends last
        if before >= 0 and ordered[before][1] > start:
            touched.append((start, end))
    return touched


def undefined_reason(support: int, predicted: int) -> str | None:
    """Why a score of the table above is undefined; None if all are defined."""
    if support and predicted:
        return None
    if support:
        return "precision: nothing predicted"
    if predicted:
        return "F1 and recall: no span of this entity in the test documents"
    return "no span of this entity in the test documents, and none predicted"


def summary(counts: npt.NDArray[np.int64]) -> tuple[int, int, int]:
    """(tp, fp, fn) summed over all but the last axis of [..., 3]."""
    tp, fp, fn = (int(value) for value in counts.reshape(-1, 3).sum(axis=0))
    return tp, fp, fn
