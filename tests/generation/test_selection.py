import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.errors import PhidriftError
from phidrift.generation.selection import minimum_score

SCORES = st.lists(st.floats(1, 5), min_size=1, max_size=30)


def test_a_number_is_itself_whatever_the_scores():
    assert minimum_score(3.5, []) == 3.5


def test_quantiles_by_hand():
    # Sorted 1, 2, 4: the median is 2; q0.75 lies halfway between 2 and 4.
    assert minimum_score("q0.5", [4.0, 1.0, 2.0]) == 2.0
    assert minimum_score("q0.75", [4.0, 1.0, 2.0]) == 3.0
    assert minimum_score("q1", [4.0, 1.0, 2.0]) == 4.0


@given(SCORES)
def test_q0_keeps_all(scores: list[float]):
    assert all(score >= minimum_score("q0", scores) for score in scores)


@given(SCORES, st.floats(0, 1))
def test_agrees_with_numpy(scores: list[float], share: float):
    import numpy as np

    threshold = f"q{share:.6f}"
    assert minimum_score(threshold, scores) == pytest.approx(np.quantile(scores, float(threshold[1:])))


@pytest.mark.parametrize("threshold", ["0.5", "qq", "q1.5", "half"])
def test_what_is_no_quantile(threshold: str):
    with pytest.raises(PhidriftError, match="quantile such as"):
        minimum_score(threshold, [1.0])


def test_a_quantile_of_nothing():
    with pytest.raises(PhidriftError, match="no scores"):
        minimum_score("q0.5", [])
