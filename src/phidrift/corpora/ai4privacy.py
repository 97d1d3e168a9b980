"""Reader of Ai4Privacy's 200k release: one templated message a JSON line, in either of its two shapes."""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.corpora.source import RawDocument, RawSpan, Reject, json_lines, source_files

_SPLITS = {"train": "train", "validation": "test", "test": "test"}
_NUMBERED = re.compile(r"_\d+$")
_LONGEST = 200_000  # characters of a list that is stored as a string


def read_ai4privacy(folder: Path, reject: Reject) -> Iterator[RawDocument]:
    """English rows of the JSON-lines files (.jsonl, .json) of `folder` and its sub-folders train... and test....

    Text is `source_text` (older: `unmasked_text`). Spans come from `privacy_mask`, a list of {value, start, end,
    label} or that list as a string; where it is a mapping without offsets (older), from `span_labels`, whose
    'O' stretches are no spans. The token columns are not read: they are wrong in places. A row without a
    `language` is taken as English. The group is the template (`target_text`, older `masked_text`), so that a
    template never stands on both sides of a split; the source's split is `set`, its validation part is test.

    Raises:
        PhidriftError: no such folder, or no JSON-lines file in it.
    """
    for folder_split, path in source_files(folder, (".json", ".jsonl")):
        for number, where, record in json_lines(path, reject):
            language = record.get("language", "en")
            if not str(language).casefold().startswith("en"):
                continue
            text = record.get("source_text", record.get("unmasked_text"))
            spans = _spans(record)
            if not isinstance(text, str) or not text.strip():
                reject(where, "field 'source_text' must be a string with text")
            elif spans is None:
                reject(where, "field 'privacy_mask' must be a list of spans, or that list as a string")
            else:
                name = f"{path.stem}-{number:06d}"
                split = folder_split or _SPLITS.get(str(record.get("set")))
                template = record.get("target_text", record.get("masked_text"))
                group = _digest(template) if isinstance(template, str) else name
                yield RawDocument(name, text, spans, split, group, where)


def _spans(record: dict[str, Any]) -> tuple[RawSpan, ...] | None:
    masks = _decoded(record.get("privacy_mask"))
    if isinstance(masks, list):
        return tuple(_masked(mask) for mask in masks)
    stretches = _decoded(record.get("span_labels"))
    if not isinstance(stretches, list):
        return None
    spans = (_stretch(stretch) for stretch in stretches)
    return tuple(span for span in spans if span.label != "O")


def _masked(mask: object) -> RawSpan:
    if isinstance(mask, dict) and isinstance(mask.get("label"), str):
        value = mask.get("value")
        return RawSpan(
            mask.get("start"), mask.get("end"), _label(mask["label"]), None if value is None else str(value)
        )
    return RawSpan(None, None, "(malformed)")


def _stretch(stretch: object) -> RawSpan:
    if isinstance(stretch, list | tuple) and len(stretch) == 3 and isinstance(stretch[2], str):
        return RawSpan(stretch[0], stretch[1], _label(stretch[2]))
    return RawSpan(None, None, "(malformed)")


def _label(label: str) -> str:
    return _NUMBERED.sub("", label.upper())


def _decoded(value: object) -> object:
    """A list or mapping that was stored as a string, in JSON or as Python prints it (literals only)."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
