"""CoNLL columns: tags of every scheme against segments and seqeval, documents against hand-made and real files."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import NUL, TOO_LARGE
from phidrift.corpora.readers.conll import LONE_CR, NO_TAG, NUMBERED, decode_tags, read_conll, text_and_spans
from phidrift.corpora.source import RawDocument, RawSpan, ReadOptions

SHARED = Path(__file__).parents[3] / "shared" / "corpora"
Problems = list[tuple[str, str]]
Segment = tuple[int, str | None]  # tokens, type or None outside


def read(path: Path, options: ReadOptions | None = None) -> tuple[list[RawDocument], Problems]:
    rejected: Problems = []
    documents = list(
        read_conll(path, options or ReadOptions(), lambda where, reason: rejected.append((where, reason)))
    )
    return documents, rejected


def found(document: RawDocument) -> list[tuple[str, str]]:
    """(text at the offsets, label) of each span, which must be its surface too."""
    assert document.spans is not None
    assert all(document.text[span.start : span.end] == span.surface for span in document.spans)
    return [(document.text[span.start : span.end], span.label) for span in document.spans]


def spans_of(segments: list[Segment]) -> list[tuple[int, int, str]]:
    spans, at = [], 0
    for length, label in segments:
        if label is not None:
            spans.append((at, at + length, label))
        at += length
    return spans


def tagged(segments: list[Segment], scheme: str) -> list[str]:
    """The tags of the segments as the scheme's own definition has them, written without regard to the decoder."""
    tags: list[str] = []
    for number, (length, label) in enumerate(segments):
        before = segments[number - 1][1] if number else None
        after = segments[number + 1][1] if number + 1 < len(segments) else None
        if label is None:
            tags += ["O"] * length
            continue
        prefixes = ["I"] * length
        if scheme == "IOB2" or (scheme == "IOB1" and before == label):
            prefixes[0] = "B"
        elif scheme == "IOE2" or (scheme == "IOE1" and after == label):
            prefixes[-1] = "E"
        elif len(scheme) == 5:  # begin, inside, last, outside, single: BIOES, BILOU, BMOEW
            begin, inside, _, last, single = {
                "BIOES": "BIOES",
                "BILOU": "BIOLU",
                "BMOEW": "BMOEW",
            }[scheme]
            prefixes = [single] if length == 1 else [begin, *[inside] * (length - 2), last]
        tags += [f"{prefix}-{label}" for prefix in prefixes]
    return tags


SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "BIOES", "BILOU", "BMOEW")
LABELS = st.sampled_from([None, "PER", "LOC", "E-MAIL", "O"])
SEGMENTS = st.lists(st.tuples(st.integers(1, 4), LABELS), max_size=8)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(segments=SEGMENTS)
def test_every_scheme_decodes_to_the_segments_it_was_written_from(
    scheme: str, segments: list[Segment]
) -> None:
    assert decode_tags(tagged(segments, scheme)) == spans_of(segments)


@given(segments=SEGMENTS)
def test_tags_without_prefix_are_runs(segments: list[Segment]) -> None:
    names = {None: "O", "PER": "PER", "LOC": "LOC", "E-MAIL": "EMAIL", "O": "DATE"}
    tags = [names[label] for length, label in segments for _ in range(length)]
    # Two neighbours of one type can't be told apart without prefixes: they are one run.
    runs = [(m.start(), m.end()) for m in re.finditer(r"P+|L+|E+|D+", "".join(tag[0] for tag in tags))]
    assert decode_tags(tags) == [(start, end, tags[start]) for start, end in runs]


@pytest.mark.parametrize("scheme", ["IOB2", "BIOES", "IOB1"])
@given(segments=SEGMENTS)
def test_seqeval_finds_the_same_entities(scheme: str, segments: list[Segment]) -> None:
    tags = tagged(segments, scheme)
    oracle = [(start, last + 1, label) for label, start, last in get_entities(tags)]
    assert decode_tags(tags) == oracle


@given(tags=st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), max_size=12))
def test_seqeval_agrees_on_any_order_of_b_and_i(tags: list[str]) -> None:
    assert decode_tags(tags) == [(start, last + 1, label) for label, start, last in get_entities(tags)]


