"""What offsets are counted in: converted, proven by surface texts, inferred from cut words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.corpora.offsets import CONVENTIONS, OFFSETS, converter, refuse_other_convention
from phidrift.corpora.source import RawDocument, RawSpan
from phidrift.corpora.spans import SpanCounts, harmonised_spans

LABELS = {"PER": "PERSON"}
# "😀 é Lee": code points 😀=0, blank 1, é=2, blank 3, Lee 4-7. UTF-16: 😀 takes two, so Lee is 5-8.
# UTF-8: 😀 takes four, é two, so Lee is 4+1+2+1 = 8-11.
TEXT = "😀 é Lee"


def document(text: str, *spans: RawSpan, crlf: bool = False) -> RawDocument:
    return RawDocument("d", text, spans, None, "d", "f:1", carriage_returns=crlf)


@pytest.mark.parametrize(
    ("text", "convention", "start", "end", "expected"),
    [
        (TEXT, "characters", 4, 7, (4, 7)),
        (TEXT, "inclusive", 4, 6, (4, 7)),
        (TEXT, "utf16", 5, 8, (4, 7)),
        (TEXT, "bytes", 8, 11, (4, 7)),
        ("a\nLee", "crlf", 3, 6, (2, 5)),  # the line end counts two
        ("a\r\nLee\r", "lf", 2, 6, (3, 7)),  # CR LF counts one, CR alone too
        (TEXT, "utf16", 1, 8, None),  # inside the pair of units of 😀
        (TEXT, "bytes", 6, 11, None),  # inside the two bytes of é
        (TEXT, "bytes", 8, 12, None),  # past the end
        (TEXT, "bytes", -1, 4, None),
    ],
)
def test_converted_by_hand(
    text: str, convention: str, start: int, end: int, expected: tuple[int, int] | None
) -> None:
    assert converter(text, convention)(start, end) == expected


@given(st.text(alphabet=st.characters(), max_size=30), st.data())
def test_converted_as_prefixes_encode(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for convention, encoding, unit in (("utf16", "utf-16-le", 2), ("bytes", "utf-8", 1)):
        units = [len(text[:place].encode(encoding, "surrogatepass")) // unit for place in (start, end)]
        assert converter(text, convention)(*units) == (start, end)


@pytest.mark.parametrize(
    ("convention", "raw"),
    [
        ("inclusive", RawSpan(4, 6, "PER", "Lee")),
        ("utf16", RawSpan(5, 8, "PER", "Lee")),
        ("bytes", RawSpan(8, 11, "PER", "Lee")),
    ],
)
def test_a_surface_text_proves_the_convention(convention: str, raw: RawSpan) -> None:
    counts = SpanCounts()
    assert harmonised_spans(document(TEXT, raw), LABELS, counts) == (Span(4, 7, "PERSON"),)
    assert counts.outcomes == {"relocated": 1}
    assert counts.conventions == {convention: 1}


def test_the_convention_of_most_spans_decides_where_a_word_comes_twice() -> None:
    # UTF-16 after two emoji: "Al" 4-6 in code points is 6-8, "Al" 7-9 is 9-11, "Bo" 10-12 is 12-14. A search near by
    # could not tell the two "Al" apart.
    text = "😀😀, Al Al Bo"
    spans = [RawSpan(6, 8, "PER", "Al"), RawSpan(9, 11, "PER", "Al"), RawSpan(12, 14, "PER", "Bo")]
    counts = SpanCounts()
    found = harmonised_spans(document(text, *spans), LABELS, counts)
    assert found == (Span(4, 6, "PERSON"), Span(7, 9, "PERSON"), Span(10, 12, "PERSON"))
    assert counts.conventions == {"utf16": 1}


def test_a_stated_convention_is_taken_at_its_word() -> None:
    counts = SpanCounts()
    spans = (RawSpan(5, 8, "PER"), RawSpan(99, 100, "PER"))
    assert harmonised_spans(document(TEXT, *spans), LABELS, counts, "utf16") == (Span(4, 7, "PERSON"),)
    assert counts.outcomes == {"exact": 1, "dropped": 1}
    assert counts.drop_reasons == {"outside the text": 1}


def without_surfaces(text: str, spans: list[tuple[int, int]], documents: int = 5) -> SpanCounts:
    counts = SpanCounts()
    for _ in range(documents):
        harmonised_spans(document(text, *(RawSpan(*span, "PER") for span in spans)), LABELS, counts)
    return counts


@pytest.mark.parametrize(
    ("text", "spans", "convention"),
    [
        ("Seen by Lee.", [(8, 10)], "inclusive"),  # "Le", cut before "e"
        (f"😀 {'x' * 9} Lee Ng", [(13, 16), (17, 19)], "utf16"),  # "ee " and "g": Lee is 12-15, Ng 16-18
        ("é José Ng", [(3, 8), (9, 11)], "bytes"),  # José is 2-6: after é at 3, é itself two bytes, to 8
    ],
)
def test_without_surface_texts_cut_words_tell(
    text: str, spans: list[tuple[int, int]], convention: str
) -> None:
    counts = without_surfaces(text, spans)
    with pytest.raises(
        PhidriftError, match=f"as {re.escape(CONVENTIONS[convention])}.*set offsets to {convention}"
    ):
        refuse_other_convention(counts.evidence)


@pytest.mark.parametrize(
    ("text", "spans", "documents"),
    [
        ("Seen by Lee.", [(8, 11)], 50),  # right as they are
        ("Seen by Lee.", [(8, 10)], 4),  # too few to tell
        ("Leeds and Lee.", [(0, 3), (10, 13)], 50),  # one of two ends inside a word, and would at one more
        ("é José Ng", [(2, 6), (7, 9)], 50),
    ],
)
def test_right_offsets_raise_no_suspicion(text: str, spans: list[tuple[int, int]], documents: int) -> None:
    refuse_other_convention(without_surfaces(text, spans, documents).evidence)


def test_what_a_user_may_state_is_known() -> None:
    assert set(OFFSETS) - {"auto"} == set(CONVENTIONS) - {
        "crlf",
        "lf",
    }  # the line ends of a file are proven or not
