"""params.yaml: every wrong key or value is an error that names the place, the nearest key and the file."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from phidrift.config import load_params
from phidrift.core.errors import PhidriftError

ROOT = Path(__file__).parents[2]
PROFILES = [*sorted((ROOT / "profiles").glob("*.yaml")), ROOT / "tests/whole/tiny.yaml"]


def edited(tmp_path: Path, dotted: str, value: Any, *, delete: bool = False) -> Path:
    """The default profile with one place changed."""
    raw = yaml.safe_load((ROOT / "profiles/default.yaml").read_text())
    *parents, last = dotted.split(".")
    place = raw
    for part in parents:
        place = place[part]
    if delete:
        del place[last]
    else:
        place[last] = value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    return path


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_every_profile_is_valid(profile: Path) -> None:
    load_params(profile)


def test_params_are_the_default_profile() -> None:
    # The committed file, since an experiment in the workspace rewrites it.
    committed = subprocess.run(
        ["git", "show", "HEAD:params.yaml"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    default = subprocess.run(
        ["git", "show", "HEAD:profiles/default.yaml"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    assert committed == default


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("mixtur", 0.4, "unknown key 'mixtur', did you mean 'mixture'?"),
        ("generation.few_shots_k", 3, "did you mean 'few_shot_k'?"),
        (
            "tagging.taggers.minilm.epochz",
            3,
            "unknown key 'tagging.taggers.minilm.epochz', did you mean 'epochs'?",
        ),
        ("corpora.i2b2.pth", "x", "did you mean 'path'?"),
        ("mixture", 1.4, "mixture: Input should be less than or equal to 1"),
        ("judge_threshold", 7, "a score lies between 1 and 5"),
        ("judge_threshold", "q2", "a quantile such as q0.5"),
        ("generator", "gpt", "generator: 'gpt' is unknown; there are all, smol-"),
        (
            "sets",
            ["wikigold-10"],
            "sets: wikigold-10 has no corpus; there are ai4privacy, i2b2, multileg, syn",
        ),
        ("sets", ["syn"], "sets.0"),
        ("entities", ["DATES"], "entities.0"),
        ("generation.rounds", {"0": {"reads": "a"}, "2": {"reads": "b"}}, "without a gap"),
        (
            "generation.rounds",
            {"0": {"reads": "a"}, "1": {"reads": "b"}},
            "round 1 reads data/pools/round_0.jsonl",
        ),
        ("sets", ["syn-5", "multileg-5", "syn-5"], "sets: 'syn-5' stands there twice"),
        ("sets", ["multileg-050"], "named after its corpus and size, such as multileg-200"),
        ("entities", ["DATE", "DATE"], "'DATE' stands there twice"),
        ("seed", -1, "seed: Input should be greater than or equal to 0"),
        ("drift.smoothing", float("inf"), "drift.smoothing: Input should be a finite number"),
        ("generation.rounds", {}, 'from "0" and without a gap'),
        (
            "corpora.multileg.split",
            {"tset": 5},
            "unknown key 'corpora.multileg.split.tset', did you mean 'test'?",
        ),
        ("corpora.multileg.split", "sauce", "corpora.multileg.split: Input should be 'source'"),
        ("corpora.multileg.split", {"test": 0}, "corpora.multileg.split.test: Input should be greater"),
        ("corpora.multileg.split", {"test": ["a"]}, "test is given by paths, so train must be too"),
        (
            "corpora.multileg.split",
            {"test": 5, "train": ["a"]},
            "train is given by paths, so test must be too",
        ),
        ("corpora.multileg.format", "multilg", "'multilg' is no format, did you mean 'multileg'?"),
        (
            "corpora.multileg.offsets",
            "words",
            "corpora.multileg.offsets: Input should be 'auto', 'characters'",
        ),
        (
            "corpora.multileg.labels",
            {"PERSN": ["A"]},
            "unknown key 'corpora.multileg.labels.PERSN', did you mean 'PERSON'?",
        ),
        (
            "corpora.multileg.split",
            {"train": ["../x"], "test": ["b"]},
            "split.train.0: '../x': name a file or folder below the corpus' path",
        ),
        (
            "corpora.multileg.split",
            {"train": ["a"], "test": ["/b"]},
            "split.test.0: '/b': name a file or folder below the corpus' path",
        ),
        ("corpora.multileg.path", "", "the folder of the corpus is not named"),
        ("ablation.real", "nothing", "ablation.real: nothing is no corpus"),
    ],
)
def test_wrong_places_are_named(tmp_path: Path, place: str, value: Any, message: str) -> None:
    path = edited(tmp_path, place, value)
    with pytest.raises(PhidriftError) as caught:
        load_params(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match=r"key 'tagging.taggers.minilm.epochs' is missing"):
        load_params(edited(tmp_path, "tagging.taggers.minilm.epochs", None, delete=True))


def test_no_file_and_no_yaml(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match="no such file"):
        load_params(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_text("a: [1")
    with pytest.raises(PhidriftError, match="not YAML"):
        load_params(tmp_path / "params.yaml")


@pytest.mark.parametrize("text", ["seed: 2001-99-99", "seed: !!int a", "[" * 5000, "seed: \x00"])
def test_what_yaml_cannot_build_is_an_error_of_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "params.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PhidriftError, match=r"params\.yaml: not YAML"):
        load_params(tmp_path / "params.yaml")
