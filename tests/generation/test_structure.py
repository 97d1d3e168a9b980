import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.document import Span
from phidrift.generation.structure import mark, parse

PROSE = "was seen today with a mild cough."


def test_offsets_are_code_points_of_the_text_without_markup():
    # "Zoë 🙂 " is 6 code points, so "Ann Lee" spans 6 to 13.
    parsed = parse(f"  Zoë 🙂 <PERSON>Ann Lee</PERSON> {PROSE}\n", "PERSON", True, "stop")
    assert parsed.outcome == "ok"
    assert parsed.text == f"Zoë 🙂 Ann Lee {PROSE}"
    assert parsed.spans == (Span(6, 13, "PERSON"),)


def test_blanks_inside_marks_are_no_part_of_the_span():
    parsed = parse(f"Mr. <PERSON> Lee </PERSON> {PROSE}", "PERSON", True, "stop")
    assert [parsed.text[s.start : s.end] for s in parsed.spans] == ["Lee"]


@pytest.mark.parametrize(
    ("raw", "positive", "finish", "outcome"),
    [
        (f"Mr. <PERSON>Lee</PERSON> {PROSE}", True, "stop", "ok"),
        (f"He {PROSE}", False, "stop", "ok"),
        (f"He {PROSE}", True, "stop", "no_markup"),
        (f"Mr. <PERSON>Lee {PROSE}", True, "stop", "broken_markup"),
        (f"Mr. Lee</PERSON> {PROSE}", True, "stop", "broken_markup"),
        (f"<PERSON>Mr. <PERSON>Lee</PERSON></PERSON> {PROSE}", True, "stop", "broken_markup"),
        (f"<PERSON>Lee</DATE> {PROSE}", True, "stop", "broken_markup"),
        (f"On <DATE>3 May</DATE> he {PROSE}", True, "stop", "unexpected_entity"),
        (f"Mr. <PERSON>Lee</PERSON> {PROSE}", False, "stop", "unexpected_entity"),
        (f"Mr. <PERSON> </PERSON> {PROSE}", True, "stop", "empty_entity"),
        (f"Mr. <PERSON>Lee</PERSON> {PROSE}", True, "length", "truncated"),
        ("<PERSON>Lee</PERSON> left.", True, "stop", "too_short"),
        ("Ice, ice, ice, ice, ice and <PERSON>Lee</PERSON> left.", True, "stop", "ok"),  # 4 of 8 words differ
        ("Ice, ice, ice, ice, ice, ice, ice and <PERSON>Lee</PERSON>.", True, "stop", "repetitive"),  # 3 of 9
        (f"A count < 5 and > 3, he {PROSE}", False, "stop", "ok"),
    ],
)
def test_outcomes(raw: str, positive: bool, finish: str, outcome: str):
    parsed = parse(raw, "PERSON", positive, finish)
    if outcome == "broken_markup":
        assert outcome in parsed.checks
        assert (parsed.text, parsed.spans) == ("", ())
    else:
        assert parsed.outcome == outcome


def test_every_failed_check_is_told_worst_first():
    assert parse("<DATE>x</DATE> left", "PERSON", True, "length").checks == (
        "truncated",
        "unexpected_entity",
        "too_short",
    )


@given(st.lists(st.tuples(st.text("ab é", min_size=1), st.text("xyz🙂", min_size=1)), min_size=1, max_size=4))
def test_marking_and_parsing_are_inverse(pieces: list[tuple[str, str]]):
    text, spans = "a", []
    for prose, inside in pieces:
        text += prose
        spans.append(Span(len(text), len(text) + len(inside), "DATE"))
        text += inside
    parsed = parse(mark(text, tuple(spans)), "DATE", True, "stop")
    assert (parsed.text, parsed.spans) == (text, tuple(spans))
