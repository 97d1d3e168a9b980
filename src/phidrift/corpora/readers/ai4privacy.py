"""Reader of Ai4Privacy's releases: one templated message a row, in each of their shapes."""

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from phidrift.corpora.files import source_files
from phidrift.corpora.readers.fields import digest, is_english, numbered, stated_id, unpacked
from phidrift.corpora.rows import ROW_SUFFIXES, rows
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions, Reject

LOG = logging.getLogger(__name__)
_TEXTS = ("source_text", "unmasked_text", "Filled Template")
_TEMPLATES = ("target_text", "masked_text", "Template")
_SPLIT_NAMES = {"train": "train", "validation": "test", "test": "test"}
_NUMBERED = re.compile(r"_\d+$")
_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]*_\d+)\]")

Gap = tuple[int, int]


def read_ai4privacy(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """English rows of the JSON-lines, JSON, CSV, TSV and Parquet files at or below `path`.

    The text is `source_text`, `unmasked_text` or `Filled Template`. Its spans come from the first of

    - `privacy_mask`, a list of {value, start, end, label} (200k, 300k, 400k, 500k);
    - `span_labels`, a list of [start, end, label] whose 'O' stretches are no spans (older 200k, whose
      `privacy_mask` maps placeholders to values and has no offsets); either may be stored as a string;
    - the template, where a release has neither (43k: `Template`): see `filled_spans`.

    The token columns are not read: they are wrong in places. A number after an underscore is no part of a label
    (COUNTY_1). Rows in another language (see fields.is_english) are passed over; how many is logged.

    The id is `uid` where there is one. The group is the template (`target_text`, `masked_text`, `Template`), so that
    none stands on both sides of a split. Where the path names no split, `set` or `split` does; validation is test.

    Rejected: rows without a text, without spans of a known shape, or whose template does not give their spans.

    Raises:
        PhidriftError: nothing at `path`, or no such file in it.
    """
    for file in source_files(path, ROW_SUFFIXES):
        passed_over = 0
        for number, where, record in rows(file, options, reject):
            if not is_english(record):
                passed_over += 1
                continue
            text, template = _first_text(record, _TEXTS), _first_text(record, _TEMPLATES)
            if text is None:
                reject(where, f"one of the fields {', '.join(map(repr, _TEXTS))} must hold a string")
                continue
            field, spans = _spans(record, text, template)
            if isinstance(spans, str):
                reject(where, spans)
                continue
            identity, has_uid = stated_id(record, ("uid",), f"{file.name}-{number:06d}")
            split = file.split or _SPLIT_NAMES.get(str(record.get("set") or record.get("split")).casefold())
            group = None if template is None else digest(template)
            yield RawDocument(identity, text, spans, split, group, where, field, stated_id=has_uid)
        if passed_over:
            LOG.info("%s: %d rows passed over, which are not in English", file.path, passed_over)


def _first_text(record: dict[str, Any], fields: Sequence[str]) -> str | None:
    return next((record[field] for field in fields if isinstance(record.get(field), str)), None)


def _spans(record: dict[str, Any], text: str, template: str | None) -> tuple[str, tuple[RawSpan, ...] | str]:
    """(field, spans), or (field, why there are none)."""
    if template is not None and record.get("privacy_mask") is None and record.get("span_labels") is None:
        return "Template", filled_spans(template, text)
    masks = unpacked(record.get("privacy_mask"))
    if isinstance(masks, list):
        return "privacy_mask", tuple(_masked(mask) for mask in masks)
    stretches = unpacked(record.get("span_labels"))
    if not isinstance(stretches, list):
        return "privacy_mask", "field 'privacy_mask' must be a list of spans, or that list as a string"
    values = masks if isinstance(masks, dict) else {}
    spans = enumerate(_stretch(stretch, values) for stretch in stretches)
    return "span_labels", numbered((place, span) for place, span in spans if span.label != "O")


def _masked(mask: object) -> RawSpan:
    if isinstance(mask, dict) and isinstance(mask.get("label"), str):
        return RawSpan(mask.get("start"), mask.get("end"), _label(mask["label"]), _surface(mask.get("value")))
    return MALFORMED


def _stretch(stretch: object, values: dict[Any, Any]) -> RawSpan:
    if isinstance(stretch, list | tuple) and len(stretch) == 3 and isinstance(stretch[2], str):
        surface = _surface(values.get(f"[{stretch[2]}]"))
        return RawSpan(stretch[0], stretch[1], _label(stretch[2]), surface)
    return MALFORMED


def _surface(value: object) -> str | None:
    try:
        return None if value is None else str(value)
    except ValueError:  # a number of thousands of digits, which Python would not print
        return ""


def _label(label: str) -> str:
    return _NUMBERED.sub("", label.upper())


def filled_spans(template: str, text: str) -> tuple[RawSpan, ...] | str:
    """The spans of the values that were put for a template's placeholders ([FULLNAME_1]), or why there are none.

    What stands before the first placeholder must begin the text, what follows the last must end it. The literal
    stretches between placeholders are laid onto the rest twice, each time without a step back: each as far left as
    it can stand after those before it, and each as far right as it can stand before those after it. In any way to
    fill the template, every stretch stands between these two places. Where they are the same for all, there is one
    way only, and the spans are exact; else the template is ambiguous, and no span is guessed. A value may be empty.

    >>> filled_spans("Hi [FULLNAME_1], call [NUMBER_1].", "Hi Al Ng, call 555-0100.")[0].end
    8
    >>> filled_spans("Hi [FIRSTNAME_1] [CITY_1].", "Hi Al New York.")
    'the template fits its text in more than one way: which characters are which value is unknown'
    """
    literals, labels, position = [], [], 0
    for placeholder in _PLACEHOLDER.finditer(template):
        literals.append(template[position : placeholder.start()])
        labels.append(_label(placeholder[1]))
        position = placeholder.end()
    literals.append(template[position:])
    left = _leftmost(literals, text)
    # From the right is from the left in both strings reversed: `rfind` is not linear for all strings, `find` is.
    right = _leftmost([literal[::-1] for literal in reversed(literals)], text[::-1])
    if left is None or right is None:
        return "the text does not fit its template"
    if left != [(len(text) - end, len(text) - start) for start, end in reversed(right)]:
        return "the template fits its text in more than one way: which characters are which value is unknown"
    return tuple(RawSpan(start, end, label) for (start, end), label in zip(left, labels, strict=True))


def _leftmost(literals: Sequence[str], text: str) -> list[Gap] | None:
    """The gaps between the literals, each of these as far left as it can stand; None if they do not fit."""
    if len(literals) == 1:
        return [] if text == literals[0] else None
    first, *middle, last = literals
    position, stop = len(first), len(text) - len(last)
    if position > stop or not (text.startswith(first) and text.endswith(last)):
        return None
    gaps = []
    for literal in middle:
        found = text.find(literal, position, stop)
        if found < 0:
            return None
        gaps.append((position, found))
        position = found + len(literal)
    return [*gaps, (position, stop)]
