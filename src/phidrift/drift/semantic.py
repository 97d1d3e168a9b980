"""Distances of two sets of sentence embeddings, as arrays [sentences, dimension].

All four fall as samples grow even where nothing differs, so compare them at one size. None depends on the order of the
sentences, not even in rounding: rows are sorted first. A sample against itself, in any order, gives exactly 0, and the
first three are exactly symmetric. All are computed in float64, but for the large matrices of `mmd`, which says so.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from phidrift.drift.lexical import jsd
from phidrift.drift.undefined import Undefined

Embeddings = npt.NDArray[np.floating]
_Array = npt.NDArray[np.float64]
_Places = npt.NDArray[np.int64]
# Up to so many points (32 MB of distances) MMD is in float64 and the median is taken directly, above by counting.
_DIRECT = 2_000
# Points and ranks that bracket the median before all pairs are counted. The median of the pairs of 1,024 points is
# within 1 or 2 % of the whole sample's in rank; a miss costs one more pass, never the result.
_PILOT = 1_024
_BRACKET = (0.45, 0.55)
# So fine that one pass over a bracket of usual width finds the median to the rounding of float32.
_BINS = 2**18
_PASSES = 8
# Squared distances of rows inside a radius of 1 have a rounding error of some 1e-7 in float32. Where the squared
# bandwidth is as small as this share of the radius, that is too much.
_LEAST_SPREAD = 1 / 16
# Squares and their sums stay finite in float64.
_LARGEST = 1e100
_FRECHET_ROUNDING = 1e-12
# Of the largest: the trace of the root then has ten digits from the covariance itself.
_LEAST_EIGENVALUE = 1e-7


def mmd(x: Embeddings, y: Embeddings, chunk: int = 1_024) -> float:
    """Maximum mean discrepancy: square root of the biased MMD^2 under exp(-d^2 / (2 s^2)).

    The bandwidth s is the median distance between two different points of the pooled sample (the diagonal left out).
    One point at 0 against one at 1: the only distance is 1, so s = 1 and MMD^2 = 1 + 1 - 2 exp(-1/2) = 0.787.

    Up to 2,000 pooled points all is float64, within 1e-12 of a plain double loop in MMD^2. Above, distances and kernel
    are float32 (rows centred first, sums in float64), within 1e-8 in MMD^2, so four digits of an MMD of 0.01;
    data that spread too unevenly for that (a bandwidth under a quarter of the radius) stay float64.

    Args:
        x: reference embeddings [n, dimension].
        y: candidate embeddings [m, dimension].
        chunk: rows and columns of the kernel held at a time: memory is chunk^2 beside the points, the result the same.

    Returns:
        0 to sqrt(2), no unit; symmetric; higher is more drift. The biased estimate falls with n and m.

    Raises:
        Undefined: a side is empty, a number is NaN or infinite, dimensions differ, or over half of the pooled pairs
            coincide, so that the bandwidth is 0.

    Source: Gretton et al. 2012, A kernel two-sample test.
    """
    x, y = _checked(x, y, 1)
    different, places, counts = _distinct(np.concatenate([x, y]))
    n = len(x)
    sides = [np.bincount(part, minlength=len(different)) / len(part) for part in (places[:n], places[n:])]
    # MMD^2 = w K w with one signed weight for each distinct row: equal samples cancel exactly, before any kernel.
    weights = sides[0] - sides[1]
    coinciding, pairs = int(np.sum(counts * (counts - 1) // 2)), len(places) * (len(places) - 1) // 2
    if not weights.any():
        return 0.0
    if coinciding > pairs // 2:
        raise Undefined("over half of the pairs of sentences coincide: the bandwidth is 0")
    # Distances stay, rounding errors shrink; the kernel does not depend on the scale.
    different = different - np.average(different, axis=0, weights=counts)
    different /= np.abs(different).max()
    different /= np.linalg.norm(different, axis=1).max()
    points: Embeddings = different
    bandwidth = 0.0
    if len(places) > _DIRECT:
        points = different.astype(np.float32)
        bandwidth = median_distance(np.repeat(points, counts, axis=0), chunk)
    if bandwidth**2 < _LEAST_SPREAD:
        points = different
        bandwidth = median_distance(np.repeat(points, counts, axis=0), chunk)
    if bandwidth == 0:
        raise Undefined("the median distance is lost in rounding: the bandwidth is 0")
    kept = weights != 0
    scaled = points[kept] / points.dtype.type(bandwidth)
    return float(np.sqrt(max(_weighted_kernel(scaled, weights[kept], chunk), 0)))


def _weighted_kernel(points: Embeddings, weights: _Array, chunk: int) -> float:
    """The sum of w_i w_j exp(-d_ij^2 / 2) over all i, j, of the upper tiles alone."""
    total = 0.0
    signed = weights.astype(points.dtype)
    for rows, columns, tile in _tiles(points, -0.5, chunk):
        np.exp(tile, out=tile)
        if rows == columns:
            np.fill_diagonal(tile, 1)
        part = float(weights[rows] @ (tile @ signed[columns]))
        total += part if rows == columns else 2 * part
    return total


def _tiles(points: Embeddings, scale: float, chunk: int) -> Iterator[tuple[slice, slice, Embeddings]]:
    """(rows, columns, scale * squared distances) of the tiles on and above the diagonal, which share their memory.

    |a|^2 + |b|^2 - 2 a b is one product of rows that carry their own norms: no pass over the tile adds them.
    """
    norms = np.sum(points**2, axis=1, keepdims=True)
    ones = np.ones_like(norms)
    left = np.hstack([points * points.dtype.type(-2 * scale), norms * points.dtype.type(scale), ones])
    right = np.hstack([points, ones, norms * points.dtype.type(scale)])
    edge = min(chunk, len(points))
    memory = np.empty(edge * edge, dtype=points.dtype)
    slices = [slice(start, min(start + edge, len(points))) for start in range(0, len(points), edge)]
    for place, rows in enumerate(slices):
        for columns in slices[place:]:
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = memory[: shape[0] * shape[1]].reshape(shape)
            yield rows, columns, np.matmul(left[rows], right[columns].T, out=tile)


def median_distance(points: Embeddings, chunk: int = 1_024) -> float:
    """Median Euclidean distance between different points [n, dimension]; memory does not grow with n squared.

    Up to 2,000 points in float64; above, in the precision of the points, to its rounding. The points should be centred,
    with no number above 1: the larger they are against their distances, the more those lose.

    Raises:
        Undefined: fewer than two points.
    """
    n = len(points)
    if n < 2:
        raise Undefined("fewer than two sentences")
    if n <= _DIRECT:
        # The square root comes first: the mean of two middle values is one of distances.
        return float(np.median(np.sqrt(_pairs(points.astype(np.float64)))))
    pairs = n * (n - 1) // 2
    top = 4 * float(np.max(np.sum(points**2, axis=1)))
    margin = 16 * float(np.finfo(points.dtype).eps) * top + 1e-30
    pilot = _pairs(points[np.random.default_rng(0).choice(n, min(_PILOT, n), replace=False)])
    low, high = (float(value) for value in np.quantile(pilot, _BRACKET))
    counted = cache(lambda low, high: _count(points, low, high, chunk))
    # In the whole square of distances the diagonal comes first, then every pair twice.
    ranks = sorted({(pairs - 1) // 2, pairs // 2})
    fine = 8 * float(np.finfo(points.dtype).eps)
    low, high, top = low - margin, high + margin, top + margin
    squares = [_ranked(n + 2 * rank, low, high, top, fine, counted) for rank in ranks]
    return float(np.mean(np.sqrt([square if square > margin else 0.0 for square in squares])))


def _pairs(points: Embeddings) -> Embeddings:
    """The squared distances of all pairs, each once [n (n - 1) / 2]."""
    ((_, _, tile),) = _tiles(points, 1, len(points))
    return np.maximum(tile[np.triu_indices(len(points), 1)], 0)


def _ranked(
    position: int,
    low: float,
    high: float,
    top: float,
    fine: float,
    counted: Callable[[float, float], tuple[int, _Places]],
) -> float:
    """The squared distance at that position (from 0) of all in order; a bracket that misses it moves on."""
    value = low
    for _ in range(_PASSES):
        below, upto = counted(low, high)
        if position < below:
            low, high = -1.0, low
        elif position >= upto[-1]:
            low, high = high, top
        else:
            width = (high - low) / _BINS
            place = int(np.searchsorted(upto, position, side="right"))
            value = low + (place + 0.5) * width
            if width <= fine * value:
                break
            low, high = low + (place - 1) * width, low + (place + 2) * width
    return value


def _count(points: Embeddings, low: float, high: float, chunk: int) -> tuple[int, _Places]:
    """(squared distances below low, those below the upper end of each of `_BINS` bins from low to high).

    Over the whole square: each pair twice, and the diagonal, which counts as below.
    """
    below, counts, scale = 0, np.zeros(_BINS, dtype=np.int64), _BINS / (high - low)
    for rows, columns, tile in _tiles(points, 1, chunk):
        times = 1 if rows == columns else 2
        if rows == columns:
            np.fill_diagonal(tile, -2)
        over = tile >= low
        below += times * (tile.size - int(np.count_nonzero(over)))
        inside = tile[over & (tile < high)]
        bins = np.minimum(((inside - low) * scale).astype(np.int64), _BINS - 1)
        counts += times * np.bincount(bins, minlength=_BINS)
    return below, below + np.cumsum(counts)


def frechet_distance(x: Embeddings, y: Embeddings) -> float:
    """Squared Fréchet distance of the Gaussians fitted to two samples.

    |mean_x - mean_y|^2 + tr(S_x + S_y - 2 (S_x S_y)^(1/2)), covariances with ddof = 1. The trace of the root is the sum
    of the singular values of A B^T, where S_x = A^T A and S_y = B^T B: the roots of the eigenvalues of a symmetric
    positive matrix, so that none is negative or complex.

    Args:
        x: reference embeddings [n, dimension].
        y: candidate embeddings [m, dimension].

    Returns:
        0 up, squared units of the embedding; symmetric; higher is more drift. Biased upwards, badly so where n or m is
        not much larger than the dimension: only values at one size compare.

    Raises:
        Undefined: a side has fewer than two sentences.

    Source: Dowson and Landau 1982; Heusel et al. 2017.
    """
    x, y = (_sorted_rows(side) for side in _checked(x, y, 2))
    if np.array_equal(x, y):
        return 0.0
    (mean_x, a), (mean_y, b) = sorted((_gaussian(x), _gaussian(y)), key=lambda side: side[1].tobytes())
    traces = float(np.sum(a**2) + np.sum(b**2))
    root = float(np.sum(np.linalg.svd(a @ b.T, compute_uv=False)))
    covariances = traces - 2 * root
    means = float(np.sum((mean_x - mean_y) ** 2))
    return means + (covariances if covariances > _FRECHET_ROUNDING * traces else 0.0)


def _gaussian(x: _Array) -> tuple[_Array, _Array]:
    """Mean [dimension] and a factor A [min(n, dimension), dimension] of the covariance A^T A."""
    mean = x.mean(axis=0)
    factor = x - mean
    factor /= np.sqrt(len(x) - 1)
    if len(factor) > factor.shape[1]:
        covariance = factor.T @ factor
        values = np.linalg.eigvalsh(covariance)
        # The Cholesky factor costs a tenth of a QR factorisation, and loses digits as the covariance nears a flat one.
        if values[0] > _LEAST_EIGENVALUE * values[-1]:
            factor = np.linalg.cholesky(covariance).T
        else:
            factor = np.linalg.qr(factor, mode="r")
    return mean, factor


def embedding_mean_distance(x: Embeddings, y: Embeddings) -> float:
    """Euclidean distance of the two mean embeddings [dimension].

    0 up, in units of the embedding (at most 2 where it has length 1); symmetric; higher is more drift.

    Raises:
        Undefined: a side is empty.

    Source: the study's appendix on drift metrics.
    """
    x, y = (_sorted_rows(side) for side in _checked(x, y, 1))
    return float(np.linalg.norm(x.mean(axis=0) - y.mean(axis=0)))


def cluster_jsd(reference: Embeddings, candidate: Embeddings, k: int, seeds: Sequence[int]) -> float:
    """Jensen-Shannon divergence of cluster histograms, clusters found by k-means on the reference alone.

    Both sides are assigned to the nearest centroid; the value is the mean over the seeds: k-means moves with them.

    Args:
        reference: embeddings [n, dimension] that define the clusters.
        candidate: embeddings [m, dimension].
        k: number of clusters.
        seeds: one k-means start (k-means++) each.

    Returns:
        0 to 1 bit; not symmetric; higher is more drift.

    Raises:
        Undefined: a side is empty, or the reference has fewer than k different sentences.

    Source: Lin 1991; Arthur and Vassilvitskii 2007.
    """
    return cluster_jsd_given(fit_clusters(reference, k, seeds), reference, candidate)


def fit_clusters(reference: Embeddings, k: int, seeds: Sequence[int]) -> list[_Array]:
    """Centroids [k, dimension] for every seed."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    different, _, counts = _distinct(_checked(reference, reference, 1)[0])
    if len(different) < k:
        raise Undefined(f"the reference has fewer than {k} different sentences to cluster")
    # k-means starts from rows by number: sorted, so that the order of the sentences is nothing to it.
    points = np.repeat(different, counts, axis=0)
    with threadpool_limits(1):  # threads add up in any order
        return [KMeans(k, n_init=1, random_state=seed).fit(points).cluster_centers_ for seed in seeds]


