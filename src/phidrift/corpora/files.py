"""The files of a corpus: found, decompressed, decoded, and read with a limit, each bad line costing itself alone."""

import codecs
import gzip
import hashlib
import logging
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, cast

from phidrift.core.errors import PhidriftError
from phidrift.corpora.source import ReadOptions, Reject

LOG = logging.getLogger(__name__)
LARGEST_DOCUMENT = 20_000_000  # bytes; a clinical note has some thousands
LARGEST_FILE = 1_000_000_000  # bytes, of a file that can only be read whole (a JSON array)
_SPLIT_NAME = re.compile(r"(train|test)(?:ing)?(?:[^a-z].*)?", re.DOTALL)  # but not: testicular
_ENDING = re.compile(r"\.[a-z0-9]{1,7}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
BROKEN_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UTF16 = "looks like UTF-16: save it as UTF-8"
NUL = "holds NUL bytes: is it text in UTF-8?"
TOO_LARGE = f"larger than {LARGEST_DOCUMENT // 1_000_000} MB"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a corpus. `name` is made of letters, digits and `._-`, and no other file of the corpus has it.

    `split` is train or test where the path says so, `suffix` is lower case and leaves `.gz` out.
    """

    path: Path
    name: str
    stem: str
    suffix: str
    split: str | None


@lru_cache(maxsize=4096)
def safe_name(name: str) -> str:
    """The name with each run of other characters than letters, digits and `._-` as one underscore.

    Where that changes it, some digits of its hash follow, so that different names stay different.

    >>> safe_name("note-1"), safe_name("a b")
    ('note-1', 'a_b-c8687a08')
    """
    safe = _UNSAFE.sub("_", name)
    if safe == name:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def split_suffix(path: Path) -> tuple[str, str]:
    """(stem, lower-case suffix) of a file name, without a final `.gz`.

    >>> split_suffix(Path("notes/a.JSONL.gz"))
    ('a', '.jsonl')
    """
    name = Path(path.stem) if path.suffix.casefold() == ".gz" else Path(path.name)
    return name.stem, name.suffix.casefold()


def source_files(path: Path, suffixes: tuple[str, ...], beside: tuple[str, ...] = ()) -> list[SourceFile]:
    """The files with one of the suffixes (or with it and `.gz`) at or under `path`, by path; hidden ones are left out.

    A folder or file whose name begins with the word train, training, test or testing (`train.jsonl`, `testing-gold`)
    gives the split; the folder nearest to the file decides. Files with other endings are counted in the log, but for
    those that the reader takes from `beside` the ones found.

    Raises:
        PhidriftError: nothing there, or no file with one of the suffixes.
    """
    found = []
    for file, parts in _walk(path):
        stem, suffix = split_suffix(file)
        if suffix in suffixes:
            found.append((file, parts, stem, suffix))
    if not found:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise PhidriftError(f"no {wanted} (or such a file gzipped) here or below", where=path)
    _log_others(path, Counter(split_suffix(file)[1] for file, _ in _walk(path)), (*suffixes, *beside))
    files, taken = [], set[str]()
    for file, parts, stem, suffix in found:
        name = next(n for n in _names(stem, parts) if n not in taken)
        taken.add(name)
        files.append(SourceFile(file, name, stem, suffix, _split_of(stem, parts)))
    return files


def _log_others(path: Path, endings: Counter[str], suffixes: tuple[str, ...]) -> None:
    others: Counter[str] = Counter()
    for ending, count in endings.items():
        if ending not in suffixes:
            # What follows the last full stop of a name may be anything, such as the rest of a patient's.
            others[ending if _ENDING.fullmatch(ending) else "others" if ending else "none"] += count
    if others:
        counts = ", ".join(f"{ending} {count}" for ending, count in sorted(others.items()))
        LOG.info("%s: files with other endings are not read: %s", path, counts)


def all_files(path: Path) -> list[Path]:
    """Every file at or under `path` that isn't hidden, by path.

    Raises:
        PhidriftError: nothing there.
    """
    return [file for file, _ in _walk(path)]


def _walk(path: Path) -> list[tuple[Path, tuple[str, ...]]]:
    """(file, names of the folders between `path` and it)."""
    if path.is_file():
        return [(path, ())]
    if not path.is_dir():
        raise PhidriftError(
            "no such file or folder", where=path, mend="point the corpus' path to the source's files"
        )
    found = []
    for folder, folders, names in os.walk(path, onerror=_not_listed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        parts = Path(folder).relative_to(path).parts
        found += [(Path(folder, name), parts) for name in names if not name.startswith(".")]
    return sorted((file, parts) for file, parts in found if file.is_file())


def _not_listed(error: OSError) -> None:
    """Files in a folder that can't be listed would be missing without a word."""
    mend = "let it be read, or move it out of the corpus"
    raise PhidriftError(f"can't be listed ({error.strerror})", where=error.filename, mend=mend) from error


def _names(stem: str, parts: tuple[str, ...]) -> Iterator[str]:
    yield safe_name(stem)
    longer = safe_name("_".join((*parts, stem)))
    yield longer
    number = 2
    while True:
        yield f"{longer}-{number}"
        number += 1


def _split_of(stem: str, parts: tuple[str, ...]) -> str | None:
    for name in (*reversed(parts), stem):
        match = _SPLIT_NAME.fullmatch(name.casefold())
        if match:
            return match[1]
    return None


def check_encoding(encoding: str) -> None:
    """Raises PhidriftError for an unknown encoding, or one whose line ends aren't those of ASCII (UTF-16)."""
    try:
        usable = "\n".encode(encoding) == b"\n" and b"\n".decode(encoding) == "\n"
    except (LookupError, UnicodeError, TypeError, ValueError):
        usable = False
    if not usable:
        problem = f"encoding {encoding!r} is unknown, or not one that holds ASCII as it is"
        raise PhidriftError(
            problem, mend="name one such as utf-8, latin-1 or cp1252, or convert the files to UTF-8"
        )


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, decompressed if it is gzip (by its first bytes, whatever its name).

    Raises:
        PhidriftError: it can't be opened.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise PhidriftError(f"can't be opened ({error.strerror})", where=path) from error
    start = file.read(2)
    file.seek(0)
    if start != b"\x1f\x8b":
        return file
    file.close()
    return cast(IO[bytes], gzip.open(path, "rb"))


def lines(path: Path, options: ReadOptions, reject: Reject) -> Iterator[tuple[int, str]]:
    """(number from 1, text without its LF) of each line that is not longer than a document may be and decodes.

    Only LF ends a line. Others are rejected, each alone; a byte-order mark at the start is no text. Memory is bound
    by the longest line allowed.
    """
    number = 0
    with open_bytes(path) as file:
        try:
            for raw in iter(lambda: file.readline(LARGEST_DOCUMENT + 1), b""):
                number += 1
                if number == 1 and raw.startswith(UTF16_MARKS):
                    reject(f"{path}:1", UTF16)
                    return
                if len(raw) > LARGEST_DOCUMENT:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LARGEST_DOCUMENT)
                    reject(f"{path}:{number}", TOO_LARGE)
                    continue
                if number == 1:
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                try:
                    text = raw.decode(options.encoding)
                except UnicodeDecodeError as error:
                    reject(f"{path}:{number}", not_decodable(error))
                else:
                    yield number, text.removesuffix("\n")
        except BROKEN_GZIP:
            reject(f"{path}:{number + 1}", "its gzip stream is damaged from here on")


