"""Files found and decoded, rows of every kind of file, and one's own corpora as JSON lines and tables."""

import csv
import errno
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from phidrift.core.errors import PhidriftError
from phidrift.corpora import files, rows
from phidrift.corpora.readers import fields
from phidrift.corpora.readers.jsonl import read_jsonl, read_table
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, Reader, ReadOptions

SHARED = Path(__file__).parents[3] / "shared" / "corpora"
PLAIN, LATIN = ReadOptions(), ReadOptions(encoding="latin-1")
NOT_CSV = "not CSV: a quotation mark or a field without end"


@pytest.fixture(autouse=True)
def _field_limit() -> Iterator[None]:
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


def read(
    reader: Reader, path: Path, content: bytes | str | None = None, options: ReadOptions = PLAIN
) -> tuple[list[RawDocument], list[tuple[str, str]]]:
    """(documents, [(place without the path of the file, reason)])."""
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    rejected: list[tuple[str, str]] = []

    def reject(where: str, reason: str) -> None:
        rejected.append((where.removeprefix(str(path)), reason))

    return list(reader(path, options, reject)), rejected


def texts(*arguments: Any) -> tuple[list[str], list[tuple[str, str]]]:
    documents, rejected = read(*arguments)
    return [document.text for document in documents], rejected


# Files


