"""What readers of objects and rows share: ids, groups, languages, splits, and spans that know their place."""

import ast
import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from phidrift.corpora.source import MALFORMED, RawSpan, ReadOptions, Reject

SPLITS = ("train", "test")
_LONGEST = 200_000  # characters of a list that is stored as a string
_NO_COMMA = re.compile(r"\}\s+\{")
_ENGLISH_ONLY = ("US", "GB", "UK", "IE", "AU", "NZ")  # Canada's and India's rows are not all English


def stated_id(record: dict[str, Any], names: Sequence[str], fallback: str) -> tuple[str, bool]:
    """(id, whether the record itself states it).

    The first of the fields that isn't null decides: a string that isn't empty or a whole number is an id.

    >>> stated_id({"id": 7}, ("id",), "a-000001"), stated_id({"id": True}, ("id",), "a-000001")
    (('7', True), ('a-000001', False))
    """
    value = next((record[name] for name in names if record.get(name) is not None), None)
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        return str(value), True
    return fallback, False


def is_missing(value: object) -> bool:
    """Whether a field holds nothing: null, or blanks only, as an empty cell of a table."""
    return value is None or (isinstance(value, str) and not value.strip())


def group_of(
    record: dict[str, Any],
    options: ReadOptions,
    default: str | None,
    where: str,
    reject: Reject,
    *further: dict[str, Any],
) -> tuple[str | None, bool]:
    """(`options.group_field` of the record, or of the first further one that has it, or `default` if none is stated;
    whether there is none missing).

    Rejected where the stated field is missing: all such documents would else be one group.
    """
    name = options.group_field
    if not name:
        return default, True
    for each in (record, *further):
        if not is_missing(each.get(name)):
            return str(each[name]), True
    reject(where, f"field {name!r} is missing, which says what belongs together")
    return None, False


def is_english(record: dict[str, Any]) -> bool:
    """Whether a row's `language` begins with "en"; without a language, its `locale` or `region`, if it has one.

    These may also be the code of a country of English alone.
    """
    language = record.get("language")
    if not is_missing(language):
        return str(language).strip().casefold().startswith("en")
    places = (record.get(name) for name in ("locale", "region"))
    place = next(
        (value.strip().upper() for value in places if isinstance(value, str) and value.strip()), "EN"
    )
    return place == "EN" or place.startswith(("EN_", "EN-")) or place in _ENGLISH_ONLY


def digest(text: str) -> str:
    """A short name for a text that may not be shown."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def object_span(item: object, label: str, start: str, end: str, surface: str) -> RawSpan:
    """The span of an object that has its parts under these names; MALFORMED without a label."""
    if not isinstance(item, dict) or not isinstance(item.get(label), str):
        return MALFORMED
    stored = item.get(surface)
    return RawSpan(item.get(start), item.get(end), item[label], stored if isinstance(stored, str) else None)


def numbered(found: Iterable[tuple[int, RawSpan]]) -> tuple[RawSpan, ...]:
    """The spans of (place in the source's list, span), each with that place where it stands at another one now."""
    return tuple(
        span if place == position else span._replace(number=place)
        for position, (place, span) in enumerate(found)
    )


def unpacked(value: object) -> object:
    """A list or mapping that was stored as a string: JSON, or as Python or NumPy print it (literals only)."""
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST:
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    literal = _literal(value)
    # NumPy prints no comma between the items of a list. None of ours is None itself.
    return _literal(_NO_COMMA.sub("}, {", value)) if literal is None else literal


def _literal(value: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a backslash that escapes nothing ("\d"), which real values hold
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError):
            return None
