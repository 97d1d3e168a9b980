"""The 25 drift metrics by name: what each is, which way it points, where it comes from, how a sample is measured.

To add one, write its function (lexical.py, structural.py, semantic.py) and enter it here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from phidrift.drift import lexical, perplexity, semantic, structural
from phidrift.drift.sampling import Ints, Sample

Family = Literal["lexical", "structural", "semantic"]
Kind = Literal["divergence", "similarity", "value"]
Need = Literal["tokens", "sentences", "lm_tokens"]
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
    own: Own | None = None
    between: Between | None = None

    @property
    def direction(self) -> str:
        """Which way the number points: `higher_is_more_drift` or `higher_is_more_alike`."""
        return HIGHER_IS_MORE_ALIKE if self.kind == "similarity" else HIGHER_IS_MORE_DRIFT


def _jsd(a: tuple[Ints, Ints], b: tuple[Ints, Ints], smoothing: float) -> float:
    union = np.union1d(a[0], b[0])
    p, q = np.zeros(len(union)), np.zeros(len(union))
    p[np.searchsorted(union, a[0])] = a[1]
    q[np.searchsorted(union, b[0])] = b[1]
    return lexical.jsd(p, q, smoothing)


def _share(part: str, whole: str) -> Own:
    return lambda sample: lexical.ratio(sample.totals[part], sample.totals[whole], f"no {whole}")


def _value(name: str, family: Family, unit: str, highest: float | None, source: str, own: Own) -> Metric:
    return Metric(name, family, "value", unit, (0, highest), source, "tokens", own=own)


def _semantic(name: str, unit: str, highest: float | None, source: str, between: Between) -> Metric:
    return Metric(name, "semantic", "divergence", unit, (0, highest), source, "sentences", between=between)


_STUDY = "the study, appendix on drift metrics"

_ALL = (
    Metric(
        "jsd_unigram", "lexical", "divergence", "bit", (0, 1), "Lin 1991", "tokens",
        between=lambda a, b: _jsd(a.unigrams, b.unigrams, a.corpus.settings.smoothing),
    ),
    Metric(
        "jsd_bigram", "lexical", "divergence", "bit", (0, 1), "Lin 1991", "tokens",
        between=lambda a, b: _jsd(a.bigrams, b.bigrams, a.corpus.settings.smoothing),
    ),
    Metric(
        "vocab_overlap", "lexical", "similarity", "share", (0, 1), "Jaccard 1912", "tokens",
        between=lambda a, b: lexical.vocab_overlap(a.unigrams[0].tolist(), b.unigrams[0].tolist()),
    ),
    _value("entropy_diff", "lexical", "nat", None, "Shannon 1948",
        lambda s: lexical.entropy(s.unigrams[1])),
    _value("mtld_diff", "lexical", "words", None, "McCarthy and Jarvis 2010",
        lambda s: lexical.mtld_from_factors(s.totals["words"], *s.factors)),
    _value("yules_k_diff", "lexical", "1e-4", 1e4, "Yule 1944",
        lambda s: lexical.yules_k(s.unigrams[1])),
    _value("distinct_1_diff", "lexical", "share", 1, "Li et al. 2016",
        lambda s: lexical.distinct_n(s.unigrams[1])),
    _value("distinct_2_diff", "lexical", "share", 1, "Li et al. 2016",
        lambda s: lexical.distinct_n(s.bigrams[1])),
    _value("self_repetition_diff", "lexical", "share", 1, "Salkar et al. 2022",
        lambda s: lexical.self_repetition(s.fourgrams[1])),
    _value("sentence_length_mean_diff", "lexical", "tokens", None, _STUDY,
        lambda s: lexical.sentence_length_mean(s.totals["tokens"], s.totals["sentences"])),
    _value("sentence_length_std_diff", "lexical", "tokens", None, _STUDY,
        lambda s: lexical.sentence_length_std(
            s.totals["squared_sentence_tokens"], s.totals["tokens"], s.totals["sentences"])),
    _value("punctuation_ratio_diff", "lexical", "share", 1, _STUDY, _share("punctuation_chunks", "chunks")),
    _value("digit_ratio_diff", "lexical", "share", 1, _STUDY, _share("digit_chunks", "chunks")),
    _value("capitalized_ratio_diff", "lexical", "share", 1, _STUDY, _share("capitalized_chunks", "chunks")),
    _value("readability_diff", "lexical", "grade", None, "Kincaid et al. 1975",
        lambda s: lexical.flesch_kincaid(
            s.totals["words"], s.totals["sentences"], s.totals["syllables"])),
    Metric(
        "perplexity_diff", "lexical", "value", "perplexity", (0, None), "Jelinek et al. 1977", "lm_tokens",
        own=lambda s: perplexity.perplexity(s.nll, s.size("lm_tokens")),
    ),
    _value("line_break_density_diff", "structural", "breaks per 100 tokens", None, _STUDY,
        lambda s: structural.line_break_density(s.totals["line_breaks"], s.totals["tokens"])),
    _value("key_value_ratio_diff", "structural", "share", 1, _STUDY, _share("key_value_sentences", "sentences")),
    _value("bullet_ratio_diff", "structural", "share", 1, _STUDY, _share("bullet_sentences", "sentences")),
    _value("all_caps_ratio_diff", "structural", "share", 1, _STUDY, _share("all_caps_tokens", "tokens")),
    _value("special_char_ratio_diff", "structural", "share", 1, _STUDY, _share("special_chunks", "chunks")),
    _semantic("mmd", "kernel distance", 2**0.5, "Gretton et al. 2012",
        lambda a, b: semantic.mmd(a.embeddings, b.embeddings)),
    _semantic("frechet", "squared embedding distance", None, "Dowson and Landau 1982; Heusel et al. 2017",
        lambda a, b: semantic.frechet_distance(a.embeddings, b.embeddings)),
    _semantic("embedding_mean_distance", "embedding distance", None, _STUDY,
        lambda a, b: semantic.embedding_mean_distance(a.embeddings, b.embeddings)),
    _semantic("cluster_jsd", "bit", 1, "Lin 1991; " + _STUDY,
        lambda a, b: semantic.cluster_jsd_given(a.corpus.centroids, a.embeddings, b.embeddings)),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
