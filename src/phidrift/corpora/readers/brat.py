"""Reader of brat stand-off: a text in X.txt, its spans in X.ann beside it."""

import re
from collections.abc import Iterator
from pathlib import Path

from phidrift.corpora.files import all_files, source_files, split_suffix, whole_text
from phidrift.corpora.readers.fields import numbered
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions, Reject

# Relations, events, attributes (A, M), normalisations, notes and equivalences say nothing about where spans stand.
_OTHER = re.compile(r"[REAMN][^\t]*\t|[#*]|\s*$")
_TEXT_BOUND = re.compile(
    r"T[^\t]*\t(\S+) ([0-9]{1,12} [0-9]{1,12}(?:;[0-9]{1,12} [0-9]{1,12})*)\t(.*)", re.DOTALL
)


def read_brat(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """The .txt files at or below `path`, with the spans of the .ann file of the same name beside each.

    Spans keep the order of the .ann file; `spans_of` says how its lines are read. A text without an .ann file is
    unlabelled, one with an empty .ann file has no entity. The text is the file's, character for character.

    Rejected: texts and .ann files that are too large, not in the encoding, damaged gzip, or that hold NUL bytes (a
    text isn't yielded without its spans); an .ann file without a text; a text with two .ann files, one gzipped.

    Raises:
        PhidriftError: nothing at `path`, or no .txt file.
    """
    files = source_files(path, (".txt",), beside=(".ann",))
    annotations: dict[tuple[Path, str], list[Path]] = {}
    for file in sorted(path.parent.iterdir()) if path.is_file() else all_files(path):
        stem, suffix = split_suffix(file)
        if suffix == ".ann" and file.is_file():
            annotations.setdefault((file.parent, stem), []).append(file)
    if path.is_dir():
        for key in sorted(annotations.keys() - {(file.path.parent, file.stem) for file in files}):
            for orphan in annotations[key]:
                reject(f"{orphan}:1", "no .txt file beside it")
    for source in files:
        where = f"{source.path}:1"
        beside = annotations.get((source.path.parent, source.stem), [])
        if len(beside) > 1:
            reject(where, "two .ann files beside it")
            continue
        text = whole_text(source.path, options, reject)
        if text is None:
            continue
        if not beside:
            yield RawDocument(source.name, text, None, source.split, None, where)
            continue
        content = whole_text(beside[0], options, reject)
        if content is not None:
            spans = spans_of(content)
            yield RawDocument(source.name, text, spans, source.split, None, where, field=beside[0].name)


def spans_of(content: str) -> tuple[RawSpan, ...]:
    """The spans of an .ann file, in its order; their `number` counts its lines from 0.

    `T1 TAB label 0 5 TAB surface` is one span. `T1 TAB label 0 5;8 12 TAB surface` is discontinuous: each fragment
    becomes a span of its own, whose surface is cut from the whole by the fragments' lengths, since brat joins the
    pieces with one blank. Where the lengths don't add up to the surface, no piece can be checked: that is one span
    with the label but malformed offsets, so that it is counted as dropped and not taken on trust.

    Lines of brat's other kinds are passed over. Any other line is malformed, such as the rest of a surface that
    was written with its line break.

    >>> [(s.start, s.end, s.surface) for s in spans_of("T1\\tNAME 0 3;8 10\\tLee Ng\\nR1\\tOf Arg1:T1 Arg2:T2\\n")]
    [(0, 3, 'Lee'), (8, 10, 'Ng')]
    """
    # Not splitlines: a surface may hold other line ends of Unicode, or the CR of a text with CR LF.
    lines = enumerate(content.split("\n"))
    return numbered(
        (place, span) for place, line in lines if not _OTHER.match(line) for span in _text_bound(line)
    )


def _text_bound(line: str) -> list[RawSpan]:
    match = _TEXT_BOUND.fullmatch(line)
    if match is None:
        return [MALFORMED]
    label, places, surface = match.groups()
    fragments = [(int(start), int(end)) for start, end in (place.split(" ") for place in places.split(";"))]
    if len(fragments) == 1:
        return [RawSpan(*fragments[0], label, surface.removesuffix("\r"))]
    length = sum(end - start for start, end in fragments) + len(fragments) - 1
    # The CR at the end may be the .ann file's line end or the last fragment's own.
    if length not in (len(surface), len(surface.removesuffix("\r"))) or any(s > e for s, e in fragments):
        return [RawSpan(None, None, label, surface)]
    spans, at = [], 0
    for start, end in fragments:
        spans.append(RawSpan(start, end, label, surface[at : at + end - start]))
        at += end - start + 1
    return spans
