"""How fast and how exact the semantic metrics and the sentence encoder are, beside their peers in the same run.

    python benchmarks/drift_semantic.py [--points 5000] [--sentences 300] [--repeats 3]

Prints Markdown tables. A ratio is the metric's time over its peer's, of medians of alternating runs; memory is the
growth of the peak of a process of its own.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phidrift.drift import semantic

MODEL = "embedded/all-minilm-l6-v2"
Floats = npt.NDArray[np.float32]


def samples(points: int) -> tuple[Floats, Floats]:
    """Two samples of unit vectors around twenty topics, the second shifted a little."""
    random = np.random.default_rng(0)
    topics = random.normal(size=(20, 384))

    def one(shift: float) -> Floats:
        values = 0.7 * topics[random.integers(0, 20, points)] + random.normal(shift, size=(points, 384))
        return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)

    return one(0), one(0.1)


def sqrtm_formula(x: Floats, y: Floats) -> float:
    """The Fréchet distance as it is usually computed."""
    from scipy.linalg import sqrtm

    a, b = (np.cov(side.astype(np.float64), rowvar=False) for side in (x, y))
    means = x.mean(axis=0, dtype=np.float64) - y.mean(axis=0, dtype=np.float64)
    return float(means @ means + np.trace(a + b) - 2 * np.trace(sqrtm(a @ b)).real)


def side_by_side(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each, run in turn; a first round is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, work in ways.items():
            started = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - started)
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def sentences(most: int) -> list[str]:
    """Sentences of stand-ins for clinical notes and court paragraphs, half and half."""
    from phidrift.core.text import sentences as split
    from phidrift.corpora.formats import format_named
    from phidrift.corpora.source import PLAIN
    from phidrift.corpora.standins import write_standins

    with tempfile.TemporaryDirectory() as name:
        write_standins(Path(name), 1, (30, 30), 300, 10)
        found = []
        for kind in ("i2b2", "multileg"):
            raws = format_named(kind).read(Path(name) / kind, PLAIN, lambda where, reason: None)
            found += [sentence for raw in raws for sentence in split(raw.text)][: most // 2]
    return found


def peak_mib() -> float:
    """Peak resident memory of this process: not ru_maxrss, which starts with what the parent held."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def encoders(most: int, repeats: int) -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    from phidrift.core.models import locate
    from phidrift.drift.embedding import load_encoder

    texts = sentences(most)
    plain = SentenceTransformer(locate(MODEL), model_kwargs={"dtype": torch.float32})
    wide, narrow = load_encoder(MODEL), load_encoder(MODEL, dtype="auto")
    ways: dict[str, Callable[[], Any]] = {
        "sentence-transformers": lambda: plain.encode(texts, show_progress_bar=False),
        "float32": lambda: wide(texts),
        "auto": lambda: narrow(texts),
    }
    seconds = side_by_side(ways, repeats)
    first = ways["sentence-transformers"]()
    print(f"\n| encoder ({len(texts)} sentences) | s | speed-up | least cosine |\n|---|---|---|---|")
    for name, work in ways.items():
        speed, cosine = seconds["sentence-transformers"] / seconds[name], np.sum(first * work(), axis=1).min()
        print(f"| {name} | {seconds[name]:.2f} | {speed:.2f} | {cosine:.6f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=5_000)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    x, y = samples(options.points)
    if options.measure:
        semantic.mmd(x[:50], y[:50])
        before = peak_mib()
        semantic.mmd(x, y)
        print(peak_mib() - before)
        return
    pooled = np.concatenate([x, y])
    seconds = side_by_side(
        {
            "pooled product": lambda: pooled @ pooled.T,
            "mmd": lambda: semantic.mmd(x, y),
            "sqrtm formula": lambda: sqrtm_formula(x, y),
            "frechet": lambda: semantic.frechet_distance(x, y),
        },
        options.repeats,
    )
    print("| metric | s | peer | s | ratio |\n|---|---|---|---|---|")
    for name, peer in (("mmd", "pooled product"), ("frechet", "sqrtm formula")):
        ratio = seconds[name] / seconds[peer]
        print(f"| {name} | {seconds[name]:.2f} | {peer} | {seconds[peer]:.2f} | {ratio:.2f} |")
    gap = abs(semantic.frechet_distance(x, y) / sqrtm_formula(x, y) - 1)
    print(f"\nFréchet and the sqrtm formula differ by {gap:.1e} of the value.")
    command = [sys.executable, __file__, "--measure", "--points", str(options.points)]
    peak = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(f"MMD adds {peak:.0f} MiB to a process that holds both samples.", flush=True)
    encoders(options.sentences, options.repeats)


if __name__ == "__main__":
    main()
