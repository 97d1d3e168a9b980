"""Surface metrics: word distributions, diversity, repetition, sentence length, character classes.

Words, tokens, chunks and sentences are those of `phidrift.core.text`. N-grams never cross a document. Counts come as
arrays of frequencies, one entry per distinct n-gram, so that the same functions serve corpora and samples of them.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from phidrift.drift.readability import flesch_kincaid as flesch_kincaid
from phidrift.drift.readability import syllables as syllables
from phidrift.drift.undefined import Undefined

MTLD_THRESHOLD = 0.72


def ngram_counts(documents: Iterable[Sequence[str]], n: int) -> Counter[tuple[str, ...]]:
    """How often each n-gram occurs in documents given as word lists; none crosses a document.

    >>> ngram_counts([["a", "b", "a"], ["b", "a"]], 2)
    Counter({('b', 'a'): 2, ('a', 'b'): 1})
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for words in documents:
        counts.update(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    return counts


def jsd(p: npt.ArrayLike, q: npt.ArrayLike, smoothing: float = 0.0) -> float:
    """Jensen-Shannon divergence of two distributions over one vocabulary, in bits.

    Args:
        p: counts or probabilities [vocabulary]; normalised here.
        q: the same over the same entries.
        smoothing: added to every probability of either side, which are then normalised again.

    Returns:
        0 (equal) to 1 (nothing in common); symmetric; higher is more drift. Falls as samples grow: two halves of
        one corpus are far from 0. It is the divergence; its square root is the Jensen-Shannon distance.

    Raises:
        Undefined: a side is empty.

    Source: Lin 1991, Divergence measures based on the Shannon entropy.

    >>> jsd([1, 1, 0], [0, 1, 1])
    0.5
    """
    left, right = _distribution(p, smoothing), _distribution(q, smoothing)
    if left.shape != right.shape:
        raise ValueError(f"distributions over {left.size} and {right.size} entries")
    middle = (left + right) / 2
    divergence = (_relative_entropy(left, middle) + _relative_entropy(right, middle)) / 2
    return float(min(max(divergence, 0.0), 1.0))


def jsd_of_counts(
    a: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    b: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    smoothing: float = 0.0,
) -> float:
    """`jsd` over the union of two vocabularies, each given as (numbers of its entries, ascending; their counts).

    >>> jsd_of_counts((np.array([3, 7]), np.array([1, 1])), (np.array([7, 9]), np.array([1, 1])))
    0.5
    """
    numbers = np.concatenate((a[0], b[0]))
    # Two ascending runs: the stable sort merges them in linear time, np.union1d would hash or sort them all.
    order = np.argsort(numbers, kind="stable")
    merged = numbers[order]
    places = np.empty(len(numbers), dtype=np.int64)
    places[order] = np.cumsum(np.diff(merged, prepend=merged[:1]) != 0)
    sides = np.zeros((2, int(places.max(initial=-1)) + 1))
    sides[0, places[: len(a[0])]] = a[1]
    sides[1, places[len(a[0]) :]] = b[1]
    return jsd(sides[0], sides[1], smoothing)


def _distribution(counts: npt.ArrayLike, smoothing: float) -> npt.NDArray[np.float64]:
    values = np.asarray(counts, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("counts are finite numbers, none below 0")
    total = values.sum()
    if total <= 0:
        raise Undefined("no n-grams")
    values = values / total + smoothing
    return np.asarray(values / values.sum())


def _relative_entropy(p: npt.NDArray[np.float64], q: npt.NDArray[np.float64]) -> float:
    seen = p > 0
    return float(np.sum(p[seen] * np.log2(p[seen] / q[seen])))


def vocab_overlap(a: Collection[Hashable], b: Collection[Hashable]) -> float:
    """Jaccard similarity of two vocabularies: shared / all types.

    0 to 1; symmetric; higher is more alike, so its correlation with degradation is negative. Grows with corpus size.

    Raises:
        Undefined: a side is empty: an overlap of 0 would say that it has other words.

    Source: Jaccard 1912.

    >>> vocab_overlap({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    left, right = set(a), set(b)
    if not left or not right:
        raise Undefined("no words")
    union = left | right
    return len(left & right) / len(union)


def entropy(counts: npt.ArrayLike) -> float:
    """Shannon entropy of a frequency distribution [vocabulary], in nats: 0 to ln(vocabulary).

    Higher is more varied. Grows with corpus size.

    Raises:
        Undefined: nothing was counted.

    Source: Shannon 1948.
    """
    p = _distribution(counts, 0.0)
    p = p[p > 0]
    return float(max(-np.sum(p * np.log(p)), 0.0))


def mtld(documents: Iterable[Sequence[str]], threshold: float = MTLD_THRESHOLD) -> float:
    """Measure of textual lexical diversity, in words: mean length of a stretch that keeps its type-token ratio.

    Factors, partial ones included, are counted within each document, forward and backward; the corpus value is
    words / summed factors, averaged over both directions. So it does not depend on the order of documents; on a
    single document it is the usual MTLD. Factors are summed, never averaged.

    Args:
        documents: word lists; `[words]` for one text.
        threshold: type-token ratio at which a factor is complete.

    Returns:
        1 up; higher is more diverse. Text without any repetition has no factor: its value is its own length.

    Raises:
        Undefined: no words.

    Source: McCarthy 2005; McCarthy and Jarvis 2010, MTLD, vocd-D, and HD-D.
    """
    total, forward, backward = 0, 0.0, 0.0
    for words in documents:
        total += len(words)
        forward += mtld_factors(words, threshold)
        backward += mtld_factors(words[::-1], threshold)
    return mtld_from_factors(total, forward, backward)


def mtld_factors(words: Sequence[Hashable], threshold: float = MTLD_THRESHOLD) -> float:
    """Factors of one pass over a text: complete ones, and the part of the last that its ratio has come.

    The ratio 0.86 at the end of the text, half way from 1 to 0.72, is half a factor.

    Args:
        words: words of one text, or their numbers.
        threshold: type-token ratio at which a factor is complete, above 0 and below 1.
    """
    if not 0 < threshold < 1:
        raise ValueError(f"an MTLD threshold lies between 0 and 1: {threshold}")
    factors, repeats, seen = 0.0, 0, set[Hashable]()
    for word in words:
        # A new word raises the ratio: only a repeated one can bring it to the threshold.
        if word not in seen:
            seen.add(word)
            continue
        repeats += 1
        if len(seen) / (len(seen) + repeats) <= threshold:
            factors, repeats, seen = factors + 1, 0, set()
    if seen:
        factors += (1 - len(seen) / (len(seen) + repeats)) / (1 - threshold)
    return factors


def mtld_from_factors(words: int, forward: float, backward: float) -> float:
    """MTLD of a corpus from its number of words and its factors summed over documents, per direction."""
    if words == 0:
        raise Undefined("no words")
    return sum(words / factors if factors > 0 else float(words) for factors in (forward, backward)) / 2


def yules_k(counts: npt.ArrayLike) -> float:
    """Yule's K from word frequencies [vocabulary]: 1e4 * (sum_i i^2 V_i / N^2 - 1 / N), V_i words occurring i times.

    0 (no word twice) to 1e4; smaller is more diverse. Nearly independent of corpus size.

    Raises:
        Undefined: no words.

    Source: Yule 1944; Tweedie and Baayen 1998.

    >>> yules_k([2, 1, 1])  # 1e4 * ((4 + 1 + 1) / 16 - 1 / 4)
    1250.0
    """
    values = np.asarray(counts, dtype=np.float64)
    total = values.sum()
    if total <= 0:
        raise Undefined("no words")
    return float(1e4 * (np.sum(values**2) / total**2 - 1 / total))


def distinct_n(counts: npt.ArrayLike) -> float:
    """Distinct-n from n-gram frequencies: distinct / all n-grams, 0 to 1; higher is less repetitive.

    Falls as the corpus grows.

    Raises:
        Undefined: no n-grams.

    Source: Li et al. 2016, A diversity-promoting objective function for neural conversation models.
    """
    values = np.asarray(counts)
    total = values.sum()
    if total <= 0:
        raise Undefined("no n-grams")
    return float(np.count_nonzero(values) / total)


def self_repetition(counts: npt.ArrayLike) -> float:
    """Share of distinct n-grams (the study takes n = 4) that occur more than once in the corpus, 0 to 1.

    Higher is more repetitive: templates, collapse. Grows with corpus size.

    Raises:
        Undefined: no n-grams, as where every document is shorter than n words.

    Source: Salkar et al. 2022, Self-repetition in abstractive neural summarizers.
    """
    values = np.asarray(counts)
    distinct = np.count_nonzero(values)
    if distinct == 0:
        raise Undefined("no n-grams")
    return float(np.count_nonzero(values > 1) / distinct)


def sentence_length_mean(tokens: int, sentences: int) -> float:
    """Mean tokens a sentence, 0 up. Line ends bound sentences too.

    Raises:
        Undefined: no sentences.
    """
    return ratio(tokens, sentences, "no sentences")


def sentence_length_std(squared: int, tokens: int, sentences: int) -> float:
    """Standard deviation (population) of tokens a sentence, from the sum of squared lengths; 0 up.

    Raises:
        Undefined: no sentences.

    >>> sentence_length_std(2**2 + 4**2, 2 + 4, 2)
    1.0
    """
    if sentences == 0:
        raise Undefined("no sentences")
    # Integers, so that equal lengths give exactly 0.
    return float(np.sqrt((squared * sentences - tokens * tokens) / sentences**2))


def ratio(part: int, whole: int, reason: str) -> float:
    """part / whole; Undefined with the reason where the whole is 0."""
    if whole == 0:
        raise Undefined(reason)
    return part / whole


# One call a character and no generator: the answers are kept, and text has few different characters.
@cache
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] == "P"


@cache
def _is_digit(character: str) -> bool:
    return unicodedata.category(character) == "Nd"


def has_punctuation(chunk: str) -> bool:
    """Whether a chunk carries punctuation: a character of a Unicode category P*."""
    return any(map(_is_punctuation, chunk))


def has_digit(chunk: str) -> bool:
    """Whether a chunk carries a decimal digit of any script (Unicode category Nd)."""
    return any(map(_is_digit, chunk))


def is_capitalized(chunk: str) -> bool:
    """Whether a chunk starts with an upper- or title-case letter of any script (Unicode categories Lu, Lt)."""
    return unicodedata.category(chunk[0]) in ("Lu", "Lt")
