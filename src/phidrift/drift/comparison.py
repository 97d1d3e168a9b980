"""Comparing corpora: size-matched values, their spread over subsamples, and the noise floors that say what is clear."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from phidrift.drift.embedding import Precision, load_encoder
from phidrift.drift.perplexity import load_scorer
from phidrift.drift.profile import Profile, profile
from phidrift.drift.registry import METRICS, Metric
from phidrift.drift.sampling import (
    NEEDS,
    Corpus,
    Sample,
    Settings,
    draw,
    draw_disjoint,
    full_sample,
    sample_sizes,
    share_vocabulary,
)
from phidrift.drift.undefined import Undefined

_INTERVAL = (0.025, 0.975)
_FLOOR_LEVEL = 0.95

T = TypeVar("T")
# What was measured, or why it could not be.
Number = float | Undefined
Numbers = list[float] | Undefined
Samples = list[Sample] | Undefined
Pairs = list[tuple[Sample, Sample]] | Undefined


@dataclass(frozen=True)
class Comparison:
    """One metric between a reference and a candidate; a number that does not exist is None, with a reason.

    Attributes:
        metric: name in `METRICS`.
        family: of the metric.
        direction: `higher_is_more_drift` or `higher_is_more_alike`.
        value: mean over size-matched samples.
        low: 2.5th percentile over these samples: an interval over subsamples, not over populations.
        high: 97.5th percentile.
        floor: what two disjoint samples of one corpus differ by: the 95th percentile (5th of a similarity), of
            the reference or of the candidate, whichever is worse.
        clear: whether the value lies beyond the floor.
        value_full: unmatched, on all that was measured, as in the study: it mixes drift with size.
        reference: the reference's own number on all that was measured, for value-style metrics; |reference -
            candidate| is value_full.
        candidate: likewise.
        reason: why something is None; None if nothing is, save `reference` and `candidate` of two-corpus metrics.
    """

    metric: str
    family: str
    direction: str
    value: float | None
    low: float | None
    high: float | None
    floor: float | None
    clear: bool | None
    value_full: float | None
    reference: float | None
    candidate: float | None
    reason: str | None


@dataclass(frozen=True)
class Measured:
    """All of a corpus that comparisons share: its samples, its own numbers, its noise floors."""

    full: Mapping[str, Samples]  # need -> the one sample of all that was measured
    matched: Mapping[str, Samples]  # need -> samples of the analysis' size
    own_full: Mapping[str, Numbers]  # metric of kind value -> its number on `full`
    own_matched: Mapping[str, Numbers]  # likewise on each of `matched`
    floors: Mapping[str, Number]  # metric -> its noise floor within this corpus


def measure(corpus: Corpus, sizes: Mapping[str, int]) -> Measured:
    """Draws and measures the samples of a corpus, at the sizes of `sample_sizes`."""
    settings = corpus.settings
    repeats, floor_pairs = range(settings.repeats), range(settings.floor_pairs)

    def matched(need: str) -> list[Sample]:
        return [draw(corpus, need, sizes[need], number) for number in repeats]

    def disjoint(need: str) -> list[tuple[Sample, Sample]]:
        return [draw_disjoint(corpus, need, sizes[need], number) for number in floor_pairs]

    all_full: dict[str, Samples] = {n: _attempt(lambda need: [full_sample(corpus, need)], n) for n in NEEDS}
    all_matched: dict[str, Samples] = {n: _attempt(matched, n) for n in NEEDS}
    all_pairs: dict[str, Pairs] = {n: _attempt(disjoint, n) for n in NEEDS}
    values = [metric for metric in METRICS.values() if metric.own]
    return Measured(
        full=all_full,
        matched=all_matched,
        own_full={metric.name: _own(metric, all_full[metric.needs]) for metric in values},
        own_matched={metric.name: _own(metric, all_matched[metric.needs]) for metric in values},
        floors={metric.name: _floor(metric, all_pairs[metric.needs]) for metric in METRICS.values()},
    )


def _attempt(function: Callable[[str], T], need: str) -> T | Undefined:
    try:
        return function(need)
    except Undefined as error:
        return error


def _own(metric: Metric, samples: Samples) -> Numbers:
    if isinstance(samples, Undefined):
        return samples
    assert metric.own is not None
    try:
        return [metric.own(sample) for sample in samples]
    except Undefined as error:
        return error


def _between(metric: Metric, references: Samples, candidates: Samples) -> Numbers:
    for samples in (references, candidates):
        if isinstance(samples, Undefined):
            return samples
    assert metric.between is not None
    assert isinstance(references, list)
    assert isinstance(candidates, list)
    try:
        return [metric.between(a, b) for a, b in zip(references, candidates, strict=True)]
    except Undefined as error:
        return error


def _floor(metric: Metric, pairs: Pairs) -> Number:
    """What disjoint samples of one corpus differ by: the end of the range that looks most like drift."""
    if isinstance(pairs, Undefined):
        return pairs
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    apart = _differences(_own(metric, first), _own(metric, second)) if metric.own else None
    numbers = apart if apart is not None else _between(metric, first, second)
    if isinstance(numbers, Undefined):
        return numbers
    level = 1 - _FLOOR_LEVEL if metric.kind == "similarity" else _FLOOR_LEVEL
    return float(np.quantile(numbers, level))


def _differences(a: Numbers, b: Numbers) -> Numbers:
    if isinstance(a, Undefined):
        return a
    if isinstance(b, Undefined):
        return b
    return [abs(x - y) for x, y in zip(a, b, strict=True)]


def compare_measured(reference: Measured, candidate: Measured) -> list[Comparison]:
    """All metrics between a reference (the test corpus) and a candidate measured at the same sizes."""
    return [_compare(metric, reference, candidate) for metric in METRICS.values()]


def _compare(metric: Metric, reference: Measured, candidate: Measured) -> Comparison:
    name, need = metric.name, metric.needs
    if metric.own:
        numbers = _differences(reference.own_matched[name], candidate.own_matched[name])
        full = _differences(reference.own_full[name], candidate.own_full[name])
        own = (_first(reference.own_full[name]), _first(candidate.own_full[name]))
    else:
        numbers = _between(metric, reference.matched[need], candidate.matched[need])
        full = _between(metric, reference.full[need], candidate.full[need])
        own = (None, None)
    sides = (("reference", reference.floors[name]), ("candidate", candidate.floors[name]))
    problems = [str(each) for each in (full, numbers) if isinstance(each, Undefined)]
    problems += [
        f"no floor of the {side}: {each}"
        for side, each in sides
        if isinstance(each, Undefined) and str(each) not in problems
    ]
    floors = [each for _, each in sides if not isinstance(each, Undefined)]
    similar = metric.kind == "similarity"
    floor = (min(floors) if similar else max(floors)) if len(floors) == 2 else None
    value = low = high = clear = None
    if not isinstance(numbers, Undefined):
        value = float(np.mean(numbers))
        low, high = (float(x) for x in np.quantile(numbers, _INTERVAL))
        if floor is not None:
            clear = value < floor if similar else value > floor
    return Comparison(
        metric=name,
        family=metric.family,
        direction=metric.direction,
        value=value,
        low=low,
        high=high,
        floor=floor,
        clear=clear,
        value_full=_first(full),
        reference=own[0],
        candidate=own[1],
        reason="; ".join(dict.fromkeys(problems)) or None,
    )


def _first(numbers: Numbers) -> float | None:
    return None if isinstance(numbers, Undefined) else numbers[0]


@dataclass(frozen=True)
class Drift:
    """All metrics between two corpora, and what they were measured on.

    Attributes:
        metrics: name -> comparison, in the order of the registry.
        sample: size of the samples in tokens, sentences and lm_tokens (None: none could be drawn), `repeats`,
            `floor_pairs`, `seed`, and for `reference` and `candidate` their documents, their whole size in each of
            these units, and the mean size of their samples (`drawn`), which hold whole documents, and how many
            (`drawn_documents`).
    """

    metrics: Mapping[str, Comparison]
    sample: Mapping[str, Any]


def compare_profiles(reference: Profile, candidate: Profile, settings: Settings | None = None) -> Drift:
    """All metrics between two profiles; the reference is the test corpus.

    Samples are at most half as large as the smaller corpus, so that both have a noise floor.
    """
    corpora = share_vocabulary([reference, candidate], settings or Settings())
    settings = corpora[0].settings
    sizes = sample_sizes(corpora, corpora, settings)
    measured = [measure(corpus, sizes) for corpus in corpora]
    comparisons = compare_measured(measured[0], measured[1])
    sample: dict[str, Any] = {need: size or None for need, size in sizes.items()}
    sample |= {name: getattr(settings, name) for name in ("repeats", "floor_pairs", "seed")}
    for side, corpus, found in zip(("reference", "candidate"), corpora, measured, strict=True):
        whole = {need: int(of_documents.sum()) for need, of_documents in corpus.sizes.items()}
        documents = len(corpus.profile.hashes)
        sample[side] = {
            "documents": documents,
            **whole,
            "drawn": drawn_sizes(found),
            "drawn_documents": _drawn(found),
        }
    return Drift({each.metric: each for each in comparisons}, sample)


def _drawn(measured: Measured) -> dict[str, float | None]:
    """Mean number of documents in a corpus' samples, likewise."""
    return {
        need: None if isinstance(samples, Undefined) else float(np.mean([len(s.documents) for s in samples]))
        for need, samples in measured.matched.items()
    }


