"""Samples of whole documents, all of one size, drawn by a hash of the text: what makes metrics of corpora comparable.

A sample takes whole documents, in an order set by their hashes and the seed, until its size is reached; so it
overshoots by part of its last document. With documents of 750 tokens and a size of 900 that is two documents: such
samples, and with them the noise floor, vary as much as single documents do, and hold more tokens than the samples of a
corpus of short documents. The floor of a corpus is drawn the same way, so it carries the same excess. Copies of a text
go together, or else two samples of one corpus would be alike because they share texts, and the floor too low.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from phidrift.drift.counting import COLUMNS
from phidrift.drift.ngrams import Grams, Ints, numbered
from phidrift.drift.profile import Profile
from phidrift.drift.semantic import fit_clusters
from phidrift.drift.undefined import Undefined

# What the size of a sample is counted in: tokens; sentences of embedded documents; model tokens of scored ones.
NEEDS = ("tokens", "sentences", "lm_tokens")
# Documents put in order for a sample: what its size takes on average and a fifth, and some more where that is few.
_MARGIN, _MARGIN_DOCUMENTS = 1.2, 64
_EMPTY = {
    "tokens": "the corpus is empty",
    "sentences": "no sentence embeddings",
    "lm_tokens": "no perplexity was measured",
}


@dataclass(frozen=True)
class Settings:
    """How corpora are compared.

    Attributes:
        seed: moves every sample.
        repeats: size-matched samples a value.
        floor_pairs: pairs of disjoint samples a noise floor.
        clusters: k of cluster_jsd.
        cluster_seeds: its k-means starts.
        smoothing: epsilon of the n-gram divergences.
        sample_tokens: size of the samples in tokens; None: as large as the corpora allow.
    """

    seed: int = 42
    repeats: int = 40
    floor_pairs: int = 40
    clusters: int = 10
    cluster_seeds: tuple[int, ...] = (0, 1, 2)
    smoothing: float = 1e-12
    sample_tokens: int | None = None

    def __post_init__(self) -> None:
        if min(self.repeats, self.floor_pairs, self.clusters, len(self.cluster_seeds)) < 1:
            raise ValueError("one repeat, floor pair, cluster and cluster seed are the least")


@dataclass(frozen=True)
class Corpus:
    """A profile made comparable: word ids that all corpora of the analysis share."""

    profile: Profile
    word_ids: Ints  # [words], places in the shared vocabulary
    vocabulary_size: int
    settings: Settings

    @cached_property
    def sizes(self) -> Mapping[str, Ints]:
        """Size of every document [documents] in each of `NEEDS`."""
        documents = len(self.profile.hashes)
        return {
            "tokens": self.profile.column("tokens"),
            "sentences": np.bincount(self.profile.sentence_documents, minlength=documents),
            "lm_tokens": self.profile.predicted,
        }

    @cached_property
    def unigrams(self) -> "Grams":
        """All its words, by their numbers in the shared vocabulary."""
        return self._within_documents(numbered(self.word_ids), 1)

    @cached_property
    def bigrams(self) -> "Grams":
        """All its word bigrams; a bigram is one number, the same in all corpora."""
        return self._within_documents(self._pairs, 2)

    @cached_property
    def fourgrams(self) -> "Grams":
        """All its word 4-grams, numbered within this corpus."""
        values, places = self._pairs
        return self._within_documents(numbered(places[:-2] * len(values) + places[2:]), 4)

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """The bigrams of the whole word sequence, those across documents too, as `numbered` gives them."""
        return numbered(self.word_ids[:-1] * self.vocabulary_size + self.word_ids[1:])

    def _within_documents(self, grams: tuple[Ints, Ints], n: int) -> "Grams":
        values, places = grams
        lengths = self.profile.column("words")
        documents = np.repeat(np.arange(len(lengths)), lengths)
        starts = documents[: max(len(documents) - n + 1, 0)]
        ends = np.cumsum(np.maximum(lengths - n + 1, 0))
        whole = places[starts == documents[n - 1 :]]
        return Grams(values, whole.astype(np.int32), np.concatenate(([0], ends)))

    @cached_property
    def centroids(self) -> list[npt.NDArray[np.float64]]:
        """Clusters of all its embeddings, one array [k, dimension] a seed."""
        return fit_clusters(self.profile.embeddings, self.settings.clusters, self.settings.cluster_seeds)

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """Size of the whole corpus in each of `NEEDS`."""
        return {need: int(sizes.sum()) for need, sizes in self.sizes.items()}

    @cached_property
    def texts(self) -> Ints:
        """The number of every document's text [documents]: copies have the same."""
        return np.searchsorted(np.unique(self.profile.hashes), self.profile.hashes)

    @cached_property
    def _mixed(self) -> npt.NDArray[np.uint64]:
        return _mix(self.profile.hashes)

    def order(self, label: str, number: int, most: int) -> Ints:
        """The first documents in an order of their own for every seed, label and number; copies stand together.

        `most` of them, with all copies of the last: the order of a large corpus is not needed whole for a sample.
        """
        salt = hashlib.sha256(f"{self.settings.seed}/{label}/{number}".encode()).digest()[:8]
        keys = _mix(self._mixed ^ np.uint64(int.from_bytes(salt, "big")))
        if most >= len(keys):
            return np.argsort(keys, kind="stable")
        first = np.flatnonzero(keys <= np.partition(keys, most)[most])
        return first[np.argsort(keys[first], kind="stable")]


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014): one-to-one, every bit depends on every bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(frozen=True)
class Sample:
    """Some documents of a corpus, ascending; its measures are sums over them."""

    corpus: Corpus
    documents: Ints

    @cached_property
    def _chosen(self) -> npt.NDArray[np.bool_]:
        chosen = np.zeros(len(self.corpus.profile.hashes), dtype=np.bool_)
        chosen[self.documents] = True
        return chosen

    def size(self, need: str) -> int:
        """Its size in one of `NEEDS`."""
        return int(self.corpus.sizes[need][self.documents].sum())

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """Sums of the profile's columns."""
        sums = self.corpus.profile.counts[self.documents].sum(axis=0)
        return dict(zip(COLUMNS, sums.tolist(), strict=True))

    @cached_property
    def factors(self) -> tuple[float, float]:
        """Summed MTLD factors, forward and backward."""
        forward, backward = self.corpus.profile.factors[self.documents].sum(axis=0)
        return float(forward), float(backward)

    @cached_property
    def unigrams(self) -> tuple[Ints, Ints]:
        """(different words, ascending; how often each occurs)."""
        return self.corpus.unigrams.count(self.documents)

    @cached_property
    def bigrams(self) -> tuple[Ints, Ints]:
        """(different word bigrams, ascending; how often each occurs)."""
        return self.corpus.bigrams.count(self.documents)

    @cached_property
    def fourgrams(self) -> Ints:
        """How often each different word 4-gram occurs, in no order."""
        return self.corpus.fourgrams.frequencies(self.documents)

    @property
    def embeddings(self) -> npt.NDArray[np.float32]:
        """Embeddings of its sentences [sentences, dimension]."""
        profile = self.corpus.profile
        return profile.embeddings[self._chosen[profile.sentence_documents]]

    @property
    def nll(self) -> float:
        """Negative log-likelihood in nats."""
        return float(self.corpus.profile.nll[self.documents].sum())


