"""A map of sentence embeddings in two dimensions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST = 10  # rows, below which there is no map


def project(embeddings: Mapping[str, NDArray[Any]], most: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """UMAP coordinates [n, 2] of the corpora's embeddings [n, dim], in one map (McInnes, Healy, Melville, 2018).

    Of a corpus with more than `most` rows, as many evenly spaced ones are shown, so that no corpus fills the map.
    Distances in the map are not distances in the embedding space: it shows neighbourhoods. Empty if there are
    fewer than 10 rows in all.
    """
    if sum(map(len, embeddings.values())) < FEWEST:
        return {}
    from umap import UMAP

    chosen = {name: _spaced(rows, most) for name, rows in embeddings.items()}
    stacked = np.concatenate(list(chosen.values())).astype(np.float32)
    neighbours = min(15, len(stacked) - 1)
    reducer = UMAP(n_neighbors=neighbours, min_dist=0.1, metric="cosine", random_state=seed, n_jobs=1)
    flat = np.asarray(reducer.fit_transform(stacked), dtype=np.float64)
    ends = np.cumsum([len(rows) for rows in chosen.values()])[:-1]
    return dict(zip(chosen, np.split(flat, ends), strict=True))


def _spaced(rows: NDArray[Any], most: int) -> NDArray[Any]:
    if len(rows) <= most:
        return rows
    spaced: NDArray[Any] = rows[np.linspace(0, len(rows) - 1, most).round().astype(int)]
    return spaced
