"""Two lenient scores, which tell a wrong boundary from a miss: over tokens, and over spans that overlap.

Gold "May 3", predicted "3": the strict scores call that one false span and one missed. Over tokens it is 1 right and 1
missed; by overlap the predicted span is right and the gold span is found. A real miss is a miss in all three.
"""

from bisect import bisect_left
from collections.abc import Collection, Sequence

from phidrift.core.text import tokens
from phidrift.tagging.scores import Bounds, f1, precision, recall, strict_counts

Offsets = Sequence[tuple[int, int]]
Shares = tuple[float | None, float | None, float | None]


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


def token_scores(tokens_of: Sequence[Offsets], gold: Sequence[Bounds], predicted: Sequence[Bounds]) -> Shares:
    """(precision, recall, F1) over tokens that a gold, and a predicted, span touches.

    Args:
        tokens_of: offsets of `token_offsets` for each document.
        gold: for each document.
        predicted: for each document.

    Returns:
        Each 0 to 1 over all documents, None where `scores` leaves it undefined.
    """
    tp = fp = fn = 0
    for offsets, wanted, said in zip(tokens_of, gold, predicted, strict=True):
        hits, false, missed = strict_counts(touched(offsets, wanted), touched(offsets, said))
        tp, fp, fn = tp + hits, fp + false, fn + missed
    return precision(tp, fp), recall(tp, fn), f1(tp, fp, fn)


def overlap_scores(gold: Sequence[Bounds], predicted: Sequence[Bounds]) -> Shares:
    """(precision, recall, F1) by overlap of at least one character.

    Precision is the share of predicted spans that touch a gold one, recall the share of gold spans that a predicted one
    touches, F1 their harmonic mean. One long prediction may find several gold spans.

    Returns:
        Each 0 to 1 over all documents, None where `scores` leaves it undefined.
    """
    said, wanted = sum(map(len, predicted)), sum(map(len, gold))
    right = sum(len(touched(p, g)) for g, p in zip(gold, predicted, strict=True))
    found = sum(len(touched(g, p)) for g, p in zip(gold, predicted, strict=True))
    share_right = right / said if said else None
    if not wanted:
        return share_right, None, None
    if not share_right:
        return share_right, 0.0, 0.0
    share_found = found / wanted
    return share_right, share_found, 2 * share_right * share_found / (share_right + share_found)


def touched(of: Collection[tuple[int, int]], by: Bounds) -> list[tuple[int, int]]:
    """Those of `of` that share a character with one of `by`, which are free of overlap."""
    ordered = sorted(by)
    starts = [start for start, _ in ordered]
    found = []
    for start, end in of:
        before = bisect_left(starts, end) - 1  # the last that starts before `end` also ends last
        if before >= 0 and ordered[before][1] > start:
            found.append((start, end))
    return found
