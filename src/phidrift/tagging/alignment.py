"""Between character spans and model tokens: pieces, windows, BIO labels, and back.

A *piece* is one token of the model. Everything is done on the pieces of the whole document, and windows are ranges
of them, so that a window's cut changes neither a piece nor a label.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.core.models import loading
from phidrift.core.text import sentence_offsets

O, B, I = 0, 1, 2  # noqa: E741 - the names of the scheme
_LEAST_VOCABULARY = 0.9  # models have some vectors more than pieces, to fill up a round number
IGNORED = -100  # what the loss of transformers' models leaves out
_SURROGATE = re.compile("[\ud800-\udfff]")


def label_names(entity: str) -> list[str]:
    """The labels of an entity's tagger, in the order of their numbers: O, B-, I-."""
    return ["O", f"B-{entity}", f"I-{entity}"]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The n pieces of a text: vocabulary numbers, and code-point offsets [n] with blanks at either end cut off.

    A piece that shows nothing (a lone blank sign) has start == end and bears no label.
    """

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces `first` to `last` (exclusive), which the model sees together; labels count in the owned range only.

    The owned ranges of a document's windows follow each other without a gap: every piece is learnt from once and
    predicted once, in the window where it has context on both sides.
    """

    first: int
    last: int
    owned_first: int
    owned_last: int


def load_tokenizer(place: str) -> Any:
    """The fast tokenizer of a model folder or hub name; one whose vocabulary is cased keeps the case of a text.

    A BERT folder without tokenizer_config.json is taken for uncased by transformers, whatever its vocabulary: "Smith"
    and "May" would be read as "smith" and "may" (so it is with Bio_ClinicalBERT).

    Raises:
        PhidriftError: no tokenizer can be read, or none that is fast, the only kind that tells where a piece lies.
    """
    from transformers import AutoTokenizer

    try:
        with loading(place):
            tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True)
    except (ValueError, KeyError, TypeError) as error:  # as many kinds as there are ways to damage its files
        mend = "a folder needs the tokenizer's files beside the weights, such as tokenizer.json or vocab.txt"
        raise PhidriftError("no tokenizer can be read", where=place, mend=mend) from error
    if not tokenizer.is_fast:
        raise PhidriftError("the model has no fast tokenizer, so its tokens have no offsets", where=place)
    if getattr(tokenizer, "do_lower_case", False) and _is_cased(tokenizer):
        with loading(place):
            tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True, do_lower_case=False)
    return tokenizer


def check_vocabulary(tokenizer: Any, model: Any, place: str) -> None:
    """Makes sure that a tokenizer knows the words that a model has vectors for.

    transformers makes a tokenizer of five pieces where the files of one are missing, and then no word is known.

    Raises:
        PhidriftError: it knows fewer than nine of ten.
    """
    known, vectors = len(tokenizer), model.get_input_embeddings().weight.shape[0]
    if known < _LEAST_VOCABULARY * vectors:
        raise PhidriftError(
            f"the tokenizer knows {known} pieces, the model {vectors}",
            where=place,
            mend="files of the tokenizer are missing beside the weights, such as tokenizer.json: copy them too",
        )


def _is_cased(tokenizer: Any) -> bool:
    """Whether more than a hundredth of the vocabulary holds upper-case letters (a cased BERT's: a third)."""
    pieces = set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens)
    cased = [piece for piece in pieces if piece != piece.lower()]
    return len(cased) > len(pieces) / 100


def special_ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What the model expects before and after a text, such as ([CLS], [SEP])."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    ids, mask = encoded["input_ids"], encoded["special_tokens_mask"]
    start, end = mask.index(0), len(mask) - mask[::-1].index(0)
    return ids[:start], ids[end:]


