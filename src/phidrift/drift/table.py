"""The drift table: every training set against every target, one row a metric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from phidrift.drift.comparison import Comparison, compare_measured, drawn_sizes, measure
from phidrift.drift.profile import Profile
from phidrift.drift.sampling import Settings, sample_sizes, share_vocabulary

TABLE_COLUMNS = (
    "set",
    "source",
    "size",
    "entity",
    "target",
    "metric",
    "family",
    "direction",
    "value",
    "low",
    "high",
    "floor",
    "clear",
    "value_full",
    "reference",
    "candidate",
    "reason",
)


@dataclass(frozen=True)
class Row:
    """A training set and a target of one entity, and the names of their profiles."""

    set: str
    source: str
    size: int
    entity: str
    target: str
    candidate: str  # profile of the training set
    reference: str  # profile of the target's test split


def drift_table(
    rows: Sequence[Row], profiles: Mapping[str, Profile], keys: Mapping[str, str], settings: Settings
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Compares each row's corpora, at one sample size for all.

    Args:
        rows: pairs to compare.
        profiles: key -> profile.
        keys: name of a profile -> its key; names whose texts are the same share a key, and are measured once.
        settings: samples and floors.

    Returns:
        Rows of the table (`TABLE_COLUMNS`), and what the samples were: their sizes in tokens, sentences and model
        tokens, and the mean size that the samples of each corpus really have, being of whole documents.
    """
    from threadpoolctl import threadpool_limits

    # The matrices are small: threads would cost more than they bring, and round differently from machine to machine.
    with threadpool_limits(1):
        corpora = dict(zip(profiles, share_vocabulary(list(profiles.values()), settings), strict=True))
        references = {keys[row.reference] for row in rows}
        sizes = sample_sizes(corpora.values(), [corpora[key] for key in sorted(references)], settings)
        measured = {key: measure(corpus, sizes) for key, corpus in corpora.items()}
        compared: dict[tuple[str, str], list[Comparison]] = {}
        for row in rows:
            pair = (keys[row.reference], keys[row.candidate])
            if pair not in compared:
                compared[pair] = compare_measured(measured[pair[0]], measured[pair[1]])
    about: dict[str, Any] = {f"sample_{need}": size or None for need, size in sizes.items()}
    about["drawn"] = {name: drawn_sizes(measured[key]) for name, key in sorted(keys.items())}
    return [
        line for row in rows for line in _lines(row, compared[keys[row.reference], keys[row.candidate]])
    ], about


def _lines(row: Row, comparisons: Sequence[Comparison]) -> Iterator[dict[str, Any]]:
    of_row = {name: value for name, value in asdict(row).items() if name not in ("candidate", "reference")}
    for comparison in comparisons:
        yield {**of_row, **asdict(comparison)}
