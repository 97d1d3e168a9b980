"""Reader of presidio-research's data sets: template sentences, filled with made-up entities."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.corpora.files import source_files
from phidrift.corpora.rows import JSON_SUFFIXES, rows
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions, Reject


def read_presidio(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Samples of the JSON files (an array, or a sample a line) at or below `path`.

    A sample is `{full_text, spans: [{entity_type, entity_value, start_position, end_position}], template_id}`, spans
    in any order, offsets in code points, end exclusive. Null or no spans: unlabelled. The group is the template, so
    that no template stands on both sides of a split, or `options.group_field`; where there is neither, the sample.

    Rejected: samples whose full_text (or `options.text_field`) is no string, whose spans are no list, or without the
    named group.

    Raises:
        PhidriftError: nothing at `path`, or no JSON file.
    """
    text_field, group_field = options.text_field or "full_text", options.group_field
    for file in source_files(path, JSON_SUFFIXES):
        for number, where, record in rows(file, options, reject):
            text, items = record.get(text_field), record.get("spans")
            group = record.get(group_field or "template_id")
            if not isinstance(text, str):
                reject(where, f"field {text_field!r} must be a string")
            elif items is not None and not isinstance(items, list):
                reject(where, "field 'spans' must be a list, or null")
            elif group_field and group is None:
                reject(where, f"field {group_field!r} is missing, which says what belongs together")
            else:
                name = f"{file.name}-{number:06d}"
                spans = None if items is None else tuple(_span(item) for item in items)
                together = str(group) if group_field else name if group is None else f"template-{group}"
                yield RawDocument(name, text, spans, file.split, together, where)


def _span(item: Any) -> RawSpan:
    if not isinstance(item, dict) or not isinstance(item.get("entity_type"), str):
        return MALFORMED
    value = item.get("entity_value")
    surface = value if isinstance(value, str) else None
    return RawSpan(item.get("start_position"), item.get("end_position"), item["entity_type"], surface)
