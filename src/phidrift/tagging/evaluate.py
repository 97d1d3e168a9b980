"""Scores of all taggers of a training set on every target corpus."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.tagging import scores
from phidrift.tagging.checkpoints import read_training
from phidrift.tagging.intervals import bootstrap, by_group
from phidrift.tagging.lenient import overlap_scores, token_offsets, token_scores
from phidrift.tagging.predict import load_tagger, predict_spans
from phidrift.tagging.unseen import gold_strings, recall_by_familiarity

CSV_COLUMNS = (
    *("entity", "target", "f1", "f1_low", "f1_high", "support", "in_distribution"),
    *("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high"),
    *("token_f1", "overlap_f1", "seen_recall", "unseen_recall"),
)
_STRICT = ("precision", "recall", "f1")

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Target:
    """Test documents of a corpus. Synthetic ones are written for one entity: there, each entity has its own."""

    corpus: str
    documents: Mapping[str, Sequence[Document]]  # by entity


def evaluate_set(
    models: Path,
    targets: Sequence[Target],
    entities: Sequence[str],
    *,
    resamples: int,
    seed: int,
    learnt: Mapping[str, Sequence[Document]] | None = None,
    advance: Advance | None = None,
) -> dict[str, Any]:
    """What metrics/tagging/SET.json says: the values of `entity_scores` by entity and target.

    With several taggers or seeds, `runs` lists the F1 of each. `in_distribution`: the target's corpus gave a training
    document. `trained` is false for the tagger that marks nothing.

    Args:
        models: models/SET, with a folder for each entity.
        targets: what to test on.
        entities: which taggers.
        resamples: of the bootstrap; 0 for no interval.
        seed: of the bootstrap.
        learnt: the training documents of each entity, to tell seen strings from unseen ones; None if not at hand.
        advance: called with the number of documents done by one tagger (see `workload`).

    Raises:
        PhidriftError: a checkpoint is missing, or a test document is unlabelled.
    """
    result: dict[str, Any] = {}
    head: dict[str, Any] = {}
    for entity in entities:
        folder = models / entity
        training = read_training(folder)
        head = {name: training[name] for name in ("set", "source", "size")}
        checkpoints = [
            folder / f"{run['tagger']}-{run['seed']}" if training["trained"] else None
            for run in training["taggers"]
        ]
        texts = [[document.text for document in target.documents[entity]] for target in targets]
        known = None if learnt is None else gold_strings(learnt[entity], entity)
        result[entity] = {}
        for target, predicted in zip(targets, predicted_bounds(checkpoints, texts, advance), strict=True):
            values, runs = entity_scores(
                target.documents[entity], entity, predicted, resamples=resamples, seed=seed, known=known
            )
            if training["reason"]:
                values["reason"] = "; ".join(filter(None, (training["reason"], values.get("reason"))))
            result[entity][target.corpus] = {
                **values,
                "runs": [
                    {"tagger": run["tagger"], "seed": run["seed"], "f1": found["f1"]}
                    for run, found in zip(training["taggers"], runs, strict=True)
                ],
                "in_distribution": training["sources"].get(target.corpus, 0) > 0,
                "trained": training["trained"],
            }
    return {**head, "entities": result}


def workload(models: Path, targets: Sequence[Target], entities: Sequence[str]) -> int:
    """Documents that all taggers together will read."""
    return sum(
        len(read_training(models / entity)["taggers"])
        * sum(len(target.documents[entity]) for target in targets)
        for entity in entities
    )


def csv_rows(evaluation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of CSV_COLUMNS, one an entity and target."""
    return [
        {
            "entity": entity,
            "target": target,
            **values,
            **{f"{part}_recall": values[part]["recall"] for part in ("seen", "unseen")},
        }
        for entity, by_target in evaluation["entities"].items()
        for target, values in by_target.items()
    ]


