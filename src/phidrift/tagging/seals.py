"""Seals: the hashes of a folder's files, written last, by which a whole folder is told from a torn one."""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path

from phidrift.core.files import write_json

LOG = logging.getLogger(__name__)
_SEAL = "seal.json"


def seal(folder: Path) -> None:
    """Writes down the SHA-256 of every file of the folder, in seal.json."""
    write_json(folder / _SEAL, file_hashes(folder))


def is_sealed(folder: Path) -> bool:
    """Whether the folder holds the very files that it was sealed with, none more."""
    try:
        expected = json.loads((folder / _SEAL).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False  # its writer died before it was done
    found = file_hashes(folder)
    return bool(found == expected)


def sealed(folders: Iterable[Path]) -> Path | None:
    """The folder with the highest number behind its name's last hyphen that is whole; torn ones are removed."""
    ordered = sorted(folders, key=lambda folder: int(folder.name.rpartition("-")[2]), reverse=True)
    for folder in ordered:
        if is_sealed(folder):
            return folder
        LOG.warning("a state that was not written whole is thrown away: %s", folder.name)
        shutil.rmtree(folder)
    return None


def file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below the folder, by relative path; the seal itself is left out."""
    hashes = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != _SEAL:
            with path.open("rb") as file:
                hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes
