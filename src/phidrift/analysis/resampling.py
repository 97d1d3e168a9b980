"""Resampling that respects what was sampled: corpora and pairs of them, never single rows.

Rows that share a source or a target are not independent. Uncertainty comes from drawing sources and targets
anew, crossed; the null hypothesis exchanges whole (source, target) pairs.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]  # [rows]
Matrix: TypeAlias = NDArray[np.float64]  # [draws, rows]
Orders: TypeAlias = NDArray[np.int64]  # [draws, rows]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row was measured."""

    source: str
    target: str
    entity: str
    size: int


@dataclass(frozen=True, slots=True)
class Permutations:
    """Orders of the rows [draws, rows] in which whole pair blocks have changed places.

    `distinct` counts the possible ones; `exact` says that `orders` is all of them, the identity included.
    """

    orders: Orders
    distinct: int
    exact: bool


def pearson(x: Vector, y: Vector) -> float | None:
    """Pearson's r in [-1, 1], or None where a column is constant.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])), 9)
    1.0
    """
    a, b = standardized(x), standardized(y)
    if a is None or b is None:
        return None
    return float(np.clip(np.mean(a * b), -1.0, 1.0))


def standardized(x: Vector) -> Vector | None:
    """x with mean 0 and standard deviation 1, or None where it is constant up to rounding."""
    centred = x - x.mean()
    scale = float(np.sqrt(np.mean(centred**2)))
    if scale <= 1e-12 * max(1e-300, float(np.abs(x).max())):
        return None
    unit: Vector = centred / scale
    return unit


def pair_permutations(places: Sequence[Place], limit: int, rng: np.random.Generator) -> Permutations:
    """Ways to deal the outcomes of whole (source, target) pairs out anew.

    Only pairs with the same rows (the same entities at the same ranks of training size) change places: then
    every row's outcome lands on a row of its own entity and size rank. All ways are listed where there are at
    most `limit`; otherwise `limit` of them are drawn.
    """
    blocks = _blocks(places)
    distinct = math.prod(math.factorial(len(alike)) for alike in blocks)
    if distinct <= limit:
        choices: Iterator[tuple[Sequence[int], ...]] = itertools.product(
            *(itertools.permutations(range(len(alike))) for alike in blocks)
        )
        orders = [_order(len(places), blocks, choice) for choice in choices]
        return Permutations(np.array(orders), distinct, exact=True)
    drawn = (tuple(rng.permutation(len(alike)).tolist() for alike in blocks) for _ in range(limit))
    return Permutations(np.array([_order(len(places), blocks, d) for d in drawn]), distinct, exact=False)


def _blocks(places: Sequence[Place]) -> list[list[list[int]]]:
    """Row numbers of every pair, in one order of rows, pairs of like shape together."""
    ranks = {
        (source, size): rank
        for source in {p.source for p in places}
        for rank, size in enumerate(sorted({p.size for p in places if p.source == source}))
    }
    pairs: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    for number, p in enumerate(places):
        pairs.setdefault((p.source, p.target), []).append((p.entity, ranks[p.source, p.size], number))
    shapes: dict[tuple[tuple[str, int], ...], list[list[int]]] = {}
    for pair in sorted(pairs):
        cells = sorted(pairs[pair])
        shape = tuple((entity, rank) for entity, rank, _ in cells)
        shapes.setdefault(shape, []).append([number for _, _, number in cells])
    return [shapes[shape] for shape in sorted(shapes)]


def _order(length: int, blocks: list[list[list[int]]], choice: Sequence[Sequence[int]]) -> Orders:
    order = np.empty(length, dtype=np.int64)
    for alike, permutation in zip(blocks, choice, strict=True):
        for to, come_from in enumerate(permutation):
            order[alike[to]] = alike[come_from]
    return order


def permutation_p(x: Vector, y: Vector, permutations: Permutations) -> float | None:
    """Two-sided p of Pearson's r: the share of permutations with an |r| at least as large.

    Drawn permutations count the observed order as one of them (Phipson and Smyth, 2010). None where a column
    is constant or no two pairs can be exchanged.
    """
    a, b = standardized(x), standardized(y)
    if a is None or b is None or permutations.distinct == 1:
        return None
    drawn = np.abs(b[permutations.orders] @ a) / len(a)
    as_large = int((drawn >= abs(float(np.mean(a * b))) - 1e-12).sum())
    if permutations.exact:
        return as_large / permutations.distinct
    return (1 + as_large) / (1 + len(drawn))


def crossed_weights(places: Sequence[Place], draws: int, rng: np.random.Generator) -> Matrix:
    """How often each row counts [draws, rows] when sources and targets are each drawn with replacement.

    A row's weight is the number of times its source was drawn times that of its target (Owen, 2007).
    """
    sources, targets = sorted({p.source for p in places}), sorted({p.target for p in places})
    from_sources = rng.multinomial(len(sources), np.full(len(sources), 1 / len(sources)), size=draws)
    from_targets = rng.multinomial(len(targets), np.full(len(targets), 1 / len(targets)), size=draws)
    source_of = [sources.index(p.source) for p in places]
    target_of = [targets.index(p.target) for p in places]
    weights: Matrix = (from_sources[:, source_of] * from_targets[:, target_of]).astype(np.float64)
    return weights


def bootstrap_interval(x: Vector, y: Vector, weights: Matrix) -> tuple[float, float] | None:
    """The central 95 % of Pearson's r over weighted resamples, or None where most of them have no r."""
    a, b = standardized(x), standardized(y)
    if a is None or b is None:
        return None
    total = weights.sum(axis=1)
    w = weights[total > 0] / total[total > 0, None]
    mean_a, mean_b = w @ a, w @ b
    var_a, var_b = w @ a**2 - mean_a**2, w @ b**2 - mean_b**2
    # Columns have unit variance: what rounding leaves of a constant resample is many orders smaller.
    defined = (var_a > 1e-10) & (var_b > 1e-10)
    if 2 * int(defined.sum()) < len(weights):
        return None
    r = ((w @ (a * b) - mean_a * mean_b)[defined]) / np.sqrt(var_a[defined] * var_b[defined])
    low, high = np.quantile(np.clip(r, -1.0, 1.0), [0.025, 0.975])
    return float(low), float(high)