def tokenize(tokenizer: Any, texts: Sequence[str]) -> list[Pieces]:
    """The pieces of each text, without special tokens and without a limit of length."""
    if not texts:
        return []
    # A lone surrogate is no character and can't be encoded; U+FFFD takes its place at the same offset.
    encoded = tokenizer(
        [_SURROGATE.sub("\ufffd", text) for text in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        truncation=False,
        verbose=False,
    )
    return [
        Pieces(tuple(ids), tuple(_trim(text, start, end) for start, end in offsets))
        for text, ids, offsets in zip(texts, encoded["input_ids"], encoded["offset_mapping"], strict=True)
    ]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def cut_windows(text: str, pieces: Pieces, limit: int) -> list[Window]:
    """Windows of at most `limit` pieces that cover the document; one window where it fits.

    A window ends where a sentence or line ends (a sentence longer than a window: between words; a word longer than
    that: between pieces). The next one starts up to a quarter of a window, and at least an eighth, before that
    end, so any stretch of `limit // 8` pieces lies whole in one window. The owned ranges meet within the
    overlap, at a sentence end if there is one, be it at its own ends.
    """
    count = len(pieces.ids)
    if count <= limit:
        return [Window(0, count, 0, count)]
    sentences, words = _starts(text, pieces)
    overlap = limit // 4
    ranges, first = [], 0
    while first + limit < count:
        # At least half full: the next window then reaches `overlap` pieces beyond this one's end.
        last = _latest(sentences, words, first + max(1, 2 * overlap), first + limit)
        ranges.append((first, last))
        first = _earliest(sentences, words, last - overlap, last - overlap // 2)
    ranges.append((first, count))
    borders = [0]
    for (_, last), (first, _) in pairwise(ranges):
        borders.append(_nearest(sentences, words, first, last))
    borders.append(count)
    return [
        Window(first, last, *owned) for (first, last), owned in zip(ranges, pairwise(borders), strict=True)
    ]


def _starts(text: str, pieces: Pieces) -> tuple[list[int], list[int]]:
    """Piece numbers at which a sentence starts, and at which a word starts."""
    starts = [start for start, _ in pieces.offsets]
    sentences = sorted({bisect_left(starts, start) for start, _ in sentence_offsets(text)})
    words = [
        number
        for number, (start, end) in enumerate(pieces.offsets)
        if start < end and (start == 0 or text[start - 1].isspace())
    ]
    return sentences, words


def _latest(sentences: list[int], words: list[int], low: int, high: int) -> int:
    """The last sentence start in low..high, else the last word start, else high."""
    for starts in (sentences, words):
        position = bisect_left(starts, high + 1) - 1
        if position >= 0 and starts[position] >= low:
            return starts[position]
    return high


def _earliest(sentences: list[int], words: list[int], low: int, high: int) -> int:
    """The first sentence start in low..high, else the first word start, else low."""
    for starts in (sentences, words):
        position = bisect_left(starts, low)
        if position < len(starts) and starts[position] <= high:
            return starts[position]
    return low


def _nearest(sentences: list[int], words: list[int], low: int, high: int) -> int:
    """The sentence start nearest to the middle of low..high; else a word start between them; else the middle."""
    middle = (low + high) // 2
    # A sentence needs no context beyond its own ends, so that it may as well begin or end the overlap.
    for starts, ends in ((sentences, 0), (words, 1)):
        within = starts[bisect_left(starts, low + ends) : bisect_left(starts, high + 1 - ends)]
        if within:
            return min(within, key=lambda start: abs(start - middle))
    return middle


def bio_labels(pieces: Pieces, spans: Sequence[Span]) -> list[int]:
    """One label a piece [n]: O, B or I, and IGNORED for a piece that shows nothing.

    A piece that lies partly in a span belongs to it; one that touches two spans, to the one that covers more of it
    (to the first if equal). `spans` are sorted and free of overlap.
    """
    labels = []
    last_owner = -1
    position = 0
    for start, end in pieces.offsets:
        if start == end:
            labels.append(IGNORED)
            continue
        while position < len(spans) and spans[position].end <= start:
            position += 1
        owner, covered = -1, 0
        number = position
        while number < len(spans) and spans[number].start < end:
            shared = min(end, spans[number].end) - max(start, spans[number].start)
            if shared > covered:
                owner, covered = number, shared
            number += 1
        labels.append(O if owner < 0 else I if owner == last_owner else B)
        if owner >= 0:
            last_owner = owner
    return labels


def bio_spans(pieces: Pieces, labels: Sequence[int], entity: str) -> tuple[Span, ...]:
    """The spans that a document's labels [n] say: each from a B to the last I that follows it.

    Strict IOB2: an I without a B before it starts nothing. A piece that shows nothing neither ends nor extends a span.
    """
    found: list[Span] = []
    inside = False
    for (start, end), label in zip(pieces.offsets, labels, strict=True):
        if start == end:
            continue
        # A character that normalises to several (½ to 1/2) gives pieces of the same offsets: they stay one span.
        shares = bool(found) and start < found[-1].end
        if label == B and not shares:
            found.append(Span(start, end, entity))
        elif label == B or (label == I and inside):
            found[-1] = Span(found[-1].start, max(end, found[-1].end), entity)
        inside = label == B or (label == I and inside)
    return tuple(found)


def unrepresentable(pieces: Pieces, spans: Sequence[Span]) -> int:
    """How many spans no labelling can say exactly: they start or end within a piece, share one, or have none."""
    said = {(span.start, span.end) for span in bio_spans(pieces, bio_labels(pieces, spans), "")}
    return sum((span.start, span.end) not in said for span in spans)
