"""From what several taggers say of a text to stretches that are to be redacted, and to the redacted text.

Nothing that a tagger marked stays in clear: where marks overlap, the one with the higher score gives its label to what
it covers, and what is left of the others is redacted under theirs.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise

from phidrift.tagging.alignment import B, O
from phidrift.tagging.predict import Prediction

# Letters that are written with combining signs are one word, too.
_WORD = re.compile(r"[\w\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch to redact: code-point offsets, `end` exclusive; `score` is a mean probability, 0 to 1."""

    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text after redaction, with the bounds of each mark's replacement in it (code points, end exclusive)."""

    text: str
    places: tuple[tuple[int, int], ...]


def tagger_marks(prediction: Prediction, entity: str, threshold: float | None = None) -> list[Mark]:
    """What one tagger wants redacted: its decoded spans, and with a threshold every piece that may belong to one.

    A piece outside the spans is marked where the probability that it belongs to the entity is at least `threshold`
    (0 to 1). It prolongs the mark of the piece before it, with whatever blanks lie between. A lower threshold marks
    every character that a higher one marks. A mark's score is the mean probability of its pieces.
    """
    if threshold is None:
        pairs = zip(prediction.spans, prediction.scores, strict=True)
        return [Mark(span.start, span.end, entity, score) for span, score in pairs]
    runs: list[tuple[int, int, list[float]]] = []
    goes_on = False
    belongs = prediction.belongs.tolist()
    for (start, end), label, score in zip(prediction.pieces.offsets, prediction.labels, belongs, strict=True):
        if start == end:
            continue
        if label == O and score < threshold:
            goes_on = False
            continue
        # A decoded span starts a mark of its own whatever precedes it: else a lower threshold could part two marks.
        # Pieces of one character (½ is 1/2) share its offsets, and can't be parted.
        if runs and ((goes_on and label != B) or start < runs[-1][1]):
            first, last, scores = runs[-1]
            runs[-1] = (first, max(last, end), [*scores, score])
        else:
            runs.append((start, end, [score]))
        goes_on = True
    return [
        Mark(start, end, entity, min(1.0, max(0.0, sum(scores) / len(scores)))) for start, end, scores in runs
    ]


def resolved(text: str, marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Marks free of overlap, in text order, that cover every character of the given ones.

    Each is first widened to whole words (runs of letters and digits), since half a name is a name. Where marks overlap,
    the one with the higher score keeps all that it covers (on equal scores the longer, then the first, then the first
    label by name), and the others keep the rest. A rest without a letter or digit joins a mark that it touches. Marks
    of one label that touch become one, with the higher score.
    """
    joined: list[Mark] = []
    for mark in _owned_runs(_widened(text, marks)):
        last = joined[-1] if joined else None
        if last is None or last.end < mark.start:
            joined.append(mark)
        elif last.label == mark.label:
            joined[-1] = Mark(last.start, mark.end, mark.label, max(last.score, mark.score))
        elif not _WORD.search(text, mark.start, mark.end):
            joined[-1] = replace(last, end=mark.end)
        elif not _WORD.search(text, last.start, last.end):
            joined[-1] = replace(mark, start=last.start)
        else:
            joined.append(mark)
    return tuple(joined)


def _widened(text: str, marks: Iterable[Mark]) -> list[Mark]:
    """The marks with words that they cut taken in whole; empty ones are left out."""
    words = [match.span() for match in _WORD.finditer(text)]
    starts = [start for start, _ in words]
    found = []
    for mark in marks:
        if mark.start >= mark.end:
            continue
        first, last = bisect_right(starts, mark.start) - 1, bisect_right(starts, mark.end - 1) - 1
        start = words[first][0] if first >= 0 and words[first][1] > mark.start else mark.start
        end = max(mark.end, words[last][1]) if last >= 0 else mark.end
        found.append(replace(mark, start=start, end=end))
    return found


def _owned_runs(marks: Sequence[Mark]) -> Iterator[Mark]:
    """What each mark keeps, in text order: between two neighbouring bounds the text is the best-ranked mark's."""
    ranked = sorted(marks, key=lambda mark: (-mark.score, mark.start - mark.end, mark.start, mark.label))
    opening = sorted(range(len(ranked)), key=lambda rank: ranked[rank].start, reverse=True)
    active: list[int] = []  # a heap of ranks
    owner, begun = -1, 0
    cuts = sorted({bound for mark in marks for bound in (mark.start, mark.end)})
    for low, high in pairwise(cuts):
        while opening and ranked[opening[-1]].start <= low:
            heappush(active, opening.pop())
        while active and ranked[active[0]].end <= low:
            heappop(active)
        best = active[0] if active else -1
        if best != owner:
            if owner >= 0:
                yield replace(ranked[owner], start=begun, end=low)
            owner, begun = best, low
        if high == cuts[-1] and owner >= 0:
            yield replace(ranked[owner], start=begun, end=high)


def redact(text: str, marks: Sequence[Mark], replacements: Sequence[str]) -> Redacted:
    """The text with each mark replaced.

    Args:
        text: as it was.
        marks: in text order, free of overlap, as of `resolved`.
        replacements: one a mark.
    """
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    done = length = 0
    for mark, new in zip(marks, replacements, strict=True):
        parts += [text[done : mark.start], new]
        begins = length + mark.start - done
        length = begins + len(new)
        places.append((begins, length))
        done = mark.end
    parts.append(text[done:])
    return Redacted("".join(parts), tuple(places))


def mask(label: str) -> str:
    """What stands for an entity that is taken out."""
    return f"[{label}]"
