"""An interrupted training goes on from its last epoch and ends in the same bytes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers
from made_taggers import made_documents, made_set, write_base

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json
from phidrift.tagging import train as training
from phidrift.tagging.checkpoints import train_all
from phidrift.tagging.seals import is_sealed, seal, sealed
from phidrift.tagging.train import TaggerSettings, train_tagger
from phidrift.tagging.training_state import Training, state_folder, training_key

# 30 windows in batches of 8 are 4 steps an epoch, 48 in all.
STEPS, EPOCHS = 4, 12

# Slow enough to be killed in an epoch: 30 documents in 12 epochs are told of in 48 goes.
INTERRUPTED = """
import sys, time
from contextlib import contextmanager
from pathlib import Path
from made_taggers import made_documents, made_set
from phidrift.tagging import checkpoints, train
from phidrift.tagging.train import TaggerSettings

@contextmanager
def slow(title, total):
    yield lambda count: time.sleep(0.05)

checkpoints.progress = slow
train.SECONDS_BETWEEN_SAVES = 0.0
settings = TaggerSettings(sys.argv[1], 32, 8, 12, 1e-2, 0.1, 0.01)
checkpoints.train_all(
    made_set(made_documents(30)), {"tiny": settings}, [1], threads=1, folder=Path(sys.argv[2])
)
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> TaggerSettings:
    return TaggerSettings(write_base(tmp_path_factory.mktemp("base")), 32, 8, EPOCHS, 1e-2, 0.1, 0.01)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PHIDRIFT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets an entry at every step that is really computed."""
    done: list[int] = []
    original = transformers.Trainer.training_step

    def counted(*given: Any, **named: Any) -> Any:
        done.append(1)
        return original(*given, **named)

    monkeypatch.setattr(transformers.Trainer, "training_step", counted)
    return done


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def train_made(settings: TaggerSettings, folder: Path, documents: list[Document] | None = None) -> None:
    made = made_documents(30) if documents is None else documents
    train_all(made_set(made), {"tiny": settings}, [1], threads=1, folder=folder)


def test_killed_in_an_epoch_it_goes_on_and_ends_in_the_same_bytes(
    settings: TaggerSettings,
    tmp_path: Path,
    cache: Path,
    steps: list[int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "OMP_WAIT_POLICY": "PASSIVE"}
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, settings.model, str(tmp_path / "DATE")], env=environment
    )
    deadline = time.monotonic() + 60
    while not list(cache.glob("training/*/epochs/checkpoint-4/seal.json")):
        assert process.poll() is None, "it ended before it had saved its first epoch"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "DATE").exists()

    with caplog.at_level("INFO"):
        train_made(settings, tmp_path / "DATE")
    assert 0 < len(steps) < STEPS * EPOCHS
    before = STEPS * EPOCHS - len(steps)
    assert before % STEPS == 0
    assert f"train made-30 DATE: goes on after step {before} of 48" in caplog.text
    assert not cache.exists()  # nothing is kept of what is finished

    train_made(settings, tmp_path / "whole")
    assert files(tmp_path / "whole") == files(tmp_path / "DATE")
    assert any(name.endswith("model.safetensors") for name in files(tmp_path / "whole"))


class StopError(Exception):
    """Stands for whatever ends a process."""


def stop_after(documents: int) -> Callable[[int], None]:
    read = 0

    def advance(count: int) -> None:
        nonlocal read
        read += count
        if read > documents:
            raise StopError

    return advance


def interrupted(settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state of four epochs: whole ones after the third and the fourth."""
    monkeypatch.setattr(training, "SECONDS_BETWEEN_SAVES", 0.0)
    state = tmp_path / "state"
    with pytest.raises(StopError):
        once(settings, tmp_path / "lost", state, stop_after(30 * 4))
    assert sorted(path.name for path in state.iterdir()) == ["checkpoint-12", "checkpoint-16"]
    return state


