"""How fast two corpora are compared, beside the straightforward composition of other libraries on the same text.

    python benchmarks/drift.py [--documents 20000] [--rounds 3]

Prints Markdown tables. Lexical metrics (without perplexity) and structural ones, documents of about 60 tokens. Every
figure is the median of that many processes, in turn; imports, making the text and loading the syllable dictionary are
not timed. Peak memory is that of the process (VmHWM), the text included.
"""

import argparse
import csv
import json
import random
import re
import statistics
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from phidrift.core import text as units

CORPUS = Path(__file__).parents[2] / "shared/corpora/mts-dialog/MTS-Dialog-TrainingSet.csv"
REPEATS = 40
PAIRS = 10
FIXED_TOKENS = 100_000  # of the samples whose comparison may not grow with the corpora


def make_texts(number: int, seed: int) -> list[str]:
    """Documents of resampled lines of real dialogues and notes; without these, of the stand-ins.

    One word in twelve gives way to an invented one from an endless list, so that the vocabulary grows with the corpus
    and n-grams differ where lines repeat.
    """
    lines = _lines()
    sizes = [len(units.tokens(line)) for line in lines]
    dice = random.Random(seed)
    texts = []
    for _ in range(number):
        size, wanted, document = 0, dice.randint(10, 75), []
        while size < wanted:
            place = dice.randrange(len(lines))
            size += sizes[place]
            document.append(
                " ".join(
                    chunk if dice.random() > 1 / 12 else _invented(dice) for chunk in lines[place].split()
                )
            )
        texts.append("\n".join(document))
    return texts


def _lines() -> list[str]:
    if CORPUS.is_file():
        with CORPUS.open(encoding="utf-8", newline="") as file:
            texts = [row[column] for row in csv.DictReader(file) for column in ("section_text", "dialogue")]
    else:
        from phidrift.corpora.formats import format_named
        from phidrift.corpora.source import PLAIN
        from phidrift.corpora.standins import write_standins

        with tempfile.TemporaryDirectory() as folder:
            write_standins(Path(folder) / "standins", 1, (60, 1), 1, 1)
            path = Path(folder) / "standins/i2b2"
            texts = [raw.text for raw in format_named("i2b2").read(path, PLAIN, lambda *_: None)]
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


