"""What users bring that is wrong: a message that says where and what to do, exit code 2, and nothing written."""

import csv
import gzip
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from phidrift.cli.main import main

Spans = list[dict[str, Any]]


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str
    log: str


@dataclass(frozen=True)
class Desk:
    """A folder `corpus` to fill, and the command `phidrift harmonize corpus --out out/notes.jsonl`."""

    folder: Path
    call: Callable[..., Done]

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    @property
    def out(self) -> Path:
        return self.folder / "out" / "notes.jsonl"

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def run(self, *options: object, path: Path | None = None) -> Done:
        return self.call("harmonize", path or self.corpus, "--out", self.out, *options)

    def documents(self, *options: object, path: Path | None = None) -> list[dict[str, Any]]:
        """What a run that succeeds has written."""
        done = self.run(*options, path=path)
        assert done.code == 0, done.stderr
        assert [file.name for file in self.out.parent.iterdir() if file.suffix == ".tmp"] == []
        return [json.loads(line) for line in self.out.read_text(encoding="utf-8").split("\n") if line]

    def refused(self, *options: object, path: Path | None = None) -> str:
        """The one line of a run that fails; nothing was written, and no temporary is left."""
        done = self.run(*options, path=path)
        assert done.code == 2
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        assert not self.out.parent.exists() or not list(self.out.parent.iterdir())
        return done.stderr

    def account(self, *options: object) -> dict[str, Any]:
        report = self.folder / "report.json"
        self.documents("--report", report, *options)
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return found


@pytest.fixture
def desk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Desk:
    caplog.set_level(logging.INFO)

    def call(*arguments: object) -> Done:
        caplog.clear()
        monkeypatch.setattr(sys, "argv", ["phidrift", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, shown.out, shown.err, caplog.text)

    (tmp_path / "corpus").mkdir()
    return Desk(tmp_path, call)


def line(text: str, *spans: tuple[Any, ...], **fields: Any) -> str:
    """A JSON line; spans are (start, end, label) or (start, end, label, surface)."""
    names = ("start", "end", "label", "text")
    items = [dict(zip(names, span, strict=False)) for span in spans]
    return json.dumps({"text": text, "spans": items, **fields}) + "\n"


def surfaces(documents: list[dict[str, Any]]) -> list[str]:
    return [d["text"][s["start"] : s["end"]] for d in documents for s in d["spans"] or ()]


GOOD = line("Ann Lee came.", (0, 7, "NAME"))


# --- files that are broken ---


def test_broken_xml_names_its_line(desk: Desk) -> None:
    desk.put("1.xml", "<a>\n<TEXT>Lee</TEXT>\n<TAGS></TAG>\n</a>\n")
    assert f"{desk.corpus}/1.xml:3: not well-formed XML. To mend: " in desk.refused("--strict")
    assert (
        f"{desk.corpus}: no readable document (1 rejected), most often: not well-formed XML" in desk.refused()
    )


def test_entities_are_refused_at_once_and_no_file_is_read(desk: Desk) -> None:
    secret = desk.folder / "secret.txt"
    secret.write_text("SECRET-555-0142")
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    desk.put("1.xml", f'<!DOCTYPE a [<!ENTITY e0 "x">{bomb}]><a><TEXT>&e11;</TEXT></a>')
    desk.put("2.xml", f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]><a><TEXT>&x;</TEXT></a>')
    desk.put("3.xml", f'<!DOCTYPE a SYSTEM "file://{secret}"><a><TEXT>x</TEXT></a>')
    desk.put("4.xml", "<a><TEXT>Lee</TEXT></a>")
    began = time.monotonic()
    done = desk.run()
    assert time.monotonic() - began < 5
    assert done.code == 0
    assert "3 skipped: declares a document type or entities, which are refused" in done.stdout
    assert "SECRET" not in done.stdout + done.log + desk.out.read_text()


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.jsonl", '{"text": "x"}\n{"text": "Renée"}\n', "a.jsonl:2"),
        ("a.json", '[\n{"text": "x"},\n{"text": "Renée"}\n]', "a.json:3"),
        ("a.conll", "x O\n\nRenée B-PER\n", "a.conll:3"),
        ("a.txt", "x\n\nRenée\n", "a.txt:3"),
    ],
)
def test_a_wrong_encoding_names_the_byte_and_the_right_one_reads(
    desk: Desk, name: str, content: str, place: str
) -> None:
    desk.put(name, content.encode("latin-1"))  # é is the byte E9
    assert f"{desk.corpus}/{place}: byte 0xe9 is not UTF-8" in desk.refused("--strict")
    assert "Renée" in desk.documents("--encoding", "latin-1")[-1]["text"]


