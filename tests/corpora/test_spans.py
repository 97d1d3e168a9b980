"""Outcomes of spans: exact, relocated, trimmed, dropped."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.document import Document, Span, parse_document
from phidrift.corpora.label_maps import ready_map
from phidrift.corpora.reading_report import unmapped_labels
from phidrift.corpora.source import RawDocument, RawSpan
from phidrift.corpora.spans import SpanCounts, harmonised_spans

LABELS = {"PER": "PERSON", "LOC": "ADDRESS"}


def place(text: str, *spans: RawSpan) -> tuple[tuple[Span, ...], SpanCounts]:
    counts = SpanCounts()
    found = harmonised_spans(RawDocument("d", text, spans, None, "g", "f:1"), LABELS, counts)
    assert found is not None
    return found, counts


@pytest.mark.parametrize(
    ("text", "span", "expected", "outcome"),
    [
        ("by Lee.", RawSpan(3, 6, "PER", "Lee"), (3, 6), "exact"),
        ("by Lee.", RawSpan(3, 6, "PER"), (3, 6), "exact"),
        ("by Lee .", RawSpan(2, 7, "PER"), (3, 6), "trimmed"),
        ("by Lee\u00a0.", RawSpan(3, 7, "PER"), (3, 6), "trimmed"),
        ("by Lee.", RawSpan(1, 4, "PER", "Lee"), (3, 6), "relocated"),
        # "Lee" inside "asleep"/"Leeds" is no occurrence; glued to a digit it is.
        ("Leeds 75Lee", RawSpan(1, 4, "PER", "Lee"), (8, 11), "relocated"),
        # One within 10 characters is taken, whatever stands further off.
        ("Lee" + " " * 20 + "Lee", RawSpan(20, 23, "PER", "Lee"), (23, 26), "relocated"),
        ("A & B", RawSpan(0, 5, "PER", "A &amp; B"), (0, 5), "exact"),
    ],
)
def test_kept(text: str, span: RawSpan, expected: tuple[int, int], outcome: str) -> None:
    spans, counts = place(text, span)
    assert [(s.start, s.end) for s in spans] == [expected]
    assert counts.outcomes == {outcome: 1}


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        (RawSpan(3, 3, "PER"), "empty"),
        (RawSpan(6, 3, "PER"), "reversed"),
        (RawSpan(2, 3, "PER"), "blank"),
        (RawSpan(3, 99, "PER"), "outside the text"),
        (RawSpan(-4, 3, "PER"), "negative"),
        (RawSpan(True, 3, "PER"), "malformed"),
        (RawSpan(1.0, 3, "PER"), "malformed"),
        (RawSpan(None, 3, "PER"), "malformed"),
        (RawSpan(3, 6, "PER", "Kim"), "surface not found"),
        (RawSpan(3, 99, "PER", "Kim"), "outside the text"),
        (RawSpan(3, 6, "PER", " "), "surface blank"),
        (RawSpan(3, 6, "PER", "&nbsp;"), "surface blank"),
        (RawSpan(3, 6, "PER", "&#32;&#x200B;"), "surface blank"),
        (RawSpan(3, 99, "PER", "&nbsp;"), "outside the text"),
        (RawSpan(0, 10_001, "PER"), "too long"),
        # "e" at 4 and at 5, joined to letters: no occurrence
        (RawSpan(0, 1, "PER", "e"), "surface not found"),
    ],
)
def test_dropped(span: RawSpan, reason: str) -> None:
    spans, counts = place("by Lee.", span)
    assert spans == ()
    assert counts.drop_reasons == {reason: 1}
    assert counts.outcomes == {"dropped": 1}


def test_long_spans_are_dropped_at_once() -> None:
    text = "Lee " * 50_000
    assert place(text, RawSpan(1, 10_000, "PER"))[1].drop_reasons == {}
    # Surface texts that stand nowhere near, in whole or in part.
    surface = "Ng &amp; " * 20_000
    spans = [RawSpan(n, n + 150_000, "PER", surface if n % 2 else None) for n in range(200)]
    began = time.monotonic()
    found, counts = place(text, *spans)
    assert time.monotonic() - began < 1
    assert found == ()
    assert counts.drop_reasons == {"too long": 200}
    # The longest that is kept, and one more character.
    _, counts = place("x" * 20_000, RawSpan(0, 10_000, "PER"), RawSpan(10_000 - 1, 20_000, "LOC"))
    assert (counts.outcomes, counts.drop_reasons) == ({"exact": 1, "dropped": 1}, {"too long": 1})


def test_overlap_within_one_entity_keeps_the_longest_and_across_entities_keeps_all() -> None:
    spans, counts = place(
        "Mr Lee Street",
        RawSpan(0, 6, "PER"),
        RawSpan(3, 6, "PER"),  # inside the first
        RawSpan(0, 6, "PER"),  # the first again
        RawSpan(3, 13, "LOC"),  # another entity
    )
    assert spans == (Span(0, 6, "PERSON"), Span(3, 13, "ADDRESS"))
    assert counts.outcomes == {"exact": 2, "dropped": 2}
    assert counts.drop_reasons == {"overlap": 1, "duplicate": 1}


def test_spans_with_an_edge_inside_a_word_are_kept_and_counted() -> None:
    spans, counts = place("Leeds 75yo", RawSpan(0, 3, "LOC"), RawSpan(6, 8, "PER"))
    assert len(spans) == 2
    assert counts.inside_words == 1  # Lee|ds; 75|yo is glued, not cut


def test_unmapped_labels_are_counted_apart() -> None:
    spans, counts = place("by Lee.", RawSpan(3, 6, "ORG"), RawSpan(0, 2, "ORG"))
    assert spans == ()
    assert unmapped_labels(counts, LABELS) == {"ORG": 2}
    assert not counts.outcomes


def test_the_label_maps_hold_the_study_s_table() -> None:
    assert {k for k, v in ready_map("multileg").items() if v == "CONTACT"} == {"IDNUM"}
    assert ready_map("i2b2")["ZIP"] == "ADDRESS"
    assert "HOSPITAL" not in ready_map("i2b2")
    assert ready_map("ai4privacy")["TIME"] == "DATE"


@given(
    st.text(alphabet="ab 1\n", max_size=30),
    st.lists(st.tuples(st.integers(-3, 35), st.integers(-3, 35), st.sampled_from(["PER", "LOC"]))),
)
def test_whatever_the_input_the_result_obeys_the_schema(text: str, raw: list[tuple[int, int, str]]) -> None:
    spans, counts = place(text, *(RawSpan(*item) for item in raw))
    parse_document(Document("d", text, spans, {}).to_json(), "d")
    assert sum(counts.outcomes.values()) == len(raw)
    assert len(spans) == len(raw) - counts.outcomes["dropped"]
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() != "" for s in spans)
