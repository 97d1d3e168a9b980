"""What every reader takes and yields."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

# Called with the place (`file:line`) and the reason, which never holds text of the document.
Reject = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read what a format leaves open.

    `text_field` and `group_field` are fields of a JSON object or columns of a table: where the text stands (None:
    found by name), and what documents that belong together share, such as a patient's number. `encoding` is that of
    text files; it must hold ASCII as ASCII does.
    """

    text_field: str | None = None
    group_field: str | None = None
    encoding: str = "utf-8"


PLAIN = ReadOptions()

Reader = Callable[[Path, ReadOptions, Reject], "Iterator[RawDocument]"]
# A source's (start, end) -> code points, end exclusive; None where there is no such place in the text.
Convert = Callable[[int, int], tuple[int, int] | None]


class RawSpan(NamedTuple):
    """A span as the source has it, unchecked: offsets may be anything, `surface` is None where not stored.

    `number` is its place in the source's list where that is another than in the document's `spans`.
    """

    start: Any
    end: Any
    label: str
    surface: str | None = None
    number: int | None = None


class RawDocument(NamedTuple):
    """A document as the source has it.

    `spans` is None where the source has no labels for this text. `split` is the source's own (train, test) or
    None. Documents that share `group` belong together (patient, court file, template); one without belongs with none.
    `where` and `field` say where text and spans stand (`file:line`, `label`). `stated_id`: the source itself gives
    the id, so that it may come twice. `restricted`, `stand_in`: the document itself says so. `carriage_returns`: the
    file ends its lines with CR LF, so that offsets may have been counted before a parser turned these into LF.
    """

    id: str
    text: str
    spans: tuple[RawSpan, ...] | None
    split: str | None
    group: str | None
    where: str
    field: str = "spans"
    stated_id: bool = False
    restricted: bool = False
    stand_in: bool = False
    carriage_returns: bool = False


MALFORMED = RawSpan(None, None, "(malformed)")  # stands for an entry that is no span at all
