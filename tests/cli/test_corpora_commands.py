"""`phidrift harmonize` and `phidrift corpora`: what they print, write and refuse."""

import csv
import json
import subprocess
from pathlib import Path

import pytest

from phidrift.core.document import Document, Span, read_documents, write_documents

PROFILE = Path(__file__).parents[2] / "profiles/default.yaml"
SHARED = Path(__file__).parents[3] / "shared" / "corpora"


def run(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["phidrift", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    # "Ana" 8-11; "3/4" 15-18; "Bo" 0-2
    rows = [
        {"text": "Seen by Ana on 3/4.", "spans": [[8, 11, "PER"], [15, 18, "DATE"], [0, 4, "VERB"]]},
        {"text": "Bo left.", "spans": [[0, 2, "PER"], [0, 99, "PER"]]},
        {"text": 5},
    ]
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path / "notes.jsonl"


def test_harmonize_writes_and_accounts(corpus: Path, tmp_path: Path) -> None:
    done = run("harmonize", corpus, "--out", "out.jsonl", "--report", "report.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = read_documents(tmp_path / "out.jsonl")
    assert (first.id, first.text) == ("notes-notes-000001", "Seen by Ana on 3/4.")
    assert first.spans == (Span(8, 11, "PERSON"), Span(15, 18, "DATE"))
    assert second.spans == (Span(0, 2, "PERSON"),)
    assert first.meta["restricted"] is False
    assert "2 documents, recognised as jsonl -> out.jsonl" in done.stdout
    assert "1 skipped: field 'text' must be a string" in done.stdout
    assert "3 exact, 0 relocated, 0 trimmed, 1 dropped" in done.stdout
    assert f"{corpus}:3: document skipped: field 'text' must be a string" in done.stderr
    assert f"{corpus}:2, spans[1]: span dropped: outside the text" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["spans"]["unmapped_labels"] == {"VERB": 1}
    # "Ana" and "Bo" are one token each; the third PER span lies outside and counts as a span only.
    assert report["labels"]["PER"] == {"entity": "PERSON", "spans": 3, "tokens": 2}
    assert report["labels"]["DATE"] == {"entity": "DATE", "spans": 1, "tokens": 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "xml"], "no format 'xml'. To mend: use one of i2b2,"),
        (["--offsets", "words"], "offsets can't be counted as 'words'. To mend: use one of auto, characters"),
        (["--encoding", "utf-16"], "encoding 'utf-16' is unknown, or not one that holds ASCII as it is"),
        (
            ["--strict"],
            "notes.jsonl:2, spans[1]: outside the text. To mend: correct it, or read without strict",
        ),
        (["--text-field", "body"], "no readable document (3 rejected), most often: field 'body'"),
        (["--label-map", "nowhere.yaml"], "nowhere.yaml: this label map can't be read"),
        (["--format", "i2b2"], "no *.xml (or such a file gzipped) here or below"),
        (["--format", "presidio"], "it was read as presidio, but looks like jsonl: set the format to jsonl"),
    ],
)
def test_harmonize_refuses_and_writes_nothing(
    corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = run("harmonize", corpus, "--out", "out/out.jsonl", *arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_a_guess_is_named_in_an_error_and_a_named_format_is_not(corpus: Path, tmp_path: Path) -> None:
    guessed = run("harmonize", corpus, "--out", "o.jsonl", "--strict", folder=tmp_path)
    assert "its format was recognised as jsonl: if that is wrong, name the right one" in guessed.stderr
    named = run("harmonize", corpus, "--out", "o.jsonl", "--strict", "--format", "jsonl", folder=tmp_path)
    assert "recognised" not in named.stderr


def test_i2b2_is_restricted_unless_said_otherwise(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/1-1.xml").write_text("<x><TEXT>No PHI here.</TEXT></x>", encoding="utf-8")
    run("harmonize", "c", "--out", "a.jsonl", folder=tmp_path)
    run("harmonize", "c", "--out", "b.jsonl", "--no-restricted", folder=tmp_path)
    marks = [next(read_documents(tmp_path / f"{name}.jsonl")).meta["restricted"] for name in "ab"]
    assert marks == [True, False]


def test_corpora_counts_what_is_named(corpus: Path, tmp_path: Path) -> None:
    done = run("corpora", corpus, "--out", "tables", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "tables/sizes.csv").open(encoding="utf-8") as file:
        (sizes,) = csv.DictReader(file)
    # "Seen by Ana on 3 / 4 ." 8 tokens, "Bo left ." 3, the full stop in both
    assert (sizes["documents"], sizes["tokens"], sizes["vocabulary"]) == ("2", "11", "10")
    assert (sizes["person_spans"], sizes["date_tokens"], sizes["train_documents"]) == ("2", "3", "")
    with (tmp_path / "tables/labels.csv").open(encoding="utf-8") as file:
        labels = [(row["label"], row["entity"], row["spans"]) for row in csv.DictReader(file)]
    assert labels == [("DATE", "DATE", "1"), ("PER", "PERSON", "3"), ("VERB", "", "1")]
    assert "PERSON" in done.stdout


def test_corpora_without_a_path_shows_the_last_run(tmp_path: Path) -> None:
    done = run("corpora", folder=tmp_path)
    assert done.returncode == 2
    assert "no corpora here. To mend: name corpora to read, or run dvc repro first" in done.stderr
    counts = {"spans": 2, "tokens": 3, "documents": 1}
    statistics = {"documents": 9, "tokens": 90, "tokens_per_document": 10.0, "vocabulary": 7}
    statistics["entities"] = dict.fromkeys(("ADDRESS", "CONTACT", "DATE", "PERSON"), counts)
    record = {
        "corpus": "notes", "stand_in": True, "whole": statistics,
        "labels": {"PER": {"entity": "PERSON", "spans": 2, "tokens": 3}},
        "splits": {"train": {"documents": 6}, "test": {"documents": 3}},
    }  # fmt: skip
    (tmp_path / "metrics/corpora").mkdir(parents=True)
    (tmp_path / "metrics/corpora/notes.json").write_text(json.dumps(record), encoding="utf-8")
    for part in ("train", "test"):
        document = Document(part, "Call Ana.", (Span(5, 8, "PERSON"),), {})
        write_documents(tmp_path / f"data/synthetic/PERSON/{part}.jsonl", [document])
    done = run("corpora", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "† a stand-in" in done.stdout
    assert (
        "syn_*: written by small embedded models" not in done.stdout
    )  # nothing here says by what they were written
    (tmp_path / "params.yaml").write_text(PROFILE.read_text(encoding="utf-8"), encoding="utf-8")
    assert "syn_*: written by small embedded models" in run("corpora", folder=tmp_path).stdout
    with (tmp_path / "reports/corpora/sizes.csv").open(encoding="utf-8") as file:
        rows = {row["corpus"]: row for row in csv.DictReader(file)}
    assert (rows["notes"]["documents"], rows["notes"]["test_documents"]) == ("9", "3")
    assert (rows["syn_PERSON"]["documents"], rows["syn_PERSON"]["person_spans"]) == ("2", "2")
    del record["whole"]
    (tmp_path / "metrics/corpora/notes.json").write_text(json.dumps(record), encoding="utf-8")
    done = run("corpora", folder=tmp_path)
    assert "notes.json: field 'whole' is missing. To mend: run dvc repro" in done.stderr


@pytest.mark.skipif(not (SHARED / "multileg").is_dir(), reason="the real MultiLeg is not here")
def test_corpora_on_the_real_multileg(tmp_path: Path) -> None:
    done = run("corpora", SHARED / "multileg", "--out", ".", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "sizes.csv").open(encoding="utf-8") as file:
        assert [row["documents"] for row in csv.DictReader(file)] == ["2500"]
    with (tmp_path / "labels.csv").open(encoding="utf-8") as file:
        spans = {row["label"]: row["spans"] for row in csv.DictReader(file) if row["entity"]}
    assert spans == {"PER": "512", "DATE": "1005", "LOC": "637", "IDNUM": "16"}
