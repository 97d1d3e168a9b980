"""The sentence encoder that pip installs."""

import numpy as np
import pytest

from phidrift.drift.embedding import load_encoder


@pytest.fixture(scope="module")
def encode():
    return load_encoder("embedded/all-minilm-l6-v2", batch_size=4)


def test_sentences_of_like_meaning_are_near(encode):
    pain, ache, law = encode(
        ["Her knee hurts.", "She has pain in the knee.", "The contract was signed in Riga."]
    )
    assert pain.dtype == np.float32
    assert pain.shape == (384,)
    assert np.linalg.norm(pain) == pytest.approx(1, abs=1e-5)
    assert pain @ ache > pain @ law + 0.3


def test_order_and_copies_change_nothing(encode):
    sentences = ["Her knee hurts.", "No.", "Seen at the clinic on Monday.", "No.", "BP 120/80.", "Stable."]
    found = encode(sentences)
    assert np.array_equal(found[1], found[3])
    assert np.array_equal(encode(sentences[::-1]), found[::-1])


def test_no_sentences(encode):
    assert encode([]).shape == (0, 384)
