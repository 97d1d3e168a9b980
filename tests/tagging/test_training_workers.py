"""Trainings spread over processes: the same bytes, and whatever ends one process ends no other."""

import json
import logging
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
from made_taggers import made_documents, made_set, write_base

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.tagging import workers
from phidrift.tagging.checkpoints import train_all
from phidrift.tagging.train import TaggerSettings
from phidrift.tagging.training_state import Training

HOLDS_FOR_A_MINUTE = """
import sys
from pathlib import Path
from made_taggers import made_documents, made_set
from phidrift.tagging.checkpoints import train_all
from phidrift.tagging.train import TaggerSettings
settings = TaggerSettings(sys.argv[1], 32, 1, 2000, 1e-3, 0.1, 0.01)
train_all(
    made_set(made_documents(30)), {"tiny": settings}, [1, 2], threads=1, folder=Path(sys.argv[2]), workers=2
)
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> TaggerSettings:
    return TaggerSettings(write_base(tmp_path_factory.mktemp("base")), 32, 8, 2, 1e-2, 0.1, 0.01)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PHIDRIFT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def children(process: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{process}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


def is_alive(process: int) -> bool:
    """A zombie is dead: its parent has only not yet asked."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_number_of_workers_changes_no_byte(
    settings: TaggerSettings,
    tmp_path: Path,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = Document("odd", "Seen on May 3.\ud83d", made_documents(1)[0].spans[:0], {"corpus": "made"})  # type: ignore[index]
    made = made_set([*made_documents(29), odd])
    monkeypatch.setenv(
        "HF_HUB_OFFLINE", "1"
    )  # which only a new process reads: no trace of it may be in a checkpoint
    for count in (1, 2):
        with caplog.at_level("INFO"):
            train_all(
                made, {"tiny": settings}, [1, 2], threads=1, folder=tmp_path / str(count), workers=count
            )
        assert "train made-30 DATE: 120 of 120" in caplog.text  # 30 documents, 2 epochs, 2 seeds
        caplog.clear()
    one, two = files(tmp_path / "1"), files(tmp_path / "2")
    assert one == two
    assert {"training.json", "tiny-1/model.safetensors", "tiny-2/model.safetensors"} <= one.keys()
    assert one["tiny-1/model.safetensors"] != one["tiny-2/model.safetensors"]
    assert not cache.exists()


def test_a_failure_and_a_killed_process_stop_no_other(
    settings: TaggerSettings, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    start, started = workers._start, []

    def kill_the_first(training: Any, gpu: str | None) -> Any:
        process = start(training, gpu)
        started.append(process)
        if training.tagger == "a-killed":
            process.kill()
        return process

    monkeypatch.setattr(workers, "_start", kill_the_first)
    taggers = {
        "a-killed": settings,
        "b-wild": replace(settings, learning_rate=1e30),
        "c-calm": settings,
    }
    with pytest.raises(PhidriftError) as caught:
        train_all(made_set(made_documents(30)), taggers, [1], threads=1, folder=tmp_path / "DATE", workers=2)
    message = str(caught.value)
    assert "2 of 3 trainings failed" in message
    assert "made-30 DATE, tagger a-killed, seed 1: the process was killed, most likely because mem" in message
    assert "made-30 DATE, tagger b-wild, seed 1: the loss is not finite (lower its learning_rate)" in message
    assert "c-calm" not in message
    assert len(started) == 3
    assert not (tmp_path / "DATE").exists()
    (kept,) = cache.glob("training/*")
    assert (kept / "finished/checkpoint/model.safetensors").is_file()
    assert "Traceback" not in capfd.readouterr().err


def test_an_interrupt_ends_all_processes(settings: TaggerSettings, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    parent = subprocess.Popen(
        [sys.executable, "-c", HOLDS_FOR_A_MINUTE, settings.model, str(tmp_path / "DATE")],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(lambda: len(children(parent.pid)) == 2)
        of_it = children(parent.pid)
        time.sleep(1)
        assert all(is_alive(child) for child in of_it)
        for process in (parent.pid, *of_it):  # as a terminal does, to all of them
            os.kill(process, signal.SIGINT)
        errors = parent.communicate(timeout=120)[1]
        assert not any(is_alive(child) for child in of_it)
    finally:
        parent.kill()
        parent.wait()
    assert parent.returncode != 0
    assert errors.count("Traceback") == 1  # the parent's, none of a child
    assert "KeyboardInterrupt" in errors
    assert not (tmp_path / "DATE").exists()


def test_a_process_without_its_parent_ends(settings: TaggerSettings, tmp_path: Path) -> None:
    training = Training(
        made_documents(30), "DATE", replace(settings, epochs=2000), 1, 1, "made-30 DATE", "tiny"
    )
    process = workers._start(training, None)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(workers._work(training, tmp_path))
    process.stdin.close()
    assert "read" in json.loads(process.stdout.readline())
    process.stdout.close()  # as when the parent is killed
    assert process.wait(timeout=120) == -signal.SIGPIPE


def test_each_worker_sees_one_gpu(settings: TaggerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,GPU-7")
    assert workers._gpus() == ["5", "GPU-7"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert workers._gpus() == ["0", "1"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert workers._gpus() == []

    given: list[str | None] = []

    def fail(training: Any, gpu: str | None) -> Any:
        given.append(gpu)
        return subprocess.Popen(
            [sys.executable, "-c", "raise SystemExit(3)"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    monkeypatch.setattr(workers, "_gpus", lambda: ["5", "GPU-7"])
    monkeypatch.setattr(workers, "_start", fail)
    with pytest.raises(PhidriftError, match=r"4 of 4 trainings failed.*exit code 3"):
        train_all(
            made_set(made_documents(4)),
            {"tiny": settings},
            [1, 2, 3, 4],
            threads=1,
            folder=Path("never"),
            workers=3,
        )
    # The first three on the GPUs in turn; the fourth takes the place of whichever ended first.
    assert given[:3] == ["5", "GPU-7", "5"]
    assert len(given) == 4


def test_the_gpu_and_the_threads_reach_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(subprocess, "Popen", lambda _, **named: given.update(named))
    training: Any = type("Training", (), {"threads": 3})
    workers._start(training, "GPU-7")
    assert (given["env"]["CUDA_VISIBLE_DEVICES"], given["env"]["OMP_NUM_THREADS"]) == ("GPU-7", "3")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    workers._start(training, None)
    assert "CUDA_VISIBLE_DEVICES" not in given["env"]


def test_log_lines_of_a_process_come_through(caplog: pytest.LogCaptureFixture) -> None:
    told: list[dict[str, Any]] = []
    handler = workers._Forward(lambda **event: told.append(event))
    handler.emit(logging.LogRecord("phidrift.x", logging.WARNING, "", 0, "%d of %d", (1, 2), None))
    assert told == [{"log": [logging.WARNING, "phidrift.x", "1 of 2"]}]
    workers._log(*told[0]["log"])
    assert caplog.record_tuples == [("phidrift.x", logging.WARNING, "1 of 2")]
