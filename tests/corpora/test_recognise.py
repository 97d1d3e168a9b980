"""Which format a path is taken for."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from phidrift.core.errors import PhidriftError
from phidrift.corpora.recognise import recognised_format

PERSON = {"start": 0, "end": 3, "label": "PERSON"}
MULTILEG = ("DATE", "IDNUM", "LOC", "ORG", "PER", "PROFESSION", "TITLE")


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"text": "Lee", "label": [[0, 3, "PER"]]}, "multileg"),
        ({"id": 1, "text": "Lee", "label": [[0, 3, "PER"]]}, "jsonl"),  # doccano
        (
            {"text": "Lee", "label": [[0, 3, "NAME"]]},
            "jsonl",
        ),  # doccano without ids, by labels not MultiLeg's
        ({"text": "Lee", "label": [[0, 3, "PER"], [0, 3, "NAME"]]}, "jsonl"),
        ({"text": "Lee", "label": [[0, 3, tag] for tag in MULTILEG]}, "multileg"),
        ({"text": "Lee", "label": []}, "multileg"),
        ({"text": "Lee", "label": "positive"}, "jsonl"),
        ({"text": "Lee", "ents": [PERSON]}, "jsonl"),
        ({"text": "Lee", "spans": [PERSON]}, "jsonl"),
        ({"text": "Lee"}, "jsonl"),
        ({"source_text": "Lee", "privacy_mask": []}, "ai4privacy"),
        ({"unmasked_text": "Lee", "masked_text": "[NAME]"}, "ai4privacy"),
        ({"full_text": "Lee", "spans": []}, "presidio"),
        ({"data": {"text": "Lee"}, "annotations": []}, "label-studio"),
        ({"id": 1, "text": "Lee", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}, "label-studio"),
        ({"text": "Lee", "annotations": [{"entity_type": "PERSON_NAME", "start": 0, "end": 3}]}, "pii-anon"),
        ({"text": "Lee", "annotations": 5}, "jsonl"),
    ],
)
def test_by_the_keys_of_records(tmp_path: Path, record: dict[str, Any], name: str) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert recognised_format(tmp_path) == name
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "a.json").write_text(json.dumps([record], indent=1), encoding="utf-8")
    assert recognised_format(tmp_path / "a.json") == name
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(record).encode()))
    assert recognised_format(tmp_path / "b.jsonl.gz") == name


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"1-1.xml": "<x/>"}, "i2b2"),
        ({"a.txt": "Lee.", "a.ann": ""}, "brat"),
        ({"a.txt": "Lee came.\n"}, "txt"),
        ({"a.txt": "Lee B-PER\ncame O\n"}, "conll"),
        ({"a.txt": "He was O\nLee B-PER\n", "b.txt": "x"}, "conll"),
        ({"a.txt": "Blood group O\nLee came.\n"}, "txt"),
        ({"a.conll": ""}, "conll"),
        ({"a.csv": "id,note\n1,Lee\n"}, "table"),
        ({"a.tsv": "Template\tFilled Template\nHi [NAME]\tHi Lee\n"}, "ai4privacy"),
        ({"README.txt": "About.", "a.jsonl": '{"text": "x"}'}, "jsonl"),
        ({"dataset_info.json": "{}", "state.json": "{}", "data-00000-of-00001.arrow": ""}, "datasets"),
    ],
)
def test_by_the_names_of_files(tmp_path: Path, files: dict[str, str], name: str) -> None:
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert recognised_format(tmp_path) == name


def test_what_nothing_reads_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    (tmp_path / ".hidden.jsonl").write_text('{"text": "x"}')
    with pytest.raises(PhidriftError, match=r"no file in a format that is known; endings seen: \.pdf"):
        recognised_format(tmp_path)
    with pytest.raises(PhidriftError, match="no such file or folder"):
        recognised_format(tmp_path / "nowhere")


SHARED = Path(__file__).parents[3] / "shared" / "corpora"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real corpora are not here")
@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("multileg", "multileg"),
        ("meddocan", "i2b2"),
        ("pii-anon", "pii-anon"),
        ("ambientmeta", "pii-anon"),
        ("inlegalner", "label-studio"),
        ("presidio", "presidio"),
        ("wikigold", "conll"),
        ("mts-dialog", "table"),
    ],
)
def test_real_corpora(folder: str, name: str) -> None:
    assert recognised_format(SHARED / folder) == name
