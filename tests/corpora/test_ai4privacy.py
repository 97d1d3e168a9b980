"""Ai4Privacy's releases, each by one hand-made row, and the alignment of templates without offsets."""

import csv
import gzip
import json
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phidrift.core.errors import PhidriftError
from phidrift.corpora.readers.ai4privacy import filled_spans, read_ai4privacy
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions
from phidrift.corpora.spans import SpanCounts, harmonised_spans

OPTIONS = ReadOptions()
AMBIGUOUS = "the template fits its text in more than one way: which characters are which value is unknown"
NO_FIT = "the text does not fit its template"
NO_TEXT = "one of the fields 'source_text', 'unmasked_text', 'Filled Template' must hold a string"
BAD_MASK = "field 'privacy_mask' must be a list of spans, or that list as a string"
Record = dict[str, Any]


def read(path: Path) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    rejected: list[tuple[str, str]] = []
    documents = list(read_ai4privacy(path, OPTIONS, lambda where, reason: rejected.append((where, reason))))
    return documents, [(Path(where).name, reason) for where, reason in rejected]


def write_jsonl(path: Path, records: list[Record]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def write_json(path: Path, records: list[Record]) -> None:
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")


def write_csv(path: Path, records: list[Record]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, list(records[0]), delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(records)  # a list is written as Python prints it


def write_parquet(path: Path, records: list[Record]) -> None:
    pq.write_table(pa.Table.from_pylist(records), path)


WRITERS: dict[str, Callable[[Path, list[Record]], None]] = {
    ".jsonl": write_jsonl,
    ".json": write_json,
    ".csv": write_csv,
    ".tsv": write_csv,
    ".parquet": write_parquet,
}


def mask(start: int, end: int, label: str, value: str) -> Record:
    return {"value": value, "start": start, "end": end, "label": label}


#       0         1         2
#       0123456789012345678901234
TEXT = "Hi Al Ng, a@example.org."  # "Al" 3-5, "Ng" 6-8, "a@example.org" 10-23
OLDER = {
    "masked_text": "Hi [FIRSTNAME_1] [LASTNAME_1], [EMAIL_1].",
    "unmasked_text": TEXT,
    "privacy_mask": str({"[FIRSTNAME_1]": "Al", "[LASTNAME_1]": "Ng", "[EMAIL_1]": "a@example.org"}),
    "span_labels": str(
        [
            [0, 3, "O"],
            [3, 5, "FIRSTNAME_1"],
            [5, 6, "O"],
            [6, 8, "LASTNAME_1"],
            [8, 10, "O"],
            [10, 23, "EMAIL_1"],
            [23, 24, "O"],
        ]
    ),
    "bio_labels": ["O", "B-FIRSTNAME_1"],
    "tokenised_text": ["hi", "al"],
}
ENGLISH_43K = {
    "source_text": TEXT,
    "target_text": "Hi [FIRSTNAME] [LASTNAME], [EMAIL].",
    "privacy_mask": [
        mask(3, 5, "FIRSTNAME", "Al"),
        mask(6, 8, "LASTNAME", "Ng"),
        mask(10, 23, "EMAIL", "a@example.org"),
    ],
    "span_labels": '[[0, 3, "O"], [3, 5, "FIRSTNAME"]]',
    "mbert_text_tokens": ["Hi", "Al"],
    "mbert_bio_labels": ["O", "B-FIRSTNAME"],
    "id": 7,
    "language": "en",
    "set": "train",
}
#           0         1         2         3
#           01234567890123456789012345678901234
TEXT_300K = "Tel. 555-0142, Ng Sato, b. 1/2/1950"  # 5-13, "Ng" 15-17, "Sato" 18-22, "1/2/1950" 27-35
K300 = {
    "source_text": TEXT_300K,
    "target_text": "Tel. [TEL], [LASTNAME1] [LASTNAME2], b. [BOD]",
    "privacy_mask": [
        mask(5, 13, "TEL", "555-0142"),
        mask(15, 17, "LASTNAME1", "Ng"),
        mask(18, 22, "LASTNAME2", "Sato"),
        mask(27, 35, "BOD", "1/2/1950"),
    ],
    "span_labels": '[[0, 5, "O"], [5, 13, "TEL"]]',
    "id": "40767A",
    "language": "English",
    "set": "validation",
}
#           0         1         2
#           01234567890123456789012345
TEXT_400K = "𝒜 Mia Ng, 12 Oak Rd, 90001"  # "Mia" 2-5, "Ng" 6-8, "12" 10-12, "Oak Rd" 13-19, "90001" 21-26
K400 = {
    "source_text": TEXT_400K,
    "masked_text": "𝒜 [GIVENNAME_1] [SURNAME_1], [BUILDINGNUM_1] [STREET_1], [ZIPCODE_1]",
    "privacy_mask": [
        {"label": "GIVENNAME", "start": 2, "end": 5, "value": "Mia", "label_index": 1},
        {"label": "SURNAME", "start": 6, "end": 8, "value": "Ng", "label_index": 1},
        {"label": "BUILDINGNUM", "start": 10, "end": 12, "value": "12", "label_index": 1},
        {"label": "STREET", "start": 13, "end": 19, "value": "Oak Rd", "label_index": 1},
        {"label": "ZIPCODE", "start": 21, "end": 26, "value": "90001", "label_index": 1},
    ],
    "uid": 300123,
    "language": "en",
    "locale": "US",
    "split": "train",
    "mbert_tokens": ["Mia"],
    "mbert_token_classes": ["B-GIVENNAME"],
}
K500 = {
    **{name: value for name, value in K400.items() if name != "locale"},
    "region": "GB",
    "script": "Latn",
    "split": "validation",
}
#          0         1         2         3
#          0123456789012345678901234567890123456
TEXT_43K = "Dr. Ann Lee, of 1 Elm Rd: dial 555-0100"  # 0-11, 16-24, 31-39
K43 = {
    "Template": "[FULLNAME_1], of [STREETADDRESS_1]: dial [PHONE_NUMBER_1]",
    "Filled Template": TEXT_43K,
    "Tokens": str(["B-FULLNAME", "I-FULLNAME"]),
    "Tokenised Filled Template": str(["dr", "."]),
}
RELEASES: dict[str, tuple[Record, list[RawSpan], str | None, str | None, str]] = {
    # release: (record, spans, id where stated, split, field)
    "older 200k": (
        OLDER,
        [  # the second, fourth and sixth entry of the list
            RawSpan(3, 5, "FIRSTNAME", "Al", 1),
            RawSpan(6, 8, "LASTNAME", "Ng", 3),
            RawSpan(10, 23, "EMAIL", "a@example.org", 5),
        ],
        None,
        None,
        "span_labels",
    ),
    "200k": (
        ENGLISH_43K,
        [
            RawSpan(3, 5, "FIRSTNAME", "Al"),
            RawSpan(6, 8, "LASTNAME", "Ng"),
            RawSpan(10, 23, "EMAIL", "a@example.org"),
        ],
        None,
        "train",
        "privacy_mask",
    ),
    "300k": (
        K300,
        [
            RawSpan(5, 13, "TEL", "555-0142"),
            RawSpan(15, 17, "LASTNAME1", "Ng"),
            RawSpan(18, 22, "LASTNAME2", "Sato"),
            RawSpan(27, 35, "BOD", "1/2/1950"),
        ],
        None,
        "test",
        "privacy_mask",
    ),
    "400k": (
        K400,
        [
            RawSpan(2, 5, "GIVENNAME", "Mia"),
            RawSpan(6, 8, "SURNAME", "Ng"),
            RawSpan(10, 12, "BUILDINGNUM", "12"),
            RawSpan(13, 19, "STREET", "Oak Rd"),
            RawSpan(21, 26, "ZIPCODE", "90001"),
        ],
        "300123",
        "train",
        "privacy_mask",
    ),
    "43k": (
        K43,
        [RawSpan(0, 11, "FULLNAME"), RawSpan(16, 24, "STREETADDRESS"), RawSpan(31, 39, "PHONE_NUMBER")],
        None,
        None,
        "Template",
    ),
}
RELEASES["500k"] = (K500, RELEASES["400k"][1], "300123", "test", "privacy_mask")


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("release", RELEASES)
def test_each_release_in_each_kind_of_file(tmp_path: Path, release: str, suffix: str) -> None:
    record, spans, identity, split, field = RELEASES[release]
    WRITERS[suffix](tmp_path / f"rows{suffix}", [record])
    documents, rejected = read(tmp_path)
    assert rejected == []
    (document,) = documents
    assert list(document.spans or ()) == spans
    number = 2 if suffix in (".csv", ".tsv") else 1  # the header is a line
    assert document.id == (identity or f"rows-{number:06d}")
    assert document.stated_id == (identity is not None)
    assert (document.split, document.field) == (split, field)
    for span in spans:
        assert span.surface in (None, document.text[span.start : span.end])


def test_lists_as_json_and_as_numpy_prints_them(tmp_path: Path) -> None:
    masks = ENGLISH_43K["privacy_mask"]
    printed = str(np.array(masks, dtype=object))
    assert "}\n {" in printed  # no comma
    rows = [
        {**ENGLISH_43K, "privacy_mask": value, "span_labels": None} for value in (json.dumps(masks), printed)
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    documents, rejected = read(tmp_path)
    assert rejected == []
    assert [list(document.spans or ()) for document in documents] == [RELEASES["200k"][1]] * 2


def test_backslashes_in_values_are_kept_and_warn_nobody(tmp_path: Path) -> None:
    # Not JSON, and \d escapes nothing: Python keeps the backslash. "\d9" 0-3.
    masks = r"[{'value': '\d9', 'start': 0, 'end': 3, 'label': 'PASSWORD'}]"
    write_jsonl(tmp_path / "rows.jsonl", [{"source_text": r"\d9", "privacy_mask": masks}])
    documents, rejected = read(tmp_path)
    assert rejected == []
    assert documents[0].spans == (RawSpan(0, 3, "PASSWORD", r"\d9"),)


EVIL = {
    "code": "__import__('os').getpid()",
    "open brackets": "[" * 5000,
    "signs": "-" * 199_000 + "1",
    "sums": "1+" * 99_000 + "1",
    "a list in a set": "[{[]}]",
    "a list as a key": "{[]: 1}",
    "too large for a complex number": "1" + "0" * 400 + "+1j",
    "NUL": "['\0']",
    "lone surrogate": "['\ud800'",
    "many digits": "9" * 5000,
    "a set": "{1, 2}",
    "too long": "[" + " " * 200_000 + "]",
    "empty": "",
}


@pytest.mark.parametrize("value", EVIL.values(), ids=EVIL)
def test_strings_that_are_no_list_are_rejected_and_never_run(tmp_path: Path, value: str) -> None:
    write_jsonl(tmp_path / "rows.jsonl", [{"source_text": "Secret.", "privacy_mask": value}])
    assert read(tmp_path) == ([], [("rows.jsonl:1", BAD_MASK)])


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"privacy_mask": []}, NO_TEXT),
        ({"source_text": 5, "privacy_mask": []}, NO_TEXT),
        ({"source_text": "Secret."}, BAD_MASK),
        ({"source_text": "Secret.", "privacy_mask": {"a": 1}}, BAD_MASK),
        ({"source_text": "Secret.", "privacy_mask": 3, "target_text": "Secret."}, BAD_MASK),
        ({"Filled Template": "Secret.", "Template": "Open."}, NO_FIT),
        ({"Filled Template": "Secret A B", "Template": "Secret [A_1][B_1]"}, AMBIGUOUS),
    ],
)  # fmt: skip
def test_a_bad_row_is_rejected_alone(tmp_path: Path, record: Record, reason: str) -> None:
    write_jsonl(tmp_path / "rows.jsonl", [record, ENGLISH_43K])
    documents, rejected = read(tmp_path)
    assert [document.id for document in documents] == ["rows-000002"]
    assert rejected == [("rows.jsonl:1", reason)]
    assert "Secret" not in reason


