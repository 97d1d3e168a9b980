"""What `phidrift evaluate` reads: training files beside the corpus, labels without an entity, names, cards."""

import json
from pathlib import Path
from typing import Any

import pytest
from dictionary_tagger import dictionary_tagger
from typer.testing import CliRunner

from phidrift.cli.main import app
from phidrift.core.document import Document, Span, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.tagging.cards import write_scores

HARMONISED = [
    Document("a", "Lee left.", (Span(0, 3, "PERSON"),), {"corpus": "ward", "group": "p1"}),
    Document("b", "May.", (Span(0, 3, "DATE"),), {"corpus": "ward", "group": "p2"}),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dictionary_tagger(Path("models/PERSON"), "PERSON", ["Lee", "Kim"])
    write_documents(Path("training.jsonl"), HARMONISED)
    return tmp_path


def raw(path: str, *rows: tuple[str, str, str], text: str = "text", encoding: str = "utf-8") -> None:
    """Notes of (name, label, patient); the name is the whole note."""
    Path(path).parent.mkdir(exist_ok=True)
    records = [
        {text: f"{name}.", "spans": [[0, len(name), label]], "patient": patient}
        for name, label, patient in rows
    ]
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in records)
    Path(path).write_text(lines, encoding=encoding)


def run(*arguments: str) -> tuple[str, dict[str, Any]]:
    done = CliRunner().invoke(app, ["evaluate", "--models", "models", "--json", "s.json", *arguments])
    if isinstance(done.exception, PhidriftError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output, json.loads(Path("s.json").read_text(encoding="utf-8"))


def test_a_label_map_of_the_corpus_leaves_the_training_labels_alone(folder: Path) -> None:
    raw("ward.jsonl", ("Lee", "STAFF", "p7"), ("Kim", "STAFF", "p8"))
    Path("map.yaml").write_text("PERSON: [STAFF]\n", encoding="utf-8")
    wanted = (
        {"recall": 1.0, "support": 1},
        {"recall": 1.0, "support": 1},
    )  # Lee was learnt from, Kim was not
    raw("raw.jsonl", ("lee", "STAFF", "p1"))
    raw("ready.jsonl", ("lee", "PERSON", "p1"))
    for training in ("training.jsonl", "raw.jsonl", "ready.jsonl"):
        _, found = run("--corpus", "ward.jsonl", "--label-map", "map.yaml", "--training", training)
        person = found["entities"]["PERSON"]
        assert (person["seen"], person["unseen"]) == wanted, training


def test_the_options_of_the_corpus_hold_for_a_raw_training_file(folder: Path) -> None:
    options = (
        "--group-field",
        "patient",
        "--text-field",
        "body",
        "--encoding",
        "latin-1",
        "--format",
        "jsonl",
    )
    raw("ward.jsonl", ("Lee", "PERSON", "p1"), ("Kim", "PERSON", "p2"), text="body")
    raw("raw.jsonl", ("José", "PERSON", "p1"), ("Lee", "PERSON", "p3"), text="body", encoding="latin-1")
    printed, found = run("--corpus", "ward.jsonl", "--training", "raw.jsonl", *options)
    assert found["training"] == {"documents": 2, "texts_in_test": 1, "groups_in_test": 1}
    assert "1 of 2 documents have the same group as a training document" in printed
    # A harmonised file has neither field and needs none.
    _, found = run("--corpus", "ward.jsonl", "--training", "training.jsonl", *options)
    assert found["training"] == {"documents": 2, "texts_in_test": 0, "groups_in_test": 2}
    # Another format, which takes no fields.
    Path("brat").mkdir()
    Path("brat/n.txt").write_text("Lee.", encoding="utf-8")
    Path("brat/n.ann").write_text("T1\tPERSON 0 3\tLee\n", encoding="utf-8")
    _, found = run("--corpus", "ward.jsonl", "--training", "brat", *options)
    assert found["entities"]["PERSON"]["seen"]["support"] == 1
    # One in which the field is missing is refused, with what to do.
    raw("other.jsonl", ("Lee", "PERSON", "p3"))
    with pytest.raises(PhidriftError, match=r"other\.jsonl.*harmonise it first"):
        run("--corpus", "ward.jsonl", "--training", "other.jsonl", *options)


def test_labels_without_an_entity_are_listed(folder: Path) -> None:
    strange = [("Lee", f"X{number}", "p") for number in range(11)]
    raw("ward.jsonl", ("Kim", "STAFF", "p"), ("Lee", "STAFF", "p"), *strange, ("May", "DATE", "p"))
    printed, found = run("--corpus", "ward.jsonl")
    assert found["corpus"]["unmapped_labels"] == {"STAFF": 2} | {f"X{number}": 1 for number in range(11)}
    assert "STAFF (2), X0 (1), X1 (1)" in printed
    assert "X8 (1), and 2 more labels" in printed  # ten of twelve are named
    # DATE is mapped, but has no tagger here.
    warning = "WARNING: no label of the corpus stands for an entity that has a tagger"
    assert warning in printed
    raw("ward.jsonl", ("Kim", "PERSON", "p"))
    printed, found = run("--corpus", "ward.jsonl")
    assert found["corpus"]["unmapped_labels"] == {}
    assert warning not in printed
    assert "Labels without an entity" not in printed


def test_corpora_of_generic_names_are_told_apart(folder: Path) -> None:
    for ward in ("north", "south"):
        raw(f"{ward}/test.jsonl", ("Lee", "PERSON", "p"))
        run("--corpus", f"{ward}/test.jsonl", "--card")
    raw("east.jsonl", ("Lee", "PERSON", "p"))
    run("--corpus", "east.jsonl", "--card")
    Path("west/data").mkdir(parents=True)
    Path("west/data/Test.jsonl").write_bytes(Path("east.jsonl").read_bytes())
    run("--corpus", "west/data/Test.jsonl", "--card")
    run("--corpus", "north/test.jsonl", "--card", "--name", "test")
    card = Path("models/PERSON/README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in card.splitlines() if line.startswith("| ")]
    assert rows == ["corpus", "east", "north-test", "south-test", "test", "west-data-Test"]


def test_a_card_with_scores_does_not_say_that_there_are_none(tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    lines = [
        "# DATE tagger",
        "- Scores: none yet, `phidrift evaluate --models DIR --card` adds them",
        "",
        "Mine.",
    ]
    card.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_scores(tmp_path, "ward", {"f1": 0.5})
    found = card.read_text(encoding="utf-8")
    assert "none yet" not in found
    assert found.startswith("# DATE tagger\n\nMine.\n\n## Scores\n")
