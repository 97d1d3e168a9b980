"""The sentence encoder that pip installs."""

import numpy as np
import pytest

from phidrift.drift.embedding import has_bfloat16, load_encoder


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


def test_an_embedding_does_not_depend_on_the_others_in_a_single_bit(encode):
    sentences = [" ".join(["Seen", *["again"] * n, f"on day {n}."]) for n in range(40)] + ["BP 120/80."] * 3
    whole = encode(sentences)
    for part in (slice(0, 1), slice(3, 9), slice(7, 43, 5)):
        assert np.array_equal(encode(sentences[part]), whole[part])


def test_a_sentence_longer_than_the_model_is_cut(encode):
    long = "pain " * 300  # the model reads 256 tokens
    found = encode([long, long + "and more"])
    assert np.array_equal(found[0], found[1])


def test_no_sentences(encode):
    assert encode([]).shape == (0, 384)


def test_bfloat16_is_near_and_of_unit_length(encode):
    sentences = [
        "Her knee hurts.",
        "No.",
        "The contract was signed in Riga on 3 May 2011 by both parties.",
        "",
    ]
    narrow = load_encoder("embedded/all-minilm-l6-v2", dtype="bfloat16")(sentences)
    wide = encode(sentences)
    assert narrow.dtype == np.float32
    assert np.linalg.norm(narrow, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.all(np.sum(narrow * wide, axis=1) > 0.999)
    assert not np.array_equal(narrow, wide)


def test_bfloat16_is_read_from_the_processor(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    for flags, expected in [("avx2 avx512f", False), ("avx512f avx512_bf16", True), ("amx_bf16", True)]:
        (tmp_path / "cpuinfo").write_text(f"flags : {flags}\n", encoding="utf-8")
        assert has_bfloat16(tmp_path / "cpuinfo") is expected
    assert has_bfloat16(tmp_path / "none") is False