def predicted_bounds(
    checkpoints: Sequence[Path | None], corpora: Sequence[Sequence[str]], advance: Advance | None = None
) -> list[list[list[scores.Bounds]]]:
    """[corpora][checkpoints][texts] predicted bounds; each checkpoint is loaded once, None marks nothing anywhere."""
    found: list[list[list[scores.Bounds]]] = [[] for _ in corpora]
    for checkpoint in checkpoints:
        tagger = None if checkpoint is None else load_tagger(checkpoint)
        for texts, runs in zip(corpora, found, strict=True):
            if tagger is None:
                runs.append([frozenset() for _ in texts])
                if advance:
                    advance(len(texts))
            else:
                runs.append([scores.bounds(spans) for spans in predict_spans(tagger, texts, advance)])
    return found


def entity_scores(
    documents: Sequence[Document],
    entity: str,
    predicted: Sequence[Sequence[scores.Bounds]],
    *,
    resamples: int,
    seed: int,
    groups: Sequence[Hashable] | None = None,
    known: frozenset[str] | None = None,
) -> tuple[dict[str, Any], list[dict[str, float | None]]]:
    """All scores of one entity on one corpus, and the strict ones of each run.

    Strict `precision`, `recall` and `f1`, their intervals (`f1_low`, `f1_high`, ...) and the lenient `token_` and
    `overlap_` scores are means of the runs' (over those where they are defined); `tp`, `fp` and `fn` are sums over the
    runs, and `support` counts the gold spans once. `seen` and `unseen` are of `recall_by_familiarity`. A null comes
    with a `reason`.

    Args:
        documents: labelled.
        entity: whose spans.
        predicted: [runs][documents].
        resamples: of the bootstrap; 0 for no interval.
        seed: of the bootstrap.
        groups: what is resampled together, for each document; None resamples documents.
        known: of `gold_strings` of the training set; None if it is not at hand.

    Raises:
        PhidriftError: a document is unlabelled.
        RuntimeError: counts don't add up, which would be a fault of this program.
    """
    gold = [scores.bounds(_labelled(document).entity_spans(entity)) for document in documents]
    texts = [document.text for document in documents]
    tokens = [token_offsets(text) for text in texts]
    counts = np.stack([scores.run_counts(gold, run) for run in predicted])
    runs = [strict_scores(run) for run in counts]
    units = counts if groups is None else by_group(counts, groups)
    intervals = bootstrap(units, resamples, seed)
    tp, fp, fn = scores.summary(counts)
    support = sum(map(len, gold))
    values: dict[str, Any] = {name: scores.mean_defined([run[name] for run in runs]) for name in _STRICT}
    for name in _STRICT:
        values[f"{name}_low"], values[f"{name}_high"] = getattr(intervals, name) or (None, None)
    values |= {"tp": tp, "fp": fp, "fn": fn, "support": support}
    lenient = {
        "token": [token_scores(tokens, gold, run) for run in predicted],
        "overlap": [overlap_scores(gold, run) for run in predicted],
    }
    for kind, found in lenient.items():
        for name, of_runs in zip(_STRICT, zip(*found, strict=True), strict=True):
            values[f"{kind}_{name}"] = scores.mean_defined(of_runs)
    values |= recall_by_familiarity(texts, gold, predicted, known)
    reasons = [scores.undefined_reason(support, tp + fp)]
    if intervals.f1 is None and values["f1"] is not None:
        reasons.append("no interval: no resamples were asked for")
    reason = "; ".join(text for text in reasons if text)
    return ({**values, "reason": reason} if reason else values), runs


def strict_scores(counts: scores.Counts) -> dict[str, float | None]:
    """Precision, recall and F1 of counts [documents, 3]; None where `scores` leaves them undefined."""
    tp, fp, fn = scores.summary(counts)
    return {
        "precision": scores.precision(tp, fp),
        "recall": scores.recall(tp, fn),
        "f1": scores.f1(tp, fp, fn),
    }


def _labelled(document: Document) -> Document:
    if document.spans is None:
        raise PhidriftError("an unlabelled document can't be tested on", where=f"document {document.id}")
    return document
