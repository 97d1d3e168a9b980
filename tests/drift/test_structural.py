"""Layout predicates on cases with known answers."""

import pytest

from phidrift.drift import Undefined, structural


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("", 0),
        ("a\nb", 1),
        ("a\r\nb", 1),
        ("a\rb\n\n", 3),
        ("a\n\rb", 2),
        ("\r\r\n\n", 3),
        ("a\u2028b\x0b", 0),
    ],
)
def test_line_breaks(text, breaks):
    assert structural.line_breaks(text) == breaks


def test_line_break_density():
    assert structural.line_break_density(3, 60) == 5
    with pytest.raises(Undefined, match="no tokens"):
        structural.line_break_density(0, 0)


@pytest.mark.parametrize(
    ("sentence", "is_pair"),
    [
        ("Name: Ann Lee", True),
        ("Name:Ann", True),
        ("Date of last visit: 3 May", True),
        ("- Phone: 555-0100", True),
        ("pH=7.4", True),
        ("dose = 5 mg", True),
        ("Größe: 1,70", True),
        ("Room 12: two beds", True),
        ("Website: https://example.org", True),
        ("10:30", False),
        ("Seen at 10:30", False),
        ("10:30 lunch", False),
        ("https://example.org/a", False),
        ("see https://example.org/a", False),
        ("www.example.org:80", False),
        ("mailto:ann@example.org", False),
        ("Plan:", False),
        ("a == b", False),
        ("std::vector", False),
        ("The doctor said to her and to him: rest", False),  # a key has at most five words
        ("HR 80, BP: high", False),  # prose before the colon
        ("Stable.", False),
        ("", False),
    ],
)
def test_key_value(sentence, is_pair):
    assert structural.is_key_value(sentence) is is_pair


@pytest.mark.parametrize(
    ("sentence", "bullet"),
    [
        ("- rest", True),
        ("• rest", True),
        ("•rest", True),
        ("* rest", True),
        ("– rest", True),
        ("1. rest", True),
        ("12) rest", True),
        ("a) rest", True),
        ("1.", True),
        ("1.5 mg daily", False),
        ("-5 degrees", False),
        ("2024. was", False),
        ("A. Lee came", False),
        ("rest - and", False),
        ("**bold**", False),
        ("", False),
    ],
)
def test_bullet(sentence, bullet):
    assert structural.is_bullet(sentence) is bullet


@pytest.mark.parametrize(
    ("token", "caps"),
    [
        ("MRI", True),
        ("ÄÖ", True),
        ("COVID19", True),
        ("I", False),
        ("B12", False),
        ("MRIs", False),
        ("12", False),
    ],
)
def test_all_caps(token, caps):
    assert structural.is_all_caps(token) is caps


@pytest.mark.parametrize(
    ("chunk", "special"),
    [
        ("a@example.org", True),
        ("5%", True),
        ("#3", True),
        ("€5", True),
        ("a_b", True),
        ("x^2", True),
        ("end.", False),
        ("(see)", False),
        ("1,5", False),
        ("it's", False),
    ],
)
def test_special(chunk, special):
    assert structural.has_special(chunk) is special
