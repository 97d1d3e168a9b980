"""Folders that `datasets` saves to disk."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, List, NamedSplit, Sequence, Value

from phidrift.core.errors import PhidriftError
from phidrift.corpora.readers.hf_datasets import read_hf_datasets
from phidrift.corpora.source import RawDocument, RawSpan, ReadOptions

PLAIN = ReadOptions()
TAGS = ClassLabel(names=["O", "B-PER", "I-PER"])
TOKENS = Features({"tokens": List(Value("string")), "ner_tags": List(TAGS)})
# 0123456789012
# Ann Ray is in      "Ann Ray" 0-7
ANN = {"tokens": ["Ann", "Ray", "is", "in"], "ner_tags": [1, 2, 0, 0]}
SPAN = {"start": 0, "end": 7, "label": "PER"}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Saving draws bars too."""
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def columns(*rows: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def saved(folder: Path, *rows: dict[str, Any], features: Features | None = None, **options: Any) -> Path:
    Dataset.from_dict(columns(*rows), features=features, **options).save_to_disk(folder)
    return folder


def read(path: Path, options: ReadOptions = PLAIN) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    rejected: list[tuple[str, str]] = []
    documents = list(read_hf_datasets(path, options, lambda where, reason: rejected.append((where, reason))))
    return documents, rejected


def test_a_text_column_with_spans(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "my notes",
        {"text": "Ann Ray is in", "spans": [SPAN], "n": 1},
        {"text": "Nobody", "spans": [], "n": 2},
        {"text": "Unread", "spans": None, "n": 3},
    )
    documents, rejected = read(path)
    assert rejected == []
    first = "my_notes-f30ac2b5-000001"  # hashed, as the blank is replaced
    spans = (RawSpan(0, 7, "PER"),)
    assert documents[0] == RawDocument(first, "Ann Ray is in", spans, None, None, f"{path}, row 1", "spans")
    assert [d.spans for d in documents[1:]] == [(), None]


def test_characters_stay_as_they_are(tmp_path: Path) -> None:
    # NBSP, a line separator, CR LF, NEL and a character outside the basic plane.
    text = "  A\xa0B\u2028C\r\nD\x85\U0001f600 "
    documents, _ = read(saved(tmp_path / "d", {"text": text}))
    assert (documents[0].text, documents[0].spans) == (text, None)


def test_splits_of_a_dataset_dict(tmp_path: Path) -> None:
    parts = {name: Dataset.from_dict({"text": [f"In {name}."]}) for name in ("train", "validation", "test")}
    DatasetDict(parts).save_to_disk(tmp_path / "d")
    documents, _ = read(tmp_path / "d")
    assert [(d.id, d.text, d.split, d.where) for d in documents] == [
        ("train-000001", "In train.", "train", f"{tmp_path / 'd'}, train, row 1"),
        ("validation-000001", "In validation.", None, f"{tmp_path / 'd'}, validation, row 1"),
        ("test-000001", "In test.", "test", f"{tmp_path / 'd'}, test, row 1"),
    ]


@pytest.mark.parametrize(("split", "expected"), [("test", "test"), ("train", "train"), ("dev", None)])
def test_the_split_that_a_dataset_remembers(tmp_path: Path, split: str, expected: str | None) -> None:
    documents, _ = read(saved(tmp_path / "d", {"text": "A."}, split=NamedSplit(split)))
    assert (documents[0].id, documents[0].split) == ("d-000001", expected)


def test_ids_groups_and_the_named_text_column(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "d",
        {"id": 5, "a": "A.", "text": "B.", "who": "p1"},
        {"id": 6, "a": None, "text": "C.", "who": "p2"},
    )
    documents, rejected = read(path, ReadOptions(text_field="a", group_field="who"))
    assert [(d.id, d.text, d.group, d.stated_id) for d in documents] == [("5", "A.", "p1", True)]
    assert rejected == [(f"{path}, row 2", "field 'a' must be a string")]


def test_which_column_holds_the_text(tmp_path: Path) -> None:
    # A number called text is no text; the first row's null is no reason not to find the column.
    features = Features({"text": Value("int64"), "note": Value("string")})
    documents, rejected = read(
        saved(tmp_path / "a", {"text": 1, "note": None}, {"text": 2, "note": "A."}, features=features)
    )
    assert ([d.text for d in documents], len(rejected)) == (["A."], 1)
    with pytest.raises(PhidriftError, match=r"none of the usual names.*there are words, n$"):
        read(saved(tmp_path / "b", {"words": "A.", "n": 1}))
    with pytest.raises(PhidriftError, match="text and note"):
        read(saved(tmp_path / "c", {"note": "A.", "text": "B."}))


def test_class_numbers_in_spans_and_spans_as_an_object_of_lists(tmp_path: Path) -> None:
    span = {"start": Value("int32"), "end": Value("int32"), "label": TAGS}
    rows = [
        {
            "text": "Ann Ray",
            "entities": [{"start": 0, "end": 3, "label": 1}, {"start": 4, "end": 7, "label": 2}],
        }
    ]
    expected = (RawSpan(0, 3, "B-PER"), RawSpan(4, 7, "I-PER"))
    as_objects = Features({"text": Value("string"), "entities": List(span)})
    assert read(saved(tmp_path / "a", *rows, features=as_objects))[0][0].spans == expected
    # A Sequence of objects is stored as an object of lists.
    as_lists = Features({"text": Value("string"), "entities": Sequence(span)})
    row = {"text": "Ann Ray", "entities": {"start": [0, 4], "end": [3, 7], "label": [1, 2]}}
    assert read(saved(tmp_path / "b", row, features=as_lists))[0][0].spans == expected
    # Lists of unequal length are no rows of anything.
    row = {"text": "Ann Ray", "spans": {"start": [0, 4], "end": [3]}}
    assert [reason for _, reason in read(saved(tmp_path / "c", row))[1]] == [
        "field 'spans' must be a list of spans, or null"
    ]


def test_spans_as_json(tmp_path: Path) -> None:
    assert read(saved(tmp_path / "d", {"text": "Ann Ray", "label": json.dumps([[0, 7, "PER"]])}))[0][
        0
    ].spans == (RawSpan(0, 7, "PER"),)


def test_tokens_with_class_numbers(tmp_path: Path) -> None:
    path = saved(tmp_path / "d", {**ANN, "doc": "n1"}, features=Features({**TOKENS, "doc": Value("string")}))
    documents, rejected = read(path, ReadOptions(group_field="doc"))
    assert rejected == []
    spans = (RawSpan(0, 7, "PER", "Ann Ray"),)
    assert documents == [
        RawDocument("d-000001", "Ann Ray is in", spans, None, "n1", f"{path}, row 1", "ner_tags")
    ]


@pytest.mark.parametrize("column", ["ner_tags", "tags", "labels"])
def test_tokens_with_tags_as_strings(tmp_path: Path, column: str) -> None:
    # i0 s1 blank2 R3 a4 y5 blank6: "Ray" is 3-6.
    path = saved(tmp_path / "d", {"id": "x", "tokens": ["is", "Ray", "in"], column: ["O", "PER", "O"]})
    (document,) = read(path)[0]
    assert (document.id, document.stated_id, document.field) == ("x", True, column)
    assert (document.text, document.spans) == ("is Ray in", (RawSpan(3, 6, "PER", "Ray"),))


def test_tokens_without_tags_are_unlabelled(tmp_path: Path) -> None:
    documents, _ = read(saved(tmp_path / "d", {**ANN, "ner_tags": None}, ANN, features=TOKENS))
    assert [d.spans for d in documents] == [None, (RawSpan(0, 7, "PER", "Ann Ray"),)]


def test_text_or_tokens(tmp_path: Path) -> None:
    both = {"text": "Ann Ray is in.", "tokens": ["Ann"], "tags": ["B-PER"]}
    assert read(saved(tmp_path / "a", both))[0][0].text == "Ann"
    assert read(tmp_path / "a", ReadOptions(text_field="text"))[0][0].text == "Ann Ray is in."
    # Spans into the text as it was are better than a text rebuilt.
    assert read(saved(tmp_path / "b", {**both, "spans": [SPAN]}))[0][0].spans == (RawSpan(0, 7, "PER"),)
    # Tokens alone say nothing of spans.
    assert read(saved(tmp_path / "c", {"text": "Ann.", "tokens": ["Ann", "."]}))[0][0].spans is None
    assert (
        read(saved(tmp_path / "e", {"text": "Ann.", "tokens": ["Ann", "."], "tags": "PER"}))[0][0].spans
        is None
    )


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"tokens": None, "ner_tags": [0]}, "field 'tokens' must be a list of strings"),
        ({"tokens": ["a", None], "ner_tags": [0, 0]}, "field 'tokens' must be a list of strings"),
        ({"tokens": ["a", "b"], "ner_tags": [0]}, "'tokens' and 'ner_tags' differ in length"),
        ({"tokens": ["a"], "ner_tags": [-1]}, "field 'ner_tags' must be a list of tags that have a name"),
        ({"tokens": ["a"], "ner_tags": [None]}, "field 'ner_tags' must be a list of tags that have a name"),
    ],
)
def test_a_bad_row_is_rejected_alone(tmp_path: Path, bad: dict[str, Any], reason: str) -> None:
    path = saved(tmp_path / "d", ANN, bad, ANN, features=TOKENS)
    documents, rejected = read(path)
    assert [d.id for d in documents] == ["d-000001", "d-000003"]
    assert rejected == [(f"{path}, row 2", reason)]


