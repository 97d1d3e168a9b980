"""All that the taggers of a folder score on one labelled corpus: what a hospital asks of its own notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.document import ENTITIES, Document
from phidrift.core.errors import PhidriftError
from phidrift.tagging import scores
from phidrift.tagging.evaluate import Advance, entity_scores, predicted_bounds
from phidrift.tagging.intervals import without_width
from phidrift.tagging.lenient import Offsets, token_offsets
from phidrift.tagging.miss_rates import NO_RESAMPLES, miss_rates, missed_tokens
from phidrift.tagging.model_folders import EntityTaggers
from phidrift.tagging.unseen import folded, gold_strings

Predictions = Mapping[str, Mapping[str, Sequence[scores.Bounds]]]
NOTHING = "(marks nothing)"  # the name of a run without a checkpoint
_BY_MAKING = "no interval: without a checkpoint nothing is marked, which is no matter of chance"


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are found: `resamples` of the bootstrap (0: none), and its seed."""

    resamples: int
    seed: int


def check_labelled(documents: Sequence[Document], place: Path) -> None:
    """
    Raises:
        PhidriftError: some documents are unlabelled; says how many.
    """
    unlabelled = sum(document.spans is None for document in documents)
    if unlabelled:
        mend = "label them, or take them out: a missed span can't be told from one that isn't there"
        raise PhidriftError(
            f"{unlabelled} of {len(documents)} documents have no labels", where=place, mend=mend
        )


def predict_corpus(
    taggers: Mapping[str, EntityTaggers], documents: Sequence[Document], advance: Advance | None = None
) -> Predictions:
    """{entity: {run: [documents] predicted bounds}}; an entity without a checkpoint has one run that marks nothing."""
    texts = [document.text for document in documents]
    found = {}
    for entity, of in taggers.items():
        checkpoints: Mapping[str, Path | None] = of.checkpoints or {NOTHING: None}
        (runs,) = predicted_bounds(list(checkpoints.values()), [texts], advance)
        found[entity] = dict(zip(checkpoints, runs, strict=True))
    return found


def corpus_scores(
    documents: Sequence[Document],
    predictions: Predictions,
    resampling: Resampling,
    learnt: Sequence[Document] | None = None,
) -> dict[str, Any]:
    """The scores of each entity and of all four together, as plain data without any text.

    `entities` holds for each entity the values of `evaluate.entity_scores`, those of each run, and `missed`, of
    `miss_rates.miss_rates`. `precision_interval`, `recall_interval` and `f1_interval` say how an interval was found: by
    bootstrap, or by what `intervals.without_width` has for a score of 0 or 1, over the units that hold a span.
    An entity without a checkpoint has no interval: what it misses is no matter of chance.
    `together` is `missed` over all four: a token is found if any tagger marks it, and the PHI of entities without a
    tagger (`not_covered`) counts as not found. Where documents share `meta.group` (a patient's, say), groups are
    resampled, since such documents are alike; `resampled` says what was.

    Args:
        documents: labelled.
        predictions: of `predict_corpus`.
        resampling: see there.
        learnt: the documents that the taggers were trained on; None if not at hand.

    Raises:
        PhidriftError: a document is unlabelled.
    """
    groups, resampled = _units(documents)
    tokens = [token_offsets(document.text) for document in documents]
    return {
        "documents": len(documents),
        "resampled": {**resampled, "resamples": resampling.resamples, "seed": resampling.seed},
        "training": None if learnt is None else _shared_with_training(documents, learnt),
        "entities": {
            entity: _entity(documents, entity, runs, tokens, groups, resampling, learnt)
            for entity, runs in predictions.items()
        },
        "not_covered": [entity for entity in ENTITIES if entity not in predictions],
        "together": _together(documents, predictions, tokens, groups, resampling),
    }


