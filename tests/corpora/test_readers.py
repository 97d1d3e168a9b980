"""Each reader on hand-made input whose spans are known."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.corpora.harmonize import Split, harmonize
from phidrift.corpora.label_maps import ready_map
from phidrift.corpora.readers.i2b2 import read_i2b2
from phidrift.corpora.readers.multileg import read_multileg
from phidrift.corpora.reading import CorpusSource
from phidrift.corpora.reading_report import unmapped_labels
from phidrift.corpora.source import RawDocument, ReadOptions
from phidrift.corpora.spans import SpanCounts, harmonised_spans

OPTIONS = ReadOptions()


class Rejected(list[tuple[str, str]]):
    def __call__(self, where: str, reason: str) -> None:
        self.append((where, reason))


def surfaces(
    documents: Iterator[RawDocument] | list[RawDocument], source_format: str
) -> tuple[Any, SpanCounts]:
    counts = SpanCounts()
    found = []
    for raw in documents:
        spans = harmonised_spans(raw, ready_map(source_format), counts)
        found.append([(raw.text[s.start : s.end], s.label) for s in spans])
    return found, counts


def xml(text: str, tags: str, root: str = "deIdi2b2") -> str:
    head = '<?xml version="1.0" encoding="UTF-8" ?>'
    return f"{head}\n<{root}>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}\n</TAGS>\n</{root}>\n"


def test_i2b2_glued_text_ampersands_and_splits(tmp_path: Path) -> None:
    #       0         1         2         3
    #       0123456789012345678901234567890123456
    text = "75yo seen by Lee & Ng\non 3/4, x5-0123"
    tags = (
        '<AGE id="P0" start="0" end="2" text="75" TYPE="AGE" comment=""/>'
        '<NAME id="P1" start="13" end="21" text="Lee &amp; Ng" TYPE="DOCTOR" comment=""/>'
        '<DATE id="P2" start="25" end="28" text="3/4" TYPE="DATE" comment=""/>'
        '<CONTACT id="P3" start="30" end="37" text="x5-0123" TYPE="PHONE" comment=""/>'
    )
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
    (tmp_path / "train" / "110-01.xml").write_text(xml(text, tags), encoding="utf-8")
    (tmp_path / "test" / "220-02.xml").write_text(xml("No PHI.", ""), encoding="utf-8")
    rejected = Rejected()
    documents = list(read_i2b2(tmp_path, OPTIONS, rejected))
    assert [(d.id, d.split, d.group) for d in documents] == [
        ("220-02", "test", "220"),
        ("110-01", "train", "110"),
    ]
    found, counts = surfaces(documents, "i2b2")
    assert found == [[], [("Lee & Ng", "PERSON"), ("3/4", "DATE"), ("x5-0123", "CONTACT")]]
    assert counts.outcomes == {"exact": 3}
    assert unmapped_labels(counts, ready_map("i2b2")) == {"AGE": 1}
    assert rejected == []


def test_i2b2_line_breaks_in_attributes_compare_equal(tmp_path: Path) -> None:
    # A parser turns the line break in the attribute into a blank; the offsets hold the text with its break.
    text = "At 12 Oak\nStreet."
    tags = '<LOCATION id="P0" start="3" end="16" text="12 Oak\nStreet" TYPE="STREET" comment=""/>'
    (tmp_path / "1-1.xml").write_text(xml(text, tags), encoding="utf-8")
    found, counts = surfaces(read_i2b2(tmp_path, OPTIONS, Rejected()), "i2b2")
    assert found == [[("12 Oak\nStreet", "ADDRESS")]]
    assert counts.outcomes == {"exact": 1}


def test_i2b2_offsets_counted_before_the_parser_removed_carriage_returns(tmp_path: Path) -> None:
    # Stored with CR LF, "Lee" starts after 60 line ends of two characters: 3 * 60 in the file, 2 * 60 once
    # parsed. A search of the neighbourhood would find the decoy nearer by.
    text = "a\r\n" * 60 + "Lee said." + " " * 40 + "Lee left."
    tags = '<NAME id="P0" start="180" end="183" text="Lee" TYPE="DOCTOR" comment=""/>'
    (tmp_path / "1-1.xml").write_bytes(xml(text, tags).encode())
    (document,) = read_i2b2(tmp_path, OPTIONS, Rejected())
    counts = SpanCounts()
    (span,) = harmonised_spans(document, ready_map("i2b2"), counts)
    assert (span.start, span.end) == (120, 123)
    assert counts.outcomes == {"relocated": 1}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (xml("Lee", "").replace("</TEXT>", ""), "not well-formed XML"),
        (
            '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x><TEXT>&b;</TEXT></x>',
            "declares a document type or entities, which are refused",
        ),
        (
            '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x><TEXT>&a;</TEXT></x>',
            "declares a document type or entities, which are refused",
        ),
        ("<deIdi2b2><TAGS/></deIdi2b2>", "no TEXT"),
        ("<x><TEXT>a<b/></TEXT></x>", "TEXT holds elements: offsets into it would be ambiguous"),
        ('<?xml version="1.0" encoding="klingon"?><x><TEXT>a</TEXT></x>', "its encoding can't be read"),
    ],
)
def test_a_bad_record_is_rejected_alone(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "1-1.xml").write_text(content, encoding="utf-8")
    (tmp_path / "2-1.xml").write_text(xml("Fine.", ""), encoding="utf-8")
    rejected = Rejected()
    assert [d.text for d in read_i2b2(tmp_path, OPTIONS, rejected)] == ["Fine."]
    ((where, found),) = rejected
    assert found == reason
    assert where.startswith(f"{tmp_path / '1-1.xml'}:")


def test_multileg_lines_offsets_in_code_points_and_bad_lines(tmp_path: Path) -> None:
    # "𝒜 " takes two code points, though four UTF-16 units would make it three; NBSP is one.
    good = {
        "text": "𝒜 Mr Ng, 5\u00a0May",
        "label": [[5, 7, "PER"], [9, 14, "DATE"], [0, 1, "ORG"], ["x", 2, "PER"]],
    }
    lines = [
        json.dumps(good, ensure_ascii=False),
        "",
        "{not json",
        '["a list"]',
        '{"text": "no label"}',
        '{"label": []}',
    ]
    (tmp_path / "7_en.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    rejected = Rejected()
    documents = list(read_multileg(tmp_path, OPTIONS, rejected))
    assert [(d.id, d.group, d.split) for d in documents] == [("7_en-0001", "7_en", None)]
    found, counts = surfaces(documents, "multileg")
    assert found == [[("Ng", "PERSON"), ("5\u00a0May", "DATE")]]
    assert counts.drop_reasons == {"malformed": 1}
    assert unmapped_labels(counts, ready_map("multileg")) == {"ORG": 1}
    assert [(Path(where).name, reason) for where, reason in rejected] == [
        ("7_en.jsonl:3", "not JSON"),
        ("7_en.jsonl:4", "not a JSON object"),
        ("7_en.jsonl:5", "field 'label' must be a list"),
        ("7_en.jsonl:6", "field 'text' must be a string"),
    ]


def test_harmonize_names_bad_documents_in_the_log_without_their_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        '{"text": "Secret Name"}',
        *(json.dumps({"text": f"Paragraph {n}.", "label": []}) for n in range(5)),
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        train, test, report = harmonize(CorpusSource("m", tmp_path, "multileg"), Split(2), seed=1)
    assert (len(train), len(test)) == (3, 2)
    assert report["rejected"] == {
        "documents": 1,
        "reasons": {"field 'label' must be a list": 1},
    }
    assert f"{tmp_path / 'a.jsonl'}:1" in caplog.text
    assert "Secret" not in caplog.text


@pytest.mark.parametrize(
    ("name", "content"), [("i2b2", "<broken"), ("multileg", "{broken"), ("ai4privacy", "{broken")]
)
def test_a_folder_without_a_readable_document_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / ("a.xml" if name == "i2b2" else "a.jsonl")).write_text(content, encoding="utf-8")
    with pytest.raises(PhidriftError, match=r"no readable document \(1 rejected\), most often: not"):
        harmonize(CorpusSource("x", tmp_path, name), Split(1), seed=1)
    with pytest.raises(PhidriftError, match="no such file or folder"):
        harmonize(CorpusSource("x", tmp_path / "nowhere", name), Split(1), seed=1)


SHARED = Path(__file__).parents[3] / "shared" / "corpora"


@pytest.mark.skipif(not (SHARED / "multileg").is_dir(), reason="the real MultiLeg is not here")
def test_the_real_multileg() -> None:
    rejected = Rejected()
    documents = list(read_multileg(SHARED / "multileg", OPTIONS, rejected))
    labels = [span.label for document in documents for span in document.spans]
    assert len(documents) == 2500
    assert rejected == []
    counted = {label: labels.count(label) for label in ("ORG", "DATE", "LOC", "PER", "IDNUM")}
    assert counted == {"ORG": 2362, "DATE": 1005, "LOC": 637, "PER": 512, "IDNUM": 16}

    train, test, report = harmonize(
        CorpusSource("multileg", SHARED / "multileg", "multileg"), Split(90), seed=42
    )
    assert 80 <= len(test) <= 99
    assert len(train) >= 1500
    assert report["stand_in"] is False
    lost = report["dropped_from_train"]
    assert len(train) + len(test) + lost["group_in_test"] + lost["text_in_test"] == 2500
    assert not groups(train) & groups(test)
    assert len(groups(test)) >= 5
    assert not {d.text for d in train} & {d.text for d in test}


def groups(documents: list[Document]) -> set[str]:
    return {document.meta["group"] for document in documents}


@pytest.mark.skipif(not (SHARED / "meddocan").is_dir(), reason="MEDDOCAN is not here")
def test_the_real_meddocan_through_the_i2b2_reader() -> None:
    rejected = Rejected()
    documents = list(read_i2b2(SHARED / "meddocan", OPTIONS, rejected))
    assert len(documents) == 250
    assert rejected == []
    _, counts = surfaces(documents, "i2b2")
    assert set(counts.outcomes) == {"exact"}
    for document in documents[:20]:
        assert all(document.text[s.start : s.end] == s.surface for s in document.spans)
