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

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from phidrift.core.document import Span

Bounds = Collection[tuple[int, int]]
Counts = npt.NDArray[np.int64]


def bounds(spans: Sequence[Span]) -> frozenset[tuple[int, int]]:
    """(start, end) of each span."""
    return frozenset((span.start, span.end) for span in spans)


def strict_counts(gold: Bounds, predicted: Bounds) -> tuple[int, int, int]:
    """(tp, fp, fn) of one document; a span given twice counts once."""
    wanted, said = set(gold), set(predicted)
    hits = len(wanted & said)
    return hits, len(said) - hits, len(wanted) - hits


def run_counts(gold: Sequence[Bounds], predicted: Sequence[Bounds]) -> Counts:
    """[documents, 3], tp, fp and fn of one tagger.

    Raises:
        RuntimeError: they don't add up to the spans that there are, which would be a fault of this program.
    """
    rows = [strict_counts(g, p) for g, p in zip(gold, predicted, strict=True)]
    counts = np.array(rows, np.int64).reshape(len(gold), 3)
    check_counts(counts, sum(len(set(g)) for g in gold), sum(len(set(p)) for p in predicted))
    return counts


def check_counts(counts: Counts, gold: int, predicted: int) -> None:
    """Makes sure that tp + fn is the number of gold spans and tp + fp that of predicted ones.

    Raises:
        RuntimeError: it is not so.
    """
    tp, fp, fn = summary(counts)
    if tp + fn != gold or tp + fp != predicted:
        found = f"tp {tp}, fp {fp}, fn {fn} of {gold} gold and {predicted} predicted spans"
        raise RuntimeError(f"the counts of an evaluation don't add up: {found}")


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


def undefined_reason(support: int, predicted: int) -> str | None:
    """Why a score of the table above is undefined; None if all are defined."""
    if support and predicted:
        return None
    if support:
        return "precision: nothing predicted"
    if predicted:
        return "F1 and recall: no span of this entity in the test documents"
    return "no span of this entity in the test documents, and none predicted"


def summary(counts: Counts) -> tuple[int, int, int]:
    """(tp, fp, fn) summed over all but the last axis of [..., 3]."""
    tp, fp, fn = (int(value) for value in counts.reshape(-1, 3).sum(axis=0))
    return tp, fp, fn
