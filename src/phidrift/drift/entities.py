"""An extra beside the 25 metrics: drift of the entities themselves, where both corpora carry spans.

The names, dates and addresses of a corpus can differ from another's where its prose does not: other strings, longer
mentions, more of them, other words around them.
"""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from phidrift.core import text as units
from phidrift.core.document import ENTITIES, Document, Span
from phidrift.drift.lexical import jsd
from phidrift.drift.undefined import Undefined

CONTEXT_WORDS = 3
_WORD = re.compile(r"\w+")  # the words of phidrift.core.text, with their places


class Word(NamedTuple):
    """A case-folded word of a text, its code-point offsets, and whether it touches a span."""

    start: int
    end: int
    word: str
    inside: bool


def marked_words(text: str, spans: Iterable[tuple[int, int]]) -> list[Word]:
    """The words of a text in turn, each marked whether any part of it lies in a span (start, end).

    A word that a span covers in part counts as inside: what is left of it would still be part of a name.

    >>> [(word.word, word.inside) for word in marked_words("Seen by Smith's", [(8, 13)])]
    [('seen', False), ('by', False), ('smith', True), ('s', False)]
    """
    covered = bytearray(len(text))
    for start, end in spans:
        start, end = max(start, 0), min(end, len(text))
        covered[start:end] = b"\1" * (end - start)
    return [
        Word(found.start(), found.end(), found.group().casefold(), covered.find(1, *found.span()) >= 0)
        for found in _WORD.finditer(text)
    ]


@dataclass(frozen=True)
class EntityDrift:
    """How one entity differs between two labelled corpora.

    All but `seen_share` are symmetric in the two corpora. A number that the corpora do not give is None, and `reasons`
    says why.

    `surface_jaccard`, `seen_share` and `context_jsd` depend on corpus size: of one source, the first two grow with the
    reference (the first falls where the sizes differ) and the last falls as both grow, so that two halves of one
    corpus are not at 0. Compare them at one size, see `size_matched`. Lengths and densities do not depend on it.

    Attributes:
        entity: ADDRESS, CONTACT, DATE or PERSON.
        reference_mentions: spans of it in the reference.
        candidate_mentions: spans of it in the candidate.
        surface_jaccard: shared / all distinct surface strings; 0 to 1, higher is more alike.
        seen_share: share of the candidate's mentions whose string stands in the reference; 0 to 1, higher is more
            alike. Near 1 may also mean that the candidate copies the reference.
        reference_length: mean tokens of a mention, 1 up.
        candidate_length: the same of the candidate.
        length_diff: |difference| of the two, tokens; 0 up, higher is more drift.
        reference_density: spans per 100 tokens of text, 0 up. An entity without spans has the density 0.
        candidate_density: the same of the candidate.
        density_diff: |difference| of the two; higher is more drift.
        context_jsd: Jensen-Shannon divergence of the words around the mentions, 0 to 1 bit; higher is more drift.
        reasons: name of each number that is None -> why.
    """

    entity: str
    reference_mentions: int
    candidate_mentions: int
    surface_jaccard: float | None
    seen_share: float | None
    reference_length: float | None
    candidate_length: float | None
    length_diff: float | None
    reference_density: float | None
    candidate_density: float | None
    density_diff: float | None
    context_jsd: float | None
    reasons: Mapping[str, str]


@dataclass
class _Tally:
    """What one corpus has of one entity."""

    surfaces: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    context: Counter[str] = field(default_factory=Counter)


def entity_drift(reference: Iterable[Document], candidate: Iterable[Document]) -> dict[str, EntityDrift]:
    """Entity-level drift of two labelled corpora, one entry for each of ADDRESS, CONTACT, DATE and PERSON.

    Unlabelled documents (spans None) are left out. Surface strings are case-folded, their white space made single
    blanks; a span that covers only white space is no mention. The context of a mention is the three words before it and
    the three after it in the same document, of which those that touch a span of any label are then left out; a word
    near two mentions counts for both.

    Returns:
        entity -> `EntityDrift`, which states ranges, directions and dependence on size. Every number but the densities
        is None where the entity has no mention on a side.

    Source: this project; Jaccard 1912 and Lin 1991 for the two measures.

    >>> from phidrift.core.document import Document, Span
    >>> a = Document("a", "Seen by Ann Lee", (Span(8, 15, "PERSON"),))
    >>> b = Document("b", "Seen by Bo", (Span(8, 10, "PERSON"),))
    >>> person = entity_drift([a], [b])["PERSON"]
    >>> person.surface_jaccard, person.length_diff, person.context_jsd
    (0.0, 1.0, 0.0)
    """
    tokens_a, tallies_a = _tally(reference)
    tokens_b, tallies_b = _tally(candidate)
    return {
        entity: _compare(entity, tallies_a[entity], tokens_a, tallies_b[entity], tokens_b)
        for entity in ENTITIES
    }


