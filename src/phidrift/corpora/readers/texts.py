"""Reader of plain text files: one unlabelled document a file."""

from collections.abc import Iterator
from pathlib import Path

from phidrift.corpora.files import source_files, whole_text
from phidrift.corpora.source import RawDocument, ReadOptions, Reject


def read_txt(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """The .txt and .text files at or below `path`, each one unlabelled document of a group of its own.

    The text is the file's, character for character: CR LF stays CR LF; only a byte-order mark is left out.

    Rejected: files that are too large, not in the encoding, damaged gzip, or that hold NUL bytes.

    Raises:
        PhidriftError: nothing at `path`, or no such file.
    """
    for file in source_files(path, (".txt", ".text")):
        text = whole_text(file.path, options, reject)
        if text is not None:
            yield RawDocument(file.name, text, None, file.split, None, f"{file.path}:1")