@given(tags=st.lists(st.text(max_size=6), max_size=12))
def test_any_tags_give_sorted_spans_without_overlap(tags: list[str]) -> None:
    edges = [edge for start, end, _ in decode_tags(tags) for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(tags) for start, end, _ in decode_tags(tags))


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        # IOB1: two PER side by side, the second opened by B; then another type, which needs no B.
        ("I-PER B-PER I-PER I-LOC O", [(0, 1, "PER"), (1, 3, "PER"), (3, 4, "LOC")]),
        # IOB1: three neighbours of one type.
        ("I-LOC I-LOC B-LOC B-LOC I-LOC", [(0, 2, "LOC"), (2, 3, "LOC"), (3, 5, "LOC")]),
        # IOB1: O parts them, so that no B is needed.
        ("O I-PER O I-PER", [(1, 2, "PER"), (3, 4, "PER")]),
        # Broken IOB2 and BIOES: the type changes inside, the end is missing, or nothing was begun.
        ("B-PER I-LOC", [(0, 1, "PER"), (1, 2, "LOC")]),
        ("B-PER O E-PER", [(0, 1, "PER"), (2, 3, "PER")]),
        ("S-PER I-PER E-PER", [(0, 1, "PER"), (1, 3, "PER")]),
        ("B-PER E-LOC", [(0, 1, "PER"), (1, 2, "LOC")]),
        ("B-PER S-PER I-PER U-PER", [(0, 1, "PER"), (1, 2, "PER"), (2, 3, "PER"), (3, 4, "PER")]),
        ("M-PER W-PER", [(0, 1, "PER"), (1, 2, "PER")]),
        # Prefixes alone, signs for nothing, and a type that begins as a prefix does.
        ("B I I O B", [(0, 3, "_"), (4, 5, "_")]),
        ("_ PER - PER", [(1, 2, "PER"), (3, 4, "PER")]),
        ("BIRTH BIRTH LOC", [(0, 2, "BIRTH"), (2, 3, "LOC")]),
        ("E-MAIL E-MAIL", [(0, 1, "MAIL"), (1, 2, "MAIL")]),
        ("", []),
    ],
)
def test_tags_by_hand(tags: str, spans: list[tuple[int, int, str]]) -> None:
    assert decode_tags(tags.split()) == spans


def test_the_text_of_tokens_as_they_are() -> None:
    # "Ann  Lee Ng" has an empty token at 4 (two blanks), "Lee Ng" is one token; "Oak" opens the second line.
    #  0123456789012345
    #  Ann  Lee Ng.Oak
    sentences = [[("Ann", "B-PER"), ("", "O"), ("Lee Ng", "B-PER")], [("Oak", "I-LOC"), ("St", "I-LOC")]]
    text, spans = text_and_spans(sentences)
    assert text == "Ann  Lee Ng\nOak St"
    assert spans == (
        RawSpan(0, 3, "PER", "Ann"),
        RawSpan(5, 11, "PER", "Lee Ng"),
        RawSpan(12, 18, "LOC", "Oak St"),
    )
    assert text_and_spans([]) == ("", ())
    assert text_and_spans([[], [("a", "O")]]) == ("\na", ())


@given(
    sentences=st.lists(
        st.lists(
            st.tuples(st.text(max_size=4), st.sampled_from(["O", "B-A", "I-A", "E-B", "C"])), max_size=6
        ),
        max_size=4,
    )
)
def test_surfaces_stand_at_their_offsets(sentences: list[list[tuple[str, str]]]) -> None:
    text, spans = text_and_spans(sentences)
    assert all(text[span.start : span.end] == span.surface for span in spans)
    assert len(spans) == sum(len(decode_tags([tag for _, tag in sentence])) for sentence in sentences)


@pytest.mark.parametrize("order", ["before", "after", "both"])
def test_docstart_lines_before_or_after_documents(tmp_path: Path, order: str) -> None:
    bound = "-DOCSTART- -X- -X- O\n\n"
    first = "Dr NN B-NP O\nLee NN I-NP I-PER\nNg NN I-NP I-PER\n\nHome NN B-NP O\n\n"
    second = "Oak NN B-NP I-LOC\n\n\n\n"
    content = {
        "before": bound + first + bound + second,
        "after": first + bound + second + bound,
        "both": bound + bound + first + bound + bound + second + bound,
    }[order]
    (tmp_path / "train.conll.txt").write_text(content, encoding="utf-8")
    (one, two), rejected = read(tmp_path)
    assert rejected == []
    # "Dr Lee Ng" 0-9, a line end, "Home": the span is 3-9.
    assert one.text == "Dr Lee Ng\nHome"
    assert one.spans == (RawSpan(3, 9, "PER", "Lee Ng"),)
    assert (two.text, two.spans) == ("Oak", (RawSpan(0, 3, "LOC", "Oak"),))
    assert [d.id for d in (one, two)] == ["train.conll-000001", "train.conll-000002"]
    assert [(d.group, d.split, d.stated_id) for d in (one, two)] == [
        (None, "train", False),
        (None, "train", False),
    ]
    # Lines of the first tokens: boundaries take two lines each, the first document six.
    expected = {"before": (3, 11), "after": (1, 9), "both": (5, 15)}[order]
    assert [d.where for d in (one, two)] == [f"{tmp_path / 'train.conll.txt'}:{line}" for line in expected]


