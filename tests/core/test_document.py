"""The document schema: what is written comes back, what breaks the schema is named with its place."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.document import Document, Span, parse_document, read_documents, write_documents
from phidrift.core.errors import PhidriftError

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)  # lone surrogates included


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(ANY_TEXT)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = [Span(a, b, "DATE") for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    if text and draw(st.booleans()):
        spans.append(Span(0, len(text), "PERSON"))  # may overlap another label
    labelled = draw(st.booleans())
    meta = {"corpus": draw(ANY_TEXT), "score": draw(st.none() | st.floats(1, 5))}
    return Document(draw(ANY_TEXT), text, tuple(sorted(spans)) if labelled else None, meta)


@given(st.lists(documents(), max_size=4))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[Document]
) -> None:
    path = tmp_path_factory.mktemp("documents") / "some.jsonl"
    assert write_documents(path, written) == len(written)
    assert list(read_documents(path)) == written


def test_unlabelled_is_not_the_same_as_without_entity() -> None:
    assert parse_document({"id": "a", "text": "x"}, "f:1").spans is None
    assert parse_document({"id": "a", "text": "x", "spans": []}, "f:1").spans == ()


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ([{"start": 0, "end": 9, "label": "DATE"}], "does not lie in a text of 5"),
        ([{"start": 2, "end": 2, "label": "DATE"}], "does not lie in a text of 5"),
        ([{"start": -1, "end": 2, "label": "DATE"}], "does not lie in a text of 5"),
        ([{"start": 0, "end": 2}], "start, end and label"),
        ([{"start": True, "end": 2, "label": "DATE"}], "integers"),
        ([{"start": 3, "end": 4, "label": "DATE"}, {"start": 0, "end": 1, "label": "DATE"}], "not sorted"),
        ([{"start": 0, "end": 3, "label": "DATE"}, {"start": 2, "end": 4, "label": "DATE"}], "overlaps"),
        ("0-2", "must be a list"),
    ],
)
def test_broken_spans_are_named(tmp_path: Path, spans: object, problem: str) -> None:
    path = tmp_path / "broken.jsonl"
    good = json.dumps({"id": "1", "text": "12345", "spans": []})
    path.write_text(good + "\n" + json.dumps({"id": "2", "text": "12345", "spans": spans}) + "\n")
    with pytest.raises(PhidriftError, match=problem) as caught:
        list(read_documents(path))
    assert f"{path}:2" in str(caught.value)


def test_broken_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"id": "1", "text": "a"}\n\n{"id": \n')
    with pytest.raises(PhidriftError, match=r"broken.jsonl:3: not JSON"):
        list(read_documents(path))
    path.write_bytes('{"id": "1", "text": "é"}'.encode("latin-1"))
    with pytest.raises(PhidriftError, match="not UTF-8"):
        list(read_documents(path))
    with pytest.raises(PhidriftError, match="no such file"):
        list(read_documents(tmp_path / "absent.jsonl"))
