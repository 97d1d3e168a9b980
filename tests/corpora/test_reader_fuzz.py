"""Any bytes under any format: documents that obey the schema and accounts that add up, or the one error for users.

The examples are the same at each run. `PHIDRIFT_FUZZ=2000 pytest tests/corpora/test_reader_fuzz.py` tries that many
fresh ones of each kind.
"""

import gzip
import io
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phidrift.core.document import ENTITIES, parse_document
from phidrift.core.errors import PhidriftError
from phidrift.corpora.formats import FORMATS
from phidrift.corpora.label_maps import entity_of, read_label_map
from phidrift.corpora.offsets import OFFSETS, converter
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents
from phidrift.corpora.reading_report import reading_report
from phidrift.corpora.recognise import recognised_format
from phidrift.corpora.source import ReadOptions

WANTED = int(os.environ.get("PHIDRIFT_FUZZ", "0"))


def fuzz(examples: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=WANTED or examples,
        derandomize=not WANTED,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


# A small valid corpus of each format: objects for those of rows, bytes for the others.
TEXT = "Seen by Ann Lee 😀 on 3/4,\ncall 555-0101."
#       0123456789012345678901234 5
RECORDS: dict[str, list[dict[str, Any]]] = {
    "multileg": [
        {"text": TEXT, "label": [[8, 15, "PER"], [21, 24, "DATE"]]},
        {"text": "No entity, é.", "label": []},
    ],
    "ai4privacy": [
        {
            "source_text": TEXT,
            "target_text": "Seen by [FULLNAME_1] 😀 on [DATE_1],\ncall [TEL_1].",
            "privacy_mask": [{"value": "Ann Lee", "start": 8, "end": 15, "label": "FULLNAME_1"}],
            "uid": 7,
            "language": "en",
            "set": "train",
        },
        {
            "source_text": TEXT,
            "privacy_mask": "{'[DATE_1]': '3/4'}",
            "span_labels": "[[0, 21, 'O'], [21, 24, 'DATE_1']]",
        },
        {
            "unmasked_text": TEXT,
            "privacy_mask": "[{'value': '3/4', 'start': 21, 'end': 24, 'label': 'DATE'}]",
        },
        {
            "Template": "Seen by [FULLNAME_1] 😀 on [DATE_1],\ncall [TEL_1].",
            "Filled Template": TEXT,
        },
    ],
    "jsonl": [
        {
            "id": "a",
            "text": TEXT,
            "spans": [
                {"start": 8, "end": 15, "label": "NAME", "text": "Ann Lee"},
                {"start": 11, "end": 15, "label": "PERSON"},
                {"start": 0, "end": 4, "label": "EVENT"},
            ],
            "meta": {"split": "test", "group": "g"},
        },
        {"id": 2, "text": "Unlabelled é.", "spans": None},
        {"text": TEXT, "spans": [[21, 24, "DATE"]]},
    ],
    "label-studio": [
        {
            "id": 1,
            "data": {"text": TEXT},
            "annotations": [
                {
                    "was_cancelled": False,
                    "result": [
                        {
                            "type": "labels",
                            "value": {"start": 8, "end": 15, "text": "Ann Lee", "labels": ["PERSON"]},
                        },
                        {"type": "choices", "value": {"choices": ["x"]}},
                    ],
                }
            ],
        },
        {"id": 2, "text": TEXT, "label": [{"start": 21, "end": 24, "text": "3/4", "labels": ["DATE"]}]},
    ],
    "presidio": [
        {
            "full_text": TEXT,
            "template_id": 3,
            "spans": [
                {"entity_type": "PERSON", "entity_value": "Ann Lee", "start_position": 8, "end_position": 15}
            ],
        },
        {"full_text": "None.", "spans": []},
    ],
    "pii-anon": [
        {
            "record_id": "r1",
            "text": TEXT,
            "language": "en",
            "annotations": [
                {
                    "entity_type": "PERSON_NAME",
                    "start": 8,
                    "end": 15,
                    "text": "Ann Lee",
                    "nested_entities": [{"entity_type": "FIRST_NAME", "start": 8, "end": 11}],
                }
            ],
        },
        {"record_id": "r2", "text": "None.", "language": "en", "annotations": []},
    ],
}
RECORDS["table"] = [
    {"id": "a", "text": TEXT, "spans": '[{"start": 8, "end": 15, "label": "NAME", "text": "Ann Lee"}]'},
    {"id": "b", "text": "Unlabelled; é.", "spans": None},
]
XML = (
    f'<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[{TEXT}]]></TEXT>\n<TAGS>\n'
    '<NAME id="P0" start="8" end="15" text="Ann Lee" TYPE="DOCTOR" comment="" />\n'
    '<DATE id="P1" start="21" end="24" text="3/4" TYPE="DATE" comment="" />\n</TAGS>\n</deIdi2b2>\n'
)
CONLL = "-DOCSTART- O\n\nSeen O\nby O\nAnn B-PER\nLee I-PER\n\n# id 3\n3/4 B-DATE\n\n-DOCSTART- O\n\nLee S-PER\né O\n"
ANN = "T1\tNAME 8 11;12 15\tAnn Lee\nT2\tDATE 21 24\t3/4\nR1\tOf Arg1:T1 Arg2:T2\n#1\tAnnotatorNotes T1\tx\n"
JSON_SUFFIXES = (".jsonl", ".json", ".ndjson")
TABLES = (".csv", ".tsv", ".parquet")
SUFFIXES = {
    "i2b2": (".xml",),
    "multileg": (".jsonl",),
    "ai4privacy": JSON_SUFFIXES + TABLES,
    "jsonl": JSON_SUFFIXES,
    "table": TABLES,
    "label-studio": JSON_SUFFIXES,
    "conll": (".conll", ".conll2003", ".bio", ".iob", ".iob2", ".bioes", ".txt", ".tsv"),
    "brat": (".txt", ".ann"),
    "presidio": JSON_SUFFIXES,
    "pii-anon": JSON_SUFFIXES,
    "txt": (".txt", ".text"),
    "datasets": ("data-00000-of-00001.arrow", "dataset_info.json", "state.json"),
}
OPTIONS = (
    *(ReadOptions() for _ in range(4)),
    ReadOptions(text_field="text"),
    ReadOptions(group_field="id"),
    ReadOptions(encoding="latin-1"),
    ReadOptions(encoding="cp1252"),
    ReadOptions(encoding="shift_jis"),
)
_SAFE = re.compile(r"[A-Za-z0-9._-]+")


def test_every_format_is_tried() -> None:
    assert SUFFIXES.keys() == FORMATS.keys()


@cache
def saved_dataset() -> dict[str, bytes]:
    """The files that `datasets` saves for two rows."""
    import datasets

    rows = [
        {"text": TEXT, "spans": [{"start": 8, "end": 15, "label": "NAME"}], "id": "a"},
        {"text": "None.", "spans": [], "id": "b"},
    ]
    with tempfile.TemporaryDirectory() as folder:
        datasets.disable_progress_bars()
        datasets.Dataset.from_list(rows).save_to_disk(folder)
        return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def encoded(records: list[dict[str, Any]], suffix: str, as_array: bool = False) -> bytes:
    """Records as a file with this suffix."""
    if suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        file = io.BytesIO()
        names = list(dict.fromkeys(name for record in records for name in record))
        columns = {name: [record.get(name) for record in records] for name in names}
        try:
            pyarrow.parquet.write_table(pyarrow.table(columns), file)
        except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError):  # values of several types
            columns = {name: [json.dumps(value) for value in values] for name, values in columns.items()}
            file = io.BytesIO()
            pyarrow.parquet.write_table(pyarrow.table(columns), file)
        return file.getvalue()
    if suffix in (".csv", ".tsv"):
        import csv

        text = io.StringIO()
        names = list(dict.fromkeys(name for record in records for name in record))
        writer = csv.writer(text, delimiter="\t" if suffix == ".tsv" else ",")
        writer.writerow(names)
        for record in records:
            values = [record.get(name) for name in names]
            writer.writerow([json.dumps(v) if isinstance(v, list | dict) else v for v in values])
        return text.getvalue().encode("utf-8", "surrogatepass")
    lines = [json.dumps(record) for record in records]
    return (f"[{', '.join(lines)}]" if as_array else "\n".join(lines)).encode()


