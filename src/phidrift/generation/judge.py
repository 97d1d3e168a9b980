"""The judge: a language model's expected rating of a sample, criterion by criterion.

A small model that is asked for a digit nearly always gives the same one, whatever it reads; the expectation of
the digit over its whole distribution still ranks samples (Liu et al. 2023, G-Eval). All criteria of a sample go on from
one computed prefix: the instruction, then the sample, then a question each.
"""

from collections.abc import Sequence
from statistics import fmean

from phidrift.generation.answers import AnswerStore, in_batches
from phidrift.generation.engine import Engine, digest


def judge_samples(
    engine: Engine,
    store: AnswerStore,
    texts: Sequence[str],
    head: str,
    questions: Sequence[str],
    batch_size: int,
    title: str,
) -> list[list[float]]:
    """[texts, questions] expected ratings, each in 1 (worst) to 5 (best): sum of k p(k), p over the digits alone."""
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i], i))
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]

    def compute(batch: Sequence[int]) -> list[list[float]]:
        return engine.digit_scores(head, [texts[i] for i in batch], questions)

    def key(batch: Sequence[int]) -> str:
        return digest("judge", engine.identity, head, list(questions), [texts[i] for i in batch])

    return in_batches(store, batches, key, compute, title)


def overall(scores: Sequence[float]) -> float:
    """A sample's score: the mean over the criteria.

    >>> overall([2.0, 3.0, 4.0, 3.0])
    3.0
    """
    return fmean(scores)