def test_an_unknown_encoding(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    assert "encoding 'latin-99' is unknown" in desk.refused("--encoding", "latin-99")


ANN = "T1\tNAME 0 7\tAnn Lee\n"
LF_FILES = {
    "jsonl": {"a.jsonl": GOOD},
    "multileg": {"a.jsonl": '{"text": "Ann Lee came.", "label": [[0, 7, "PER"]]}\n'},
    "table": {"a.csv": 'id,text,spans\nx,Ann Lee came.,"[[0, 7, ""NAME""]]"\n'},
    "conll": {"a.conll": "Ann B-PER\nLee I-PER\ncame. O\n\n"},
    "presidio": {
        "a.json": '[{"full_text": "Ann Lee came.",\n "spans": [{"entity_type": "PERSON", "start_position": 0,\n'
        ' "end_position": 7, "entity_value": "Ann Lee"}]}]\n'
    },
    "i2b2": {
        "a.xml": '<?xml version="1.0"?>\n<a>\n<TEXT>Ann Lee came.</TEXT>\n<TAGS>\n'
        '<NAME start="0" end="7" text="Ann Lee" TYPE="PATIENT" />\n</TAGS>\n</a>\n'
    },
    "brat": {"a.txt": "Ann Lee came.\n", "a.ann": ANN},
    "txt": {"a.txt": "Ann Lee came.\n"},
}


@pytest.mark.parametrize("name", LF_FILES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_byte_order_mark_and_cr_lf_in_every_text_format(
    desk: Desk, name: str, mark: bytes, end: bytes
) -> None:
    for file, content in LF_FILES[name].items():
        desk.put(file, mark + content.encode().replace(b"\n", end))
    (document,) = desk.documents("--format", name, "--strict")
    # A text that is the file itself keeps the file's line end; no other text holds one here.
    assert document["text"] == "Ann Lee came." + (end.decode() if name in ("brat", "txt") else "")
    if name == "txt":
        assert document["spans"] is None
    else:
        assert surfaces([document]) == ["Ann Lee"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.txt", b"Ann\0Lee", "a.txt:1: holds NUL bytes"),
        ("a.jsonl", b'{"text": "Ann\0Lee"}\n', "a.jsonl:1: not JSON"),
        ("a.csv", b"id,text\nx,Ann\0Lee\n", "a.csv:2: holds NUL bytes"),
        ("a.xml", b"<a>\n<TEXT>Ann\0Lee</TEXT></a>", "a.xml:2: not well-formed XML"),
        ("a.conll", b"Ann O\n\nA\0B B-PER\n", "a.conll:3: holds NUL bytes"),
    ],
)
def test_nul_bytes(desk: Desk, name: str, content: bytes, problem: str) -> None:
    desk.put(name, content)
    assert f"{desk.corpus}/{problem}" in desk.refused("--strict")


# --- spans that are wrong ---


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        ((8, 14, "NAME"), "outside the text"),
        ((40, 50, "NAME"), "outside the text"),
        ((10**30, 10**30 + 3, "NAME", "Lee"), "outside the text"),
        ((-3, 2, "NAME"), "negative"),
        ((7, 4, "NAME"), "reversed"),
        ((4, 4, "NAME"), "empty"),
        (("0", 3, "NAME"), "malformed"),
        ((0, 3.0, "NAME"), "malformed"),
        ((7, 8, "NAME"), "blank"),
        ((0, 3, "NAME", "Bob"), "surface not found"),
        ((0, 3, "NAME", "&#" + "1" * 5000 + ";"), "surface not found"),
    ],
)
def test_a_wrong_span_is_dropped_and_counted_or_an_error_that_names_it(
    desk: Desk, span: tuple[Any, ...], reason: str
) -> None:
    """ "Ann Lee came." has 13 characters."""
    desk.put("a.jsonl", GOOD + line("Ann Lee came.", (0, 3, "NAME"), span))
    assert f"error: {desk.corpus}/a.jsonl:2, spans[1]: {reason}. To mend: " in desk.refused("--strict")
    spans = desk.account()["spans"]
    assert spans["outcomes"] == {"exact": 2, "relocated": 0, "trimmed": 0, "dropped": 1}
    assert spans["drop_reasons"] == {reason: 1}


