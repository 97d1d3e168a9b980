"""The divergence frontier score against closed forms, numeric integration and a plain composition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.cluster import KMeans

from phidrift.drift import Undefined
from phidrift.drift.frontier import frontier, frontier_score

HISTOGRAMS = st.integers(2, 6).flatmap(
    lambda bins: st.tuples(
        *[st.lists(st.integers(0, 9), min_size=bins, max_size=bins).filter(any) for _ in range(2)]
    )
)


@pytest.mark.parametrize("scaling", [1.0, 2.0, 5.0])
def test_disjoint_histograms_have_a_closed_form(scaling):
    # p and q share no bin: KL(q | r) = -ln(1 - w), KL(p | r) = -ln w, so the curve is ((1 - w)^c, w^c) and its area
    # is the integral of w^c c (1 - w)^(c - 1), c B(c + 1, c) = c! c! / (2c)!: 1/2, 1/6, 1/252 for c = 1, 2, 5.
    expected = 1 / math.comb(int(2 * scaling), int(scaling))
    assert frontier_score([3, 1, 0], [0, 0, 2], scaling) == pytest.approx(expected, abs=1e-5)


def test_equal_histograms_score_one():
    assert frontier_score([1, 2, 0, 5], [3, 6, 0, 15]) == 1.0
    assert frontier_score([0.1] * 10, [7] * 10) == 1.0


def by_integration(p, q, c):
    """Integral of the height over the width of the curve, dx/dw by hand; beyond its end the curve is flat at 1."""
    p, q = np.array(p) / np.sum(p), np.array(q) / np.sum(q)

    def width(w):
        return math.exp(
            -c * sum(b * math.log(b / (w * a + (1 - w) * b)) for a, b in zip(p, q, strict=True) if b > 0)
        )

    def height(w):
        return math.exp(
            -c * sum(a * math.log(a / (w * a + (1 - w) * b)) for a, b in zip(p, q, strict=True) if a > 0)
        )

    def step(w):
        # d/dw of KL(q | r) is -sum q (p - q) / r.
        slope = sum(b * (a - b) / (w * a + (1 - w) * b) for a, b in zip(p, q, strict=True) if b > 0)
        return -height(w) * width(w) * c * slope

    return quad(step, 0, 1, limit=200)[0] + (width(1) if all(p[q > 0] > 0) else 0)


@pytest.mark.parametrize("c", [1.0, 5.0])
@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([5, 3, 2], [2, 3, 5]),
        ([1, 1, 0], [0, 1, 1]),
        ([1, 1, 1, 1], [1, 0, 0, 0]),
        ([97, 1, 1, 1], [1, 1, 1, 97]),
        ([50, 49, 1, 0], [49, 50, 0, 1]),
    ],
)
def test_score_is_the_integral(p, q, c):
    assert frontier_score(p, q, c) == pytest.approx(by_integration(p, q, c), abs=5e-5)


@given(HISTOGRAMS, st.sampled_from([1.0, 5.0]))
def test_range_and_symmetry(pair, scaling):
    p, q = pair
    score = frontier_score(p, q, scaling)
    assert 1 / math.comb(int(2 * scaling), int(scaling)) - 1e-4 <= score <= 1
    assert score == pytest.approx(frontier_score(q, p, scaling), abs=1e-12)
    order = np.random.default_rng(0).permutation(len(p))
    assert score == pytest.approx(frontier_score(np.array(p)[order], np.array(q)[order], scaling), abs=1e-12)


def test_score_falls_with_the_distance_and_rises_with_smoothing():
    scores = [frontier_score([10, 10], [10 - shift, 10 + shift]) for shift in (0, 1, 4, 9, 10)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5
    # 1/2 added to (2, 0) and (0, 2) makes them (5/6, 1/6) and (1/6, 5/6).
    assert frontier_score([2, 0], [0, 2], smoothing=0.5) == pytest.approx(
        frontier_score([5, 1], [1, 5]), abs=1e-12
    )
    assert frontier_score([2, 0], [0, 2], smoothing=0.5) > frontier_score([2, 0], [0, 2])


def test_bad_histograms():
    with pytest.raises(Undefined, match="empty"):
        frontier_score([0, 0], [1, 0], smoothing=0.5)
    for p in ([1, -1, 2], [math.nan, 1, 1], [[1, 1, 1]]):
        with pytest.raises(ValueError, match="histogram"):
            frontier_score(p, [1, 1, 1])
    with pytest.raises(ValueError, match="bins"):
        frontier_score([1, 1], [1, 1, 1])
    with pytest.raises(ValueError, match="scaling"):
        frontier_score([1, 1], [2, 1], scaling=0)


def clouds(n, m, shift, seed):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 4)), random.normal(shift, 1, size=(m, 4))


def test_two_clusters_by_hand():
    # Two clear clusters hold 3 + 1 reference and 1 + 3 candidate points, whatever the seed.
    x, y = np.array([[0.0], [0.1], [0.2], [9.0]]), np.array([[0.1], [9.1], [9.2], [9.0]])
    assert frontier(x, y, 2, [0, 1, 2]) == pytest.approx(frontier_score([3, 1], [1, 3]), abs=1e-12)
    assert frontier(x, y, 2, [0], smoothing=0.5) == pytest.approx(frontier_score([7, 3], [3, 7]), abs=1e-12)
    far = np.array([[0.0], [1.0]])
    assert frontier(far, far + 100, 2, [0]) == pytest.approx(1 / 252, abs=2e-6)


def test_equal_sentences_weigh_as_many():
    # Of 0 a hundred times, 5 and 9, the halves {0, 5} and {9} are no resting place of k-means: their means are 0.05 and
    # 9, and 5 is nearer to 9. Were each different point counted once, the means 2.5 and 9 would stand.
    x, y = np.zeros((60, 1)), np.array([[0.0]] * 40 + [[5.0], [9.0]])
    assert frontier(x, y, 2, range(10)) == pytest.approx(frontier_score([60, 0], [40, 2]), abs=1e-12)


def test_embeddings_as_plain_kmeans():
    x, y = clouds(60, 40, 0.7, 1)
    values = []
    pooled = np.concatenate([x, y])
    order = np.lexsort(pooled.T[::-1])
    for seed in (0, 1, 2):
        labels = np.empty(100, dtype=int)
        labels[order] = KMeans(6, n_init=1, random_state=seed).fit(pooled[order]).labels_
        p, q = np.bincount(labels[:60], minlength=6), np.bincount(labels[60:], minlength=6)
        values.append(by_integration(p, q, 5.0))
    assert len({round(value, 6) for value in values}) > 1  # the seed moves it
    assert frontier(x, y, 6, [0, 1, 2]) == pytest.approx(np.mean(values), abs=5e-5)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_order_and_side_do_not_matter(seed):
    x, y = clouds(30, 20, 0.5, seed)
    random = np.random.default_rng(seed)
    value = frontier(x, y, 4, [0, 1])
    assert value == pytest.approx(
        frontier(random.permutation(x), random.permutation(y), 4, [0, 1]), abs=1e-12
    )
    assert value == pytest.approx(frontier(y, x, 4, [0, 1]), abs=1e-12)


def test_a_corpus_against_itself_and_a_shift():
    x, y = clouds(200, 200, 0.0, 3)
    assert frontier(x, x[::-1], 10, [0, 1]) == 1.0
    assert frontier(x, np.repeat(x, 2, axis=0), 10, [0]) == 1.0
    near, far = frontier(x, y, 10, [0, 1]), frontier(x, y + 3, 10, [0, 1])
    assert far < 0.1 < 0.8 < near < 1


def test_too_little_to_cluster():
    x, y = clouds(5, 5, 0, 0)
    with pytest.raises(Undefined, match="no sentences"):
        frontier(x, np.zeros((0, 4)), 2, [0])
    with pytest.raises(Undefined, match="no sentences"):
        frontier(np.zeros((0, 0)), y, 2, [0])
    with pytest.raises(Undefined, match="fewer than 11 different"):
        frontier(x, y, 11, [0])
    with pytest.raises(Undefined, match="fewer than 2 different"):
        frontier(np.ones((9, 3)), np.ones((9, 3)), 2, [0])
    for k, seeds in ((1, [0]), (2, [])):
        with pytest.raises(ValueError, match="two clusters"):
            frontier(x, y, k, seeds)
