"""Curation: what of all rounds is released, and what remains a candidate for the ablation set."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.core.text import words
from phidrift.generation.examples import under_cap
from phidrift.generation.pool import Sample, text_key
from phidrift.generation.rounds import negatives_of
from phidrift.generation.selection import minimum_score

_SHINGLE = 3  # words
_NEAR = 0.5  # share of all shingles of two texts that both hold: from there on they are near-duplicates


@dataclass(frozen=True)
class CurationSettings:
    """What is released: the judge's threshold, the cap of one entity string, negatives, test size in documents."""

    seed: int
    judge_threshold: float | str
    entity_string_cap: int
    negative_ratio: float
    test: int


@dataclass(frozen=True)
class Released:
    """Documents of one entity. Train and candidates hold nothing that is a (near-)duplicate of a test document.

    Train's order is seeded, and its negative share holds in every prefix: a smaller set is a prefix of a larger.
    """

    candidates: tuple[Document, ...]
    train: tuple[Document, ...]
    test: tuple[Document, ...]


def curate_entity(samples: Sequence[Sample], entity: str, settings: CurationSettings) -> Released:
    """Splits an entity's samples of all rounds.

    The test split is the documents of lowest seeded hash of their text among those that pass: it keeps most of its
    documents as the pool grows, and all of them where the new ones hash higher.

    Raises:
        PhidriftError: too few samples pass for the test split and at least one training document of each kind.
    """
    order = _seeded_order(settings.seed)
    usable = sorted(_distinct(s for s in samples if s.entity == entity and s.score is not None), key=order)
    least = minimum_score(settings.judge_threshold, [s.score for s in usable if s.score is not None])
    passing = under_cap(
        (s for s in usable if s.score is not None and s.score >= least), settings.entity_string_cap
    )
    test = _test_split(passing, entity, settings)
    is_related = relation_to([sample.text for sample in test])
    chosen = {sample.id for sample in test}
    rest = [s for s in usable if s.id not in chosen and not is_related(s.text)]
    free = {sample.id for sample in rest}
    train = list(_interleave([s for s in passing if s.id in free], settings.negative_ratio))
    wanted = (
        {True} if settings.negative_ratio == 0 else {False} if settings.negative_ratio == 1 else {True, False}
    )
    if {sample.positive for sample in train} != wanted:
        raise _shortage(entity, passing, settings, "none is left to train on")
    return Released(
        tuple(_document(s, "candidate") for s in rest),
        tuple(_document(s, "train") for s in train),
        tuple(_document(s, "test") for s in test),
    )


def relation_to(texts: Sequence[str]) -> Callable[[str], bool]:
    """A test whether a text is the same as one of `texts`, or near it.

    Near: the Jaccard similarity of their sets of word trigrams is at least 0.5 (Broder 1997). A text of less than
    three words is compared whole.
    """
    shingled = [_shingles(text) for text in texts]
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, shingles in enumerate(shingled):
        for shingle in shingles:
            holders[shingle].append(number)

    def is_related(text: str) -> bool:
        own = _shingles(text)
        common = Counter(number for shingle in own for number in holders.get(shingle, ()))
        return any(
            count / (len(own) + len(shingled[number]) - count) >= _NEAR for number, count in common.items()
        )

    return is_related


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    found = words(text)
    if len(found) < _SHINGLE:
        return frozenset([tuple(found)])
    return frozenset(tuple(found[i : i + _SHINGLE]) for i in range(len(found) - _SHINGLE + 1))


def _seeded_order(seed: int) -> Callable[[Sample], tuple[str, str]]:
    def order(sample: Sample) -> tuple[str, str]:
        return hashlib.sha256(f"{seed} {text_key(sample.text)}".encode()).hexdigest(), sample.id

    return order


def _distinct(samples: Iterable[Sample]) -> Iterator[Sample]:
    """The first of each text."""
    seen = set()
    for sample in samples:
        key = text_key(sample.text)
        if key not in seen:
            seen.add(key)
            yield sample


def _test_split(passing: Sequence[Sample], entity: str, settings: CurationSettings) -> list[Sample]:
    negatives = negatives_of(settings.test, settings.negative_ratio)
    wanted = {True: settings.test - negatives, False: negatives}
    test = []
    for sample in passing:
        if wanted[sample.positive]:
            wanted[sample.positive] -= 1
            test.append(sample)
    if any(wanted.values()):
        raise _shortage(entity, passing, settings, "the test split alone needs more")
    return test


def _interleave(samples: Sequence[Sample], ratio: float) -> Iterator[Sample]:
    """Samples in their order, positives and negatives mixed so that every prefix has the negative share.

    Ends where the kind whose turn it is has run out.
    """
    waiting = {kind: iter([s for s in samples if s.positive == kind]) for kind in (True, False)}
    count = 0
    while True:
        count += 1
        turn_of_negative = negatives_of(count, ratio) > negatives_of(count - 1, ratio)
        sample = next(waiting[not turn_of_negative], None)
        if sample is None:
            return
        yield sample


def _shortage(
    entity: str, passing: Sequence[Sample], settings: CurationSettings, problem: str
) -> PhidriftError:
    positives = sum(sample.positive for sample in passing)
    return PhidriftError(
        f"{entity}: {positives} samples with the entity and {len(passing) - positives} without pass curation, "
        f"{problem} ({settings.test} documents, negative share {settings.negative_ratio})",
        where="curation",
        mend="raise generation.samples_per_round or add a round; or lower curation.judge_threshold or curation.test",
    )


def _document(sample: Sample, split: str) -> Document:
    meta = {
        "corpus": "syn",
        "split": split,
        "group": sample.id,
        "stand_in": False,
        "restricted": False,
        "sample_id": sample.id,
        "generator": sample.generator,
        "round": sample.round,
        "score": sample.score,
    }
    return Document(sample.id, sample.text, sample.spans, meta)
