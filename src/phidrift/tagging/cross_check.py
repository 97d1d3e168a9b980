"""The strict scores once more, by seqeval: spans as IOB2 labels on segments that no span's bounds cut."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phidrift.tagging.scores import Bounds

SCORES = ("precision", "recall", "f1")


def segment_labels(gold: Bounds, predicted: Bounds) -> tuple[list[str], list[str]]:
    """A document's gold and predicted spans as IOB2 labels, of one length.

    Its characters are cut wherever a span of either side starts or ends. So any two sets of spans that are free of
    overlap can be said exactly, whatever a model's pieces are.

    >>> segment_labels({(0, 4), (4, 8)}, {(0, 8)})
    (['B-X', 'B-X'], ['B-X', 'I-X'])
    """
    cuts = sorted({0} | {bound for span in (*gold, *predicted) for bound in span})
    starts = cuts[:-1] or [0]
    return _labels(starts, gold), _labels(starts, predicted)


def _labels(starts: Sequence[int], spans: Bounds) -> list[str]:
    end_of = dict(spans)
    labels, end = [], 0
    for start in starts:
        if start in end_of:
            labels.append("B-X")
            end = end_of[start]
        else:
            labels.append("I-X" if start < end else "O")
    return labels


def load_seqeval() -> Any:
    """The module seqeval_strict of this package, loaded by Hugging Face evaluate from its folder, with no network."""
    import evaluate

    folder = Path(__file__).with_name("seqeval_strict")
    # Nothing is kept in files; evaluate wants a folder all the same.
    with tempfile.TemporaryDirectory() as scratch:
        return evaluate.load(str(folder), cache_dir=scratch, keep_in_memory=True)


def seqeval_scores(metric: Any, gold: Sequence[Bounds], predicted: Sequence[Bounds]) -> dict[str, float]:
    """Precision, recall and F1 by seqeval (strict, IOB2), micro over documents; 0 where they are undefined.

    Args:
        metric: of `load_seqeval`.
        gold: for each document.
        predicted: the same, of one tagger.
    """
    pairs = [segment_labels(g, p) for g, p in zip(gold, predicted, strict=True)]
    found = metric.compute(references=[g for g, _ in pairs], predictions=[p for _, p in pairs])
    return {name: float(found[name]) for name in SCORES}


def agrees(ours: dict[str, float | None], theirs: dict[str, float]) -> bool:
    """Whether both say the same; what is undefined here is 0 there."""
    return all(abs((ours[name] or 0.0) - theirs[name]) < 1e-9 for name in SCORES)
