"""The harmonised document: one schema for every corpus, training set and synthetic sample."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_lines

ENTITIES = ("ADDRESS", "CONTACT", "DATE", "PERSON")


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """A labelled stretch of text: code-point offsets, `end` exclusive."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its PHI spans, sorted and free of overlap within one label.

    `spans` is None where the text is unlabelled, which is not the same as having no entity.
    `meta` holds corpus, split, group, stand_in, restricted and, for synthetic documents, sample_id,
    generator, round and score.
    """

    id: str
    text: str
    spans: tuple[Span, ...] | None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def entity_spans(self, entity: str) -> tuple[Span, ...]:
        """Spans of one entity, in text order; empty where there are none or the text is unlabelled."""
        return tuple(span for span in self.spans or () if span.label == entity)

    def to_json(self) -> dict[str, Any]:
        """Plain data with the keys of the file format."""
        spans = (
            None
            if self.spans is None
            else [{"start": s.start, "end": s.end, "label": s.label} for s in self.spans]
        )
        return {"id": self.id, "text": self.text, "spans": spans, "meta": dict(self.meta)}


def parse_document(record: Any, where: str) -> Document:
    """Builds a document from decoded JSON and checks it.

    Raises:
        PhidriftError: names `where` and the field that is missing, of the wrong type, out of the text,
            unsorted or overlapping within one label.
    """
    if not isinstance(record, dict):
        raise PhidriftError("a document is a JSON object", where=where)
    for name in ("id", "text"):
        if not isinstance(record.get(name), str):
            raise PhidriftError(f"field {name!r} must be a string", where=where)
    meta = record.get("meta") or {}
    if not isinstance(meta, dict):
        raise PhidriftError("field 'meta' must be an object", where=where)
    return Document(record["id"], record["text"], _parse_spans(record, where), meta)


def _parse_spans(record: dict[str, Any], where: str) -> tuple[Span, ...] | None:
    raw, length = record.get("spans"), len(record["text"])
    if raw is None:
        return None
    if not isinstance(raw, list):
        raise PhidriftError("field 'spans' must be a list or null", where=where)
    spans: list[Span] = []
    last_end: dict[str, int] = {}
    for position, item in enumerate(raw):
        place = f"{where}, spans[{position}]"
        try:
            span = Span(item["start"], item["end"], item["label"])
        except (TypeError, KeyError) as error:
            raise PhidriftError("a span has start, end and label", where=place) from error
        if not (type(span.start) is int and type(span.end) is int and isinstance(span.label, str)):
            raise PhidriftError("start and end are integers, label is a string", where=place)
        if not 0 <= span.start < span.end <= length:
            problem = f"span {span.start}-{span.end} does not lie in a text of {length} characters"
            raise PhidriftError(problem, where=place, mend="offsets are code points, end exclusive")
        if spans and span < spans[-1]:
            raise PhidriftError("spans are not sorted by start", where=place)
        if span.start < last_end.get(span.label, 0):
            raise PhidriftError(f"span overlaps another {span.label} span", where=place)
        last_end[span.label] = span.end
        spans.append(span)
    return tuple(spans)


def read_documents(path: Path) -> Iterator[Document]:
    """Streams the documents of a JSON-lines file, checking each.

    Raises:
        PhidriftError: names the file, the line and the field.
    """
    for where, record in read_json_lines(path):
        yield parse_document(record, where)


def read_json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Streams (place, decoded value) for every non-blank line; place reads `file:line`."""
    if not path.is_file():
        raise PhidriftError("no such file", where=path)
    with path.open(encoding="utf-8", newline="\n") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    yield f"{path}:{number}", json.loads(line)
                except json.JSONDecodeError as error:
                    raise PhidriftError(f"not JSON ({error})", where=f"{path}:{number}") from error
        except UnicodeDecodeError as error:
            raise PhidriftError(f"not UTF-8 ({error.reason})", where=path, mend="save it as UTF-8") from error


def write_documents(path: Path, documents: Iterable[Document]) -> int:
    """Writes documents as JSON lines, all or nothing; returns how many."""
    return write_lines(path, (to_line(document.to_json()) for document in documents))


def to_line(record: Mapping[str, Any]) -> str:
    """One JSON line; characters stay readable, lone surrogates are escaped so that any text survives."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(record, ensure_ascii=True, allow_nan=False)
    return line