def share_vocabulary(profiles: Sequence[Profile], settings: Settings) -> list[Corpus]:
    """Gives the words of all profiles common numbers."""
    words = sorted({word for profile in profiles for word in profile.vocabulary})
    places = {word: place for place, word in enumerate(words)}
    corpora = []
    for profile in profiles:
        ids = np.array([places[word] for word in profile.vocabulary], dtype=np.int64)
        corpora.append(Corpus(profile, ids[profile.word_ids], len(words), settings))
    return corpora


def sample_sizes(
    corpora: Iterable[Corpus], references: Collection[Corpus], settings: Settings
) -> dict[str, int]:
    """One size for every sample of an analysis, in each of `NEEDS`: min(smallest corpus, half the smallest reference).

    Half a reference is (size - largest document with its copies) / 2: a sample may overshoot by almost that, and two
    disjoint ones have to fit. Empty corpora and references of a single document, which get no value or no floor, do not
    count.
    0: no sample can be drawn.
    """
    everything = list(corpora)
    sizes = {}
    for need in NEEDS:
        totals = [corpus.totals[need] for corpus in everything]
        halves = [_half(corpus, need) for corpus in references]
        usable = [size for size in (*totals, *halves) if size > 0]
        sizes[need] = min(usable, default=0)
    if settings.sample_tokens is not None:
        sizes["tokens"] = settings.sample_tokens
    return sizes


def _half(corpus: Corpus, need: str) -> int:
    of_texts = np.bincount(corpus.texts, corpus.sizes[need]).astype(np.int64)
    return int(of_texts.sum() - of_texts.max()) // 2 if len(of_texts) else 0


def full_sample(corpus: Corpus, need: str) -> Sample:
    """All documents that were measured.

    Raises:
        Undefined: there are none.
    """
    documents = np.flatnonzero(corpus.sizes[need])
    if not len(documents):
        raise Undefined(_EMPTY[need])
    return Sample(corpus, documents)


def draw(corpus: Corpus, need: str, size: int, number: int) -> Sample:
    """The sample of that number.

    Raises:
        Undefined: the corpus is empty or smaller than the size.
    """
    return _samples(corpus, need, size, "value", number, 1)[0]


def draw_disjoint(corpus: Corpus, need: str, size: int, number: int) -> tuple[Sample, Sample]:
    """The pair of disjoint samples of that number.

    Raises:
        Undefined: the corpus is too small for two.
    """
    first, second = _samples(corpus, need, size, "floor", number, 2)
    return first, second


def _samples(corpus: Corpus, need: str, size: int, label: str, number: int, count: int) -> list[Sample]:
    """That many disjoint samples, one after the other in the order of that label and number."""
    total, documents = corpus.totals[need], len(corpus.profile.hashes)
    if not total:
        raise Undefined(_EMPTY[need])
    # So many documents hold the samples nearly always; where they don't, twice as many are ordered.
    most = int(_MARGIN * count * size / total * documents) + _MARGIN_DOCUMENTS
    while True:
        rest = corpus.order(label, number, most)
        samples = []
        try:
            for _ in range(count):
                taken, rest = _take(corpus, need, size, rest)
                samples.append(Sample(corpus, taken))
        except Undefined:
            if most >= documents:
                raise
            most *= 2
        else:
            return samples


def _take(corpus: Corpus, need: str, size: int, order: Ints) -> tuple[Ints, Ints]:
    """(documents taken, ascending; those left, in order): whole documents until the size is reached.

    The copies of the last one are taken too, so that two disjoint samples share no text.
    """
    sizes = corpus.sizes[need][order]
    order = order[sizes > 0]
    reached = np.flatnonzero(np.cumsum(sizes[sizes > 0]) >= size)
    if not len(reached) or size <= 0:
        raise Undefined(f"too few documents for samples of {size} {need.replace('_', ' ')}")
    texts = corpus.texts[order]
    end = len(order) - int(np.argmax(texts[::-1] == texts[reached[0]]))
    return np.sort(order[:end]), order[end:]
