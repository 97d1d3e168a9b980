"""presidio-research, pii-anon and ambientmeta: by hand, and the real files."""

import gzip
import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from phidrift.core.errors import PhidriftError
from phidrift.corpora.readers.pii_anon import read_pii_anon
from phidrift.corpora.readers.presidio import read_presidio
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, Reader, ReadOptions

SHARED = Path(__file__).parents[3] / "shared" / "corpora"
PLAIN = ReadOptions()
# 012345678901234567890123456
# Ann Ray lives in 3 Elm Rd.      "Ann Ray" 0-7, "3 Elm Rd" 17-25
TEXT = "Ann Ray lives in 3 Elm Rd."


def read(
    reader: Reader, path: Path, records: list[Any], options: ReadOptions = PLAIN
) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    if path.suffix == ".json":
        path.write_text(json.dumps(records), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    rejected: list[tuple[str, str]] = []
    return list(reader(path, options, lambda where, reason: rejected.append((where, reason)))), rejected


def sample(**fields: object) -> dict[str, Any]:
    spans = [
        {
            "entity_type": "STREET_ADDRESS",
            "entity_value": "3 Elm Rd",
            "start_position": 17,
            "end_position": 25,
        },
        {"entity_type": "PERSON", "entity_value": "Ann Ray", "start_position": 0, "end_position": 7},
    ]
    return {"full_text": TEXT, "masked": "-", "spans": spans, "template_id": 87, "metadata": None, **fields}


def record(**fields: object) -> dict[str, Any]:
    annotations = [
        {"entity_type": "PERSON_NAME", "start": 0, "end": 7, "text": "Ann Ray", "nested_entities": None},
        {"entity_type": "STREET_ADDRESS", "start": 17, "end": 25, "text": "3 Elm Rd"},
    ]
    return {"record_id": "r-1", "text": TEXT, "annotations": annotations, "language": "en", **fields}


def test_presidio_sample(tmp_path: Path) -> None:
    path = tmp_path / "synth.json"
    documents, rejected = read(
        read_presidio, path, [sample(), sample(template_id=None), sample(template_id=0)]
    )
    assert rejected == []
    assert documents[0] == RawDocument(
        "synth-000001",
        TEXT,
        (RawSpan(17, 25, "STREET_ADDRESS", "3 Elm Rd"), RawSpan(0, 7, "PERSON", "Ann Ray")),
        None,
        "template-87",
        f"{path}, item 1",
    )
    assert [d.group for d in documents] == ["template-87", None, "template-0"]


def test_presidio_options_and_unlabelled_samples(tmp_path: Path) -> None:
    options = ReadOptions(text_field="masked", group_field="batch")
    samples = [sample(batch=4, spans=None), sample()]
    documents, rejected = read(read_presidio, tmp_path / "train.jsonl", samples, options)
    assert [(d.text, d.spans, d.group, d.split) for d in documents] == [("-", None, "4", "train")]
    assert [reason for _, reason in rejected] == [
        "field 'batch' is missing, which says what belongs together"
    ]


def test_presidio_rejects_bad_samples_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    samples = [sample(), sample(full_text=3), sample(spans={}), "none", sample()]
    documents, rejected = read(read_presidio, path, samples)
    assert [d.id for d in documents] == ["a-000001", "a-000005"]
    assert rejected == [
        (f"{path}, item 2", "field 'full_text' must be a string"),
        (f"{path}, item 3", "field 'spans' must be a list, or null"),
        (f"{path}, item 4", "not a JSON object"),
    ]


@pytest.mark.parametrize(
    ("item", "span"),
    [
        (None, MALFORMED),
        ({"start_position": 0, "end_position": 7}, MALFORMED),
        ({"entity_type": 3, "start_position": 0, "end_position": 7}, MALFORMED),
        ({"entity_type": "PERSON", "entity_value": 3, "start_position": "0"}, RawSpan("0", None, "PERSON")),
    ],
)
def test_presidio_spans_of_another_shape(tmp_path: Path, item: object, span: RawSpan) -> None:
    documents, _ = read(read_presidio, tmp_path / "a.json", [sample(spans=[item])])
    assert documents[0].spans == (span,)


def test_pii_anon_record(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    documents, rejected = read(read_pii_anon, path, [record()])
    assert rejected == []
    assert documents == [
        RawDocument(
            "r-1",
            TEXT,
            (RawSpan(0, 7, "PERSON_NAME", "Ann Ray"), RawSpan(17, 25, "STREET_ADDRESS", "3 Elm Rd")),
            None,
            documents[0].group,
            f"{path}:1",
            "annotations",
            stated_id=True,
        )
    ]


def test_pii_anon_languages(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    languages: list[object] = ["en", "EN-gb", "es", None, "de", 5]
    records = [record(record_id=str(n), language=language) for n, language in enumerate(languages)]
    records.append({key: value for key, value in record(record_id="none").items() if key != "language"})
    path = tmp_path / "a.jsonl"
    with caplog.at_level(logging.INFO):
        documents, rejected = read(read_pii_anon, path, records)
    assert rejected == []
    assert [d.id for d in documents] == ["0", "1", "3", "none"]
    assert caplog.messages == [f"{path}: 3 rows in other languages passed over"]


def test_pii_anon_counts_entities_inside_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    # 0123456789012345678
    # ann.ray@example.org      the name in the address is no span of its own
    inner = {"entity_type": "PERSON_NAME", "text": "ann.ray", "start_offset": 0, "end_offset": 7}
    mail = {
        "entity_type": "EMAIL_ADDRESS",
        "start": 0,
        "end": 19,
        "text": "ann.ray@example.org",
        "nested_entities": [inner],
    }
    path = tmp_path / "a.jsonl"
    with caplog.at_level(logging.INFO):
        documents, _ = read(read_pii_anon, path, [record(text="ann.ray@example.org", annotations=[mail])])
    assert documents[0].spans == (RawSpan(0, 19, "EMAIL_ADDRESS", "ann.ray@example.org"),)
    assert caplog.messages == [f"{path}: 1 entities inside others passed over"]


def test_pii_anon_groups_by_the_opening_of_the_template(tmp_path: Path) -> None:
    def visit(record_id: str, name: str, rest: str) -> dict[str, Any]:
        start = len("Visit 12: ")
        named = {"entity_type": "PERSON_NAME", "start": start, "end": start + len(name), "text": name}
        return record(record_id=record_id, text=f"Visit 12: {name} {rest}", annotations=[named])

    same = [visit("a", "Ann Ray", "is well.\nOn 2020-01-01."), visit("b", "Bo", "is well.\nNothing.")]
    # Another number in the opening, blank lines before it, and a text that differs behind 40 characters:
    # "Visit 0: [PERSON_NAME] is well." has 31 characters, so that the last 9 are "aaaaaaaaa".
    same.append(record(record_id="c", text="\n\nVisit 7: [PERSON_NAME] is well.", annotations=[]))
    long = [visit("d", "Ann", "is well." + "a" * 9 + tail) for tail in ("x", "y")]
    other = [
        visit("e", "Ann", "is ill."),
        record(record_id="f", text="Visit 12: Ann is well.", annotations=None),
    ]
    documents, _ = read(read_pii_anon, tmp_path / "a.jsonl", [*same, *long, *other])
    groups = [d.group for d in documents]
    assert len(set(groups[:3])) == 1
    assert groups[3] == groups[4]
    assert len(set(groups)) == 4
    assert all(len(group) == 12 and int(group, 16) >= 0 for group in groups)


def test_pii_anon_groups_whatever_the_spans_are(tmp_path: Path) -> None:
    def at(start: object, end: object) -> dict[str, Any]:
        return {"entity_type": "PERSON_NAME", "start": start, "end": end}

    plain = record(annotations=[])
    wrong = record(
        annotations=[at(-1, 3), at(5, 400), at("0", "3"), at(3, 3), at(True, 5), at(None, None), 4]
    )
    # The longer of two that start together, and none that starts inside another, stands for its label.
    one = record(annotations=[at(0, 7)])
    overlapping = record(annotations=[at(0, 3), at(4, 7), at(0, 7)])
    documents, _ = read(read_pii_anon, tmp_path / "a.jsonl", [plain, wrong, one, overlapping])
    groups = [d.group for d in documents]
    assert groups[0] == groups[1] != groups[2] == groups[3]
    surrogate = record(text="\ud800 half", annotations=[])
    assert len(read(read_pii_anon, tmp_path / "a.jsonl", [surrogate])[0]) == 1


def test_pii_anon_options_and_ids(tmp_path: Path) -> None:
    options = ReadOptions(text_field="note", group_field="who")
    records = [
        {"id": 12, "note": "A.", "annotations": [], "who": 3},
        {"note": "B.", "who": "x", "record_id": ""},
        {"id": 14, "note": "C."},
    ]
    documents, rejected = read(read_pii_anon, tmp_path / "test.jsonl", records, options)
    assert [(d.id, d.text, d.spans, d.group, d.stated_id, d.split) for d in documents] == [
        ("12", "A.", (), "3", True, "test"),
        ("test-000002", "B.", None, "x", False, "test"),
    ]
    assert [reason for _, reason in rejected] == ["field 'who' is missing, which says what belongs together"]


@pytest.mark.parametrize("blank", ["", " \t", None])
def test_a_blank_group_is_none(tmp_path: Path, blank: object) -> None:
    options, path = ReadOptions(group_field="who"), tmp_path / "a.jsonl"
    reason = "field 'who' is missing, which says what belongs together"
    for reader, records in (
        (read_presidio, [sample(who=blank), sample(who="w")]),
        (read_pii_anon, [record(who=blank), record(who="w")]),
    ):
        documents, rejected = read(reader, path, records, options)
        assert [d.group for d in documents] == ["w"]
        assert rejected == [(f"{path}:1", reason)]
    # A template without a name is none that samples share.
    assert [d.group for d in read(read_presidio, path, [sample(template_id=blank)])[0]] == [None]


def test_pii_anon_true_is_no_id(tmp_path: Path) -> None:
    documents, _ = read(read_pii_anon, tmp_path / "a.jsonl", [record(record_id=True), record(record_id=1)])
    assert [(d.id, d.stated_id) for d in documents] == [("a-000001", False), ("1", True)]


def test_pii_anon_rejects_bad_records_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records = [record(text=None), record(annotations="x"), [], record()]
    documents, rejected = read(read_pii_anon, path, records)
    assert [d.where for d in documents] == [f"{path}:4"]
    assert rejected == [
        (f"{path}:1", "field 'text' must be a string"),
        (f"{path}:2", "field 'annotations' must be a list, or null"),
        (f"{path}:3", "not a JSON object"),
    ]


@pytest.mark.parametrize("reader", [read_presidio, read_pii_anon])
def test_nothing_there(tmp_path: Path, reader: Reader) -> None:
    with pytest.raises(PhidriftError, match=r"no \*\.jsonl or \*\.json"):
        list(reader(tmp_path, PLAIN, pytest.fail))


@pytest.mark.skipif(not (SHARED / "presidio").is_dir(), reason="the corpus of presidio-research is not here")
def test_real_presidio() -> None:
    documents = list(read_presidio(SHARED / "presidio", PLAIN, pytest.fail))
    # Counted from the file with json and Counter alone, templates too.
    assert (len(documents), len({d.id for d in documents}), len({d.group for d in documents})) == (
        1500,
        1500,
        209,
    )
    labels = Counter(span.label for d in documents for span in d.spans or ())
    assert labels == {
        "PERSON": 857,
        "STREET_ADDRESS": 598,
        "GPE": 411,
        "ORGANIZATION": 250,
        "CREDIT_CARD": 136,
        "DATE_TIME": 119,
        "TITLE": 92,
        "PHONE_NUMBER": 92,
        "AGE": 74,
        "NRP": 55,
        "EMAIL_ADDRESS": 49,
        "ZIP_CODE": 37,
        "DOMAIN_NAME": 37,
        "IBAN_CODE": 21,
        "US_SSN": 16,
        "IP_ADDRESS": 14,
        "US_DRIVER_LICENSE": 5,
    }
    assert all(d.text[s.start : s.end] == s.surface for d in documents for s in d.spans or ())


@pytest.mark.skipif(not (SHARED / "pii-anon").is_dir(), reason="the corpus pii-anon is not here")
def test_real_pii_anon(caplog: pytest.LogCaptureFixture) -> None:
    path = SHARED / "pii-anon"
    with caplog.at_level(logging.INFO):
        documents = list(read_pii_anon(path, PLAIN, pytest.fail))
    # Counted from the file with json and Counter alone: 4,562 rows, 734 of them in 11 other languages.
    assert (len(documents), len({d.id for d in documents})) == (3828, 3828)
    assert [message.partition(": ")[2] for message in caplog.messages] == [
        "734 rows in other languages passed over",
        "1657 entities inside others passed over",
    ]
    labels = Counter(span.label for d in documents for span in d.spans or ())
    assert (len(labels), sum(labels.values())) == (55, 33_951)
    assert labels.most_common(5) == [
        ("PERSON_NAME", 10291),
        ("MEDICAL_RECORD_NUMBER", 3550),
        ("PHONE_NUMBER", 3337),
        ("DATE_OF_BIRTH", 2830),
        ("EMAIL_ADDRESS", 1791),
    ]
    assert (labels["STREET_ADDRESS"], labels["TIMESTAMP"], labels["LOCATION_NAME"]) == (842, 1153, 8)
    assert all(d.text[s.start : s.end] == s.surface for d in documents for s in d.spans or ())
    assert {d.split for d in documents} == {"test"}
    groups = Counter(d.group for d in documents)
    assert (len(groups), max(groups.values())) == (201, 241)  # the largest: 241 radiology reports


@pytest.mark.skipif(not (SHARED / "ambientmeta").is_dir(), reason="the corpus of ambientmeta is not here")
def test_real_ambientmeta() -> None:
    documents = list(read_pii_anon(SHARED / "ambientmeta", PLAIN, pytest.fail))
    assert (len(documents), documents[0].id) == (278, "amb-ambigu-0000")
    labels = Counter(span.label for d in documents for span in d.spans or ())
    assert labels == {"PERSON": 141, "LOCATION": 105, "ORGANIZATION": 59, "NPI": 16, "PHONE": 14}
    assert all(d.text[s.start : s.end] == s.surface for d in documents for s in d.spans or ())


def test_gzip_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(record()).encode()))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps([record(record_id="r-2")]).encode()))
    assert [d.id for d in read_pii_anon(tmp_path, PLAIN, pytest.fail)] == ["r-1", "r-2"]
