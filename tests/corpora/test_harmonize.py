"""Splits, duplicates, ids and statistics of a harmonised corpus."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.document import Document, Span, read_documents
from phidrift.core.errors import PhidriftError
from phidrift.corpora.harmonize import Split, harmonize, write_corpus
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents
from phidrift.corpora.source import ReadOptions
from phidrift.corpora.splitting import grouped_split, seeded_order
from phidrift.corpora.statistics import corpus_statistics


def write(path: Path, *texts: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"text": t, "label": []}) + "\n" for t in texts), encoding="utf-8")


def harmonized(
    folder: Path, test: int | Literal["source"], seed: int, deduplicate: bool = True
) -> tuple[list[Document], list[Document], dict[str, Any]]:
    return harmonize(CorpusSource("multileg", folder, "multileg"), Split(test, deduplicate), seed)


def documents(sizes: list[int]) -> list[Document]:
    return [
        Document(f"{group}-{n}", f"text {group} {n}", (), {"group": f"g{group}"})
        for group, size in enumerate(sizes)
        for n in range(size)
    ]


def test_source_split_drops_from_train_what_stands_in_test(tmp_path: Path) -> None:
    write(tmp_path / "train" / "a.jsonl", "Alpha.", "Beta.", "Beta.")
    write(tmp_path / "train" / "b.jsonl", "gamma   DELTA", "Only in b.")
    write(tmp_path / "train" / "c.jsonl", "The same file is in test.")
    write(tmp_path / "test" / "c.jsonl", "Gamma delta", "Else.")
    train, test, report = harmonized(tmp_path, "source", 3)
    # c is in test, so all of train/c goes; "gamma   DELTA" is a test text but for case and blanks.
    assert sorted(d.text for d in train) == ["Alpha.", "Beta.", "Beta.", "Only in b."]
    assert sorted(d.text for d in test) == ["Else.", "Gamma delta"]
    assert report["dropped_from_train"] == {"group_in_test": 1, "text_in_test": 1}
    assert report["duplicates_kept"] == {"train": 1, "test": 0}
    assert {d.meta["split"] for d in train} == {"train"}
    assert len({d.id for d in [*train, *test]}) == 6
    kept, _, report = harmonized(tmp_path, "source", 3, deduplicate=False)
    assert len(kept) == 5
    assert report["dropped_from_train"]["text_in_test"] == 0


def test_ids_are_unique_and_safe(tmp_path: Path) -> None:
    write(tmp_path / "train" / "a b;é.jsonl", "One.")
    write(tmp_path / "test" / "a b;é.jsonl", "Two.")
    write(tmp_path / "train" / "c.jsonl", "Three.")
    train, test, _ = harmonized(tmp_path, "source", 3)
    # Some digits of a hash tell "a b;é" from other names that have the same letters; train's is in test, so left out.
    assert sorted(d.id for d in [*train, *test]) == ["multileg-a_b_-def818dc-0001", "multileg-c-0001"]
    assert [d.meta["group"] for d in test] == ["a_b_-def818dc"]


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", "One.", "Two.")
    with pytest.raises(PhidriftError, match=r"no test split.*sub-folders \(or files\) train and test"):
        harmonized(tmp_path, "source", 1)
    with pytest.raises(PhidriftError, match="leaves no training document: there are 2"):
        harmonized(tmp_path, 2, 1)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=40), st.integers(0, 5), st.data())
def test_a_grouped_split_never_shares_a_group(sizes: list[int], seed: int, data: st.DataObject) -> None:
    everything = documents(sizes)
    if len(everything) < 2:
        return
    wanted = data.draw(st.integers(1, len(everything) - 1))
    train, test, left_out = grouped_split(everything, wanted, seed)
    assert train
    assert test
    assert len(train) + len(test) + left_out == len(everything)
    assert len({d.id for d in [*train, *test]}) == len(train) + len(test)
    if len(sizes) == 1:
        assert (len(test), left_out) == (wanted, 0)
    else:
        assert not {d.meta["group"] for d in train} & {d.meta["group"] for d in test}
        assert len(test) <= 1.1 * wanted or len(test) == wanted


def test_a_grouped_split_comes_close_and_takes_large_groups_too() -> None:
    small = documents([10] * 30)
    assert [len(part) for part in grouped_split(small, 90, 1)[:2]] == [210, 90]
    # Half of the documents lie in groups larger than the test split: over many seeds, such groups are in it as
    # often as others (by group, 5 of 55), which a rule "take what fits" would never do.
    uneven = documents([10] * 50 + [100] * 5)
    hits = sum(
        any(d.meta["group"] in {f"g{n}" for n in range(50, 55)} for d in grouped_split(uneven, 60, seed)[1])
        for seed in range(40)
    )
    assert 8 <= hits <= 32  # expectation: 1 - (50/55)**6 = 0.43 of 40, about 17


def test_a_large_group_is_drawn_from_rather_than_a_test_split_left_small() -> None:
    # Groups of 1 and groups of 200: whichever come first, 50 are wanted and 50 are held out. Walking on only while that
    # comes nearer, a walk that meets a large group after few small ones would end with these.
    sizes = [1] * 12 + [200] * 4
    for seed in range(20):
        train, test, left_out = grouped_split(documents(sizes), 50, seed)
        assert len(test) == 50
        assert len(train) + len(test) + left_out == 812


def test_order_depends_on_the_seed_alone() -> None:
    everything = documents([5, 5])
    assert seeded_order(everything, 1) == seeded_order(reversed(everything), 1)
    assert seeded_order(everything, 1) != seeded_order(everything, 2)


def test_statistics_by_hand() -> None:
    # "Lee saw Lee ." 4 tokens, 3 distinct; "on 3 / 4 / 70" 6 tokens, 5 distinct; together 8 distinct.
    first = Document("a", "Lee saw Lee.", (Span(0, 3, "PERSON"), Span(8, 11, "PERSON")))
    second = Document("b", "on 3/4/70", (Span(3, 9, "DATE"),))
    found = corpus_statistics([first, second])
    assert (found["documents"], found["tokens"], found["tokens_per_document"], found["vocabulary"]) == (
        2,
        10,
        5.0,
        8,
    )
    assert found["entities"]["PERSON"] == {"spans": 2, "tokens": 2, "documents": 1}
    assert found["entities"]["DATE"] == {"spans": 1, "tokens": 5, "documents": 1}
    assert found["entities"]["CONTACT"] == {"spans": 0, "tokens": 0, "documents": 0}
    assert corpus_statistics([])["tokens_per_document"] is None


def test_written_files_read_back_and_the_hash_covers_both(tmp_path: Path) -> None:
    train, test = documents([2]), documents([0, 1])
    digest = write_corpus(tmp_path / "c", train, test)
    assert list(read_documents(tmp_path / "c" / "train.jsonl")) == train
    assert write_corpus(tmp_path / "d", train, test) == digest
    assert write_corpus(tmp_path / "d", train, documents([0, 2])) != digest


def test_without_deduplication_documents_are_drawn_as_in_the_study(tmp_path: Path) -> None:
    # 8 files of 5 paragraphs: whole files would make a test split of 5 files at least.
    for number in range(8):
        write(tmp_path / f"{number}.jsonl", *(f"Paragraph {number} {n}." for n in range(5)))
    train, test, report = harmonized(tmp_path, 7, 1, deduplicate=False)
    assert (len(train), len(test), report["dropped_from_train"]["group_in_test"]) == (33, 7, 0)
    assert {d.meta["group"] for d in train} & {d.meta["group"] for d in test}


def test_losses_are_said_and_no_file_is_named_in_the_report(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "test").mkdir()
    write(tmp_path / "outside.jsonl", "Neither here nor there.")
    write(tmp_path / "test" / "a.jsonl", "One.", "Two.")
    (tmp_path / "test" / "Jane_Doe.jsonl").write_text("no JSON\n")
    with caplog.at_level("INFO"):
        _, _, report = harmonized(tmp_path, "source", 1)
    assert report["without_split"] == 1
    assert report["rejected"] == {"documents": 1, "reasons": {"not JSON": 1}}
    assert "Jane" not in json.dumps(report)
    assert "3 documents read, 1 rejected; 0 train and 2 test" in caplog.text
    assert "no ADDRESS or CONTACT or DATE or PERSON in test; labels not mapped: none" in caplog.text


def test_splits_by_paths_below_the_corpus(tmp_path: Path) -> None:
    # As the real i2b2 comes: two folders of training records and one of test records.
    for name, texts in {
        "gold1/a": ["One."],
        "gold2/a": ["Two."],
        "fixed/b": ["Three."],
        "other/c": ["Four."],
    }.items():
        write(tmp_path / f"{name}.jsonl", *texts)
    parts = {"train": ["gold1", "gold2/a.jsonl"], "test": ["fixed"]}
    source = CorpusSource("multileg", tmp_path, "multileg", parts=parts)
    train, test, report = harmonize(source, Split("source"), seed=1)
    assert sorted((d.id, d.text) for d in train) == [
        ("multileg-a-0001", "One."),
        ("multileg-a-0001-2", "Two."),
    ]
    assert [d.text for d in test] == ["Three."]
    assert report["read"]["repeated_ids"] == 0  # two files of a name are no mistake
    with pytest.raises(PhidriftError, match="nowhere: no such file or folder"):
        harmonize(replace(source, parts={"train": ["nowhere"], "test": ["fixed"]}), Split("source"), seed=1)


def test_stated_ids_that_repeat_are_told_apart_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ids = ["x", "x", "x-2", "../x", None, 7, "a b", "a_b"]
    rows = [json.dumps({"id": name, "text": f"Text {n}."}) for n, name in enumerate(ids)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
    reading = Reading()
    found = [d.id for d in harmonised_documents(CorpusSource("m", tmp_path, "jsonl"), reading)]
    # x repeats and becomes x-2, so that the source's own x-2 must become another one too
    assert found == [
        "m-x",
        "m-x-2",
        "m-x-2-2",
        "m-.._x-d6b96a97",
        "m-a-000005",
        "m-7",
        "m-a_b-c8687a08",
        "m-a_b",
    ]
    assert reading.repeated_ids == 2
    assert "a.jsonl:2: id repeated: another document has this id" in caplog.text


def test_a_reason_is_named_twenty_times_and_then_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = ["{"] * 30 + [json.dumps({"text": "Fine."})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    reading = Reading()
    assert len(list(harmonised_documents(CorpusSource("m", tmp_path, "jsonl"), reading))) == 1
    assert reading.rejected == {"not JSON": 30}
    assert caplog.text.count("document skipped: not JSON") == 20
    assert "further ones of this kind are counted, not named: not JSON" in caplog.text


def test_strict_stops_at_the_first_bad_document_or_span(tmp_path: Path) -> None:
    rows = [
        {"text": "Ana", "spans": [[0, 3, "PER"]]},
        {"text": "Bo", "spans": [[0, 2, "PER"], [1, 9, "PER"]]},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    strict = CorpusSource("m", tmp_path, "jsonl", strict=True)
    with pytest.raises(PhidriftError, match=r"a.jsonl:2, spans\[1\]: outside the text.*read without strict"):
        list(harmonised_documents(strict, Reading()))
    (tmp_path / "a.jsonl").write_text('{"text": " "}', encoding="utf-8")
    with pytest.raises(PhidriftError, match=r"a.jsonl:1: no text"):
        list(harmonised_documents(strict, Reading()))


def test_the_report_accounts_for_labels_languages_and_the_whole(tmp_path: Path) -> None:
    text = "The court of first instance heard the parties and the witnesses on the day that had been set for it, {}."
    rows = [
        {"text": text.format(n), "label": [[4, 9, "ORG"], [0, 3, "PER"], [0, 500, "PER"]]} for n in range(12)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    _, _, report = harmonized(tmp_path, 4, 1)
    assert report["labels"] == {
        "ORG": {"entity": None, "spans": 12, "tokens": 12},
        "PER": {"entity": "PERSON", "spans": 24, "tokens": 12},  # the other twelve lie outside
    }
    assert report["languages"] == {"en": 12}
    assert report["whole"]["documents"] == 12
    assert report["whole"]["entities"]["PERSON"]["spans"] == 12
    assert report["spans"]["drop_reasons"] == {"outside the text": 12}


def test_groups_in_any_script_stay_apart(tmp_path: Path) -> None:
    # Sixty patients with Cyrillic names, two visits each; no patient may stand on both sides.
    rows = [
        {"text": f"Visit {n}.", "patient": f"Пациент {chr(0x410 + n // 4)}{chr(0x430 + n % 4)}"}
        for n in range(60)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in [*rows, *rows]), encoding="utf-8")
    source = CorpusSource("m", tmp_path, "jsonl", options=ReadOptions(group_field="patient"))
    train, test, report = harmonize(source, Split(20, deduplicate=True), seed=1)
    assert len({d.meta["group"] for d in [*train, *test]}) == 60
    assert not {d.meta["group"] for d in train} & {d.meta["group"] for d in test}
    assert (len(train), len(test), report["dropped_from_train"]["group_in_test"]) == (100, 20, 0)


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_few_groups_stay_whole_too(groups: int) -> None:
    train, test, left_out = grouped_split(documents([25] * groups), 25, 1)
    assert not {d.meta["group"] for d in train} & {d.meta["group"] for d in test}
    assert len(train) + len(test) + left_out == 25 * groups


def test_a_single_group_is_drawn_from_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "a.jsonl", *(f"Paragraph {n}." for n in range(10)))
    train, test, _ = harmonized(tmp_path, 3, 1)
    assert (len(train), len(test)) == (7, 3)
    assert "all documents are of one group, so that it stands in train and in test" in caplog.text


def test_documents_without_a_group_never_belong_together_by_name(tmp_path: Path) -> None:
    # Both files are called notes, and neither states ids: line 1 of one has nothing to do with line 1 of the other.
    for part in ("a", "b"):
        (tmp_path / part).mkdir()
        rows = [json.dumps({"text": f"Note {part} {n}."}) for n in range(10)]
        (tmp_path / part / "notes.jsonl").write_text("\n".join(rows), encoding="utf-8")
    source = CorpusSource("m", tmp_path, "jsonl", parts={"train": ["a"], "test": ["b"]})
    train, test, report = harmonize(source, Split("source"), seed=1)
    assert (len(train), len(test)) == (10, 10)
    assert report["dropped_from_train"] == {"group_in_test": 0, "text_in_test": 0}
    assert len({d.meta["group"] for d in [*train, *test]}) == 20


def test_a_train_split_that_belongs_with_test_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "train" / "a.jsonl", "One.")
    write(tmp_path / "test" / "a.jsonl", "Two.")
    with pytest.raises(PhidriftError, match="all 1 train documents belong with test documents"):
        harmonized(tmp_path, "source", 1)


def test_labels_as_varied_as_names_are_refused_unnamed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"text": f"Person{n} came.", "spans": [[0, 7, f"Person{n}"]]} for n in range(30)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(PhidriftError, match="30 different labels on 30 spans") as caught:
        harmonize(CorpusSource("m", tmp_path, "jsonl"), Split(5), seed=1)
    assert "Person1" not in str(caught.value) + caplog.text


def test_ids_by_position_keep_their_form_beside_stated_ones(tmp_path: Path) -> None:
    ids = [None, "b", None, "a_b-c8687a08-000001", "a_b-c8687a08-000006", None]
    rows = [json.dumps({"text": f"Text {n}.", "id": name}) for n, name in enumerate(ids)]
    (tmp_path / "a b.jsonl").write_text("\n".join(rows), encoding="utf-8")
    reading = Reading()
    found = [d.id for d in harmonised_documents(CorpusSource("m", tmp_path, "jsonl"), reading)]
    # The file's name is hashed once, as its blank is replaced. Line 4 states what line 1 is called already. Line 5
    # states what an earlier line by position could be called (line 1's id was not kept), so that line 6 has its own.
    name = "m-a_b-c8687a08"
    assert found == [
        f"{name}-000001",
        "m-b",
        f"{name}-000003",
        f"{name}-000001-2",
        f"{name}-000006-2",
        f"{name}-000006",
    ]
    assert len(set(found)) == len(found)
    assert reading.repeated_ids == 2


def test_an_unlabelled_corpus_is_not_said_to_lack_entities(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for n in range(4):
        (tmp_path / f"{n}.txt").write_text(f"Note {n}.", encoding="utf-8")
    harmonize(CorpusSource("m", tmp_path, "txt"), Split(1), seed=1)
    assert "m: 4 of 4 documents have no labels" in caplog.text
    assert "no ADDRESS" not in caplog.text


@pytest.mark.parametrize("field", ["group_field", "text_field"])
def test_a_field_that_a_format_does_not_heed_is_refused(tmp_path: Path, field: str) -> None:
    write(tmp_path / "a.jsonl", "One.", "Two.")
    source = CorpusSource("m", tmp_path, "multileg", options=ReadOptions(**{field: "patient"}))
    message = f"{field} means nothing to the format multileg. To mend: leave it out; it serves jsonl, table"
    with pytest.raises(PhidriftError, match=message):
        harmonize(source, Split(1), seed=1)
