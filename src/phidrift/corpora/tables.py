"""The study's Tables 1 and 3 for the corpora that are there: sizes, and which source label became which entity."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from phidrift.core.document import ENTITIES

SIZES = (
    "corpus",
    "tokens_per_document",
    *(f"{entity.lower()}_{unit}" for entity in ENTITIES for unit in ("spans", "tokens")),
    "documents",
    "train_documents",
    "test_documents",
    "vocabulary",
    "tokens",
    "stand_in",
)
LABELS = ("corpus", "label", "entity", "spans", "tokens", "stand_in")
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """What the tables need of a corpus: `statistics` of all its documents (as `corpus_statistics` gives them), `labels`
    as `reading_report` does (none for a synthetic corpus), and how many documents its splits have, if it has any."""

    name: str
    statistics: Mapping[str, Any]
    labels: Mapping[str, Mapping[str, Any]]
    train: int | None
    test: int | None
    stand_in: bool


def size_rows(corpora: list[CorpusCounts]) -> Rows:
    """One row a corpus with the columns SIZES: the form of the study's Table 1, spans beside tokens.

    Spans and tokens of an entity are those under the common schema, after wrong ones are dropped.
    """
    rows = []
    for corpus in corpora:
        counts = corpus.statistics
        row: dict[str, Any] = {
            "corpus": corpus.name,
            "train_documents": corpus.train,
            "test_documents": corpus.test,
            "stand_in": corpus.stand_in,
        }
        row |= {name: counts[name] for name in ("tokens_per_document", "documents", "vocabulary", "tokens")}
        for entity, found in counts["entities"].items():
            row |= {f"{entity.lower()}_{unit}": found[unit] for unit in ("spans", "tokens")}
        rows.append(row)
    return rows


def label_rows(corpora: list[CorpusCounts]) -> Rows:
    """One row a corpus and source label with the columns LABELS: the form of the study's Table 3.

    Every span counts, before any is dropped; `tokens` are those of spans whose offsets can be trusted. `entity` is
    None for a label that the map doesn't have. Sorted by entity, then by falling number of spans.
    """
    return [
        {"corpus": corpus.name, "label": label, "stand_in": corpus.stand_in, **row}
        for corpus in corpora
        for label, row in sorted(
            corpus.labels.items(), key=lambda item: (item[1]["entity"] or "~", -item[1]["spans"], item[0])
        )
    ]
