"""What a source counts offsets in: recognised by the surface texts it stores, or by where its spans end."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from phidrift.core.errors import PhidriftError
from phidrift.corpora.placing import holds, is_inside_word
from phidrift.corpora.source import Convert, RawDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
_CLEAN, _RAGGED = (
    0.9,
    0.6,
)  # shares of spans with clean edges: what another convention needs, and what this one lacks
_AFTER, _BEFORE = ".,;:!?)]}/", ",;:([{/"  # what does not begin an entity, and what does not end one


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


def likely_convention(document: RawDocument) -> str:
    """The convention under which most surface texts of a document stand where their offsets say.

    Characters, unless another one explains more spans.
    """
    spans = [
        (span.start, span.end, span.surface)
        for span in document.spans or ()
        if span.surface and type(span.start) is int and type(span.end) is int
    ]

    def explained(convention: str) -> int:
        convert = converter(document.text, convention)
        places = ((convert(start, end), surface) for start, end, surface in spans)
        return sum(place is not None and holds(document.text, place, surface) for place, surface in places)

    best, most = "characters", explained("characters")
    for other in _possible(document):
        if most < len(spans) and (found := explained(other)) > most:
            best, most = other, found
    return best


def _possible(document: RawDocument) -> Iterable[str]:
    """The conventions other than characters that the text leaves open."""
    yield "inclusive"
    if document.carriage_returns:
        yield "crlf"
    if "\r\n" in document.text:
        yield "lf"
    if not document.text.isascii():
        yield from ("utf16", "bytes") if _has_astral(document.text) else ("bytes",)


def _has_astral(text: str) -> bool:
    return max(text, default="") > "\uffff"


@dataclass
class Evidence:
    """What spans without a surface text tell about how their file counts.

    For each convention: how many spans it would move, how many of those have clean edges as they stand, and how many
    once moved.
    """

    moved: Counter[str] = field(default_factory=Counter)
    clean: Counter[str] = field(default_factory=Counter)
    clean_once_moved: Counter[str] = field(default_factory=Counter)

    def collect(self, document: RawDocument) -> None:
        """Looks at the spans of a document, until it has seen enough."""
        if self.moved["inclusive"] >= _ENOUGH:
            return
        text = document.text
        spans = [
            (span.start, span.end)
            for span in document.spans or ()
            if span.surface is None and type(span.start) is int and type(span.end) is int
        ]
        spans = [(start, end) for start, end in spans if 0 <= start < end]
        for convention in _possible(document) if spans else ():
            if convention not in OFFSETS:
                continue
            convert = converter(text, convention)
            for start, end in spans:
                place = convert(start, end)
                if place == (start, end):
                    continue
                self.moved[convention] += 1
                self.clean[convention] += _has_clean_edges(text, start, end)
                self.clean_once_moved[convention] += place is not None and _has_clean_edges(text, *place)

    def refuse_other_convention(self) -> None:
        """Raises PhidriftError if spans have clean edges under another convention, and not as they stand.

        Of at least 5 spans that the convention would move, 9 in 10 have clean edges then, and at most 6 in 10 now.
        """
        for convention in ("inclusive", "utf16", "bytes"):
            moved, clean, after = (
                counts[convention] for counts in (self.moved, self.clean, self.clean_once_moved)
            )
            if moved >= _FEWEST and after >= _CLEAN * moved and clean <= _RAGGED * moved:
                raise PhidriftError(
                    f"offsets seem to be counted in another way: {moved - clean} of {moved} spans cut a word or take "
                    f"in what stands around one, but only {moved - after} do as {CONVENTIONS[convention]}",
                    mend=f"set offsets to {convention}, or to characters if they are right as they are",
                )


def _has_clean_edges(text: str, start: int, end: int) -> bool:
    """Whether a span lies in the text, cuts no word, and neither begins nor ends with what separates words."""
    if not 0 <= start < end <= len(text) or is_inside_word(text, start) or is_inside_word(text, end):
        return False
    return not (
        text[start].isspace() or text[end - 1].isspace() or text[start] in _AFTER or text[end - 1] in _BEFORE
    )