def _invented(dice: random.Random) -> str:
    number = min(int(dice.paretovariate(0.25)), 10**7)
    word = ""
    while number:
        number, digit = divmod(number, 45)
        word += "bdfklmnrt"[digit // 5] + "aeiou"[digit % 5]
    return word + dice.choice(("", "", "", ",", "."))


def ours(documents: int) -> dict[str, float]:
    """Seconds of profiling two corpora, of one sample and all metrics, of 40 repeats with both noise floors."""
    from phidrift.drift import METRICS, Settings, profile, readability
    from phidrift.drift.sampling import Sample, draw, draw_disjoint, sample_sizes, share_vocabulary

    metrics = [each for each in METRICS.values() if each.needs == "tokens"]

    def compare(a: Sample, b: Sample) -> list[float]:
        return [abs(m.own(a) - m.own(b)) if m.own else m.between(a, b) for m in metrics]  # type: ignore[misc]

    texts = [make_texts(documents, seed) for seed in (1, 2)]
    readability.syllables("dictionary")
    times: dict[str, float] = {}
    profiles = []
    with _timed(times, "profile"):
        profiles += [profile(each) for each in texts]
    with _timed(times, "one sample"):
        corpora = share_vocabulary(profiles, Settings())
        size = sample_sizes(corpora, corpora, Settings())["tokens"]
        compare(*(draw(corpus, "tokens", size, 0) for corpus in corpora))
    with _timed(times, "floors"):
        for number in range(REPEATS):
            compare(*(draw(corpus, "tokens", size, number) for corpus in corpora))
            for corpus in corpora:
                compare(*draw_disjoint(corpus, "tokens", size, number))
    with _timed(times, "pair"):
        for number in range(PAIRS):
            compare(*(draw(corpus, "tokens", FIXED_TOKENS, number) for corpus in corpora))
    return {name: seconds / PAIRS if name.startswith("pair") else seconds for name, seconds in times.items()}


def peers(documents: int) -> dict[str, float]:
    """Seconds of the same metrics, once, on all text, by lexicalrichness, textstat, Counter and scipy."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lexicalrichness import LexicalRichness
    from scipy.spatial.distance import jensenshannon
    from scipy.stats import entropy
    from textstat import textstat

    texts = [make_texts(documents, seed) for seed in (1, 2)]
    textstat.syllable_count("dictionary")
    times: dict[str, float] = {}
    with _timed(times, "whole"):
        counted, numbers = [], []
        for corpus in texts:
            words = [units.words(text) for text in corpus]
            grams = [Counter(gram for each in words for gram in _ngrams(each, n)) for n in (1, 2, 4)]
            richness = LexicalRichness([word for each in words for word in each], None, None)
            numbers.append(
                [
                    entropy(list(grams[0].values())),
                    richness.mtld(0.72),
                    richness.yulek,
                    *(len(each) / each.total() for each in grams[:2]),
                    sum(count > 1 for count in grams[2].values()) / len(grams[2]),
                    textstat.flesch_kincaid_grade("\n".join(corpus)),
                    *_plain_ratios(corpus),
                ]
            )
            counted.append(grams)
        for n in (0, 1):
            a, b = counted[0][n], counted[1][n]
            union = sorted(a.keys() | b.keys())
            jensenshannon([a[gram] for gram in union], [b[gram] for gram in union], base=2)
        len(counted[0][0].keys() & counted[1][0].keys()) / len(counted[0][0].keys() | counted[1][0].keys())
        [abs(a - b) for a, b in zip(*numbers, strict=True)]
    return times


def _ngrams(words: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[place:] for place in range(n)), strict=False)


def _plain_ratios(texts: Sequence[str]) -> list[float]:
    """The usual one-liners, ASCII and without the care for abbreviations, times and decimals that ours take."""
    chunks = [chunk for text in texts for chunk in text.split()]
    tokens = [token for text in texts for token in units.tokens(text)]
    sentences = [each for text in texts for each in re.split(r"(?<=[.!?])\s+|\n+", text) if each]
    lengths = [len(units.tokens(sentence)) for sentence in sentences]
    return [
        statistics.fmean(lengths),
        statistics.pstdev(lengths),
        sum(any(c in string.punctuation for c in chunk) for chunk in chunks) / len(chunks),
        sum(any(c.isdigit() for c in chunk) for chunk in chunks) / len(chunks),
        sum(chunk[0].isupper() for chunk in chunks) / len(chunks),
        sum(any(c in "@#$%^&*" for c in chunk) for chunk in chunks) / len(chunks),
        sum(token.isupper() and len(token) > 1 for token in tokens) / len(tokens),
        100 * sum(text.count("\n") for text in texts) / len(tokens),
        sum(bool(re.match(r"\w+(?: \w+){0,4}\s*[:=]\s*\S", each)) for each in sentences) / len(sentences),
        sum(bool(re.match(r"[-*•]\s|\d+[.)]\s", each)) for each in sentences) / len(sentences),
    ]


@contextmanager
def _timed(times: dict[str, float], name: str) -> Iterator[None]:
    wall, processor = time.perf_counter(), time.process_time()
    yield
    times[name] = time.perf_counter() - wall
    times[f"{name}, CPU"] = time.process_time() - processor


PARTS: dict[str, Callable[[int], dict[str, float]]] = {"ours": ours, "peers": peers}


def _peak_mebibytes() -> float:
    # Not ru_maxrss: it starts from that of the parent, which the child was forked from.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def measure(part: str, documents: int) -> dict[str, float]:
    """The figures of one part, taken in a process of its own."""
    command = [sys.executable, __file__, "--part", part, "--documents", str(documents)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Prints the tables, or as a child the figures of one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000, help="documents a corpus")
    parser.add_argument("--rounds", type=int, default=3, help="processes a figure")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        found = PARTS[options.part](options.documents)
        print(json.dumps({**found, "memory": _peak_mebibytes()}))
        return
    sizes = [options.documents // 2, options.documents, options.documents * 2]
    kinds = [("peers", options.documents), *(("ours", size) for size in sizes)]
    rounds = [{kind: measure(*kind) for kind in kinds} for _ in range(options.rounds)]

    def median(kind: tuple[str, int], figure: Callable[[dict[str, float]], float]) -> float:
        return statistics.median(figure(each[kind]) for each in rounds)

    own, other = ("ours", options.documents), ("peers", options.documents)
    print(f"Two corpora of {options.documents:,} documents of about 60 tokens\n")
    print("| | seconds | CPU seconds | peak memory, MiB |\n|---|---|---|---|")
    rows = [
        ("lexicalrichness, textstat, Counter, scipy", other, ["whole"]),
        ("phidrift: profiles, one sample of each, all metrics", own, ["profile", "one sample"]),
        ("of it the profiles", own, ["profile"]),
        (f"{REPEATS} repeats and the noise floors of both", own, ["floors"]),
    ]
    for title, kind, names in rows:
        wall, processor = (
            median(kind, lambda found, end=end, names=names: sum(found[name + end] for name in names))
            for end in ("", ", CPU")
        )
        memory = median(kind, lambda found: found["memory"])
        print(f"| {title} | {wall:.2f} | {processor:.2f} | {memory:.0f} |")
    ratios = [
        each[other]["whole, CPU"] / (each[own]["profile, CPU"] + each[own]["one sample, CPU"])
        for each in rounds
    ]
    low, high = min(ratios), max(ratios)
    print("\nPeak memory is that of the whole process, floors included.")
    print(
        f"Throughput beside the others, by CPU time: {statistics.median(ratios):.1f} ({low:.1f} to {high:.1f}) times.\n"
    )
    print(
        f"| documents a corpus | profiles, CPU s | ratio | {FIXED_TOKENS:,} tokens compared, CPU ms | ratio |"
    )
    print("|---|---|---|---|---|")
    before: dict[str, float] = {}
    for size in sizes:
        now = {
            name: median(("ours", size), lambda found, name=name: found[name])
            for name in ("profile, CPU", "pair, CPU")
        }
        seconds, pair = now.values()
        first, second = (f"{now[name] / before[name]:.2f}" if before else "" for name in now)
        print(f"| {size:,} | {seconds:.2f} | {first} | {1e3 * pair:.1f} | {second} |")
        before = now


if __name__ == "__main__":
    main()
