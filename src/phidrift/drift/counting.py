"""What is counted in every document: the numerators and denominators of all ratios, its words, its MTLD factors.

`count_document` defines the counts, unit by unit. `count_documents` gives the same numbers for many texts at once:
most text repeats, so each different chunk (white-space token) is looked at once, and the rest is arithmetic on chunk
numbers. This works because no token, word or sentence ends inside a chunk, and whether a sentence ends between two
chunks depends on these two alone and on where their line starts.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from phidrift.core import text as units
from phidrift.drift import lexical, readability, structural

COLUMNS = (
    "tokens",
    "words",
    "chunks",
    "sentences",
    "squared_sentence_tokens",
    "syllables",
    "punctuation_chunks",
    "digit_chunks",
    "capitalized_chunks",
    "special_chunks",
    "all_caps_tokens",
    "line_breaks",
    "key_value_sentences",
    "bullet_sentences",
)

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

# White space that a key-value pair may not hold between its words.
_ODD_SPACE = re.compile(r"[^\S \t\r\n]")


@dataclass(frozen=True)
class Counted:
    """Many documents in numbers.

    Attributes:
        counts: `COLUMNS` of each document [documents, columns].
        factors: MTLD factors of each document, forward and backward [documents, 2].
        vocabulary: distinct words, sorted.
        word_ids: places in the vocabulary of all words of all documents in turn [words].
    """

    counts: Ints
    factors: npt.NDArray[np.float64]
    vocabulary: tuple[str, ...]
    word_ids: Ids


def count_document(text: str) -> list[int]:
    """`COLUMNS` of one text, by the definition of each."""
    tokens, words = units.tokens(text), units.words(text)
    chunks, sentences = units.chunks(text), units.sentences(text)
    counts = {
        "tokens": len(tokens),
        "words": len(words),
        "chunks": len(chunks),
        "sentences": len(sentences),
        "squared_sentence_tokens": sum(len(units.tokens(sentence)) ** 2 for sentence in sentences),
        "syllables": sum(map(readability.syllables, words)),
        "punctuation_chunks": _number(lexical.has_punctuation, chunks),
        "digit_chunks": _number(lexical.has_digit, chunks),
        "capitalized_chunks": _number(lexical.is_capitalized, chunks),
        "special_chunks": _number(structural.has_special, chunks),
        "all_caps_tokens": _number(structural.is_all_caps, tokens),
        "line_breaks": structural.line_breaks(text),
        "key_value_sentences": _number(structural.is_key_value, sentences),
        "bullet_sentences": _number(structural.is_bullet, sentences),
    }
    return [counts[name] for name in COLUMNS]


def _number(holds: Callable[[str], bool], items: Iterable[str]) -> int:
    return sum(map(holds, items))


def count_documents(texts: Iterable[str]) -> Counted:
    """Counts many texts; the numbers are exactly those of `count_document`, `words` and `mtld_factors`, one by one.

    >>> count_documents(["Seen. Seen again.", "Again"]).word_ids.tolist()  # again 0, seen 1
    [1, 1, 0, 0]
    """
    chunks = _read(texts)
    spelled = _spell(chunks.different)
    sentences = _sentences(chunks)
    columns = {
        "chunks": np.diff(chunks.documents),
        "sentences": np.diff(sentences.documents),
        "squared_sentence_tokens": _sums(
            _sums(spelled.columns["tokens"][chunks.ids], sentences.bounds) ** 2, sentences.documents
        ),
        "line_breaks": np.array(chunks.line_breaks, dtype=np.int64),
        "key_value_sentences": _key_values(chunks, sentences),
        "bullet_sentences": _sums(_bullets(chunks, sentences), sentences.documents),
        **{name: _sums(each[chunks.ids], chunks.documents) for name, each in spelled.columns.items()},
    }
    word_ids = spelled.words_of(chunks.ids)
    bounds = _bounds(np.cumsum(columns["words"]))
    factors = [_factors(word_ids[start:end]) for start, end in pairwise(bounds)]
    return Counted(
        counts=np.stack([columns[name] for name in COLUMNS], axis=1),
        factors=np.array(factors, dtype=np.float64).reshape(-1, 2),
        vocabulary=spelled.vocabulary,
        word_ids=word_ids,
    )


def _factors(word_ids: Ids) -> tuple[float, float]:
    words = word_ids.tolist()
    return lexical.mtld_factors(words), lexical.mtld_factors(words[::-1])


def _bounds(ends: npt.ArrayLike) -> Ints:
    """Where each of several stretches starts, and where the last ends."""
    return np.concatenate(([0], np.asarray(ends, dtype=np.int64)))


def _sums(values: npt.NDArray[np.integer | np.bool_], bounds: Ints) -> Ints:
    """Sums over stretches, which may be empty."""
    running = _bounds(np.cumsum(values, dtype=np.int64))
    return running[bounds[1:]] - running[bounds[:-1]]


class _Numbers(dict[str, int]):
    """Numbers strings in the order in which they are first asked for."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


@dataclass(frozen=True)
class _Chunks:
    """Texts as numbers of chunks.

    Attributes:
        different: the different chunks, by number.
        ids: numbers of all chunks in turn [chunks].
        firsts: whether a chunk is the first of its line [chunks].
        documents: where each document's chunks start, and the end of the last [documents + 1].
        line_breaks: of each document.
        own_pairs: key-value sentences of the documents in which they cannot be found from chunks alone.
    """

    different: list[str]
    ids: Ids
    firsts: Flags
    documents: Ints
    line_breaks: list[int]
    own_pairs: dict[int, int]


