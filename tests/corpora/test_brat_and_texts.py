"""brat stand-off and plain text files."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import NUL, UTF16
from phidrift.corpora.readers.brat import read_brat, spans_of
from phidrift.corpora.readers.texts import read_txt
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, Reader, ReadOptions
from phidrift.corpora.spans import SpanCounts, harmonised_spans

Problems = list[tuple[str, str]]


def read(
    reader: Reader, path: Path, options: ReadOptions | None = None
) -> tuple[list[RawDocument], Problems]:
    rejected: Problems = []
    documents = list(
        reader(path, options or ReadOptions(), lambda where, reason: rejected.append((where, reason)))
    )
    return documents, rejected


def write(folder: Path, **files: str | bytes) -> None:
    """Files by name, a double underscore for each dot."""
    for name, content in files.items():
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name.replace("__", ".")).write_bytes(raw)


def test_spans_of_continuous_and_discontinuous_annotations(tmp_path: Path) -> None:
    #       0         1         2         3
    #       0123456789012345678901234567890123456
    text = "Ann Lee and Bob Lee met 😀 Jo\nNg at 5."
    ann = (
        "T1\tNAME 0 7\tAnn Lee\n"
        "T3\tNAME 0 3;16 19\tAnn Lee\n"  # "Ann" of both and "Lee" of the second: pieces of 3 and 3
        "R1\tKnows Arg1:T1 Arg2:T2\t\n"
        "T2\tNAME 26 31\tJo Ng\n"  # the line end written as a blank
        "E1\tNAME:T1 Who:T2\nA1\tSure T1\nM1\tSure T2\nN1\tReference T1 Wiki:1\tAnn\n"
        "#1\tAnnotatorNotes T1\tchecked\n*\tEquiv T1 T2\n\n"
        "T4\tTIME 35 36;36 37\t5 .\n"
    )
    write(tmp_path, note__txt=text, note__ann=ann)
    (document,), rejected = read(read_brat, tmp_path)
    assert document == RawDocument(
        "note",
        text,
        (
            RawSpan(0, 7, "NAME", "Ann Lee"),
            RawSpan(0, 3, "NAME", "Ann"),
            RawSpan(16, 19, "NAME", "Lee", 1),  # the third span, of the second line
            RawSpan(26, 31, "NAME", "Jo Ng"),
            RawSpan(35, 36, "TIME", "5", 11),  # eleven lines stand before it
            RawSpan(36, 37, "TIME", ".", 11),
        ),
        None,
        None,
        f"{tmp_path / 'note.txt'}:1",
        field="note.ann",
    )
    assert rejected == []
    counts = SpanCounts()
    spans = harmonised_spans(document, {"NAME": "PERSON", "TIME": "DATE"}, counts)
    assert spans is not None
    assert [text[s.start : s.end] for s in spans] == ["Ann Lee", "Lee", "Jo\nNg", "5", "."]
    assert counts.outcomes == {"exact": 5, "dropped": 1}  # "Ann" lies in "Ann Lee"
    assert counts.drop_reasons == {"overlap": 1}


def test_text_and_annotations_with_carriage_returns(tmp_path: Path) -> None:
    # Offsets count the CR: "Jo\r\nNg" is 0-6. A fragment may end in the text's CR, and so may the .ann's line.
    text = "Jo\r\nNg, Al\r\n"
    ann = "T1\tNAME 0 6\tJo\r Ng\r\nT2\tNAME 0 3;4 6\tJo\r Ng\r\nT3\tNAME 0 2;8 11\tJo Al\r\n"
    write(tmp_path, a__txt=text, a__ann=ann)
    (document,), _ = read(read_brat, tmp_path)
    assert document.text == text
    assert document.spans == (
        RawSpan(0, 6, "NAME", "Jo\r Ng"),
        RawSpan(0, 3, "NAME", "Jo\r"),
        RawSpan(4, 6, "NAME", "Ng", 1),
        RawSpan(0, 2, "NAME", "Jo", 2),
        RawSpan(8, 11, "NAME", "Al\r", 2),
    )
    counts = SpanCounts()
    kept = harmonised_spans(document, {"NAME": "PERSON"}, counts)
    # 0-6 is the longest; its two fragments and T3's first lie inside; "Al\r" loses its white space.
    assert [(s.start, s.end) for s in kept or ()] == [(0, 6), (8, 10)]
    assert counts.outcomes == {"exact": 1, "trimmed": 1, "dropped": 3}


@pytest.mark.parametrize(
    "line",
    [
        "T1",
        "T1\tNAME",
        "T1\tNAME 0 3",
        "T1\tNAME 0 3;\tLee",
        "T1\tNAME 0 3; 5 6\tLee x",
        "T1\tNAME 0\tLee",
        "T1\tNAME -1 3\tLee",
        "T1\tNAME 0 x\tLee",
        "T1\tNAME 0 ٣\tLee",
        f"T1\tNAME 0 {'9' * 5000}\tLee",
        "T1\tNAME 0 3 Lee",
        "T1 NAME 0 3\tLee",
        "T1\tFIRST NAME 0 3\tLee",
        "Ng and others",
        "Raymond",
        "X1\tNAME 0 3\tLee",
    ],
)
def test_malformed_lines_are_counted_not_passed_over(line: str) -> None:
    good = RawSpan(4, 6, "NAME", "Ng")
    assert spans_of(f"{line}\nT2\tNAME 4 6\tNg") == (MALFORMED, good)


@pytest.mark.parametrize(
    ("places", "surface"),
    [
        ("0 3;4 6", "Lee Ngo"),
        ("0 3;4 6", "Lee N"),
        ("0 3;4 6", "LeeNg"),
        ("0 3;6 4", "L"),
        ("3 0;4 12", "Lee Ng"),
    ],
)
def test_fragments_that_do_not_add_up_are_one_malformed_span(places: str, surface: str) -> None:
    assert spans_of(f"T1\tNAME {places}\t{surface}") == (RawSpan(None, None, "NAME", surface),)


def test_a_surface_that_does_not_fit_one_stretch_is_left_to_the_common_step() -> None:
    assert spans_of("T1\tNAME 0 9\tLee\nT2\tNAME 5 2\tNg\nT3\tNAME 1 4\ta\tb\n") == (
        RawSpan(0, 9, "NAME", "Lee"),
        RawSpan(5, 2, "NAME", "Ng"),
        RawSpan(1, 4, "NAME", "a\tb"),
    )


def test_line_ends_of_unicode_do_not_end_a_line() -> None:
    assert spans_of("T1\tNAME 0 5\tJo\u2028Ng\nT2\tNAME 6 9\ta\x0cb\n") == (
        RawSpan(0, 5, "NAME", "Jo\u2028Ng"),
        RawSpan(6, 9, "NAME", "a\x0cb"),
    )


def test_pairs_and_what_stands_alone(tmp_path: Path) -> None:
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
    write(tmp_path / "train", a__txt="Lee", a__ann="T1\tNAME 0 3\tLee\n", b__txt="Ng", b__ann="", c__txt="x")
    write(tmp_path / "test", a__txt__gz=gzip.compress(b"Oak"), a__ann__gz=gzip.compress(b"T1\tLOC 0 3\tOak"))
    write(tmp_path / "test", b__ann="T1\tNAME 0 3\tLee", d__ann="", annotation__conf="[entities]\nNAME\n")
    documents, rejected = read(read_brat, tmp_path)
    assert [(d.id, d.text, d.split, d.spans, d.field) for d in documents] == [
        ("a", "Oak", "test", (RawSpan(0, 3, "LOC", "Oak"),), "a.ann.gz"),
        ("train_a", "Lee", "train", (RawSpan(0, 3, "NAME", "Lee"),), "a.ann"),
        ("b", "Ng", "train", (), "b.ann"),  # an empty file says: no entity
        ("c", "x", "train", None, "spans"),  # no file says nothing
    ]
    assert not any(d.group or d.stated_id or d.carriage_returns for d in documents)
    test = tmp_path / "test"
    assert rejected == [(f"{test / n}:1", "no .txt file beside it") for n in ("b.ann", "d.ann")]


def test_one_file_finds_its_annotations_and_leaves_the_others_alone(tmp_path: Path) -> None:
    write(tmp_path, a__txt="Lee", a__ann="T1\tNAME 0 3\tLee\n", b__ann="")
    (document,), rejected = read(read_brat, tmp_path / "a.txt")
    assert (document.spans, rejected) == ((RawSpan(0, 3, "NAME", "Lee"),), [])
    with pytest.raises(PhidriftError, match=r"no \*\.txt"):
        read(read_brat, tmp_path / "b.ann")


@pytest.mark.parametrize(
    ("files", "where", "reason"),
    [
        ({"a__ann": b"T1\tNAME 0 3\tLee\nT2\tNAME 0 3\tL\xe9e\n"}, "a.ann:2", "byte 0xe9 is not UTF-8"),
        ({"a__ann": "T1\tNAME 0 3\tLee\n".encode("utf-16")}, "a.ann:1", UTF16),
        ({"a__ann": b"T1\tNAME 0 3\tL\0e"}, "a.ann:1", NUL),
        (
            {"a__ann__gz": gzip.compress(b"T1\tNAME 0 3\tLee")[:-9]},
            "a.ann.gz:1",
            "its gzip stream is damaged",
        ),
        ({"a__ann": b"", "a__ann__gz": gzip.compress(b"")}, "a.txt:1", "two .ann files beside it"),
        # The text is bad: the annotations, bad too, aren't looked at, so that a document is rejected once.
        ({"a__txt": b"L\xe9e", "a__ann": b"\xff"}, "a.txt:1", "byte 0xe9 is not UTF-8"),
    ],
)
def test_a_text_is_not_yielded_without_its_spans(
    tmp_path: Path, files: dict[str, Any], where: str, reason: str
) -> None:
    write(tmp_path, **{"a__txt": "Lee", "b__txt": "Ng"} | files)
    documents, rejected = read(read_brat, tmp_path)
    assert [d.id for d in documents] == ["b"]
    assert rejected == [(f"{tmp_path}/{where}", reason)]


@given(text=st.text(max_size=30), data=st.data())
def test_fragments_written_as_brat_writes_them_read_back(text: str, data: st.DataObject) -> None:
    places = data.draw(
        st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))), min_size=1, max_size=4)
    )
    places = [(min(place), max(place)) for place in places]
    pieces = [text[start:end].replace("\n", " ") for start, end in places]
    written = ";".join(f"{start} {end}" for start, end in places)
    spans = spans_of(f"T1\tNAME {written}\t{' '.join(pieces)}\r\n")
    assert [(s.start, s.end, s.surface) for s in spans] == [
        (*place, piece) for place, piece in zip(places, pieces, strict=True)
    ]


def test_plain_texts_as_stored(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    crlf = "Seen by Lee\r\n\u00a0at\r5 \u2028\n\n"
    write(tmp_path, a__txt=crlf, b__text="\ufeffHome", c__TXT__gz=gzip.compress(b"Plan\r\n"), d__md="no")
    write(tmp_path / "test", a__txt=" Rest ", blank__txt="")
    documents, rejected = read(read_txt, tmp_path)
    assert [(d.id, d.text, d.split) for d in documents] == [
        ("a", crlf, None),
        ("b", "Home", None),
        ("c", "Plan\r\n", None),
        ("test_a", " Rest ", "test"),
        ("blank", "", "test"),
    ]
    assert all(d.spans is None and d.group is None and not d.stated_id for d in documents)
    assert documents[0].where == f"{tmp_path / 'a.txt'}:1"
    assert rejected == []
    assert [d.text for d in read(read_txt, tmp_path / "a.txt")[0]] == [crlf]


def test_what_is_no_text_is_rejected_alone(tmp_path: Path) -> None:
    write(tmp_path, a__txt=b"ok\n\xff", b__txt="a".encode("utf-16"), c__txt=b"a\0b", d__txt="fine")
    write(tmp_path, e__txt=gzip.compress(b"cut off")[:-4])
    documents, rejected = read(read_txt, tmp_path)
    assert [d.text for d in documents] == ["fine"]
    assert rejected == [
        (f"{tmp_path}/a.txt:2", "byte 0xff is not UTF-8"),
        (f"{tmp_path}/b.txt:1", UTF16),
        (f"{tmp_path}/c.txt:1", NUL),
        (f"{tmp_path}/e.txt:1", "its gzip stream is damaged"),
    ]
    assert [d.text for d in read(read_txt, tmp_path / "a.txt", ReadOptions(encoding="latin-1"))[0]] == [
        "ok\nÿ"
    ]


@pytest.mark.parametrize("reader", [read_txt, read_brat])
def test_nothing_to_read(tmp_path: Path, reader: Reader) -> None:
    with pytest.raises(PhidriftError, match="no such file or folder"):
        read(reader, tmp_path / "none")
    with pytest.raises(PhidriftError, match=r"no \*\.txt"):
        read(reader, tmp_path)


@settings(max_examples=100)
@given(
    text=st.binary(max_size=20),
    ann=st.binary(max_size=40)
    | st.text(alphabet="T1\t\n\r ;0123N", max_size=40).map(str.encode)
    | st.binary(max_size=30).map(lambda rest: b"\x1f\x8b\x08" + rest),
)
def test_any_bytes_give_a_document_or_one_rejection(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, ann: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    write(folder, a__txt=text, a__ann=ann)
    for reader in (read_brat, read_txt):
        documents, rejected = read(reader, folder)
        assert len(documents) + len(rejected) == 1
        assert all(isinstance(span, RawSpan) for d in documents for span in d.spans or ())
