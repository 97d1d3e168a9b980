"""What is measured beside the 25 metrics, and marked as such: it is no part of the study and of no correlation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from phidrift.core.document import Document
from phidrift.drift.entities import EntityDrift, entity_drift, size_matched
from phidrift.drift.frontier import frontier
from phidrift.drift.permutation import mmd_permutation_p
from phidrift.drift.profile import Profile
from phidrift.drift.sampling import Settings
from phidrift.drift.two_sample import MarkedText, TwoSample, classifier_two_sample
from phidrift.drift.undefined import Undefined

_FRONTIER_CLUSTERS = 50
PERMUTATIONS = 999


@dataclass(frozen=True)
class Extras:
    """Extras of two corpora; what does not exist is None, with the reason under its name.

    Attributes:
        frontier: divergence frontier score of the sentence embeddings (`frontier`): higher is more alike.
        mmd_p: permutation p of the maximum mean discrepancy (`mmd_permutation_p`).
        classifier: how well a classifier tells the documents apart (`classifier_two_sample`).
        entities: entity -> drift of its mentions at one size (`entity_drift`); None unless both corpora have labels.
        reasons: name of an attribute that is None -> why.
    """

    frontier: float | None
    mmd_p: float | None
    classifier: TwoSample | None
    entities: Mapping[str, EntityDrift] | None
    reasons: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def measure_extras(
    reference: Sequence[Document],
    candidate: Sequence[Document],
    profiles: tuple[Profile, Profile],
    settings: Settings,
) -> Extras:
    """The extras of two corpora, given as documents and as their profiles."""
    reasons: dict[str, str] = {}

    def attempt(name: str, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except Undefined as error:
            reasons[name] = error.reason
            return None

    first, second = profiles
    seeds = settings.cluster_seeds
    return Extras(
        frontier=attempt(
            "frontier", lambda: frontier(_embeddings(first), _embeddings(second), _FRONTIER_CLUSTERS, seeds)
        ),
        mmd_p=attempt("mmd_p", lambda: _permutation_p(first, second, settings.seed)),
        classifier=attempt(
            "classifier",
            lambda: classifier_two_sample(_marked(reference), _marked(candidate), seed=settings.seed),
        ),
        entities=attempt("entities", lambda: _entities(reference, candidate, settings.seed)),
        reasons=reasons,
    )


def _embeddings(profile: Profile) -> Any:
    if profile.encoder is None:
        raise Undefined("no sentence embeddings")
    if not np.isfinite(profile.embeddings).all():
        raise Undefined("an embedding is NaN or infinite")
    return profile.embeddings


def _permutation_p(first: Profile, second: Profile, seed: int) -> float:
    groups_x, groups_y = first.sentence_documents.tolist(), second.sentence_documents.tolist()
    return mmd_permutation_p(_embeddings(first), _embeddings(second), groups_x, groups_y, PERMUTATIONS, seed)


def _marked(documents: Iterable[Document]) -> list[MarkedText]:
    return [
        MarkedText(
            document.text,
            None if document.spans is None else tuple((span.start, span.end) for span in document.spans),
        )
        for document in documents
    ]


def _entities(
    reference: Sequence[Document], candidate: Sequence[Document], seed: int
) -> dict[str, EntityDrift]:
    for name, documents in (("reference", reference), ("candidate", candidate)):
        if all(document.spans is None for document in documents):
            raise Undefined(f"the {name} has no labels")
    return entity_drift(*size_matched(reference, candidate, seed))
