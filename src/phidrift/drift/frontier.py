"""An extra beside the 25 metrics: a divergence frontier score of two sets of sentence embeddings (MAUVE's idea).

A divergence compares two distributions once; the frontier compares both with every mixture of them, and so weighs what
the candidate invents and what it leaves out alike. The score is the area under that curve.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from phidrift.drift.undefined import Undefined

Embeddings = npt.NDArray[np.floating]
_Array = npt.NDArray[np.float64]
SCALING = 5.0
POINTS = 513


def frontier(
    x: Embeddings,
    y: Embeddings,
    k: int,
    seeds: Sequence[int],
    scaling: float = SCALING,
    smoothing: float = 0.0,
) -> float:
    """Divergence frontier score of two sets of embeddings, quantised by k-means on both together.

    The embeddings are taken as they are: no principal components, no scaling to length 1. The value is the mean of
    `frontier_score` over the seeds: k-means moves with them. Equal sentences are one point with a weight, in sorted
    order, so neither the order of the sentences nor that of the two sides matters.

    Args:
        x: reference embeddings [n, dimension].
        y: candidate embeddings [m, dimension].
        k: number of clusters, 2 or more; the source takes about a tenth of the sentences of one side.
        seeds: one k-means start (k-means++) each.
        scaling: as in `frontier_score`.
        smoothing: as in `frontier_score`: added to the sentences that each cluster has of a side.

    Returns:
        1 (equal histograms) down to 1 / binomial(2 scaling, scaling), 0.004 (no cluster in common); no unit;
        symmetric; higher is more alike. It depends on size: two samples of one corpus stay below 1 the further the
        fewer sentences a cluster has, so compare at one size and one k.

    Raises:
        Undefined: a side is empty, or both together have fewer than k different sentences.

    Source: Pillutla et al. 2021, MAUVE; Arthur and Vassilvitskii 2007 for k-means++.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    if k < 2 or not seeds:
        raise ValueError("a frontier takes two clusters or more and one seed or more")
    if min(len(x), len(y)) == 0:
        raise Undefined("no sentences")
    pooled = np.concatenate([x, y]).astype(np.float64)
    points, places = np.unique(pooled, axis=0, return_inverse=True)
    if len(points) < k:
        raise Undefined(f"both sides together have fewer than {k} different sentences to cluster")
    in_x = np.bincount(places[: len(x)], minlength=len(points)).astype(np.float64)
    in_y = np.bincount(places[len(x) :], minlength=len(points)).astype(np.float64)
    values = []
    with threadpool_limits(1):  # threads add up in any order
        for seed in seeds:
            model = KMeans(k, n_init=1, random_state=seed).fit(points, sample_weight=in_x + in_y)
            p = np.bincount(model.labels_, weights=in_x, minlength=k)
            q = np.bincount(model.labels_, weights=in_y, minlength=k)
            values.append(frontier_score(p, q, scaling, smoothing=smoothing))
    return float(np.mean(values))


def frontier_score(
    p: npt.ArrayLike,
    q: npt.ArrayLike,
    scaling: float = SCALING,
    points: int = POINTS,
    smoothing: float = 0.0,
) -> float:
    """Area under the divergence frontier of two histograms.

    The frontier is the curve (exp(-c KL(q | r)), exp(-c KL(p | r))) over the mixtures r = w p + (1 - w) q, w from 0
    to 1, with KL in nats and c the scaling; it is closed by (0, 1) and (1, 0). No smoothing is needed, since r covers
    both sides. The area is that of the polygon through `points` mixtures, which lie denser towards w = 0 and 1, where
    the curve is steep; the published code takes 25 evenly spaced ones.

    Args:
        p: counts or probabilities [bins]; normalised here.
        q: the same over the same bins.
        scaling: c, above 0; larger values set apart what is nearly alike.
        points: mixtures on the curve, 2 or more.
        smoothing: added to every entry of p and q before they are normalised; meant for counts. 0 is the 2021 paper;
            1/2 (Krichevsky and Trofimov 1981) is what Pillutla et al. 2023 advise for small samples.

    Returns:
        1 (equal) down to 1 / binomial(2c, c) (nothing in common): for c = 5 that is 1/252, 0.004, not 0. No unit;
        symmetric; higher is more alike.

    Raises:
        Undefined: a side is empty.

    Source: Pillutla et al. 2021, MAUVE: measuring the gap between neural text and human text using divergence
    frontiers; Pillutla et al. 2023, MAUVE scores for generative models.

    >>> frontier_score([2, 1], [4, 2])
    1.0
    >>> round(1 / frontier_score([1, 0], [0, 1]))
    252
    """
    from scipy.special import rel_entr

    if scaling <= 0 or points < 2:
        raise ValueError("the scaling is above 0, and a curve has two points or more")
    left, right = _distribution(p, smoothing), _distribution(q, smoothing)
    if left.shape != right.shape:
        raise ValueError(f"histograms of {left.size} and {right.size} bins")
    if np.array_equal(left, right):
        return 1.0
    weights = (1 - np.cos(np.linspace(0, np.pi, points))) / 2
    weights[-1] = 1.0
    mixtures = weights[:, None] * left + (1 - weights[:, None]) * right
    # Infinite at an end of the curve where one side has a bin that the other lacks: the curve then starts on an axis.
    along = np.exp(-scaling * rel_entr(right, mixtures).sum(axis=1))
    up = np.exp(-scaling * rel_entr(left, mixtures).sum(axis=1))
    area = _polygon(np.concatenate([[0.0, 1.0], along, [0.0]]), np.concatenate([[0.0, 0.0], up, [1.0]]))
    return float(min(max(area, 0.0), 1.0))


def _polygon(x: _Array, y: _Array) -> float:
    """Area of a polygon from its corners in turn: half the sum of the cross products."""
    return abs(float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))) / 2


def _distribution(counts: npt.ArrayLike, smoothing: float) -> _Array:
    values = np.asarray(counts, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("a histogram is one row of finite numbers, none below 0")
    if values.sum() <= 0:
        raise Undefined("an empty histogram")
    values = values + smoothing
    return np.asarray(values / values.sum())
