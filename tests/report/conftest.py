"""A small finished project on disk, in the formats that the stages write, with invented numbers."""

import csv
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ENTITIES = ("ADDRESS", "CONTACT", "DATE", "PERSON")
CORPORA = ("ai4privacy", "i2b2", "multileg")
TARGETS = (*CORPORA, "syn")
SETS = {"ai4privacy-200": "ai4privacy", "multileg-200": "multileg", "syn-80": "syn", "ablation": "ablation"}
METRICS = {
    "lexical": [
        *("jsd_unigram", "jsd_bigram", "vocab_overlap", "entropy_diff", "mtld_diff", "yules_k_diff"),
        *("distinct_1_diff", "distinct_2_diff", "self_repetition_diff", "sentence_length_mean_diff"),
        *("sentence_length_std_diff", "punctuation_ratio_diff", "digit_ratio_diff", "capitalized_ratio_diff"),
        *("readability_diff", "perplexity_diff"),
    ],
    "structural": [
        *("line_break_density_diff", "key_value_ratio_diff", "bullet_ratio_diff", "all_caps_ratio_diff"),
        "special_char_ratio_diff",
    ],
    "semantic": ["mmd", "frechet", "embedding_mean_distance", "cluster_jsd"],
}
PARAMS = Path(__file__).parents[2] / "profiles" / "default.yaml"


@pytest.fixture(scope="session")
def write_project() -> Callable[..., Path]:
    """Writes a project into an empty folder and returns it; `real` names corpora that are no stand-ins."""

    def write(folder: Path, real: tuple[str, ...] = ()) -> Path:
        chance = random.Random(7)
        _write(folder / "params.yaml", PARAMS.read_text(encoding="utf-8"))
        for name, source in SETS.items():
            _json(folder / f"metrics/tagging/{name}.json", _tagging(name, source, chance))
        for name in CORPORA:
            _json(folder / f"metrics/corpora/{name}.json", _corpus(name, name not in real))
        _json(folder / "metrics/generation.json", _generation())
        header = "mixture,judge_threshold,generator,real,size,entity,target,f1,support,in_distribution"
        _write(folder / "metrics/ablation.csv", header + "\n")
        _drift(folder / "data/drift/drift.csv", chance)
        sample = {
            "sample_tokens": 2400,
            "sample_sentences": 120,
            "repeats": 10,
            "floor_pairs": 10,
            "seed": 42,
        }
        _json(folder / "data/drift/sample.json", sample)
        _write(folder / "data/synthetic/DATE/test.jsonl", "{}\n")
        return folder

    return write


def _tagging(name: str, source: str, chance: random.Random) -> dict[str, Any]:
    entities: dict[str, Any] = {}
    for entity, target in itertools.product(ENTITIES, TARGETS):
        own = target == source or (name == "ablation" and target in ("multileg", "syn"))
        f1: float | None = round(chance.uniform(0.4, 0.95) if own else chance.uniform(0.0, 0.4), 3)
        support, trained, reason = chance.randint(5, 300), True, None
        if entity == "CONTACT" and source == "multileg":
            f1, trained, reason = 0.0, False, "no positive document in the training set"
        if entity == "CONTACT" and target == "multileg":
            f1, support, reason = None, 0, "neither gold nor predicted spans"
        bounds = (None, None) if f1 is None else (round(f1 * 0.8, 3), round(min(1.0, f1 * 1.1), 3))
        entities.setdefault(entity, {})[target] = {
            "f1": f1, "precision": f1, "recall": f1, "f1_low": bounds[0], "f1_high": bounds[1],
            "tp": 1, "fp": 1, "fn": 1, "support": support, "in_distribution": own, "trained": trained,
            "reason": reason, "runs": [{"tagger": "minilm", "seed": 42, "f1": f1}],
        }  # fmt: skip
    return {"set": name, "source": source, "size": 80, "entities": entities}


def _corpus(name: str, stand_in: bool) -> dict[str, Any]:
    counts = {"spans": 120, "tokens": 340, "documents": 60}
    split = {"documents": 100, "tokens": 5300, "tokens_per_document": 53.0, "vocabulary": 900}
    return {
        "corpus": name, "licence": "CC-BY-4.0", "source": "https://example.org/corpus", "sha256": "ab" * 32,
        "splits": {part: {**split, "entities": dict.fromkeys(ENTITIES, counts)} for part in ("train", "test")},
        "spans": {"outcomes": {"exact": 470, "relocated": 2, "trimmed": 7, "dropped": 1}},
        "stand_in": stand_in, "restricted": name == "i2b2",
        "rejected": {"documents": 3, "reasons": {"not JSON": 3}}, "without_split": 0,
        "dropped_from_train": {"group_in_test": 0, "text_in_test": 4},
        "labels": {
            "CITY": {"entity": "ADDRESS", "spans": 70, "tokens": 90},
            "STREET": {"entity": "ADDRESS", "spans": 71, "tokens": 290},
            "ORG": {"entity": None, "spans": 12, "tokens": 30},
        },
        "languages": {"en": 98, "und": 2},
    }  # fmt: skip


def _generation() -> dict[str, Any]:
    counts = {"asked": 40, "mean_score": 2.9, "kept": 20}
    rounds = {str(n): {**counts, "well_formed": 20 + n} for n in (0, 1, 10, 2)}
    return {
        "note": "written by a small model",
        "entities": {entity: {"rounds": rounds} for entity in ENTITIES},
    }


def _drift(path: Path, chance: random.Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = "set source size entity target metric family direction value low high floor clear value_full"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, [*columns.split(), "reference", "candidate", "reason"], lineterminator="\n"
        )
        writer.writeheader()
        for (name, source), entity, target in itertools.product(SETS.items(), ENTITIES, TARGETS):
            for family, metrics in METRICS.items():
                for metric in metrics:
                    alike = metric == "vocab_overlap"
                    value = chance.uniform(0.0, 0.3) + (0.0 if target == source else 0.4)
                    undefined = metric == "frechet" and target == "i2b2"
                    writer.writerow({
                        "set": name, "source": source, "size": 80, "entity": entity, "target": target,
                        "metric": metric, "family": family,
                        "direction": "higher_is_more_alike" if alike else "higher_is_more_drift",
                        "value": "" if undefined else 1 - value if alike else value,
                        "reason": "too few sentences" if undefined else "",
                    })  # fmt: skip


def _json(path: Path, value: Any) -> None:
    _write(path, json.dumps(value))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
