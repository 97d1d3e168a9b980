"""Profiles: what is counted, independence of order and line ends, the files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpora import measured

from phidrift.core import text as units
from phidrift.core.errors import PhidriftError
from phidrift.drift import lexical, load_profile, merge_profiles, profile, save_profile
from phidrift.drift.counting import COLUMNS
from phidrift.drift.profile import content_digest

TEXTS = [
    "Name: Ann Lee\nDOB: 3 May\n- MRI of knee, 10% worse\n1.5 mg daily. Seen at 10:30.",
    "She rests. She rests. She walks a bit more, she says.",
    "Dr. Müller called 555-0100 from Riga.",
    "",
]


def same(a, b):
    arrays = (
        "hashes",
        "counts",
        "factors",
        "word_ids",
        "nll",
        "predicted",
        "embeddings",
        "sentence_documents",
    )
    return a.vocabulary == b.vocabulary and all(np.array_equal(getattr(a, n), getattr(b, n)) for n in arrays)


def test_counts_by_hand():
    counts = dict(zip(COLUMNS, profile(TEXTS[:1]).counts[0].tolist(), strict=True))
    # Sentences by tokens: "Name: Ann Lee" 4, "DOB: 3 May" 4, "- MRI of knee, 10% worse" 8,
    # "1.5 mg daily." 6, "Seen at 10:30." 6.
    assert counts["tokens"] == 28
    assert counts["sentences"] == 5
    assert counts["squared_sentence_tokens"] == 16 + 16 + 64 + 36 + 36
    # name ann lee / dob 3 may / mri of knee 10 worse / 1 5 mg daily / seen at 10 30
    assert counts["words"] == 3 + 3 + 5 + 4 + 4
    # Name: Ann Lee DOB: 3 May - MRI of knee, 10% worse 1.5 mg daily. Seen at 10:30.
    assert counts["chunks"] == 18
    assert counts["punctuation_chunks"] == 8  # Name: DOB: - knee, 10% 1.5 daily. 10:30.
    assert counts["digit_chunks"] == 4  # 3 10% 1.5 10:30.
    assert counts["capitalized_chunks"] == 7  # Name: Ann Lee DOB: May MRI Seen
    assert counts["special_chunks"] == 1  # 10%
    assert counts["all_caps_tokens"] == 2  # DOB MRI
    assert counts["line_breaks"] == 3
    assert counts["key_value_sentences"] == 2
    assert counts["bullet_sentences"] == 1


@given(st.text(alphabet="aB1 .\n:-", max_size=60))
def test_sentences_hold_every_token(text):
    assert sum(len(units.tokens(s)) for s in units.sentences(text)) == len(units.tokens(text))


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abC1 .\n", max_size=40), max_size=6), st.randoms())
def test_order_and_line_ends_change_nothing(texts, random):
    shuffled = random.sample(texts, len(texts))
    assert same(measured(texts), measured(shuffled))
    assert same(measured(texts), measured([text.replace("\n", "\r\n") for text in shuffled]))
    assert content_digest(texts) == content_digest(text.replace("\n", "\r\n") for text in shuffled)


def test_digest_tells_copies_apart():
    assert content_digest(["a", "b"]) != content_digest(["a", "b", "b"])


def test_words_and_factors_belong_to_their_documents():
    found = profile(TEXTS)
    ends = np.cumsum(found.column("words"))
    documents = {tuple(found.vocabulary[i] for i in ids) for ids in np.split(found.word_ids, ends[:-1])}
    assert documents == {tuple(units.words(text)) for text in TEXTS}
    forward = sum(lexical.mtld_factors(units.words(text)) for text in TEXTS)
    assert found.factors[:, 0].sum() == pytest.approx(forward)


def test_limits_are_kept_and_taken_by_hash():
    found = measured(TEXTS, sentences=4, lm_tokens=10)
    assert len(found.embeddings) == 4
    # A document is scored whole, and none after ten tokens are reached.
    assert 10 <= found.predicted.sum() < 10 + found.predicted.max()
    whole = measured(TEXTS)
    assert np.array_equal(found.embeddings, whole.embeddings[:4])
    assert np.array_equal(found.sentence_documents, whole.sentence_documents[:4])
    taken = found.predicted > 0
    last = np.flatnonzero(taken)[-1]
    assert np.array_equal(found.predicted[: last + 1], np.minimum(whole.predicted[: last + 1], 10))
    assert not found.predicted[last + 1 :].any()
    assert found.predicted[:last].sum() < 10


def test_without_models():
    found = profile(TEXTS, encoder="named", lm="named")
    assert found.encoder is None
    assert found.lm is None
    assert found.embeddings.shape == (0, 0)
    assert not found.predicted.any()


def test_a_lone_surrogate_is_measured():
    assert profile(["a \ud800 b"]).column("tokens").tolist() == [3]


def test_saved_and_loaded_is_the_same_and_bytes_repeat(tmp_path):
    found = measured(TEXTS)
    save_profile(found, tmp_path / "a")
    save_profile(measured(TEXTS[::-1]), tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["arrays.npz", "profile.json", "vocabulary.json"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    loaded = load_profile(tmp_path / "a")
    assert same(found, loaded)
    assert (loaded.encoder, loaded.lm) == ("letters", "chunks")


def test_a_missing_profile_says_what_to_run(tmp_path):
    with pytest.raises(PhidriftError, match="run the stage profiles"):
        load_profile(tmp_path)


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet="abC1 .\n", max_size=40), max_size=9),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 12),
    st.randoms(),
)
def test_the_profiles_of_parts_merge_into_that_of_the_whole(texts, parts, sentences, lm_tokens, random):
    limits = {"sentences": sentences, "lm_tokens": lm_tokens}
    shuffled = random.sample(texts, len(texts))
    divided = [measured(shuffled[part::parts], **limits) for part in range(parts)]
    whole = measured(texts, **limits)
    merged = merge_profiles(divided)
    assert same(merged, whole)
    assert merged.word_ids.dtype == whole.word_ids.dtype
    # Whatever the grouping: the merge of merges too.
    assert same(merge_profiles([merge_profiles(divided[:1]), *divided[1:]]), whole)


def test_only_profiles_measured_alike_merge():
    with pytest.raises(PhidriftError, match=r"not measured alike.*same encoder, lm, sentences and lm_tokens"):
        merge_profiles([measured(TEXTS, sentences=4), measured(TEXTS, sentences=5)])
    with pytest.raises(PhidriftError, match="not measured alike"):
        merge_profiles([measured(TEXTS), profile(TEXTS)])
    with pytest.raises(PhidriftError, match="no profile to merge"):
        merge_profiles([])