def _entity(
    documents: Sequence[Document],
    entity: str,
    runs: Mapping[str, Sequence[scores.Bounds]],
    tokens: Sequence[Offsets],
    groups: Sequence[str],
    resampling: Resampling,
    learnt: Sequence[Document] | None,
) -> dict[str, Any]:
    values, of_runs = entity_scores(
        documents,
        entity,
        list(runs.values()),
        resamples=resampling.resamples,
        seed=resampling.seed,
        groups=groups,
        known=None if learnt is None else gold_strings(learnt, entity),
    )
    gold = [scores.bounds(document.entity_spans(entity)) for document in documents]
    said = [frozenset().union(*spans) for spans in zip(*runs.values(), strict=True)]
    of_gold, of_said = (
        len({group for group, spans in zip(groups, side, strict=True) if spans}) for side in (gold, said)
    )
    for name, units in (("precision", of_said), ("recall", of_gold), ("f1", of_gold)):
        values[f"{name}_interval"] = None if values[f"{name}_low"] is None else "bootstrap"
        found = None if values[name] is None else without_width(values[name], units)
        if found is not None:
            (values[f"{name}_low"], values[f"{name}_high"]), values[f"{name}_interval"] = found
    missed = miss_rates(
        [_missed(tokens, gold, run) for run in runs.values()],
        groups,
        resamples=resampling.resamples,
        seed=resampling.seed,
    )
    if NOTHING in runs:
        values = _without_intervals(values, [f"{name}_" for name in ("precision", "recall", "f1")])
        missed = _without_intervals(missed, [""])
    return {
        **values,
        "runs": [{"name": name, **found} for name, found in zip(runs, of_runs, strict=True)],
        "missed": missed,
    }


def _without_intervals(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The values with null for the intervals that begin so, and the reason."""
    ends = [f"{name}{end}" for name in names for end in ("low", "high", "interval")]
    if all(values[end] is None for end in ends) and not values.get("reason", "").endswith(NO_RESAMPLES):
        return dict(values)
    others = [each for each in values.get("reason", "").split("; ") if each and each != NO_RESAMPLES]
    return {**values, **dict.fromkeys(ends), "reason": "; ".join([*others, _BY_MAKING])}


def _together(
    documents: Sequence[Document],
    predictions: Predictions,
    tokens: Sequence[Offsets],
    groups: Sequence[str],
    resampling: Resampling,
) -> dict[str, Any]:
    """`miss_rates` over all entities: run by run, where all entities have as many."""
    several = {len(runs) for runs in predictions.values() if NOTHING not in runs} or {1}
    if len(several) > 1:
        return {"share": None, "reason": "the entities have different numbers of taggers"}
    (count,) = several
    gold = [scores.bounds(document.spans or ()) for document in documents]
    missed = []
    for number in range(count):
        chosen = [list(runs.values())[min(number, len(runs) - 1)] for runs in predictions.values()]
        said = [frozenset().union(*spans) for spans in zip(*chosen, strict=True)]
        missed.append(_missed(tokens, gold, said))
    rates = miss_rates(missed, groups, resamples=resampling.resamples, seed=resampling.seed)
    return _without_intervals(rates, [""]) if all(NOTHING in runs for runs in predictions.values()) else rates


def _missed(
    tokens: Sequence[Offsets], gold: Sequence[scores.Bounds], predicted: Sequence[scores.Bounds]
) -> list[tuple[int, int]]:
    return [missed_tokens(*each) for each in zip(tokens, gold, predicted, strict=True)]


def _units(documents: Sequence[Document]) -> tuple[list[str], dict[str, Any]]:
    """(what each document is resampled with, and what that is in words)."""
    own = [str(number) for number in range(len(documents))]
    stated = [document.meta.get("group") for document in documents]
    # A document without a group stands alone.
    groups = [
        f"own {alone}" if group is None else f"group {group}"
        for alone, group in zip(own, stated, strict=True)
    ]
    count = len(set(groups))
    if count == len(documents):
        return own, {"unit": "documents", "units": len(documents)}
    if count == 1:
        note = (
            "all documents are of one group: documents were resampled, so that the intervals are too narrow"
        )
        return own, {"unit": "documents", "units": len(documents), "note": note}
    return groups, {"unit": "groups", "units": count}


def _shared_with_training(documents: Sequence[Document], learnt: Sequence[Document]) -> dict[str, int]:
    """How many of the documents stand in the training corpus too, by their text or by their group."""
    texts = {folded(document.text) for document in learnt}
    groups = set(map(_stated_group, learnt)) - {None}
    return {
        "documents": len(learnt),
        "texts_in_test": sum(folded(document.text) in texts for document in documents),
        "groups_in_test": sum(_stated_group(document) in groups for document in documents),
    }


def _stated_group(document: Document) -> str | None:
    """Its group, unless that is the document's own id, which readers give to one that belongs with no other."""
    group = document.meta.get("group")
    return None if group is None or group == document.id else str(group)
