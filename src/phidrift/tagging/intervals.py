"""How sure a score is: percentile bootstrap over documents or groups, and what serves where that has no width."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from phidrift.tagging.scores import Counts

Interval = tuple[float, float]
Floats = npt.NDArray[np.float64]

_DRAWN_AT_ONCE = 4_000_000  # numbers of a draw held in memory, 32 MB


@dataclass(frozen=True, slots=True)
class Intervals:
    """(low, high) of each strict score, 0 to 1; None where no draw has one."""

    precision: Interval | None
    recall: Interval | None
    f1: Interval | None


def bootstrap(counts: Counts, resamples: int, seed: int, level: float = 0.95) -> Intervals:
    """Percentile intervals of precision, recall and F1 over units drawn with replacement (Efron, 1979).

    All runs see the same draw of units, and a draw's score is the mean of the runs' scores. An interval speaks of other
    documents of the same kind, not of other corpora and not of other seeds.

    Args:
        counts: [runs, units, 3], tp, fp and fn. A unit is a document, or all documents of a group.
        resamples: draws; those in which no run's score is defined are left out.
        seed: of the draws.
        level: of the intervals.
    """
    tp, fp, fn = np.moveaxis(resampled_sums(counts, resamples, seed), -1, 0)
    return Intervals(
        percentiles(tp, tp + fp, level=level),
        percentiles(tp, tp + fn, level=level),
        percentiles(2 * tp, 2 * tp + fp + fn, defined=tp + fn > 0, level=level),
    )


def by_group(counts: Counts, groups: Sequence[Hashable]) -> Counts:
    """[runs, documents, k] summed to [runs, groups, k], groups in the order in which they first come."""
    numbers: dict[Hashable, int] = {}
    rows = [numbers.setdefault(group, len(numbers)) for group in groups]
    summed = np.zeros((counts.shape[0], len(numbers), counts.shape[2]), np.int64)
    for document, group in enumerate(rows):
        summed[:, group] += counts[:, document]
    return summed


def resampled_sums(counts: Counts, resamples: int, seed: int) -> Floats:
    """[resamples, runs, k]: sums of [runs, units, k] over as many units drawn with replacement.

    The same number of units and the same seed give the same draws, whatever is summed. There is no draw where there are
    no units.
    """
    runs, units, width = counts.shape
    draws = resamples if units else 0
    rng = np.random.default_rng(seed)
    flat = counts.transpose(1, 0, 2).reshape(units, runs * width).astype(np.float64)
    sums = np.zeros((draws, runs * width))
    step = max(1, _DRAWN_AT_ONCE // max(1, units))
    for first in range(0, draws, step):
        size = min(step, draws - first)
        # One row after the other is drawn: the draws don't depend on how many are made at once.
        sums[first : first + size] = rng.multinomial(units, np.full(units, 1 / units), size=size) @ flat
    return sums.reshape(draws, runs, width)


def percentiles(
    top: Floats, bottom: Floats, *, defined: npt.NDArray[np.bool_] | None = None, level: float = 0.95
) -> Interval | None:
    """The middle `level` of the draws' top / bottom, each the mean over its runs; None if no draw has a value.

    Args:
        top: [resamples, runs].
        bottom: of the same shape.
        defined: where the quotient counts; by default where `bottom` is above 0.
        level: 0 to 1.
    """
    defined = bottom > 0 if defined is None else defined
    values = np.divide(top, bottom, out=np.zeros(top.shape), where=defined)
    kept = defined.any(axis=1)
    if not kept.any():
        return None
    means = values[kept].sum(axis=1) / defined[kept].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def without_width(share: float, units: int, level: float = 0.95) -> tuple[Interval, str] | None:
    """The interval of a share that is 0 or 1 in all of `units` units, and by what it was found.

    Every draw of a bootstrap repeats such a share, as if it were certain. None of n seen leaves up to 3 / n (the rule
    of three: Hanley and Lippman-Hand, 1983), all of n the interval of Wilson (1927). None for other shares.
    """
    if not units or share not in (0.0, 1.0):
        return None
    if share == 0.0:
        return (0.0, min(1.0, 3 / units)), "rule of three"
    return wilson(units, units, level), "Wilson"


def wilson(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Score interval of a proportion (Wilson, 1927), 0 to 1; `trials` is at least 1.

    Both may be fractions: a mean over runs, an effective number of trials.
    """
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    share = successes / trials
    middle = share + z2 / (2 * trials)
    half = (z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) ** 0.5
    whole = 1 + z2 / trials
    # Rounding must not leave a share outside its own interval.
    low = 0.0 if successes == 0 else (middle - half) / whole
    return low, 1.0 if successes == trials else (middle + half) / whole
