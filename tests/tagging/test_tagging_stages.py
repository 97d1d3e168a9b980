"""The stages train and evaluate, from files to files, in a folder of their own."""

from pathlib import Path
from typing import Any

import pytest

from phidrift.cli.stages.tagging import evaluate, train
from phidrift.config import Params, load_params
from phidrift.core.document import Document, Span, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, write_json
from phidrift.tagging import training_state
from phidrift.tagging.train import TrainedTagger

PARAMS = Path(__file__).parents[2] / "profiles" / "default.yaml"


def _documents(corpus: str) -> list[Document]:
    dated = Document("a", "Seen May 3.", (Span(5, 10, "DATE"),), {"corpus": corpus})
    named = Document("b", "Lee, May 3", (Span(0, 3, "PERSON"), Span(5, 10, "DATE")), {"corpus": corpus})
    return [dated, named]


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Params:
    """A working folder with every test split, and a set and an ablation set without a single ADDRESS."""
    monkeypatch.chdir(tmp_path)
    params = load_params(PARAMS)
    for corpus in params.corpora:
        write_documents(Path(f"data/corpora/{corpus}/test.jsonl"), _documents(corpus))
    for entity in params.entities:
        write_documents(Path(f"data/synthetic/{entity}/test.jsonl"), _documents("syn")[:1])
    for name, source, folder in (
        ("multileg-200", "multileg", "main/multileg-200"),
        ("ablation", "ablation", "ablation"),
    ):
        place = Path("data/training_sets") / folder
        for entity in params.entities:
            write_documents(
                place / f"{entity}.jsonl", [Document("c", "No fever.", (), {"corpus": "multileg"})]
            )
        entities = {entity: {"sha256": "0" * 64} for entity in params.entities}
        about = {"set": name, "source": source, "size": 200, "licences": {source: "CC-BY-4.0"}}
        write_json(place / "set.json", {**about, "entities": entities})
    return params


@pytest.mark.parametrize(("name", "source"), [("multileg-200", "multileg"), ("ablation", "ablation")])
def test_from_sets_without_a_positive_to_metrics(params: Params, name: str, source: str) -> None:
    for entity in params.entities:
        train(params, f"{name}-{entity}")
    evaluate(params, name)
    found = read_json(Path(f"metrics/tagging/{name}.json"))
    assert (found["set"], found["source"], found["size"]) == (name, source, 200)
    assert sorted(found["entities"]) == ["ADDRESS", "CONTACT", "DATE", "PERSON"]
    assert sorted(found["entities"]["DATE"]) == ["ai4privacy", "i2b2", "multileg", "syn"]
    date = found["entities"]["DATE"]["multileg"]
    wanted: dict[str, Any] = {"f1": 0.0, "tp": 0, "fn": 2, "support": 2, "trained": False}
    assert {key: date[key] for key in wanted} == wanted
    assert date["in_distribution"] is True
    assert found["entities"]["DATE"]["syn"]["support"] == 1
    assert found["entities"]["DATE"]["syn"]["in_distribution"] is False
    assert found["entities"]["CONTACT"]["i2b2"]["f1"] is None
    lines = Path(f"plots/tagging/{name}.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("entity,target,f1,f1_low,f1_high,support,in_distribution,precision,")
    assert lines[1] == "ADDRESS,ai4privacy,,,,0,False,,,,,,,,,,"
    assert any(line.startswith("DATE,multileg,0.0,0.0,0.0,2,True,") for line in lines)
    assert len(lines) == 1 + 4 * 4


def test_strings_of_the_training_set_are_told_from_others(params: Params) -> None:
    # The set holds "Lee" as PERSON and trained nothing; the test documents' "Lee" is seen, and missed like all else.
    # DATE's set holds no date, so that "May 3" is unseen there.
    known = Document("c", "LEE", (Span(0, 3, "PERSON"),), {"corpus": "multileg"})
    for entity in params.entities:
        train(params, f"multileg-200-{entity}")
    write_documents(Path("data/training_sets/main/multileg-200/PERSON.jsonl"), [known])
    evaluate(params, "multileg-200")
    found = read_json(Path("metrics/tagging/multileg-200.json"))["entities"]
    person, date = found["PERSON"]["multileg"], found["DATE"]["multileg"]
    assert (person["seen"], person["unseen"]["support"]) == ({"recall": 0.0, "support": 1}, 0)
    assert (date["seen"]["support"], date["unseen"]) == (0, {"recall": 0.0, "support": 2})
    assert "Lee" not in Path("metrics/tagging/multileg-200.json").read_text(encoding="utf-8")


def test_the_parameters_reach_the_training(params: Params, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def note(documents: Any, entity: str, settings: Any, **named: Any) -> TrainedTagger:
        given.update(named, entity=entity, settings=settings)
        named["folder"].mkdir()
        return TrainedTagger(0.1, 1, 1, 1, 0)

    monkeypatch.setattr(training_state, "train_tagger", note)
    write_documents(Path("data/training_sets/main/multileg-200/DATE.jsonl"), _documents("multileg"))
    train(params, "multileg-200-DATE")
    assert (given["entity"], given["seed"], given["name"]) == ("DATE", 42, "multileg-200 DATE")
    assert given["settings"].learning_rate == params.tagging.taggers["minilm"].learning_rate
    card = Path("models/multileg-200/DATE/minilm-42/README.md").read_text(encoding="utf-8")
    assert "multileg: 2, licence: CC-BY-4.0" in card
    assert "embedded/all-minilm-l6-v2`, licence: Apache-2.0" in card


def test_a_key_without_an_entity_is_refused(params: Params) -> None:
    with pytest.raises(PhidriftError, match="does not end in an entity"):
        train(params, "multileg-200")


def test_evaluation_before_training_says_so(params: Params) -> None:
    with pytest.raises(PhidriftError, match="nothing was trained"):
        evaluate(params, "multileg-200")