def _read(texts: Iterable[str]) -> _Chunks:
    numbers, ids = _Numbers(), array("i")
    number = numbers.__getitem__
    line_starts, document_ends, line_breaks = array("q"), array("q"), []
    own_pairs: dict[int, int] = {}
    for document, text in enumerate(texts):
        line_breaks.append(structural.line_breaks(text))
        if _ODD_SPACE.search(text):
            own_pairs[document] = _number(structural.is_key_value, units.sentences(text))
        for line in text.replace("\r", "\n").split("\n"):
            line_starts.append(len(ids))
            ids.extend(map(number, line.split()))
        document_ends.append(len(ids))
    firsts = np.zeros(len(ids) + 1, dtype=np.bool_)
    firsts[np.array(line_starts, dtype=np.int64)] = True  # a blank line starts where the next one does
    return _Chunks(
        different=list(numbers),
        ids=np.array(ids, dtype=np.int32),
        firsts=firsts[:-1],
        documents=_bounds(document_ends),
        line_breaks=line_breaks,
        own_pairs=own_pairs,
    )


@dataclass(frozen=True)
class _Spelled:
    """What each different chunk holds.

    Attributes:
        columns: the columns that are sums over chunks, of each different one [different].
        vocabulary: distinct words, sorted.
        words: their places, of all different chunks in turn.
        bounds: where each chunk's words start, and the end of the last [different + 1].
    """

    columns: dict[str, Ints]
    vocabulary: tuple[str, ...]
    words: Ids
    bounds: Ints

    def words_of(self, ids: Ids) -> Ids:
        """The words of a sequence of chunks."""
        sizes = np.diff(self.bounds)[ids]
        ends = np.cumsum(sizes)
        shifts = np.repeat(self.bounds[ids] - (ends - sizes), sizes)
        return self.words[shifts + np.arange(len(shifts))]


def _spell(chunks: Sequence[str]) -> _Spelled:
    numbers, words, ends = _Numbers(), array("i"), array("q")
    tokens, capitals = array("q"), array("q")
    for chunk in chunks:
        parts = units.tokens(chunk)
        tokens.append(len(parts))
        capitals.append(_number(structural.is_all_caps, parts))
        words.extend(map(numbers.__getitem__, units.words(chunk)))
        ends.append(len(words))
    bounds = _bounds(ends)
    vocabulary = tuple(sorted(numbers))
    places = np.empty(len(vocabulary), dtype=np.int32)
    places[[numbers[word] for word in vocabulary]] = np.arange(len(vocabulary))
    ranked = places[np.array(words, dtype=np.int64)]
    syllables = np.array([readability.syllables(word) for word in vocabulary], dtype=np.int64)
    kinds = {
        "punctuation_chunks": lexical.has_punctuation,
        "digit_chunks": lexical.has_digit,
        "capitalized_chunks": lexical.is_capitalized,
        "special_chunks": structural.has_special,
    }
    columns = {
        "tokens": np.array(tokens, dtype=np.int64),
        "words": np.diff(bounds),
        "syllables": _sums(syllables[ranked], bounds),
        "all_caps_tokens": np.array(capitals, dtype=np.int64),
        **{name: np.array([*map(holds, chunks)], dtype=np.int64) for name, holds in kinds.items()},
    }
    return _Spelled(columns, vocabulary, ranked, bounds)


@dataclass(frozen=True)
class _Sentences:
    """Sentences: where each starts among the chunks and the end of the last; the same of documents among them."""

    bounds: Ints
    documents: Ints


def _sentences(chunks: _Chunks) -> _Sentences:
    ids, firsts = chunks.ids, chunks.firsts
    ends = np.zeros(len(chunks.different), dtype=np.bool_)
    ends_first, opens = ends.copy(), ends.copy()
    for number, chunk in enumerate(chunks.different):
        # A sentence ends in a sign. `units` decides: does a split come after this chunk, before this one?
        if not chunk[-1].isalnum() and _parts(f"x {chunk} A") == 2:
            ends[number] = True
            ends_first[number] = _parts(f"{chunk} A") == 2
    ended = np.where(firsts, ends_first[ids], ends[ids])[:-1]
    for number in np.unique(ids[1:][ended]):
        opens[number] = _parts(f"x! {chunks.different[number]}") == 2
    starts = firsts.copy()
    starts[1:] |= ended & opens[ids[1:]]
    return _Sentences(
        bounds=np.append(np.flatnonzero(starts), len(ids)),
        documents=_bounds(np.cumsum(starts))[chunks.documents],
    )


def _parts(text: str) -> int:
    return len(units.sentences(text))


def _bullets(chunks: _Chunks, sentences: _Sentences) -> Flags:
    """Whether each sentence is a bullet: its first chunk says so, and whether another follows."""
    openers = chunks.ids[sentences.bounds[:-1]]
    alone = np.zeros(len(chunks.different), dtype=np.bool_)
    followed = alone.copy()
    for number in np.unique(openers):
        chunk = chunks.different[number]
        alone[number], followed[number] = structural.is_bullet(chunk), structural.is_bullet(chunk + " x")
    return np.where(np.diff(sentences.bounds) == 1, alone[openers], followed[openers])


def _key_values(chunks: _Chunks, sentences: _Sentences) -> Ints:
    """Key-value sentences of each document. A pair holds a colon or an equals sign: only such sentences are read."""
    signs = np.array([":" in chunk or "=" in chunk for chunk in chunks.different], dtype=np.bool_)
    found = _sums(signs[chunks.ids], sentences.bounds) > 0
    for number in np.flatnonzero(found):
        ids = chunks.ids[sentences.bounds[number] : sentences.bounds[number + 1]].tolist()
        found[number] = structural.is_key_value(" ".join(map(chunks.different.__getitem__, ids)))
    counts = _sums(found, sentences.documents)
    counts[list(chunks.own_pairs)] = list(chunks.own_pairs.values())
    return counts
