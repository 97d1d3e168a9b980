"""The noise floor does its work on real text: halves of a corpus are not told apart, two corpora are.

The full figures, with all 25 metrics, are benchmarks/halves.py's, in docs/drift-metrics.md.
"""

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest

from phidrift.drift import METRICS, Settings, compare_profiles, profile

SHARED = Path(__file__).parents[3] / "shared" / "corpora"
TEXT = [name for name, metric in METRICS.items() if metric.needs == "tokens"]
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared/corpora")


@pytest.fixture(scope="module")
def paragraphs():
    """MultiLeg, by court file."""
    return [
        [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((SHARED / "multileg").glob("*.jsonl"))
    ]


def clear(first, second, seed=42):
    metrics = compare_profiles(profile(first), profile(second), Settings(seed=seed)).metrics
    assert all(metrics[name].clear is not None for name in TEXT)
    return {name for name in TEXT if metrics[name].clear}


def halves(units, seed):
    """Two halves, drawn at random."""
    shuffled = random.Random(seed).sample(units, len(units))
    return shuffled[: len(units) // 2], shuffled[len(units) // 2 :]


def test_random_halves_of_a_corpus_are_not_different(paragraphs):
    texts = [text for file in paragraphs for text in file]
    counts = [len(clear(*halves(texts, seed), seed)) for seed in range(6)]
    assert np.mean(counts) <= 2


def test_halves_by_court_file_are_different(paragraphs):
    # Paragraphs of one file share their subject and its names: 25 files are not 25 others.
    for seed in range(2):
        first, second = ([text for file in half for text in file] for half in halves(paragraphs, seed))
        assert {"jsd_unigram", "vocab_overlap"} <= clear(first, second, seed)


def test_court_paragraphs_and_clinical_notes_are_different(paragraphs):
    with (SHARED / "mts-dialog" / "MTS-Dialog-TrainingSet.csv").open(encoding="utf-8", newline="") as file:
        notes = [row["section_text"] for row in csv.DictReader(file)]
    found = clear([text for file in paragraphs for text in file], notes)
    assert len(found) >= 15
    # Neither has line breaks or symbols to speak of: what does not differ is not called different.
    assert not {"line_break_density_diff", "special_char_ratio_diff"} & found
