"""Label Studio exports by hand, and a real one."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from phidrift.core.errors import PhidriftError
from phidrift.corpora.readers.label_studio import read_label_studio
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions

SHARED = Path(__file__).parents[3] / "shared" / "corpora"
PLAIN = ReadOptions()
# 0123456789012345678901234567
# Ann Ray called 555-0142 now.     "Ann Ray" 0-7, "555-0142" 15-23
TEXT = "Ann Ray called 555-0142 now."
NAME = {"start": 0, "end": 7, "text": "Ann Ray", "labels": ["PERSON"]}
PHONE = {"start": 15, "end": 23, "text": "555-0142", "labels": ["PHONE", "ID"]}


def region(value: object, kind: object = "labels") -> dict[str, Any]:
    return {"id": "r", "from_name": "label", "to_name": "text", "type": kind, "value": value}


def task(*annotations: object, **fields: object) -> dict[str, Any]:
    return {"id": 7, "data": {"text": TEXT}, "annotations": list(annotations), **fields}


def read(
    path: Path, content: object, options: ReadOptions = PLAIN
) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    path.write_text(json.dumps(content), encoding="utf-8")
    rejected: list[tuple[str, str]] = []
    documents = list(read_label_studio(path, options, lambda where, reason: rejected.append((where, reason))))
    return documents, rejected


def read_one(path: Path, content: dict[str, Any], options: ReadOptions = PLAIN) -> RawDocument:
    documents, rejected = read(path, [content], options)
    assert rejected == []
    return documents[0]


def test_regions_become_spans_one_for_each_label(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    document = read_one(path, task({"result": [region(NAME), region(PHONE)]}))
    assert document == RawDocument(
        "7",
        TEXT,
        (
            RawSpan(0, 7, "PERSON", "Ann Ray"),
            RawSpan(15, 23, "PHONE", "555-0142"),
            RawSpan(15, 23, "ID", "555-0142", 1),  # the third span, but of the second region
        ),
        None,
        None,
        f"{path}, item 1",
        "annotations[0].result",
        stated_id=True,
    )


def test_json_lines_gzipped_and_the_split_of_the_file(tmp_path: Path) -> None:
    lines = "".join(json.dumps({**task({"result": []}), "id": n}) + "\n" for n in (1, 2))
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    documents = list(read_label_studio(tmp_path, PLAIN, pytest.fail))
    assert [(d.id, d.split, d.spans) for d in documents] == [("1", "test", ()), ("2", "test", ())]
    assert documents[1].where == f"{tmp_path / 'test.jsonl.gz'}:2"


def test_the_first_annotation_that_is_not_cancelled(tmp_path: Path) -> None:
    skipped = {"was_cancelled": True, "result": [region(PHONE)]}
    first, second = {"was_cancelled": False, "result": [region(NAME)]}, {"result": [region(PHONE)]}
    document = read_one(tmp_path / "a.json", task(skipped, first, second))
    assert document.spans == (RawSpan(0, 7, "PERSON", "Ann Ray"),)
    assert document.field == "annotations[1].result"


@pytest.mark.parametrize(
    "unlabelled",
    [
        task(),
        task({"was_cancelled": True, "result": [region(NAME)]}),
        task(annotations=None),
        {"id": 7, "data": {"text": TEXT}, "predictions": [{"result": [region(NAME)]}]},
    ],
)
def test_without_an_annotation_a_text_is_unlabelled(tmp_path: Path, unlabelled: dict[str, Any]) -> None:
    assert read_one(tmp_path / "a.json", unlabelled).spans is None


def test_an_annotation_without_regions_says_that_there_is_no_entity(tmp_path: Path) -> None:
    assert read_one(tmp_path / "a.json", task({"result": []})).spans == ()


def test_old_exports_call_annotations_completions(tmp_path: Path) -> None:
    old = {"id": 1, "data": {"text": TEXT}, "completions": [{"id": 1001, "result": [region(NAME)]}]}
    document = read_one(tmp_path / "a.json", old)
    assert (document.spans, document.field) == (
        (RawSpan(0, 7, "PERSON", "Ann Ray"),),
        "completions[0].result",
    )


def test_other_regions_are_passed_over_and_unusable_ones_are_counted(tmp_path: Path) -> None:
    # Offsets into what a browser shows of HTML are no offsets into the text: the label stays, without a place.
    hyper = {
        "start": "/p[1]/text()[1]",
        "end": "/p[1]/text()[1]",
        "text": "Ann",
        "hypertextlabels": ["PERSON"],
    }
    regions = [
        region({"choices": ["urgent"]}, "choices"),
        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", "labels": ["of"]},
        region({**NAME, "labels": []}),
        region(hyper, "hypertextlabels"),
        region({"start": 0, "end": 3, "text": "Ann"}),
        region(None),
        region({**NAME, "labels": [5]}),
        region(NAME, None),
        "no region",
        region({"start": 0, "end": 3, "text": 8, "labels": ["PERSON"]}),
    ]
    spans = read_one(tmp_path / "a.json", task({"result": regions})).spans
    assert spans == (
        RawSpan(None, None, "PERSON", "Ann", 3),
        *[MALFORMED._replace(number=n) for n in range(4, 9)],  # those before gave no span, or one each
        RawSpan(0, 3, "PERSON", None, 9),
    )


def test_json_min_in_any_list_of_regions(tmp_path: Path) -> None:
    item = {
        "id": 3,
        "note": TEXT,
        "ner": [NAME, PHONE],
        "annotator": 1,
        "annotation_id": 9,
        "created_at": "2024",
    }
    document = read_one(tmp_path / "a.json", item, ReadOptions(text_field="note"))
    assert (document.id, document.text, document.field) == ("3", TEXT, "ner")
    assert document.spans is not None
    assert [(s.start, s.end, s.label) for s in document.spans] == [
        (0, 7, "PERSON"),
        (15, 23, "PHONE"),
        (15, 23, "ID"),
    ]


def test_json_min_without_regions(tmp_path: Path) -> None:
    annotated = {"id": 3, "text": TEXT, "annotation_id": 9, "sentiment": "good"}
    assert read_one(tmp_path / "a.json", annotated).spans == ()
    assert read_one(tmp_path / "a.json", {"id": 3, "text": TEXT}).spans is None


def test_the_field_that_holds_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    only = {"id": 1, "data": {"note": "A.", "patient": 4}}
    assert read_one(path, only).text == "A."
    both = {"id": 1, "data": {"source": "ward 3", "text": "B."}}
    assert read_one(path, both).text == "B."
    assert read_one(path, both, ReadOptions(text_field="source")).text == "ward 3"
    several = {"id": 1, "data": {"title": "T", "body": "B", "n": 2}}
    with pytest.raises(
        PhidriftError,
        match=r"a\.json: which field holds the text\? There are 'title', 'body'\. To mend: state text_field$",
    ):
        read(path, [several])


def test_the_first_task_that_has_one_decides_which_field_holds_the_text(tmp_path: Path) -> None:
    # The second task has another string only: it must not be taken for the text.
    tasks = [
        {"id": n, "data": data} for n, data in enumerate([{}, {"note": "A."}, {"ward": "3"}, {"note": "B."}])
    ]
    documents, rejected = read(tmp_path / "a.json", tasks)
    assert [d.text for d in documents] == ["A.", "B."]
    assert [reason for _, reason in rejected] == [
        "field 'text' must be a string",
        "field 'note' must be a string",
    ]


def test_groups(tmp_path: Path) -> None:
    path, options = tmp_path / "a.json", ReadOptions(group_field="patient")
    data = {"id": 1, "data": {"text": "A.", "patient": 12}, "meta": {"patient": 13}}
    assert read_one(path, data, options).group == "12"
    assert read_one(path, {"id": 1, "data": {"text": "A."}, "meta": {"patient": 13}}, options).group == "13"
    assert read_one(path, {"id": 1, "data": {"text": "A."}, "patient": 14}, options).group == "14"
    documents, rejected = read(path, [{"id": 1, "data": {"text": "A."}, "meta": None}], options)
    assert documents == []
    assert rejected == [(f"{path}, item 1", "field 'patient' is missing, which says what belongs together")]


def test_a_blank_group_is_looked_for_further_on_and_rejected_in_the_end(tmp_path: Path) -> None:
    path, options = tmp_path / "a.json", ReadOptions(group_field="patient")
    blank = {"id": 1, "data": {"text": "A.", "patient": ""}, "meta": {"patient": " "}, "patient": None}
    assert read_one(path, {**blank, "patient": 14}, options).group == "14"
    assert read(path, [blank], options) == (
        [],
        [(f"{path}, item 1", "field 'patient' is missing, which says what belongs together")],
    )


def test_true_is_no_id(tmp_path: Path) -> None:
    documents, _ = read(tmp_path / "a.json", [{"id": True, "data": {"text": "A."}}])
    assert [(d.id, d.stated_id) for d in documents] == [("a-000001", False)]


def test_a_task_without_id_is_named_after_file_and_position(tmp_path: Path) -> None:
    documents, _ = read(
        tmp_path / "my export.json", [{"data": {"text": "A."}}, {"data": {"text": "B."}, "id": ""}]
    )
    names = ["my_export-0909c690-000001", "my_export-0909c690-000002"]  # hashed, as the blank is replaced
    assert [(d.id, d.group, d.stated_id) for d in documents] == [(name, None, False) for name in names]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"data": {"text": None}}, "field 'text' must be a string"),
        ({"data": {}}, "field 'text' must be a string"),
        ({"data": 5}, "field 'text' must be a string"),
        ({"data": {"text": "A."}, "annotations": "none"}, "field 'annotations' must be a list of objects"),
        ({"data": {"text": "A."}, "annotations": [101]}, "field 'annotations' must be a list of objects"),
        ({"data": {"text": "A."}, "completions": {}}, "field 'completions' must be a list of objects"),
        (
            {"data": {"text": "A."}, "annotations": [{"result": None}]},
            "field 'result' of its annotations must be a list",
        ),
    ],
)
def test_a_bad_task_is_rejected_alone(tmp_path: Path, bad: dict[str, Any], reason: str) -> None:
    path = tmp_path / "a.json"
    documents, rejected = read(path, [task(), bad, task()])
    assert [d.where for d in documents] == [f"{path}, item 1", f"{path}, item 3"]
    assert rejected == [(f"{path}, item 2", reason)]


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match=r"no \*\.jsonl or \*\.json"):
        list(read_label_studio(tmp_path, PLAIN, pytest.fail))


@pytest.mark.skipif(not (SHARED / "inlegalner").is_dir(), reason="the corpus InLegalNER is not here")
def test_real_inlegalner() -> None:
    path = SHARED / "inlegalner"
    documents = list(read_label_studio(path, PLAIN, pytest.fail))
    # Counted from the file with json and Counter alone.
    assert (len(documents), len({d.id for d in documents})) == (949, 949)
    labels = Counter(span.label for d in documents for span in d.spans or ())
    assert labels == {
        "OTHER_PERSON": 276,
        "PROVISION": 258,
        "STATUTE": 222,
        "DATE": 222,
        "GPE": 183,
        "COURT": 178,
        "PRECEDENT": 177,
        "ORG": 159,
        "CASE_NUMBER": 121,
        "WITNESS": 58,
        "PETITIONER": 9,
        "JUDGE": 8,
        "RESPONDENT": 5,
    }
    assert all(d.text[s.start : s.end] == s.surface for d in documents for s in d.spans or ())
    judgments = list(read_label_studio(path, ReadOptions(group_field="source"), pytest.fail))
    assert len({d.group for d in judgments}) == 664
