"""Spreading trainings over processes, and over the GPUs where there are some.

A process trains one tagger and ends, so that its memory is free again, and a training that is killed takes none other
with it. It reads its work from the standard input and tells what it does on the standard output, one JSON object a
line.
"""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from phidrift.core.document import parse_document
from phidrift.core.errors import PhidriftError
from phidrift.tagging.train import TaggerSettings, TrainedTagger
from phidrift.tagging.training_state import Training, train_to_the_end

Outcome = TrainedTagger | PhidriftError


def run_trainings(
    trainings: Sequence[tuple[Training, Path]], workers: int, advance: Callable[[int], None]
) -> Generator[tuple[int, Outcome], None, None]:
    """Yields (position, what the training did or the error that ended it) as they end; a failed one stops no other.

    With one worker, or one training, they run in this process, one after the other; otherwise each in a process of
    its own, at most `workers` at once. Nothing of a result depends on which. Worker i sees GPU i, counted round,
    of those that this process may see (CUDA_VISIBLE_DEVICES). When the caller stops, so do all processes.

    Args:
        trainings: each with its `state_folder`.
        workers: at least 1.
        advance: called with documents just read (`Training.work` each).
    """
    if workers == 1 or len(trainings) == 1:
        for number, (training, folder) in enumerate(trainings):
            try:
                yield number, train_to_the_end(training, folder, advance)
            except PhidriftError as error:
                # Without its traceback, which would keep the model that it failed with in memory.
                yield number, PhidriftError(error.problem, where=error.where, mend=error.mend)
        return
    yield from _in_processes(trainings, workers, advance)


def _in_processes(
    trainings: Sequence[tuple[Training, Path]], workers: int, advance: Callable[[int], None]
) -> Generator[tuple[int, Outcome], None, None]:
    waiting = deque(range(len(trainings)))
    free = deque(range(workers))
    gpus = _gpus()
    events: SimpleQueue[tuple[int, dict[str, Any]]] = SimpleQueue()
    running: dict[int, tuple[subprocess.Popen[str], int]] = {}
    outcomes: dict[int, Outcome] = {}
    try:
        while waiting or running:
            while waiting and free:
                number, slot = waiting.popleft(), free.popleft()
                # An interrupt waits until the process is known: else nobody would stop it. It inherits the mask, and so
                # is not ended by a terminal's Ctrl-C before it can say how it ended.
                with _interrupts_held():
                    process = _start(trainings[number][0], gpus[slot % len(gpus)] if gpus else None)
                    running[number] = process, slot
                work = _work(*trainings[number])
                threading.Thread(target=_listen, args=(process, work, number, events), daemon=True).start()
            number, event = events.get()
            if "read" in event:
                advance(event["read"])
            elif "log" in event:
                _log(*event["log"])
            elif "trained" in event:
                outcomes[number] = TrainedTagger(**event["trained"])
            elif "error" in event:
                problem, where, mend = event["error"]
                outcomes[number] = PhidriftError(problem, where=where, mend=mend)
            else:
                process, slot = running.pop(number)
                free.append(slot)
                code = process.wait()
                yield number, outcomes[number] if number in outcomes else _died(trainings[number][0], code)
    finally:
        for process, _ in running.values():
            process.kill()
        for process, _ in running.values():
            process.wait()


@contextlib.contextmanager
def _interrupts_held() -> Generator[None, None, None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count()
    return allowed.split(",")[:count] if allowed else [str(number) for number in range(count)]


def _start(training: Training, gpu: str | None) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(training.threads)}
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = gpu
    return subprocess.Popen(
        # -P: modules of the working folder must not stand in for installed ones.
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    )


def _work(training: Training, folder: Path) -> str:
    """The training as JSON; ASCII, so that a lone surrogate survives."""
    facts: dict[str, Any] = {
        "documents": [{**document.to_json(), "meta": {}} for document in training.documents],
        "settings": asdict(training.settings),
        **{name: getattr(training, name) for name in ("entity", "seed", "threads", "name", "tagger")},
    }
    level = logging.getLogger().getEffectiveLevel()
    return json.dumps({"training": facts, "folder": str(folder), "level": level})


def _listen(
    process: "subprocess.Popen[str]",
    work: str,
    number: int,
    events: "SimpleQueue[tuple[int, dict[str, Any]]]",
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        # One that has died has a broken pipe; its exit code says how it ended.
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(work)
        with process.stdout as words:
            for line in words:
                # One that was killed in the middle of a word left a line without an end.
                if line.endswith("\n"):
                    events.put((number, json.loads(line)))
    finally:
        events.put((number, {}))


def _log(level: int, name: str, message: str) -> None:
    logger = logging.getLogger(name)
    if logger.isEnabledFor(level):
        logger.log(level, "%s", message)


def _died(training: Training, code: int) -> PhidriftError:
    if code == -signal.SIGKILL:
        problem = "the process was killed, most likely because memory ran out"
        return PhidriftError(problem, where=training.name, mend="use fewer workers, or a smaller batch_size")
    return PhidriftError(f"the process ended with exit code {code}, see above", where=training.name)


class _Forward(logging.Handler):
    def __init__(self, tell: Callable[..., None]) -> None:
        super().__init__()
        self.tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(log=[record.levelno, record.name, record.getMessage()])


def _serve() -> None:
    """What a process does: reads one training, trains, tells."""
    # The process that started this one stops it. If that one is gone, so is the pipe, and the next word ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    words = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints

    def tell(**event: Any) -> None:
        words.write(json.dumps(event) + "\n")
        words.flush()

    work = json.load(sys.stdin)
    logging.basicConfig(level=work["level"], handlers=[_Forward(tell)])
    facts = work["training"]
    facts["documents"] = [parse_document(record, "document") for record in facts["documents"]]
    facts["settings"] = TaggerSettings(**facts["settings"])
    try:
        trained = train_to_the_end(Training(**facts), Path(work["folder"]), lambda count: tell(read=count))
    except PhidriftError as error:
        where = None if error.where is None else str(error.where)
        tell(error=[error.problem, where, error.mend])
    else:
        tell(trained=asdict(trained))


if __name__ == "__main__":
    _serve()
