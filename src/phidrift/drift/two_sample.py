"""An extra beside the 25 metrics: can a classifier tell the documents of two corpora apart, and by which words?"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from phidrift.core import text as units
from phidrift.drift.entities import Word, marked_words
from phidrift.drift.undefined import Undefined

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_Array = npt.NDArray[np.float64]
_ROUNDING = 1e-12
_LOWER = 0.9  # share of a word's occurrences in lower case, from which it is taken for no name
_ADDRESS = re.compile(r"\S*(?:@|://|www\.)\S*")  # of mail or the web, which writes names in lower case
_NORMAL_975 = 1.959963984540054  # the 97.5th percentile of the standard normal


@dataclass(frozen=True)
class MarkedText:
    """A document with its labelled or predicted PHI as (start, end) in code points; spans None: unlabelled."""

    text: str
    spans: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class TellingWord:
    """A word that speaks for a side.

    Attributes:
        word: case-folded.
        weight: what its presence adds to the log-odds of that side, above 0.
        documents: different documents of that side that hold it outside PHI.
    """

    word: str
    weight: float
    documents: int


@dataclass(frozen=True)
class TwoSample:
    """How well a classifier tells two corpora apart.

    Attributes:
        auc: probability that a candidate document is ranked above a reference document; 0.5: not told apart.
        interval: 95 % interval of the AUC over documents.
        reference_documents: different documents of the reference.
        candidate_documents: different documents of the candidate.
        blanked: whether the classifier was kept from seeing PHI (every document on both sides has spans).
        reference_words: what speaks most for the reference, strongest first.
        candidate_words: the same for the candidate.
    """

    auc: float
    interval: tuple[float, float]
    reference_documents: int
    candidate_documents: int
    blanked: bool
    reference_words: tuple[TellingWord, ...]
    candidate_words: tuple[TellingWord, ...]


@dataclass(frozen=True)
class _Reading:
    """One text as the test sees it.

    Attributes:
        group: hash of the words that the classifier sees, in turn: equal for duplicates.
        seen: the different words that the classifier sees.
        outside: how often each word stands outside PHI and outside addresses of mail and the web.
        inside: how often each word stands in PHI.
        placed: how often each stands outside PHI where its first letter says something: not capitalised at the
            beginning of a sentence.
        lower: how often of these it starts with a lower-case letter.
    """

    group: bytes
    seen: frozenset[str]
    outside: Counter[str]
    inside: Counter[str]
    placed: Counter[str]
    lower: Counter[str]


@dataclass(frozen=True)
class _Data:
    """Different documents (groups) with the words they hold and how often they stand on each side.

    Attributes:
        presence: 1 where a document holds a word [documents, vocabulary].
        vocabulary: words that stand in two documents or more, sorted.
        copies: copies of each document in the reference and in the candidate [2, documents].
        folds: the part of the cross-validation that each document is in [documents].
    """

    presence: "csr_matrix"
    vocabulary: list[str]
    copies: _Array
    folds: npt.NDArray[np.int64]


def classifier_two_sample(
    reference: Iterable[MarkedText],
    candidate: Iterable[MarkedText],
    *,
    least_documents: int = 5,
    words: int = 10,
    folds: int = 5,
    seed: int = 0,
) -> TwoSample:
    """Classifier two-sample test: can a plain logistic regression tell the documents of two corpora apart?

    A document is the set of its case-folded words (presence, no weighting); the regression has an L2 penalty of
    strength 1 and gives both sides the same total weight. Every document is scored by a model that saw neither it nor
    a duplicate of it: documents with the same words in the same order, on either side, share one part of the
    cross-validation. The AUC is the mean of the parts' AUCs. Folds come from a hash of the words and the seed, so the
    order of the documents does not matter; for a corpus against itself the AUC is exactly 0.5.

    The interval takes DeLong's variance of each part's AUC, with duplicates as one cluster, and Nadeau and Bengio's
    correction for parts that learn from each other (5 folds: 1.5 times as wide as if they were independent, which would
    cover 82 to 89 %; as it is, 90 to 99 % in simulations of 15 to 100 documents a side). Where the corpora are told
    apart without error it would have no width; then its end is the exact binomial bound from as many independent pairs
    as there are.

    The classifier does not see PHI where every document on both sides has spans; otherwise it sees all words, since
    blanking one side alone would tell the sides apart. Words that touch a span are never listed for it, and a listed
    word
    - stands outside PHI, e-mail addresses and web addresses in `least_documents` different documents of that side or
      more, and in PHI nowhere,
    - holds no digit, and
    - starts with a lower-case letter in 9 of 10 of its occurrences on each side, capitalised ones at the beginning of a
      sentence left aside. German nouns and scripts without case so drop out.
    The limits of this: it counts documents, not patients, and an unmarked name that is written in lower case throughout
    is caught by none of these rules but the first.

    Args:
        reference: documents; copies of one text share the spans of all its copies.
        candidate: documents.
        least_documents: k, different documents that a listed word must stand in; 1 or more.
        words: listed words a side, at most.
        folds: parts of the cross-validation, 2 or more.
        seed: moves the parts.

    Returns:
        `TwoSample`. The AUC is 0 to 1, no unit; higher is more drift; below 0.5 only by chance. It grows with the
        corpora, which train the classifier: compare at one size.

    Raises:
        Undefined: a side has fewer than 2 * folds different documents, or no word stands in two.

    Source: Lopez-Paz and Oquab 2017, Revisiting classifier two-sample tests; DeLong et al. 1988 and Obuchowski 1997
    (clusters) for the variance, Nadeau and Bengio 2003 for the correction; Clopper and Pearson 1934 for the bound.
    """
    if min(least_documents, folds - 1) < 1 or words < 0:
        raise ValueError("one document, no word and two folds are the least")
    sides = [list(reference), list(candidate)]
    spans = _shared_spans([*sides[0], *sides[1]])
    blanked = len(spans) == len({document.text for side in sides for document in side})
    readings = {
        text: _read(text, spans.get(text, ()), blanked)
        for text in sorted({document.text for side in sides for document in side})
    }
    data = _collect(sides, readings, folds, seed)
    auc, interval = _cross_validated(data, folds)
    telling = []
    listable = [_listable(side, sides, readings, least_documents) for side in sides]
    weights = _fit(data, np.ones(len(data.folds), dtype=bool)).coef_[0]
    for allowed, towards in zip(listable, (-weights, weights), strict=True):
        found = [
            TellingWord(word, float(weight), allowed[word])
            for word, weight in zip(data.vocabulary, towards, strict=True)
            if weight > 0 and word in allowed
        ]
        telling.append(tuple(sorted(found, key=lambda each: (-each.weight, each.word))[:words]))
    different = np.count_nonzero(data.copies, axis=1)
    return TwoSample(auc, interval, int(different[0]), int(different[1]), blanked, telling[0], telling[1])


def _shared_spans(documents: Sequence[MarkedText]) -> dict[str, set[tuple[int, int]]]:
    """The spans of every labelled text: a name that is marked in one copy is one in all."""
    spans: dict[str, set[tuple[int, int]]] = {}
    for document in documents:
        if document.spans is not None:
            spans.setdefault(document.text, set()).update(document.spans)
    return spans


def _read(text: str, spans: Iterable[tuple[int, int]], blanked: bool) -> _Reading:
    found = marked_words(text, spans)
    seen = [word.word for word in found if not (blanked and word.inside)]
    placed: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    first = _sentence_starts(text, found)
    in_address = [address.span() for address in _ADDRESS.finditer(text)]
    plain = [word for word in found if not any(start <= word.start < end for start, end in in_address)]
    for word in plain:
        is_lower = unicodedata.category(text[word.start]) == "Ll"
        if word.inside or (word.start in first and not is_lower):
            continue
        placed[word.word] += 1
        lower[word.word] += is_lower
    return _Reading(
        group=hashlib.sha256(" ".join(seen).encode()).digest(),
        seen=frozenset(seen),
        outside=Counter(word.word for word in plain if not word.inside),
        inside=Counter(word.word for word in found if word.inside),
        placed=placed,
        lower=lower,
    )


def _sentence_starts(text: str, words: Sequence[Word]) -> set[int]:
    """Where the first word of each sentence starts."""
    starts = np.array([word.start for word in words], dtype=np.int64)
    sentences = np.array([start for start, _ in units.sentence_offsets(text)], dtype=np.int64)
    places = np.searchsorted(starts, sentences)
    return set(starts[places[places < len(starts)]].tolist())


def _collect(
    sides: Sequence[Sequence[MarkedText]], readings: dict[str, _Reading], folds: int, seed: int
) -> _Data:
    from scipy.sparse import csr_matrix

    copies = [Counter(readings[document.text].group for document in side) for side in sides]
    for name, counts in zip(("reference", "candidate"), copies, strict=True):
        if len(counts) < 2 * folds:
            raise Undefined(f"fewer than {2 * folds} different documents in the {name}")
    words_of = {reading.group: reading.seen for reading in readings.values()}
    groups = sorted(words_of)
    frequency = Counter(word for words in words_of.values() for word in words)
    vocabulary = sorted(word for word, count in frequency.items() if count > 1)
    if not vocabulary:
        raise Undefined("no word stands in two different documents")
    places = {word: place for place, word in enumerate(vocabulary)}
    columns = [sorted(places[word] for word in words_of[group] if word in places) for group in groups]
    pointers = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    indices = np.array([column for row in columns for column in row], dtype=np.int64)
    shape = (len(groups), len(vocabulary))
    presence = csr_matrix((np.ones(len(indices)), indices, pointers), shape=shape)
    counted = np.array([[counts[group] for group in groups] for counts in copies], dtype=np.float64)
    return _Data(presence, vocabulary, counted, _deal(groups, counted, folds, seed))


def _deal(groups: Sequence[bytes], copies: _Array, folds: int, seed: int) -> npt.NDArray[np.int64]:
    """Deals documents out to the folds in hash order: those of one side, of the other and of both, each in turn.

    So each fold has documents of both sides where each side has folds * 2 or more.
    """
    order = sorted(
        range(len(groups)), key=lambda place: hashlib.sha256(f"{seed}/".encode() + groups[place]).digest()
    )
    dealt: Counter[tuple[bool, ...]] = Counter()
    fold_of = np.zeros(len(groups), dtype=np.int64)
    for place in order:
        kind = tuple((copies[:, place] > 0).tolist())
        fold_of[place] = dealt[kind] % folds
        dealt[kind] += 1
    return fold_of


def _fit(data: _Data, taken: npt.NDArray[np.bool_]) -> Any:
    """The regression on the documents taken, as scikit-learn returns it."""
    from scipy.sparse import vstack
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    held = [taken & (side > 0) for side in data.copies]
    rows = vstack([data.presence[which] for which in held], format="csr")
    sides = np.repeat([0, 1], [np.count_nonzero(which) for which in held])
    total = data.copies[:, taken].sum()
    weights = [side[which] / side[which].sum() for side, which in zip(data.copies, held, strict=True)]
    with threadpool_limits(1):  # threads add up in any order
        return LogisticRegression(max_iter=1_000).fit(rows, sides, np.concatenate(weights) * total / 2)


def _cross_validated(data: _Data, folds: int) -> tuple[float, tuple[float, float]]:
    """(mean AUC of the folds, its interval)."""
    aucs, variances, pairs = [], [], 0
    for fold in range(folds):
        held = data.folds == fold
        scores = _fit(data, ~held).decision_function(data.presence[held])
        auc, variance = clustered_auc(scores, data.copies[0, held], data.copies[1, held])
        aucs.append(auc)
        variances.append(variance)
        pairs += int(np.count_nonzero(data.copies[:, held], axis=1).min())
    auc = float(np.mean(aucs))
    # Without an error, or nearly, the variance says too little: then the bound from as many pairs as there are holds.
    bound = 0.025 ** (1 / pairs)
    # Independent folds would have 1 / folds alone, but what one of them tests on, the others learn from.
    half = _NORMAL_975 * float(np.sqrt(np.mean(variances) * (1 / folds + 1 / (folds - 1))))
    low, high = auc - half, auc + half
    if high >= 1:
        low = min(low, bound)
    if low <= 0:
        high = max(high, 1 - bound)
    return auc, (max(low, 0.0), min(high, 1.0))


def clustered_auc(scores: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[float, float]:
    """AUC of scores that clusters of documents share, and its variance over clusters.

    Args:
        scores: one a cluster [clusters].
        low: documents of the side that should score low in each cluster [clusters].
        high: documents of the side that should score high in each cluster [clusters].

    Returns:
        (AUC, variance): the probability that a document of the second side scores above one of the first, ties half;
        and the variance of DeLong et al. 1988 with the placements summed within clusters (Obuchowski 1997).

    Raises:
        Undefined: a side has no document.

    >>> clustered_auc([1.0, 2.0, 3.0], [1, 1, 0], [0, 1, 1])[0]  # of four pairs three are in order, one is a tie
    0.875
    """
    values, a, b = (np.asarray(each, dtype=np.float64) for each in (scores, low, high))
    if min(a.sum(), b.sum()) <= 0:
        raise Undefined("a side has no document")
    a, b = a / a.sum(), b / b.sum()
    _, places = np.unique(values, return_inverse=True)
    ties_a, ties_b = np.bincount(places, weights=a), np.bincount(places, weights=b)
    below = (np.cumsum(ties_a) - ties_a / 2)[places]  # share of the first side below each score
    above = (1 - np.cumsum(ties_b) + ties_b / 2)[places]  # share of the second side above each score
    auc = float(min(max(b @ below, 0.0), 1.0))
    if abs(auc - round(2 * auc) / 2) < _ROUNDING:  # 0, 0.5 and 1 are told from what is near them
        auc = round(2 * auc) / 2
    influence = b * (below - auc) + a * (above - auc)
    clusters = len(values)
    variance = float(np.sum(influence**2)) * clusters / max(clusters - 1, 1)
    return auc, variance


def _listable(
    side: Sequence[MarkedText],
    sides: Sequence[Sequence[MarkedText]],
    readings: dict[str, _Reading],
    least: int,
) -> dict[str, int]:
    """Words that may be shown for a side -> different documents of it that hold them outside PHI."""
    outside: dict[bytes, set[str]] = {}
    for text in {document.text for document in side}:
        reading = readings[text]
        # Near-copies are one document: what one of them has in PHI does not count.
        known = outside.setdefault(reading.group, set(reading.outside))
        known &= set(reading.outside)
    documents = Counter(word for words in outside.values() for word in words)
    in_phi = _total(readings.values(), "inside")
    allowed = {word: count for word, count in documents.items() if count >= least and not in_phi[word]}
    evidence = []
    for each in sides:
        read = [readings[text] for text in {document.text for document in each}]
        evidence.append((_total(read, "placed"), _total(read, "lower")))
    return {word: count for word, count in allowed.items() if not _like_a_name(word, evidence)}


def _total(readings: Iterable[_Reading], name: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for reading in readings:
        total.update(getattr(reading, name))
    return total


def _like_a_name(word: str, evidence: Sequence[tuple[Counter[str], Counter[str]]]) -> bool:
    """Whether a word may be a name or a number, from its (placed, lower) occurrences on each side."""
    if any(unicodedata.category(character)[0] == "N" for character in word):
        return True
    if not any(placed[word] for placed, _ in evidence):
        return True  # it stands at the beginning of sentences alone: nothing speaks against a name
    return any(lower[word] < _LOWER * placed[word] for placed, lower in evidence)
