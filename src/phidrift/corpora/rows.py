"""Rows of a file as objects: JSON lines, a JSON array, CSV, TSV, Parquet; one bad row costs itself alone."""

import codecs
import csv
import io
import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import (
    BROKEN_GZIP,
    LARGEST_DOCUMENT,
    LARGEST_FILE,
    NUL,
    TOO_LARGE,
    UTF16,
    UTF16_MARKS,
    SourceFile,
    decoded,
    lines,
    open_bytes,
    whole_bytes,
)
from phidrift.corpora.source import ReadOptions, Reject

JSON_SUFFIXES = (".jsonl", ".json", ".ndjson")
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
ROW_SUFFIXES = JSON_SUFFIXES + TABLE_SUFFIXES
TWO_COLUMNS = "two columns have one name"
Row = tuple[int, str, dict[str, Any]]  # position (line or row, from 1), place for messages, fields


def rows(file: SourceFile, options: ReadOptions, reject: Reject) -> Iterator[Row]:
    """The rows of a file, by its suffix. What is no row is rejected with its place.

    Raises:
        PhidriftError: it can't be opened or read.
    """
    if file.suffix == ".parquet":
        yield from _parquet(file.path, reject)
    elif file.suffix in TABLE_SUFFIXES:
        yield from _separated(file.path, file.suffix == ".tsv", options, reject)
    elif file.suffix == ".json" and not _is_one_a_line(file.path):
        yield from _array(file.path, options, reject)
    else:
        yield from json_lines(file.path, options, reject)


def json_lines(path: Path, options: ReadOptions, reject: Reject) -> Iterator[Row]:
    """(line, `file:line`, object) for each line that holds a JSON object; blank lines are passed over."""
    for number, line in lines(path, options, reject):
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if line.strip():
                reject(where, "not JSON")
            continue
        if isinstance(record, dict):
            yield number, where, record
        else:
            reject(where, "not a JSON object")


def _is_one_a_line(path: Path) -> bool:
    """Whether the first line of a .json file is a whole object: then the file is JSON lines under another name."""
    every = lines(path, ReadOptions(encoding="latin-1"), lambda where, reason: None)
    first = next((line for _, line in every if line.strip()), "")
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _array(path: Path, options: ReadOptions, reject: Reject) -> Iterator[Row]:
    """The objects of a file that is one JSON array, or one object over several lines.

    What starts with an object and isn't JSON as a whole is read as JSON lines, whose first one may be broken.
    """
    content = whole_bytes(path, LARGEST_FILE, reject)
    if content is not None and content.startswith(UTF16_MARKS):
        reject(f"{path}:1", UTF16)
        return
    text = None if content is None else decoded(path, content, options, reject)
    if text is None:
        return
    del content
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("{"):
            yield from json_lines(path, options, reject)
        else:
            reject(f"{path}:{getattr(error, 'lineno', 1)}", "not JSON")
        return
    del text
    for position, record in enumerate(value if isinstance(value, list) else [value], start=1):
        where = f"{path}, item {position}"
        if isinstance(record, dict):
            yield position, where, record
        else:
            reject(where, "not a JSON object")


def _separated(path: Path, tabs: bool, options: ReadOptions, reject: Reject) -> Iterator[Row]:
    """The rows of a CSV file under its header, as (number of the row's first line, `file:line`, fields).

    Separated by commas, or by semicolons or tabs where the header has more of these. A file whose header has a name
    twice is rejected: one of the two columns would be lost.
    """
    csv.field_size_limit(LARGEST_DOCUMENT)
    with open_bytes(path) as file:
        try:
            start = file.read(3)
            if start.startswith(UTF16_MARKS):
                reject(f"{path}:1", UTF16)
                return
            if start != codecs.BOM_UTF8:
                file.seek(0)
            with io.TextIOWrapper(file, options.encoding, errors="surrogateescape", newline="") as text:
                yield from _csv_rows(path, text, tabs, reject)
        except BROKEN_GZIP:
            reject(f"{path}:1", "its gzip stream is damaged")
        except OSError as error:
            raise _unreadable(path, error) from error
        except UnicodeError:  # of encodings in which even ASCII bytes may be wrong
            reject(f"{path}:1", f"is not {options.encoding.upper()}")


