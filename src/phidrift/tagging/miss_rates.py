"""The share of documents that keep a piece of PHI after everything predicted has been taken out of them."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from phidrift.tagging.intervals import Interval, by_group, percentiles, resampled_sums, wilson, without_width
from phidrift.tagging.lenient import Offsets, touched
from phidrift.tagging.scores import Bounds, Counts

WILSON_OF_GROUPS = "Wilson over groups"
NO_RESAMPLES = "no interval: no resamples were asked for"
_FEW_GROUPS = 5


def missed_tokens(offsets: Offsets, gold: Bounds, predicted: Bounds) -> tuple[int, int]:
    """(missed, all) PHI tokens of a document.

    A token is PHI if a gold span touches it. It is missed if one of the characters that it shares with gold spans lies
    in no predicted span, since half a name may be enough to know it by. The blanks between tokens don't count.

    Args:
        offsets: of `lenient.token_offsets`.
        gold: spans of one entity or of several; they may overlap.
        predicted: the same.
    """
    held = _touched_by_any(offsets, gold)
    bare = {position for start, end in gold for position in range(start, end)}
    bare -= {position for start, end in predicted for position in range(start, end)}
    return sum(any(position in bare for position in range(*token)) for token in held), len(held)


def miss_rates(
    missed: Sequence[Sequence[tuple[int, int]]], groups: Sequence[Hashable], *, resamples: int, seed: int
) -> dict[str, Any]:
    """The share of documents with a missed token among those that hold PHI.

    A share of 0 has the rule of three, and 1 Wilson's interval, over the groups that hold PHI. In between, where each
    group holds one such document, Wilson's interval is taken (of the mean share, where there are several runs): the
    percentile bootstrap is too narrow where misses are few. Other groups are resampled whole. But where fewer than 5 of
    them hold a missed document, or fewer than 5 one without a miss, a bootstrap has too little to draw from, and
    Wilson's interval stands in, as an approximation: of the share of documents, over as many trials as there are
    groups, as if the documents of a group were all alike. Groups of different sizes are fewer trials: the square of
    all documents by the sum of the groups' squares (Kish, 1965). No interval of a share above 0 reaches 0.

    Args:
        missed: [runs][documents], (missed, all) of `missed_tokens`.
        groups: what is resampled together, for each document.
        resamples: of the bootstrap; with 0, only the intervals that need none are there.
        seed: of the bootstrap.

    Returns:
        `share` (0 to 1, mean over the runs) with `low`, `high` and `interval` (how these were found), `documents` (how
        many hold PHI), `documents_missed` and `tokens_missed` (means over the runs), `tokens`. A null has a `reason`.
    """
    pairs = np.array(missed, np.int64).reshape(len(missed), len(groups), 2)
    counts = np.stack([pairs[..., 0] > 0, pairs[..., 1] > 0], axis=-1).astype(np.int64)
    holding = int(counts[0, :, 1].sum()) if len(counts) else 0
    if not holding:
        nothing = dict.fromkeys(
            ("share", "low", "high", "interval", "documents_missed", "tokens_missed"), None
        )
        return {**nothing, "documents": 0, "tokens": 0, "reason": "no document holds any"}
    share = float(counts[..., 0].sum(axis=1).mean()) / holding
    units = by_group(counts, groups)
    interval, method = _interval(share, units, resamples, seed)
    low, high = interval or (None, None)
    values: dict[str, Any] = {
        "share": share,
        "low": low,
        "high": high,
        "interval": method,
        "documents": holding,
        "documents_missed": share * holding,
        "tokens": int(pairs[0, :, 1].sum()),
        "tokens_missed": float(pairs[..., 0].sum(axis=1).mean()),
    }
    return values if interval else {**values, "reason": NO_RESAMPLES}


def _interval(share: float, units: Counts, resamples: int, seed: int) -> tuple[Interval | None, str | None]:
    """(interval, how it was found) of a share; `units` is [runs, groups, 2], documents missed and with PHI."""
    held = units[0, :, 1]
    certain = without_width(share, int((held > 0).sum()))
    if certain is not None:
        return certain
    trials = float(held.sum() ** 2 / (held**2).sum())
    of_wilson = wilson(share * trials, trials)
    if held.max() == 1:
        return of_wilson, "Wilson"
    kinds = (units[..., 0] > 0, units[..., 0] < units[..., 1])
    if min(int(kind.any(axis=0).sum()) for kind in kinds) < _FEW_GROUPS:
        return of_wilson, WILSON_OF_GROUPS
    sums = resampled_sums(units, resamples, seed)
    interval = percentiles(sums[..., 0], sums[..., 1])
    if interval is not None and interval[0] == 0.0:
        # Of few resamples, by chance.
        return of_wilson, WILSON_OF_GROUPS
    return interval, None if interval is None else "bootstrap"


def _touched_by_any(offsets: Offsets, spans: Bounds) -> list[tuple[int, int]]:
    """`touched`, for spans that may overlap: they are joined first."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return touched(offsets, joined)
