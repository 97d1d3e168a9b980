"""What offsets are counted in: converted, proven by surface texts, inferred from cut words."""

import re

import pytest

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.corpora.offsets import CONVENTIONS, OFFSETS, converter
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
        # Two bytes more: 3/4/2012 is 13-21 and becomes "4/2012, ", 4/4/2012 is 23-31 and becomes "4/2012, ".
        ("Né à Lyon le 3/4/2012, 4/4/2012, vu", [(15, 23), (25, 33)], "bytes"),
        ("é 3/4/2012: vu", [(3, 11)], "bytes"),  # one byte more: "/4/2012:"
        ("é 3/4.", [(3, 6)], "bytes"),  # "/4.", which only its first character gives away
        ("é 3-4, vu", [(3, 6)], "bytes"),  # "-4,": no word is cut, and no blank taken in
        # The same with two emoji: 3/4/2012 is 6-14, and becomes "4/2012, ".
        ("😀😀 le 3/4/2012, vu.", [(8, 16)], "utf16"),
        # Two more, from the comma before it to inside it: Lee is 7-10, and 9-12 holds "e, ".
        ("é, é,  Lee, Ng.", [(9, 12)], "bytes"),
    ],
)
def test_without_surface_texts_cut_words_tell(
    text: str, spans: list[tuple[int, int]], convention: str
) -> None:
    counts = without_surfaces(text, spans, 50)
    with pytest.raises(
        PhidriftError, match=f"as {re.escape(CONVENTIONS[convention])}.*set offsets to {convention}"
    ):
        counts.evidence.refuse_other_convention()


@pytest.mark.parametrize(
    ("text", "spans", "documents"),
    [
        ("Seen by Lee.", [(8, 11)], 50),  # right as they are
        ("Seen by Lee.", [(8, 10)], 4),  # too few to tell
        ("Leeds and Lee.", [(0, 3), (10, 13)], 50),  # one of two ends inside a word, and would at one more
        ("é José Ng", [(2, 6), (7, 9)], 50),
        # With their full stops: one more would take in the blank or the comma after them.
        ("At 3 Main St. by Dr. Ng.", [(3, 13), (17, 20)], 50),
        ("É à St., Dr., vu", [(4, 7), (9, 12)], 50),  # two bytes more: "., " and "., "
        ("é 75yo, 80yo", [(2, 4), (8, 10)], 50),  # glued to what follows
        ("é 75yo.", [(2, 4), (2, 6)], 50),
        ("😀 le 3/4/2012, vu", [(5, 13)], 50),
    ],
)
def test_right_offsets_raise_no_suspicion(text: str, spans: list[tuple[int, int]], documents: int) -> None:
    without_surfaces(text, spans, documents).evidence.refuse_other_convention()


def test_fifty_notes_whose_offsets_are_all_two_too_far() -> None:
    # "Vu à l'hôpital " has 15 characters and two of them accented: the date is 15-25, in bytes 17-27.
    notes = [f"Vu à l'hôpital {n % 28 + 1:02}/04/2012, par le Dr. Roe" for n in range(50)]
    assert notes[0][15:25] == "01/04/2012"
    counts = SpanCounts()
    for text in notes:
        harmonised_spans(document(text, RawSpan(17, 27, "PER")), LABELS, counts)
    with pytest.raises(PhidriftError, match=r"50 of 50 spans cut a word or take in.*set offsets to bytes"):
        counts.evidence.refuse_other_convention()
    counts = SpanCounts()
    found = [harmonised_spans(document(t, RawSpan(17, 27, "PER")), LABELS, counts, "bytes") for t in notes]
    assert found == [(Span(15, 25, "PERSON"),)] * 50
    right = SpanCounts()
    for text in notes:
        harmonised_spans(document(text, RawSpan(15, 25, "PER")), LABELS, right)
    right.evidence.refuse_other_convention()
    assert right.outcomes == {"exact": 50}


def test_what_a_user_may_state_is_known() -> None:
    assert set(OFFSETS) - {"auto"} == set(CONVENTIONS) - {
        "crlf",
        "lf",
    }  # the line ends of a file are proven or not
