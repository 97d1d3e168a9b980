"""The folder of one training set and entity: every tagger's checkpoint, and training.json, which tells what they are.

models/SET/ENTITY/training.json
models/SET/ENTITY/TAGGER-SEED/     config.json, model.safetensors, the tokenizer's files, README.md
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, whole_folder, write_json, write_text
from phidrift.core.models import describe
from phidrift.tagging.alignment import label_names
from phidrift.tagging.train import TaggerSettings, train_tagger


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """The documents of one set that one entity's taggers learn from.

    `sha256` is the hash of their file; `licences` names the licence of each corpus that they may come from.
    """

    name: str
    source: str
    size: int
    entity: str
    documents: Sequence[Document]
    sha256: str
    licences: Mapping[str, str]

    @property
    def positives(self) -> int:
        """Documents that hold the entity."""
        return sum(bool(document.entity_spans(self.entity)) for document in self.documents)

    @property
    def sources(self) -> dict[str, int]:
        """Documents from each corpus; `unknown` where a document doesn't say."""
        found = Counter(str(document.meta.get("corpus", "unknown")) for document in self.documents)
        return dict(sorted(found.items()))

    @property
    def restricted(self) -> bool:
        """Whether any document may not be passed on, and with it what was learnt from it."""
        return any(document.meta.get("restricted") for document in self.documents)


def train_all(
    training_set: TrainingSet,
    taggers: Mapping[str, TaggerSettings],
    seeds: Sequence[int],
    *,
    threads: int,
    folder: Path,
) -> dict[str, Any]:
    """Trains every tagger with every seed and writes `folder`, all or nothing; returns what training.json says.

    A set without one span of the entity trains nothing: `trained` is false with the reason, there is no checkpoint, and
    the tagger is taken to say O everywhere.

    Raises:
        PhidriftError: a document is unlabelled; or as `train_tagger`.
    """
    for document in training_set.documents:
        if document.spans is None:
            where = f"{training_set.name}, document {document.id}"
            raise PhidriftError("an unlabelled document can't be learnt from", where=where)
    positives = training_set.positives
    reason = None
    if not positives:
        reason = f"none of the {len(training_set.documents)} training documents holds {training_set.entity}"
    runs: list[dict[str, Any]] = []
    with whole_folder(folder) as temporary:
        for tagger, settings in sorted(taggers.items()):
            for seed in seeds:
                run: dict[str, Any] = {"tagger": tagger, "seed": seed, "base": describe(settings.model)}
                if reason is None:
                    checkpoint = temporary / f"{tagger}-{seed}"
                    trained = train_tagger(
                        training_set.documents,
                        training_set.entity,
                        settings,
                        seed=seed,
                        threads=threads,
                        folder=checkpoint,
                        name=f"{training_set.name} {training_set.entity}",
                    )
                    write_text(checkpoint / "README.md", _card(training_set, tagger, settings, seed))
                    run |= asdict(trained)
                runs.append(run)
        record = {
            "set": training_set.name,
            "source": training_set.source,
            "size": training_set.size,
            "entity": training_set.entity,
            "sha256": training_set.sha256,
            "restricted": training_set.restricted,
            "trained": reason is None,
            "reason": reason,
            "documents": len(training_set.documents),
            "positives": positives,
            "sources": training_set.sources,
            "taggers": runs,
        }
        write_json(temporary / "training.json", record)
    return record


def read_training(folder: Path) -> dict[str, Any]:
    """What training.json of a set and entity says.

    Raises:
        PhidriftError: there is none.
    """
    path = folder / "training.json"
    if not path.is_file():
        raise PhidriftError("nothing was trained here", where=folder, mend="run the stage train for this set")
    record: dict[str, Any] = read_json(path)
    return record


def _card(training_set: TrainingSet, tagger: str, settings: TaggerSettings, seed: int) -> str:
    """The model card: what it was trained on, with the hash of the data, and who may have it."""
    entity, base = training_set.entity, describe(settings.model)
    lines = [
        "---",
        "library_name: transformers",
        "pipeline_tag: token-classification",
        "license: other",
        "---",
        f"# {entity} tagger, trained on {training_set.name}",
        "",
        f"Marks {entity} spans (BIO: {', '.join(label_names(entity))}). Made to measure what a training corpus costs a",
        "tagger, not to de-identify records.",
        "",
        f"- Training set: `{training_set.name}`, SHA-256 of its file `{training_set.sha256}`",
        f"- Documents: {len(training_set.documents)}, {training_set.positives} with {entity}",
    ]
    for corpus, count in training_set.sources.items():
        licence = training_set.licences.get(corpus, "not stated")
        lines.append(f"  - {corpus}: {count}, licence: {licence}")
    if training_set.restricted:
        lines.append("- **Restricted**: trained on documents that may not be passed on; nor may this model.")
    else:
        lines.append("- Restricted: no training document is; the licences above hold.")
    weights = f", SHA-256 of its weights `{base['sha256']}`" if base["sha256"] else ""
    lines += [
        f"- Base model: `{settings.model}`, licence: {base['licence'] or 'see its own card'}{weights}",
        f"- Tagger `{tagger}`, seed {seed}, AdamW",
        *(f"  - {name}: {value}" for name, value in asdict(settings).items() if name != "model"),
    ]
    return "\n".join(lines) + "\n"
