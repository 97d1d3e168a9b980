"""Scores of all taggers of a training set on every target corpus."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.tagging import scores
from phidrift.tagging.checkpoints import read_training
from phidrift.tagging.predict import load_tagger, predict_spans

CSV_COLUMNS = ("entity", "target", "f1", "f1_low", "f1_high", "support", "in_distribution")

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
    advance: Advance | None = None,
) -> dict[str, Any]:
    """What metrics/tagging/SET.json says: strict scores by entity and target.

    With several taggers or seeds, `f1`, `precision` and `recall` are the means of the runs' (over those where they are
    defined), tp, fp and fn are sums over the runs, and `support` counts the gold spans once. The interval is over
    documents. Beside the strict scores, two lenient ones tell a wrong boundary from a miss: `token_f1` over tokens that
    a span touches, `overlap_f1` over spans that touch one of the other side. A null comes with a `reason`.

    Args:
        models: models/SET, with a folder for each entity.
        targets: what to test on.
        entities: which taggers.
        resamples: of the bootstrap; 0 for no interval.
        seed: of the bootstrap.
        advance: called with the number of documents done by one tagger (see `workload`).

    Raises:
        PhidriftError: a checkpoint is missing, or a test document is unlabelled.
    """
    result: dict[str, Any] = {}
    head: dict[str, Any] = {}
    for entity in entities:
        training = read_training(models / entity)
        head = {name: training[name] for name in ("set", "source", "size")}
        found = _predictions(models / entity, training, targets, entity, advance)
        result[entity] = {
            target.corpus: {
                **_scores(target.documents[entity], entity, predicted, training, resamples, seed),
                "in_distribution": training["sources"].get(target.corpus, 0) > 0,
                "trained": training["trained"],
            }
            for target, predicted in zip(targets, found, strict=True)
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
        {"entity": entity, "target": target, **values}
        for entity, by_target in evaluation["entities"].items()
        for target, values in by_target.items()
    ]


def _predictions(
    folder: Path,
    training: Mapping[str, Any],
    targets: Sequence[Target],
    entity: str,
    advance: Advance | None,
) -> list[list[list[scores.Bounds]]]:
    """[targets][runs][documents] predicted bounds; each checkpoint is loaded once."""
    found: list[list[list[scores.Bounds]]] = [[] for _ in targets]
    for run in training["taggers"]:
        tagger = load_tagger(folder / f"{run['tagger']}-{run['seed']}") if training["trained"] else None
        for target, runs in zip(targets, found, strict=True):
            texts = [document.text for document in target.documents[entity]]
            if tagger is None:
                runs.append([frozenset() for _ in texts])
                if advance:
                    advance(len(texts))
            else:
                runs.append([scores.bounds(spans) for spans in predict_spans(tagger, texts, advance)])
    return found


def _scores(
    documents: Sequence[Document],
    entity: str,
    predicted: Sequence[Sequence[scores.Bounds]],
    training: Mapping[str, Any],
    resamples: int,
    seed: int,
) -> dict[str, Any]:
    gold = [scores.bounds(_labelled(document).entity_spans(entity)) for document in documents]
    tokens = [scores.token_offsets(document.text) for document in documents]
    counts = np.array(
        [[scores.strict_counts(g, p) for g, p in zip(gold, run, strict=True)] for run in predicted], np.int64
    ).reshape(len(predicted), len(documents), 3)
    totals = [scores.summary(run) for run in counts]
    run_f1 = [scores.f1(*total) for total in totals]
    interval = scores.bootstrap_f1(counts, resamples, seed)
    low, high = interval if interval else (None, None)
    tp, fp, fn = scores.summary(counts)
    support = sum(len(spans) for spans in gold)
    values: dict[str, Any] = {
        "f1": scores.mean_defined(run_f1),
        "precision": scores.mean_defined([scores.precision(t, f) for t, f, _ in totals]),
        "recall": scores.mean_defined([scores.recall(t, n) for t, _, n in totals]),
        "f1_low": low,
        "f1_high": high,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "support": support,
        "token_f1": scores.mean_defined([scores.token_f1(tokens, gold, run) for run in predicted]),
        "overlap_f1": scores.mean_defined([scores.overlap_f1(gold, run) for run in predicted]),
        "runs": [
            {"tagger": run["tagger"], "seed": run["seed"], "f1": value}
            for run, value in zip(training["taggers"], run_f1, strict=True)
        ],
    }
    reasons = [training["reason"], scores.undefined_reason(support, tp + fp)]
    if interval is None and values["f1"] is not None:
        reasons.append("no interval: no resamples were asked for")
    reason = "; ".join(text for text in reasons if text)
    return {**values, "reason": reason} if reason else values


def _labelled(document: Document) -> Document:
    if document.spans is None:
        raise PhidriftError("an unlabelled document can't be tested on", where=f"document {document.id}")
    return document
