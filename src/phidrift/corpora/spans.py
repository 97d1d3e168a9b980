"""From a source's spans to harmonised ones: labels mapped, offsets checked, every outcome counted."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from phidrift.core.document import Span
from phidrift.corpora.source import RawDocument, RawSpan

_WINDOW = 100  # characters on either side of the stated start that are searched for the surface text
_BLANKS = re.compile(r"\s+")


@dataclass
class SpanCounts:
    """What became of the spans: `outcomes` exact, relocated, trimmed, dropped; why; and labels without entity.

    `inside_words` counts kept spans with an edge between two letters or two digits: a sign of cut words.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    drop_reasons: Counter[str] = field(default_factory=Counter)
    unmapped: Counter[str] = field(default_factory=Counter)
    inside_words: int = 0


@cache
def label_map(source_format: str) -> Mapping[str, str]:
    """Source label -> entity for a format, from label_maps.yaml."""
    maps = yaml.safe_load(Path(__file__).with_name("label_maps.yaml").read_text(encoding="utf-8"))
    return {label: entity for entity, labels in maps[source_format].items() for label in labels}


def harmonised_spans(
    document: RawDocument, labels: Mapping[str, str], counts: SpanCounts
) -> tuple[Span, ...]:
    """The spans of a document under the entity labels, sorted, without overlap within one entity.

    Each mapped span ends as exactly one of

    - exact: its offsets lie in the text and hold its surface text (white space and character references
      compared after normalising both sides), or no surface text is stored to compare with;
    - relocated: the surface text stands elsewhere, at most 100 characters away (the nearest, then the earlier
      one), or at the offset that CR LF line ends explain;
    - trimmed: white space at its edges is cut off (alone or after relocation);
    - dropped: malformed, empty, outside the text, blank, not found, duplicate, or overlapping.

    Of spans of one entity that overlap, the longest stays, then the one that starts first. Adjacent spans stay
    as the source has them: FIRSTNAME and LASTNAME are two PERSON spans, and taggers are scored against both.
    """
    placed: list[tuple[Span, str]] = []
    for raw in document.spans:
        entity = labels.get(raw.label)
        if entity is None:
            counts.unmapped[raw.label] += 1
            continue
        position, outcome = _place(document, raw)
        if position is None:
            _drop(counts, outcome)
        else:
            placed.append((Span(*position, entity), outcome))
    kept = _without_overlap(placed, counts)
    counts.inside_words += sum(any(_joined(document.text, edge) for edge in (s.start, s.end)) for s in kept)
    return kept


def _without_overlap(placed: Iterable[tuple[Span, str]], counts: SpanCounts) -> tuple[Span, ...]:
    kept: list[Span] = []
    for span, outcome in sorted(placed, key=lambda item: (item[0].start - item[0].end, item[0])):
        rivals = [k for k in kept if k.label == span.label and span.start < k.end and k.start < span.end]
        if rivals:
            _drop(counts, "duplicate" if span in rivals else "overlap")
        else:
            counts.outcomes[outcome] += 1
            kept.append(span)
    return tuple(sorted(kept))


def _drop(counts: SpanCounts, reason: str) -> None:
    counts.outcomes["dropped"] += 1
    counts.drop_reasons[reason] += 1


def _place(document: RawDocument, raw: RawSpan) -> tuple[tuple[int, int] | None, str]:
    """((start, end), outcome), or (None, reason to drop)."""
    start, end, text = raw.start, raw.end, document.text
    if type(start) is not int or type(end) is not int:
        return None, "malformed"
    if start >= end:
        return None, "empty"
    inside = 0 <= start < end <= len(text)
    if inside and (raw.surface is None or _same(text[start:end], raw.surface)):
        return _trim(text, start, end, "exact")
    if not (raw.surface or "").strip():
        return None, "outside" if not inside else "surface blank"
    found = _before_parsing(document, raw) or _nearest(text, raw.surface or "", start)
    if found is None:
        return None, "surface not found" if inside else "outside"
    return _trim(text, *found, "relocated")


def _trim(text: str, start: int, end: int, outcome: str) -> tuple[tuple[int, int] | None, str]:
    surface = text[start:end]
    if not surface.strip():
        return None, "blank"
    trimmed = (start + len(surface) - len(surface.lstrip()), end - len(surface) + len(surface.rstrip()))
    return trimmed, outcome if trimmed == (start, end) else "trimmed"


def _same(left: str, right: str) -> bool:
    return left == right or _normal(left) == _normal(right)


def _normal(text: str) -> str:
    return _BLANKS.sub(" ", html.unescape(text)).strip()


def _before_parsing(document: RawDocument, raw: RawSpan) -> tuple[int, int] | None:
    """The place of the span if its offsets count each line end as two characters."""
    if not document.carriage_returns or raw.surface is None:
        return None
    start = _less_carriage_returns(document.text, raw.start)
    end = _less_carriage_returns(document.text, raw.end)
    if start is None or end is None or not _same(document.text[start:end], raw.surface):
        return None
    return start, end


def _less_carriage_returns(text: str, offset: int) -> int | None:
    position = counted = 0
    while counted < offset and position < len(text):
        counted += 2 if text[position] == "\n" else 1
        position += 1
    return position if counted >= offset else None


def _nearest(text: str, surface: str, start: int) -> tuple[int, int] | None:
    """The occurrence of the surface text nearest to `start`; white space matches any white space.

    An occurrence inside a longer run of letters or digits doesn't count; letters next to digits do, since PHI
    is glued to units ("75yo").
    """
    words = [re.escape(word) for word in html.unescape(surface).split()]
    pattern = re.compile(r"\s+".join(words))
    low = max(0, start - _WINDOW)
    matches = pattern.finditer(text, low, max(low, start + _WINDOW + len(surface)))
    free = [m.span() for m in matches if not (_joined(text, m.start()) or _joined(text, m.end()))]
    return min(free, key=lambda place: (abs(place[0] - start), place[0]), default=None)


def _joined(text: str, position: int) -> bool:
    if not 0 < position < len(text):
        return False
    left, right = text[position - 1], text[position]
    return (left.isalpha() and right.isalpha()) or (left.isdigit() and right.isdigit())