def drawn_sizes(measured: Measured) -> dict[str, float | None]:
    """Mean size of a corpus' samples in each of `NEEDS`; None where none could be drawn."""
    return {
        need: None if isinstance(samples, Undefined) else float(np.mean([s.size(need) for s in samples]))
        for need, samples in measured.matched.items()
    }


def compare(
    reference: Iterable[str],
    candidate: Iterable[str],
    *,
    encoder: str | None = None,
    lm: str | None = None,
    sentences: int = 600,
    lm_tokens: int = 6_000,
    dtype: Precision = "float32",
    settings: Settings | None = None,
) -> Drift:
    """All 25 metrics between two collections of texts.

    Args:
        reference: the texts to judge by: the test corpus.
        candidate: the texts whose drift from it is measured.
        encoder: sentence-transformers model; None skips the semantic metrics (None, with the reason).
        lm: causal language model; None skips perplexity likewise.
        sentences: sentences a corpus to embed, at most.
        lm_tokens: model tokens a corpus after which no further document is scored.
        dtype: what the encoder computes in, see `load_encoder`.
        settings: samples, floors, clusters; None: the defaults of `Settings`.
    """
    if isinstance(reference, str) or isinstance(candidate, str):
        raise TypeError("a corpus is a collection of texts, not one text")
    encode = load_encoder(encoder, dtype=dtype) if encoder else None
    score = load_scorer(lm) if lm else None
    first, second = (
        profile(
            texts,
            encode=encode,
            score=score,
            encoder=encoder,
            lm=lm,
            sentences=sentences,
            lm_tokens=lm_tokens,
        )
        for texts in (reference, candidate)
    )
    return compare_profiles(first, second, settings)
