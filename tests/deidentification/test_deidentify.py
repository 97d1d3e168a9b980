"""`phidrift deidentify` and the redaction under it: nothing marked stays in clear, nothing fails without a word."""

import json
import logging
import stat
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result
from word_taggers import TABLES, write_tagger, write_taggers

from phidrift.cli.main import app
from phidrift.core.errors import PhidriftError
from phidrift.corpora.formats import FORMATS
from phidrift.corpora.source import ReadOptions
from phidrift.deidentification import stream as redacting
from phidrift.deidentification.coverage import choose_taggers
from phidrift.deidentification.redaction import Mark, redact, resolved, tagger_marks
from phidrift.tagging.alignment import Pieces, bio_spans
from phidrift.tagging.model_folders import EntityTaggers, find_taggers
from phidrift.tagging.predict import Prediction, best_labels

NOTE = "Ana Weber, 3/14. WEBER: 555-0123. Lee on Monday, Elm Street."
MASKED = "[PERSON], [DATE]. [PERSON]: [CONTACT]. Lee on Monday, [ADDRESS]."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_taggers(tmp_path_factory.mktemp("models"))


@pytest.fixture
def run(models: Path) -> Callable[..., Result]:
    def run_command(*arguments: object) -> Result:
        named = [] if "--models" in arguments else ["--models", models]
        return CliRunner().invoke(app, ["deidentify", *map(str, [*arguments, *named])])

    return run_command


def notes(folder: Path, *texts: str) -> Path:
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"Weber_Ana_{number}.txt").write_text(text, encoding="utf-8", newline="")
    return folder


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# Marks ---------------------------------------------------------------------------------------------------------------


def test_the_higher_score_wins_and_the_rest_stays_marked() -> None:
    text = "on 12 Elm 555 0123 Street by Lee"
    address, contact = Mark(3, 25, "ADDRESS", 0.8), Mark(10, 18, "CONTACT", 0.9)
    assert resolved(text, [address, contact]) == (
        Mark(3, 10, "ADDRESS", 0.8),
        Mark(10, 18, "CONTACT", 0.9),
        Mark(18, 25, "ADDRESS", 0.8),
    )
    # The other way round nothing is left of the shorter one.
    assert resolved(text, [address, Mark(10, 18, "CONTACT", 0.7)]) == (address,)
    # What is left of the address on the right is a blank, which joins.
    assert resolved(text, [Mark(3, 19, "ADDRESS", 0.8), contact])[1:] == (Mark(10, 19, "CONTACT", 0.9),)


def test_marks_take_in_whole_words_and_touching_ones_of_a_label_are_one() -> None:
    assert resolved("Weber's Mu\u0308ller", [Mark(0, 2, "PERSON", 0.9)]) == (Mark(0, 5, "PERSON", 0.9),)
    assert resolved("Weber's Mu\u0308ller", [Mark(8, 10, "PERSON", 0.9)]) == (Mark(8, 15, "PERSON", 0.9),)
    assert resolved("3/14/2019", [Mark(0, 2, "DATE", 0.7), Mark(2, 9, "DATE", 0.9)]) == (
        Mark(0, 9, "DATE", 0.9),
    )
    assert resolved("3 4", [Mark(0, 1, "DATE", 0.7), Mark(2, 3, "DATE", 0.9)]) == (
        Mark(0, 1, "DATE", 0.7),
        Mark(2, 3, "DATE", 0.9),
    )
    assert resolved("3 4", [Mark(1, 1, "DATE", 0.7)]) == ()


TEXTS = st.text("ab1 .-\n", min_size=1, max_size=30)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[Mark]]:
    text = draw(TEXTS)
    bounds = st.lists(st.integers(0, len(text)), min_size=2, max_size=2).map(sorted)
    labels, scores = st.sampled_from("ABC"), st.sampled_from([0.5, 0.7, 0.9])
    return text, [Mark(*draw(bounds), draw(labels), draw(scores)) for _ in range(draw(st.integers(0, 6)))]


