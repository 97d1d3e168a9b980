"""An extra beside the 25 metrics: a permutation p for the maximum mean discrepancy of sentence embeddings.

The document is the unit that is exchanged: sentences of one document are not independent.
"""

import hashlib
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from phidrift.drift.semantic import Embeddings, median_distance
from phidrift.drift.undefined import Undefined

_Array = npt.NDArray[np.float64]
# A kernel of so many sentences, 128 MB, is held whole.
MOST_SENTENCES = 4_000
_PERMUTATIONS_AT_ONCE = 256
_ROUNDING = 1e-12


def mmd_permutation_p(
    x: Embeddings,
    y: Embeddings,
    groups_x: Sequence[Hashable],
    groups_y: Sequence[Hashable],
    permutations: int = 999,
    seed: int = 0,
    most: int = MOST_SENTENCES,
) -> float:
    """Permutation p of the maximum mean discrepancy, with whole documents exchanged between the sides.

    The statistic is the biased MMD^2 of `semantic.mmd` with its median bandwidth. The kernel is computed once and
    summed by pairs of documents, of which every permutation is a weighted sum. If there are more than `most` sentences,
    each side with more than most / 2 gives whole documents, in an order set by a hash of their embeddings and the seed,
    as long as they fit into most / 2. Neither the order of sentences nor that of documents matters.

    Args:
        x: reference embeddings [n, dimension].
        y: candidate embeddings [m, dimension].
        groups_x: the document of every sentence [n]; the values only say which sentences belong together.
        groups_y: the same [m]; a value that stands on both sides means two documents.
        permutations: how many, B.
        seed: moves permutations and the subsample.
        most: sentences, at most; memory is about 3 * 8 * most^2 bytes.

    Returns:
        (1 + permutations with at least the observed discrepancy) / (1 + B): 1 / (1 + B) to 1; uniform where documents
        of both sides come from one source; smaller is more evidence of drift, not more drift. With few documents it
        cannot be small: of 3 + 3 documents there are 20 divisions.

    Raises:
        Undefined: a side has fewer than two documents (that fit), or over half of the pairs of sentences coincide.

    Source: Gretton et al. 2012, A kernel two-sample test; Phipson and Smyth 2010 for the 1 that is added.
    """
    if len(groups_x) != len(x) or len(groups_y) != len(y) or permutations < 1:
        raise ValueError("every sentence has a document, and one permutation is the least")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("embeddings are finite numbers")
    sides = [_documents(x, groups_x, seed), _documents(y, groups_y, seed)]
    if len(x) + len(y) > most:
        sides = [_fitting(side, most // 2) for side in sides]
    if min(map(len, sides)) < 2:
        raise Undefined("fewer than two documents on a side")
    # Reference first or candidate first is no matter: all documents stand in the order of their hashes.
    documents = sorted(
        [(key, side, rows) for side, held in enumerate(sides) for key, rows in held],
        key=lambda each: each[:2],
    )
    sizes = np.array([len(rows) for _, _, rows in documents], dtype=np.float64)
    summed = _kernel_by_documents([rows for _, _, rows in documents])
    is_x = np.array([side == 0 for _, side, _ in documents])
    observed = _squared_mmd(summed, sizes, is_x[None, :])[0]
    random = np.random.default_rng(seed)
    as_large = 0
    for start in range(0, permutations, _PERMUTATIONS_AT_ONCE):
        number = min(_PERMUTATIONS_AT_ONCE, permutations - start)
        drawn = random.permuted(np.tile(is_x, (number, 1)), axis=1)
        # Equal divisions may differ by rounding.
        as_large += int(np.count_nonzero(_squared_mmd(summed, sizes, drawn) >= observed - _ROUNDING))
    return (1 + as_large) / (1 + permutations)


def _documents(x: Embeddings, groups: Sequence[Hashable], seed: int) -> list[tuple[bytes, _Array]]:
    """(hash, sentences) of each document in the order of the hashes; its sentences are sorted."""
    held: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        held.setdefault(group, []).append(place)
    documents = []
    for places in held.values():
        rows = np.asarray(x[places], dtype=np.float64) + 0.0  # -0.0 becomes 0.0: equal rows have equal bytes
        rows = rows[np.lexsort(rows.T[::-1])]
        documents.append((hashlib.sha256(f"{seed}/".encode() + rows.tobytes()).digest(), rows))
    return sorted(documents, key=lambda document: document[0])


def _fitting(documents: list[tuple[bytes, _Array]], most: int) -> list[tuple[bytes, _Array]]:
    kept, total = [], 0
    for key, rows in documents:
        if total + len(rows) <= most:
            kept.append((key, rows))
            total += len(rows)
    return kept


def _kernel_by_documents(documents: Sequence[_Array]) -> _Array:
    """exp(-d^2 / (2 s^2)) summed over the sentences of every pair of documents [documents, documents]."""
    points = np.concatenate(documents)
    points = points - points.mean(axis=0)  # distances stay, rounding errors shrink
    points /= np.abs(points).max() or 1.0  # the kernel stays, since the bandwidth shrinks alike
    bandwidth = median_distance(points)
    if bandwidth == 0:
        raise Undefined("over half of the sentences coincide: the bandwidth is 0")
    norms = np.sum(points**2, axis=1)
    kernel = points @ points.T
    kernel *= -2
    kernel += norms[:, None]
    kernel += norms[None, :]
    np.maximum(kernel, 0, out=kernel)
    kernel /= -2 * bandwidth**2
    np.exp(kernel, out=kernel)
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in documents])[:-1]])
    return np.asarray(np.add.reduceat(np.add.reduceat(kernel, starts, axis=0), starts, axis=1))


def _squared_mmd(summed: _Array, sizes: _Array, is_x: npt.NDArray[np.bool_]) -> _Array:
    """Biased MMD^2 of every division [divisions] of the documents, given by who is x [divisions, documents]."""
    in_x, in_y = is_x @ sizes, ~is_x @ sizes
    weights = is_x / in_x[:, None] - ~is_x / in_y[:, None]
    return np.asarray(np.sum((weights @ summed) * weights, axis=1))
