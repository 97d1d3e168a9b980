"""Distances of two sets of sentence embeddings, as arrays [sentences, dimension].

All four fall as samples grow even where nothing differs, so compare them at one size. All are computed in float64.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from phidrift.drift.lexical import jsd
from phidrift.drift.undefined import Undefined

Embeddings = npt.NDArray[np.floating]
_Array = npt.NDArray[np.float64]
# Up to so many points (32 MB of distances) the median is taken directly, above by counting.
_DIRECT_MEDIAN = 2_000
_BINS = 65_536
# Rounding error of a mean of float64 kernel values: below it a squared MMD is 0.
_MMD_ROUNDING = 1e-13
_FRECHET_ROUNDING = 1e-12


def mmd(x: Embeddings, y: Embeddings, chunk: int = 1_024) -> float:
    """Maximum mean discrepancy: square root of the biased MMD^2 under exp(-d^2 / (2 s^2)).

    The bandwidth s is the median distance between two different points of the pooled sample (the diagonal left out).

    Args:
        x: reference embeddings [n, dimension].
        y: candidate embeddings [m, dimension].
        chunk: rows of the kernel held at a time: memory is chunk * (n + m), the result the same.

    Returns:
        0 to sqrt(2), no unit; symmetric; higher is more drift. The biased estimate falls with n and m.

    Raises:
        Undefined: a side is empty, or over half of the pooled pairs coincide, so that the bandwidth is 0.

    Source: Gretton et al. 2012, A kernel two-sample test.
    """
    _require(x, y, 1)
    if np.array_equal(x, y):
        return 0.0
    pooled = np.concatenate([x, y]).astype(np.float64)
    pooled -= pooled.mean(axis=0)  # distances stay, rounding errors shrink
    bandwidth = median_distance(pooled, chunk)
    if bandwidth == 0:
        raise Undefined("over half of the sentences coincide: the bandwidth is 0")
    weights = np.concatenate([np.full(len(x), 1 / len(x)), np.full(len(y), -1 / len(y))])
    squared = 0.0
    for start, distances in _squared_distances(pooled, chunk):
        kernel = np.exp(distances / (-2 * bandwidth**2))
        squared += float(weights[start : start + len(kernel)] @ (kernel @ weights))
    return float(np.sqrt(squared)) if squared > _MMD_ROUNDING else 0.0


def median_distance(points: _Array, chunk: int = 1_024) -> float:
    """Median Euclidean distance between different points [n, dimension]; memory does not grow with n squared.

    Raises:
        Undefined: fewer than two points.
    """
    n = len(points)
    if n < 2:
        raise Undefined("fewer than two sentences")
    if n <= _DIRECT_MEDIAN:
        blocks = [_above_diagonal(start, block) for start, block in _squared_distances(points, chunk)]
        # The square root comes first: the mean of two middle values is one of distances.
        return float(np.median(np.sqrt(np.concatenate(blocks))))
    pairs = n * (n - 1) // 2
    ranks = {(pairs - 1) // 2, pairs // 2}
    return sum(float(np.sqrt(_ranked(points, rank, chunk))) for rank in sorted(ranks)) / len(ranks)


def _ranked(points: _Array, rank: int, chunk: int) -> float:
    """The rank-th smallest squared distance (from 0), by counting in ever narrower bins: three passes, fixed memory."""
    low, high = 0.0, 4 * float(np.max(np.sum(points**2, axis=1))) * (1 + 1e-9) + 1e-300
    for _ in range(3):
        width = (high - low) / _BINS
        if width == 0:
            break
        counts, below = np.zeros(_BINS, dtype=np.int64), 0
        for start, block in _squared_distances(points, chunk):
            values = _above_diagonal(start, block)
            below += int(np.count_nonzero(values < low))
            inside = values[(values >= low) & (values <= high)]
            places = np.minimum(((inside - low) / width).astype(np.int64), _BINS - 1)
            counts += np.bincount(places, minlength=_BINS)
        place = int(np.searchsorted(below + np.cumsum(counts), rank, side="right"))
        place = min(place, _BINS - 1)
        low, high = low + place * width, low + (place + 1) * width
    # A first bin is never left where the points coincide.
    return 0.0 if low == 0 else (low + high) / 2


def _squared_distances(points: _Array, chunk: int) -> Iterator[tuple[int, _Array]]:
    """(first row, squared distances [rows, n]) for one block of rows after another."""
    norms = np.sum(points**2, axis=1)
    for start in range(0, len(points), chunk):
        block = points[start : start + chunk]
        distances = norms[start : start + chunk, None] + norms[None, :] - 2 * (block @ points.T)
        yield start, np.maximum(distances, 0)


def _above_diagonal(start: int, block: _Array) -> _Array:
    rows, columns = block.shape
    keep = np.arange(columns)[None, :] > (start + np.arange(rows))[:, None]
    return np.asarray(block[keep])


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
    _require(x, y, 2)
    if np.array_equal(x, y):
        return 0.0
    (mean_x, a), (mean_y, b) = _gaussian(x), _gaussian(y)
    traces = float(np.sum(a**2) + np.sum(b**2))
    root = float(np.sum(np.linalg.svd(a @ b.T, compute_uv=False)))
    covariances = traces - 2 * root
    means = float(np.sum((mean_x - mean_y) ** 2))
    return means + (covariances if covariances > _FRECHET_ROUNDING * traces else 0.0)


def _gaussian(x: Embeddings) -> tuple[_Array, _Array]:
    """Mean [dimension] and a factor A [min(n, dimension), dimension] of the covariance A^T A."""
    values = x.astype(np.float64)
    mean = values.mean(axis=0)
    factor = (values - mean) / np.sqrt(len(values) - 1)
    if len(factor) > factor.shape[1]:
        factor = np.linalg.qr(factor, mode="r")
    return mean, factor


def embedding_mean_distance(x: Embeddings, y: Embeddings) -> float:
    """Euclidean distance of the two mean embeddings [dimension].

    0 up, in units of the embedding (at most 2 where it has length 1); symmetric; higher is more drift.

    Raises:
        Undefined: a side is empty.

    Source: the study's appendix on drift metrics.
    """
    _require(x, y, 1)
    return float(np.linalg.norm(x.astype(np.float64).mean(axis=0) - y.astype(np.float64).mean(axis=0)))


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

    points = reference.astype(np.float64)
    if len(np.unique(points, axis=0)) < k:
        raise Undefined(f"the reference has fewer than {k} different sentences to cluster")
    with threadpool_limits(1):  # threads add up in any order
        return [KMeans(k, n_init=1, random_state=seed).fit(points).cluster_centers_ for seed in seeds]


def cluster_jsd_given(centroids: Sequence[_Array], reference: Embeddings, candidate: Embeddings) -> float:
    """As `cluster_jsd`, with centroids already fitted, one array a seed."""
    _require(reference, candidate, 1)
    values = [jsd(_histogram(each, reference), _histogram(each, candidate)) for each in centroids]
    return float(np.mean(values))


def _histogram(centroids: _Array, x: Embeddings) -> npt.NDArray[np.int64]:
    scores = np.sum(centroids**2, axis=1)[None, :] - 2 * (x.astype(np.float64) @ centroids.T)
    return np.bincount(np.argmin(scores, axis=1), minlength=len(centroids))


def _require(x: Embeddings, y: Embeddings, least: int) -> None:
    if min(len(x), len(y)) < least:
        raise Undefined("no sentences" if least == 1 else f"fewer than {least} sentences")