@given(marked())
def test_every_marked_character_is_in_one_resolved_mark(case: tuple[str, list[Mark]]) -> None:
    text, marks = case
    found = resolved(text, marks)
    assert all(one.end <= other.start for one, other in pairwise(found))
    covered = {place for mark in found for place in range(mark.start, mark.end)}
    assert {place for mark in marks for place in range(mark.start, mark.end)} <= covered
    for mark in found:
        assert (
            mark.end == len(text)
            or not (text[mark.end - 1].isalnum() and text[mark.end].isalnum())
            or any(other.start == mark.end for other in found)
        )
    # A mark that is surer than all others keeps its label on all that it covers.
    best = max(marks, key=lambda mark: mark.score, default=None)
    if best is not None and sum(mark.score == best.score for mark in marks) == 1:
        within = [mark for mark in found if mark.start < best.end and mark.end > best.start]
        if any(sign.isalnum() for sign in text[best.start : best.end]):
            assert {mark.label for mark in within} <= {best.label}


@given(marked())
def test_redacting_keeps_what_is_not_marked(case: tuple[str, list[Mark]]) -> None:
    text, marks = case
    found = resolved(text, marks)
    new = redact(text, found, [f"<{mark.label}>" for mark in found])
    back = new.text
    for mark, (start, end) in reversed(list(zip(found, new.places, strict=True))):
        assert back[start:end] == f"<{mark.label}>"
        back = back[:start] + text[mark.start : mark.end] + back[end:]
    assert back == text


def prediction(text: str, probabilities: np.ndarray) -> Prediction:
    """One piece for each character that isn't blank."""
    places = [place for place, sign in enumerate(text) if not sign.isspace()]
    pieces = Pieces(tuple(places), tuple((place, place + 1) for place in places))
    labels = best_labels(pieces, np.log(probabilities))
    spans = bio_spans(pieces, labels, "X")
    return Prediction(pieces, probabilities, tuple(labels), spans, (0.5,) * len(spans))


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 10_000), st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
def test_a_lower_threshold_never_marks_less(text: str, more: str, seed: int, thresholds: list[float]) -> None:
    text = f"{text} {more} a"
    rng = np.random.default_rng(seed)
    count = sum(not sign.isspace() for sign in text)
    every = [prediction(text, rng.dirichlet([1, 1, 1], count).astype(np.float32)) for _ in range(2)]

    def covered(threshold: float | None) -> set[int]:
        marks = [mark for n, one in enumerate(every) for mark in tagger_marks(one, f"E{n}", threshold)]
        return {place for mark in resolved(text, marks) for place in range(mark.start, mark.end)}

    low, high = thresholds
    assert covered(low) >= covered(high) >= covered(None)
    assert len(covered(0.0)) >= count


def test_a_threshold_adds_pieces_beside_the_decoded_spans() -> None:
    # Three pieces, belonging with 0.9, 0.3 and 0.1; the first alone is decoded.
    one = prediction("a b c", np.array([[0.1, 0.8, 0.1], [0.7, 0.1, 0.2], [0.9, 0.05, 0.05]], np.float32))
    assert [(m.start, m.end) for m in tagger_marks(one, "X")] == [(0, 1)]
    (mark,) = tagger_marks(one, "X", 0.25)
    assert (mark.start, mark.end) == (0, 3)
    assert mark.score == pytest.approx((0.9 + 0.3) / 2)
    assert [(m.start, m.end) for m in tagger_marks(one, "X", 0.05)] == [(0, 5)]
    assert [(m.start, m.end) for m in tagger_marks(one, "X", 1.0)] == [(0, 1)]
    # Two persons side by side stay two.
    two = prediction("a b", np.array([[0.1, 0.8, 0.1], [0.1, 0.8, 0.1]], np.float32))
    assert [(m.start, m.end) for m in tagger_marks(two, "X", 0.5)] == [(0, 1), (2, 3)]


# The command ---------------------------------------------------------------------------------------------------------