def test_a_file_without_boundaries_is_one_document_and_no_span_crosses_its_sentences(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "n.bio").write_bytes(b"Ann\tI-PER\r\n\t\r\nLee\tI-PER\r\nNg\tI-PER")
    (document,), rejected = read(tmp_path)
    assert (document.text, found(document)) == ("Ann\nLee Ng", [("Ann", "PER"), ("Lee Ng", "PER")])
    assert (document.id, document.split, rejected) == ("n-000001", "train", [])


def test_only_tabs_or_ascii_blanks_separate(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(
        "12\u00a0Oak\tI-LOC\nNew York\t I-LOC\t\n\u00a0\tO\n\tO\n", encoding="utf-8"
    )
    (tmp_path / "b.iob").write_text("  12\u00a0Oak   I-LOC \n5\u2028\x85pm I-T\n", encoding="utf-8")
    (tabs, blanks), rejected = read(tmp_path)
    assert rejected == []
    assert (tabs.text, found(tabs)) == (
        "12\u00a0Oak New York \u00a0 ",
        [("12\u00a0Oak New York", "LOC")],
    )
    assert blanks.text == "12\u00a0Oak 5\u2028\x85pm"
    assert found(blanks) == [("12\u00a0Oak", "LOC"), ("5\u2028\x85pm", "T")]


def test_comments_are_passed_over_and_number_signs_are_tokens(tmp_path: Path) -> None:
    content = (
        "# sent_id = a-1\n# text = Room # 4\n# newdoc id = n\n# newpar\n# global.columns = FORM TAG\n"
        "# id 5b-1\tdomain=en\nRoom\tO\n#\tB-ID\n4\tI-ID\n#x\tO\n"
    )
    (tmp_path / "a.conll").write_text(content, encoding="utf-8")
    (tmp_path / "b.conll").write_text("# O\n= O\n# B-ID\n", encoding="utf-8")
    (a, b), rejected = read(tmp_path)
    assert (a.text, found(a), a.where) == (
        "Room # 4 #x",
        [("# 4", "ID")],
        f"{tmp_path / 'a.conll'}:7",
    )
    assert (b.text, found(b)) == ("# = #", [("#", "ID")])
    assert rejected == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"Lee", NO_TAG),
        (b"Lee\t", NO_TAG),
        (b"New York I-LOC", "3 columns, where the document's first line has 2"),
        (b"Lee\tNNP\tI-PER", "3 columns, where the document's first line has 2"),
        (b"Le\0e O", NUL),
        (b"Lee O\rNg O", LONE_CR),
        (b"L\xe9 O", "byte 0xe9 is not UTF-8"),
    ],
)
def test_a_bad_line_costs_its_document_alone_and_no_id_moves(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    path = tmp_path / "x.conll"
    path.write_bytes(
        b"One O\n\n-DOCSTART- O\n\nTwo O\n" + line + b"\ngood O\n" + line + b"\n\n-DOCSTART- O\n\nThree O\n"
    )
    documents, rejected = read(path)
    assert [(d.id, d.text) for d in documents] == [("x-000001", "One"), ("x-000003", "Three")]
    assert rejected == [(f"{path}:6", reason)]


def test_a_bad_line_belongs_to_the_document_it_stands_in(tmp_path: Path) -> None:
    path = tmp_path / "x.conll"
    path.write_bytes(b"\xff O\n-DOCSTART- O\nTwo O\n-DOCSTART- O\nThree O\n\xff O")
    documents, rejected = read(path)
    assert [(d.id, d.text) for d in documents] == [("x-000002", "Two")]
    assert [where for where, _ in rejected] == [f"{path}:1", f"{path}:6"]


def test_a_document_that_is_too_large_ends_at_the_next_boundary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phidrift.corpora.readers.conll.LARGEST_DOCUMENT", 40)
    path = tmp_path / "x.conll"
    # Ten tokens of three letters and a separator each are 40 characters, the limit; eleven are too many.
    path.write_text("abc O\n" * 10 + "-DOCSTART- O\n" + "abc O\n" * 11 + "-DOCSTART- O\nend O\n")
    documents, rejected = read(path)
    assert [len(d.text) for d in documents] == [39, 3]
    assert rejected == [(f"{path}:12", TOO_LARGE)]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("1 Ann I-PER\n2 said O\n\n1 Yes O\n", False),
        ("1 Ann I-PER\n\n1 Yes O\n", True),  # single tokens prove nothing
        ("1 O\n2 O\n", True),  # two columns: the first can only be the token
        ("1 CD O\n3 CD O\n", True),
    ],
)
def test_columns_that_number_the_tokens_are_refused(tmp_path: Path, content: str, kept: bool) -> None:
    path = tmp_path / "x.conll"
    path.write_text(content)
    documents, rejected = read(path)
    assert (len(documents), rejected) == ((1, []) if kept else (0, [(f"{path}:1", NUMBERED)]))


