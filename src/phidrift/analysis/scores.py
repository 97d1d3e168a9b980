"""Tagging scores and drift values as rows: one trained set, one target corpus, one entity."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json

Key: TypeAlias = tuple[str, str, str]  # set, entity, target

ABLATION = "ablation"  # the name of the one set whose making the top-level parameters vary
SYNTHETIC = "syn"  # the name of the synthetic corpus as a source and as a target


@dataclass(frozen=True, slots=True)
class Score:
    """F1 of one set's tagger on one target corpus for one entity.

    `f1` is the mean over taggers and seeds, in [0, 1], or None where it is undefined (with `reason`);
    `f1_low` and `f1_high` bound it over resampled documents; `support` counts the gold spans.
    """

    set: str
    source: str
    size: int
    entity: str
    target: str
    f1: float | None
    f1_low: float | None
    f1_high: float | None
    support: int
    in_distribution: bool
    trained: bool
    reason: str | None

    @property
    def key(self) -> Key:
        return self.set, self.entity, self.target


@dataclass(frozen=True, slots=True)
class DriftValue:
    """One metric between one training set and one target corpus: a row of drift.csv."""

    set: str
    source: str
    size: int
    entity: str
    target: str
    metric: str
    family: str
    direction: str
    value: float | None
    reason: str | None

    @property
    def key(self) -> Key:
        return self.set, self.entity, self.target

    @property
    def alike(self) -> bool:
        """Whether a higher value means more alike."""
        return self.direction == "higher_is_more_alike"


def read_scores(path: Path) -> list[Score]:
    """The scores of one set, sorted by entity and target.

    Raises:
        PhidriftError: the file is missing or lacks a field.
    """
    record = read_record(path)
    name, source = field(record, "set", path), field(record, "source", path)
    size, entities = field(record, "size", path), field(record, "entities", path)
    scores = []
    for entity in sorted(entities):
        for target in sorted(entities[entity]):
            place = f"{path}, entities.{entity}.{target}"
            cell = entities[entity][target]
            f1 = field(cell, "f1", place)
            reason = cell.get("reason") or ("no F1 was reported" if f1 is None else None)
            scores.append(
                Score(
                    set=name,
                    source=source,
                    size=size,
                    entity=entity,
                    target=target,
                    f1=f1,
                    f1_low=field(cell, "f1_low", place),
                    f1_high=field(cell, "f1_high", place),
                    support=field(cell, "support", place),
                    in_distribution=field(cell, "in_distribution", place),
                    trained=field(cell, "trained", place),
                    reason=reason,
                )
            )
    return scores


def read_drift(path: Path) -> list[DriftValue]:
    """The rows of drift.csv in file order; an empty value is None.

    Raises:
        PhidriftError: the file is missing, lacks a column, or a value is not a finite number.
    """
    if not path.is_file():
        raise PhidriftError("no such file", where=path, mend="run the stage drift first (dvc repro drift)")
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        wanted = ("set", "source", "size", "entity", "target", "metric", "family", "direction", "value")
        missing = [name for name in wanted if name not in (reader.fieldnames or ())]
        if missing:
            raise PhidriftError(f"column {missing[0]!r} is missing", where=path, mend="dvc repro drift")
        return [_drift_value(row, f"{path}:{reader.line_num}") for row in reader]


def _drift_value(row: Mapping[str, str], where: str) -> DriftValue:
    try:
        size, value = int(row["size"]), float(row["value"]) if row["value"] else None
    except ValueError as error:
        raise PhidriftError(f"not a number ({error})", where=where) from error
    if value is not None and not math.isfinite(value):
        raise PhidriftError("a value must be finite, or empty with a reason", where=f"{where}, value")
    return DriftValue(
        row["set"],
        row["source"],
        size,
        row["entity"],
        row["target"],
        row["metric"],
        row["family"],
        row["direction"],
        value,
        row.get("reason") or None,
    )


def read_record(path: Path) -> Mapping[str, Any]:
    """A JSON object from a file.

    Raises:
        PhidriftError: there is no such file, or it holds something else.
    """
    if not path.is_file():
        raise PhidriftError("no such file", where=path, mend="run the stage that writes it (dvc repro)")
    record = read_json(path)
    if not isinstance(record, dict):
        raise PhidriftError("not a JSON object", where=path)
    return record


def field(record: Any, name: str, where: str | Path) -> Any:
    """`record[name]`.

    Raises:
        PhidriftError: names the place and the field that is missing.
    """
    if not isinstance(record, Mapping) or name not in record:
        raise PhidriftError(f"field {name!r} is missing", where=where, mend="run its stage again")
    return record[name]
