"""Reader of MultiLeg: one paragraph of a court document a JSON line."""

from collections.abc import Iterator
from pathlib import Path

from phidrift.corpora.files import source_files
from phidrift.corpora.rows import json_lines
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions, Reject


def read_multileg(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Paragraphs of the .jsonl files at or below `path`.

    A line is `{"text": ..., "label": [[start, end, TAG], ...]}`, offsets in code points, end exclusive. The
    group is the file: one court document. Lines of another shape are rejected; a label of another shape is a
    span whose offsets are malformed.

    Raises:
        PhidriftError: nothing at `path`, or no .jsonl file.
    """
    for file in source_files(path, (".jsonl",)):
        for number, where, record in json_lines(file.path, options, reject):
            text, labels = record.get("text"), record.get("label")
            if not isinstance(text, str):
                reject(where, "field 'text' must be a string")
            elif not isinstance(labels, list):
                reject(where, "field 'label' must be a list")
            else:
                spans = tuple([_span(label) for label in labels])
                name = f"{file.name}-{number:04d}"
                yield RawDocument(name, text, spans, file.split, file.stem, where, field="label")


def _span(label: object) -> RawSpan:
    if isinstance(label, list) and len(label) == 3 and isinstance(label[2], str):
        return RawSpan(label[0], label[1], label[2])
    return MALFORMED
