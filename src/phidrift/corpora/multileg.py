"""Reader of MultiLeg: one paragraph of a court document a JSON line."""

from collections.abc import Iterator
from pathlib import Path

from phidrift.corpora.source import RawDocument, RawSpan, Reject, json_lines, source_files


def read_multileg(folder: Path, reject: Reject) -> Iterator[RawDocument]:
    """Paragraphs of the .jsonl files of `folder` and of its sub-folders train... and test....

    A line is `{"text": ..., "label": [[start, end, TAG], ...]}`, offsets in code points, end exclusive. The
    group is the file: one court document. Lines of another shape are rejected; a label of another shape is a
    span whose offsets are malformed.

    Raises:
        PhidriftError: no such folder, or no .jsonl file in it.
    """
    for split, path in source_files(folder, (".jsonl",)):
        for number, where, record in json_lines(path, reject):
            text, labels = record.get("text"), record.get("label")
            if not isinstance(text, str) or not text.strip():
                reject(where, "field 'text' must be a string with text")
            elif not isinstance(labels, list):
                reject(where, "field 'label' must be a list")
            else:
                spans = tuple(_span(label) for label in labels)
                yield RawDocument(f"{path.stem}-{number:04d}", text, spans, split, path.stem, where)


def _span(label: object) -> RawSpan:
    if isinstance(label, list) and len(label) == 3 and isinstance(label[2], str):
        return RawSpan(label[0], label[1], label[2])
    return RawSpan(None, None, "(malformed)")