def test_bad_entries_of_a_list_are_malformed_spans(tmp_path: Path) -> None:
    records = [
        {
            "source_text": "Al",
            "privacy_mask": ["x", {"start": 0, "end": 2}, mask(0, 2, "firstname_12", "Al")],
        },
        {"unmasked_text": "Al", "span_labels": [[0, 2], [0, 2, 3], [0, 2, "FIRSTNAME_1"]]},
    ]
    write_jsonl(tmp_path / "rows.jsonl", records)
    documents, rejected = read(tmp_path)
    assert rejected == []
    assert documents[0].spans == (MALFORMED, MALFORMED, RawSpan(0, 2, "FIRSTNAME", "Al"))
    assert documents[1].spans == (MALFORMED, MALFORMED, RawSpan(0, 2, "FIRSTNAME"))


def test_a_dropped_span_is_named_by_its_place_in_the_list(tmp_path: Path) -> None:
    # The last entry reaches outside the text "Al Ng"; the 'O' stretches before it are no spans.
    stretches = [[0, 2, "FIRSTNAME_1"], [2, 3, "O"], [3, 9, "LASTNAME_1"]]
    write_jsonl(tmp_path / "rows.jsonl", [{"unmasked_text": "Al Ng", "span_labels": stretches}])
    lost: list[tuple[str, str]] = []
    labels = {"FIRSTNAME": "PERSON", "LASTNAME": "PERSON"}
    ((document,), _) = read(tmp_path)
    kept = harmonised_spans(
        document, labels, SpanCounts(), lost=lambda where, reason: lost.append((where, reason))
    )
    assert len(kept or ()) == len(lost) == 1
    assert lost[0][0] == f"{tmp_path / 'rows.jsonl'}:1, span_labels[2]"


