"""What became of the samples: counts, outcomes and scores per entity and round."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from phidrift.core.text import tokens
from phidrift.generation.curation import Released
from phidrift.generation.pool import Pool, Sample

ROUND_COLUMNS = (
    "entity",
    "round",
    "asked",
    "well_formed",
    "kept",
    "positives",
    "negatives",
    "mean_score",
    "mean_tokens",
    "spans",
    "distinct_strings",
)

_EMBEDDED_NOTE = (
    "written by a small embedded model: it shows that the machinery works, it is no clinical text"
)


def summarise(pools: Sequence[Pool], released: Mapping[str, Released]) -> dict[str, Any]:
    """Counts per entity: of every round, and of all; and the released sizes.

    positives, negatives, mean_score, mean_tokens (words and signs of the text), spans and distinct_strings are of
    well-formed samples; kept counts those in train or test. A mean over nothing is None.
    """
    entities = {}
    for entity, corpus in released.items():
        kept = {document.id for document in (*corpus.train, *corpus.test)}
        rounds = {}
        everything: list[Sample] = []
        for number, pool in enumerate(pools):
            samples = [sample for sample in pool.samples if sample.entity == entity]
            everything += samples
            rounds[str(number)] = _counts(samples, kept)
        entities[entity] = {
            "rounds": rounds,
            "all": _counts(everything, kept),
            "released": {
                "candidates": len(corpus.candidates),
                "train": len(corpus.train),
                "test": len(corpus.test),
            },
        }
    return {"entities": entities, "note": _note(pools)}


def round_rows(summary: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row an entity and round, of ROUND_COLUMNS."""
    for entity, found in sorted(summary["entities"].items()):
        for number, counts in found["rounds"].items():
            yield {"entity": entity, "round": int(number), **counts}


def _counts(samples: Sequence[Sample], kept: set[str]) -> dict[str, Any]:
    good = [sample for sample in samples if sample.score is not None]
    strings = [string for sample in good for string in sample.entity_strings]
    positives = sum(sample.positive for sample in good)
    return {
        "asked": len(samples),
        "well_formed": len(good),
        "kept": sum(sample.id in kept for sample in samples),
        "outcomes": dict(sorted(Counter(sample.outcome for sample in samples).items())),
        "positives": positives,
        "negatives": len(good) - positives,
        "mean_score": _mean([sample.score for sample in good if sample.score is not None]),
        "mean_tokens": _mean([len(tokens(sample.text)) for sample in good]),
        "spans": len(strings),
        "distinct_strings": len(set(strings)),
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _note(pools: Sequence[Pool]) -> str | None:
    models = {str(item["name"]) for pool in pools for item in pool.header["generators"].values()}
    return _EMBEDDED_NOTE if any(model.startswith("embedded/") for model in models) else None
