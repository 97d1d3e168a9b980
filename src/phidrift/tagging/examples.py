"""From labelled documents to what a tagger is shown: windows of pieces with their labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from phidrift.core.document import Document, Span
from phidrift.core.errors import PhidriftError
from phidrift.tagging.alignment import (
    IGNORED,
    Pieces,
    Window,
    bio_labels,
    cut_windows,
    special_ids,
    tokenize,
    unrepresentable,
)


@dataclass(frozen=True, slots=True)
class Examples:
    """Encoded windows, and what became of the gold spans.

    Attributes:
        rows: one a window: input_ids, attention_mask, labels (all of one length), and that length.
        spans: gold spans.
        unrepresentable: those that no labelling can say exactly.
        cut: those that no single window owns whole. Every piece is owned by one window, so none of their labels is
            lost; but where a cut goes through a span, no window learns the whole of it at once.
    """

    rows: list[dict[str, Any]]
    spans: int
    unrepresentable: int
    cut: int


def training_examples(
    documents: Sequence[Document], entity: str, tokenizer: Any, max_length: int
) -> Examples:
    """Cuts and labels documents as `tagging.predict` cuts them: long ones in overlapping windows at sentence ends.

    A window's labels count in its owned range only; its other pieces are context.

    Raises:
        PhidriftError: `max_length` leaves no room beside the special tokens.
    """
    before, after = special_ids(tokenizer)
    limit = max_length - len(before) - len(after)
    if limit < 1:
        raise PhidriftError(f"{max_length} leaves no room for text", where="max_length")
    rows = []
    spans = unsaid = cut = 0
    for document, pieces in zip(documents, tokenize(tokenizer, [d.text for d in documents]), strict=True):
        gold = document.entity_spans(entity)
        labels = bio_labels(pieces, gold)
        windows = cut_windows(document.text, pieces, limit)
        spans += len(gold)
        unsaid += unrepresentable(pieces, gold)
        cut += _cut(pieces, windows, gold)
        for window in windows:
            if window.first == window.last:
                continue
            owned = [
                label if window.owned_first <= number < window.owned_last else IGNORED
                for number, label in enumerate(labels[window.first : window.last], start=window.first)
            ]
            ids = [*before, *pieces.ids[window.first : window.last], *after]
            rows.append(
                {
                    "input_ids": ids,
                    "attention_mask": [1] * len(ids),
                    "labels": [*[IGNORED] * len(before), *owned, *[IGNORED] * len(after)],
                    "length": len(ids),
                }
            )
    return Examples(rows, spans, unsaid, cut)


def _cut(pieces: Pieces, windows: Sequence[Window], gold: Sequence[Span]) -> int:
    """How many gold spans have pieces on both sides of a border between owned ranges."""
    cut = set()
    for border in (window.owned_first for window in windows[1:]):
        left = next((end for start, end in reversed(pieces.offsets[:border]) if start < end), 0)
        right = next((start for start, end in pieces.offsets[border:] if start < end), left)
        cut |= {span for span in gold if span.start < left and span.end > right}
    return len(cut)
