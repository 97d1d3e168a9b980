"""Surrogates of addresses: invented streets, towns and postal codes, part by part."""

import re
from collections.abc import Sequence

from phidrift.deidentification.surrogates.draw import Draw
from phidrift.deidentification.surrogates.folding import folded

_STARTS = (
    *("Alder", "Birch", "Cedar", "Elder", "Fern", "Hazel", "Holly", "Juniper", "Larch", "Linden"),
    *("Plover", "Osier", "Rowan", "Sedge", "Willow", "Heron", "Falcon", "Otter", "Badger", "Lark"),
)
_ENDS = ("field", "brook", "ford", "ton", "wick", "mere", "stead", "worth", "dale", "combe", "hurst", "bury")
_STATES = (
    *("AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY"),
    *("LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND"),
    *("OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC"),
)
# What kind of place it is, which may be read from the surrogate too.
_KINDS = {
    *(
        "street",
        "st",
        "avenue",
        "ave",
        "road",
        "rd",
        "lane",
        "ln",
        "drive",
        "dr",
        "court",
        "ct",
        "boulevard",
        "blvd",
    ),
    *(
        "way",
        "place",
        "pl",
        "square",
        "highway",
        "terrace",
        "parkway",
        "hospital",
        "clinic",
        "center",
        "centre",
    ),
    *("university", "county", "school", "pharmacy"),
}
_SEPARATOR = re.compile(r"(\s*[,;\r\n\t]\s*)")
_ZIP = r"(?P<zip>\d{5})(?P<plus>-\d{4})?"
_STATE = re.compile(rf"(?P<state>{'|'.join(_STATES)})(?:(?P<gap>\.?\s+){_ZIP})?", re.ASCII)
_ZIP_ALONE = re.compile(_ZIP, re.ASCII)
_BOX = re.compile(r"p\.?\s?o\.?\s+box\s+#?\d+", re.IGNORECASE)
_UNIT = re.compile(r"(?P<kind>apartment|apt|suite|ste|unit|room|rm|floor)\b.*|#\s*\w+", re.IGNORECASE)
_STREET = re.compile(r"\d+.*\s.*[^\W\d_].*")
_TRIES = 50


def address_surrogates(surfaces: Sequence[str], draw: Draw) -> list[str | None]:
    """One surrogate for each address of a document; None for what holds no letter or digit.

    Parts between commas and line ends have a surrogate each: house number and street, flat, box, state, postal code
    (000xx, which no place has), and else an invented town. The same part has the same surrogate all through the
    document. The kind of place (Street, Hospital) stays where it stands last.

    Args:
        surfaces: in text order.
        draw: of the document.
    """
    given: dict[str, str] = {}
    return [_surrogate(surface, given, draw) for surface in surfaces]


def _surrogate(surface: str, given: dict[str, str], draw: Draw) -> str | None:
    parts = _SEPARATOR.split(surface)
    if not any(map(_has_content, parts)):
        return None
    # Every second one is a separator, which holds no more than blanks and one sign.
    return "".join(
        part if place % 2 else _part(part, given, draw) if _has_content(part) else ""
        for place, part in enumerate(parts)
    )


def _has_content(part: str) -> bool:
    return any(sign.isalnum() for sign in part)


def _part(part: str, given: dict[str, str], draw: Draw) -> str:
    key = " ".join(folded(part).split())
    if key not in given:
        taken = set(given.values())
        new = ""
        for trial in range(_TRIES):
            new = _invented(part.strip(), f"{key} {trial}", draw)
            other = folded(new) != key
            if other and (new not in taken or trial >= _TRIES // 2):
                break
        given[key] = new
    new = given[key]
    return new.upper() if part.isupper() and not _STATE.fullmatch(part.strip()) else new


def _invented(part: str, key: str, draw: Draw) -> str:
    if match := _ZIP_ALONE.fullmatch(part):
        return _zip(match, key, draw)
    if match := _STATE.fullmatch(part):
        state = _STATES[draw(f"state {key}", len(_STATES))]
        if state == match["state"]:
            state = _STATES[_STATES.index(state) - 1]
        return state + (match["gap"] + _zip(match, key, draw) if match["zip"] else "")
    if _BOX.fullmatch(part):
        return f"PO Box {_count(key, 900, draw) + 99}"
    if match := _UNIT.fullmatch(part):
        return f"{(match['kind'] or 'Unit').capitalize()} {_count(key, 90, draw)}"
    if _STREET.fullmatch(part):
        return f"{_count(key, 900, draw)} {_name(key, draw)} {_kind(part) or 'Street'}"
    kind = _kind(part)
    return f"{_name(key, draw)} {kind}" if kind else _name(key, draw)


def _count(key: str, below: int, draw: Draw) -> int:
    return 1 + draw(f"number {key}", below)


def _name(key: str, draw: Draw) -> str:
    return _STARTS[draw(f"start {key}", len(_STARTS))] + _ENDS[draw(f"end {key}", len(_ENDS))]


def _zip(match: re.Match[str], key: str, draw: Draw) -> str:
    plus = f"-{draw(f'plus {key}', 10_000):04d}" if match["plus"] else ""
    return f"000{draw(f'zip {key}', 100):02d}{plus}"


def _kind(part: str) -> str:
    last = part.rstrip(".").rpartition(" ")[2]
    return last.capitalize() if last.casefold() in _KINDS and last != part else ""