#        0123456789012345678901234567890123456
TEXT = "Lee, Ng; Roe. Poe, Doe; Moe; Woe: all"
NAMES = ("Lee", "Ng", "Roe", "Poe", "Doe", "Moe", "Woe")


def counted_as(convention: str, text: str, stored: bool) -> str:
    """A line with a span for each name, its offsets counted by encoding what stands before it."""

    def length(part: str) -> int:
        if convention == "utf16":
            return len(part.encode("utf-16-le")) // 2
        return len(part.encode()) if convention == "bytes" else len(part)

    spans = []
    for name in NAMES:
        before = text[: text.index(name)]
        end = length(before + name) - (convention == "inclusive")
        spans.append((length(before), end, "NAME", *([name] if stored else [])))
    return line(text, *spans)


@pytest.mark.parametrize(
    ("convention", "text"),
    [("inclusive", TEXT), ("utf16", f"😀 {TEXT}"), ("bytes", f"é {TEXT}")],
)
def test_offsets_that_are_counted_in_another_way(desk: Desk, convention: str, text: str) -> None:
    desk.put("a.jsonl", counted_as(convention, text, stored=True))
    done = desk.run()
    assert done.code == 0
    assert surfaces([json.loads(desk.out.read_text(encoding="utf-8"))]) == list(NAMES)
    assert "their surface texts prove it, and they were moved" in done.log
    desk.out.unlink()

    desk.put("a.jsonl", counted_as(convention, text, stored=False))
    message = desk.refused()
    assert "offsets seem to be counted in another way: 7 of 7 spans cut a word or take in" in message
    assert f"set offsets to {convention}" in message
    assert surfaces(desk.documents("--offsets", convention)) == list(NAMES)


