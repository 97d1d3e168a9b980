"""Lexical metrics: answers worked out by hand, and other libraries as oracles."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy

from phidrift.core import text as units
from phidrift.drift import Undefined, lexical

COUNTS = st.lists(st.integers(0, 50), min_size=6, max_size=6).filter(any)
WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=60)
NOTE = (
    "The patient was seen at the clinic and the patient was well. The daughter said that the patient was "
    "eating well, was sleeping well and was walking to the shop and to the church. The plan is to see the "
    "patient at the clinic in two weeks, or at the hospital if the pain in the chest and in the arm returns."
)


def lexical_richness(words: list[str]):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lexicalrichness import LexicalRichness
    return LexicalRichness(words, preprocessor=None, tokenizer=None)


def test_jsd_by_hand():
    # P = (1/2, 1/2, 0), Q = (0, 1/2, 1/2), M = (1/4, 1/2, 1/4).
    # KL(P||M) = 1/2 log2 2 + 1/2 log2 1 = 1/2, KL(Q||M) likewise, so JSD = 1/2 bit.
    assert lexical.jsd([1, 1, 0], [0, 1, 1]) == pytest.approx(0.5, abs=1e-15)
    assert lexical.jsd([3, 0], [0, 7]) == 1.0


@given(COUNTS, COUNTS)
def test_jsd_is_the_square_of_scipys_distance_in_bits(p, q):
    assert lexical.jsd(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-12)
    assert lexical.jsd(p, q) == pytest.approx(lexical.jsd(q, p), abs=1e-15)
    assert 0 <= lexical.jsd(p, q) <= 1
    assert lexical.jsd(p, [7 * count for count in p]) == pytest.approx(0, abs=1e-15)


def test_jsd_smoothing_moves_both_sides_towards_each_other():
    # One more half each: P = (1 + .5, .5) / 2 = (3/4, 1/4), Q = (1/4, 3/4): 1 - H(1/4) = 1 - 0.811278 bit.
    expected = 1 + 0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)
    assert lexical.jsd([1, 0], [0, 1], smoothing=0.5) == pytest.approx(expected, abs=1e-12)
    assert lexical.jsd([1, 0], [0, 1], smoothing=1e-12) == pytest.approx(1, abs=1e-9)


def test_jsd_refuses_different_vocabularies():
    with pytest.raises(ValueError, match="2 and 3"):
        lexical.jsd([1, 2], [1, 2, 3])


@given(
    st.dictionaries(st.integers(0, 30), st.integers(1, 9), min_size=1),
    st.dictionaries(st.integers(0, 30), st.integers(1, 9), min_size=1),
    st.sampled_from([0.0, 1e-12, 0.1]),
)
def test_jsd_of_counts_is_jsd_over_the_union(a, b, smoothing):
    union = sorted(a.keys() | b.keys())
    expected = lexical.jsd([a.get(n, 0) for n in union], [b.get(n, 0) for n in union], smoothing)
    sides = [(np.array(sorted(side)), np.array([side[n] for n in sorted(side)])) for side in (a, b)]
    assert lexical.jsd_of_counts(*sides, smoothing) == expected


def test_jsd_of_no_counts_is_undefined():
    nothing, something = (np.zeros(0, dtype=np.int64),) * 2, (np.array([3]), np.array([1]))
    for sides in ((nothing, something), (something, nothing), (nothing, nothing)):
        with pytest.raises(Undefined, match="no n-grams"):
            lexical.jsd_of_counts(*sides)


def test_jsd_of_nothing_is_undefined():
    with pytest.raises(Undefined, match="no n-grams"):
        lexical.jsd([0, 0], [1, 0])


@given(st.sets(st.integers(0, 20), min_size=1), st.sets(st.integers(0, 20), min_size=1))
def test_vocab_overlap(a, b):
    assert lexical.vocab_overlap(a, b) == len(a & b) / len(a | b)
    assert lexical.vocab_overlap(a, b) == lexical.vocab_overlap(b, a)
    assert lexical.vocab_overlap(b, b) == 1
    with pytest.raises(Undefined, match="no words"):
        lexical.vocab_overlap(set(), b)


@given(COUNTS)
def test_entropy_is_in_nats(counts):
    assert lexical.entropy(counts) == pytest.approx(scipy_entropy(counts), abs=1e-12)
    assert 0 <= lexical.entropy(counts) <= math.log(len(counts)) + 1e-12


def test_mtld_by_hand():
    # Forward over a b a b c d, ratio 1, 1, 2/3 <= 0.72: factor after 3 words; then b c d: ratio 1, no part.
    # One factor: 6 words. Backward d c b a b a: 1 1 1 1 4/5 4/6 <= 0.72: one factor, 6 words. Mean 6.
    assert lexical.mtld([list("ababcd")]) == 6
    # a b c d a: the last ratio is 4/5 in both directions, part (1 - .8) / .28 = 5/7: 5 / (5/7) = 7.
    assert lexical.mtld([list("abcda")]) == pytest.approx(7)
    # Both together: 11 words, 1 + 5/7 factors each way. The mean of 6 and 7 would be another number.
    assert lexical.mtld([list("ababcd"), list("abcda")]) == pytest.approx(11 / (12 / 7))


def test_mtld_without_repetition_is_the_length():
    assert lexical.mtld([list("abcd")]) == 4
    assert lexical.mtld([list("ab"), list("cd")]) == 4


@given(WORDS, st.sampled_from([0.3, 0.5, 0.72, 0.9]))
def test_mtld_factors_are_those_of_a_check_at_every_word(words, threshold):
    factors, start = 0.0, 0
    for end in range(1, len(words) + 1):
        if len(set(words[start:end])) / (end - start) <= threshold:
            factors, start = factors + 1, end
    if rest := words[start:]:
        factors += (1 - len(set(rest)) / len(rest)) / (1 - threshold)
    assert lexical.mtld_factors(words, threshold) == factors


@pytest.mark.parametrize("threshold", [0, 1, 1.5, float("nan")])
def test_mtld_refuses_a_threshold_that_no_text_has(threshold):
    with pytest.raises(ValueError, match="between 0 and 1"):
        lexical.mtld_factors(["a"], threshold)


def test_mtld_of_nothing_is_undefined():
    with pytest.raises(Undefined, match="no words"):
        lexical.mtld([[]])


@settings(deadline=None)  # its import takes long
@given(WORDS.filter(bool))
def test_mtld_of_one_text_is_that_of_lexicalrichness(words):
    assert lexical.mtld([words]) == pytest.approx(lexical_richness(words).mtld(0.72), rel=1e-12)


@given(st.lists(WORDS, min_size=1, max_size=5).filter(any), st.randoms())
def test_mtld_ignores_the_order_of_documents(documents, random):
    shuffled = random.sample(documents, len(documents))
    assert lexical.mtld(shuffled) == pytest.approx(lexical.mtld(documents), rel=1e-12)


def test_on_words_of_a_note_as_lexicalrichness():
    words = units.words(NOTE + " On 12 and on 13 May, 12 of 13.")
    counts = np.unique(words, return_counts=True)[1]
    assert lexical.mtld([words]) == pytest.approx(lexical_richness(words).mtld(0.72), rel=1e-12)
    assert lexical.yules_k(counts) == pytest.approx(lexical_richness(words).yulek, rel=1e-12)


def test_yules_k_by_hand():
    # Frequencies 2 1 1, N = 4: 1e4 * (6/16 - 1/4) = 1250; without repetition N/N^2 - 1/N = 0.
    assert lexical.yules_k([2, 1, 1]) == 1250
    assert lexical.yules_k([1, 1, 1]) == 0


def test_ngrams_do_not_cross_documents():
    counts = lexical.ngram_counts([["a", "b"], ["c", "d", "e"], ["f"]], 2)
    assert counts == {("a", "b"): 1, ("c", "d"): 1, ("d", "e"): 1}


def test_repetition_by_hand():
    counts = list(lexical.ngram_counts([list("abcdabcd"), list("xy")], 4).values())
    # 4-grams of abcdabcd: abcd bcda cdab dabc abcd: 4 different of 5, one of the 4 twice. xy has none.
    assert sorted(counts) == [1, 1, 1, 2]
    assert lexical.distinct_n(counts) == 4 / 5
    assert lexical.self_repetition(counts) == 1 / 4


@pytest.mark.parametrize(
    "metric", [lexical.distinct_n, lexical.self_repetition, lexical.yules_k, lexical.entropy]
)
def test_of_no_ngrams_is_undefined(metric):
    with pytest.raises(Undefined):
        metric([])


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30))
def test_sentence_length_is_numpys(lengths):
    squared = sum(length**2 for length in lengths)
    assert lexical.sentence_length_mean(sum(lengths), len(lengths)) == pytest.approx(np.mean(lengths))
    std = lexical.sentence_length_std(squared, sum(lengths), len(lengths))
    assert std == pytest.approx(np.std(lengths), abs=1e-9)


def test_sentence_length_needs_sentences():
    with pytest.raises(Undefined, match="no sentences"):
        lexical.sentence_length_mean(0, 0)
    with pytest.raises(Undefined, match="no sentences"):
        lexical.sentence_length_std(0, 0, 0)


@pytest.mark.parametrize(
    ("chunk", "punctuation", "digit", "capital"),
    [
        ("Smith,", True, False, True),
        ("Élodie", False, False, True),
        ("ßen", False, False, False),
        ("ǅungla", False, False, True),  # title case, not upper case
        ("«oui»", True, False, False),  # punctuation outside ASCII
        ("\u0663\u0664", False, True, False),  # Arabic digits
        ("x²", False, False, False),  # a superscript is no decimal digit
        ("$5", False, True, False),  # a currency sign is a symbol, not punctuation
        ("(Lee", True, False, False),
    ],
)
def test_character_classes_are_unicode(chunk, punctuation, digit, capital):
    found = (lexical.has_punctuation(chunk), lexical.has_digit(chunk), lexical.is_capitalized(chunk))
    assert found == (punctuation, digit, capital)


@pytest.mark.parametrize(("word", "count"), [("patient", 2), ("medication", 4), ("cat", 1), ("120", 1)])
def test_syllables(word, count):
    assert lexical.syllables(word) == count


def test_flesch_kincaid_by_hand():
    # 10 words, 2 sentences, 15 syllables: 0.39 * 5 + 11.8 * 1.5 - 15.59 = 4.06.
    assert lexical.flesch_kincaid(10, 2, 15) == pytest.approx(4.06)
    with pytest.raises(Undefined):
        lexical.flesch_kincaid(0, 0, 0)


@pytest.mark.parametrize("counts", [[1, -1, 3], [math.nan, 1, 1], [math.inf, 1, 1]])
def test_what_are_no_counts(counts):
    with pytest.raises(ValueError, match="finite numbers, none below 0"):
        lexical.jsd(counts, [1, 1, 1])
    with pytest.raises(ValueError, match="finite numbers, none below 0"):
        lexical.entropy(counts)
