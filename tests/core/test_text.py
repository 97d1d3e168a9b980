"""Text units on hand-made input."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.text import chunks, sentence_offsets, sentences, tokens, words


def test_tokens_words_and_chunks() -> None:
    text = "Dr. Müller's BP: 120/80 (OK)."
    assert tokens(text) == ["Dr", ".", "Müller", "'", "s", "BP", ":", "120", "/", "80", "(", "OK", ")", "."]
    assert words(text) == ["dr", "müller", "s", "bp", "120", "80", "ok"]
    assert chunks(text) == ["Dr.", "Müller's", "BP:", "120/80", "(OK)."]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Seen by Dr. Lee. Stable.", ["Seen by Dr. Lee.", "Stable."]),
        (
            "HISTORY\n- cough\n- 1.5 mg of x\r\n\r\nNo fever! Well?",
            ["HISTORY", "- cough", "- 1.5 mg of x", "No fever!", "Well?"],
        ),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        ("Mr. J. R. Smith came. 3 days later he left.", ["Mr. J. R. Smith came.", "3 days later he left."]),
        ("1. Take aspirin\n2. Rest. Drink.", ["1. Take aspirin", "2. Rest.", "Drink."]),
        ("b. Rest", ["b. Rest"]),
        ("It was 1. The other was 2. So it went.", ["It was 1.", "The other was 2.", "So it went."]),
        ("see e.g. Smith and others", ["see e.g. Smith and others"]),
        ("  \n\t\n", []),
        ("", []),
    ],
)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert sentences(text) == wanted


@given(st.text(max_size=200))
def test_sentences_cover_all_but_blanks_in_order(text: str) -> None:
    offsets = list(sentence_offsets(text))
    assert all(a < b for a, b in offsets)
    assert all(b <= c for (_, b), (c, _) in pairwise(offsets))
    kept = "".join(text[a:b] for a, b in offsets)
    assert "".join(kept.split()) == "".join(text.split())