def test_true_is_no_id(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "rows.jsonl", [{**K400, "uid": True}, {**K400, "uid": 0}])
    assert [(d.id, d.stated_id) for d in read(tmp_path)[0]] == [("rows-000001", False), ("0", True)]


@pytest.mark.parametrize(
    ("fields", "english"),
    [
        ({"language": "en"}, True),
        ({"language": "EN"}, True),
        ({"language": "English"}, True),
        ({"language": "en-US", "region": "IN"}, True),
        ({"language": "fr", "region": "CA"}, False),
        ({"language": "fr", "locale": "en_US"}, False),
        ({"language": "German"}, False),
        ({"language": 5}, False),
        ({"language": " ", "locale": 5, "region": "nz"}, True),
        ({}, True),
        ({"language": None}, True),
        ({"language": "", "locale": ""}, True),
        ({"locale": "en_GB"}, True),
        ({"locale": "en-us"}, True),
        ({"locale": "en"}, True),
        ({"locale": "US"}, True),
        ({"region": "GB"}, True),
        ({"locale": "", "region": "au"}, True),
        ({"locale": "de_CH"}, False),
        ({"locale": "es_US"}, False),
        ({"region": "CA"}, False),  # French too
        ({"region": "ENX"}, False),
    ],
)
def test_english_rows_only(
    tmp_path: Path, fields: Record, english: bool, caplog: pytest.LogCaptureFixture
) -> None:
    write_jsonl(tmp_path / "rows.jsonl", [{"source_text": "Al", "privacy_mask": [], **fields}] * 3)
    with caplog.at_level(logging.INFO):
        documents, rejected = read(tmp_path)
    assert rejected == []
    assert len(documents) == (3 if english else 0)
    assert ("3 rows passed over" in caplog.text) != english


