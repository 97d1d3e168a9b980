"""Correlation of drift with degradation, per metric: all rows, out-of-distribution rows, and each entity."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from phidrift.analysis.degradation import Outcome
from phidrift.analysis.resampling import (
    Place,
    Vector,
    bootstrap_interval,
    crossed_weights,
    pair_permutations,
    pearson,
    permutation_p,
)
from phidrift.analysis.scores import DriftValue, Key

FEWEST_PAIRS = 4  # a correlation over fewer pairs of corpora is not reported
DESCRIPTIVE_BELOW = 20  # over fewer pairs, intervals and p describe these corpora and no others
INDICATOR = "ood_indicator"  # the baseline: 1 where the training set has nothing of the target corpus


@dataclass(frozen=True, slots=True)
class Row:
    """One trained set on one target for one entity: its outcome, and every metric's value there."""

    place: Place
    ood: bool
    outcome: float
    values: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How many resamples and permutations, and the seed of both."""

    bootstrap: int
    permutations: int
    seed: int


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation of one metric with the outcome; what is undefined is None, and `reason` says why.

    pearson and spearman lie in [-1, 1]; pearson_low and pearson_high bound the central 95 % of resamples; p
    is two-sided; q is p after Benjamini and Hochberg (1995) over the metrics of the group; partial is
    Pearson's r with the out-of-distribution indicator held fixed.
    """

    pearson: float | None
    pearson_low: float | None
    pearson_high: float | None
    spearman: float | None
    p: float | None
    q: float | None
    partial: float | None
    n_rows: int
    n_pairs: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """Correlations of all metrics over one group of rows, and the indicator's own beside them."""

    metrics: Mapping[str, Correlation]  # by |pearson|, largest first
    baseline: Correlation
    n_rows: int
    n_pairs: int
    distinct_permutations: int

    @property
    def descriptive(self) -> bool:
        """Whether the pairs of corpora are too few to speak of others than these."""
        return self.n_pairs < DESCRIPTIVE_BELOW

    def to_json(self) -> dict[str, dict[str, Any]]:
        return {name: asdict(result) for name, result in self.metrics.items()}


def join(outcomes: Iterable[Outcome], drift: Iterable[DriftValue]) -> list[Row]:
    """Rows that have a d_f1, each with the values of its metrics."""
    values: dict[Key, dict[str, float | None]] = {}
    for item in drift:
        values.setdefault(item.key, {})[item.metric] = item.value
    return [
        Row(
            Place(o.score.source, o.score.target, o.score.entity, o.score.size),
            not o.score.in_distribution,
            o.d_f1,
            values.get(o.score.key, {}),
        )
        for o in outcomes
        if o.d_f1 is not None
    ]


def correlate_groups(
    rows: Sequence[Row], entities: Sequence[str], metrics: Sequence[str], resampling: Resampling
) -> dict[str, Group]:
    """Correlations over "all" rows, over "ood" rows, and over the rows of each entity."""
    members = {"all": list(rows), "ood": [row for row in rows if row.ood]}
    members |= {entity: [row for row in rows if row.place.entity == entity] for entity in entities}
    return {name: correlate(group, metrics, resampling) for name, group in members.items()}


def correlate(rows: Sequence[Row], metrics: Sequence[str], resampling: Resampling) -> Group:
    """Correlates every metric, and the out-of-distribution indicator, with the outcome."""
    results = {
        name: _correlation([(row, row.values.get(name)) for row in rows], resampling) for name in metrics
    }
    baseline = _correlation([(row, float(row.ood)) for row in rows], resampling)
    ranked = sorted(with_q(results).items(), key=lambda item: (-abs(item[1].pearson or 0.0), item[0]))
    places = [row.place for row in rows]
    pairs = {(place.source, place.target) for place in places}
    distinct = pair_permutations(places, 1, np.random.default_rng(0)).distinct if places else 0
    return Group(dict(ranked), baseline, len(rows), len(pairs), distinct)


def _correlation(measured: Sequence[tuple[Row, float | None]], resampling: Resampling) -> Correlation:
    from scipy.stats import rankdata

    known = [(row, value) for row, value in measured if value is not None]
    rows = [row for row, _ in known]
    places = [row.place for row in rows]
    n_pairs = len({(place.source, place.target) for place in places})
    x = np.array([value for _, value in known], dtype=np.float64)
    y = np.array([row.outcome for row in rows], dtype=np.float64)
    undefined = Correlation(None, None, None, None, None, None, None, len(rows), n_pairs, None)
    if n_pairs < FEWEST_PAIRS:
        return replace(undefined, reason=f"{n_pairs} pairs of corpora, fewer than {FEWEST_PAIRS}")
    r = pearson(x, y)
    if r is None:
        constant = "the metric" if pearson(x, x) is None else "the outcome"
        return replace(undefined, reason=f"{constant} is constant")
    reasons = []
    weights = crossed_weights(places, resampling.bootstrap, np.random.default_rng([resampling.seed, 1]))
    interval = bootstrap_interval(x, y, weights)
    if interval is None:
        reasons.append("no interval: most resamples of the corpora are constant")
    limit, rng = resampling.permutations, np.random.default_rng([resampling.seed, 2])
    p = permutation_p(x, y, pair_permutations(places, limit, rng))
    if p is None:
        reasons.append("no p: no two pairs of corpora can be exchanged")
    indicator = np.array([float(row.ood) for row in rows])
    partial = partial_pearson(x, y, indicator)
    if partial is None:
        kind = "is constant" if pearson(indicator, indicator) is None else "leaves nothing over"
        reasons.append(f"no partial correlation: the indicator {kind}")
    low, high = interval or (None, None)
    return Correlation(
        pearson=r,
        pearson_low=low,
        pearson_high=high,
        spearman=pearson(rankdata(x), rankdata(y)),
        p=p,
        q=None,
        partial=partial,
        n_rows=len(rows),
        n_pairs=n_pairs,
        reason="; ".join(reasons) or None,
    )


def partial_pearson(x: Vector, y: Vector, control: Vector) -> float | None:
    """Pearson's r of x and y with `control` held fixed: (r_xy - r_xc r_yc) / sqrt((1 - r_xc^2) (1 - r_yc^2)).

    None where a column is constant or equals the control up to scale.
    """
    xy, xc, yc = pearson(x, y), pearson(x, control), pearson(y, control)
    if xy is None or xc is None or yc is None:
        return None
    left_over = (1 - xc**2) * (1 - yc**2)
    if left_over < 1e-12:
        return None
    return float(np.clip((xy - xc * yc) / np.sqrt(left_over), -1.0, 1.0))


def with_q(results: Mapping[str, Correlation]) -> dict[str, Correlation]:
    """Adds q, the false-discovery rate at which a metric would still be picked; without p there is none."""
    from scipy.stats import false_discovery_control

    tested = {name: result.p for name, result in results.items() if result.p is not None}
    if not tested:
        return dict(results)
    adjusted = false_discovery_control(list(tested.values()), method="bh")
    q = {name: float(value) for name, value in zip(tested, adjusted, strict=True)}
    return {name: replace(result, q=q.get(name)) for name, result in results.items()}
