"""Reader of the pii-anon evaluation data, and of ambientmeta's benchmark, which has the same annotations."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.corpora.files import source_files
from phidrift.corpora.readers.fields import digest, group_of, is_english, object_span, stated_id
from phidrift.corpora.rows import JSON_SUFFIXES, Row, rows
from phidrift.corpora.source import RawDocument, RawSpan, ReadOptions, Reject

LOG = logging.getLogger(__name__)
_DIGITS = re.compile(r"\d+")
_OPENING = 40  # characters
_KEYS = ("entity_type", "start", "end", "text")


def read_pii_anon(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """English records of the JSON-lines files (or JSON arrays) at or below `path`.

    A record is `{record_id (or id), text, annotations: [{entity_type, start, end, text}], language}`, offsets in code
    points, end exclusive. Null or no annotations: unlabelled. Records in another language (see fields.is_english) are
    passed over, and so are `nested_entities`, parts of another entity (the local part of an e-mail address as a
    name, a city in a company's name) that would make two spans of one. Both are counted in the log.

    The group is the template. The records are templates filled in, but none names its own, and a person's
    `cluster_id` never leaves its record. Fillings are in part unlabelled (dates, diagnoses), so that even the texts
    with each entity replaced by its type are nearly all distinct; their openings are not: the first 40 characters
    of the first line, digits aside, make 201 groups of 3,828 records. The group is a digest of that, as the opening
    of an unlabelled text may hold names. `options.group_field` names another.

    Rejected: records whose text (or `options.text_field`) is no string, whose annotations are no list, or without
    the named group.

    Raises:
        PhidriftError: nothing at `path`, or no JSON file.
    """
    for file in source_files(path, JSON_SUFFIXES):
        foreign = nested = 0
        for row in rows(file, options, reject):
            if not is_english(row[2]):
                foreign += 1
                continue
            document = _document(row, file.name, file.split, options, reject)
            if document is not None:
                nested += _nested(row[2]["annotations"] if document.spans else [])
                yield document
        if foreign:
            LOG.info("%s: %d rows in other languages passed over", file.path, foreign)
        if nested:
            LOG.info("%s: %d entities inside others passed over", file.path, nested)


def _document(
    row: Row, name: str, split: str | None, options: ReadOptions, reject: Reject
) -> RawDocument | None:
    number, where, record = row
    text_field = options.text_field or "text"
    text, items = record.get(text_field), record.get("annotations")
    if not isinstance(text, str):
        reject(where, f"field {text_field!r} must be a string")
    elif items is not None and not isinstance(items, list):
        reject(where, "field 'annotations' must be a list, or null")
    else:
        spans = None if items is None else tuple(object_span(item, *_KEYS) for item in items)
        group, stated = group_of(record, options, _template(text, spans or ()), where, reject)
        if stated:
            identity, has_id = stated_id(record, ("record_id", "id"), f"{name}-{number:06d}")
            return RawDocument(identity, text, spans, split, group, where, "annotations", stated_id=has_id)
    return None


def _nested(items: list[Any]) -> int:
    inner = (item.get("nested_entities") for item in items if isinstance(item, dict))
    return sum(len(entities) for entities in inner if isinstance(entities, list))


def _template(text: str, spans: tuple[RawSpan, ...]) -> str:
    """A digest of how the text begins, with each span as its label and each number as 0."""
    placed = [
        (span.start, span.end, span.label)
        for span in spans
        if type(span.start) is int and type(span.end) is int and 0 <= span.start < span.end <= len(text)
    ]
    parts, position = [], 0
    for start, end, label in sorted(placed, key=lambda span: (span[0], -span[1])):
        if start >= position:
            parts += [text[position:start], f"[{label}]"]
            position = end
    masked = "".join((*parts, text[position:])).lstrip()
    opening = _DIGITS.sub("0", masked.partition("\n")[0])[:_OPENING]
    return digest(opening)
