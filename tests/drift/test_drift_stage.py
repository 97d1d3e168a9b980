"""The stages profiles, profile_ablation and drift on small corpora, with stand-ins for the two models."""

import csv
import json
from itertools import product
from pathlib import Path

import pytest
from made_corpora import corpus, fake_encoder, fake_scorer

from phidrift.cli.stages import drift as stage
from phidrift.config import Params, load_params
from phidrift.core.document import Document, write_documents
from phidrift.drift import METRICS, profile

ROOT = Path(__file__).parents[2]


@pytest.fixture
def params(tmp_path, monkeypatch) -> Params:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stage, "load_encoder", lambda name: fake_encoder)
    monkeypatch.setattr(stage, "load_scorer", lambda name: fake_scorer)
    whole = load_params(ROOT / "profiles" / "default.yaml")
    changes = {
        "entities": ["DATE", "PERSON"],
        "sets": ["multileg-20", "syn-20"],
        "drift": whole.drift.model_copy(update={"repeats": 3, "floor_pairs": 3, "clusters": 3}),
    }
    for number, name in enumerate(whole.corpora):
        save(f"data/corpora/{name}/test.jsonl", corpus(number, 16, names=(f"{name}x", "ann")))
    for number, entity in enumerate(changes["entities"]):
        save(f"data/synthetic/{entity}/test.jsonl", corpus(10 + number, 12, names=("dee",)))
        save(
            f"data/training_sets/main/multileg-20/{entity}.jsonl", corpus(20, 20, names=("multilegx", "ann"))
        )
        save(f"data/training_sets/main/syn-20/{entity}.jsonl", corpus(30 + number, 20, names=("dee",)))
        save(f"data/training_sets/ablation/{entity}.jsonl", corpus(40 + number, 20, names=("dee", "ann")))
    return whole.model_copy(update=changes)


def save(path, texts):
    documents = [Document(f"d{n}", text, (), {"corpus": "made"}) for n, text in enumerate(texts)]
    write_documents(Path(path), documents)


def contents():
    return {str(path): path.read_bytes() for path in sorted(Path("data").rglob("*")) if path.is_file()}


def run(params):
    stage.profiles(params)
    stage.profile_ablation(params)
    stage.drift(params)


def test_the_table(params, monkeypatch):
    calls = []
    monkeypatch.setattr(stage, "profile", lambda *args, **named: calls.append(1) or profile(*args, **named))
    run(params)
    # Test splits 3, syn 2, multileg-20 once for both entities, syn-20 2, ablation 2.
    assert len(calls) == 3 + 2 + 1 + 2 + 2
    names = {path.name for path in Path("data/profiles/main").iterdir() if path.is_dir()}
    assert names == {
        *("target-ai4privacy", "target-i2b2", "target-multileg", "target-syn-DATE", "target-syn-PERSON"),
        *(f"{name}-20-{entity}" for name in ("multileg", "syn") for entity in ("DATE", "PERSON")),
    }
    with Path("data/drift/drift.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ",".join(rows[0]) == (
        "set,source,size,entity,target,metric,family,direction,value,low,high,floor,clear,value_full,"
        "reference,candidate,reason"
    )
    found = [(row["set"], row["entity"], row["target"], row["metric"]) for row in rows]
    sets, targets = ("multileg-20", "syn-20", "ablation"), ("ai4privacy", "i2b2", "multileg", "syn")
    assert found == list(product(sets, ("DATE", "PERSON"), targets, METRICS))
    assert {(row["set"], row["source"], row["size"]) for row in rows} == {
        ("multileg-20", "multileg", "20"),
        ("syn-20", "syn", "20"),
        ("ablation", "ablation", str(params.ablation.size)),
    }
    assert {row["clear"] for row in rows} == {"True", "False"}
    assert not any("nan" in row["value"] for row in rows)
    # In distribution the unigrams are nearer than out of it.
    jsd = {f[:3]: float(r["value"]) for f, r in zip(found, rows, strict=True) if f[3] == "jsd_unigram"}
    assert jsd["multileg-20", "DATE", "multileg"] < jsd["multileg-20", "DATE", "syn"]
    assert jsd["syn-20", "DATE", "syn"] < jsd["syn-20", "DATE", "i2b2"]
    # multileg-20 has the same texts for both entities, and i2b2 is one corpus.
    assert jsd["multileg-20", "DATE", "i2b2"] == jsd["multileg-20", "PERSON", "i2b2"]


def test_the_samples_are_stated(params):
    run(params)
    about = json.loads(Path("data/drift/sample.json").read_text())
    # The smallest reference: 12 notes of two sentences, each sentence in one sample at least 11 of 24.
    assert about["sample_sentences"] == 11
    assert about["sample_tokens"] > 50
    assert (about["repeats"], about["floor_pairs"], about["seed"]) == (3, 3, params.seed)
    assert about["versions"]["encoder"]["sha256"].startswith("53aa51172d14")
    drawn = about["drawn"]["target-i2b2"]
    assert drawn["tokens"] >= about["sample_tokens"]


def test_outputs_repeat_byte_for_byte(params):
    run(params)
    first = contents()
    run(params)
    assert contents() == first
    assert not list(Path("data").rglob("*.tmp"))


def test_a_set_that_is_gone_leaves_no_profile(params):
    run(params)
    stage.profiles(params.model_copy(update={"sets": ["syn-20"]}))
    assert not Path("data/profiles/main/multileg-20-DATE").exists()


def test_an_empty_training_set_has_reasons(params):
    save("data/training_sets/main/syn-20/DATE.jsonl", [])
    run(params)
    with Path("data/drift/drift.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["set"], row["entity"]) == ("syn-20", "DATE")]
    assert len(rows) == 4 * 25
    assert all(row["value"] == "" and row["clear"] == "" and row["reason"] for row in rows)