def once(
    settings: TaggerSettings, folder: Path, state: Path | None, advance: Callable[[int], None] | None = None
) -> bytes:
    train_tagger(
        made_documents(30),
        "DATE",
        settings,
        seed=1,
        threads=1,
        folder=folder,
        name="made",
        state=state,
        advance=advance,
    )
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("torn", "expected"),
    [
        ([], 8 * STEPS),
        (["checkpoint-16/seal.json"], 9 * STEPS),  # killed while it wrote the fourth: on from the third
        (["checkpoint-16/optimizer.pt"], 9 * STEPS),
        (["checkpoint-16/model.safetensors", "checkpoint-12/rng_state.pth"], 12 * STEPS),  # anew
    ],
)
def test_a_torn_state_is_passed_over(
    torn: list[str],
    expected: int,
    settings: TaggerSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[int],
) -> None:
    state = interrupted(settings, tmp_path, monkeypatch)
    for name in torn:
        content = (state / name).read_bytes()
        (state / name).write_bytes(content[: len(content) // 2])
    steps.clear()
    resumed = once(settings, tmp_path / "resumed", state)
    assert len(steps) == expected
    assert resumed == once(settings, tmp_path / "whole", None)


def test_progress_counts_what_was_read_before(
    settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = interrupted(settings, tmp_path, monkeypatch)
    read: list[int] = []
    once(settings, tmp_path / "resumed", state, read.append)
    assert read[0] == 30 * 4
    assert sum(read) == 30 * EPOCHS


def test_short_trainings_save_nothing(
    settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[Path] = []
    monkeypatch.setattr(training, "seal", saved.append)
    once(settings, tmp_path / "tagger", tmp_path / "state")
    assert saved == []
    assert not list((tmp_path / "state").iterdir())


def test_a_finished_tagger_is_not_trained_again_when_another_failed(
    settings: TaggerSettings, tmp_path: Path, cache: Path, steps: list[int]
) -> None:
    short = replace(settings, epochs=2)
    wild = replace(short, learning_rate=1e30)
    made, folder = made_set(made_documents(30)), tmp_path / "DATE"
    with pytest.raises(PhidriftError) as caught:
        train_all(made, {"calm": short, "wild": wild}, [1, 2], threads=1, folder=folder)
    message = str(caught.value)
    # Both seeds of the wild one are named; the calm ones went on, and are not.
    assert "2 of 4 trainings failed" in message
    for seed in (1, 2):
        assert f"made-30 DATE, tagger wild, seed {seed}: the loss is not finite (lower its" in message
    assert "calm" not in message
    assert not folder.exists()
    assert len(list(cache.glob("training/*"))) == 2  # what failed before its first save left nothing

    steps.clear()
    record = train_all(made, {"calm": short, "wild": short}, [1, 2], threads=1, folder=folder)
    assert len(steps) == 2 * 2 * STEPS  # the wild ones alone
    assert [(run["tagger"], run["seed"], run["steps"]) for run in record["taggers"]] == [
        ("calm", 1, 8),
        ("calm", 2, 8),
        ("wild", 1, 8),
        ("wild", 2, 8),
    ]
    calm, mended = (folder / f"{name}-1/model.safetensors" for name in ("calm", "wild"))
    assert calm.read_bytes() == mended.read_bytes()  # the same settings and seed
    assert not cache.exists()


def test_a_checkpoint_holds_no_pickle(settings: TaggerSettings, tmp_path: Path) -> None:
    train_made(replace(settings, epochs=1), tmp_path / "DATE")
    names = sorted(path.name for path in (tmp_path / "DATE/tiny-1").iterdir())
    assert names == [
        *("README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
    ]


def test_every_fact_that_the_weights_depend_on_moves_the_key(
    settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = made_documents(3)
    first = Training(documents, "DATE", settings, 1, 1, "made DATE", "tiny")
    other_base = write_base(tmp_path / "base")
    (tmp_path / "base/extra").write_text("x", encoding="utf-8")
    variants = [
        replace(first, documents=documents[:2]),
        replace(first, documents=[replace(documents[0], spans=()), *documents[1:]]),
        replace(first, entity="PERSON"),
        replace(first, settings=replace(settings, epochs=3)),
        replace(first, settings=replace(settings, model=other_base)),
        replace(first, seed=2),
        replace(first, threads=2),
    ]
    keys = [training_key(each) for each in (first, *variants)]
    assert len(set(keys)) == len(keys)
    # What a set is called, and what a document says beside its text and spans, the weights don't depend on.
    renamed = replace(first, name="x", documents=[replace(d, meta={"corpus": "y"}) for d in documents])
    assert training_key(renamed) == keys[0]
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} of tomorrow")
    assert training_key(first) not in keys


def test_a_model_that_is_not_there_is_named_before_anything_is_trained(
    settings: TaggerSettings, tmp_path: Path, steps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    absent = replace(settings, model=str(tmp_path / "absent"))
    with pytest.raises(PhidriftError, match="absent"):
        train_all(
            made_set(made_documents(4)), {"a": settings, "b": absent}, [1], threads=1, folder=tmp_path / "x"
        )
    assert steps == []


def test_two_processes_never_share_a_state(cache: Path) -> None:
    code = (
        "import sys, time\nfrom phidrift.tagging.training_state import state_folder\n"
        "with state_folder('key') as folder:\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "held\n"
        waited = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        with pytest.raises(subprocess.TimeoutExpired):
            waited.wait(timeout=2)
        process.stdin.close()
        assert waited.communicate(timeout=120)[0] == b"held\n"
        assert waited.returncode == 0
    with state_folder("key") as folder:
        assert folder == cache / "training/key"


def test_seals(tmp_path: Path) -> None:
    for number in (3, 20, 100):
        folder = tmp_path / f"state-{number}"
        (folder / "in").mkdir(parents=True)
        (folder / "in/file").write_text("text", encoding="utf-8")
        seal(folder)
        assert is_sealed(folder)
    (tmp_path / "state-100/in/file").write_text("texT", encoding="utf-8")
    (tmp_path / "state-20/more").write_text("", encoding="utf-8")
    assert read_json(tmp_path / "state-3/seal.json").keys() == {"in/file"}
    # By number, not by name; what is torn on the way is removed, what comes after the first whole one is not.
    assert sealed(tmp_path.glob("state-*")) == tmp_path / "state-3"
    assert [path.name for path in tmp_path.iterdir()] == ["state-3"]
    assert sealed(tmp_path.glob("none-*")) is None