def test_masks_and_places(run: Callable[..., Result], tmp_path: Path) -> None:
    folder, out = notes(tmp_path / "in", NOTE, "Nothing here.\r\n"), tmp_path / "out"
    done = run(folder, "--out", out, "--threads", 1)
    assert done.exit_code == 0, done.output
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*")) == [
        *("documents.jsonl", "manifest.json", "spans.jsonl", "text", "text/000001.txt", "text/000002.txt"),
    ]
    first, second = lines(out / "documents.jsonl")
    assert first == {"id": "000001", "text": MASKED}
    assert second == {"id": "000002", "text": "Nothing here.\r\n"}
    assert (out / "text/000001.txt").read_bytes() == MASKED.encode()
    assert (out / "text/000002.txt").read_bytes() == b"Nothing here.\r\n"
    spans = lines(out / "spans.jsonl")[0]["spans"]
    assert [NOTE[s["start"] : s["end"]] for s in spans] == [
        "Ana Weber",
        "3/14",
        "WEBER",
        "555-0123",
        "Elm Street",
    ]
    assert [MASKED[s["new_start"] : s["new_end"]] for s in spans] == [f"[{s['label']}]" for s in spans]
    assert {key for span in spans for key in span} == {
        "start",
        "end",
        "label",
        "score",
        "new_start",
        "new_end",
    }
    # 555 is a date with 0.951 and a contact with 0.993: the surer one has it.
    assert spans[3]["score"] == pytest.approx(0.993, abs=1e-3)
    assert spans[0]["score"] == pytest.approx(0.951, abs=1e-3)


