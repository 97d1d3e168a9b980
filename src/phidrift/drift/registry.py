"""The 25 drift metrics by name: what each is, which way it points, where it comes from, how a sample is measured.

To add one, write its function (lexical.py, structural.py, semantic.py), enter it here and write the page's table anew
(documentation.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from phidrift.drift import lexical, perplexity, semantic, structural
from phidrift.drift.sampling import Sample

Family = Literal["lexical", "structural", "semantic"]
Kind = Literal["divergence", "similarity", "value"]
Need = Literal["tokens", "sentences", "lm_tokens"]
# What becomes of the number as corpora grow: of a `value`, each corpus' own.
WithSize = Literal["falls", "grows", "no"]
Own = Callable[[Sample], float]
Between = Callable[[Sample, Sample], float]

HIGHER_IS_MORE_DRIFT = "higher_is_more_drift"
HIGHER_IS_MORE_ALIKE = "higher_is_more_alike"


@dataclass(frozen=True)
class Metric:
    """A registered metric.

    Attributes:
        name: as in tables.
        family: lexical, structural or semantic.
        kind: `divergence` and `similarity` are one number of two corpora; `value` is a number of each, and |A - B|.
        unit: of the metric's number.
        range: lowest and highest possible value of the tabled number; None: no bound.
        source: author and year.
        needs: what the samples are counted in.
        definition: what the number is, in one sentence; of a `value`, each corpus' own.
        with_size: what becomes of it as corpora grow, where nothing else differs.
        own: the number of one sample, for kind `value`.
        between: (reference, candidate) -> number, for the other kinds.
    """

    name: str
    family: Family
    kind: Kind
    unit: str
    range: tuple[float, float | None]
    source: str
    needs: Need
    definition: str
    with_size: WithSize
    own: Own | None = None
    between: Between | None = None

    @property
    def direction(self) -> str:
        """Which way the number points: `higher_is_more_drift` or `higher_is_more_alike`."""
        return HIGHER_IS_MORE_ALIKE if self.kind == "similarity" else HIGHER_IS_MORE_DRIFT


def _share(part: str, whole: str) -> Own:
    return lambda sample: lexical.ratio(sample.totals[part], sample.totals[whole], f"no {whole}")


def _value(
    name: str,
    family: Family,
    unit: str,
    highest: float | None,
    source: str,
    definition: str,
    own: Own,
    with_size: WithSize = "no",
) -> Metric:
    return Metric(name, family, "value", unit, (0, highest), source, "tokens", definition, with_size, own=own)


def _semantic(
    name: str, unit: str, highest: float | None, source: str, definition: str, between: Between
) -> Metric:
    return Metric(
        name,
        "semantic",
        "divergence",
        unit,
        (0, highest),
        source,
        "sentences",
        definition,
        "falls",
        between=between,
    )


_STUDY = "the study, appendix on drift metrics"

_ALL = (
    Metric(
        "jsd_unigram", "lexical", "divergence", "bit", (0, 1), "Lin 1991", "tokens",
        "Jensen-Shannon divergence of the two distributions of words, over all words of both", "falls",
        between=lambda a, b: lexical.jsd_of_counts(a.unigrams, b.unigrams, a.corpus.settings.smoothing),
    ),
    Metric(
        "jsd_bigram", "lexical", "divergence", "bit", (0, 1), "Lin 1991", "tokens",
        "the same of word bigrams, none of which crosses a document", "falls",
        between=lambda a, b: lexical.jsd_of_counts(a.bigrams, b.bigrams, a.corpus.settings.smoothing),
    ),
    Metric(
        "vocab_overlap", "lexical", "similarity", "share", (0, 1), "Jaccard 1912", "tokens",
        "words that both have, among the words that either has", "grows",
        between=lambda a, b: lexical.vocab_overlap(a.unigrams[0].tolist(), b.unigrams[0].tolist()),
    ),
    _value("entropy_diff", "lexical", "nat", None, "Shannon 1948",
        "Shannon entropy of the distribution of words",
        lambda s: lexical.entropy(s.unigrams[1]), "grows"),
    _value("mtld_diff", "lexical", "words", None, "McCarthy and Jarvis 2010",
        "words that a text goes on before under 72 % of them are different: all words by all such stretches, "
        "counted in each document with its unfinished one, mean of reading forward and backward",
        lambda s: lexical.mtld_from_factors(s.totals["words"], *s.factors)),
    _value("yules_k_diff", "lexical", "1e-4", 1e4, "Yule 1944",
        "how often two words drawn at random are the same, less what a corpus of different words would give",
        lambda s: lexical.yules_k(s.unigrams[1])),
    _value("distinct_1_diff", "lexical", "share", 1, "Li et al. 2016",
        "different words among all words",
        lambda s: lexical.distinct_n(s.unigrams[1]), "falls"),
    _value("distinct_2_diff", "lexical", "share", 1, "Li et al. 2016",
        "different word bigrams among all word bigrams",
        lambda s: lexical.distinct_n(s.bigrams[1]), "falls"),
    _value("self_repetition_diff", "lexical", "share", 1, "Salkar et al. 2022",
        "those of the different word 4-grams that occur more than once in the corpus",
        lambda s: lexical.self_repetition(s.fourgrams), "grows"),
    _value("sentence_length_mean_diff", "lexical", "tokens", None, _STUDY,
        "mean length of a sentence; ends of lines end sentences too",
        lambda s: lexical.sentence_length_mean(s.totals["tokens"], s.totals["sentences"])),
    _value("sentence_length_std_diff", "lexical", "tokens", None, _STUDY,
        "standard deviation of the length of sentences",
        lambda s: lexical.sentence_length_std(
            s.totals["squared_sentence_tokens"], s.totals["tokens"], s.totals["sentences"])),
    _value("punctuation_ratio_diff", "lexical", "share", 1, _STUDY,
        "chunks between white space that hold punctuation", _share("punctuation_chunks", "chunks")),
    _value("digit_ratio_diff", "lexical", "share", 1, _STUDY,
        "chunks between white space that hold a digit", _share("digit_chunks", "chunks")),
    _value("capitalized_ratio_diff", "lexical", "share", 1, _STUDY,
        "chunks between white space that start with a capital", _share("capitalized_chunks", "chunks")),
    _value("readability_diff", "lexical", "grade", None, "Kincaid et al. 1975",
        "Flesch-Kincaid grade from all words, sentences and syllables of the corpus",
        lambda s: lexical.flesch_kincaid(
            s.totals["words"], s.totals["sentences"], s.totals["syllables"])),
    Metric(
        "perplexity_diff", "lexical", "value", "perplexity", (0, None), "Jelinek et al. 1977", "lm_tokens",
        "perplexity of the corpus under one fixed language model, over all its predicted tokens", "no",
        own=lambda s: perplexity.perplexity(s.nll, s.size("lm_tokens")),
    ),
    _value("line_break_density_diff", "structural", "breaks per 100 tokens", None, _STUDY,
        "line breaks by tokens",
        lambda s: structural.line_break_density(s.totals["line_breaks"], s.totals["tokens"])),
    _value("key_value_ratio_diff", "structural", "share", 1, _STUDY,
        "sentences of the form `Key: value` or `A=B`", _share("key_value_sentences", "sentences")),
    _value("bullet_ratio_diff", "structural", "share", 1, _STUDY,
        "sentences that open with a bullet sign or an ordinal", _share("bullet_sentences", "sentences")),
    _value("all_caps_ratio_diff", "structural", "share", 1, _STUDY,
        "tokens in capitals, of two letters or more", _share("all_caps_tokens", "tokens")),
    _value("special_char_ratio_diff", "structural", "share", 1, _STUDY,
        "chunks between white space that hold a symbol such as @, %, $ or =", _share("special_chunks", "chunks")),
    _semantic("mmd", "kernel distance", 2**0.5, "Gretton et al. 2012",
        "maximum mean discrepancy of the sentence embeddings, Gaussian kernel as wide as their median distance",
        lambda a, b: semantic.mmd(a.embeddings, b.embeddings)),
    _semantic("frechet", "squared embedding distance", None, "Dowson and Landau 1982; Heusel et al. 2017",
        "squared Fréchet distance of the normal distributions fitted to the sentence embeddings",
        lambda a, b: semantic.frechet_distance(a.embeddings, b.embeddings)),
    _semantic("embedding_mean_distance", "embedding distance", None, _STUDY,
        "Euclidean distance of the two mean sentence embeddings",
        lambda a, b: semantic.embedding_mean_distance(a.embeddings, b.embeddings)),
    _semantic("cluster_jsd", "bit", 1, "Lin 1991; " + _STUDY,
        "Jensen-Shannon divergence of how the sentences fall into 10 clusters of the reference, mean of 3 starts",
        lambda a, b: semantic.cluster_jsd_given(a.corpus.centroids, a.embeddings, b.embeddings)),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
