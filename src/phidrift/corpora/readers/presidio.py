"""Reader of presidio-research's data sets: template sentences, filled with made-up entities."""

from collections.abc import Iterator
from pathlib import Path

from phidrift.corpora.files import source_files
from phidrift.corpora.readers.fields import group_of, is_missing, object_span
from phidrift.corpora.rows import JSON_SUFFIXES, rows
from phidrift.corpora.source import RawDocument, ReadOptions, Reject

_KEYS = ("entity_type", "start_position", "end_position", "entity_value")


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
    text_field = options.text_field or "full_text"
    for file in source_files(path, JSON_SUFFIXES):
        for number, where, record in rows(file, options, reject):
            text, items = record.get(text_field), record.get("spans")
            if not isinstance(text, str):
                reject(where, f"field {text_field!r} must be a string")
            elif items is not None and not isinstance(items, list):
                reject(where, "field 'spans' must be a list, or null")
            else:
                name, template = f"{file.name}-{number:06d}", record.get("template_id")
                own = None if is_missing(template) else f"template-{template}"
                group, stated = group_of(record, options, own, where, reject)
                if stated:
                    spans = None if items is None else tuple(object_span(item, *_KEYS) for item in items)
                    yield RawDocument(name, text, spans, file.split, group, where)
