"""Surrogates of telephone numbers, e-mail and web addresses, in ranges that are reserved for examples."""

import re
from collections.abc import Sequence

from phidrift.deidentification.surrogates.draw import Draw

_EDGES = re.compile(
    r"(?i:([\s<(\[]*(?:(?:tel|telephone|phone|ph|fax|pager|beeper|cell|mobile|e-?mail)\b[\s.:#]*)?))"
    r"(.*?)([\s.,;:>)\]]*)",
    re.DOTALL,
)
_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\W\d_]{2,}")
_WEB = re.compile(r"(?i:(https?://)?(www\.)?)[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}(?::\d+)?(?:[/?#]\S*)?")
_PHONE = re.compile(
    r"(\+?[(\d][\d\s().–/-]*\d)((?:\s*,?\s*(?:x|ext\.?|extension)\s*)(\d{1,6}))?", re.I | re.ASCII
)
_DIGIT = re.compile(r"\d", re.ASCII)
_TRIES = 200


def contact_surrogates(surfaces: Sequence[str], draw: Draw) -> list[str | None]:
    """One surrogate for each contact of a document; None for what is neither a number nor an address.

    Telephone numbers become 555-0100 to 555-0199 with an invented area code, laid out as they were where they have 7,
    10 or 11 digits; e-mail and web addresses are at example.org (RFC 2606). The same contact has the same surrogate
    however it is written, and another one another, as long as the range lasts.

    Args:
        surfaces: in text order.
        draw: of the document.
    """
    given: dict[str, str] = {}
    return [_surrogate(surface, given, draw) for surface in surfaces]


def _surrogate(surface: str, given: dict[str, str], draw: Draw) -> str | None:
    edges = _EDGES.fullmatch(surface)
    if edges is None:
        return None
    before, core, after = edges.groups()
    core, before, after = _with_bracket(core, before, after)
    new = None
    if _MAIL.fullmatch(core):
        new = f"user{_number(f'mail {core.casefold()}', 9000, given, draw, core) + 1000}@example.org"
    elif phone := _PHONE.fullmatch(core):
        new = _phone(phone, given, draw)
    elif web := _WEB.fullmatch(core):
        number = _number(f"web {core.casefold()}", 9000, given, draw, core) + 1000
        new = f"{web[1] or ''}{web[2] or ''}example.org/{number}"
    return None if new is None else f"{before}{new}{after}"


def _with_bracket(core: str, before: str, after: str) -> tuple[str, str, str]:
    """The bracket of an area code, "(617) 555-0123", is of the number."""
    if before.endswith("(") and ")" in core:
        return f"({core}", before[:-1], after
    return core, before, after


def _phone(match: re.Match[str], given: dict[str, str], draw: Draw) -> str | None:
    digits = "".join(_DIGIT.findall(match[1]))
    if not 7 <= len(digits) <= 15:
        return None
    key = f"phone {digits[-10:]}"
    number = _number(key, 100, given, draw, digits[-2:] if digits[-7:-2] == "55501" else None)
    area = f"{2 + draw(f'area {key}', 8)}{draw(f'area, second digit {key}', 9)}{2 + draw(f'area, last {key}', 8)}"
    if len(digits) >= 10 and area == digits[-10:-7]:
        area = f"{2 + (int(area[0]) - 1) % 8}{area[1:]}"
    line = f"55501{number:02d}"
    extension = ""
    if match[2]:
        extension = match[2][: -len(match[3])] + "".join(
            str(draw(f"extension {place} {key} {match[3]}", 10)) for place in range(len(match[3]))
        )
    if len(digits) == 7:
        new = line
    elif len(digits) == 10 or (len(digits) == 11 and digits[0] == "1"):
        new = digits[:-10] + area + line
    else:  # of a layout that the reserved numbers don't have
        return f"{area}-555-01{number:02d}{extension}"
    left = iter(new)
    return _DIGIT.sub(lambda _: next(left), match[1]) + extension


def _number(key: str, below: int, given: dict[str, str], draw: Draw, original: str | None) -> int:
    """A number below a bound for a contact, of no other contact of the document and not in the original itself."""
    if key not in given:
        kind, taken = key.partition(" ")[0], set(given.values())
        number = 0
        for trial in range(_TRIES):
            number = draw(f"{key} {trial}", below)
            own = original is not None and _says(kind, number, original)
            if not own and (f"{kind} {number}" not in taken or trial >= _TRIES // 2):
                break
        given[key] = f"{kind} {number}"
    return int(given[key].rpartition(" ")[2])


def _says(kind: str, number: int, original: str) -> bool:
    return int(original) == number if kind == "phone" else str(number + 1000) in original
