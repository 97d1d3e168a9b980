"""What a source counts offsets in: recognised by the surface texts it stores, or by where its spans end."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from phidrift.core.errors import PhidriftError
from phidrift.corpora.source import RawDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Convert = Callable[[int, int], tuple[int, int] | None]
# `auto` in the parameters means: characters, unless surface texts prove another one.
CONVENTIONS = {
    "characters": "Unicode code points, end exclusive",
    "inclusive": "code points, the end being the last character",
    "utf16": "UTF-16 units (JavaScript, Java, C#), end exclusive",
    "bytes": "bytes of UTF-8, end exclusive",
    "crlf": "code points, each line end counted as two",
    "lf": "code points, each CR LF counted as one",
}
OFFSETS = ("auto", "characters", "inclusive", "utf16", "bytes")  # what a user may state
_FEWEST = 5  # spans from which a convention may be inferred without surface texts
_ENOUGH = 500  # spans after which no more are looked at
_SHARE = 0.9  # of these that it has to explain


def converter(text: str, convention: str) -> Convert:
    """A function from the source's (start, end) to code points, end exclusive.

    It returns None for an offset past the end or inside a character. The result may lie outside the text, as the
    offsets may.

    >>> converter("😀 Lee", "utf16")(3, 6), converter("é Lee", "bytes")(3, 6), converter("Lee", "inclusive")(0, 2)
    ((2, 5), (2, 5), (0, 3))
    """
    if convention == "characters":
        return lambda start, end: (start, end)
    if convention == "inclusive":
        return lambda start, end: (start, end + 1)
    import numpy as np

    units = np.concatenate(
        ([0], np.cumsum(_widths(text, convention)))
    )  # before each character, and after the last

    def convert(start: int, end: int) -> tuple[int, int] | None:
        if not 0 <= start <= end <= units[-1]:
            return None
        first, last = (int(place) for place in np.searchsorted(units, (start, end)))
        return (first, last) if units[first] == start and units[last] == end else None

    return convert


def _widths(text: str, convention: str) -> "NDArray[np.int64]":
    """Units of each character, [len(text)]."""
    import numpy as np

    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    widths = np.ones(len(points), dtype=np.int64)
    if convention == "utf16":
        widths += points > 0xFFFF
    elif convention == "bytes":
        for limit in (0x7F, 0x7FF, 0xFFFF):
            widths += points > limit
    elif convention == "crlf":
        widths += points == ord("\n")
    else:
        widths -= (points == ord("\r")) & np.append(points[1:] == ord("\n"), False)
    return widths


def likely_convention(
    document: RawDocument, stated: str, matches: Callable[[tuple[int, int], str], bool]
) -> str:
    """The convention under which most surface texts of a document stand where their offsets say.

    `stated` stays unless another one explains more spans. `matches` tells whether a place holds a surface text.
    """
    spans = [
        (span.start, span.end, span.surface)
        for span in document.spans or ()
        if span.surface and type(span.start) is int and type(span.end) is int
    ]
    if not spans:
        return stated

    def explained(convention: str) -> int:
        convert = converter(document.text, convention)
        places = ((convert(start, end), surface) for start, end, surface in spans)
        return sum(place is not None and matches(place, surface) for place, surface in places)

    best, most = stated, explained(stated)
    if most == len(spans):
        return stated
    for other in _possible(document):
        if other != stated and (found := explained(other)) > most:
            best, most = other, found
    return best


def _possible(document: RawDocument) -> Iterable[str]:
    yield from ("characters", "inclusive")
    if document.carriage_returns:
        yield "crlf"
    if "\r\n" in document.text:
        yield "lf"
    if not document.text.isascii():
        yield from ("utf16", "bytes") if _has_astral(document.text) else ("bytes",)


def _has_astral(text: str) -> bool:
    return max(text, default="") > "\uffff"


def collect_evidence(document: RawDocument, is_cut: Callable[[int], bool], evidence: Counter[str]) -> None:
    """Counts what the spans without a surface text tell about the convention of the file.

    `is_cut` tells whether a place lies inside a word. For each convention that would move a span: how many spans
    it moves (`utf16`), how many of these cut words as they stand and would not once moved (`utf16 mends`).
    """
    if evidence["inclusive"] >= _ENOUGH:
        return
    length = len(document.text)
    spans = [
        (span.start, span.end)
        for span in document.spans or ()
        if span.surface is None
        and type(span.start) is int
        and type(span.end) is int
        and 0 <= span.start < span.end
    ]
    if not spans:
        return
    for convention in _possible(document):
        if convention in ("characters", "crlf", "lf"):
            continue
        convert = converter(document.text, convention)
        for start, end in spans:
            moved = convert(start, end)
            if moved == (start, end):
                continue
            cut = end > length or is_cut(start) or is_cut(end)
            whole = moved is not None and moved[1] <= length and not (is_cut(moved[0]) or is_cut(moved[1]))
            evidence[convention] += 1
            evidence[f"{convention} mends"] += cut and whole


def refuse_other_convention(evidence: Counter[str]) -> None:
    """Raises PhidriftError if nearly all spans say that offsets are counted otherwise than in characters.

    At least 5 spans, and 9 in 10 of those that a convention would move, cut words as they stand and none once moved.
    """
    for convention in ("inclusive", "utf16", "bytes"):
        spans, mended = evidence[convention], evidence[f"{convention} mends"]
        if spans >= _FEWEST and mended >= _SHARE * spans:
            raise PhidriftError(
                f"offsets seem to be counted in another way: {mended} of {spans} spans cut a word as they stand, "
                f"and none of these as {CONVENTIONS[convention]}",
                mend=f"set offsets to {convention}, or to characters if they are right as they are",
            )
