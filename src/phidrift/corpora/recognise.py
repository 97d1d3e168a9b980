"""Which format a path is in, from the names of its files and the first records in them."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import SourceFile, all_files, lines, source_files, split_suffix
from phidrift.corpora.rows import JSON_SUFFIXES, TABLE_SUFFIXES, rows
from phidrift.corpora.source import PLAIN, ReadOptions

_SAVED = ("dataset_dict.json", "dataset_info.json", "state.json")  # of a folder saved by datasets
_COLUMNS = (".conll", ".conll2003", ".bio", ".iob", ".iob2", ".bioes")
_TAG = re.compile(r"O|[BIESLUMW]-\S+")
# Without one of these a file of texts and labels is anybody's.
_MULTILEG = {
    *(
        "AMOUNT_UNIT",
        "AMOUNT_VALUE",
        "DATE",
        "IDNUM",
        "LOC",
        "NATIONALITY",
        "ORG",
        "PER",
        "PROFESSION",
        "TITLE",
        "URL",
    ),
    *("ADDRESS", "EMAIL", "MISC", "PHONE", "TIME", "WEB"),
}
_LOOKED_AT = 20  # records or lines


def recognised_format(path: Path, options: ReadOptions = PLAIN) -> str:
    """The name of the format that the files at or below `path` seem to be in.

    Names of files come first (a .ann beside a .txt is brat), then the keys of the first records. It is a guess: an
    error in reading should say that it was one.

    Raises:
        PhidriftError: nothing there, or no file that any format would read; lists what there is.
    """
    files = all_files(path)
    names, suffixes = {file.name for file in files}, {split_suffix(file)[1] for file in files}
    if names.intersection(_SAVED) and ".arrow" in suffixes:
        return "datasets"
    if ".ann" in suffixes:
        return "brat"
    if ".xml" in suffixes:
        return "i2b2"
    if suffixes.intersection(_COLUMNS):
        return "conll"
    for wanted in (JSON_SUFFIXES, TABLE_SUFFIXES):
        if suffixes.intersection(wanted):
            first = source_files(path, wanted)[0]
            return _by_keys(_first_records(first, options), "table" if wanted is TABLE_SUFFIXES else "jsonl")
    if suffixes.intersection((".txt", ".text")):
        first = source_files(path, (".txt", ".text"))[0]
        return "conll" if _is_columns(first.path, options) else "txt"
    seen = ", ".join(sorted(suffixes)) or "none"
    mend = "name the format, or convert the corpus to JSON lines with text and spans"
    raise PhidriftError(f"no file in a format that is known; endings seen: {seen}", where=path, mend=mend)


def _first_records(file: SourceFile, options: ReadOptions) -> list[dict[str, Any]]:
    found: Iterator[tuple[int, str, dict[str, Any]]] = rows(file, options, lambda where, reason: None)
    return [record for _, _, record in islice(found, _LOOKED_AT)]


def _by_keys(records: list[dict[str, Any]], otherwise: str) -> str:
    keys = {key for record in records for key in record}
    if (
        keys >= {"source_text", "privacy_mask"}
        or "unmasked_text" in keys
        or keys >= {"Template", "Filled Template"}
    ):
        return "ai4privacy"
    if keys >= {"full_text", "spans"}:
        return "presidio"
    exported = "data" in keys and keys & {"annotations", "completions", "predictions"}
    if exported or any("labels" in item for item in _items(records, "label")):
        return "label-studio"
    if "text" in keys and any("entity_type" in item for item in _items(records, "annotations")):
        return "pii-anon"
    if keys == {"text", "label"} and _MULTILEG.issuperset(_tags(records)):
        return "multileg"
    return otherwise


def _tags(records: list[dict[str, Any]]) -> set[Any]:
    """The third items of the lists under `label`; a record of another shape gives None."""
    labels = [record.get("label") for record in records]
    if not all(isinstance(each, list) for each in labels):
        return {None}
    return {
        item[2] if isinstance(item, list) and len(item) == 3 and isinstance(item[2], str) else None
        for each in labels
        if isinstance(each, list)
        for item in each
    }


def _items(records: list[dict[str, Any]], field: str) -> Iterator[dict[str, Any]]:
    """The objects in a field's lists."""
    for record in records:
        items = record.get(field)
        if isinstance(items, list):
            yield from (item for item in items if isinstance(item, dict))


def _is_columns(path: Path, options: ReadOptions) -> bool:
    """Whether the first lines of a text file, boundaries and comments aside, end in a tag each."""
    first = [line.split() for _, line in islice(lines(path, options, lambda where, reason: None), 200)]
    filled = [columns for columns in first if columns and columns[0] not in ("-DOCSTART-", "#")]
    return bool(filled) and all(len(columns) > 1 and _TAG.fullmatch(columns[-1]) for columns in filled)