def whole_bytes(path: Path, limit: int, reject: Reject) -> bytes | None:
    """The file's bytes, decompressed; None, and rejected, if there are more than `limit` or the gzip is damaged."""
    try:
        with open_bytes(path) as file:
            content = file.read(limit + 1)
    except BROKEN_GZIP:
        reject(f"{path}:1", "its gzip stream is damaged")
        return None
    if len(content) > limit:
        reject(f"{path}:1", f"larger than {limit // 1_000_000} MB")
        return None
    return content


def whole_text(path: Path, options: ReadOptions, reject: Reject) -> str | None:
    """The text of a file that is one document, line ends as they are; None, and rejected, if it isn't text.

    Rejected: larger than a document may be, not in the encoding, holding NUL bytes. A byte-order mark is left out.
    """
    content = whole_bytes(path, LARGEST_DOCUMENT, reject)
    if content is None:
        return None
    if content.startswith(UTF16_MARKS) or b"\0" in content:
        reject(f"{path}:1", UTF16 if content.startswith(UTF16_MARKS) else NUL)
        return None
    return decoded(path, content, options, reject)


def decoded(path: Path, content: bytes, options: ReadOptions, reject: Reject) -> str | None:
    """The text of a file's bytes without a byte-order mark; None, and rejected at its line, if it doesn't decode."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode(options.encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reject(f"{path}:{line}", not_decodable(error))
        return None


def not_decodable(error: UnicodeDecodeError) -> str:
    """Which byte does not decode, without any text around it."""
    return f"byte 0x{error.object[error.start]:02x} is not {error.encoding.upper()}"
