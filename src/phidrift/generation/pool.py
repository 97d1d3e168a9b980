"""Pool files: a round's samples, all that were asked for, under a header that chains the rounds."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from phidrift.core.document import Span, read_json_lines, to_line
from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_lines
from phidrift.core.text import words


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample asked for, whatever became of it; score is the mean of scores, None where it wasn't judged."""

    id: str
    entity: str
    round: int
    index: int  # among the samples of its round, generator and entity
    generator: str
    positive: bool
    seed: int
    prompt_sha256: str
    example_ids: tuple[str, ...]
    raw: str
    finish_reason: str
    outcome: str
    text: str
    spans: tuple[Span, ...]
    checks: tuple[str, ...]
    tokens: int  # of the model
    scores: Mapping[str, float] = field(default_factory=dict)
    score: float | None = None

    @property
    def entity_strings(self) -> tuple[str, ...]:
        """Case-folded marked strings, in text order."""
        return tuple(self.text[span.start : span.end].casefold() for span in self.spans)


@dataclass(frozen=True, slots=True)
class Pool:
    """A round: its header and its samples."""

    header: Mapping[str, Any]
    samples: tuple[Sample, ...]


def text_key(text: str) -> str:
    """What makes two texts the same: their case-folded words."""
    return " ".join(words(text))


def pool_path(folder: Path, number: int) -> Path:
    return folder / f"round_{number}.jsonl"


def write_pool(path: Path, pool: Pool) -> None:
    """Writes the header and one line a sample."""
    write_lines(path, [to_line(pool.header), *(to_line(asdict(sample)) for sample in pool.samples)])


def read_pools(folder: Path, numbers: Sequence[int]) -> list[Pool]:
    """Reads consecutive rounds from 0 on and checks that each was made from the very files before it.

    Raises:
        PhidriftError: a file is missing or malformed, or a round continues other rounds than these.
    """
    pools: list[Pool] = []
    previous: str | None = None
    for number in numbers:
        path = pool_path(folder, number)
        pool = _read_pool(path)
        if pool.header.get("round") != number or pool.header.get("previous") != previous:
            raise PhidriftError(
                f"round {number} was not made from the rounds that lie before it",
                where=path,
                mend="run dvc repro",
            )
        pools.append(pool)
        previous = file_hash(path)
    return pools


def chain_hash(folder: Path, number: int) -> str | None:
    """Hash of all rounds before `number`: that of the last file, whose header holds that of those before it."""
    return file_hash(pool_path(folder, number - 1)) if number else None


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_pool(path: Path) -> Pool:
    lines = read_json_lines(path)
    _, header = next(lines, (str(path), None))
    if not isinstance(header, dict) or "previous" not in header:
        raise PhidriftError("the first line is no header of a round", where=path, mend="run dvc repro")
    return Pool(header, tuple(_sample(record, where) for where, record in lines))


def _sample(record: Any, where: str) -> Sample:
    names = {item.name for item in fields(Sample)}
    if not isinstance(record, dict) or set(record) != names:
        raise PhidriftError(f"a sample has the fields {', '.join(sorted(names))}", where=where)
    record["spans"] = tuple(Span(**span) for span in record["spans"])
    for name in ("example_ids", "checks"):
        record[name] = tuple(record[name])
    return Sample(**record)
