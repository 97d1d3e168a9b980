"""Size, vocabulary and entity counts of a corpus."""

from collections.abc import Iterable
from typing import Any

from phidrift.core.document import ENTITIES, Document
from phidrift.core.text import tokens


def corpus_statistics(documents: Iterable[Document]) -> dict[str, Any]:
    """Documents, tokens, tokens per document, vocabulary (distinct tokens, case kept) and counts per entity.

    For each entity: `spans`, `tokens` inside the spans (what Tables 1 and 3 of the study count) and `documents`
    that have at least one. `tokens_per_document` is None for an empty corpus.

    >>> from phidrift.core.document import Span
    >>> counts = corpus_statistics([Document("a", "Seen 3/4 by Lee.", (Span(5, 8, "DATE"),))])
    >>> counts["tokens"], counts["entities"]["DATE"]
    (7, {'spans': 1, 'tokens': 3, 'documents': 1})
    """
    number = total = 0
    vocabulary: set[str] = set()
    entities = {entity: {"spans": 0, "tokens": 0, "documents": 0} for entity in ENTITIES}
    for document in documents:
        found = tokens(document.text)
        number, total = number + 1, total + len(found)
        vocabulary.update(found)
        for entity, counts in entities.items():
            spans = document.entity_spans(entity)
            counts["spans"] += len(spans)
            counts["tokens"] += sum(len(tokens(document.text[span.start : span.end])) for span in spans)
            counts["documents"] += bool(spans)
    return {
        "documents": number,
        "tokens": total,
        "tokens_per_document": round(total / number, 2) if number else None,
        "vocabulary": len(vocabulary),
        "entities": entities,
    }
