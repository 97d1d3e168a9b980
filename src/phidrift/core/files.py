"""Writing files whole or not at all, with the same bytes for the same content."""

import csv
import glob
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path` that takes its place when the block ends without an error."""
    temporary = _temporary_beside(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yields a temporary folder that replaces the folder `path` when the block ends without an error."""
    temporary = _temporary_beside(path)
    temporary.mkdir()
    try:
        yield temporary
        if path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _temporary_beside(path: Path) -> Path:
    """A name of this process' own, so that an orphan of a killed run can't write into it.

    What processes that are gone have left under the same name is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        owner = stale.name.rsplit(".", 2)[-2]
        # A rest under this process' own number is of an earlier one that had it, as in a container started anew.
        if owner.isdigit() and (int(owner) == os.getpid() or not _is_alive(int(owner))):
            shutil.rmtree(stale) if stale.is_dir() else stale.unlink(missing_ok=True)
    return path.parent / f".{path.name}.{os.getpid()}.tmp"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 text with the line ends it has."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Writes one line each; returns how many."""
    count = 0
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


def write_json(path: Path, value: Any) -> None:
    """Writes indented JSON with sorted keys; NaN and infinities are refused (write null and a reason)."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: Path) -> Any:
    """Reads a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Writes rows under a header; None is an empty field, floats are written in full. Returns how many."""
    count = 0
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: row.get(name) for name in columns})
            count += 1
    return count
