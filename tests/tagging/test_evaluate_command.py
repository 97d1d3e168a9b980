"""`phidrift evaluate` on taggers whose scores can be worked out by hand, and `phidrift harmonize --test`."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from dictionary_tagger import dictionary_tagger, record
from typer.testing import CliRunner

from phidrift.cli.main import app
from phidrift.core.document import Document, Span, read_documents, write_documents
from phidrift.core.errors import PhidriftError

SHARED = Path(__file__).parents[3] / "shared" / "corpora"


def marked(number: int, text: str, group: str, **meta: Any) -> Document:
    """A document in which {Lee|PERSON} marks a span."""
    spans = []
    while "{" in text:
        start, bar, end = text.index("{"), text.index("|"), text.index("}")
        surface, label = text[start + 1 : bar], text[bar + 1 : end]
        text = text[:start] + surface + text[end + 1 :]
        spans.append(Span(start, start + len(surface), label))
    about = {"corpus": "ward", "split": None, "group": group, "stand_in": False, "restricted": False}
    return Document(f"ward-{number}", text, tuple(spans), about | meta)


NOTES = [
    marked(1, "{Lee|PERSON} was seen on {May 3|DATE}.", "p1"),
    marked(2, "Call {Kim|PERSON} at {555-0101|CONTACT}. Lee is well.", "p1"),
    marked(3, "{Lee Roe|PERSON} came in {May 4|DATE}.", "p2"),
    marked(4, "No fever.", "p2"),
]
TRAINING = [marked(9, "{lee|PERSON} was here.", "p9"), marked(10, "No fever.", "p2")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """notes.jsonl, training.jsonl and models/: PERSON by two seeds, DATE a bare checkpoint; no CONTACT, no ADDRESS."""
    monkeypatch.chdir(tmp_path)
    write_documents(Path("notes.jsonl"), NOTES)
    write_documents(Path("training.jsonl"), TRAINING)
    dictionary_tagger(Path("models/PERSON/tiny-1"), "PERSON", ["Lee"])
    dictionary_tagger(Path("models/PERSON/tiny-2"), "PERSON", ["Lee", "Kim"], ["Roe"])
    record(Path("models/PERSON"), "PERSON", [("tiny", 1), ("tiny", 2)], restricted=True)
    dictionary_tagger(Path("models/DATE"), "DATE", ["May"], ["3"])
    return tmp_path


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["evaluate", "--corpus", "notes.jsonl", *arguments], catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_scores_by_hand(folder: Path) -> None:
    printed = run("--models", "models", "--training", "training.jsonl", "--json", "s.json", "--csv", "s.csv")
    found = json.loads(Path("s.json").read_text(encoding="utf-8"))
    person, date = found["entities"]["PERSON"], found["entities"]["DATE"]
    # Gold PERSON: Lee; Kim; Lee Roe. tiny-1 says Lee; Lee (false); Lee (wrong end): tp 1, fp 2, fn 2.
    # tiny-2 says Lee; Kim, Lee (false); Lee Roe: tp 3, fp 1, fn 0.
    assert [run["name"] for run in person["runs"]] == ["tiny-1", "tiny-2"]
    assert person["runs"][0]["precision"] == pytest.approx(1 / 3)
    assert (person["runs"][0]["recall"], person["runs"][1]["recall"]) == (pytest.approx(1 / 3), 1.0)
    assert (person["tp"], person["fp"], person["fn"], person["support"]) == (4, 3, 2, 3)
    assert person["recall"] == pytest.approx(2 / 3)
    assert person["precision"] == pytest.approx((1 / 3 + 3 / 4) / 2)
    # Tokens of PERSON: Lee, Kim, Lee, Roe. tiny-1 marks 2 of them and 1 other, tiny-2 all and 1 other.
    assert person["token_recall"] == pytest.approx((2 / 4 + 1) / 2)
    assert person["token_precision"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    # Overlap: tiny-1 touches Lee and Lee Roe, 2 of 3; tiny-2 all.
    assert person["overlap_recall"] == pytest.approx((2 / 3 + 1) / 2)
    # "Lee" was learnt from; "Kim" and "Lee Roe" weren't. tiny-1 finds 0 of these 2, tiny-2 both.
    assert person["seen"] == {"recall": 1.0, "support": 1}
    assert person["unseen"] == {"recall": 0.5, "support": 2}
    # Documents with PERSON: three. tiny-1 leaves Kim in one and Roe in another, tiny-2 nothing: 2/3 and 0.
    assert person["missed"]["share"] == pytest.approx(1 / 3)
    assert (person["missed"]["documents"], person["missed"]["tokens"], person["missed"]["tokens_missed"]) == (
        3,
        4,
        1.0,
    )
    # DATE: "May 3" is right, of "May 4" only "May" is said. Half of the two, and "4" is left in one of two documents.
    assert (date["precision"], date["recall"], date["f1"]) == (0.5, 0.5, 0.5)
    assert (date["missed"]["share"], date["missed"]["tokens_missed"]) == (0.5, 1.0)
    # Together: DATE has one tagger and PERSON two, which is no pair.
    assert found["together"]["share"] is None
    assert "different numbers of taggers" in printed
    assert found["not_covered"] == ["ADDRESS", "CONTACT"]
    assert found["training"] == {"documents": 2, "texts_in_test": 1, "groups_in_test": 2}
    assert "CONTACT: not covered, there is no tagger for it" in printed
    assert "1 of 4 documents have the same text as a training document" in printed
    assert "means of 2 taggers; their F1: tiny-1 0.333, tiny-2 0.857" in printed
    assert "Restricted taggers, not to be passed on: PERSON" in printed
    rows = list(csv.DictReader(Path("s.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["entity"] for row in rows] == ["DATE", "PERSON", "together", "ADDRESS", "CONTACT"]
    assert (rows[0]["f1"], rows[1]["unseen_support"], rows[3]["covered"]) == ("0.5", "2", "False")
    for surface in ("Lee", "Kim", "Roe", "0101", "fever"):
        for text in (printed, Path("s.json").read_text(), Path("s.csv").read_text()):
            assert surface not in text
    assert str(folder) not in Path("s.json").read_text()


def test_all_four_together_count_what_has_no_tagger(folder: Path) -> None:
    run("--models", "models", "--json", "both.json")
    shutil.rmtree("models/PERSON/tiny-2")
    record(Path("models/PERSON"), "PERSON", [("tiny", 1)])
    printed = run("--models", "models", "--json", "one.json", "--bootstrap", "0")
    found = json.loads(Path("one.json").read_text())
    # PHI tokens: Lee May 3; Kim 555 - 0101; Lee Roe May 4. Not marked: Kim and the whole number; Roe and 4.
    together = found["together"]
    assert (together["documents"], together["documents_missed"], together["tokens"]) == (3, 2.0, 11)
    assert (together["share"], together["tokens_missed"]) == (pytest.approx(2 / 3), 6.0)
    # Two patients are no matter for a bootstrap. 3 documents of 2 and 1: 9 / 5 = 1.8 trials, 2/3 of them missed.
    # Middle (2/3 + z2/3.6) / (1 + z2/1.8) = 1.733739 / 3.134144 = 0.553178, half
    # sqrt(z2 * (2/9 + z2/7.2) / 1.8) / 3.134144 = sqrt(3.84146 * 0.755758 / 1.8) / 3.134144 = 0.405211.
    assert (together["low"], together["high"]) == pytest.approx((0.147967, 0.958389), abs=1e-4)
    assert (together["interval"], "reason" in together) == ("Wilson over groups", False)
    assert "so Wilson's method over groups, as if the documents of a group were all alike" in printed
    assert found["entities"]["PERSON"]["recall_low"] is None
    assert "seen and unseen: name what the taggers learnt from" in printed
    assert found["entities"]["DATE"]["seen"]["reason"] == "the training set is not at hand"


def test_a_token_that_another_entitys_tagger_marks_is_not_left_in(folder: Path) -> None:
    # A tagger of ADDRESS that marks "Kim" and the pieces of the number: together, the second note is clean.
    shutil.rmtree("models/PERSON/tiny-2")
    record(Path("models/PERSON"), "PERSON", [("tiny", 1)])
    dictionary_tagger(Path("models/ADDRESS"), "ADDRESS", ["Kim", "555"], ["-", "0101"])
    run("--models", "models", "--json", "s.json")
    found = json.loads(Path("s.json").read_text())
    assert found["not_covered"] == ["CONTACT"]
    assert found["together"]["documents_missed"] == 1.0
    assert found["entities"]["PERSON"]["missed"]["documents_missed"] == 2.0


def test_patients_are_resampled_whole(folder: Path) -> None:
    printed = run("--models", "models", "--json", "s.json")
    assert json.loads(Path("s.json").read_text())["resampled"] == {
        "unit": "groups", "units": 2, "resamples": 1000, "seed": 42,
    }  # fmt: skip
    assert "bootstrap over 2 groups (4 documents), 1000 resamples" in printed
    assert "2 groups are few" in printed
    write_documents(Path("notes.jsonl"), [marked(n, "{Lee|PERSON}.", "p1") for n in range(30)])
    printed = run("--models", "models/PERSON/tiny-1", "--json", "s.json")
    found = json.loads(Path("s.json").read_text())
    assert found["resampled"]["unit"] == "documents"
    assert "all documents are of one group" in printed
    # All of 30 found, so no document is left with any: Wilson and the rule of three stand in for a bootstrap.
    person = found["entities"]["PERSON"]
    assert (person["recall"], person["recall_interval"], person["missed"]["interval"]) == (
        1.0,
        "Wilson",
        "rule of three",
    )
    assert person["recall_low"] == pytest.approx(30 / 33.8415, abs=1e-4)
    assert person["missed"]["high"] == pytest.approx(0.1)
    assert "intervals are by the rule of three (0) and by Wilson's method (1)" in printed


def test_seqeval_beside_it(folder: Path) -> None:
    printed = run("--models", "models", "--cross-check")
    assert "phidrift and by seqeval (mode strict, scheme IOB2)" in printed
    rows = [line.split() for line in printed.splitlines() if line.rstrip().endswith("yes")]
    # 1/3 1/3 1/3; 3/4 1 6/7; DATE 1/2.
    assert rows == [
        ["DATE", "DATE", *(["0.5000"] * 6), "yes"],
        ["PERSON", "tiny-1", *(["0.3333"] * 6), "yes"],
        ["PERSON", "tiny-2", *(["0.7500", "1.0000", "0.8571"] * 2), "yes"],
    ]


def test_a_disagreement_with_seqeval_ends_with_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "phidrift.tagging.cross_check.seqeval_scores",
        lambda *_: {"precision": 0.4, "recall": 0.5, "f1": 0.45},
    )
    done = CliRunner().invoke(
        app, ["evaluate", "--corpus", "notes.jsonl", "--models", "models/DATE", "--cross-check"]
    )
    assert done.exit_code == 1
    assert "NO" in done.output


def test_each_card_gets_its_own_scores(folder: Path) -> None:
    run("--models", "models", "--card", "--name", "ward 7")
    cards = [Path(f"models/PERSON/tiny-{seed}/README.md").read_text(encoding="utf-8") for seed in (1, 2)]
    rows = [next(line for line in card.splitlines() if line.startswith("| ward")) for card in cards]
    assert "0.333" in rows[0]
    assert "0.857" in rows[1]
    assert Path("models/DATE/README.md").is_file()


def test_an_entity_that_was_not_trained(folder: Path) -> None:
    Path("models/CONTACT").mkdir()
    record(Path("models/CONTACT"), "CONTACT", [("tiny", 1)], trained=False, reason="none holds CONTACT")
    printed = run("--models", "models", "--json", "s.json")
    contact = json.loads(Path("s.json").read_text())["entities"]["CONTACT"]
    assert (contact["recall"], contact["precision"]) == (0.0, None)
    for values, names in ((contact, ("precision_", "recall_", "f1_")), (contact["missed"], ("",))):
        assert {values[f"{name}{end}"] for name in names for end in ("low", "high", "interval")} == {None}
        assert values["reason"].count("no interval") == 1
        assert "no interval: without a checkpoint nothing is marked" in values["reason"]
    assert contact["missed"]["share"] == 1.0
    assert "0.000 (0.000 to 0.000)" not in printed
    run("--models", "models/CONTACT", "--json", "alone.json", "--bootstrap", "0")
    alone = json.loads(Path("alone.json").read_text())
    assert (alone["together"]["low"], alone["entities"]["CONTACT"]["reason"].count("no interval")) == (
        None,
        1,
    )
    assert "CONTACT: none holds CONTACT" in printed
    assert "precision: nothing predicted" in printed


def test_stand_ins_and_restricted_corpora_are_named(folder: Path) -> None:
    write_documents(Path("notes.jsonl"), [marked(1, "{Lee|PERSON}.", "p", stand_in=True, restricted=True)])
    printed = run("--models", "models")
    assert f"on {folder.name}-notes †" in printed
    assert "† a stand-in: its figures say nothing about real notes" in printed
    assert "split" not in printed
    assert "This corpus is restricted" in printed


def test_documents_of_a_train_split_are_asked_about(folder: Path) -> None:
    write_documents(Path("notes.jsonl"), [*NOTES, marked(5, "{Lee|PERSON}.", "p3", split="train")])
    assert "1 documents are marked as of a train split" in run("--models", "models")


def test_bad_input(folder: Path) -> None:
    unlabelled = [Document(f"u{n}", "Lee.", None, {}) for n in range(3)]
    write_documents(Path("some.jsonl"), [*NOTES, *unlabelled])
    with pytest.raises(PhidriftError, match=r"some\.jsonl: 3 of 7 documents have no labels"):
        run("--models", "models", "--corpus", "some.jsonl")
    with pytest.raises(PhidriftError, match=r"some\.jsonl: 3 of 7 documents have no labels"):
        run("--models", "models", "--training", "some.jsonl")
    with pytest.raises(PhidriftError, match="no such folder"):
        run("--models", "nowhere")
    with pytest.raises(PhidriftError, match="this would overwrite an input"):
        run("--models", "models", "--json", "models/scores.json")
    with pytest.raises(PhidriftError, match="this would overwrite an input"):
        run("--models", "models", "--csv", "training.jsonl", "--training", "training.jsonl")
    with pytest.raises(PhidriftError, match=r"labels\.yaml"):
        run("--models", "models", "--label-map", "labels.yaml")


def test_on_a_real_corpus_of_another_format(folder: Path) -> None:
    source = SHARED / "presidio"
    if not source.is_dir():
        pytest.skip("the shared corpora are not here")
    printed = run(
        "--models",
        "models/DATE",
        "--corpus",
        str(source),
        "--cross-check",
        "--bootstrap",
        "50",
        "--json",
        "s.json",
    )
    date = json.loads(Path("s.json").read_text())["entities"]["DATE"]
    assert date["tp"] + date["fn"] == date["support"] > 50
    assert "DATE" in printed


def harmonize(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["harmonize", *arguments])
    if isinstance(done.exception, PhidriftError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """20 patients with three notes each; the last note of all has a twin in another patient."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": f"Ana, visit {n} of {p}.", "spans": [[0, 3, "PERSON"]], "patient": f"p{p}"}
        for p in range(20)
        for n in range(3)
    ]
    rows += [{"text": f"Bo {n % 2}.", "spans": [[0, 2, "PERSON"]], "patient": f"q{n}"} for n in range(8)]
    Path("visits.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return Path("visits.jsonl")


def test_harmonize_splits_as_the_pipeline_does(visits: Path) -> None:
    from phidrift.corpora.harmonize import Split
    from phidrift.corpora.harmonize import harmonize as split
    from phidrift.corpora.reading import corpus_at
    from phidrift.corpora.source import ReadOptions

    arguments = ["visits.jsonl", "--group-field", "patient", "--test", "15"]
    printed = harmonize(*arguments, "--out", "split", "--report", "report.json")
    train, test = (list(read_documents(Path(f"split/{name}.jsonl"))) for name in ("train", "test"))
    wanted = split(corpus_at(visits, None, ReadOptions(group_field="patient")), Split(15), 42)
    assert (train, test) == wanted[:2]
    assert not {d.meta["group"] for d in train} & {d.meta["group"] for d in test}
    assert not {d.text for d in train} & {d.text for d in test}
    report = json.loads(Path("report.json").read_text())
    dropped = report["dropped_from_train"]
    assert len(train) + len(test) + sum(dropped.values()) == 68
    assert f"train.jsonl: {len(train)} documents; spans: ADDRESS 0" in printed
    assert f"{dropped['text_in_test']} train documents of texts in test" in printed
    harmonize(*arguments, "--out", "split", "--seed", "7")  # its own folder is replaced
    assert list(read_documents(Path("split/test.jsonl"))) != test
    harmonize(*arguments, "--out", "again")
    for name in ("train.jsonl", "test.jsonl"):
        assert (Path("again") / name).exists()
    assert list(read_documents(Path("again/test.jsonl"))) == test


def test_a_split_replaces_no_other_folder(visits: Path) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    for out, problem in (
        ("mine", "this folder holds other files"),
        (".", "this would overwrite an input"),
        ("visits.jsonl", "this would overwrite an input"),
    ):
        with pytest.raises(PhidriftError, match=problem):
            harmonize("visits.jsonl", "--test", "5", "--out", out)
    with pytest.raises(PhidriftError, match="the folder of a split holds nothing else"):
        harmonize("visits.jsonl", "--test", "5", "--out", "new", "--report", "new/report.json")
    assert Path("mine/thesis.txt").read_text() == "years of work"
    with pytest.raises(PhidriftError, match="leaves no training document"):
        harmonize("visits.jsonl", "--test", "500", "--out", "new")
    assert not Path("new").exists()