def check(path: Path, name: str, options: ReadOptions, offsets: str) -> None:
    """Reads a path as a format: the one error, or documents by the schema and counts that add up."""
    source, reading = CorpusSource("fuzz", path, name, options=options, offsets=offsets), Reading()
    documents, failure = [], None
    try:
        for document in harmonised_documents(source, reading):
            assert parse_document(json.loads(json.dumps(document.to_json())), "here") == document
            documents.append(document)
    except PhidriftError as error:
        failure = error
    assert failure is None or (failure.problem and failure.mend)
    assert bool(documents) or failure is not None  # never nothing at all, without a word
    assert reading.documents == len(documents)
    assert reading.unlabelled == sum(document.spans is None for document in documents)
    assert len({document.id for document in documents}) == len(documents)
    for document in documents:
        assert document.text.strip()
        assert _SAFE.fullmatch(document.id)
        assert document.meta["split"] in ("train", "test", None)
    counts = reading.spans
    assert counts.outcomes["dropped"] == counts.drop_reasons.total()
    kept = sum(len(document.spans or ()) for document in documents)
    assert counts.outcomes.total() - counts.outcomes["dropped"] == kept
    mapped = sum(n for label, n in counts.labels.items() if entity_of(label, source.label_map))
    # Every mapped span has one outcome; the rest are entries that are no span at all.
    assert 0 <= counts.outcomes.total() - mapped <= counts.drop_reasons["malformed"]
    report = json.dumps(reading_report(source, reading), ensure_ascii=False, allow_nan=False)
    assert report.encode("utf-8")
    with suppress(PhidriftError):
        assert recognised_format(path, options) in FORMATS


