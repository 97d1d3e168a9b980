"""Finding the taggers in a folder that someone names: a training set's, one entity's, or a single checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json
from phidrift.tagging.alignment import label_names
from phidrift.tagging.seals import file_hashes

_RECORD = "training.json"
_LABELS_UNSTATED = {"0": "LABEL_0", "1": "LABEL_1"}  # what transformers takes them to be


@dataclass(frozen=True, slots=True)
class EntityTaggers:
    """All taggers of one entity below a folder.

    Attributes:
        entity: what they mark.
        checkpoints: folders, one a tagger and seed, by name ("TAGGER-SEED", or the folder's own).
        training: what training.json says; None where a checkpoint comes without one.
        reason: why there is no checkpoint, and O is said everywhere; None where there is one.
    """

    entity: str
    checkpoints: Mapping[str, Path]
    training: Mapping[str, Any] | None
    reason: str | None = None

    @property
    def restricted(self) -> bool | None:
        """Whether they may not be passed on; None where that isn't known."""
        return None if self.training is None else bool(self.training["restricted"])


def find_taggers(folder: Path) -> dict[str, EntityTaggers]:
    """The taggers of each entity, in the order of the entities' names.

    Args:
        folder: of a training set (ENTITY/training.json), of one entity (training.json), a checkpoint (config.json), or
            a folder of checkpoints.

    Raises:
        PhidriftError: there is no tagger, training.json is no record, a checkpoint that it names is missing, without
            weights or of another kind, or two folders hold taggers of one entity.
    """
    if not folder.is_dir():
        raise PhidriftError("no such folder", where=folder, mend="name a folder that phidrift train wrote")
    found: dict[str, EntityTaggers] = {}
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    for place in [folder, *inner]:
        taggers = _at(place)
        if taggers is None:
            continue
        if taggers.entity in found:
            raise PhidriftError(
                f"two folders hold taggers of {taggers.entity}", where=folder, mend="name one of them"
            )
        found[taggers.entity] = taggers
        if place == folder:
            break
    if not found:
        mend = (
            "name a folder that phidrift train wrote, or a checkpoint with the labels O, B-ENTITY, I-ENTITY"
        )
        raise PhidriftError("no taggers here", where=folder, mend=mend)
    return dict(sorted(found.items()))


def _at(folder: Path) -> EntityTaggers | None:
    """The taggers that this very folder is or describes."""
    if (folder / _RECORD).is_file():
        training = _record(folder / _RECORD)
        names = [f"{run['tagger']}-{run['seed']}" for run in training["taggers"]]
        checkpoints = {name: folder / name for name in names} if training["trained"] else {}
        for path in checkpoints.values():
            if checkpoint_entity(path) != training["entity"]:
                raise PhidriftError(f"no {training['entity']} tagger, which {_RECORD} names", where=path)
            _check_weights(path)
        return EntityTaggers(training["entity"], checkpoints, training, training["reason"])
    if (folder / "config.json").is_file():
        entity = checkpoint_entity(folder)
        _check_weights(folder)
        return EntityTaggers(entity, {folder.resolve().name: folder}, None)
    return None


def _record(path: Path) -> dict[str, Any]:
    """What training.json says, with the fields that this module and its users rely on."""
    mend = "train anew, or name another folder"
    try:
        training = read_json(path)
    except ValueError as error:  # not JSON, or not UTF-8
        raise PhidriftError("not the record of a training", where=path, mend=mend) from error
    names = ("entity", "trained", "reason", "restricted", "taggers")
    missing = [name for name in names if not isinstance(training, dict) or name not in training]
    runs = [] if missing else training["taggers"]
    if not isinstance(runs, list) or not all(
        isinstance(run, dict) and {"tagger", "seed"} <= set(run) for run in runs
    ):
        missing = ["tagger and seed of each run"]
    if missing:
        raise PhidriftError(f"{missing[0]} is missing", where=path, mend=mend)
    record: dict[str, Any] = training
    return record


def check_files(folder: Path) -> None:
    """Makes sure that a checkpoint's files are those that its training wrote, if a training.json beside it says so.

    The card may change. A checkpoint without such a record is taken as it is.

    Raises:
        PhidriftError: a file is missing, is another, or has come to it.
    """
    path = folder.resolve().parent / _RECORD
    if not path.is_file():
        return
    runs = {f"{run['tagger']}-{run['seed']}": run for run in _record(path)["taggers"]}
    expected = runs.get(folder.resolve().name, {}).get("sha256")
    if expected is None:
        return
    found = file_hashes(folder)
    wrong = sorted(
        name for name in {*expected, *found} if _counts(name) and expected.get(name) != found.get(name)
    )
    if wrong:
        problem = f"not as its training wrote it: {', '.join(wrong)}"
        raise PhidriftError(problem, where=folder, mend="train it anew, or copy the whole folder again")


def _counts(name: str) -> bool:
    """Whether a file of a checkpoint has a say in what it marks."""
    return name.endswith((".json", ".safetensors", ".txt", ".model"))


def _check_weights(folder: Path) -> None:
    """Weights are read from safetensors alone: other files may hold code."""
    if not any(folder.glob("*.safetensors")):
        raise PhidriftError("no weights here (model.safetensors)", where=folder)


def checkpoint_entity(folder: Path) -> str:
    """The entity that a checkpoint marks.

    Raises:
        PhidriftError: no checkpoint, or its labels are not O, B-ENTITY, I-ENTITY.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise PhidriftError("no checkpoint here", where=folder)
    try:
        labels = read_json(path).get("id2label", _LABELS_UNSTATED)
        names = [labels.get(str(number)) for number in range(len(labels))]
    except (AttributeError, ValueError) as error:
        raise PhidriftError("not the configuration of a model", where=path) from error
    entity = str(names[-1]).partition("-")[2] if names else ""
    if not entity or names != label_names(entity):
        found = ", ".join(map(str, names[:5])) or "none"
        raise PhidriftError(f"labels are {found}, expected O, B-ENTITY, I-ENTITY", where=folder)
    return entity
