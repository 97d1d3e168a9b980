"""The folder of one training set and entity: every tagger's checkpoint, and training.json, which tells what they are.

models/SET/ENTITY/training.json
models/SET/ENTITY/TAGGER-SEED/     config.json, model.safetensors, the tokenizer's files, README.md
"""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, whole_folder, write_json, write_text
from phidrift.core.models import describe
from phidrift.core.progress import progress
from phidrift.tagging.cards import model_card
from phidrift.tagging.seals import file_hashes
from phidrift.tagging.train import TaggerSettings
from phidrift.tagging.training_state import Training, finished, forget, holds_work, state_folder, training_key
from phidrift.tagging.workers import Outcome, run_trainings


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """The documents of one set that one entity's taggers learn from.

    `sha256` is the hash of their file; `licences` names the licence of each corpus that they may come from. `scores` is
    the file that will hold the taggers' scores, for the model card; None where there is none.
    """

    name: str
    source: str
    size: int
    entity: str
    documents: Sequence[Document]
    sha256: str
    licences: Mapping[str, str]
    scores: str | None = None

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

    @property
    def stand_in(self) -> bool:
        """Whether any document imitates one of a corpus that isn't here."""
        return any(document.meta.get("stand_in") for document in self.documents)


class _Place(NamedTuple):
    folder: Path
    tagger: str
    seed: int


def train_all(
    training_set: TrainingSet,
    taggers: Mapping[str, TaggerSettings],
    seeds: Sequence[int],
    *,
    threads: int,
    folder: Path,
    workers: int = 1,
) -> dict[str, Any]:
    """Trains every tagger with every seed and writes `folder`, all or nothing; returns what training.json says.

    As `train_sets`, for one set.
    """
    return train_sets({folder: training_set}, taggers, seeds, threads=threads, workers=workers)[folder]


def train_sets(
    training_sets: Mapping[Path, TrainingSet],
    taggers: Mapping[str, TaggerSettings],
    seeds: Sequence[int],
    *,
    threads: int,
    workers: int = 1,
) -> dict[Path, dict[str, Any]]:
    """Trains every tagger with every seed on every set and writes each set's folder, all or nothing.

    A set without one span of the entity trains nothing: `trained` is false with the reason, there is no checkpoint, and
    the tagger is taken to say O everywhere. What an earlier, interrupted call left in the cache is used; what is
    kept there for a set is removed when its folder has been written. Where one training fails, the others go on.

    Args:
        training_sets: by the folder to write.
        taggers: settings by name.
        seeds: of each tagger.
        threads: CPU threads of each training; the weights depend on it.
        workers: trainings at a time (see `run_trainings`); nothing that is written depends on it.

    Returns:
        What training.json says, by folder.

    Raises:
        PhidriftError: a document is unlabelled, or a model can't be loaded; or at the end, naming each training that
            failed. Then the folders of the sets that it belongs to are not written, and their finished taggers wait
            in the cache.
    """
    trainings: dict[_Place, Training] = {}
    records = {}
    for folder, training_set in training_sets.items():
        _refuse_unlabelled(training_set)
        name = f"{training_set.name} {training_set.entity}"
        own = {
            _Place(folder, tagger, seed): Training(
                training_set.documents, training_set.entity, settings, seed, threads, name, tagger
            )
            for tagger, settings in sorted(taggers.items())
            for seed in seeds
        }
        if training_set.positives:
            trainings |= own
        else:
            records[folder] = _write(training_set, own, {})
    if trainings:
        records |= _trained(training_sets, trainings, workers)
    return records


def _trained(
    training_sets: Mapping[Path, TrainingSet], trainings: Mapping[_Place, Training], workers: int
) -> dict[Path, dict[str, Any]]:
    """Trains, and writes the folder of each set whose trainings have all come to their end."""
    keys = {place: training_key(training) for place, training in trainings.items()}
    places, records = list(trainings), {}
    outcomes: dict[_Place, Outcome] = {}
    names = {training.name for training in trainings.values()}
    title = f"train {names.pop()}" if len(names) == 1 else f"train {len(places)} taggers"
    with ExitStack() as held:
        # In the order of the keys, so that two processes never wait for each other.
        states = {
            place: held.enter_context(state_folder(keys[place]))
            for place in sorted(places, key=keys.__getitem__)
        }
        advance = held.enter_context(progress(title, sum(training.work for training in trainings.values())))
        work = [(trainings[place], states[place]) for place in places]
        ended = held.enter_context(closing(run_trainings(work, workers, advance)))
        for number, outcome in ended:
            outcomes[places[number]] = outcome
            folder = places[number].folder
            own = {place: training for place, training in trainings.items() if place.folder == folder}
            if all(place in outcomes and not isinstance(outcomes[place], PhidriftError) for place in own):
                records[folder] = _write(training_sets[folder], own, states)
                for place in own:
                    forget(states[place])
            elif isinstance(outcome, PhidriftError) and not holds_work(states[places[number]]):
                forget(states[places[number]])
    failed = {place: error for place, error in outcomes.items() if isinstance(error, PhidriftError)}
    if failed:
        raise _failure(trainings, failed)
    return records


def _write(
    training_set: TrainingSet, trainings: Mapping[_Place, Training], states: Mapping[_Place, Path]
) -> dict[str, Any]:
    """Writes a set's folder; a training without a state was none."""
    reason = None
    if not training_set.positives:
        reason = f"none of the {len(training_set.documents)} training documents holds {training_set.entity}"
    runs: list[dict[str, Any]] = []
    with whole_folder(next(iter(trainings)).folder) as temporary:
        for place, training in trainings.items():
            base = describe(training.settings.model)
            run: dict[str, Any] = {"tagger": place.tagger, "seed": place.seed, "base": base}
            if place in states:
                found = finished(states[place])
                if found is None:
                    raise PhidriftError("a finished tagger is gone", where=states[place], mend="run again")
                checkpoint = temporary / f"{place.tagger}-{place.seed}"
                shutil.copytree(found[0], checkpoint)
                run["sha256"] = file_hashes(checkpoint)
                write_text(checkpoint / "README.md", model_card(training_set, training, found[1].loss))
                run |= asdict(found[1])
            runs.append(run)
        record = {
            "set": training_set.name,
            "source": training_set.source,
            "size": training_set.size,
            "entity": training_set.entity,
            "sha256": training_set.sha256,
            "restricted": training_set.restricted,
            "stand_in": training_set.stand_in,
            "trained": reason is None,
            "reason": reason,
            "documents": len(training_set.documents),
            "positives": training_set.positives,
            "sources": training_set.sources,
            "taggers": runs,
        }
        write_json(temporary / "training.json", record)
    return record


def _refuse_unlabelled(training_set: TrainingSet) -> None:
    for document in training_set.documents:
        if document.spans is None:
            where = f"{training_set.name}, document {document.id}"
            raise PhidriftError("an unlabelled document can't be learnt from", where=where)


def _failure(trainings: Mapping[_Place, Training], failed: Mapping[_Place, PhidriftError]) -> PhidriftError:
    """One error for all trainings that failed."""
    lines = []
    for place, error in failed.items():
        training = trainings[place]
        at = "" if error.where in (None, training.name) else f"{error.where}: "
        mend = f" ({error.mend})" if error.mend else ""
        lines.append(f"{training.name}, tagger {place.tagger}, seed {place.seed}: {at}{error.problem}{mend}")
    return PhidriftError(
        f"{len(failed)} of {len(trainings)} trainings failed: {'; '.join(lines)}",
        mend="change what is said above and run again: taggers that are finished are not trained anew",
    )


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