def cluster_jsd_given(centroids: Sequence[_Array], reference: Embeddings, candidate: Embeddings) -> float:
    """As `cluster_jsd`, with centroids already fitted, one array a seed."""
    x, y = _checked(reference, candidate, 1)
    return float(np.mean([jsd(_histogram(each, x), _histogram(each, y)) for each in centroids]))


def _histogram(centroids: _Array, x: _Array) -> _Places:
    scores = np.sum(centroids**2, axis=1)[None, :] - 2 * (x @ centroids.T)
    return np.bincount(np.argmin(scores, axis=1), minlength=len(centroids))


def _checked(x: Embeddings, y: Embeddings, least: int) -> tuple[_Array, _Array]:
    """Both samples in float64, if they can be measured."""
    if min(len(x), len(y)) < least:
        raise Undefined("no sentences" if least == 1 else f"fewer than {least} sentences")
    if x.shape[1] != y.shape[1]:
        raise Undefined(f"embeddings of {x.shape[1]} and {y.shape[1]} dimensions do not compare")
    if x.shape[1] == 0:
        raise Undefined("embeddings without dimensions")
    both = x.astype(np.float64), y.astype(np.float64)
    if not all(side.max() < _LARGEST and side.min() > -_LARGEST for side in both):  # NaN is neither
        raise Undefined("an embedding is NaN, infinite or above 1e100")
    return both


def _distinct(x: _Array) -> tuple[_Array, _Places, _Places]:
    """(different rows, in an order of their own; the place there of each row; how often each occurs)."""
    whole = np.ascontiguousarray(x + 0.0)  # -0.0 becomes 0.0: rows are compared as bytes, which is fast
    rows = whole.view(f"V{whole.itemsize * whole.shape[1]}").ravel()
    different, places, counts = np.unique(rows, return_inverse=True, return_counts=True)
    return different.view(np.float64).reshape(len(different), -1), places, counts


def _sorted_rows(x: _Array) -> _Array:
    """The rows in an order that depends on them alone: by two columns, or by all where these leave it open."""
    keys = x[:, :2]
    order = np.lexsort(keys.T)
    ordered = x[order]
    if np.any(np.all(ordered[1:, :2] == ordered[:-1, :2], axis=1)):
        different, _, counts = _distinct(x)
        return np.repeat(different, counts, axis=0)
    return ordered