def test_a_number_that_names_no_class(tmp_path: Path) -> None:
    # Saved with three names, of which the folder then loses the last: 2 names nothing any more.
    path = saved(tmp_path / "d", ANN, features=TOKENS)
    info = path / "dataset_info.json"
    info.write_text(
        info.read_text(encoding="utf-8").replace('"I-PER"', "").replace('"B-PER",', '"B-PER"'),
        encoding="utf-8",
    )
    assert read(path)[1] == [(f"{path}, row 1", "field 'ner_tags' must be a list of tags that have a name")]


def test_tags_that_are_numbers_without_names(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match=r"d: column 'ner_tags' holds no names of tags. To mend: cast it"):
        read(saved(tmp_path / "d", ANN))


def test_a_date_that_python_cannot_hold_costs_its_row(tmp_path: Path) -> None:
    features = Features({"text": Value("string"), "at": Value("timestamp[s]")})
    dataset = Dataset.from_dict({"text": ["A.", "B."], "at": [0, 10**15]}, features=features)
    dataset.save_to_disk(tmp_path / "d")
    documents, rejected = read(tmp_path / "d")
    assert [d.text for d in documents] == ["A."]
    assert rejected == [(f"{tmp_path / 'd'}, row 2", "can't be converted (OverflowError)")]