def test_offsets_in_a_convention_that_does_not_exist(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    assert "To mend: use one of auto, characters, inclusive, utf16, bytes" in desk.refused(
        "--offsets", "points"
    )


def test_combining_and_zero_width_characters(desk: Desk) -> None:
    # NFD: "Rene" + U+0301 + "e" is 6 code points, the surface is NFC with 5. Offsets 0-6 hold it.
    desk.put("a.jsonl", line("Rene\u0301e Roe", (0, 6, "NAME", "Renée")))
    # Two to the right of where it stands: found by its surface, still the 6 code points of the text.
    desk.put("b.jsonl", line("Rene\u0301e Roe", (2, 8, "NAME", "Renée")))
    # U+200B at both edges is cut off; inside it stays.
    desk.put("c.jsonl", line("\u200bLe\u200be\u2060 came", (0, 6, "NAME")))
    assert surfaces(desk.documents()) == ["Rene\u0301e", "Rene\u0301e", "Le\u200be"]


def test_empty_documents(desk: Desk) -> None:
    desk.put("a.jsonl", line("") + line(" \n\u200b") + GOOD)
    assert f"{desk.corpus}/a.jsonl:1: no text" in desk.refused("--strict")
    account = desk.account()
    assert account["rejected"] == {"documents": 2, "reasons": {"no text": 2}}
    assert account["read"]["documents"] == 1


def test_a_value_that_is_a_number_too_long_to_print(desk: Desk) -> None:
    """As Python prints the list, and in hexadecimal, which has no limit to its digits when read."""
    mask = "[{'value': 0x" + "f" * 4500 + ", 'start': 0, 'end': 3, 'label': 'FIRSTNAME'}]"
    desk.put("a.jsonl", json.dumps({"source_text": "Ann Lee", "privacy_mask": mask}) + "\n")
    assert f"{desk.corpus}/a.jsonl:1, privacy_mask[0]: surface blank" in desk.refused("--strict")


def test_twenty_thousand_spans_in_one_document(desk: Desk) -> None:
    words = [f"Lee{number:05d}" for number in range(20_000)]  # 8 characters and a blank each
    desk.put("a.jsonl", line(" ".join(words), *((9 * n, 9 * n + 8, "NAME", w) for n, w in enumerate(words))))
    began = time.monotonic()
    assert surfaces(desk.documents()) == words
    assert time.monotonic() - began < 10


# --- sizes ---

MEASURE = """
import resource, sys, time
from pathlib import Path
from phidrift.core.errors import PhidriftError
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents
import phidrift.corpora.readers.i2b2, phidrift.corpora.readers.jsonl, numpy
def peak():  # MB; ru_maxrss would be the parent's at the time of the fork
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
before, began, reading = peak(), time.monotonic(), Reading()
try:
    print("read", len(list(harmonised_documents(CorpusSource("c", Path(sys.argv[1]), sys.argv[2]), reading))))
except PhidriftError as error:
    print(error.problem)
print(dict(reading.rejected))
print(peak() - before, time.monotonic() - began)
"""


def measured(path: Path, name: str) -> tuple[str, float, float]:
    """(what was said, MB more than before, seconds) of reading a path in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path), name],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    *said, numbers = done.stdout.strip().split("\n")
    memory, seconds = map(float, numbers.split())
    return "\n".join(said), memory, seconds


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="peak memory is read from /proc"
)


@needs_proc
def test_a_document_of_50_mb_on_one_line_is_rejected_in_bounded_memory(desk: Desk) -> None:
    path = desk.put("a.jsonl", '{"text": "' + "Lee " * 12_500_000 + '"}\n' + GOOD)
    said, memory, seconds = measured(path, "jsonl")
    assert said == "read 1\n{'larger than 20 MB': 1}"
    assert memory < 100
    assert seconds < 5


@needs_proc
@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("a.jsonl.gz", "jsonl"),
        ("a.csv.gz", "table"),
        ("a.txt.gz", "txt"),
        ("a.xml.gz", "i2b2"),
        ("a.conll.gz", "conll"),
    ],
)
def test_100_mb_of_zeros_in_100_kb_of_gzip(desk: Desk, name: str, format_name: str) -> None:
    path = desk.put(name, gzip.compress(bytes(100_000_000), 6))
    assert path.stat().st_size < 200_000
    said, memory, seconds = measured(path, format_name)
    assert said.startswith("no readable document (1 rejected), most often: larger than 20 MB (1)")
    assert memory < 150
    assert seconds < 5


def test_deep_nesting(desk: Desk) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    desk.put(
        "a.jsonl",
        f'{{"text": "x", "spans": {deep}}}\n{{"text": "y", "meta": {deep[99_500:100_500]}}}\n{GOOD}',
    )
    assert [document["text"] for document in desk.documents()] == ["y", "Ann Lee came."]


def test_a_table_of_200_columns(desk: Desk) -> None:
    names = [f"c{number}" for number in range(199)]
    desk.put("a.csv", ",".join([*names, "text"]) + "\n" + "1," * 199 + "Lee came\n" + "1," * 198 + "short\n")
    assert f"{desk.corpus}/a.csv:3: has 199 fields, the header 200" in desk.refused("--strict")
    assert [document["text"] for document in desk.documents()] == ["Lee came"]
    desk.out.unlink()
    desk.put("a.csv", ",".join(names) + "\n" + ",".join("1" * 199) + "\n")
    message = desk.refused()
    assert "which field holds the text? none of the usual names" in message
    assert "state text_field; there are c0, c1, c2, " in message
    assert ", c18, c19, 179 more; its format was" in message  # the first twenty are enough


# --- ids and names ---


def test_ids_are_unique_and_stay_inside(desk: Desk) -> None:
    ids = ["a", "a", "../../etc/x", "a/b", "a\nb", "a\0b", "", "\u202ea", "a-2", "a"]
    desk.put(
        "n.jsonl", "".join(line(f"Text {n}", id=i) for n, i in enumerate(ids)) + line("Text", id="n-000007")
    )
    before = set(desk.folder.rglob("*"))
    found = [document["id"] for document in desk.documents()]
    assert found[:3] == ["corpus-a", "corpus-a-2", "corpus-.._.._etc_x-56da1a2e"]
    # Three names that differ in one character only, which can't stay: told apart by their SHA-256.
    assert found[3:6] == ["corpus-a_b-c14cddc0", "corpus-a_b-7e18f737", "corpus-a_b-59b271ae"]
    # The empty id is none: the seventh line's own. "a-2" is taken, and so is what line 7 was called.
    assert found[6:] == [
        "corpus-n-000007",
        "corpus-_a-5fb14ac8",
        "corpus-a-2-2",
        "corpus-a-3",
        "corpus-n-000007-2",
    ]
    assert set(desk.folder.rglob("*")) - before == {desk.out, desk.out.parent}


def test_one_id_for_ten_thousand_documents(desk: Desk) -> None:
    desk.put("a.jsonl", line("Lee came.", id="same") * 10_000)
    began = time.monotonic()
    found = {document["id"] for document in desk.documents()}
    assert time.monotonic() - began < 8
    assert len(found) == 10_000
    assert "corpus-same-10000" in found


@pytest.mark.parametrize(
    "label",
    [
        "[/b]",
        "[bold]",
        "\ud800",
        "\x1b[31mred",
        "a\nb",
    ],
)
def test_labels_that_are_markup_or_no_text(desk: Desk, label: str) -> None:
    desk.put("a.jsonl", line("Ann Lee came.", (0, 7, label)) + GOOD)
    (shown,) = set(desk.account()["labels"]) - {"NAME"}
    assert shown.isprintable()
    done = desk.run()
    assert done.code == 0
    assert "\x1b" not in done.stdout
    assert shown in done.stdout


def test_a_label_map_with_mistakes(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    labels = desk.folder / "labels.yaml"
    for content, message in (
        (
            "PERSONS: [NAME]",
            "unknown entity 'PERSONS'. To mend: use one of ADDRESS, CONTACT, DATE, PERSON; did you mean PERSON?",
        ),
        ("PERSON: [NAME]\nDATE: [name]", "label NAME stands under PERSON and DATE"),
        ("PERSON: NAME", "PERSON must have a list of labels"),
        ("PERSON: [", "not YAML"),
        ("PERSON: [2001-99-99]", "not YAML"),
        ("- PERSON", "a label map is a mapping of entities to lists of labels"),
        ("", "a label map is a mapping of entities to lists of labels"),
    ):
        labels.write_text(content)
        assert f"error: {labels}: {message}" in desk.refused("--label-map", labels)
    missing = desk.folder / "none.yaml"
    assert f"error: {missing}: this label map can't be read" in desk.refused("--label-map", missing)


# --- paths ---


def test_no_readable_file(desk: Desk) -> None:
    desk.put("scan.pdf", "x")
    desk.put("Makefile", "x")
    message = desk.refused()
    assert f"error: {desk.corpus}: no file in a format that is known; endings seen: , .pdf" in message
    assert "To mend: name the format," in message
    assert "no *.xml (or such a file gzipped) here or below" in desk.refused("--format", "i2b2")


@pytest.mark.parametrize("name", ["none", "none.jsonl", "a.jsonl/inside"])
def test_a_path_that_does_not_exist(desk: Desk, name: str) -> None:
    desk.put("a.jsonl", GOOD)
    message = desk.refused(path=desk.corpus / name)
    assert "To mend: " in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_without_permission(desk: Desk) -> None:
    path = desk.put("a.jsonl", GOOD)
    path.chmod(0)
    assert f"error: {path}: can't be opened (Permission denied)" in desk.refused()


def test_a_folder_that_cannot_be_listed_is_not_passed_over(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a user without permission: what lies inside would be missing without a word."""
    desk.put("a.jsonl", GOOD)
    desk.put("locked/b.jsonl", GOOD)
    real = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert f"error: {desk.corpus / 'locked'}: can't be listed (Permission denied)" in desk.refused()


def test_nothing_is_written_into_the_corpus(desk: Desk) -> None:
    path = desk.put("a.jsonl", GOOD)
    content = path.read_bytes()
    for corpus, out in ((path, path), (desk.corpus, path), (desk.corpus, desk.corpus / "sub" / "new.jsonl")):
        done = desk.call("harmonize", corpus, "--out", out)
        assert done.code == 2
        assert f"error: {out}: this would overwrite an input" in done.stderr
    assert [file.name for file in desk.corpus.rglob("*")] == ["a.jsonl"]
    assert path.read_bytes() == content


def test_no_report_is_written_into_the_corpus(desk: Desk) -> None:
    path = desk.put("a.jsonl", GOOD)
    done = desk.run("--report", path)
    assert done.code == 2
    assert path.read_text() == GOOD


def test_no_output_over_another_or_over_the_label_map(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    assert f"error: {desk.out}: two outputs have this name" in desk.refused("--report", desk.out)
    labels = desk.folder / "labels.yaml"
    labels.write_text("PERSON: [NAME]")
    done = desk.call("harmonize", desk.corpus, "--out", labels, "--label-map", labels)
    assert done.code == 2
    assert f"error: {labels}: this would overwrite an input" in done.stderr
    assert f"error: {labels}: this would overwrite" in desk.refused("--label-map", labels, "--report", labels)
    assert labels.read_text() == "PERSON: [NAME]"


def test_an_output_that_is_no_file(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    pipe = desk.folder / "pipe"
    os.mkfifo(pipe)
    done = desk.call("harmonize", desk.corpus, "--out", pipe)
    assert done.code == 2
    assert f"error: {pipe}: this is no plain file" in done.stderr
    assert pipe.is_fifo()
    done = desk.call("harmonize", desk.corpus, "--out", desk.folder / "o.jsonl.gz")
    assert done.code == 2
    assert "outputs are not compressed. To mend: leave .gz out" in done.stderr


def test_two_corpora_of_one_name_are_told_apart_by_their_paths(desk: Desk) -> None:
    one, two = desk.put("one/notes.jsonl", GOOD), desk.put("two/notes.jsonl", GOOD * 2)
    done = desk.call("corpora", one, two, "--out", desk.folder / "tables")
    assert done.code == 0, done.stderr
    for name in ("sizes.csv", "labels.csv"):
        with (desk.folder / "tables" / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["corpus"] for row in rows] == [str(one), str(two)]
    with (desk.folder / "tables" / "sizes.csv").open(encoding="utf-8", newline="") as file:
        assert [row["documents"] for row in csv.DictReader(file)] == ["1", "2"]


def test_an_output_that_cannot_be_written(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    (desk.folder / "out").write_text("a file where a folder should be")
    done = desk.run()
    assert done.code == 2
    assert str(desk.folder / "out") in done.stderr


def test_a_file_named_like_an_output_is_read_like_any_other(desk: Desk) -> None:
    desk.put("notes.jsonl", GOOD)
    desk.put(".notes.jsonl.123.tmp", "left by someone else")
    assert surfaces(desk.documents()) == ["Ann Lee"]
    assert desk.run(path=desk.corpus / "notes.jsonl").code == 0


def test_a_loop_of_folders(desk: Desk) -> None:
    desk.put("sub/a.jsonl", GOOD)
    (desk.corpus / "sub" / "loop").symlink_to(desk.corpus)
    (desk.corpus / "self.jsonl").symlink_to(desk.corpus / "self.jsonl")
    assert len(desk.documents()) == 1


# --- formats ---


def test_an_unknown_format(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    message = desk.refused("--format", "xml")
    assert "error: no format 'xml'. To mend: use one of i2b2, multileg, ai4privacy, jsonl" in message


def test_a_wrong_format_says_what_it_looks_like(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    message = desk.refused("--format", "presidio")
    assert "no readable document (1 rejected), most often: field 'full_text' must be a string (1)" in message
    assert "it was read as presidio, but looks like jsonl: set the format to jsonl" in message


def test_a_wrong_guess_says_that_it_was_one(desk: Desk) -> None:
    desk.put("a.jsonl", '{"words": "Ann Lee"}\n')
    guess = "its format was recognised as jsonl: if that is wrong, name the right one"
    assert guess in desk.refused()
    assert guess not in desk.refused("--format", "jsonl")


# --- one among many ---


def test_one_bad_document_costs_itself_alone_and_no_text_leaks(desk: Desk) -> None:
    bad = '{"text": "SECRET Roe 555-0133", "spans": [\n'
    wrong = line("SECRET Poe, 555-0134", (0, 99, "NAME", "SECRET Poe"), (3, 2, "NAME"))
    desk.put("a.jsonl", GOOD + bad + wrong + '{"text": 5}\n' + GOOD)
    assert f"error: {desk.corpus}/a.jsonl:2: not JSON" in desk.refused("--strict")
    report = desk.folder / "report.json"
    done = desk.run("--report", report)
    assert done.code == 0
    assert "3 documents, recognised as jsonl" in done.stdout
    assert f"{desk.corpus}/a.jsonl:2: document skipped: not JSON" in done.log
    assert f"{desk.corpus}/a.jsonl:4: document skipped: field 'text' must be a string" in done.log
    assert f"{desk.corpus}/a.jsonl:3, spans[1]: span dropped: reversed" in done.log
    account = json.loads(report.read_text())
    assert account["rejected"] == {
        "documents": 2,
        "reasons": {"not JSON": 1, "field 'text' must be a string": 1},
    }
    # 0-99 is past the end, but its surface is found where it starts.
    assert account["spans"]["outcomes"] == {"exact": 2, "relocated": 1, "trimmed": 0, "dropped": 1}
    for shown in (done.stdout, done.stderr, done.log, report.read_text()):
        assert "SECRET" not in shown
        assert "555-01" not in shown