def stored(folder: Path, name: str, suffix: str, content: bytes) -> Path:
    """The content as a file of a corpus, with what else its format wants beside it; the path to read."""
    if name == "datasets":
        for file, rest in saved_dataset().items():
            (folder / file).write_bytes(rest)
        (folder / suffix).write_bytes(content)
        return folder
    (folder / f"notes{suffix}").write_bytes(content)
    if name == "brat":
        other, rest = (".ann", ANN) if suffix == ".txt" else (".txt", TEXT)
        (folder / f"notes{other}").write_text(rest, encoding="utf-8")
    return folder


def read_as(data: st.DataObject, name: str, suffix: str, content: bytes) -> None:
    packed = name != "datasets" and data.draw(st.integers(0, 4), "gzip") == 0
    options, offsets = (
        data.draw(st.sampled_from(OPTIONS)),
        data.draw(st.sampled_from(OFFSETS + ("auto",) * 4)),
    )
    with tempfile.TemporaryDirectory() as folder:
        stored(Path(folder), name, suffix, gzip.compress(content, 1, mtime=0) if packed else content)
        check(Path(folder), name, options, offsets)


CASES = [(name, suffix) for name, suffixes in SUFFIXES.items() for suffix in suffixes]


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_the_sample_itself_reads_whole(name: str, suffix: str, tmp_path: Path) -> None:
    path = stored(tmp_path, name, suffix, sample(name, suffix))
    check(path, name, ReadOptions(), "auto")
    reading = Reading()
    documents = list(harmonised_documents(CorpusSource("fuzz", path, name), reading))
    assert not reading.rejected
    assert not reading.spans.drop_reasons.keys() - {"overlap"}
    if name != "txt":
        assert any(document.spans for document in documents)


def sample(name: str, suffix: str) -> bytes:
    if name in RECORDS:
        return encoded(sampled_records(name, suffix), suffix)
    if name == "datasets":
        return saved_dataset()[suffix]
    if name == "brat":
        return (TEXT if suffix == ".txt" else ANN).encode()
    return {"i2b2": XML, "conll": CONLL, "txt": TEXT}[name].encode()


def sampled_records(name: str, suffix: str) -> list[dict[str, Any]]:
    """In a table every row has the same fields, so that one release of Ai4Privacy stands there alone."""
    return RECORDS[name][:1] if name == "ai4privacy" and suffix in TABLES else RECORDS[name]


ALPHABET = (
    b'\x00\x01\n\r\t ",;:<>&#[]{}()-_\\/0159aNTO\x80\xbf\xc3\xe2\xed\xa0\xf0\x9f\x98\xff\xfe\xef\xbb\x1f\x8b'
)
noise = st.binary(max_size=200) | st.lists(st.sampled_from(ALPHABET), max_size=200).map(bytes)


