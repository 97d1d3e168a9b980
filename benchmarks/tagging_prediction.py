"""How fast taggers read, beside transformers' own pipeline in the same run, and how the memory of deidentify grows.

    python benchmarks/tagging_prediction.py --models models/multileg-200 [--documents 120] [--notes 12] [--threads 2]

Prints Markdown tables: medians of three rounds, the ways taking turns. `pipeline` is token-classification with
aggregation_strategy="simple", one document at a time; on notes it is also given a stride, without which it reads a
document's first window only. `bf16` is the same model in bfloat16; the second table has the documents whose spans stay.
"""

import argparse
import dataclasses
import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from phidrift.corpora.formats import format_named
from phidrift.corpora.source import PLAIN
from phidrift.corpora.standins import write_standins
from phidrift.deidentification.coverage import choose_taggers
from phidrift.tagging.model_folders import find_taggers
from phidrift.tagging.predict import Tagger, load_tagger, predict
from phidrift.tagging.quiet import quiet_transformers

ROUNDS = 3
STRIDE = 64  # pieces


def make_texts(folder: Path, documents: int, notes: int) -> dict[str, list[str]]:
    """Stand-ins: short documents of 15 to 90 model tokens or so, and clinical notes of several windows."""
    write_standins(folder, 1, (notes, notes), 10, documents)
    texts = {}
    for kind, name, count in (("short", "ai4privacy", documents), ("notes", "i2b2", notes)):
        read = format_named(name).read(folder / name, PLAIN, _refuse)
        texts[kind] = [raw.text for raw in read][:count]
    return texts


def _refuse(where: str, reason: str) -> None:
    raise AssertionError(f"{where}: {reason}")


def ways(folders: Sequence[Path], kind: str, texts: Sequence[str]) -> dict[str, Callable[[], None]]:
    """What is timed, by name."""
    from transformers import pipeline

    with quiet_transformers():
        pipes = [
            pipeline("token-classification", model=str(folder), aggregation_strategy="simple", device=-1)
            for folder in folders
        ]
    taggers = [load_tagger(folder) for folder in folders]

    def by_pipes(count: int, **named: Any) -> Callable[[], None]:
        return lambda: [pipe(text, **named) for pipe in pipes[:count] for text in texts] and None

    def by_ours(count: int, of: Sequence[Tagger] = taggers) -> Callable[[], None]:
        return lambda: predict(of[:count], texts) and None

    low = [load_tagger(folders[0])]
    low[0].model.bfloat16()
    # One after another costs four times one, as for the pipelines; together they share what isn't the model.
    apart = [dataclasses.replace(tagger, tokenization=str(n)) for n, tagger in enumerate(taggers)]
    every = len(folders)
    found = {"pipeline, 1 tagger": by_pipes(1)}
    if kind == "notes":
        found["pipeline with stride, 1 tagger"] = by_pipes(1, stride=STRIDE)
    return {
        **found,
        "phidrift, 1 tagger": by_ours(1),
        "phidrift bf16, 1 tagger": by_ours(1, low),
        f"phidrift, {every} taggers apart": by_ours(every, apart),
        f"phidrift, {every} taggers together": by_ours(every),
    }


def speed_table(folders: Sequence[Path], corpora: dict[str, list[str]]) -> None:
    print("| texts | documents | model tokens | way | seconds | documents/s | times the pipeline |")
    print("|---|---|---|---|---|---|---|")
    tokenizer = load_tagger(folders[0]).tokenizer
    for kind, texts in corpora.items():
        tokens = sum(len(tokenizer(text, verbose=False)["input_ids"]) for text in texts)
        timed = ways(folders, kind, texts)
        taken: dict[str, list[float]] = {way: [] for way in timed}
        for _ in range(ROUNDS):
            for way, work in timed.items():
                started = time.perf_counter()
                work()
                taken[way].append(time.perf_counter() - started)
        medians = {way: statistics.median(seconds) for way, seconds in taken.items()}
        peer = medians.get("pipeline with stride, 1 tagger", medians["pipeline, 1 tagger"])
        for way, seconds in medians.items():
            count = len(folders) if "taggers" in way else 1
            times = peer * count / seconds
            speed = f"{seconds:.2f} | {len(texts) / seconds:.1f} | {times:.1f}"
            print(f"| {kind} | {len(texts)} | {tokens} | {way} | {speed} |", flush=True)


def bf16_table(folders: Sequence[Path], corpora: dict[str, list[str]]) -> None:
    print("\n| texts | tagger | spans | documents with the same spans in bf16 |\n|---|---|---|---|")
    for kind, texts in corpora.items():
        for folder in folders:
            tagger = load_tagger(folder)
            (exact,) = predict([tagger], texts)
            tagger.model.bfloat16()
            (rough,) = predict([tagger], texts)
            same = sum(one.spans == other.spans for one, other in zip(exact, rough, strict=True))
            spans = sum(len(one.spans) for one in exact)
            print(f"| {kind} | {tagger.entity} | {spans} | {same} of {len(texts)} |")


def memory_table(models: Path, texts: Sequence[str], threads: int) -> None:
    print("\n| documents | characters | peak MiB of phidrift deidentify |\n|---|---|---|")
    for factor in (1, 4):
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "in.jsonl")
            many = [text for _ in range(factor) for text in texts]
            path.write_text("".join(json.dumps({"text": text}) + "\n" for text in many), encoding="utf-8")
            command = [sys.executable, __file__, "--measure", str(path), "--models", str(models)]
            command += ["--threads", str(threads)]
            peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
            print(f"| {len(many)} | {sum(map(len, many))} | {float(peak):.0f} |", flush=True)


def _measure(path: Path, models: Path, threads: int) -> None:
    from typer.testing import CliRunner

    from phidrift.cli.main import app

    arguments = ["deidentify", path, "--models", models, "--out", path.parent / "out", "--threads", threads]
    done = CliRunner().invoke(app, [*map(str, arguments), "--mode", "surrogate"])
    assert done.exit_code == 0, done.output
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.split("VmHWM:")[1].split()[0]) / 1024)


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="a folder of taggers of several entities")
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--notes", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if options.measure:
        _measure(options.measure, options.models, options.threads)
        return
    torch.set_num_threads(options.threads)
    folders = [one.folder for one in choose_taggers(find_taggers(options.models), None)]
    with tempfile.TemporaryDirectory() as scratch:
        corpora = make_texts(Path(scratch), options.documents, options.notes)
    speed_table(folders, corpora)
    bf16_table(folders, corpora)
    # Several batches of short documents each time: what a batch needs is there from the first one on.
    memory_table(options.models, corpora["short"] * 5, options.threads)


if __name__ == "__main__":
    main()