def test_no_string_and_no_place_leaves_the_output(
    run: Callable[..., Result], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, out = notes(tmp_path / "in", NOTE, NOTE), tmp_path / "out"
    with caplog.at_level(logging.DEBUG):
        done = run(folder, "--out", out, "--mode", "surrogate")
    written = "".join(path.read_text() for path in out.rglob("*") if path.is_file())
    told = done.output + caplog.text
    for secret in ("Ana", "Weber", "WEBER", "0123", "Elm Street", "3/14"):
        assert secret not in told.replace(str(folder), "")
        assert secret not in written
    assert str(tmp_path) not in written


def test_the_manifest_says_what_was_done_and_what_is_not_covered(
    run: Callable[..., Result], models: Path, tmp_path: Path
) -> None:
    import hashlib

    few = write_taggers(tmp_path / "few", ("DATE", "PERSON"))
    out = tmp_path / "out"
    done = run(
        notes(tmp_path / "in", NOTE), "--out", out, "--models", few, "--mode", "surrogate", "--seed", 7
    )
    assert done.exit_code == 0, done.output
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["documents"] == {"met": 1, "written": 1, "left_out": 0}
    # 3/14, and 555 by the tagger of dates; 555 is no date that can be shifted.
    assert manifest["spans"] == {"DATE": 2, "PERSON": 2}
    assert manifest["masked_for_want_of_a_surrogate"] == {"DATE": 1}
    assert manifest["no_tagger"] == ["ADDRESS", "CONTACT"]
    weights = (few / "DATE/model.safetensors").read_bytes()
    assert manifest["taggers"]["DATE"]["weights_sha256"] == [hashlib.sha256(weights).hexdigest()]
    assert manifest["seeded"] is True
    assert "7" not in json.dumps(manifest["warnings"])  # the seed would undo the shift
    for place in (json.dumps(manifest), done.output):
        assert "No tagger for ADDRESS, CONTACT: these stay in clear." in place
        assert "medical record numbers" in place
        assert "fit for clinical use" in place
        assert "Whether the tagger of DATE, PERSON is restricted is not recorded." in place
        assert "can undo the shift of dates" in place


def test_restricted_and_stand_in_taggers_are_named(run: Callable[..., Result], tmp_path: Path) -> None:
    folder = tmp_path / "set" / "DATE"
    write_tagger(folder / "tiny-1", "DATE", TABLES["DATE"])
    record = {
        "entity": "DATE",
        "trained": True,
        "reason": None,
        "restricted": True,
        "stand_in": True,
        "set": "weber-ana",
        "sha256": "ab" * 32,
    }
    record["taggers"] = [{"tagger": "tiny", "seed": 1}]
    (folder / "training.json").write_text(json.dumps(record))
    done = run(notes(tmp_path / "in", NOTE), "--out", tmp_path / "out", "--models", tmp_path / "set")
    assert "The tagger of DATE is restricted" in done.output
    assert "The tagger of DATE learnt from stand-ins" in done.output
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["taggers"]["DATE"]["restricted"] is True
    assert manifest["taggers"]["DATE"]["training_set_sha256"] == "ab" * 32
    assert manifest["taggers"]["DATE"]["tagger"] == "tiny-1"
    assert "weber" not in json.dumps(manifest)


def test_the_manifest_holds_no_name_of_a_bare_checkpoint(run: Callable[..., Result], tmp_path: Path) -> None:
    folder = write_tagger(tmp_path / "weber-ana", "DATE", TABLES["DATE"])
    (folder / "model.safetensors").rename(folder / "weber-ana.safetensors")
    (folder / "model.safetensors").symlink_to("weber-ana.safetensors")
    assert run(notes(tmp_path / "in", NOTE), "--out", tmp_path / "out", "--models", folder).exit_code == 0
    manifest = (tmp_path / "out/manifest.json").read_text()
    assert json.loads(manifest)["taggers"]["DATE"]["tagger"] is None
    assert "weber" not in manifest


def test_surrogates_hold_together_in_a_document_and_differ_between_documents(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    folder = notes(tmp_path / "in", "Ana Weber. Weber 3/14/2019, 3/20/2019.", "Weber 3/14/2019.")
    assert run(folder, "--out", tmp_path / "a", "--mode", "surrogate", "--seed", 1).exit_code == 0
    run(folder, "--out", tmp_path / "b", "--mode", "surrogate", "--seed", 1)
    run(folder, "--out", tmp_path / "c", "--mode", "surrogate", "--seed", 2)
    run(folder, "--out", tmp_path / "d", "--mode", "surrogate")
    run(folder, "--out", tmp_path / "e", "--mode", "surrogate")
    contents = [(tmp_path / name / "documents.jsonl").read_bytes() for name in "abcde"]
    assert contents[0] == contents[1]
    assert len(set(contents)) == 4  # without a seed, every run has a secret of its own
    first, second = (str(line["text"]) for line in lines(tmp_path / "a/documents.jsonl"))
    _, surname, again, start, end = first.replace(".", "").replace(",", "").split()
    assert surname == again
    days = np.datetime64(_iso(end)) - np.datetime64(_iso(start))
    assert days == np.timedelta64(6, "D")
    assert second.split()[0] != surname
    assert start not in second


def _iso(date: str) -> str:
    month, day, year = date.split("/")
    return f"{year}-{int(month):02d}-{int(day):02d}"


def test_a_threshold_marks_what_is_unsure(run: Callable[..., Result], tmp_path: Path) -> None:
    # Lee belongs with 0.213, Mon too and widens to Monday; all else with 0.005 or, where decoded, with 0.95 and more.
    folder = notes(tmp_path / "in", NOTE)
    texts = []
    for threshold in (1, 0.3, 0.2, 0.001):
        run(folder, "--out", tmp_path / f"{threshold}", "--threshold-for-recall", threshold)
        texts.append(lines(tmp_path / f"{threshold}" / "documents.jsonl")[0]["text"])
    assert texts[0] == texts[1] == MASKED
    assert texts[2] == MASKED.replace("Lee", "[PERSON]").replace("Monday", "[DATE]")
    assert not any(sign.isdigit() or sign.islower() for sign in str(texts[3]))


def test_a_bad_document_is_left_out_and_the_rest_is_written(
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = notes(tmp_path / "in", NOTE, "blank", "fails " + NOTE, NOTE)
    (folder / "Weber_Ana_1.txt").write_bytes(b"\xff\xfe broken")
    original = redacting.resolved

    def fail(text: str, marks: list[Mark]) -> tuple[Mark, ...]:
        if text.startswith("fails"):
            raise ValueError(text)
        return original(text, marks)

    monkeypatch.setattr(redacting, "resolved", fail)
    done = run(folder, "--out", tmp_path / "out", "--key", tmp_path / "key.jsonl")
    assert done.exit_code == 3
    assert [line["id"] for line in lines(tmp_path / "out/documents.jsonl")] == ["000001", "000004"]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert [item["id"] for item in manifest["left_out"]] == ["000002", "000003"]
    assert manifest["left_out"][1]["reason"] == "replacing what was found failed (ValueError)"
    assert manifest["documents"] == {"met": 4, "written": 2, "left_out": 2}
    assert "LEFT OUT: 2 documents" in done.output
    assert "document 000003" in caplog.text
    assert "fails" not in caplog.text + done.output
    assert sorted(path.name for path in (tmp_path / "out/text").iterdir()) == ["000001.txt", "000004.txt"]
    key = lines(tmp_path / "key.jsonl")
    assert [(line["id"], Path(str(line["place"])).name) for line in key] == [
        ("000001", "Weber_Ana_0.txt:1"),
        ("000004", "Weber_Ana_3.txt:1"),
    ]
    assert stat.S_IMODE((tmp_path / "key.jsonl").stat().st_mode) == 0o600


def test_where_all_fail_nothing_is_written(
    run: Callable[..., Result],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(redacting, "predict", fail)
    done = run(notes(tmp_path / "in", NOTE), "--out", tmp_path / "out", "--key", tmp_path / "key")
    assert isinstance(done.exception, PhidriftError)
    said = "none of 1 documents could be redacted, most often: the tagger failed (MemoryError). To mend: check the"
    assert said in str(done.exception)
    assert "000001" in caplog.text
    assert "the tagger failed (MemoryError). To mend: check the checkpoint" in caplog.text
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_other_formats_and_their_ids(run: Callable[..., Result], tmp_path: Path) -> None:
    # Labels are not looked at, whatever they are; ids and names stay out, even ones that climb.
    rows = [
        {"id": "../../Weber", "note": "Ana Weber", "spans": [{"start": 0, "end": 99, "label": f"odd {n}"}]}
        for n in range(600)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"id": 1, "note": ""}])))
    (tmp_path / "in.csv").write_text("id,words\nAna,3/14 😀 Weber\n", encoding="utf-8")
    done = run(tmp_path / "in.jsonl", "--out", tmp_path / "out")
    assert done.exit_code == 3, done.output  # the empty note has no text to redact
    found = lines(tmp_path / "out/documents.jsonl")
    assert len(found) == 600
    assert {line["text"] for line in found} == {"[PERSON]"}
    assert found[-1]["id"] == "000600"
    assert not (tmp_path / "out/text").exists()
    done = run(tmp_path / "in.csv", "--out", tmp_path / "table", "--text-field", "words", "--format", "table")
    assert done.exit_code == 0, done.output
    assert lines(tmp_path / "table/documents.jsonl") == [{"id": "000001", "text": "[DATE] 😀 [PERSON]"}]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "in.jsonl", "out", "table"]


