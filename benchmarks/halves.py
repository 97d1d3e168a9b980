"""How many of the 25 metrics stand clear of their noise floors: between halves of one corpus, and between corpora.

    python benchmarks/halves.py CORPORA [--seeds 20] [--repeats 40] [--floor-pairs 40]
                                        [--parts documents,files,pairs] [--text-only]

CORPORA is a folder that holds `multileg`, `mts-dialog`, `aci-bench` and `inlegalner`. Prints Markdown tables.

Half the documents of MultiLeg against the other half, drawn at random, should give next to nothing that is clear. Its
documents are paragraphs of court files, though, and those of one file are alike: so the same is done with halves of
files, which differ in what they are about. And with few long notes a side (`--parts few --text-only`), to see from how
many documents on the floor can be trusted.
"""

import argparse
import logging
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phidrift.corpora.reading import Reading, corpus_at, harmonised_documents
from phidrift.corpora.source import PLAIN, ReadOptions
from phidrift.drift import METRICS, Drift, Profile, Settings, compare_profiles, profile
from phidrift.drift.embedding import Encoder, load_encoder
from phidrift.drift.perplexity import Scorer, load_scorer

ENCODER, LM = "embedded/all-minilm-l6-v2", "embedded/smollm2-135m-instruct"
SENTENCES, LM_TOKENS = 600, 6_000
FOREIGN = {
    "mts-dialog": ("mts-dialog", ReadOptions(text_field="section_text")),
    "aci-bench": ("aci-bench/train.csv", ReadOptions(text_field="note")),
    "inlegalner": ("inlegalner", PLAIN),
}


def read(path: Path, options: ReadOptions = PLAIN) -> list[tuple[str, str]]:
    """(group, text) of every document: of MultiLeg, the court file of a paragraph."""
    documents = harmonised_documents(corpus_at(path, options=options), Reading())
    return [(document.meta["group"], document.text) for document in documents]


def remembering_encoder(encode: Encoder) -> Encoder:
    """The same encoder; a sentence that it has seen isn't computed again."""
    known: dict[str, npt.NDArray[np.float32]] = {}

    def remembered(sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        new = sorted(set(sentences) - known.keys())
        known.update(zip(new, encode(new), strict=True))
        return np.array([known[sentence] for sentence in sentences], dtype=np.float32)

    return remembered


def remembering_scorer(score: Scorer) -> Scorer:
    """The same scorer; what a document counts doesn't depend on the others, so each is read once."""
    known: dict[tuple[str, int | None], tuple[float, int]] = {}

    def remembered(
        texts: Sequence[str], most: int | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        nll, predicted = np.zeros(len(texts)), np.zeros(len(texts), dtype=np.int64)
        for place, text in enumerate(texts):
            if most is not None and predicted.sum() >= most:
                break
            if (text, most) not in known:
                alone, tokens = score([text], most)
                known[text, most] = float(alone[0]), int(tokens[0])
            nll[place], predicted[place] = known[text, most]
        return nll, predicted

    return remembered


def divided(documents: Sequence[tuple[str, str]], seed: int, by_group: bool) -> tuple[list[str], list[str]]:
    """Two halves at random: of the documents, or of the groups with all their documents."""
    units = sorted({group for group, _ in documents}) if by_group else list(range(len(documents)))
    random.Random(seed).shuffle(units)
    first = set(units[: len(units) // 2])
    inside = [(group if by_group else place) in first for place, (group, _) in enumerate(documents)]
    texts = [text for _, text in documents]
    return (
        [text for text, chosen in zip(texts, inside, strict=True) if chosen],
        [text for text, chosen in zip(texts, inside, strict=True) if not chosen],
    )


def measured_metrics(text_only: bool) -> list[str]:
    """All metrics, or those that need no model."""
    return [name for name, metric in METRICS.items() if metric.needs == "tokens" or not text_only]


def clear(drift: Drift) -> list[str]:
    """The metrics that stand clear; all that were measured have to have a floor."""
    assert all((found.value is None) == (found.clear is None) for found in drift.metrics.values())
    return [name for name, found in drift.metrics.items() if found.clear]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--floor-pairs", type=int, default=40)
    parser.add_argument("--parts", default="documents,files,pairs", help="what to do, by commas")
    parser.add_argument("--text-only", action="store_true", help="the 20 metrics without a model, in seconds")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    encode = None if options.text_only else remembering_encoder(load_encoder(ENCODER))
    score = None if options.text_only else remembering_scorer(load_scorer(LM))

    def measured(texts: Sequence[str]) -> Profile:
        return profile(
            texts,
            encode=encode,
            score=score,
            encoder=ENCODER,
            lm=LM,
            sentences=SENTENCES,
            lm_tokens=LM_TOKENS,
        )

    def compared(reference: Profile, candidate: Profile, seed: int = 42) -> Drift:
        settings = Settings(seed=seed, repeats=options.repeats, floor_pairs=options.floor_pairs)
        return compare_profiles(reference, candidate, settings)

    every = measured_metrics(options.text_only)
    started = time.perf_counter()
    multileg = read(options.corpora / "multileg")
    for unit in ("documents", "files"):
        if unit not in options.parts:
            continue
        found = []
        for seed in range(options.seeds):
            first, second = map(measured, divided(multileg, seed, unit == "files"))
            found.append(clear(compared(first, second, seed)))
            print(f"{unit}, seed {seed}: {len(found[-1])} clear", file=sys.stderr, flush=True)
        print_halves(unit, found, every)
    if "pairs" in options.parts:
        whole = measured([text for _, text in multileg])
        print("| one | other | tokens a sample | clear | not clear |\n|---|---|---|---|---|")
        for name, (path, how) in FOREIGN.items():
            drift = compared(whole, measured([text for _, text in read(options.corpora / path, how)]))
            names = clear(drift)
            hidden = ", ".join(each for each in every if each not in names)
            print(f"| MultiLeg | {name} | {drift.sample['tokens']} | {len(names)} | {hidden} |", flush=True)
    if "few" in options.parts:
        notes = [text for _, text in read(options.corpora / FOREIGN["aci-bench"][0], FOREIGN["aci-bench"][1])]
        print("\n| long notes a side | in a sample | clear, mean | most |\n|---|---|---|---|")
        for number in (4, 8, 20):
            counts, drawn = [], []
            for seed in range(options.seeds):
                texts = random.Random(seed).sample(notes, 2 * number)
                drift = compared(measured(texts[:number]), measured(texts[number:]), seed)
                counts.append(len(clear(drift)))
                drawn.append(drift.sample["reference"]["drawn_documents"]["tokens"])
            print(f"| {number} | {np.mean(drawn):.1f} | {np.mean(counts):.2f} | {max(counts)} |", flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


def print_halves(unit: str, found: Sequence[Sequence[str]], every: Sequence[str]) -> None:
    """How many metrics were clear in each halving, and how often each was."""
    counts = [len(names) for names in found]
    print(f"halves by {unit}, {len(found)} seeds: {np.mean(counts):.2f} clear on average, ", end="")
    print(f"{min(counts)} to {max(counts)}\n\n| metric | clear in |\n|---|---|")
    often = Counter(name for names in found for name in names)
    for name in every:
        print(f"| {name} | {often[name]} |")
    print(flush=True)


if __name__ == "__main__":
    main()
