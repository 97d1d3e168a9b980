"""Any text, with spans or without, comes out as it went in: through every container that can hold it."""

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from phidrift.core.document import Document, Span, read_documents, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.corpora.harmonize import Split, harmonize
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents
from phidrift.corpora.reading_report import reading_report
from phidrift.corpora.source import ReadOptions

Record = dict[str, Any]
SETTINGS = settings(
    max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
ENTITIES = {
    "NAME": "PERSON",
    "PERSON": "PERSON",
    "city": "ADDRESS",
    "E-MAIL": None,
    "Phone": "CONTACT",
    "DATE": "DATE",
}
# What splits lines, joins, hides or breaks: each of these has cost some tool a character.
AWKWARD = (
    *"aZ \t\n\r\x00\x0b\x0c\x1c\x1e\x85\u2028\u2029\xa0\ufeff\u200b\u200d\u2060\u0301\uffff\ufffe\U0010ffff",
    *("\ud800", "\udfff", "\ud83d", "\ude00", "\udc80"),
    *(
        "\r\n",
        "e\u0301",
        "é",
        "😀",
        "👩\u200d👩",
        '"',
        "'",
        ",",
        ";",
        "\\",
        "\\u0041",
        "&amp;",
        "<",
        "]]>",
        "İ",
        "ß",
    ),
)


def joined(parts: list[str]) -> str:
    """The parts as one text. A high surrogate before a low one is one character: no JSON can say otherwise."""
    return "".join(parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


texts = st.lists(st.sampled_from(AWKWARD) | st.characters(exclude_categories=()), max_size=40).map(joined)
# What UTF-8 can't hold can't stand in a table; NUL bytes in a CSV file are refused, and so is the file.
table_texts = texts.map(lambda text: "".join(c for c in text if c != "\0" and not "\ud800" <= c <= "\udfff"))


def is_visible(text: str) -> bool:
    """A text of nothing but white space and invisible characters is no document, and such a span no span."""
    return any(not (c.isspace() or c in "\u200b\u2060\ufeff") for c in text)


@st.composite
def records(draw: st.DrawFn, of_texts: st.SearchStrategy[str]) -> list[Record]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(of_texts) + draw(st.sampled_from(("x", "😀", "e\u0301 .")))
        spans: list[Record] | None = None
        if draw(st.integers(0, 3)):
            spans = []
            for _ in range(draw(st.integers(0, 6))):
                start = draw(st.integers(0, len(text) - 1))
                end = draw(st.integers(start + 1, len(text)))
                spans.append({"start": start, "end": end, "label": draw(st.sampled_from(list(ENTITIES)))})
        found.append({"id": f"d{number}", "text": text, "spans": spans})
    return found


def expected_spans(record: Record) -> tuple[Span, ...] | None:
    """By the stated rules, one character at a time: mapped, cut at blank edges, of overlapping ones the longest."""
    if record["spans"] is None:
        return None
    text, placed = record["text"], []
    for span in record["spans"]:
        entity = ENTITIES[span["label"]]
        inside = [place for place in range(span["start"], span["end"]) if is_visible(text[place])]
        if entity and inside:
            placed.append(Span(inside[0], inside[-1] + 1, entity))
    kept: list[Span] = []
    for span in sorted(placed, key=lambda s: (-(s.end - s.start), s.start)):
        taken = {
            place for other in kept if other.label == span.label for place in range(other.start, other.end)
        }
        if not taken.intersection(range(span.start, span.end)):
            kept.append(span)
    return tuple(sorted(kept))


def harmonised(content: bytes, file: str, format_name: str, offsets: str = "characters") -> list[Document]:
    """Through the reader and the common step to a file and back."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, file), Path(folder, "out.jsonl")
        path.write_bytes(content)
        reading = Reading()
        source = CorpusSource("c", path, format_name, offsets=offsets, options=ReadOptions())
        documents = list(harmonised_documents(source, reading))
        assert not reading.rejected
        assert write_documents(out, documents) == len(documents)
        assert out.read_bytes().count(b"\n") == len(documents)
        read_back = list(read_documents(out))
        assert read_back == documents
        return read_back


def check(written: list[Record], documents: list[Document]) -> None:
    assert [document.id for document in documents] == [f"c-{record['id']}" for record in written]
    assert [document.text for document in documents] == [record["text"] for record in written]
    assert [document.spans for document in documents] == [expected_spans(record) for record in written]


def json_lines(written: list[Record]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in written).encode()


def as_table(written: list[Record]) -> list[Record]:
    """Spans as JSON in a field, empty where there are none."""
    return [
        {**record, "spans": "" if record["spans"] is None else json.dumps(record["spans"])}
        for record in written
    ]


def csv_file(written: list[Record], comma: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ("id", "text", "spans"), delimiter=comma, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(as_table(written))
    return text.getvalue().encode()


@SETTINGS
@given(records(texts))
@example(
    [
        {
            "id": "d0",
            "text": "a\u2028b\x85c\r\nd\x00e\ufefff\ud800",
            "spans": [{"start": 2, "end": 3, "label": "NAME"}],
        }
    ]
)
def test_json_lines(written: list[Record]) -> None:
    check(written, harmonised(json_lines(written), "notes.jsonl", "jsonl"))


@SETTINGS
@given(records(texts))
def test_json_lines_whose_characters_stand_as_they_are(written: list[Record]) -> None:
    """Not escaped: U+2028 and U+0085 inside a line end no line. Lone surrogates alone have to be escaped."""
    lines = []
    for record in written:
        line = json.dumps(record, ensure_ascii=False)
        escaped = any("\ud800" <= character <= "\udfff" for character in line)
        lines.append(json.dumps(record) if escaped else line)
    content = "\n".join(lines).encode()
    check(written, harmonised(content, "notes.jsonl", "jsonl"))
    crlf = "\r\n".join(lines).encode()
    check(written, harmonised(b"\xef\xbb\xbf" + crlf, "notes.jsonl", "jsonl"))


@SETTINGS
@given(records(texts), st.sampled_from((None, 1)))
def test_gzipped_lines_and_arrays(written: list[Record], indent: int | None) -> None:
    check(written, harmonised(gzip.compress(json_lines(written), 1), "notes.jsonl.gz", "jsonl"))
    check(written, harmonised(json.dumps(written, indent=indent).encode(), "notes.json", "jsonl"))


@SETTINGS
@given(records(table_texts), st.sampled_from((("notes.csv", ","), ("notes.csv", ";"), ("notes.tsv", "\t"))))
def test_separated_values(written: list[Record], shape: tuple[str, str]) -> None:
    file, comma = shape
    check(written, harmonised(csv_file(written, comma), file, "table"))


@SETTINGS
@given(records(table_texts))
def test_parquet(written: list[Record]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    span = pyarrow.struct({"start": pyarrow.int32(), "end": pyarrow.int32(), "label": pyarrow.string()})
    schema = pyarrow.schema({"id": pyarrow.string(), "text": pyarrow.string(), "spans": pyarrow.list_(span)})
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(written, schema), file)
    check(written, harmonised(file.getvalue(), "notes.parquet", "table"))


@SETTINGS
@given(table_texts.filter(is_visible))
def test_plain_text(text: str) -> None:
    """Only a byte-order mark at the very start is no text."""
    (document,) = harmonised(text.encode(), "note.txt", "txt")
    assert document.text == text.removeprefix("\ufeff")
    assert document.spans is None


@SETTINGS
@given(records(texts))
def test_a_harmonised_file_harmonised_again_changes_ids_alone(written: list[Record]) -> None:
    """Its ids get the name of the new corpus before them; text, spans, split and group stay.

    Offsets are checked in auto here and in characters there: spans that went in exact come out exact.
    """
    first = harmonised(json_lines(written), "notes.jsonl", "jsonl")
    second = harmonised(json_lines([document.to_json() for document in first]), "again.jsonl", "jsonl")
    assert [document.id for document in second] == [f"c-{document.id}" for document in first]
    for before, after in zip(first, second, strict=True):
        assert (after.text, after.spans, after.meta) == (before.text, before.spans, before.meta)


def test_a_restricted_or_stand_in_document_stays_so_when_it_is_read_again(tmp_path: Path) -> None:
    document = Document(
        "x", "Lee", (Span(0, 3, "PERSON"),), {"restricted": True, "stand_in": True, "corpus": "a"}
    )
    write_documents(tmp_path / "a.jsonl", [document])
    reading, source = Reading(), CorpusSource("b", tmp_path, "jsonl", restricted=False)
    (again,) = harmonised_documents(source, reading)
    # It stated no group: it is one of its own, by the id that it has here.
    assert again.id == "b-x"
    assert again.meta == {"corpus": "b", "split": None, "group": "b-x", "stand_in": True, "restricted": True}
    assert reading_report(source, reading)["restricted"] is True


@SETTINGS
@given(texts, st.data())
def test_stored_surfaces_prove_exact_offsets_in_any_text(start: str, data: st.DataObject) -> None:
    """With the surface text stored and auto, a span that stands right is never moved (unless cut at blanks)."""
    text = start + "x"
    spans = []
    for _ in range(data.draw(st.integers(1, 5))):
        first = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(first + 1, len(text)))
        spans.append({"start": first, "end": end, "label": "NAME", "text": text[first:end]})
    record = {"id": "d0", "text": text, "spans": spans}
    check([record], harmonised(json_lines([record]), "notes.jsonl", "jsonl", offsets="auto"))


def test_restricted_documents_in_a_corpus_that_is_not_are_refused_by_the_pipeline(tmp_path: Path) -> None:
    documents = [Document(f"x{n}", f"Text {n}.", (), {"restricted": True}) for n in range(3)]
    write_documents(tmp_path / "a.jsonl", documents)
    with pytest.raises(PhidriftError, match=r"3 of its documents are restricted.*mark the corpus restricted"):
        harmonize(CorpusSource("b", tmp_path, "jsonl"), Split(1), seed=1)
    train, test, report = harmonize(CorpusSource("b", tmp_path, "jsonl", restricted=True), Split(1), seed=1)
    assert len(train) + len(test) == 3
    assert report["restricted"] is True
