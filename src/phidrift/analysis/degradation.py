"""What training elsewhere costs: two outcomes for every trained set, target corpus and entity."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from phidrift.analysis.scores import ABLATION, Score


@dataclass(frozen=True, slots=True)
class Outcome:
    """A score with what it falls short of, both in F1 (higher = worse); None carries a reason.

    `d_f1` = best F1 of any set of a real source on the target, less this F1: 0 for the best of them, negative
    where a set beats them all. `drop` = F1 on the source's own test corpus, less this F1: 0 on that corpus.
    """

    score: Score
    d_f1: float | None
    d_f1_reason: str | None
    drop: float | None
    drop_reason: str | None


def degradation(scores: Iterable[Score], real_sources: Collection[str]) -> list[Outcome]:
    """Adds d_f1 and drop to every score, in the order given.

    `real_sources` are the corpora whose sets may be the best; a synthetic source and the ablation set may
    not, whatever their F1. After Cornelius and Rinaldi (2026), who call d_f1 Delta F1.

    >>> def s(name, source, f1):
    ...     return Score(name, source, 100, "DATE", "notes", f1, None, None, 9, False, True, None)
    >>> [o.d_f1 for o in degradation([s("a-1", "a", 0.75), s("syn-1", "syn", 0.5)], {"a"})]
    [0.0, 0.25]
    """
    scores = list(scores)
    best: dict[tuple[str, str], float] = {}
    for score in scores:
        if score.f1 is None or score.source not in real_sources or score.set == ABLATION:
            continue
        place = (score.entity, score.target)
        best[place] = max(score.f1, best.get(place, score.f1))
    own = {(score.set, score.entity): score for score in scores if score.target == score.source}
    return [
        Outcome(score, *_d_f1(score, best.get((score.entity, score.target))), *_drop(score, own))
        for score in scores
    ]


def _d_f1(score: Score, best: float | None) -> tuple[float | None, str | None]:
    if score.f1 is None:
        return None, score.reason
    if best is None:
        return None, "no set of a real source has an F1 on this target"
    return best - score.f1, None


def _drop(score: Score, own: dict[tuple[str, str], Score]) -> tuple[float | None, str | None]:
    if score.f1 is None:
        return None, score.reason
    home = own.get((score.set, score.entity))
    if home is None:
        return None, "the set has no test corpus of its own"
    if home.f1 is None:
        return None, f"no F1 on its own test corpus: {home.reason}"
    return home.f1 - score.f1, None
