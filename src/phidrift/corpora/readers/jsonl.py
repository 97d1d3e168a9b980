"""Reader of a corpus of one's own as JSON lines, or as tables (CSV, TSV, Parquet): a text, with spans or without."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import source_files
from phidrift.corpora.readers.fields import SPLITS, group_of, is_missing, stated_id, unpacked
from phidrift.corpora.rows import JSON_SUFFIXES, TABLE_SUFFIXES, Row, rows
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions, Reject

TEXT_FIELDS = ("text", "note", "note_text", "section_text", "content", "body", "full_text", "source_text")
SPAN_FIELDS = ("spans", "label", "labels", "entities", "annotations", "ents")
_LABELS = ("label", "entity_type", "type", "tag", "category", "entity")
_STARTS = ("start", "begin", "start_position", "start_offset")
_ENDS = ("end", "stop", "end_position", "end_offset")
_SURFACES = ("text", "value", "surface", "entity_value")
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.][A-Za-z0-9]+)*")
_LISTED = 20  # fields in a message
_BESIDE_ENTITY = ("type", "tag", "category")  # where one of these is the label, `entity` may be the surface


def read_jsonl(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Documents of the JSON-lines files (or JSON arrays of objects) at or below `path`.

    See `document_of` for the fields.

    Raises:
        PhidriftError: nothing at `path`, no such file in it, or no field that is known to hold text.
    """
    yield from _read(path, JSON_SUFFIXES, options, reject)


def read_table(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Rows of the CSV, TSV and Parquet files at or below `path`, as `read_jsonl` reads objects.

    Raises:
        PhidriftError: nothing at `path`, no such file in it, or no column that is known to hold text.
    """
    yield from _read(path, TABLE_SUFFIXES, options, reject)


def _read(
    path: Path, suffixes: tuple[str, ...], options: ReadOptions, reject: Reject
) -> Iterator[RawDocument]:
    for file in source_files(path, suffixes):
        text_field = options.text_field
        for row in rows(file, options, reject):
            if text_field is None:
                text_field = only_text_field(row[2], file.path)
            document = document_of(row, text_field, file.name, file.split, options, reject)
            if document is not None:
                yield document


def only_text_field(record: dict[str, Any], path: Path) -> str:
    """The one field of a record that is known to hold a text; where none does (null), that bears such a name.

    Raises:
        PhidriftError: there is none, or several; lists the fields there are.
    """
    known = [name for name in TEXT_FIELDS if name in record]
    found = [name for name in known if isinstance(record[name], str)] or known
    if len(found) == 1:
        return found[0]
    problem = f"which field holds the text? {' and '.join(found) if found else 'none of the usual names'}"
    # In a table without a header the first row stands for one, and may hold names of patients.
    names = [name for name in record if _FIELD_NAME.fullmatch(name)]
    listed = names[:_LISTED]
    if len(names) > _LISTED:
        listed.append(f"{len(names) - _LISTED} more")
    if len(record) > len(names):
        listed.append(f"{len(record) - len(names)} that look like no names")
    raise PhidriftError(problem, where=path, mend=f"state text_field; there are {', '.join(listed)}")


def document_of(
    row: Row, text_field: str, name: str, split: str | None, options: ReadOptions, reject: Reject
) -> RawDocument | None:
    """A row as a document; None, and rejected, where it isn't one.

    Its id is the field `id`, or else the file's `name` and the row's number. Spans stand in one of `SPAN_FIELDS` (a
    list, or text that holds one), each as {start, end, label} or [start, end, label]; without such a field, or with
    null, the text is unlabelled. `meta.split` and `meta.group`, or fields of these names, are taken over, and
    `meta.restricted` and `meta.stand_in`, so that a harmonised file reads back as it was written.
    """
    number, where, record = row
    text = record.get(text_field)
    if not isinstance(text, str):
        reject(where, f"field {text_field!r} must be a string")
        return None
    field, items = _span_items(record)
    if items is not None and not isinstance(items, list):
        reject(where, f"field {field!r} must be a list of spans, or null")
        return None
    meta = _from_text(record.get("meta"))
    meta = meta if isinstance(meta, dict) else {}
    identity, has_id = stated_id(record, ("id",), f"{name}-{number:06d}")
    own_group = meta.get("group", record.get("group"))
    default = None if is_missing(own_group) else str(own_group)
    group, stated = group_of(record, options, default, where, reject)
    if not stated:
        return None
    own_split = meta.get("split", record.get("split"))
    return RawDocument(
        identity,
        text,
        None if items is None else tuple([span_of(item) for item in items]),
        own_split if own_split in SPLITS else split,
        group,
        where,
        field,
        stated_id=has_id,
        restricted=meta.get("restricted") is True,
        stand_in=meta.get("stand_in") is True,
    )


def _span_items(record: dict[str, Any]) -> tuple[str, Any]:
    """(field, its value): `spans` where it is there; of the others, which may mean something else, only a list."""
    for field in SPAN_FIELDS:
        items = _from_text(record.get(field))
        if isinstance(items, list) or (field == "spans" and items is not None):
            return field, items
    return "spans", None


def span_of(item: Any) -> RawSpan:
    """A span from {start, end, label} (under the usual other names too) or [start, end, label].

    `entity` is the label where nothing else is; beside `type`, `tag` or `category`, it is the surface text where
    nothing else is.
    """
    if isinstance(item, list | tuple) and len(item) == 3 and isinstance(item[2], str):
        return RawSpan(item[0], item[1], item[2])
    if isinstance(item, dict):
        start, end, label = item.get("start"), item.get("end"), item.get("label")
        if start is not None and end is not None and isinstance(label, str):  # the usual, and quick
            surface = _first(item, _SURFACES)
            return RawSpan(start, end, label, surface if isinstance(surface, str) else None)
        name = next((name for name in _LABELS if item.get(name) is not None), "")
        surfaces = (*_SURFACES, "entity") if name in _BESIDE_ENTITY else _SURFACES
        label, surface = item.get(name), _first(item, surfaces)
        if isinstance(label, str):
            surface = surface if isinstance(surface, str) else None
            return RawSpan(_first(item, _STARTS), _first(item, _ENDS), label, surface)
    return MALFORMED


def _first(item: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if item.get(name) is not None:
            return item[name]
    return None


def _from_text(value: Any) -> Any:
    """What a table holds as text, in JSON or as Python prints it; an empty field is none, other text stays text."""
    if not isinstance(value, str):
        return value
    if value.strip() in ("", "null", "None"):
        return None
    found = unpacked(value)
    return value if found is None else found
