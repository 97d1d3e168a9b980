"""The main figures: mean F1 in and out of distribution, the best metric, and the ablation set's means."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.analysis.correlation import Group
from phidrift.analysis.scores import ABLATION, SYNTHETIC, Score
from phidrift.core.errors import PhidriftError

WORKS_ABOVE = 0.3  # in-distribution F1 above which a pair counts as learnt

ABLATION_COLUMNS = (
    "mixture",
    "judge_threshold",
    "generator",
    "real",
    "size",
    "entity",
    "target",
    "f1",
    "support",
    "in_distribution",
)


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One score of an ablation set, with the parameters that made it: a line of metrics/ablation.csv."""

    mixture: float
    judge_threshold: str
    generator: str
    real: str  # the corpus it was mixed with
    size: int
    entity: str
    target: str
    f1: float | None
    support: int
    in_distribution: bool


@dataclass(frozen=True, slots=True)
class AblationPoint:
    """Mean F1 of one ablation set for one entity over `targets`, all of them foreign at every mixture."""

    mixture: float
    judge_threshold: str
    generator: str
    real: str
    size: int
    entity: str
    ood_f1: float
    targets: tuple[str, ...]


def ablation_rows(
    scores: Iterable[Score], mixture: float, judge_threshold: float | str, generator: str, real: str
) -> list[AblationRow]:
    """The scores of the ablation set as lines of metrics/ablation.csv."""
    return [
        AblationRow(
            mixture,
            str(judge_threshold),
            generator,
            real,
            s.size,
            s.entity,
            s.target,
            s.f1,
            s.support,
            s.in_distribution,
        )
        for s in scores
        if s.set == ABLATION
    ]


def read_ablation(path: Path) -> list[AblationRow]:
    """The lines of metrics/ablation.csv; none where only the header is there.

    Raises:
        PhidriftError: the file or a column is missing, or a value can't be read.
    """
    if not path.is_file():
        raise PhidriftError("no such file", where=path, mend=f"write the header {','.join(ABLATION_COLUMNS)}")
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in ABLATION_COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise PhidriftError(f"column {missing[0]!r} is missing", where=path)
        return [_ablation_row(row, f"{path}:{reader.line_num}") for row in reader]


def _ablation_row(row: Mapping[str, str], where: str) -> AblationRow:
    if row["in_distribution"] not in ("True", "False"):
        raise PhidriftError("in_distribution is True or False", where=where)
    try:
        return AblationRow(
            float(row["mixture"]),
            row["judge_threshold"],
            row["generator"],
            row["real"],
            int(row["size"]),
            row["entity"],
            row["target"],
            float(row["f1"]) if row["f1"] else None,
            int(row["support"]),
            row["in_distribution"] == "True",
        )
    except ValueError as error:
        raise PhidriftError(f"not a number ({error})", where=where) from error


def ablation_points(rows: Iterable[AblationRow]) -> list[AblationPoint]:
    """Mean F1 per ablation set and entity over the corpora that are foreign to every mixture.

    The real corpus mixed in and the synthetic one are left out at every mixture, also at 0 and 1 where one of
    them is foreign: otherwise the means of two mixtures would stand for different targets. An undefined F1 is
    left out.
    """
    found: dict[tuple[float, str, str, str, int, str], dict[str, float]] = {}
    for r in rows:
        if r.f1 is not None and r.target not in (r.real, SYNTHETIC):
            key = (r.mixture, r.judge_threshold, r.generator, r.real, r.size, r.entity)
            found.setdefault(key, {})[r.target] = r.f1
    return [
        AblationPoint(*key, sum(f1.values()) / len(f1), tuple(sorted(f1)))
        for key, f1 in sorted(found.items())
    ]


def mean_f1(scores: Iterable[Score], entities: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Mean F1 "in_distribution" and "out_of_distribution", per entity and over "all"."""
    scores = [s for s in scores if s.f1 is not None]
    means: dict[str, dict[str, float | None]] = {}
    for name, inside in (("in_distribution", True), ("out_of_distribution", False)):
        chosen = [s for s in scores if s.in_distribution is inside]
        means[name] = {e: _mean(s.f1 for s in chosen if s.entity == e) for e in entities}
        means[name]["all"] = _mean(s.f1 for s in chosen)
    return means


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def pairs_learnt(scores: Iterable[Score]) -> tuple[int, int]:
    """How many (source, entity) pairs have an F1 above 0.3 on their own test corpus, of how many."""
    best: dict[tuple[str, str], float] = {}
    for s in scores:
        if s.target == s.source:
            pair = (s.source, s.entity)
            best[pair] = max(best.get(pair, 0.0), s.f1 or 0.0)
    return sum(f1 > WORKS_ABOVE for f1 in best.values()), len(best)


def summarize(
    scores: Sequence[Score], points: Sequence[AblationPoint], group: Group, entities: Sequence[str]
) -> dict[str, Any]:
    """The content of metrics/summary.json.

    `scores` are the main sets', `points` the current ablation set's, `group` the correlations over all rows
    of the main sets.
    """
    learnt, pairs = pairs_learnt(scores)
    name, best = next(iter(group.metrics.items()), (None, None))
    return {
        **mean_f1(scores, entities),
        "in_distribution_pairs_above_0_3": learnt,
        "in_distribution_pairs": pairs,
        "best_metric": name if best is not None and best.pearson is not None else None,
        "best_metric_pearson": best.pearson if best is not None else None,
        "ood_indicator_pearson": group.baseline.pearson,
        "pearson": {metric: result.pearson for metric, result in sorted(group.metrics.items())},
        "ablation_ood_f1": {point.entity: point.ood_f1 for point in points},
    }