def test_names_of_files_are_safe_and_never_the_same(tmp_path: Path) -> None:
    # Where a character had to be replaced, the start of the stem's SHA-256 follows, here by sha256sum.
    for place in ("a.jsonl", "a.json", "b/a.jsonl.gz", "b/a b.jsonl", "b/c/é ü.jsonl", "b_a.jsonl"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("{}")
    found = files.source_files(tmp_path, (".jsonl", ".json"))
    # By path. "a" is taken by a.json: a.jsonl has no folder to be told apart by, so that a number does it. b/a.jsonl
    # is called after its folder; then b_a.jsonl finds its name taken.
    assert [(file.path.relative_to(tmp_path).as_posix(), file.name, file.suffix) for file in found] == [
        ("a.json", "a", ".json"),
        ("a.jsonl", "a-2", ".jsonl"),
        ("b/a b.jsonl", "a_b-c8687a08", ".jsonl"),
        ("b/a.jsonl.gz", "b_a", ".jsonl"),
        ("b/c/é ü.jsonl", "_-2633dce9", ".jsonl"),
        ("b_a.jsonl", "b_a-2", ".jsonl"),
    ]


@pytest.mark.parametrize(
    ("place", "split"),
    [
        ("train.jsonl", "train"),
        ("Test.JSONL.gz", "test"),
        ("train-00000-of-00001.jsonl", "train"),
        ("test_clinical.jsonl", "test"),
        ("trainee.jsonl", None),
        ("mytest.jsonl", None),
        ("Training/notes.jsonl", "train"),
        ("train/deep/test.v2/notes.jsonl", "test"),  # the nearest folder
        ("train/deep/notes.jsonl", "train"),
        ("train/test.jsonl", "train"),  # a folder comes before the file's name
        ("training-PHI-Gold-Set1/110-01.jsonl", "train"),
        ("testing/110-01.jsonl", "test"),
        ("Test 2/110-01.jsonl", "test"),
        ("test2.jsonl", "test"),
        ("testicular/notes.jsonl", None),  # organs, people and hormones are no splits
        ("trainees/notes.jsonl", None),
        ("testosterone/notes.jsonl", None),
        ("test/testicular/notes.jsonl", "test"),
    ],
)
def test_split_from_folders_and_names(tmp_path: Path, place: str, split: str | None) -> None:
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}")
    (found,) = files.source_files(tmp_path, (".jsonl",))
    assert (found.split, found.suffix) == (split, ".jsonl")


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    for place in (".a.jsonl", ".git/b.jsonl", "c.jsonl", "deep/.d.jsonl", "deep/e.jsonl"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("{}")
    assert [file.name for file in files.source_files(tmp_path, (".jsonl",))] == ["c", "e"]
    assert [file.name for file in files.all_files(tmp_path)] == ["c.jsonl", "e.jsonl"]


def test_files_with_other_endings_are_counted_without_their_names(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a.jsonl", "jane-roe.pdf", "b/jane-poe.PDF", "jane-doe", "x.csv.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    with caplog.at_level("INFO"):
        assert [file.name for file in files.source_files(tmp_path, (".jsonl",))] == ["a"]
    assert "files with other endings are not read: .csv 1, .pdf 2, none 1" in caplog.text
    assert "jane" not in caplog.text
    caplog.clear()
    with caplog.at_level("INFO"):
        files.source_files(tmp_path / "a.jsonl", (".jsonl",))
    assert not caplog.text


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match=r"gone: no such file or folder\. To mend: point"):
        files.source_files(tmp_path / "gone", (".csv",))
    with pytest.raises(PhidriftError, match=r"no \*\.csv or \*\.tsv \(or such a file gzipped\)"):
        files.source_files(tmp_path, (".csv", ".tsv"))


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text('{"text": "A."}\n')
    documents = read_jsonl(tmp_path, PLAIN, pytest.fail)
    next(documents)
    (tmp_path / "b.jsonl").unlink()
    with pytest.raises(PhidriftError, match=r"b\.jsonl: can't be opened \(No such file"):
        next(documents)


def test_encodings_that_can_be_used() -> None:
    for name in ("utf-8", "latin-1", "cp1252", "gb18030"):
        files.check_encoding(name)
    for name in ("utf-16", "utf-32-le", "klingon", "rot13", "cp037"):
        with pytest.raises(
            PhidriftError, match=rf"encoding '{name}' is unknown.*To mend: name one such as utf-8"
        ):
            files.check_encoding(name)


def test_a_line_that_is_too_long_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_DOCUMENT", 40)
    lines = [json.dumps({"text": "A" * n}) for n in (20, 28, 29, 400, 3)]
    # {"text": ""} and the LF are 13 bytes: 27 letters would make 40, the first line has 33, the second 41.
    assert [len(line) + 1 for line in lines] == [33, 41, 42, 413, 16]
    found, rejected = texts(read_jsonl, tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    assert found == ["A" * 20, "AAA"]
    assert rejected == [(f":{number}", "larger than 20 MB") for number in (2, 3, 4)]
    # A byte-order mark doesn't hide that the first line was cut.
    marked = b"\xef\xbb\xbf" + lines[1].encode() + b"\n"
    assert texts(read_jsonl, tmp_path / "b.jsonl", marked) == ([], [(":1", "larger than 20 MB")])


# JSON

RECORD, OTHER = (
    {"text": "A é.", "spans": [{"start": 0, "end": 1, "label": "X"}]},
    {"text": "B.", "spans": None},
)


def json_lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


JSON_FILES = {
    "lines.jsonl": (json_lines(RECORD, OTHER), (":1", ":2")),
    "lines.ndjson": (json_lines(RECORD, OTHER), (":1", ":2")),
    "blanks.jsonl": ("\n" + json_lines(RECORD) + "  \r\n" + json_lines(OTHER), (":2", ":4")),
    "no-last-lf.jsonl": (json_lines(RECORD, OTHER).rstrip("\n"), (":1", ":2")),
    "crlf.jsonl": (json_lines(RECORD, OTHER).replace("\n", "\r\n"), (":1", ":2")),
    "array.json": (json.dumps([RECORD, OTHER]), (", item 1", ", item 2")),
    "pretty.json": (json.dumps([RECORD, OTHER], indent=2), (", item 1", ", item 2")),
    "lines.json": (json_lines(RECORD, OTHER), (":1", ":2")),
    "blank-first.json": ("\n" + json_lines(RECORD, OTHER), (":2", ":3")),
}


@pytest.mark.parametrize("name", JSON_FILES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("packed", [False, True])
def test_json_in_every_shape(tmp_path: Path, name: str, mark: bytes, packed: bool) -> None:
    content, places = JSON_FILES[name]
    raw = mark + content.encode("utf-8")
    path = tmp_path / (f"{name}.gz" if packed else name)
    documents, rejected = read(read_jsonl, path, gzip.compress(raw) if packed else raw)
    assert rejected == []
    assert [(d.text, d.spans) for d in documents] == [("A é.", (RawSpan(0, 1, "X"),)), ("B.", None)]
    assert [d.where.removeprefix(str(path)) for d in documents] == list(places)


def test_one_object_over_several_lines(tmp_path: Path) -> None:
    assert texts(read_jsonl, tmp_path / "a.json", json.dumps(OTHER, indent=1)) == (["B."], [])


def test_a_bad_line_costs_itself(tmp_path: Path) -> None:
    content = (
        json_lines(OTHER)
        + '{"text": "cut\n'
        + "[1]\n"
        + "[" * 100_000
        + "\n"
        + json_lines({"text": 5}, OTHER)
    )
    found, rejected = texts(read_jsonl, tmp_path / "a.jsonl", content)
    assert found == ["B.", "B."]
    assert rejected == [
        (":2", "not JSON"),
        (":3", "not a JSON object"),
        (":4", "not JSON"),
        (":5", "field 'text' must be a string"),
    ]


def test_a_bad_item_costs_itself_and_a_bad_array_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert texts(read_jsonl, path, json.dumps([7, OTHER, None])) == (
        ["B."],
        [(", item 1", "not a JSON object"), (", item 3", "not a JSON object")],
    )
    assert texts(read_jsonl, path, '[\n{"text": "A."},\n{"text": \n}\n]') == ([], [(":4", "not JSON")])
    assert texts(read_jsonl, path, "[" * 100_000) == ([], [(":1", "not JSON")])
    assert texts(read_jsonl, path, "") == ([], [(":1", "not JSON")])


def test_only_lf_ends_a_line(tmp_path: Path) -> None:
    # NBSP, line separator, paragraph separator, NEL, and the controls at which str.splitlines would cut too.
    text = "A\xa0B\u2028C\u2029D\x85E\x7fF"
    found, rejected = texts(
        read_jsonl, tmp_path / "a.jsonl", json_lines({"text": text}, {"text": "\v\f\x1c\r\n"})
    )
    assert (found, rejected) == ([text, "\v\f\x1c\r\n"], [])


def test_latin_1_with_and_without_the_option(tmp_path: Path) -> None:
    path, content = tmp_path / "a.jsonl", json_lines({"text": "Zoë"}, {"text": "B."}).encode("latin-1")
    assert texts(read_jsonl, path, content) == (["B."], [(":1", "byte 0xeb is not UTF-8")])
    assert texts(read_jsonl, path, content, LATIN) == (["Zoë", "B."], [])
    array = b'[\n{"text": "Zo\xeb"}\n]'
    assert texts(read_jsonl, tmp_path / "a.json", array) == ([], [(":2", "byte 0xeb is not UTF-8")])
    assert texts(read_jsonl, tmp_path / "a.json", array, LATIN) == (["Zoë"], [])


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("options", [PLAIN, LATIN])
def test_utf_16_is_named_once(tmp_path: Path, name: str, encoding: str, options: ReadOptions) -> None:
    content = ("\ufeff" + json_lines(RECORD, OTHER)).encode(encoding)
    assert texts(read_jsonl, tmp_path / name, content, options) == ([], [(":1", files.UTF16)])


def test_nul_bytes_are_no_json(tmp_path: Path) -> None:
    content = b'{"text": "A\0B"}\n' + json_lines(OTHER).encode()
    assert texts(read_jsonl, tmp_path / "a.jsonl", content) == (["B."], [(":1", "not JSON")])


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json.gz", "a.jsonl"])
def test_a_gzip_stream_that_ends_in_the_middle(tmp_path: Path, name: str) -> None:
    noise = [{"text": f"{number:x} {pow(7, number, 10**40)}"} for number in range(2000)]
    packed = gzip.compress(json_lines(*noise).encode())
    found, rejected = texts(read_jsonl, tmp_path / name, packed[: len(packed) // 2])
    # What could be unpacked is read; the line that was cut is named.
    assert 500 < len(found) < 1500
    assert found == [record["text"] for record in noise[: len(found)]]
    assert rejected == [(f":{len(found) + 1}", "its gzip stream is damaged from here on")]


def test_a_damaged_gzipped_array_is_lost_whole(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps([RECORD] * 50).encode())
    for broken in (packed[:-9], packed[:30] + b"\xff" * 8 + packed[38:]):
        assert texts(read_jsonl, tmp_path / "a.json.gz", broken) == (
            [],
            [(":1", "its gzip stream is damaged")],
        )


# Tables


@pytest.mark.parametrize(
    ("name", "comma"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("packed", [False, True])
def test_separated_values(tmp_path: Path, name: str, comma: str, end: str, mark: str, packed: bool) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    table = [["text", "id", "n"], ["A; b, c", "x", ""], [f'"Q"{end}é\u2028', "y", "2"], ["\xa0C ", "z", "3"]]
    # Every field in quotes, those inside doubled: the second row takes two lines, the third begins in line 5.
    content = mark + end.join(comma.join('"' + f.replace('"', '""') + '"' for f in row) for row in table)
    raw = content.encode("utf-8")
    documents, rejected = read(read_table, path, gzip.compress(raw) if packed else raw)
    assert rejected == []
    assert [(d.id, d.text, d.spans) for d in documents] == [(row[1], row[0], None) for row in table[1:]]
    assert [d.where.removeprefix(str(path)) for d in documents] == [":2", ":3", ":5"]


def test_rows_without_id_are_named_after_file_and_line(tmp_path: Path) -> None:
    documents, _ = read(read_table, tmp_path / "train.csv", 'text,n\n"A\nB",1\n\nC,2\n')
    # "A LF B" takes lines 2 and 3, line 4 is blank.
    assert [(d.id, d.group, d.split, d.stated_id) for d in documents] == [
        ("train-000002", None, "train", False),
        ("train-000005", None, "train", False),
    ]


def test_a_row_with_another_number_of_fields_costs_itself(tmp_path: Path) -> None:
    found, rejected = texts(read_table, tmp_path / "a.csv", "text,n\nA,1\nB\nC,1,2\nD,4\n")
    assert found == ["A", "D"]
    assert rejected == [(":3", "has 1 fields, the header 2"), (":4", "has 3 fields, the header 2")]


def test_quotation_marks_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    # To the end of the file there is none: its line is rejected, and those that it took in are read again.
    assert texts(read_table, path, 'text,n\nA,1\n"B,2\nC,3\n') == (["A", "C"], [(":3", NOT_CSV)])
    # A later row that is properly quoted would end it in the middle of a field: it is read as what it is.
    assert texts(read_table, path, 'text,n\nA,1\n"B,2\n"C",3\nD,4\n') == (
        ["A", "C", "D"],
        [(":3", NOT_CSV)],
    )
    # In the last row, with a line end and without.
    for end in ("\n", ""):
        assert texts(read_table, path, f'text,n\nA,1\n"B,2{end}') == (["A"], [(":3", NOT_CSV)])
    # Two of them, each in a line of its own.
    assert texts(read_table, path, 'text,n\n"A,1\nB,2\n"C,3\nD,4\n') == (
        ["B", "D"],
        [(":2", NOT_CSV), (":4", NOT_CSV)],
    )
    assert texts(read_table, path, '"text,n\nA,1\n') == ([], [(":1", NOT_CSV)])
    # Inside a field that doesn't begin with one, it is a character like any other.
    assert texts(read_table, path, 'text,n\n5" tube,1\n') == (['5" tube'], [])


@pytest.mark.parametrize(("name", "comma"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
@pytest.mark.parametrize("quoted_after", [True, False])
def test_a_stray_quotation_mark_among_a_thousand_rows(
    tmp_path: Path, name: str, comma: str, quoted_after: bool
) -> None:
    table = [f"Note {n}{comma}x" for n in range(1000)]  # under the header, row n in line n + 2
    table[300] = f'"Two{comma}\nlines"{comma}x'  # so that rows after it stand a line further down
    table[500] = f'"Stray{comma}x'
    table[700] = f'"Three\n\n""lines"{comma}x' if quoted_after else table[700]
    table[900] = "short"
    expected = [f"Note {n}" for n in range(1000)]
    expected[300] = f"Two{comma}\nlines"
    expected[700] = 'Three\n\n"lines' if quoted_after else expected[700]
    del expected[900], expected[500]
    content = "\n".join([f"text{comma}n", *table, ""])
    found, rejected = texts(read_table, tmp_path / name, content)
    assert found == expected
    # Row 500 in line 500 + 2 + 1, row 900 in 900 + 2 + 1, and two more where row 700 takes three lines.
    last = 905 if quoted_after else 903
    assert rejected == [(":503", NOT_CSV), (f":{last}", "has 1 fields, the header 2")]


def test_a_table_without_a_header_shows_nothing_of_its_first_row(tmp_path: Path) -> None:
    content = 'Ann Roe came.,12 Oak St,3/4/2012,555-0142\n"Bo left, too.",x,y,z\n'
    with pytest.raises(PhidriftError, match=r"there are 4 that look like no names$") as caught:
        texts(read_table, tmp_path / "a.csv", content)
    for part in ("Ann", "Oak", "2012", "555"):
        assert part not in str(caught.value)
    # Names of columns are shown beside it, and one long word costs no time.
    with pytest.raises(PhidriftError, match=r"there are note_id, Visit\.no, 2 that look like no names$"):
        texts(read_table, tmp_path / "a.csv", f"note_id,Ann Roe,Visit.no,{'a' * 5000}!\n1,2,3,4\n")


def test_a_field_that_is_too_long_costs_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "LARGEST_DOCUMENT", 40)
    content = f"text,n\n{'A' * 40},1\n{'B' * 41},2\nC,3\n"
    assert texts(read_table, tmp_path / "a.csv", content) == (["A" * 40, "C"], [(":3", NOT_CSV)])


def test_a_table_in_latin_1_with_and_without_the_option(tmp_path: Path) -> None:
    path, content = tmp_path / "a.csv", "text,n\nZoë,1\nB,2\n".encode("latin-1")
    assert texts(read_table, path, content) == (["B"], [(":2", "holds bytes that are not in the encoding")])
    assert texts(read_table, path, content, LATIN) == (["Zoë", "B"], [])
    # The mark of UTF-8 is none of the header's characters, whatever encoding is named.
    assert texts(read_table, path, b"\xef\xbb\xbf" + content, LATIN) == (["Zoë", "B"], [])


def test_a_table_in_another_encoding_than_its_option(tmp_path: Path) -> None:
    # "+" opens base64 in UTF-7, and "!" is none: an ASCII byte that can't be decoded.
    content = "text,n\nA +! B,1\n"
    options = ReadOptions(encoding="utf-7")
    assert texts(read_table, tmp_path / "a.csv", content, options) == ([], [(":1", "is not UTF-7")])


def test_a_table_with_nul_bytes_or_in_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert texts(read_table, path, "text,n\nA\0,1\nB,2\n") == (["B"], [(":2", files.NUL)])
    for encoding in ("utf-16-le", "utf-16-be"):
        content = "\ufefftext,n\nA,1\n".encode(encoding)
        assert texts(read_table, path, content) == ([], [(":1", files.UTF16)])


def test_a_gzipped_table_that_is_damaged(tmp_path: Path) -> None:
    noise = "text,n\n" + "".join(f"{pow(7, n, 10**40)},{n}\n" for n in range(3000))
    packed = gzip.compress(noise.encode())
    found, rejected = texts(read_table, tmp_path / "cut.csv.gz", packed[: len(packed) // 2])
    assert 0 < len(found) < 3000
    assert found == [line.split(",")[0] for line in noise.splitlines()[1 : len(found) + 1]]
    assert rejected == [(":1", "its gzip stream is damaged")]
    # Bytes in the middle that are no deflate stream, and a check sum that is wrong.
    middle = packed[:2000] + b"\xff" * 50 + packed[2050:]
    for broken in (middle, packed[:-8] + b"\0" * 8):
        rejected = texts(read_table, tmp_path / "a.csv.gz", broken)[1]
        assert rejected[-1] == (":1", "its gzip stream is damaged")


@pytest.mark.parametrize(
    ("header", "line"), [("text,n,text", 1), ("n,n,text", 1), ('"te\nxt",n,n', 1), ("text;n;n", 1)]
)
def test_two_columns_of_one_name_cost_the_file(tmp_path: Path, header: str, line: int) -> None:
    comma = ";" if ";" in header else ","
    content = f"{header}\n{comma.join(['A', 'B', 'C'])}\n"
    assert texts(read_table, tmp_path / "a.csv", content) == ([], [(f":{line}", "two columns have one name")])
    # Columns without a name, as spreadsheets leave them behind, are never asked for.
    assert texts(read_table, tmp_path / "b.csv", "text,,\nA,1,2\n") == (["A"], [])


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("reads", [0, 1])
def test_a_file_that_cannot_be_read_is_no_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, reads: int
) -> None:
    class Failing(io.FileIO):
        """A disk that gives way after so many reads."""

        left = reads

        def readinto(self, buffer: Any) -> int:
            if not self.left:
                raise OSError(errno.EIO, "Input/output error")
            self.left -= 1
            return super().readinto(buffer) or 0

    if name == "a.csv":
        (tmp_path / name).write_text("text,n\nA,1\n")
    else:
        parquet(tmp_path / name, {"text": ["A.", "B."]})
    assert texts(read_table, tmp_path / name)[1] == []
    monkeypatch.setattr(rows, "open_bytes", lambda path: io.BufferedReader(Failing(path)))
    with pytest.raises(PhidriftError, match=rf"{name}: can't be read \(Input/output error\)$"):
        texts(read_table, tmp_path / name)


def test_tables_without_a_row(tmp_path: Path) -> None:
    for content in ("", "\n", "text,n\n", "text,n"):
        assert texts(read_table, tmp_path / "a.csv", content) == ([], [])


# Parquet


def parquet(path: Path, columns: Any) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_parquet_with_nested_spans(tmp_path: Path) -> None:
    span = {"start": 0, "end": 3, "label": "PERSON"}
    path = parquet(
        tmp_path / "test-00000.parquet", {"text": ["Ann.", None, "B\u2028é"], "spans": [[span], [], None]}
    )
    documents, rejected = read(read_table, path)
    assert [(d.id, d.text, d.spans, d.split) for d in documents] == [
        ("test-00000-000001", "Ann.", (RawSpan(0, 3, "PERSON"),), "test"),
        ("test-00000-000003", "B\u2028é", None, "test"),
    ]
    assert documents[0].where == f"{path}, row 1"
    assert rejected == [(", row 2", "field 'text' must be a string")]


def test_parquet_of_several_batches_and_gzipped(tmp_path: Path) -> None:
    whole = parquet(tmp_path / "whole", {"text": [f"Note {n}." for n in range(600)]}).read_bytes()
    found, rejected = texts(read_table, tmp_path / "a.parquet.gz", gzip.compress(whole))
    assert (found, rejected) == ([f"Note {n}." for n in range(600)], [])


def test_a_value_that_cannot_be_converted_costs_its_row(tmp_path: Path) -> None:
    not_utf8 = pyarrow.array([b"A", b"\xff", b"C"]).view(pyarrow.string())
    late = pyarrow.array([10**15, 0, 0], pyarrow.timestamp("s"))
    found, rejected = texts(read_table, parquet(tmp_path / "a.parquet", {"text": not_utf8, "at": late}))
    assert found == ["C"]
    assert rejected == [(f", row {n}", "holds a value that can't be converted") for n in (1, 2)]


def test_parquet_that_is_damaged(tmp_path: Path) -> None:
    whole = parquet(tmp_path / "whole", {"text": [f"Note {n}." for n in range(600)]}).read_bytes()
    reason = "not Parquet, or damaged from here on"
    packed = gzip.compress(whole)
    for content in (
        b"",
        b"PAR1",
        b"text,n\n",
        whole[:500],
        whole[:-10],
        whole[4:],
        packed[: len(packed) // 2],
    ):
        assert texts(read_table, tmp_path / "a.parquet", content) == ([], [(", row 1", reason)])
    broken = packed[:200] + b"\xff" * 50 + packed[250:]
    assert texts(read_table, tmp_path / "a.parquet", broken) == ([], [(", row 1", reason)])


def test_two_parquet_columns_of_one_name_cost_the_file(tmp_path: Path) -> None:
    table = pyarrow.table([pyarrow.array(["A."]), pyarrow.array(["B."])], names=["text", "text"])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert texts(read_table, tmp_path / "a.parquet") == ([], [(", row 1", "two columns have one name")])


# Fields


def test_the_column_that_holds_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert texts(read_table, path, "n,Words\n1,A\n", ReadOptions(text_field="Words")) == (["A"], [])
    with pytest.raises(
        PhidriftError, match=r"a\.csv: which field.*none of the usual names.*there are n, Words$"
    ):
        texts(read_table, path, "n,Words\n1,A\n")
    with pytest.raises(
        PhidriftError, match=r"\? note and body\. To mend: state text_field; there are body, note$"
    ):
        texts(read_table, path, "body,note\nA,B\n")
    assert texts(read_table, path, "n\n1\n", ReadOptions(text_field="note")) == (
        [],
        [(":2", "field 'note' must be a string")],
    )


def test_a_null_in_the_first_row_does_not_hide_the_column(tmp_path: Path) -> None:
    content = json_lines({"note": None, "n": 1}, {"note": "A.", "n": 2})
    assert texts(read_jsonl, tmp_path / "a.jsonl", content) == (
        ["A."],
        [(":1", "field 'note' must be a string")],
    )


def test_groups(tmp_path: Path) -> None:
    path, options = tmp_path / "a.jsonl", ReadOptions(group_field="mrn")
    content = json_lines(
        {"text": "A.", "mrn": 17}, {"text": "B.", "meta": {"group": "g"}}, {"text": "C.", "group": 3}
    )
    documents, rejected = read(read_jsonl, path, content, options)
    assert [d.group for d in documents] == ["17"]
    assert rejected == [(f":{n}", "field 'mrn' is missing, which says what belongs together") for n in (2, 3)]
    assert [d.group for d in read(read_jsonl, path)[0]] == [None, "g", "3"]


@pytest.mark.parametrize("blank", ["", " ", "\t\xa0", '""'])
def test_an_empty_cell_is_no_group(tmp_path: Path, blank: str) -> None:
    content = f"text,mrn,group\nA,{blank},{blank}\nB,7,8\n"
    documents, rejected = read(read_table, tmp_path / "a.csv", content, ReadOptions(group_field="mrn"))
    assert [(d.text, d.group) for d in documents] == [("B", "7")]
    assert rejected == [(":2", "field 'mrn' is missing, which says what belongs together")]
    # Where no field is named, the text belongs with none.
    assert [d.group for d in read(read_table, tmp_path / "a.csv")[0]] == [None, "8"]


@pytest.mark.parametrize(
    ("stated", "identity"),
    [
        ("x", "x"),
        (0, "0"),
        (-3, "-3"),
        ("true", "true"),
        (True, None),
        (False, None),
        ("", None),
        (None, None),
        (1.5, None),
        (["x"], None),
    ],
)
def test_what_is_an_id(tmp_path: Path, stated: object, identity: str | None) -> None:
    (document,) = read(read_jsonl, tmp_path / "a.jsonl", json_lines({"text": "A.", "id": stated}))[0]
    assert (document.id, document.stated_id) == (identity or "a-000001", identity is not None)
    # Of several fields the first that isn't null decides.
    record = {"uid": None, "id": stated, "other": "o"}
    decided = (identity or "f", identity is not None) if stated is not None else ("o", True)
    assert fields.stated_id(record, ("uid", "id", "other"), "f") == decided


def test_a_harmonised_file_reads_back(tmp_path: Path) -> None:
    record = {"id": "c-1", **RECORD, "meta": {"corpus": "c", "split": "test", "group": "g1"}}
    (document,) = read(read_jsonl, tmp_path / "train.jsonl", json_lines(record))[0]
    assert document == RawDocument(
        "c-1", "A é.", (RawSpan(0, 1, "X"),), "test", "g1", f"{tmp_path / 'train.jsonl'}:1", stated_id=True
    )


@pytest.mark.parametrize(
    ("item", "span"),
    [
        ([0, 3, "PER"], RawSpan(0, 3, "PER")),
        ({"start": 0, "end": 3, "label": "PER"}, RawSpan(0, 3, "PER")),
        ({"begin": 0, "stop": 3, "entity_type": "PER", "value": "Ann"}, RawSpan(0, 3, "PER", "Ann")),
        ({"start_offset": 0, "end_offset": 3, "tag": "PER", "text": "Ann"}, RawSpan(0, 3, "PER", "Ann")),
        ({"start": "0", "label": "PER", "text": 3}, RawSpan("0", None, "PER")),
        ({"start": 0, "end": 3, "entity": "PER", "text": "Ann"}, RawSpan(0, 3, "PER", "Ann")),
        ({"start": 0, "end": 3, "entity": "Ann", "type": "PER"}, RawSpan(0, 3, "PER", "Ann")),
        ({"start": 0, "end": 3, "entity": "Ann", "category": "PER"}, RawSpan(0, 3, "PER", "Ann")),
        ({"start": 0, "end": 3, "entity": "x", "tag": "PER", "value": "Ann"}, RawSpan(0, 3, "PER", "Ann")),
        # Beside a field that is always the label, `entity` may be anything, such as a number in a register.
        ({"start": 0, "end": 3, "entity": "Q1", "label": "PER"}, RawSpan(0, 3, "PER")),
        ({"start": 0, "end": 3, "entity": "Q1", "entity_type": "PER"}, RawSpan(0, 3, "PER")),
        # Null, as Parquet and `datasets` fill fields that an object lacks, is no value.
        ({"start": 0, "end": 3, "type": None, "entity": "PER"}, RawSpan(0, 3, "PER")),
        (
            {"start": None, "begin": 0, "end": 3, "label": "PER", "text": None, "value": "Ann"},
            RawSpan(0, 3, "PER", "Ann"),
        ),
        ({"start": 0, "end": 3, "label": 4, "type": "PER"}, MALFORMED),
        ([0, 3], MALFORMED),
        ([0, 3, 4], MALFORMED),
        ({"start": 0, "end": 3}, MALFORMED),
        ("Ann", MALFORMED),
        (None, MALFORMED),
    ],
)
def test_spans_in_json_and_in_a_column_as_json(tmp_path: Path, item: object, span: RawSpan) -> None:
    (document,) = read(read_jsonl, tmp_path / "a.jsonl", json_lines({"text": "Ann.", "entities": [item]}))[0]
    assert (document.spans, document.field) == ((span,), "entities")
    quoted = json.dumps([item]).replace('"', '""')
    (document,) = read(read_table, tmp_path / "a.csv", f'text,labels\nAnn.,"{quoted}"\n')[0]
    assert (document.spans, document.field) == ((span,), "labels")


def test_spans_of_spacy_and_of_doccano_through_pandas(tmp_path: Path) -> None:
    spacy = {"text": "Ann.", "ents": [{"start": 0, "end": 3, "label": "PER"}], "title": None}
    (document,) = read(read_jsonl, tmp_path / "a.jsonl", json_lines(spacy))[0]
    assert (document.spans, document.field) == ((RawSpan(0, 3, "PER"),), "ents")
    # As DataFrame.to_csv writes a list: as Python prints it.
    content = """id,text,label\n7,Ann.,"[[0, 3, 'PER']]"\n8,Bo.,[]\n9,Cy.,\n"""
    documents, rejected = read(read_table, tmp_path / "a.csv", content)
    assert rejected == []
    assert [(d.id, d.spans) for d in documents] == [("7", (RawSpan(0, 3, "PER"),)), ("8", ()), ("9", None)]
    assert documents[0].field == "label"


def test_meta_that_a_table_holds_as_text(tmp_path: Path) -> None:
    content = (
        "text,meta\n"
        'A,"{""restricted"": true, ""group"": ""g"", ""split"": ""test""}"\n'
        "B,\"{'restricted': True, 'stand_in': True}\"\n"
        'C,"{""restricted"": false}"\n'
        "D,free text\nE,\n"
    )
    documents, rejected = read(read_table, tmp_path / "a.csv", content)
    assert rejected == []
    assert [(d.restricted, d.stand_in, d.group, d.split) for d in documents] == [
        (True, False, "g", "test"),
        (True, True, None, None),
        *[(False, False, None, None)] * 3,
    ]


def test_what_is_no_list_of_spans(tmp_path: Path) -> None:
    # In a column called spans it is an error; `label` may be anything, such as the class of a document.
    content = 'text,spans,label\nA,"[]",urgent\nB,,3\nC,"[oops",x\nD,{},x\n'
    documents, rejected = read(read_table, tmp_path / "a.csv", content)
    assert [(d.text, d.spans) for d in documents] == [("A", ()), ("B", None)]
    assert rejected == [(f":{n}", "field 'spans' must be a list of spans, or null") for n in (4, 5)]


# Anything


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.parquet"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=200))
@example(content=gzip.compress(b'text,n\n"A"') + b"\x1f\x8b")
@example(content=b'"')
@example(content=b"\x1f\x8b")
def test_any_bytes_end_in_documents_rejections_or_the_one_error(
    tmp_path: Path, name: str, content: bytes
) -> None:
    reader = read_jsonl if "json" in name else read_table
    for head in (b"", b"text,n\n", b'{"text": "', b"\x1f\x8b\x08\0\0\0\0\0\0\xff"):
        problem = ""
        documents: list[RawDocument] = []
        rejected: list[tuple[str, str]] = []
        try:
            documents, rejected = read(reader, tmp_path / name, head + content)
        except PhidriftError as error:
            problem = error.problem
        assert not problem or problem.startswith("which field holds the text?")
        places = [where for where, _ in rejected]
        assert len(set(places)) == len(places)
        assert all(isinstance(document.text, str) for document in documents)


# Real files


@pytest.mark.skipif(not (SHARED / "aci-bench").is_dir(), reason="the corpus ACI-Bench is not here")
def test_real_aci_bench() -> None:
    path = SHARED / "aci-bench" / "train.csv"
    documents, rejected = read(read_table, path, None, ReadOptions(text_field="note"))
    # Another parser's reading of the same column.
    import pandas

    expected = pandas.read_csv(path, keep_default_na=False)["note"].tolist()
    assert rejected == []
    assert len(documents) == 67
    assert [d.text for d in documents] == expected
    assert {d.split for d in documents} == {"train"}
    assert all(d.spans is None for d in documents)


@pytest.mark.skipif(not (SHARED / "mts-dialog").is_dir(), reason="the corpus MTS-Dialog is not here")
def test_real_mts_dialog() -> None:
    options = ReadOptions(text_field="section_text", group_field="ID")
    documents, rejected = read(read_table, SHARED / "mts-dialog", None, options)
    assert rejected == []
    assert (len(documents), len({d.group for d in documents})) == (1201, 1201)
    assert all(d.spans is None and d.split is None for d in documents)
    assert sum(len(d.text) for d in documents) == 292_354  # as pandas reads them
