"""What an interrupted training goes on from, kept in the cache until the output it was for has been written.

CACHE/training/KEY/epochs/checkpoint-STEPS/   transformers' own, the last two
CACHE/training/KEY/finished/checkpoint/       the finished tagger; trained.json beside it says what the training did
CACHE/training/KEY/lock                       held by the process that works here
"""

import fcntl
import hashlib
import importlib.metadata
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from phidrift.core.cache import cache_root
from phidrift.core.document import Document
from phidrift.core.files import read_json, whole_folder, write_json
from phidrift.core.models import describe, loading, locate
from phidrift.tagging.seals import file_hashes, is_sealed, seal
from phidrift.tagging.train import TaggerSettings, TrainedTagger, precision, train_tagger

LOG = logging.getLogger(__name__)
_CODE = ("alignment.py", "examples.py", "train.py", "vocabulary.py")
_COMPUTE = ("torch", "transformers", "tokenizers", "accelerate", "numpy")


@dataclass(frozen=True, slots=True)
class Training:
    """One tagger to train with one seed; `name` (set and entity) and `tagger` are for messages."""

    documents: Sequence[Document]
    entity: str
    settings: TaggerSettings
    seed: int
    threads: int
    name: str
    tagger: str

    @property
    def work(self) -> int:
        """Documents to read, each once an epoch."""
        return len(self.documents) * self.settings.epochs


def training_key(training: Training) -> str:
    """The hash of all that the weights depend on: text and spans, settings, base weights, code, and what computes."""
    digest = hashlib.sha256()
    for document in training.documents:
        bounds = [(span.start, span.end) for span in document.entity_spans(training.entity)]
        digest.update(json.dumps([document.text, bounds]).encode())
    code = hashlib.sha256()
    for name in _CODE:
        code.update((Path(__file__).parent / name).read_bytes())
    facts = {
        "documents": digest.hexdigest(),
        "entity": training.entity,
        "tagger": training.tagger,
        "settings": asdict(training.settings),
        "seed": training.seed,
        "threads": training.threads,
        "base": _identity(training.settings.model),
        "code": code.hexdigest(),
        "versions": {name: importlib.metadata.version(name) for name in _COMPUTE},
        "precision": precision(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def _identity(model: str) -> Any:
    """What tells the base weights from any others."""
    from transformers import AutoConfig

    known = describe(model)["sha256"]
    if known:
        return known
    place = locate(model)
    if Path(place).is_dir():
        return file_hashes(Path(place))
    with loading(model):
        return AutoConfig.from_pretrained(place)._commit_hash


@contextmanager
def state_folder(key: str) -> Iterator[Path]:
    """The folder of a training's state, this process' own until the block ends; another process' is waited for."""
    folder = cache_root() / "training" / key
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                LOG.info("waiting for another process that trains the same tagger")
                fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever held it before may have removed the folder, and the lock with it.
            path = folder / "lock"
            if path.is_file() and os.fstat(lock.fileno()).st_ino == path.stat().st_ino:
                yield folder
                return


def holds_work(folder: Path) -> bool:
    """Whether a state has anything to go on from."""
    return (folder / "finished").exists() or any((folder / "epochs").glob("checkpoint-*"))


def forget(folder: Path) -> None:
    """Removes a state whose tagger has been written where it belongs, and the folders that it leaves empty."""
    shutil.rmtree(folder)
    for parent in (folder.parent, folder.parent.parent):
        if any(parent.iterdir()):
            return
        parent.rmdir()


def finished(folder: Path) -> tuple[Path, TrainedTagger] | None:
    """(checkpoint, what the training did) if this state's training came to its end."""
    place = folder / "finished"
    if not is_sealed(place):
        return None
    return place / "checkpoint", TrainedTagger(**read_json(place / "trained.json"))


def train_to_the_end(
    training: Training, folder: Path, advance: Callable[[int], None] | None = None
) -> TrainedTagger:
    """Trains, or goes on from the last whole epoch, or does nothing if it is finished; the tagger is in `finished`.

    Args:
        training: what to train.
        folder: its `state_folder`.
        advance: called with documents just read; `Training.work` in all, those of earlier calls counted at once.

    Raises:
        PhidriftError: as `train_tagger`.
    """
    earlier = finished(folder)
    if earlier is not None:
        LOG.info(
            "train %s: %s with seed %d was finished before", training.name, training.tagger, training.seed
        )
        if advance is not None:
            advance(training.work)
        return earlier[1]
    with whole_folder(folder / "finished") as temporary:
        trained = train_tagger(
            training.documents,
            training.entity,
            training.settings,
            seed=training.seed,
            threads=training.threads,
            folder=temporary / "checkpoint",
            name=training.name,
            state=folder / "epochs",
            advance=advance,
        )
        write_json(temporary / "trained.json", asdict(trained))
        seal(temporary)
    shutil.rmtree(folder / "epochs", ignore_errors=True)
    return trained
