"""The stages standins, harmonize, training_sets and ablation_set in an empty folder, with the default parameters."""

import hashlib
import json
from pathlib import Path

import pytest

from phidrift.cli.stages.corpora import harmonize, standins
from phidrift.cli.stages.training_sets import ablation_set, training_sets
from phidrift.config import load_params
from phidrift.core.document import Document, Span, parse_document, read_documents, write_documents
from phidrift.core.errors import PhidriftError

PARAMS = load_params(Path(__file__).parents[2] / "profiles" / "default.yaml")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        standins(PARAMS)
        for name in PARAMS.corpora:
            harmonize(PARAMS, name)
    return folder


def test_harmonize_writes_documents_and_what_was_lost(workspace: Path) -> None:
    for name, corpus in PARAMS.corpora.items():
        report = json.loads((workspace / "metrics" / "corpora" / f"{name}.json").read_text(encoding="utf-8"))
        folder = workspace / "data" / "corpora" / name
        parts = {split: list(read_documents(folder / f"{split}.jsonl")) for split in ("train", "test")}
        assert (
            report["sha256"]
            == hashlib.sha256(
                (folder / "train.jsonl").read_bytes() + (folder / "test.jsonl").read_bytes()
            ).hexdigest()
        )
        assert {s: report["splits"][s]["documents"] for s in parts} == {s: len(d) for s, d in parts.items()}
        assert report["restricted"] == corpus.restricted
        assert str(workspace) not in json.dumps(report)
        for split, documents in parts.items():
            for document in documents:
                assert set(document.meta) == {"corpus", "split", "group", "stand_in", "restricted"}
                assert document.meta["split"] == split
                assert document.meta["stand_in"] is True


def test_an_unknown_corpus_or_set(workspace: Path) -> None:
    with pytest.raises(PhidriftError, match="no corpus 'nowhere'"):
        harmonize(PARAMS, "nowhere")
    with pytest.raises(PhidriftError, match="no set 'multileg-7'"):
        training_sets(PARAMS, "multileg-7")


def test_training_sets_and_ablation(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    training_sets(PARAMS, "multileg-200")
    folder = Path("data/training_sets/main/multileg-200")
    about = json.loads((folder / "set.json").read_text(encoding="utf-8"))
    assert (about["set"], about["source"], about["size"]) == ("multileg-200", "multileg", 200)
    texts = []
    for entity in PARAMS.entities:
        documents = list(read_documents(folder / f"{entity}.jsonl"))
        texts.append([document.text for document in documents])
        assert {span.label for document in documents for span in document.spans or ()} == {entity}
        assert about["entities"][entity]["documents"] == 200
    assert all(other == texts[0] for other in texts)

    # No candidates yet: the ablation set names how many there are, and leaves nothing behind.
    for entity in PARAMS.entities:
        write_documents(Path("data/candidates") / f"{entity}.jsonl", [])
    with pytest.raises(PhidriftError, match="0 candidates pass"):
        ablation_set(PARAMS)
    assert not Path("data/training_sets/ablation").exists()

    for entity in PARAMS.entities:
        candidates = [
            Document(
                f"{entity}-{n}",
                f"{n} text",
                (Span(0, 1, entity),),
                {"corpus": "syn", "score": 3.0, "generator": "a"},
            )
            for n in range(60)
        ]
        write_documents(Path("data/candidates") / f"{entity}.jsonl", candidates)
    ablation_set(PARAMS)
    about = json.loads(Path("data/training_sets/ablation/set.json").read_text(encoding="utf-8"))
    # mixture 0.6 of 80
    assert all(entity["sources"] == {"multileg": 32, "syn": 48} for entity in about["entities"].values())
    monkeypatch.setattr("phidrift.cli.stages.training_sets.read_documents", _refuse)
    with pytest.raises(AssertionError, match="data/corpora/multileg"):  # real documents alone
        ablation_set(PARAMS.model_copy(update={"mixture": 0.0}))
    with pytest.raises(AssertionError, match="data/candidates"):  # candidates alone
        ablation_set(PARAMS.model_copy(update={"mixture": 1.0}))


def _refuse(path: Path) -> list[Document]:
    raise AssertionError(path)


def test_documents_obey_the_schema(workspace: Path) -> None:
    for path in sorted((workspace / "data" / "corpora").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            parse_document(json.loads(line), path.name)