def test_splits_and_groups(tmp_path: Path) -> None:
    base = {"source_text": "Al", "privacy_mask": [], "target_text": "[A_1]"}
    (tmp_path / "test").mkdir()
    write_jsonl(tmp_path / "test" / "a.jsonl", [{**base, "set": "train"}])
    records = [
        {**base, "set": "validation"},
        {**base, "split": "Test", "target_text": "[B_1]"},
        {**base, "set": None, "split": "train", "target_text": None, "masked_text": "[A_1]"},
        {"source_text": "Al", "privacy_mask": [], "set": "other", "uid": ""},
    ]
    write_jsonl(tmp_path / "b.jsonl", records)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps({**base, "uid": "u-1"}).encode()))
    documents, rejected = read(tmp_path)
    assert rejected == []
    found = {document.id: (document.split, document.group) for document in documents}
    group = found["b-000001"][1]
    other = found["b-000002"][1]
    assert group != other
    assert found == {
        "b-000001": ("test", group),
        "b-000002": ("test", other),
        "b-000003": ("train", group),  # the same template under its other name
        "b-000004": (None, None),
        "u-1": (None, group),
        "a-000001": ("test", group),  # the folder's word counts
    }
    assert group == "ac8c86795e9b"  # the start of SHA-256 of "[A_1]", by sha256sum


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match="no such file or folder"):
        read(tmp_path / "nowhere")
    (tmp_path / "a.xml").write_text("<x/>")
    with pytest.raises(PhidriftError, match=r"no \*\.jsonl or .* here or below"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("template", "text", "spans"),
    [
        ("Hi [A_1].", "Hi Al.", [(3, 5, "A")]),
        ("[A_1]", "Al", [(0, 2, "A")]),
        ("Hi.", "Hi.", []),
        ("Hi [A_1]!", "Hi !", [(3, 3, "A")]),  # an empty value
        # "and" stands in the value too, but what follows must end the text: 0-7, 12-14
        ("[A_1] and [B_12].", "Sandy A and Ng.", [(0, 7, "A"), (12, 14, "B")]),
        ("[NOTE] [A_1] [a_1]", "[NOTE] Al [a_1]", [(7, 9, "A")]),  # brackets that are no placeholder
        ("[PHONE_NUMBER_1] [X1_2]", "555-0100 b", [(0, 8, "PHONE_NUMBER"), (9, 10, "X1")]),
        ("[A_1] [A_1]", "Al Al", [(0, 2, "A"), (3, 5, "A")]),
    ],
)
def test_templates_that_fit_in_one_way(template: str, text: str, spans: list[tuple[int, int, str]]) -> None:
    assert filled_spans(template, text) == tuple(RawSpan(*span) for span in spans)


