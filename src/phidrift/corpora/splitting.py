"""Seeded order and seeded, grouped splits."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

from phidrift.core.document import Document

_FEWEST_GROUPS = 5
_TOLERANCE = 1.1  # a test split may be this much larger than asked for, to keep its groups whole


def seeded_key(seed: int, name: str) -> str:
    """A key that puts names in an order which depends on the seed and on nothing else."""
    return hashlib.sha256(f"{seed}:{name}".encode("utf-8", "surrogatepass")).hexdigest()


def seeded_order(documents: Iterable[Document], seed: int) -> list[Document]:
    """Documents by the hash of seed and id: the first n are the nested training set of size n."""
    return sorted(documents, key=lambda document: seeded_key(seed, document.id))


def grouped_split(
    documents: Sequence[Document], test: int, seed: int
) -> tuple[list[Document], list[Document], int]:
    """(train, test, documents left out) with about `test` documents in test and no `meta.group` on both sides.

    Groups are walked in seeded order, whatever their size, so that the test split is no sample of the small ones:
    until they hold about `test` documents (a tenth fewer at most), and at least 5 groups (half of the groups, where
    there are fewer than 10). If that is over a tenth too many, `test` of them are drawn and the others are left
    out, since their groups are in test. If all documents are of one group, documents are drawn.
    """
    groups: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        groups[str(document.meta["group"])].append(document)
    if len(groups) < 2:
        ranked = seeded_order(documents, seed)
        return ranked[test:], ranked[:test], 0
    order = sorted(groups, key=lambda group: seeded_key(seed, group))
    least = min(_FEWEST_GROUPS, len(groups) // 2)
    size = taken = 0
    for group in order[:-1]:
        nearer = abs(size + len(groups[group]) - test) < abs(size - test)
        if taken >= least and size * _TOLERANCE >= test and not nearer:
            break
        size, taken = size + len(groups[group]), taken + 1
    held = [document for group in order[:taken] for document in groups[group]]
    train = [document for group in order[taken:] for document in groups[group]]
    if size <= _TOLERANCE * test:
        return train, held, 0
    return train, seeded_order(held, seed)[:test], size - test
