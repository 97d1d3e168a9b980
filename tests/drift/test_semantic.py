"""Embedding distances against plain float64 computations."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from scipy.spatial.distance import jensenshannon, pdist
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

from phidrift.drift import Undefined, semantic

SHAPES = st.tuples(st.integers(2, 12), st.integers(2, 12), st.integers(1, 5), st.integers(0, 2**32 - 1))


def two_samples(n, m, dimension, seed):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, dimension)), random.normal(0.5, 1.3, size=(m, dimension))


def mmd_by_loops(x, y):
    pooled = np.concatenate([x, y])
    distances = [math.dist(a, b) for i, a in enumerate(pooled) for b in pooled[i + 1 :]]
    s = float(np.median(distances))

    def kernel(a, b):
        return sum(math.exp(-(math.dist(u, v) ** 2) / (2 * s * s)) for u in a for v in b) / (len(a) * len(b))

    return math.sqrt(max(kernel(x, x) + kernel(y, y) - 2 * kernel(x, y), 0))


@settings(deadline=None)
@given(SHAPES)
def test_mmd_is_the_double_loop(shape):
    x, y = two_samples(*shape)
    assert semantic.mmd(x, y) == pytest.approx(mmd_by_loops(x, y), rel=1e-6, abs=1e-7)
    assert semantic.mmd(x, y) == pytest.approx(semantic.mmd(y, x), rel=1e-9, abs=1e-9)


def test_mmd_as_sklearns_kernel_and_in_chunks():
    x, y = two_samples(70, 50, 20, 1)
    gamma = 1 / (2 * np.median(pdist(np.concatenate([x, y]))) ** 2)
    squared = (
        rbf_kernel(x, x, gamma).mean() + rbf_kernel(y, y, gamma).mean() - 2 * rbf_kernel(x, y, gamma).mean()
    )
    assert semantic.mmd(x, y) == pytest.approx(math.sqrt(squared), rel=1e-10)
    for chunk in (1, 7, 64, 1000):
        assert semantic.mmd(x, y, chunk=chunk) == pytest.approx(semantic.mmd(x, y), rel=1e-10)


def test_mmd_by_hand():
    # Two points at 0 and at 1: the only distance is 1, s = 1, MMD^2 = 1 + 1 - 2 exp(-1/2).
    assert semantic.mmd(np.array([[0.0]]), np.array([[1.0]])) == pytest.approx(
        math.sqrt(2 - 2 * math.exp(-0.5))
    )


def test_mmd_of_a_sample_with_itself_is_zero_in_any_order():
    x, _ = two_samples(300, 2, 384, 2)
    assert semantic.mmd(x, x) == 0
    assert semantic.mmd(x, x[::-1]) == 0


def test_mmd_without_a_bandwidth_is_undefined():
    same = np.zeros((5, 3))
    with pytest.raises(Undefined, match="bandwidth"):
        semantic.mmd(same, np.concatenate([same, np.ones((1, 3))]))
    with pytest.raises(Undefined, match="no sentences"):
        semantic.mmd(same, np.zeros((0, 3)))


@pytest.mark.parametrize("n", [100, 101, 102, 103])  # an odd and an even number of pairs, with ties
def test_counted_median_is_the_direct_one(n, monkeypatch):
    points = np.round(np.random.default_rng(n).normal(size=(n, 2)), 1)
    expected = float(np.median(pdist(points)))
    assert semantic.median_distance(points) == pytest.approx(expected, rel=1e-9)
    monkeypatch.setattr(semantic, "_DIRECT", 10)
    assert semantic.median_distance(points, chunk=17) == pytest.approx(expected, rel=1e-9)


def test_counted_median_where_most_points_coincide(monkeypatch):
    monkeypatch.setattr(semantic, "_DIRECT", 2)
    assert semantic.median_distance(np.array([[0.0, 0.0]] * 9 + [[1.0, 1.0]])) == 0
    assert semantic.median_distance(np.zeros((9, 2))) == 0


def test_memory_of_mmd_does_not_grow_with_the_square_of_the_sample():
    x, y = two_samples(1_500, 1_500, 3, 6)
    tracemalloc.start()
    semantic.mmd(x, y, chunk=128)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24e6  # all distances at once are 72 MB, a block of 128 rows 3 MB


def frechet_by_sqrtm(x, y):
    s, t = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    s, t = np.atleast_2d(s), np.atleast_2d(t)
    root = sqrtm(s @ t)
    return float(np.sum((x.mean(0) - y.mean(0)) ** 2) + np.trace(s + t) - 2 * np.trace(root).real)


@pytest.mark.parametrize(("n", "m"), [(40, 60), (300, 7), (12, 200)])
def test_frechet_is_the_formula_with_sqrtm(n, m):
    x, y = two_samples(n, m, 6, n)
    assert semantic.frechet_distance(x, y) == pytest.approx(frechet_by_sqrtm(x, y), rel=1e-8)
    assert semantic.frechet_distance(y, x) == pytest.approx(semantic.frechet_distance(x, y), rel=1e-9)


@pytest.mark.parametrize("smallest", [1.0, 1e-2, 3e-4, 1e-5, 0.0])
def test_frechet_is_the_same_from_the_covariance_and_from_the_rows(smallest, monkeypatch):
    # Standard deviations fall to 3e-4 (eigenvalues to 1e-7 of the largest): from there on the rows are factored.
    random = np.random.default_rng(8)
    scale = np.linspace(1, smallest, 12)
    x, y = random.normal(size=(80, 12)) * scale, random.normal(0.1, 1.2, size=(60, 12)) * scale
    found = semantic.frechet_distance(x, y)
    monkeypatch.setattr(semantic, "_LEAST_EIGENVALUE", 2)  # none is twice the largest: always the rows
    assert semantic.frechet_distance(x, y) == pytest.approx(found, rel=1e-11)


def test_frechet_of_fewer_points_than_dimensions_is_the_symmetric_root():
    # Here sqrtm meets a singular product; the root of S^(1/2) T S^(1/2) by symmetric eigenvalues does not.
    x, y = two_samples(10, 8, 30, 3)
    s, t = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    values, vectors = np.linalg.eigh(s)
    half = (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    root = np.sum(np.sqrt(np.clip(np.linalg.eigvalsh(half @ t @ half), 0, None)))
    expected = np.sum((x.mean(0) - y.mean(0)) ** 2) + np.trace(s) + np.trace(t) - 2 * root
    assert semantic.frechet_distance(x, y) == pytest.approx(expected, rel=1e-6)


def test_frechet_by_hand():
    # {0, 2} has mean 1 and variance 2, {3, 7} mean 5 and variance 8: 16 + 2 + 8 - 2 sqrt(16) = 18.
    assert semantic.frechet_distance(np.array([[0.0], [2.0]]), np.array([[3.0], [7.0]])) == pytest.approx(18)


def test_frechet_of_a_sample_with_itself_is_zero_in_any_order():
    x, _ = two_samples(50, 2, 384, 4)
    assert semantic.frechet_distance(x, x) == 0
    assert semantic.frechet_distance(x, x[::-1]) == pytest.approx(0, abs=1e-20)


def test_frechet_needs_two_sentences():
    with pytest.raises(Undefined, match="fewer than 2"):
        semantic.frechet_distance(np.ones((1, 3)), np.ones((5, 3)))


@given(SHAPES)
def test_mean_distance(shape):
    x, y = two_samples(*shape)
    assert semantic.embedding_mean_distance(x, y) == pytest.approx(math.dist(x.mean(0), y.mean(0)))
    assert semantic.embedding_mean_distance(x, x) == 0


def test_cluster_jsd_by_hand():
    # Clusters around 0 and 10. Reference: half and half; candidate: all at 10.
    # P = (1/2, 1/2), Q = (0, 1), M = (1/4, 3/4): (1/2 (1/2 log2 2 + 1/2 log2 2/3) + 1/2 log2 4/3) = 0.311278.
    reference = np.array([[0.0], [0.1], [10.0], [10.1]])
    candidate = np.array([[9.0], [11.0]])
    expected = 0.5 * (0.5 + 0.5 * math.log2(2 / 3)) + 0.5 * math.log2(4 / 3)
    assert semantic.cluster_jsd(reference, candidate, 2, [0, 1]) == pytest.approx(expected, abs=1e-12)
    assert semantic.cluster_jsd(reference, reference, 2, [0]) == 0


def test_cluster_jsd_as_sklearn_and_scipy():
    x, y = two_samples(80, 60, 4, 5)
    x = semantic._distinct(x)[0]  # k-means starts from rows by number
    values = []
    for seed in (0, 1, 2):
        model = KMeans(6, n_init=1, random_state=seed).fit(x)
        histograms = [np.bincount(model.predict(each), minlength=6) for each in (x, y)]
        values.append(jensenshannon(*histograms, base=2) ** 2)
    assert len({round(value, 6) for value in values}) > 1  # the seed moves it
    assert semantic.cluster_jsd(x, y, 6, [0, 1, 2]) == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_rows_are_sorted_whatever_their_order_and_their_ties(columns):
    # Numbers of two values only: many rows are equal in the first two columns, some in all.
    random = np.random.default_rng(2)
    x = random.integers(0, 2, (60, columns)).astype(np.float64)
    found = semantic._sorted_rows(x)
    assert sorted(map(tuple, found)) == sorted(map(tuple, x))
    for _ in range(5):
        assert np.array_equal(semantic._sorted_rows(random.permutation(x)), found)


def test_cluster_jsd_needs_different_sentences():
    with pytest.raises(Undefined, match="fewer than 3 different"):
        semantic.cluster_jsd(np.array([[0.0], [0.0], [1.0]]), np.ones((4, 1)), 3, [0])


def near_sphere(n, seed, shift=0.0):
    points = np.random.default_rng(seed).normal(size=(n, 24)) + shift
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def test_large_mmd_is_the_small_ones_to_1e_8():
    # 2,600 pooled points are computed in float32; the oracle is float64 throughout, with its median by scipy.
    x, y = near_sphere(1_300, 1), near_sphere(1_300, 2, 0.1)
    pooled = np.concatenate([x, y]).astype(np.float64)
    distances = pdist(pooled)
    gamma = 1 / (2 * np.median(distances) ** 2)
    w = np.repeat([1 / 1_300, -1 / 1_300], 1_300)
    expected = w @ rbf_kernel(pooled, pooled, gamma) @ w
    found = semantic.mmd(x, y)
    assert found**2 == pytest.approx(expected, abs=1e-8)
    assert semantic.mmd(x, y, chunk=333) ** 2 == pytest.approx(expected, abs=1e-8)
    assert semantic.mmd(y, x) == found
    assert semantic.mmd(x[::-1], np.roll(y, 7, axis=0)) == found
    assert semantic.mmd(x, np.concatenate([x, x, x])) == 0


def test_mmd_of_a_far_outlier_is_still_exact():
    # One point far off leaves float32 no digits for the others: float64 has them.
    x, y = near_sphere(1_100, 3), near_sphere(1_100, 4, 0.2)
    x[0] = 1e4
    pooled = np.concatenate([x, y]).astype(np.float64)
    gamma = 1 / (2 * np.median(pdist(pooled)) ** 2)
    w = np.repeat([1 / 1_100, -1 / 1_100], 1_100)
    expected = w @ rbf_kernel(pooled, pooled, gamma) @ w
    assert semantic.mmd(x, y) ** 2 == pytest.approx(expected, abs=1e-8)


def test_a_bracket_that_misses_the_median_changes_nothing(monkeypatch):
    points = near_sphere(300, 5).astype(np.float64)
    monkeypatch.setattr(semantic, "_DIRECT", 10)
    for bracket in [(0.0, 0.1), (0.9, 1.0), (0.5, 0.5)]:
        monkeypatch.setattr(semantic, "_BRACKET", bracket)
        assert semantic.median_distance(points, 64) == pytest.approx(np.median(pdist(points)), rel=1e-9)


METRICS = {
    "mmd": semantic.mmd,
    "frechet": semantic.frechet_distance,
    "mean": semantic.embedding_mean_distance,
    "cluster": lambda x, y: semantic.cluster_jsd(x, y, 2, [0]),
}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_what_cannot_be_measured_says_why(metric):
    good = near_sphere(6, 6)
    for bad in (np.nan, np.inf, -np.inf):
        broken = good.copy()
        broken[2, 3] = bad
        for pair in [(broken, good), (good, broken)]:
            with pytest.raises(Undefined, match="NaN, infinite"):
                metric(*pair)
    for empty in (np.zeros((0, 24)), np.zeros((0, 0))):
        with pytest.raises(Undefined):
            metric(good, empty)
        with pytest.raises(Undefined):
            metric(empty, good)
    with pytest.raises(Undefined, match="dimensions"):
        metric(good, good[:, :5])


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_order_changes_no_bit_and_itself_is_zero(metric):
    x, y = near_sphere(40, 7), near_sphere(30, 8)
    assert metric(x, y) > 0
    assert metric(x[::-1], y[::-1]) == metric(x, y)
    assert metric(x, x[::-1]) == 0


@pytest.mark.parametrize("name", ["mmd", "frechet", "mean"])
def test_exactly_symmetric(name):
    x, y = near_sphere(40, 9), near_sphere(30, 10)
    assert METRICS[name](x, y) == METRICS[name](y, x)