@pytest.mark.parametrize(
    ("template", "text", "reason"),
    [
        ("[A_1] [B_1]", "Al Ng Lee", AMBIGUOUS),
        ("[A_1][B_1]", "Al", AMBIGUOUS),
        ("[A_1] and [B_1]", "a and b and c", AMBIGUOUS),
        ("aba[A_1]aba", "aba", NO_FIT),  # one "aba" is not two
        ("Hi [A_1].", "hi Al.", NO_FIT),
        ("Hi [A_1].", "Hi Al. ", NO_FIT),
        ("[A_1], [B_1]", "Al Ng", NO_FIT),
        ("Hi.", "Hi", NO_FIT),
    ],
)
def test_templates_that_do_not(template: str, text: str, reason: str) -> None:
    assert filled_spans(template, text) == reason


def ways(literals: list[str], text: str) -> int:
    """In how many ways the literals can stand in the text with anything between them, by trying all of them."""
    at = {len(literals[0]): 1} if text.startswith(literals[0]) else {}
    for literal in literals[1:]:
        after: dict[int, int] = {}
        for position, count in at.items():
            for start in range(position, len(text) + 1):
                if text.startswith(literal, start):
                    after[start + len(literal)] = after.get(start + len(literal), 0) + count
        at = after
    return at.get(len(text), 0)


@settings(max_examples=400, deadline=None)
@given(
    literals=st.lists(st.text("ab ", max_size=4), min_size=1, max_size=6),
    values=st.lists(st.text("ab ", max_size=5), min_size=5, max_size=5),
)
def test_the_alignment_is_true_or_none(literals: list[str], values: list[str]) -> None:
    # Few different characters, so that many fillings have several explanations.
    template, text, truth = literals[0], literals[0], []
    for number, literal in enumerate(literals[1:]):
        value = values[number]
        truth.append(RawSpan(len(text), len(text) + len(value), "NAME"))
        template += f"[NAME_{number}]{literal}"
        text += value + literal
    found = filled_spans(template, text)
    assert found == (tuple(truth) if ways(literals, text) == 1 else AMBIGUOUS)


@given(
    literals=st.lists(st.text("xyz [],", min_size=1), min_size=2, max_size=8),
    values=st.lists(st.text("abc.é𝒜"), min_size=7, max_size=7),
)
def test_values_unlike_what_stands_between_are_always_found(literals: list[str], values: list[str]) -> None:
    template, text, truth = "", "", []
    for number, literal in enumerate(literals):
        template, text = template + literal, text + literal
        if number < len(literals) - 1:
            value = values[number] or "a"
            truth.append(RawSpan(len(text), len(text) + len(value), "NAME"))
            template, text = f"{template}[NAME_{number}]", text + value
    assert filled_spans(template, text) == tuple(truth)


def test_the_alignment_takes_no_more_than_linear_time() -> None:
    # A regular expression of 2,000 lazy groups, or a search with steps back, would never end here.
    assert filled_spans("a[A_1]" * 2000 + "b", "a" * 100_000 + "b") == AMBIGUOUS
    assert filled_spans("a[A_1]" * 2000 + "b", "a" * 100_000) == NO_FIT
    long = "a" * 50_000
    assert filled_spans(f"[A_1]b{long}[A_2]", "a" * 200_000) == NO_FIT
    assert filled_spans(f"[A_1]{long}b[A_2]", "a" * 200_000) == NO_FIT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
LITERALS = st.text("[]{}()'\"\\,: 0159+-jdNOxu\n#*", max_size=40)
FIELDS = ("source_text", "unmasked_text", "Filled Template", "masked_text", "Template", "privacy_mask", "span_labels",
          "uid", "language", "locale", "set", "split")  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON | LITERALS, max_size=8), max_size=4))
def test_any_rows_are_read_or_rejected_and_never_raise(records: list[Record]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_jsonl(Path(folder, "rows.jsonl"), [{**record, "language": "en"} for record in records])
        documents, rejected = read(Path(folder))
    assert len(documents) + len(rejected) == len(records)
