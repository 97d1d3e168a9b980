"""The permutation p of the maximum mean discrepancy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from phidrift.drift import Undefined, permutation, semantic
from phidrift.drift.permutation import mmd_permutation_p


def grouped(random_state, documents, shift=0.0, spread=1.0):
    """Sentences in 2-D, one to four a document; sentences of a document lie close together."""
    rows, groups = [], []
    for number in range(documents):
        centre = random_state.normal(shift, spread, size=2)
        for _ in range(random_state.integers(1, 5)):
            rows.append(centre + random_state.normal(0, 0.2, size=2))
            groups.append(number)
    return np.array(rows), groups


def test_p_is_uniform_where_nothing_differs():
    by_document, by_sentence = [], []
    for seed in range(150):
        state = np.random.default_rng(seed)
        (x, in_x), (y, in_y) = grouped(state, 10), grouped(state, 12)
        by_document.append(mmd_permutation_p(x, y, in_x, in_y, 99, seed))
        by_sentence.append(mmd_permutation_p(x, y, range(len(x)), range(len(y)), 99, seed))
    assert kstest(by_document, "uniform").pvalue > 0.05
    # Sentences as the unit would find drift where there is none.
    assert np.mean(np.array(by_sentence) <= 0.05) > 0.15
    assert np.mean(np.array(by_document) <= 0.05) < 0.10


def test_p_is_the_smallest_one_under_a_shift():
    state = np.random.default_rng(1)
    (x, in_x), (y, in_y) = grouped(state, 15), grouped(state, 15, shift=4.0)
    assert mmd_permutation_p(x, y, in_x, in_y, 199) == 1 / 200


def test_p_is_the_share_of_all_divisions():
    state = np.random.default_rng(5)
    (x, in_x), (y, in_y) = grouped(state, 4), grouped(state, 4, shift=1.0)
    documents = [x[np.array(in_x) == number] for number in range(4)]
    documents += [y[np.array(in_y) == number] for number in range(4)]
    # All 70 divisions of eight documents, each by the plain metric, whose bandwidth is that of the pooled sample.
    values = [
        semantic.mmd(
            np.concatenate([documents[place] for place in chosen]),
            np.concatenate([documents[place] for place in range(8) if place not in chosen]),
        )
        for chosen in itertools.combinations(range(8), 4)
    ]
    exact = np.mean(np.array(values) >= values[0] - 1e-9)
    assert 0.02 < exact < 0.98
    # 9,999 draws: five standard errors are 0.025.
    assert mmd_permutation_p(x, y, in_x, in_y, 9_999) == pytest.approx(exact, abs=0.025)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([30, 4_000]))
def test_p_does_not_depend_on_order_or_names(seed, most):
    state = np.random.default_rng(seed)
    (x, in_x), (y, in_y) = grouped(state, 9), grouped(state, 11, shift=0.5)
    value = mmd_permutation_p(x, y, in_x, in_y, 49, most=most)
    order, other = state.permutation(len(x)), state.permutation(len(y))
    names = [f"n{-in_x[place]}" for place in order]
    assert (
        mmd_permutation_p(x[order], y[other], names, np.array(in_y)[other].tolist(), 49, most=most) == value
    )
    assert 1 / 50 <= value <= 1


def test_a_subsample_of_whole_documents_is_taken_above_the_limit():
    state = np.random.default_rng(2)
    (x, in_x), (y, in_y) = grouped(state, 200), grouped(state, 10, shift=4.0)
    assert mmd_permutation_p(x, y, in_x, in_y, 99, most=100) == 1 / 100
    kept = permutation._fitting(permutation._documents(x, in_x, 0), 50)
    assert 47 <= sum(len(rows) for _, rows in kept) <= 50
    sizes = {rows.tobytes(): len(rows) for _, rows in permutation._documents(x, in_x, 0)}
    assert all(sizes[rows.tobytes()] == len(rows) for _, rows in kept)
    with pytest.raises(Undefined, match="two documents"):
        mmd_permutation_p(x, y, [0] * len(x), in_y, 9, most=100)


def test_p_on_bad_input():
    state = np.random.default_rng(3)
    (x, in_x), (y, in_y) = grouped(state, 5), grouped(state, 5)
    assert mmd_permutation_p(x, x, in_x, in_x, 49) == 1
    with pytest.raises(Undefined, match="two documents"):
        mmd_permutation_p(x, y, [1] * len(x), in_y)
    with pytest.raises(Undefined, match="two documents"):
        mmd_permutation_p(x, np.zeros((0, 2)), in_x, [])
    with pytest.raises(Undefined, match="bandwidth"):
        mmd_permutation_p(np.zeros((4, 2)), np.zeros((4, 2)), range(4), range(4))
    with pytest.raises(ValueError, match="finite"):
        mmd_permutation_p(np.full((4, 2), np.nan), y, range(4), in_y)
    with pytest.raises(ValueError, match="has a document"):
        mmd_permutation_p(x, y, in_x[:-1], in_y)
