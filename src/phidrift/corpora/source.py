"""What every reader yields, and the pieces that readers share: folders, JSON lines, rejected documents."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError

# Called with the place (`file:line`) and the reason, which never holds text of the document.
Reject = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class RawSpan:
    """A span as the source has it, unchecked: offsets may be anything, `surface` is None where not stored."""

    start: Any
    end: Any
    label: str
    surface: str | None = None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as the source has it.

    `split` is the source's own (train, test) or None; documents that share `group` belong together (patient,
    court file, template). `carriage_returns`: the file ends its lines with CR LF, so that offsets may have been
    counted before a parser turned these into LF.
    """

    id: str
    text: str
    spans: tuple[RawSpan, ...]
    split: str | None
    group: str
    where: str
    carriage_returns: bool = False


def source_files(folder: Path, suffixes: tuple[str, ...]) -> list[tuple[str | None, Path]]:
    """(split, file) for the files right in `folder` and in its sub-folders named train... and test....

    Raises:
        PhidriftError: no such folder, or no file with one of the suffixes.
    """
    if not folder.is_dir():
        raise PhidriftError(
            "no such folder", where=folder, mend="point the corpus' path to the source's files"
        )
    found: list[tuple[str | None, Path]] = [(None, path) for path in _files(folder, suffixes)]
    for child in sorted(folder.iterdir()):
        split = next((name for name in ("train", "test") if child.name.casefold().startswith(name)), None)
        if split is not None and child.is_dir():
            found += [(split, path) for path in _files(child, suffixes)]
    if not found:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise PhidriftError(f"no {wanted} here, nor in sub-folders train and test", where=folder)
    return found


def _files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.casefold() in suffixes and path.is_file())


def json_lines(path: Path, reject: Reject) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line number, `file:line`, object) for each line that holds a JSON object; others are rejected."""
    with path.open("rb") as file:  # bytes: only LF ends a line, and one bad line costs itself alone
        for number, line in enumerate(file, start=1):
            where = f"{path}:{number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                record = json.loads(text) if text else None
            except UnicodeDecodeError:
                reject(where, "not UTF-8")
            except (ValueError, RecursionError):
                reject(where, "not JSON")
            else:
                if isinstance(record, dict):
                    yield number, where, record
                elif text:
                    reject(where, "not a JSON object")