def test_formats_and_pictures_are_left_alone(tmp_path: Path) -> None:
    picture = {"bytes": b"no picture", "path": None}
    features = Features({"text": Value("string"), "image": datasets.Image()})
    dataset = Dataset.from_dict({"text": ["A."], "image": [picture]}, features=features)
    dataset.with_format("numpy", columns=["image"]).save_to_disk(tmp_path / "d")
    assert [d.text for d in read(tmp_path / "d")[0]] == ["A."]


def test_bars_are_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "d", {"text": "A."})
    load, seen = datasets.load_from_disk, []

    def watched(*arguments: Any, **options: Any) -> Any:
        seen.append(datasets.are_progress_bars_disabled())
        return load(*arguments, **options)

    monkeypatch.setattr(datasets, "load_from_disk", watched)
    for quiet in (True, False):
        (datasets.disable_progress_bars if quiet else datasets.enable_progress_bars)()
        assert len(read(path)[0]) == 1
        assert datasets.are_progress_bars_disabled() is quiet
    assert seen == [True, True]


def test_folders_that_are_no_saved_dataset(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing", Path(__file__)):
        with pytest.raises(PhidriftError, match=r"no saved dataset here\. To mend: point"):
            read(path)


@pytest.mark.parametrize("name", ["dataset_info.json", "state.json", "data-00000-of-00001.arrow"])
@pytest.mark.parametrize("damage", ["missing", "empty", "half", "rubbish"])
def test_a_damaged_folder(tmp_path: Path, name: str, damage: str) -> None:
    path = tmp_path / "d"
    saved(path, *[ANN] * 1000, features=TOKENS)
    content = (path / name).read_bytes()
    (path / "dataset_dict.json").write_text('{"splits": ["d"]}', encoding="utf-8")
    if damage == "missing":
        (path / name).unlink()
    else:
        new = {"empty": b"", "half": content[: len(content) // 2], "rubbish": b"\xff{}" * 9}[damage]
        (path / name).write_bytes(new)
    with pytest.raises(
        PhidriftError, match=r"d: not as `datasets` saves it, or damaged \(\w+\)\. To mend: save"
    ):
        read(path)


def test_any_bytes_end_in_documents_rejections_or_the_one_error(tmp_path: Path) -> None:
    path, copy = saved(tmp_path / "d", *[ANN] * 50, features=TOKENS), tmp_path / "copy"
    chance, outcomes = random.Random(0), {"read": 0, "refused": 0}
    for _ in range(60):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
        victim = chance.choice(sorted(copy.iterdir()))
        content = bytearray(victim.read_bytes())
        for _ in range(chance.choice((1, 5, 50))):
            content[chance.randrange(len(content))] = chance.randrange(256)
        victim.write_bytes(content)
        try:
            documents, rejected = read(copy)
        except PhidriftError:
            outcomes["refused"] += 1
        else:
            assert len(documents) + len(rejected) == 50
            outcomes["read"] += 1
    assert min(outcomes.values()) > 0
