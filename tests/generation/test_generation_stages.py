from pathlib import Path

import pytest
import yaml
from fake_engine import FakeEngine

from phidrift.cli.stages import generation
from phidrift.config import Params
from phidrift.core.document import read_documents
from phidrift.core.files import read_json

PROFILE = Path(__file__).parents[2] / "profiles" / "default.yaml"


@pytest.fixture
def params() -> Params:
    raw = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))
    raw["entities"] = ["DATE", "PERSON"]
    raw["generation"] |= {"samples_per_round": 10, "negative_ratio": 0.5}
    raw["curation"] |= {"judge_threshold": "q0.2", "test": 10, "negative_ratio": 0.5}
    return Params.model_validate(raw)


def test_rounds_then_curation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, params: Params):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHIDRIFT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("phidrift.generation.rounds.load_engine", lambda *_: FakeEngine())
    for key in params.generation.rounds:
        generation.round(params, key)
    generation.curate(params)

    summary = read_json(tmp_path / "metrics/generation.json")
    for entity in ("DATE", "PERSON"):
        kinds = {
            kind: list(read_documents(tmp_path / f"data/synthetic/{entity}/{kind}.jsonl"))
            for kind in ("train", "test")
        }
        candidates = list(read_documents(tmp_path / f"data/candidates/{entity}.jsonl"))
        assert len(kinds["test"]) == 10
        assert {d.text for d in kinds["test"]}.isdisjoint(d.text for d in (*kinds["train"], *candidates))
        # 2 generators x 3 rounds x 10 samples, of which none is malformed.
        assert summary["entities"][entity]["all"]["asked"] == 60
        assert summary["entities"][entity]["released"]["candidates"] == len(candidates) == 50
        assert set(kinds["train"][0].meta) == {
            "corpus", "split", "group", "stand_in", "restricted", "sample_id", "generator", "round", "score"
        }  # fmt: skip
    assert (tmp_path / "plots/generation/rounds.csv").read_text().count("\n") == 1 + 2 * 3
