"""Which judge score is good enough: a number, or a quantile of the scores at hand."""

from collections.abc import Sequence

from phidrift.core.errors import PhidriftError


def minimum_score(threshold: float | str, scores: Sequence[float]) -> float:
    """The least score that passes.

    A number is itself. "q0.5" is that quantile of `scores`, linear between ranks (Hyndman and Fan 1996, type 7);
    "q0" is their minimum, so that all pass.

    >>> minimum_score(3.0, [1.0, 2.0])
    3.0
    >>> minimum_score("q0.5", [4.0, 1.0, 2.0, 3.0])
    2.5

    Raises:
        PhidriftError: a quantile of no scores, or a text that names no quantile.
    """
    if not isinstance(threshold, str):
        return float(threshold)
    try:
        share = float(threshold.removeprefix("q"))
    except ValueError:
        share = -1.0
    if not threshold.startswith("q") or not 0 <= share <= 1:
        raise PhidriftError(
            f"threshold {threshold!r}", mend="use a score from 1 to 5, or a quantile such as q0.5"
        )
    if not scores:
        raise PhidriftError(
            f"threshold {threshold!r} is a quantile, but there are no scores to take it of",
            mend="generate more samples, or use a score from 1 to 5",
        )
    ranked = sorted(float(score) for score in scores)
    position = share * (len(ranked) - 1)
    below = int(position)
    if below == len(ranked) - 1:
        return ranked[-1]
    return ranked[below] + (position - below) * (ranked[below + 1] - ranked[below])
