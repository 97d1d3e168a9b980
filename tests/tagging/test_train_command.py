"""`phidrift train`: from a corpus to taggers, outside any repository."""

import hashlib
import json
import sys
from pathlib import Path

import pytest
from made_taggers import made_documents, write_base
from transformers import pipeline

from phidrift.cli.main import main
from phidrift.core.document import Document, Span, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json
from phidrift.tagging.predict import load_tagger, predict_spans

SHARED = Path(__file__).parents[3] / "shared" / "corpora"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without git or DVC: notes.jsonl with 24 DATE documents, a few of them with a PERSON."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PHIDRIFT_CACHE", raising=False)
    # The command sets these where they aren't; what is set here is taken back.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    named = Document("p", "Review: Alert. Pulse", (Span(8, 13, "PERSON"),), {})
    write_documents(Path("notes.jsonl"), [*made_documents(24), named, named])
    return tmp_path


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    """(exit code, standard output, standard error)."""
    monkeypatch.setattr(sys, "argv", ["phidrift", "train", *words])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def quick(base: str, *words: str) -> list[str]:
    return ["--base", base, "--max-length", "32", "--learning-rate", "1e-2", "--threads", "1", *words]


def test_from_notes_to_taggers(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["notes.jsonl", "--out", "out", "--entity", "PERSON", "--entity", "DATE", "--licence", "CC0-1.0"]
    code, out, _ = run(monkeypatch, capsys, *words, *quick(base, "--epochs", "15"))
    assert code == 0
    name = Path(base).name
    for entity, positives in (("DATE", sum(bool(d.spans) for d in made_documents(24))), ("PERSON", 2)):
        record = read_json(Path(f"out/{entity}/training.json"))
        assert (record["set"], record["entity"], record["documents"]) == ("notes", entity, 26)
        assert (record["positives"], record["restricted"], record["trained"]) == (positives, False, True)
        assert [(each["tagger"], each["seed"]) for each in record["taggers"]] == [(name, 42)]
        assert record["sources"] == {"notes": 26}
        row = next(line for line in out.splitlines() if line.startswith(f"│ {entity}"))
        assert [cell.strip() for cell in row.split("│")[2:5]] == ["42", "26", str(positives)]
        card = Path(f"out/{entity}/{name}-42/README.md").read_text(encoding="utf-8")
        assert "notes: 26, licence: CC0-1.0" in card
        assert record["sha256"] in card
    assert "No tagger trained here is fit for clinical use" in out
    # Nothing else is left behind, neither a cache nor a lock.
    assert sorted(path.name for path in place.iterdir()) == ["notes.jsonl", "out"]
    assert sorted(path.name for path in Path("out").iterdir()) == ["DATE", "PERSON"]

    documents = made_documents(6)
    tagger = load_tagger(Path(f"out/DATE/{name}-42"))
    found = predict_spans(tagger, [document.text for document in documents])
    assert found == [document.spans for document in documents]
    simple = pipeline("token-classification", model=f"out/DATE/{name}-42", aggregation_strategy="simple")
    marked = [(item["start"], item["end"], item["entity_group"]) for item in simple(documents[0].text)]
    assert marked == [(span.start, span.end, "DATE") for span in documents[0].spans or ()]


def test_the_hash_is_that_of_the_harmonised_file(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["phidrift", "harmonize", "notes.jsonl", "--out", "same.jsonl"])
    main_ended_well()
    words = [
        "notes.jsonl",
        "--out",
        "out",
        "--entity",
        "DATE",
        "--name",
        "ward 7",
        "--seed",
        "1",
        "--seed",
        "2",
    ]
    assert run(monkeypatch, capsys, *words, *quick(base, "--epochs", "1"))[0] == 0
    record = read_json(Path("out/DATE/training.json"))
    assert record["sha256"] == hashlib.sha256(Path("same.jsonl").read_bytes()).hexdigest()
    assert record["set"] == "ward 7"
    assert [each["seed"] for each in record["taggers"]] == [1, 2]


def main_ended_well() -> None:
    try:
        main()
    except SystemExit as end:
        assert not end.code  # noqa: PT017 - the end is expected, its code is what is looked at


def test_restricted_documents_restrict_the_taggers(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("notes.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    record["meta"] = {"restricted": True}
    Path("notes.jsonl").write_text("\n".join([json.dumps(record), *lines[1:]]) + "\n", encoding="utf-8")
    words = ["notes.jsonl", "--out", "out", "--entity", "DATE"]
    code, out, _ = run(monkeypatch, capsys, *words, *quick(base, "--epochs", "1"))
    assert code == 0
    assert "Restricted: trained on documents that may not be passed on" in out
    assert read_json(Path("out/DATE/training.json"))["restricted"] is True
    card = Path(f"out/DATE/{Path(base).name}-42/README.md").read_text(encoding="utf-8")
    assert "\nrestricted: true\n" in card.split("---")[1]


def test_a_corpus_can_be_called_restricted(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["notes.jsonl", "--out", "out", "--entity", "DATE", "--restricted"]
    assert run(monkeypatch, capsys, *words, *quick(base, "--epochs", "1"))[0] == 0
    assert read_json(Path("out/DATE/training.json"))["restricted"] is True


def test_a_file_that_the_training_did_not_write_is_an_error_before_use(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["notes.jsonl", "--out", "out", "--entity", "DATE"]
    assert run(monkeypatch, capsys, *words, *quick(base, "--epochs", "1"))[0] == 0
    folder = Path(f"out/DATE/{Path(base).name}-42")
    (folder / "README.md").write_text("another card", encoding="utf-8")
    load_tagger(folder)
    weights = (folder / "model.safetensors").read_bytes()
    half = len(weights) // 2
    for name, content in [
        ("model.safetensors", weights[:half] + bytes(len(weights) - half)),  # zeros, as a bad copy has them
        ("tokenizer.json", None),
        ("added_tokens.json", b"{}"),
    ]:
        path = folder / name
        before = path.read_bytes() if path.is_file() else None
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(PhidriftError, match=f"not as its training wrote it: {name}"):
            load_tagger(folder)
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_bytes(before)
    load_tagger(folder)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        # The set holds DATE and PERSON: the other two are errors, which say how to leave them out.
        (["--out", "out"], "no document holds a span of ADDRESS, CONTACT"),
        (["--out", "out"], "leave it out: --entity DATE --entity PERSON"),
        (["--out", "out", "--entity", "CONTACT", "--entity", "DATE"], "leave it out: --entity DATE;"),
        (["--out", "out", "--entity", "NAME"], "no entity 'NAME'"),
        (["--out", "out", "--entity", "DATE", "--learning-rate", "0"], "--learning-rate is 0"),
        (["--out", "notes.jsonl", "--entity", "DATE"], "this would overwrite an input"),
        (["--out", "taken", "--entity", "DATE"], "taken/DATE: this is there, and no earlier training"),
        (["--out", "file", "--entity", "DATE"], "file: this is a file"),
        (["--out", "out", "--entity", "DATE", "--base", "taken"], "taken: no tokenizer can be read"),
        (["--out", "out", "--entity", "DATE", "--max-length", "65"], "has 64 positions"),
        (["--out", "out", "--entity", "DATE", "--label-map", "absent.yaml"], "absent.yaml"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    words: list[str],
    message: str,
    place: Path,
    base: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (place / "taken/DATE").mkdir(parents=True)
    (place / "taken/DATE/mine").write_text("x", encoding="utf-8")
    (place / "file").write_text("x", encoding="utf-8")
    before = sorted(place.rglob("*"))
    code, _, err = run(monkeypatch, capsys, "notes.jsonl", *quick(base, "--epochs", "1"), *words)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert sorted(place.rglob("*")) == before


def test_unlabelled_documents_are_counted_and_refused(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_documents(Path("notes.jsonl"), [*made_documents(3), Document("u", "No fever.", None, {})])
    words = ["notes.jsonl", "--out", "out", "--entity", "DATE"]
    code, _, err = run(monkeypatch, capsys, *words, *quick(base))
    assert code == 2
    assert "1 of 4 documents have no labels" in err


def test_an_earlier_training_is_replaced_only_if_that_is_wanted(
    place: Path, base: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["notes.jsonl", "--out", "out", "--entity", "DATE", *quick(base, "--epochs", "1"), "--seed"]
    assert run(monkeypatch, capsys, *words, "1")[0] == 0
    code, _, err = run(monkeypatch, capsys, *words, "2")
    assert code == 2
    assert "out/DATE: taggers are here already" in err
    assert "--replace" in err
    assert Path(f"out/DATE/{Path(base).name}-1/model.safetensors").is_file()
    assert run(monkeypatch, capsys, *words, "2", "--replace")[0] == 0
    assert sorted(path.name for path in Path("out/DATE").iterdir()) == [
        *(f"{Path(base).name}-2", "training.json")
    ]


def test_a_label_map_and_the_sources_own_test_split(
    place: Path,
    base: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows = [
        {
            "id": str(number),
            "text": document.text,
            "spans": [{"start": s.start, "end": s.end, "label": "VISIT"} for s in document.spans or ()],
            "meta": {"split": "test" if number < 2 else "train"},
        }
        for number, document in enumerate(made_documents(8))
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    Path("labels.yaml").write_text("DATE: [VISIT]\n", encoding="utf-8")
    words = ["rows.jsonl", "--out", "out", "--entity", "DATE", "--label-map", "labels.yaml"]
    code, _, err = run(monkeypatch, capsys, *words, *quick(base, "--epochs", "1"))
    assert code == 0, err
    expected = sum(len(document.spans or ()) for document in made_documents(8))
    assert read_json(Path("out/DATE/training.json"))["taggers"][0]["spans"] == expected
    assert "2 documents of its own test split are learnt from too" in caplog.text + err


def test_real_documents(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """MiniLM on 48 real sentences: a reader's first trial, without claim to quality."""
    if not SHARED.is_dir():
        pytest.skip("the shared corpora are not here")
    lines = (SHARED / "ambientmeta/ambiguous_spans.jsonl").read_text(encoding="utf-8").splitlines()
    path = place / "sentences.jsonl"
    path.write_text("\n".join(lines[:48]) + "\n", encoding="utf-8")
    words = [str(path), "--out", "out", "--entity", "PERSON", "--epochs", "1", "--batch-size", "16"]
    code, out, err = run(monkeypatch, capsys, *words, "--max-length", "64", "--threads", "2")
    assert code == 0, err
    assert "PERSON" in out
    assert read_json(Path("out/PERSON/training.json"))["documents"] == 48