def test_gzip_encodings_and_byte_order_marks(tmp_path: Path) -> None:
    content = "Zoë I-PER\n\n-DOCSTART- O\n\nOak I-LOC\n"
    whole = gzip.compress(content.encode("utf-8-sig"))
    (tmp_path / "a.conll.gz").write_bytes(whole)
    (tmp_path / "b.bioes.gz").write_bytes(whole[:-6])
    (tmp_path / "c.iob2").write_bytes("Zoë O\n".encode("utf-16"))
    documents, rejected = read(tmp_path)
    # The end of the second file is missing: what stood before its last boundary is whole, the rest may not be.
    assert [(d.id, d.text) for d in documents] == [
        ("a-000001", "Zoë"),
        ("a-000002", "Oak"),
        ("b-000001", "Zoë"),
    ]
    assert [where for where, _ in rejected] == [f"{tmp_path / 'b.bioes.gz'}:6", f"{tmp_path / 'c.iob2'}:1"]
    (tmp_path / "d.conll2003").write_bytes("Zoë I-PER\n".encode("latin-1"))
    (latin,), rejected = read(tmp_path / "d.conll2003", ReadOptions(encoding="latin-1"))
    assert (found(latin), rejected) == ([("Zoë", "PER")], [])


def test_empty_files_and_missing_ones(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_bytes(b"")
    (tmp_path / "b.conll").write_bytes(b"-DOCSTART-\n\n-DOCSTART-\n# text = none\n")
    assert read(tmp_path) == ([], [])
    with pytest.raises(PhidriftError, match="no such file or folder"):
        read(tmp_path / "c.conll")
    (tmp_path / "d").mkdir()
    with pytest.raises(PhidriftError, match=r"no \*\.conll or"):
        read(tmp_path / "d")


@settings(max_examples=150)
@given(
    content=st.binary(max_size=60)
    | st.binary(max_size=40).map(lambda rest: b"\x1f\x8b\x08" + rest)
    | st.text(alphabet="ab \t\r\n\0#=-ODCSTAR1\u00a0\u2028", max_size=60).map(str.encode),
    encoding=st.sampled_from(["utf-8", "latin-1"]),
)
def test_any_bytes_give_documents_or_rejections(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, encoding: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.conll"
    path.write_bytes(content)
    documents, rejected = read(path, ReadOptions(encoding=encoding))
    for document in documents:
        found(document)
    assert all(where.startswith(f"{path}:") for where, _ in rejected)


@pytest.mark.skipif(not (SHARED / "wikigold").is_dir(), reason="shared/corpora/wikigold is not here")
def test_wikigold() -> None:
    raw = (SHARED / "wikigold" / "wikigold.conll.txt").read_text(encoding="utf-8")
    documents, rejected = read(SHARED / "wikigold")
    assert rejected == []
    # Counted apart: blocks between -DOCSTART- lines; runs of lines with the same tag (the file has no B); tokens.
    blocks = [block for block in re.split(r"(?m)^-DOCSTART- O\n", raw) if block.strip()]
    runs = list(re.finditer(r"(?m)^\S+ I-(\w+)\n(?:\S+ I-\1\n)*", raw))
    assert len(documents) == len(blocks) == 145
    labels = Counter(label for document in documents for _, label in found(document))
    assert labels == Counter(run[1] for run in runs) == {"LOC": 1014, "PER": 934, "ORG": 898, "MISC": 712}
    surfaces = [surface for document in documents for surface, _ in found(document)]
    assert surfaces == [" ".join(line.split(" ")[0] for line in run[0].splitlines()) for run in runs]
    assert [document.text.split() for document in documents] == [
        [line.split(" ")[0] for line in block.splitlines() if line] for block in blocks
    ]