def test_several_inputs_and_long_texts(run: Callable[..., Result], tmp_path: Path) -> None:
    # 30 pieces a window: 500 times 12 pieces, which lie in many windows.
    one = notes(tmp_path / "one", (NOTE + " ") * 300)
    two = notes(tmp_path / "two", *["Weber."] * 300)
    assert run(one, two, "--out", tmp_path / "out").exit_code == 0
    found = lines(tmp_path / "out/documents.jsonl")
    assert [line["id"] for line in found] == [f"{number:06d}" for number in range(1, 302)]
    assert found[0]["text"] == (MASKED + " ") * 300
    assert {line["text"] for line in found[1:]} == {"[PERSON]."}


def test_places_that_are_refused(run: Callable[..., Result], models: Path, tmp_path: Path) -> None:
    folder = notes(tmp_path / "in", NOTE)
    full = notes(tmp_path / "full", "kept")
    key = tmp_path / "key"
    key.write_text("kept")
    free = tmp_path / "free"
    for out, more, said in (
        (folder / "out", [], "this would write into an input"),
        (tmp_path, [], "this would write into an input"),
        (models / "out", [], "this would write into an input"),
        (full, [], "not a new or empty folder"),
        (full / "Weber_Ana_0.txt", [], "not a new or empty folder"),
        (free, ["--key", free / "key"], "must not lie with the redacted ones"),
        (free, ["--key", key], "there is one already"),
        (free, ["--seed", 1], "masks are not drawn from a seed"),
        (free, ["--tagger", "none-1"], "no ADDRESS tagger is named 'none-1'"),
        (free, ["--models", full], "no taggers here"),
        (free, ["--text-field", "note"], "text_field means nothing to the format txt"),
    ):
        done = run(folder, "--out", out, *more)
        assert isinstance(done.exception, PhidriftError), done.output
        assert said in str(done.exception)
    assert run(folder, "--out", free, "--threshold-for-recall", 1.5).exit_code == 2
    assert not free.exists()
    assert (full / "Weber_Ana_0.txt").read_text() == "kept"
    free.mkdir()
    assert run(folder, "--out", free).exit_code == 0  # an empty folder will do


