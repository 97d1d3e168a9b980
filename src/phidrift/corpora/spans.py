"""From a source's spans to harmonised ones: labels mapped, offsets checked, every outcome counted."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from phidrift.core.document import Span
from phidrift.core.text import tokens
from phidrift.corpora.label_maps import entity_of
from phidrift.corpora.offsets import Evidence, converter, likely_convention
from phidrift.corpora.placing import is_inside_word, placed, stands_as_it_is, trimmed
from phidrift.corpora.source import MALFORMED, RawDocument, Reject

_START = attrgetter("start")


@dataclass
class SpanCounts:
    """What became of the spans: `outcomes` exact, relocated, trimmed, dropped, and why.

    `labels` counts every span under its source's label, mapped or not, before any is dropped; `label_tokens` the
    tokens inside, where offsets can be trusted. `conventions` counts documents whose surface texts prove that
    offsets are counted in another way than stated; `evidence` is what spans without surface texts tell of that.
    `inside_words` counts kept spans with an edge between two letters or two digits: a sign of cut words.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    drop_reasons: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    label_tokens: Counter[str] = field(default_factory=Counter)
    conventions: Counter[str] = field(default_factory=Counter)
    evidence: Evidence = field(default_factory=Evidence)
    inside_words: int = 0


def harmonised_spans(
    document: RawDocument,
    labels: Mapping[str, str],
    counts: SpanCounts,
    offsets: str = "auto",
    lost: Reject = lambda where, reason: None,
) -> tuple[Span, ...] | None:
    """The spans of a document under the entity labels, sorted, without overlap within one entity; None if unlabelled.

    `offsets` names a convention of offsets.CONVENTIONS, or is auto: characters, unless the document's surface texts
    agree better with another one. Each mapped span ends as exactly one of

    - exact: its offsets lie in the text and hold its surface text (white space, character references and Unicode
      forms compared after normalising both sides), or no surface text is stored to compare with;
    - relocated: the surface text stands elsewhere and once only, at most 10 characters away, or if nowhere there at
      most 100; or where another convention puts it;
    - trimmed: white space at its edges is cut off (alone or after relocation);
    - dropped: malformed, negative, reversed, empty, outside the text, blank, not found, found more than once,
      duplicate, or overlapping. All but the last two are told to `lost`, with their place.

    Of spans of one entity that overlap, the longest stays, then the one that starts first. Adjacent spans stay
    as the source has them: FIRSTNAME and LASTNAME are two PERSON spans, and taggers are scored against both.
    """
    if not document.spans:
        return None if document.spans is None else ()
    found: list[tuple[Span, str]] = []
    placed_spans = zip(document.spans, _places(document, counts, offsets), strict=True)
    for number, (raw, (position, outcome)) in enumerate(placed_spans):
        entity = None
        if raw[:3] != MALFORMED[:3]:
            _count_label(raw.label, document.text, position, counts)
            entity = entity_of(raw.label, labels)
            if entity is None:
                continue
        if position is None or entity is None:
            _drop(counts, outcome)
            place = number if raw.number is None else raw.number
            lost(f"{document.where}, {document.field}[{place}]", outcome)
        else:
            found.append((Span(*position, entity), outcome))
    kept = _without_overlap(found, counts)
    for span in kept:
        if is_inside_word(document.text, span.start) or is_inside_word(document.text, span.end):
            counts.inside_words += 1
    return kept


def _places(
    document: RawDocument, counts: SpanCounts, offsets: str
) -> list[tuple[tuple[int, int] | None, str]]:
    """For each span of a document, as `placed` returns them: where it stands and its outcome."""
    text, spans = document.text, document.spans or ()
    stated = convention = "characters" if offsets == "auto" else offsets
    # Nearly all documents of a sound corpus, and the quick way through.
    sound = stated == "characters" and all(stands_as_it_is(text, raw) for raw in spans)
    if offsets == "auto":
        counts.evidence.collect(document)
    if sound:
        return [trimmed(text, start, end, "exact") for start, end, *_ in spans]
    if offsets == "auto":
        convention = likely_convention(document)
        counts.conventions.update([convention] if convention != stated else ())
    convert, moved = converter(text, convention), convention != stated
    return [placed(text, raw, convert, moved) for raw in spans]


def _count_label(label: str, text: str, position: tuple[int, int] | None, counts: SpanCounts) -> None:
    shown = label if label.isprintable() else _shown(label)
    counts.labels[shown] += 1
    if position is not None:
        counts.label_tokens[shown] += len(tokens(text[position[0] : position[1]]))


def _shown(label: str) -> str:
    """The label with what no terminal, log or UTF-8 file should get (control characters, lone surrogates) as `?`."""
    return "".join(character if character.isprintable() else "?" for character in label)


def _without_overlap(found: list[tuple[Span, str]], counts: SpanCounts) -> tuple[Span, ...]:
    found.sort(key=lambda item: (item[0].start, item[0].end, item[0].label))
    if not _any_overlap(found):
        counts.outcomes.update(outcome for _, outcome in found)
        return tuple(span for span, _ in found)
    kept: dict[str, list[Span]] = {}  # of each entity, in text order: only neighbours can overlap a span
    for span, outcome in sorted(found, key=lambda item: (item[0].start - item[0].end, item[0].start)):
        same = kept.setdefault(span.label, [])
        place = bisect_right(same, span.start, key=_START)
        before, after = same[place - 1 : place], same[place : place + 1]
        if (before and before[0].end > span.start) or (after and after[0].start < span.end):
            _drop(counts, "duplicate" if before == [span] else "overlap")
        else:
            counts.outcomes[outcome] += 1
            same.insert(place, span)
    return tuple(sorted(span for same in kept.values() for span in same))


def _any_overlap(found: list[tuple[Span, str]]) -> bool:
    """Whether two spans of an entity overlap; `found` is sorted by start."""
    last: dict[str, int] = {}
    for span, _ in found:
        if span.start < last.get(span.label, 0):
            return True
        last[span.label] = span.end
    return False


def _drop(counts: SpanCounts, reason: str) -> None:
    counts.outcomes["dropped"] += 1
    counts.drop_reasons[reason] += 1
