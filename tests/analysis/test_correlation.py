"""Correlations: independent oracles, and cases small enough to count by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from phidrift.analysis.correlation import (
    Correlation,
    Resampling,
    Row,
    correlate,
    correlate_groups,
    partial_pearson,
    with_q,
)
from phidrift.analysis.resampling import (
    Place,
    bootstrap_interval,
    crossed_weights,
    pair_permutations,
    pearson,
    permutation_p,
)

RESAMPLING = Resampling(bootstrap=200, permutations=200, seed=1)
SOURCES, TARGETS, ENTITIES = ("ai", "law", "syn"), ("ai", "law", "notes", "syn"), ("DATE", "PERSON")


def grid(seed: int, sizes: int = 1) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    for source, target, entity, size in itertools.product(SOURCES, TARGETS, ENTITIES, range(1, sizes + 1)):
        drift = float(rng.normal()) + (source != target)
        values = {"near": drift, "far": float(rng.normal()), "flat": 0.5, "gone": None}
        rows.append(
            Row(
                Place(source, target, entity, size),
                source != target,
                drift + 0.5 * float(rng.normal()),
                values,
            )
        )
    return rows


def alone(*rows: tuple[str, str]) -> list[Place]:
    return [Place(source, target, "DATE", 1) for source, target in rows]


def test_pearson_and_spearman_are_scipys() -> None:
    rows = grid(0)
    got = correlate(rows, ["near", "far"], RESAMPLING).metrics
    for name in ("near", "far"):
        x, y = [row.values[name] for row in rows], [row.outcome for row in rows]
        assert got[name].pearson == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
        assert got[name].spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
        assert (got[name].n_rows, got[name].n_pairs) == (24, 12)


def test_partial_is_the_correlation_of_regression_residuals() -> None:
    rng = np.random.default_rng(3)
    control = (rng.random(60) < 0.7).astype(float)
    x, y = rng.normal(size=60) + control, rng.normal(size=60) + 2 * control

    def residual(of: np.ndarray) -> np.ndarray:
        design = np.column_stack([np.ones(60), control])
        return of - design @ np.linalg.lstsq(design, of, rcond=None)[0]

    want = stats.pearsonr(residual(x), residual(y)).statistic
    assert partial_pearson(x, y, control) == pytest.approx(want, abs=1e-12)
    assert partial_pearson(x, y, np.ones(60)) is None
    assert partial_pearson(control, y, control) is None


def test_permutation_p_enumerated_by_hand() -> None:
    # Four pairs of one row each can stand in 4! = 24 orders. Of these, only the order as it is and its mirror image
    # line 1 2 3 4 up with |r| = 1: p = 2/24.
    places = alone(("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"))
    x = np.array([1.0, 2.0, 3.0, 4.0])
    permutations = pair_permutations(places, limit=1000, rng=np.random.default_rng(0))
    assert (permutations.distinct, permutations.exact, len(permutations.orders)) == (24, True, 24)
    assert permutation_p(x, x, permutations) == pytest.approx(2 / 24)
    # y = 0 0 0 1: r is largest where the 1 stands at 4, or at 1 with a minus sign: 2 of 4 places.
    assert permutation_p(x, np.array([0.0, 0.0, 0.0, 1.0]), permutations) == pytest.approx(0.5)


def test_permutations_move_whole_pairs_of_one_shape() -> None:
    # ai was trained at two sizes, law at one: ai's two pairs change places with each other, law's two likewise,
    # never across: 2! * 2! = 4 ways. A row keeps its entity and its rank of size.
    places = [
        Place(source, target, entity, size)
        for source, sizes in (("ai", (10, 99)), ("law", (50,)))
        for target in ("notes", "syn")
        for size in sizes
        for entity in ("PERSON", "DATE")
    ]
    permutations = pair_permutations(places, limit=50, rng=np.random.default_rng(0))
    assert permutations.distinct == 4
    assert len({tuple(order) for order in permutations.orders}) == 4
    for order in permutations.orders:
        assert sorted(order) == list(range(len(places)))
        for to, come_from in enumerate(order):
            a, b = places[to], places[come_from]
            assert (a.source, a.entity, a.size) == (b.source, b.entity, b.size)
        moved = {(places[to].source, places[to].target): places[come].target for to, come in enumerate(order)}
        assert all(moved[p.source, p.target] == places[c].target for p, c in zip(places, order, strict=True))


def test_drawn_permutations_count_the_order_as_it_is() -> None:
    places = alone(*itertools.product("abcd", "xyzw"))
    permutations = pair_permutations(places, limit=99, rng=np.random.default_rng(0))
    assert (permutations.exact, len(permutations.orders)) == (False, 99)
    x = np.arange(16.0)
    assert permutation_p(x, x, permutations) == pytest.approx(1 / 100)  # no drawn order of 16 is as good


def test_p_is_undefined_where_nothing_can_change_places() -> None:
    places = [Place("a", t, e, 1) for t, entities in (("x", "D"), ("y", "DP"), ("z", "P")) for e in entities]
    permutations = pair_permutations(places, 10, np.random.default_rng(0))
    assert permutations.distinct == 1
    assert permutation_p(np.arange(4.0), np.arange(4.0), permutations) is None


def test_q_by_hand() -> None:
    # Ranked p: 0.01 0.02 0.03 0.5 of 4 tests. p * 4 / rank: 0.04 0.04 0.04 0.5. A metric without p is no test.
    ps = {"a": 0.03, "b": 0.5, "c": 0.01, "d": 0.02, "e": None}
    results = {name: Correlation(0.1, None, None, 0.1, p, None, None, 9, 9, None) for name, p in ps.items()}
    q = {name: result.q for name, result in with_q(results).items()}
    assert q.pop("e") is None
    assert q == pytest.approx({"a": 0.04, "b": 0.5, "c": 0.04, "d": 0.04})


def test_what_is_undefined_is_none_with_a_reason() -> None:
    group = correlate(grid(1), ["near", "far", "flat", "gone"], RESAMPLING)
    assert next(iter(group.metrics)) == "near"
    flat, gone = group.metrics["flat"], group.metrics["gone"]
    assert (flat.pearson, flat.spearman, flat.p, flat.q, flat.partial) == (None,) * 5
    assert "constant" in str(flat.reason)
    assert (gone.pearson, gone.n_rows, gone.n_pairs) == (None, 0, 0)
    assert "fewer than 4" in str(gone.reason)


def test_fewer_than_four_pairs_are_not_correlated() -> None:
    rows = [row for row in grid(2) if row.place.source == "ai" and row.place.target != "notes"]
    assert len(rows) == 6
    result = correlate(rows, ["near"], RESAMPLING).metrics["near"]
    assert (result.pearson, result.n_pairs) == (None, 3)
    assert correlate([], ["near"], RESAMPLING).metrics["near"].pearson is None


def test_a_missing_value_leaves_the_other_rows() -> None:
    rows = [
        Row(r.place, r.ood, r.outcome, {"near": None if r.place.target == "notes" else r.values["near"]})
        for r in grid(4)
    ]
    kept = [row for row in rows if row.values["near"] is not None]
    result = correlate(rows, ["near"], RESAMPLING).metrics["near"]
    want = stats.pearsonr([r.values["near"] for r in kept], [r.outcome for r in kept]).statistic
    assert (result.n_rows, result.n_pairs) == (18, 9)
    assert result.pearson == pytest.approx(want)


def test_groups() -> None:
    groups = correlate_groups(grid(5, sizes=2), ENTITIES, ["near", "far"], RESAMPLING)
    assert {name: group.n_rows for name, group in groups.items()} == {
        "all": 48,
        "ood": 36,
        "DATE": 24,
        "PERSON": 24,
    }
    assert groups["ood"].n_pairs == 9
    assert groups["ood"].baseline.pearson is None  # every row is out of distribution
    assert groups["ood"].metrics["near"].partial is None
    assert groups["all"].descriptive
    near = groups["all"].metrics["near"]
    bounds = [near.pearson_low, near.pearson, near.pearson_high]
    known = [value for value in bounds if value is not None]
    assert len(known) == 3
    assert known == sorted(known)
    assert groups == correlate_groups(grid(5, sizes=2), ENTITIES, ["near", "far"], RESAMPLING)


def test_weights_are_products_of_source_and_target_counts() -> None:
    places = alone(*itertools.product("abc", "wxyz"))
    weights = crossed_weights(places, 50, np.random.default_rng(0)).reshape(50, 3, 4)
    assert (weights.sum(axis=(1, 2)) == 12).all()  # three draws of sources times four of targets
    for table in weights:
        assert np.linalg.matrix_rank(table) == 1
    # Both are drawn: neither the sources' totals nor the targets' stay the same.
    assert weights.sum(axis=2).std() > 0
    assert weights.sum(axis=1).std() > 0


def test_interval_is_that_of_repeated_rows() -> None:
    # A weight of n is the row n times over: numpy's corrcoef on repeated rows is the oracle.
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=12), rng.normal(size=12)
    places = alone(*itertools.product("abc", "wxyz"))
    weights = crossed_weights(places, 300, np.random.default_rng(0))
    rs = []
    for w in weights.astype(int):
        a, b = np.repeat(x, w), np.repeat(y, w)
        if np.ptp(a) > 0 and np.ptp(b) > 0:
            rs.append(np.corrcoef(a, b)[0, 1])
    got = bootstrap_interval(x, y, weights)
    assert got == pytest.approx(tuple(np.quantile(rs, [0.025, 0.975])), abs=1e-9)


def test_no_interval_where_most_resamples_are_constant() -> None:
    x = np.array([1.0, 0.0, 0.0, 0.0])
    assert bootstrap_interval(x, x, np.tile([0.0, 1.0, 1.0, 1.0], (10, 1))) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=4, max_size=12),
    st.floats(0.01, 100),
    st.floats(-100, 100),
)
def test_pearson_properties(points: list[tuple[float, float]], scale: float, shift: float) -> None:
    x, y = np.array(points, dtype=float).T
    r = pearson(x, y)
    assert r == pearson(y, x)
    assert r is None or -1 <= r <= 1
    if r is not None and x.std() > 1e-3 and y.std() > 1e-3:
        assert pearson(scale * x + shift, y) == pytest.approx(r, abs=1e-6)
        assert pearson(-x, y) == pytest.approx(-r, abs=1e-12)
    assert pearson(np.full(len(x), shift), y) is None