def size_matched(
    reference: Iterable[Document], candidate: Iterable[Document], seed: int
) -> tuple[list[Document], list[Document]]:
    """The labelled documents of both corpora, the larger one (in tokens) cut to the size of the smaller.

    Whole documents are taken in an order set by the hash of their text, their spans and the seed until the size is
    reached, so the sample overshoots by part of its last document and does not depend on their order in the corpus.
    `entity_drift(*size_matched(a, b, seed))` over several seeds gives values that compare across pairs of like size.
    """
    sides = [_in_hash_order(documents, seed) for documents in (reference, candidate)]
    sizes = [[len(units.tokens(document.text)) for document in side] for side in sides]
    least = min(map(sum, sizes))
    taken = []
    for side, counts in zip(sides, sizes, strict=True):
        kept, total = [], 0
        for document, count in zip(side, counts, strict=True):
            if total >= least:
                break
            kept.append(document)
            total += count
        taken.append(kept)
    return taken[0], taken[1]


def _in_hash_order(documents: Iterable[Document], seed: int) -> list[Document]:
    def key(document: Document) -> bytes:
        content = f"{seed}/{document.spans}/{document.text}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()

    return sorted((document for document in documents if document.spans is not None), key=key)


def _tally(documents: Iterable[Document]) -> tuple[int | None, dict[str, _Tally]]:
    """(tokens of the labelled documents, None if there are none; what they have of each entity)."""
    tokens: int | None = None
    tallies = {entity: _Tally() for entity in ENTITIES}
    for document in documents:
        if document.spans is None:
            continue
        tokens = (tokens or 0) + len(units.tokens(document.text))
        words = marked_words(document.text, [(span.start, span.end) for span in document.spans])
        starts, ends = [word.start for word in words], [word.end for word in words]
        for span in document.spans:
            surface = " ".join(document.text[span.start : span.end].casefold().split())
            if span.label not in tallies or not surface:
                continue
            tally = tallies[span.label]
            tally.surfaces[surface] += 1
            tally.tokens += len(units.tokens(document.text[span.start : span.end]))
            tally.context.update(_context(span, words, starts, ends))
    return tokens, tallies


def _context(span: Span, words: Sequence[Word], starts: Sequence[int], ends: Sequence[int]) -> list[str]:
    before, after = bisect_right(ends, span.start), bisect_left(starts, span.end)
    near = [*words[max(before - CONTEXT_WORDS, 0) : before], *words[after : after + CONTEXT_WORDS]]
    return [word.word for word in near if not word.inside]


def _compare(entity: str, a: _Tally, tokens_a: int | None, b: _Tally, tokens_b: int | None) -> EntityDrift:
    mentions_a, mentions_b = a.surfaces.total(), b.surfaces.total()
    reasons: dict[str, str] = {}
    spanless = _first(
        (tokens_a is None, "no labelled document in the reference"),
        (tokens_b is None, "no labelled document in the candidate"),
        (mentions_a == 0, f"no {entity} span in the reference"),
        (mentions_b == 0, f"no {entity} span in the candidate"),
    )
    jaccard = seen = context = None
    if spanless is None:
        strings_a, strings_b = set(a.surfaces), set(b.surfaces)
        jaccard = len(strings_a & strings_b) / len(strings_a | strings_b)
        seen = sum(count for string, count in b.surfaces.items() if string in strings_a) / mentions_b
        context = _context_jsd(a.context, b.context, reasons)
    else:
        reasons |= dict.fromkeys(("surface_jaccard", "seen_share", "length_diff", "context_jsd"), spanless)
    values: dict[str, float | None] = {}
    for side, tally, mentions, tokens in (
        ("reference", a, mentions_a, tokens_a),
        ("candidate", b, mentions_b, tokens_b),
    ):
        values[f"{side}_length"] = tally.tokens / mentions if mentions else None
        values[f"{side}_density"] = 100 * mentions / tokens if tokens else None
        if tokens is None:
            reason = f"no labelled document in the {side}"
            reasons[f"{side}_length"] = reasons[f"{side}_density"] = reason
        elif not mentions:
            reasons[f"{side}_length"] = f"no {entity} span in the {side}"
        if tokens == 0:
            reasons[f"{side}_density"] = f"no tokens in the labelled documents of the {side}"
    lengths = values["reference_length"], values["candidate_length"]
    densities = values["reference_density"], values["candidate_density"]
    if None in densities:
        reasons["density_diff"] = reasons.get("reference_density") or reasons["candidate_density"]
    return EntityDrift(
        entity=entity,
        reference_mentions=mentions_a,
        candidate_mentions=mentions_b,
        surface_jaccard=jaccard,
        seen_share=seen,
        reference_length=lengths[0],
        candidate_length=lengths[1],
        length_diff=_difference(*lengths),
        reference_density=densities[0],
        candidate_density=densities[1],
        density_diff=_difference(*densities),
        context_jsd=context,
        reasons=reasons,
    )


def _first(*cases: tuple[bool, str]) -> str | None:
    return next((reason for holds, reason in cases if holds), None)


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else abs(a - b)


def _context_jsd(a: Counter[str], b: Counter[str], reasons: dict[str, str]) -> float | None:
    vocabulary = sorted({*a, *b})
    try:
        return jsd([a[word] for word in vocabulary], [b[word] for word in vocabulary])
    except Undefined:
        reasons["context_jsd"] = "no words around the mentions of a side"
        return None