def _csv_rows(path: Path, text: io.TextIOWrapper, tabs: bool, reject: Reject) -> Iterator[Row]:
    lines_read = _Lines(text)
    comma = "\t" if tabs else max(",;\t", key=lines_read.head.count)
    reader = csv.reader(lines_read, delimiter=comma, strict=True)
    header: list[str] | None = None
    while True:
        where = f"{path}:{lines_read.next_row()}"
        try:
            fields = next(reader)
            problem = None if header is None else _row_problem(fields, header)
        except StopIteration:
            return
        except _TooLongError:
            problem = TOO_LARGE
        except csv.Error:
            problem = "not CSV: a quotation mark or a field without end"
        if problem:
            reject(where, problem)
            if header is None:
                return
            # A stray quotation mark takes in the rows that follow: these are read again.
            lines_read.return_all_but_one()
            reader = csv.reader(lines_read, delimiter=comma, strict=True)
        elif header is None:
            header = fields
            named = [name for name in header if name]  # a column without a name is never asked for
            if len(set(named)) < len(named):
                reject(where, TWO_COLUMNS)
                return
        elif fields:
            yield lines_read.first, where, dict(zip(header, fields, strict=True))


class _TooLongError(Exception):
    """A line that no row of documents could be."""


class _Lines:
    """The lines of a table; `head` is the first. One that is too long is read past in pieces.

    It holds the lines of the row that is being read, whose number is `first`, so that they can be read again. A class
    and not a generator, so that reading can go on after the error.
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self.first, self._text, self._longest = 0, text, 2 * LARGEST_DOCUMENT  # a text and its spans
        self._row: list[str] = []
        self._returned: deque[str] = deque()
        self.head = text.readline(self._longest + 1)
        self._returned.append(self.head)

    def next_row(self) -> int:
        """Begins a row; the number of its first line."""
        self.first += len(self._row) or (self.first == 0)
        self._row = []
        return self.first

    def return_all_but_one(self) -> None:
        """Lets the lines of the row be read again, but for its first."""
        self._returned.extendleft(reversed(self._row[1:]))
        self._row = self._row[:1]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._returned.popleft() if self._returned else self._text.readline(self._longest + 1)
        if not line:
            raise StopIteration
        if len(line) <= self._longest:
            self._row.append(line)
            return line
        while line and not line.endswith(("\n", "\r")):
            line = self._text.readline(self._longest)
        self._row.append("")
        raise _TooLongError


def _row_problem(fields: list[str], header: list[str]) -> str | None:
    if not fields:
        return None
    if len(fields) != len(header):
        return f"has {len(fields)} fields, the header {len(header)}"
    if any("\0" in value for value in fields):
        return NUL
    if any(_is_escaped(value) for value in fields):
        return "holds bytes that are not in the encoding"
    return None


def _is_escaped(value: str) -> bool:
    return not value.isascii() and any("\udc80" <= character <= "\udcff" for character in value)


def _parquet(path: Path, reject: Reject) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with open_bytes(path) as file:
            source = file if isinstance(file, io.BufferedReader) else io.BytesIO(file.read(LARGEST_FILE))
            table = pyarrow.parquet.ParquetFile(source)
            if len(set(table.schema_arrow.names)) < len(table.schema_arrow.names):
                reject(f"{path}, row 1", TWO_COLUMNS)
                return
            for batch in table.iter_batches(batch_size=256):
                for position in range(batch.num_rows):
                    number += 1
                    where = f"{path}, row {number}"
                    try:
                        record = batch.slice(position, 1).to_pylist()[0]
                    except (ValueError, ArithmeticError):  # bytes that are not UTF-8, a date out of range
                        reject(where, "holds a value that can't be converted")
                    else:
                        yield number, where, record
    except (pyarrow.ArrowException, OSError, *BROKEN_GZIP) as error:
        # pyarrow's own OSError, of damaged content, has no number as the system's have.
        if isinstance(error, OSError) and error.errno is not None:
            raise _unreadable(path, error) from error
        reject(f"{path}, row {number + 1}", "not Parquet, or damaged from here on")


def _unreadable(path: Path, error: OSError) -> PhidriftError:
    return PhidriftError(f"can't be read ({error.strerror})", where=path)
