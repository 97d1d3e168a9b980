"""Which samples of earlier rounds are shown as examples."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence

from phidrift.generation.pool import Sample
from phidrift.generation.selection import minimum_score


def under_cap(samples: Iterable[Sample], cap: int) -> list[Sample]:
    """The samples, in order, without those that would bring an entity string to more than `cap` occurrences."""
    seen: Counter[str] = Counter()
    kept = []
    for sample in samples:
        own = Counter(sample.entity_strings)
        if all(seen[string] + count <= cap for string, count in own.items()):
            seen.update(own)
            kept.append(sample)
    return kept


def example_pool(
    samples: Sequence[Sample], entity: str, positive: bool, threshold: float | str, cap: int
) -> list[Sample]:
    """Well-judged samples of one entity and one polarity, under the cap, in the order in which they came.

    A quantile is taken over all judged samples of that entity and polarity.
    """
    judged = [s for s in samples if s.entity == entity and s.positive == positive and s.score is not None]
    if not judged:
        return []
    least = minimum_score(threshold, [s.score for s in judged if s.score is not None])
    return under_cap((s for s in judged if s.score is not None and s.score >= least), cap)


def draw_examples(pool: Sequence[Sample], count: int, seed: str) -> list[Sample]:
    """`count` of the pool at random, or all where it holds fewer."""
    return random.Random(seed).sample(list(pool), min(count, len(pool)))
