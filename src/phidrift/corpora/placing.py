"""Where a raw span really stands: checked against its surface text, moved, trimmed, or why it is dropped."""

import html
import re
import unicodedata

from phidrift.corpora.source import Convert, RawSpan

_WINDOWS = (10, 100)  # characters on either side of the stated start that are searched for the surface text
_SEARCHED = 1_000  # characters of a surface text that is searched for, at most
# Characters of a span: no entity is longer, and many long ones over one text would cost hours.
_LONGEST = 10_000
_BLANKS = re.compile(r"\s+")
_INVISIBLE = "\u200b\u2060\ufeff"  # no white space to Python, but nothing on a page
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}]")


def is_blank(text: str) -> bool:
    """Whether nothing of a text would be seen on a page.

    >>> is_blank(" \\ufeff\\n"), is_blank("")
    (True, True)
    """
    if not text or text.isspace():
        return True
    starts_blank = text[0].isspace() or text[0] in _INVISIBLE  # seldom, and the rest costs a copy
    return starts_blank and not _INVISIBLE_RUN.sub("", text).strip()


def placed(text: str, raw: RawSpan, convert: Convert, moved: bool) -> tuple[tuple[int, int] | None, str]:
    """((start, end), outcome), or (None, reason to drop); outcomes as `harmonised_spans` says.

    `convert` takes offsets to code points; `moved`: by another convention than the one that was stated.
    """
    start, end = raw.start, raw.end
    if type(start) is not int or type(end) is not int:
        return None, "malformed"
    if raw.start < 0:
        return None, "negative"
    if raw.start > raw.end:
        return None, "reversed"
    if raw.end - raw.start > _LONGEST:
        return None, "too long"
    place = convert(raw.start, raw.end)
    if place is not None and place[0] == place[1]:
        return None, "empty"
    inside = place is not None and place[1] <= len(text)
    if raw.surface is None:
        return trimmed(text, *place, "exact") if place is not None and inside else (None, "outside the text")
    if place is not None and holds(text, place, raw.surface):
        return trimmed(text, *place, "relocated" if moved else "exact")
    if moved and holds(text, (raw.start, raw.end), raw.surface):
        return trimmed(text, raw.start, raw.end, "exact")
    if len(raw.surface) > _SEARCHED:
        return None, _not_placed([], inside)
    if is_blank(_unescaped(raw.surface)):
        return None, "surface blank" if inside else "outside the text"
    found = _near(text, raw.surface, raw.start if place is None else place[0])
    if len(found) != 1:
        return None, _not_placed(found, inside)
    return trimmed(text, *found[0], "relocated")


def _not_placed(found: list[tuple[int, int]], inside: bool) -> str:
    if found:
        return "surface found more than once"
    return "surface not found" if inside else "outside the text"


def trimmed(text: str, start: int, end: int, outcome: str) -> tuple[tuple[int, int] | None, str]:
    """The place without white space and invisible characters at its edges, its outcome trimmed if there were some."""
    if text[start] > " " and text[end - 1] > " " and text[start:end].isascii():
        return (start, end), outcome
    first, last = start, end
    while first < last and (text[first].isspace() or text[first] in _INVISIBLE):
        first += 1
    while last > first and (text[last - 1].isspace() or text[last - 1] in _INVISIBLE):
        last -= 1
    if first == last:
        return None, "blank"
    return (first, last), outcome if (first, last) == (start, end) else "trimmed"


def stands_as_it_is(text: str, raw: RawSpan) -> bool:
    """Whether its offsets, as code points, lie in the text and hold its surface text to the letter, if it has one."""
    start, end, surface = raw.start, raw.end, raw.surface
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        return False
    if end - start > _LONGEST:
        return False
    return surface is None or text[start:end] == surface


def holds(text: str, place: tuple[int, int], surface: str) -> bool:
    """Whether a surface text stands at a place; white space, character references and Unicode forms aside."""
    start, end = place
    if not 0 <= start < end <= len(text) or max(end - start, len(surface)) > _LONGEST:
        return False
    return text[start:end] == surface or _normal(text[start:end]) == _normal(surface)


def _normal(text: str) -> str:
    if not text.isascii():
        text = _INVISIBLE_RUN.sub("", unicodedata.normalize("NFC", text))
    return _BLANKS.sub(" ", _unescaped(text)).strip()


def _unescaped(text: str) -> str:
    """The text with its character references resolved, as it is where one has thousands of digits."""
    try:
        return html.unescape(text)
    except ValueError:  # Python's limit to the digits of an integer
        return text


def _near(text: str, surface: str, start: int) -> list[tuple[int, int]]:
    """Places of the surface text in the smallest window around `start` that holds one; white space matches any.

    An occurrence inside a longer run of letters or digits doesn't count; letters next to digits do, since PHI
    is glued to units ("75yo").
    """
    patterns = [re.compile(r"\s+".join(map(re.escape, form.split()))) for form in _forms(surface)]
    start = min(
        start, len(text) + _WINDOWS[-1]
    )  # further away finds nothing either, and may fit no C integer
    for window in _WINDOWS:
        low, high = max(0, start - window), max(0, start + window) + len(surface)
        matches = {match.span() for pattern in patterns for match in pattern.finditer(text, low, high)}
        free = [
            place
            for place in matches
            if not (is_inside_word(text, place[0]) or is_inside_word(text, place[1]))
        ]
        if free:
            return sorted(free)
    return []


def _forms(surface: str) -> set[str]:
    """The surface text without invisible characters, as it is and in both Unicode forms."""
    visible = _INVISIBLE_RUN.sub("", _unescaped(surface))
    return {visible, unicodedata.normalize("NFC", visible), unicodedata.normalize("NFD", visible)}


def is_inside_word(text: str, position: int) -> bool:
    """Whether a place lies between two letters or two digits."""
    around = text[position - 1 : position + 1] if position > 0 else ""
    if len(around) < 2 or not around.isalnum():  # most edges, and quick
        return False
    left, right = around[0], around[1]
    return (left.isalpha() and right.isalpha()) or (left.isdigit() and right.isdigit())