@pytest.mark.parametrize(("name", "suffix"), CASES)
@fuzz(12)
@given(noise, st.data())
def test_noise(name: str, suffix: str, content: bytes, data: st.DataObject) -> None:
    start = data.draw(
        st.sampled_from((b"", b"", b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\xef\xbb\xbf", b"PAR1"))
    )
    read_as(data, name, suffix, start + content)


@pytest.mark.parametrize(("name", "suffix"), CASES)
@fuzz(25)
@given(st.data())
def test_bytes_changed(name: str, suffix: str, data: st.DataObject) -> None:
    content = sample(name, suffix)
    for _ in range(data.draw(st.integers(1, 4))):
        content = changed(data, content)
    read_as(data, name, suffix, content)


def changed(data: st.DataObject, content: bytes) -> bytes:
    place = data.draw(st.integers(0, len(content)))
    match data.draw(st.integers(0, 5)):
        case 0:  # one byte another
            return content[:place] + bytes([data.draw(st.integers(0, 255))]) + content[place + 1 :]
        case 1:  # cut off
            return content[:place]
        case 2:  # a stretch left out
            return content[:place] + content[place + data.draw(st.integers(1, 30)) :]
        case 3:  # a stretch from elsewhere put in
            other = data.draw(st.integers(0, len(content)))
            return content[:place] + content[other : other + data.draw(st.integers(1, 60))] + content[place:]
        case 4:  # noise put in
            return content[:place] + data.draw(noise) + content[place:]
    lines = content.split(b"\n")  # a line twice
    number = data.draw(st.integers(0, len(lines) - 1))
    return b"\n".join([*lines[: number + 1], *lines[number:]])


SURFACES = (
    "Ann Lee",
    "3/4",
    "&#" + "1" * 5000 + ";",
    "0x" + "f" * 4500,
    "\ud800",
    "[/b]",
    "\x00\n",
    " \u200b",
    "😀",
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 60)
    | st.sampled_from((10**30, -(10**400), 2**63, 1.5, float("nan"), float("inf"), 1e308))
    | st.sampled_from(SURFACES)
    | st.sampled_from(
        ("[[8, 15, 'NAME']]", '[{"start": 8}]', "[" * 3000, "{'a': 0x" + "f" * 4500 + "}", "text", "en")
    )
    | st.text(st.characters(), max_size=8)
)
keys = st.sampled_from(("start", "text", "label", "é"))
flat = scalars | st.lists(scalars, max_size=4) | st.dictionaries(keys, scalars, max_size=3)
junk = flat | st.lists(flat, max_size=3) | st.dictionaries(keys, flat, max_size=3)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(holder, key) of everything inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


@pytest.mark.parametrize(("name", "suffix"), [case for case in CASES if case[0] in RECORDS])
@fuzz(40)
@given(st.data())
def test_values_of_other_types(name: str, suffix: str, data: st.DataObject) -> None:
    records = json.loads(json.dumps(sampled_records(name, suffix)))
    for _ in range(data.draw(st.integers(1, 4))):
        found = list(places(records))
        holder, key = found[data.draw(st.integers(0, len(found) - 1))]
        if isinstance(holder, dict) and data.draw(st.integers(0, 5)) == 0:
            del holder[key]
        elif suffix not in TABLES or holder is not records:
            holder[key] = data.draw(junk)
        if not list(places(records)):
            break
    if suffix in TABLES:
        content = encoded(records, suffix)
    else:
        lines = [json.dumps(record) for record in records]
        content = (f"[{', '.join(lines)}]" if data.draw(st.booleans()) else "\n".join(lines)).encode()
    read_as(data, name, suffix, content)


yaml_bytes = (
    st.binary(max_size=60)
    | st.lists(
        st.sampled_from(list(b"\n :-[]{},?&*!#|>'\"%@0123.ePERSONDAT\xc3\xa9\x85\x00")), max_size=60
    ).map(bytes)
    | st.dictionaries(st.sampled_from(ENTITIES) | scalars, junk, max_size=3).map(
        lambda value: yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "replace")
    )
    | st.tuples(
        st.sampled_from(("PERSON: ", "? ", "- ", "PERSON: [")),
        st.sampled_from(
            ("!!int", "!!float", "!!bool", "!!timestamp", "!!binary", "!!set", "!!omap", "!!pairs", "!!x", "")
        ),
        st.sampled_from(
            (" a", " 2001-99-99", " 0x" + "f" * 4500, " " + "1" * 5000, " {a: 1}", " [a]", " &a [*a]", "")
        ),
    ).map(lambda parts: "".join(parts).encode())
)


@fuzz(400)
@given(yaml_bytes)
def test_label_maps_of_any_bytes(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.yaml")
        path.write_bytes(content)
        with suppress(PhidriftError):
            assert set(read_label_map(path).values()) <= set(ENTITIES)


wide = st.text(st.characters() | st.sampled_from("😀é\ud83d\ude00\ud800a\u0301\n"), max_size=12)


@fuzz(300)
@given(wide, st.integers(-2, 52), st.integers(-2, 52))
def test_offsets_as_prefixes_encode(text: str, start: int, end: int) -> None:
    """Every pair of offsets, right or not, against the lengths of all prefixes."""
    for convention, encoding, unit in (("utf16", "utf-16-le", 2), ("bytes", "utf-8", 1)):
        length = {
            len(text[:place].encode(encoding, "surrogatepass")) // unit: place
            for place in range(len(text) + 1)
        }
        expected = (
            (length[start], length[end]) if start in length and end in length and start <= end else None
        )
        assert converter(text, convention)(start, end) == expected
