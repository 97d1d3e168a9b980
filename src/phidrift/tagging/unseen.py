"""Recall on entity strings that the training set held, and on others: what was learnt by heart is no finding.

Only the strings' sets are compared, in memory. None is written anywhere, not even hashed: names and dates are few
enough to be guessed from their hashes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from phidrift.core.document import Document
from phidrift.tagging.scores import Bounds, mean_defined

NO_TRAINING_SET = "the training set is not at hand"


def folded(surface: str) -> str:
    """A string as it is compared: case-folded, white space as single blanks.

    >>> folded("May  3,\\n2019")
    'may 3, 2019'
    """
    return " ".join(surface.casefold().split())


def gold_strings(documents: Iterable[Document], entity: str) -> frozenset[str]:
    """The folded strings of an entity's gold spans; unlabelled documents have none."""
    return frozenset(
        folded(document.text[span.start : span.end])
        for document in documents
        for span in document.entity_spans(entity)
    )


def recall_by_familiarity(
    texts: Sequence[str],
    gold: Sequence[Bounds],
    predicted: Sequence[Sequence[Bounds]],
    known: frozenset[str] | None,
) -> dict[str, dict[str, Any]]:
    """Strict recall on gold spans whose folded string is in `known` (`seen`), and on the others (`unseen`).

    Args:
        texts: of the documents.
        gold: for each document.
        predicted: [runs][documents].
        known: of `gold_strings` of the training set; None if it is not at hand.

    Returns:
        For each of the two, `recall` (0 to 1, mean over the runs, or None with a `reason`) and `support` in gold
        spans (None if the training set is not known).
    """
    if known is None:
        unknown = {"recall": None, "support": None, "reason": NO_TRAINING_SET}
        return {"seen": unknown, "unseen": dict(unknown)}
    parts: dict[str, list[set[tuple[int, int]]]] = {"seen": [], "unseen": []}
    for text, spans in zip(texts, gold, strict=True):
        seen = {(start, end) for start, end in spans if folded(text[start:end]) in known}
        parts["seen"].append(seen)
        parts["unseen"].append(set(spans) - seen)
    return {name: _recall(wanted, predicted, name) for name, wanted in parts.items()}


def _recall(
    wanted: Sequence[set[tuple[int, int]]], predicted: Sequence[Sequence[Bounds]], name: str
) -> dict[str, Any]:
    support = sum(map(len, wanted))
    if not support:
        return {"recall": None, "support": 0, "reason": f"no gold span is {name}"}
    found = [
        sum(len(spans & set(said)) for spans, said in zip(wanted, run, strict=True)) / support
        for run in predicted
    ]
    return {"recall": mean_defined(found), "support": support}