@pytest.mark.parametrize("out", [".", "..", "../work"])
def test_the_working_folder_is_refused_before_anything_is_read(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    done = run(tmp_path / "absent", "--out", out)
    assert "this is the working folder or holds it" in str(done.exception)
    assert list(tmp_path.rglob("*")) == [tmp_path / "work"]


def test_files_that_nobody_reads_are_counted(run: Callable[..., Result], tmp_path: Path) -> None:
    folder = notes(tmp_path / "in", NOTE, NOTE, NOTE)
    (folder / "a.jsonl").write_text(json.dumps({"text": NOTE}))
    for name in ("b.docx", "ana.weber", "Weber", ".hidden"):
        (folder / name).write_text(NOTE)
    done = run(folder, "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert "1 of 1 documents" in done.output
    said = "6 files with other endings were NOT read and not written: .txt 3, (other) 2, .docx 1"
    assert said in " ".join(done.output.split())
    manifest = (tmp_path / "out/manifest.json").read_text()
    assert json.loads(manifest)["files_not_read"] == {".txt": 3, "(other)": 2, ".docx": 1}
    assert "weber" not in manifest.casefold()
    # What another input reads is read.
    texts = [folder / f"Weber_Ana_{number}.txt" for number in range(3)]
    done = run(folder, *texts, "--out", tmp_path / "both")
    assert "3 files with other endings were NOT read" in done.output
    assert "NOT read" not in run(*texts, "--out", tmp_path / "all").output


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"datasets"}))
def test_the_endings_are_those_that_the_readers_open(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    every = {ending for form in FORMATS.values() for ending in form.endings}
    for ending in every:
        (tmp_path / f"a{ending}").write_text("")
    form = FORMATS[name]
    options = ReadOptions("text", None, "utf-8") if form.fields else ReadOptions(None, None, "utf-8")
    # The files are empty; which they are has been said before that is an error.
    with caplog.at_level(logging.INFO, "phidrift.corpora.files"), suppress(PhidriftError):
        list(form.read(tmp_path, options, lambda where, reason: None))
    said = caplog.text.partition("files with other endings are not read: ")[2].splitlines()[0]
    unread = {
        part.split()[0].replace("others", ".conll2003") for part in said.split(", ")
    }  # too long to be named
    # The reader of brat opens .ann beside .txt.
    assert every - unread - {".ann"} == set(FORMATS[name].endings) - {".ann"}


def test_every_format_has_its_endings() -> None:
    assert all(form.endings for form in FORMATS.values())


def test_which_tagger_is_taken(tmp_path: Path) -> None:
    place = Path("DATE")
    both = EntityTaggers("DATE", {"a-1": place / "a-1", "a-2": place / "a-2"}, None)
    none = EntityTaggers("PERSON", {}, None, "no positives")
    with pytest.raises(PhidriftError, match="several taggers of DATE: a-1, a-2"):
        choose_taggers({"DATE": both}, None)
    (chosen,) = choose_taggers({"DATE": both, "PERSON": none}, "a-2")
    assert (chosen.entity, chosen.name, chosen.folder) == ("DATE", "a-2", place / "a-2")
    with pytest.raises(PhidriftError, match="no positives"):
        choose_taggers({"PERSON": none}, None)


def test_a_model_that_gives_no_numbers_leaves_nothing_in_clear(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    nan = float("nan")
    broken = write_tagger(tmp_path / "broken", "PERSON", {}, (nan, nan, nan))
    assert list(find_taggers(broken)) == ["PERSON"]
    done = run(notes(tmp_path / "in", NOTE), "--out", tmp_path / "out", "--models", broken)
    assert "not finite" in str(done.exception)
    assert not (tmp_path / "out").exists()
