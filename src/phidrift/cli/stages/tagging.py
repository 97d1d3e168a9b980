"""Stages train and evaluate."""

import logging
from pathlib import Path

from phidrift.config import Params
from phidrift.core.document import read_documents
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, write_csv, write_json
from phidrift.core.progress import progress
from phidrift.tagging.checkpoints import TrainingSet, train_all
from phidrift.tagging.evaluate import CSV_COLUMNS, Target, csv_rows, evaluate_set, workload
from phidrift.tagging.train import TaggerSettings

LOG = logging.getLogger(__name__)


def train(params: Params, key: str) -> None:
    """Trains all taggers and seeds of one set and entity; the key is SET-ENTITY."""
    name, _, entity = key.rpartition("-")
    if entity not in params.entities:
        raise PhidriftError(f"key {key!r} does not end in an entity", mend="use SET-ENTITY")
    folder = _training_set_folder(name)
    about = read_json(folder / "set.json")
    training_set = TrainingSet(
        name=name,
        source=about["source"],
        size=about["size"],
        entity=entity,
        documents=list(read_documents(folder / f"{entity}.jsonl")),
        sha256=about["entities"][entity]["sha256"],
        licences=about["licences"],
        scores=f"metrics/tagging/{name}.json",
    )
    record = train_all(
        training_set,
        {tagger: TaggerSettings(**values.model_dump()) for tagger, values in params.tagging.taggers.items()},
        params.tagging.seeds,
        threads=params.tagging.threads,
        workers=params.tagging.workers,
        folder=Path("models") / name / entity,
    )
    if not record["trained"]:
        LOG.warning("%s %s: no training, %s", name, entity, record["reason"])


def evaluate(params: Params, key: str) -> None:
    """Scores all checkpoints of one set on every target; the key is SET."""
    import torch

    torch.set_num_threads(params.tagging.threads)
    models = Path("models") / key
    learnt = _training_set_folder(key)
    targets = [_target(corpus, params) for corpus in params.targets]
    with progress(f"evaluate {key}", workload(models, targets, params.entities)) as advance:
        evaluation = evaluate_set(
            models,
            targets,
            params.entities,
            resamples=params.tagging.bootstrap,
            seed=params.tagging.seeds[0],
            learnt={entity: list(read_documents(learnt / f"{entity}.jsonl")) for entity in params.entities},
            advance=advance,
        )
    write_json(Path("metrics/tagging") / f"{key}.json", evaluation)
    write_csv(Path("plots/tagging") / f"{key}.csv", CSV_COLUMNS, csv_rows(evaluation))


def _training_set_folder(name: str) -> Path:
    return Path("data/training_sets") / (name if name == "ablation" else f"main/{name}")


def _target(corpus: str, params: Params) -> Target:
    if corpus == "syn":
        folder = Path("data/synthetic")
        return Target(corpus, {e: list(read_documents(folder / e / "test.jsonl")) for e in params.entities})
    documents = list(read_documents(Path("data/corpora") / corpus / "test.jsonl"))
    return Target(corpus, dict.fromkeys(params.entities, documents))
