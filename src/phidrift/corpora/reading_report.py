"""The account of a corpus that was read: documents, labels, spans, languages; and what to warn of."""

import logging
from collections.abc import Mapping
from typing import Any

from phidrift.core.document import Document
from phidrift.corpora.label_maps import entity_of
from phidrift.corpora.language import languages, not_english
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents, is_stand_in
from phidrift.corpora.spans import SpanCounts

LOG = logging.getLogger(__name__)


def reading_report(source: CorpusSource, reading: Reading) -> dict[str, Any]:
    """What became of documents and spans, as plain data; it names no file, since file names may name patients."""
    counts, labels = reading.spans, source.label_map
    return {
        "format": source.format,
        "read": {
            "documents": reading.documents,
            "unlabelled": reading.unlabelled,
            "repeated_ids": reading.repeated_ids,
        },
        "rejected": {
            "documents": sum(reading.rejected.values()),
            "reasons": dict(reading.rejected),
        },
        "labels": {
            label: {
                "entity": entity_of(label, labels),
                "spans": counts.labels[label],
                "tokens": counts.label_tokens[label],
            }
            for label in sorted(counts.labels)
        },
        "spans": {
            "outcomes": {k: counts.outcomes[k] for k in ("exact", "relocated", "trimmed", "dropped")},
            "drop_reasons": dict(counts.drop_reasons),
            "unmapped_labels": unmapped_labels(counts, labels),
            "inside_words": counts.inside_words,
            "conventions": dict(counts.conventions),
        },
        "languages": languages(reading.language_sample),
        "stand_in": is_stand_in(source.path) or reading.stand_ins > 0,
        "restricted": source.restricted or reading.restricted > 0,
    }


def read_and_report(source: CorpusSource) -> tuple[list[Document], dict[str, Any]]:
    """(the documents of a corpus, the report of the reading), with its warnings in the log.

    Raises:
        PhidriftError: as `harmonised_documents`.
    """
    reading = Reading()
    documents = list(harmonised_documents(source, reading))
    report = reading_report(source, reading)
    warn_of_reading(source, report)
    return documents, report


def unmapped_labels(counts: SpanCounts, labels: Mapping[str, str]) -> dict[str, int]:
    """Source labels without an entity, and how many spans each has; the most frequent first."""
    return {label: n for label, n in counts.labels.most_common() if entity_of(label, labels) is None}


def warn_of_reading(source: CorpusSource, report: Mapping[str, Any]) -> None:
    """Warns of what the user may want to mend: other languages, other offsets, no labels."""
    language = not_english(report["languages"])
    if language:
        LOG.warning("%s: %s", source.name, language)
    for convention, documents in report["spans"]["conventions"].items():
        LOG.warning(
            "%s: offsets of %d documents are counted as %s: their surface texts prove it, and they were moved",
            source.name,
            documents,
            convention,
        )
    read = report["read"]
    if read["unlabelled"]:
        LOG.warning(
            "%s: %d of %d documents have no labels", source.name, read["unlabelled"], read["documents"]
        )
