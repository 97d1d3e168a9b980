"""Text that no one expects: a defined number or a stated reason, never NaN, never a traceback, never a silent 0."""

import json
import math
import random
import time
from collections import Counter
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpora import corpus, fake_encoder, fake_scorer, measured

from phidrift.core import text as units
from phidrift.drift import METRICS, Settings, compare, compare_profiles, profile
from phidrift.drift.profile import normalise

QUICK = Settings(repeats=4, floor_pairs=4, clusters=3, cluster_seeds=(0, 1))
ORDINARY = corpus(1, 30)

WORDLESS = {
    *("jsd_unigram", "jsd_bigram", "entropy_diff", "mtld_diff", "yules_k_diff", "distinct_1_diff"),
    *("distinct_2_diff", "self_repetition_diff", "readability_diff", "vocab_overlap"),
}
# name -> (texts, the metrics that have no value against an ordinary corpus)
BAD = {
    "empty": ([], set(METRICS)),
    "blanks": (["", " ", "\n\t \r\n", "\u00a0\u2003"], set(METRICS)),
    "one document": (ORDINARY[:1], set()),
    # One word makes no bigram and no 4-gram, one sentence no covariance.
    "one token": (["knee"], {"jsd_bigram", "distinct_2_diff", "self_repetition_diff", "frechet"}),
    "all alike": (["Ann saw pain and fever. Bob left."] * 30, set()),
    "no sentence ends": (["ann saw the knee and left " * 3] * 4 + ["bob called the ward about a scan"], set()),
    # Digits are words; three of them make no 4-gram.
    "no letters": (["12 34/5.", "7 8 9?", "99 % (1)"], {"self_repetition_diff"}),
    "only emoji": (["😀 🩺🩺", "👩🏽‍⚕️!", "😀😀 🙂"], WORDLESS),
    "only signs": (["...", "?! --", "* * *"], WORDLESS),
    # Texts of two words, each in a sentence of its own.
    "lone surrogates": (["a \ud800 b", "\udfff c", "Ann \udc80. Bo \ud801."], {"self_repetition_diff"}),
    "NUL": (["\0", "a\0b c", "\0\0 left \0. A"], {"self_repetition_diff"}),
    "line ends": (["ann saw\r\nthe knee\rand\n\r\n\nleft", "bo\r\r\nleft the ward now"], set()),
    "one letter": (["a", "a a", "a a a", "a a a a", "a\na"], set()),
    "controls": (["\x1b[31mred\x1b[0m \x07 it is", "\u202eknee\u202c \ufeff ward of a"], set()),
    "combining": (["e\u0301" * 40 + " a b c", "\u0301\u0301 d e f g"], set()),
}  # fmt: skip


def check(drift):
    """Every number is finite, in range or None with a reason; the whole is JSON."""
    assert list(drift.metrics) == list(METRICS)
    json.dumps([asdict(each) for each in drift.metrics.values()], allow_nan=False)
    json.dumps(drift.sample, allow_nan=False)
    for name, found in drift.metrics.items():
        low, high = METRICS[name].range
        numbers = [found.value, found.low, found.high, found.floor, found.value_full]
        for number in numbers:
            assert number is None or low <= number <= (math.inf if high is None else high), (name, found)
        own = [found.reference, found.candidate]
        if METRICS[name].kind == "value":
            assert all(number is None or math.isfinite(number) for number in own), (name, found)
            if found.value_full is not None:
                assert found.value_full == abs(found.reference - found.candidate)
            numbers += own
        else:
            assert own == [None, None]
        missing = None in [*numbers, found.clear]
        assert missing == bool(found.reason), (name, found)


def grams(texts, n):
    """Shares of the n-grams of words, exactly."""
    counts = Counter()
    for text in texts:
        words = units.words(normalise(text))
        counts.update(zip(*(words[i:] for i in range(n)), strict=False))
    return {gram: Fraction(count, counts.total()) for gram, count in counts.items()}


def check_zeros(drift, here, there):
    """A divergence is 0, an overlap 1, only where plain code finds both sides the same."""
    full = {name: found.value_full for name, found in drift.metrics.items()}
    for n, name in ((1, "jsd_unigram"), (2, "jsd_bigram")):
        if full[name] is not None:
            assert (full[name] < 1e-15) == (grams(here, n) == grams(there, n)), name
    if full["vocab_overlap"] is not None:
        assert (full["vocab_overlap"] == 1) == (set(grams(here, 1)) == set(grams(there, 1)))
    points = [
        Counter(s for text in texts for s in units.sentences(normalise(text))) for texts in (here, there)
    ]
    means = [
        fake_encoder(sorted(each.elements())).mean(axis=0, dtype=float) if each else None for each in points
    ]
    if full["embedding_mean_distance"] is not None:
        assert full["embedding_mean_distance"] == pytest.approx(math.dist(*means), abs=1e-9)
    for name in ("mmd", "frechet"):
        # What the made encoder sees as different means can't be at no distance.
        if full[name] is not None and math.dist(*means) > 1e-6:
            assert full[name] > 0, name


@pytest.mark.parametrize("name", BAD)
def test_bad_text_against_an_ordinary_corpus(name):
    texts, undefined = BAD[name]
    bad, ordinary = measured(texts), measured(ORDINARY)
    for sides, profiles in (((ORDINARY, texts), (ordinary, bad)), ((texts, ORDINARY), (bad, ordinary))):
        found = compare_profiles(*profiles, QUICK)
        check(found)
        check_zeros(found, *sides)
        without = {name for name, each in found.metrics.items() if each.value_full is None}
        # Clusters are those of the reference, which has to have enough sentences.
        assert without - {"cluster_jsd"} == undefined - {"cluster_jsd"}


@pytest.mark.parametrize("name", BAD)
def test_bad_text_against_itself_and_other_bad_text(name):
    texts, _ = BAD[name]
    mine = measured(texts)
    for other, (others, _) in BAD.items():
        found = compare_profiles(mine, measured(others), QUICK)
        check(found)
        if other != name:
            check_zeros(found, texts, others)
            continue
        for metric, each in found.metrics.items():
            alike = 1 if metric == "vocab_overlap" else 0
            assert {each.value, each.low, each.high, each.value_full} <= {None, alike}, (metric, each)
            assert not each.clear


def test_what_cannot_be_measured_says_why():
    def reasons(here, there):
        found = compare_profiles(measured(here), measured(there), QUICK).metrics
        return {name: each.reason for name, each in found.items()}

    empty = reasons(ORDINARY, [])
    assert empty["jsd_unigram"].startswith("the corpus is empty")
    assert empty["mmd"].startswith("no sentence embeddings")
    assert empty["perplexity_diff"].startswith("no perplexity was measured")
    emoji = reasons(ORDINARY, BAD["only emoji"][0])
    assert emoji["jsd_unigram"].startswith("no n-grams")
    assert emoji["readability_diff"].startswith("no words")
    assert emoji["punctuation_ratio_diff"] is None
    token = reasons(ORDINARY, ["knee"])
    assert token["frechet"].startswith("fewer than 2 sentences")
    assert token["entropy_diff"].startswith(
        "no floor of the candidate: too few documents for samples of 1 tok"
    )
    # All words on one side and none on the other: an overlap of 0 would say that the other words differ.
    overlap = compare(ORDINARY, BAD["only emoji"][0], settings=QUICK).metrics["vocab_overlap"]
    assert overlap.value_full is overlap.value is None
    assert "no words" in overlap.reason


def test_a_line_end_is_a_line_end():
    lines = ["ann saw\nthe knee. Bo\n\nleft", "dose: 5\nmg daily\n"]
    mixed = [lines[0].replace("\n", "\r\n"), lines[1].replace("\n", "\r")]
    found = compare_profiles(measured(lines), measured(mixed), QUICK).metrics
    assert {each.value_full for name, each in found.items() if name != "vocab_overlap"} <= {0.0, None}
    # 3 breaks among 7 tokens, 2 among 5: 5 in 12.
    density = found["line_break_density_diff"]
    assert density.reference == density.candidate == pytest.approx(500 / 12)


def test_a_lone_surrogate_is_a_sign_of_its_own():
    found = compare_profiles(measured(["a \ud800 b"]), measured(["a ? b"]), QUICK).metrics
    assert found["punctuation_ratio_diff"].reference == pytest.approx(1 / 3)
    assert found["jsd_unigram"].value_full == 0


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


@pytest.mark.parametrize(
    "line",
    [
        "word and some text. More of it " * 170_000,  # 5.3 MB
        "dose: 5 mg; name=Ann, " * 240_000,
        "." * 5_000_000,
        " " * 5_000_000,
        ".'" * 2_500_000,
        "x " + "." + "'" * 5_000_000 + "x",
        "Dr. A " * 830_000,
    ],
    ids=["sentences", "pairs", "stops", "blanks", "quoted stops", "one stop, quotes", "titles"],
)
def test_a_line_of_five_megabytes_takes_seconds(line):
    compare(ORDINARY, ORDINARY[:9], settings=QUICK)  # imports
    took, found = seconds(lambda: compare(ORDINARY, [line], settings=QUICK))
    check(found)
    assert took < 10  # some 1 to 2 s; a step that grows with the square would take hours


def test_a_hundred_thousand_empty_documents():
    took, found = seconds(lambda: compare([""] * 100_000, ORDINARY, settings=QUICK))
    check(found)
    assert took < 10
    assert {each.value_full for each in found.metrics.values()} == {None}
    # Beside real ones they weigh nothing: no number moves.
    beside = compare([*ORDINARY, *[""] * 100_000], ORDINARY, settings=QUICK)
    for name, each in beside.metrics.items():
        assert each.value_full in (None, 1 if name == "vocab_overlap" else 0)
    assert beside.sample["reference"]["documents"] == 100_030
    assert beside.metrics["jsd_unigram"].reason is None


def test_fewer_sentences_than_dimensions():
    def wide(sentences):
        rows = [np.random.default_rng(sum(map(ord, s))).standard_normal(384) for s in sentences]
        return np.array(rows, dtype=np.float32).reshape(-1, 384)

    profiles = [profile(texts, encode=wide, encoder="wide") for texts in (ORDINARY[:3], corpus(2, 4))]
    found = compare_profiles(*profiles, QUICK)
    check(found)
    for name in ("mmd", "frechet", "embedding_mean_distance"):
        assert found.metrics[name].value_full > 0


def constant(value):
    return lambda sentences: np.full((len(sentences), 4), value, dtype=np.float32)


def test_constant_embeddings_agree_or_have_no_bandwidth():
    def semantic(first, second):
        profiles = [
            profile(texts, encode=encode, encoder="constant")
            for texts, encode in ((ORDINARY, first), (corpus(2, 20), second))
        ]
        found = compare_profiles(*profiles, QUICK)
        check(found)
        return {name: each for name, each in found.metrics.items() if each.family == "semantic"}

    same = semantic(constant(1), constant(1))
    for name in ("mmd", "frechet", "embedding_mean_distance"):
        assert same[name].value == same[name].value_full == 0
    assert "fewer than 3 different sentences" in same["cluster_jsd"].reason
    apart = semantic(constant(1), constant(3))
    # Four coordinates 2 apart: distance 4, squared 16, and no covariance.
    assert apart["embedding_mean_distance"].value == pytest.approx(4)
    assert apart["frechet"].value == pytest.approx(16)
    for broken in (math.nan, math.inf, -math.inf):
        for each in semantic(constant(1), constant(broken)).values():
            assert each.value is each.value_full is None
            assert each.reason


def test_fewer_points_than_clusters():
    few = measured(ORDINARY[:2])  # four sentences
    found = compare_profiles(few, measured(ORDINARY), replace(QUICK, clusters=9)).metrics["cluster_jsd"]
    assert found.value is found.value_full is found.clear is None
    assert "the reference has fewer than 9 different sentences to cluster" in found.reason


def test_more_documents_than_are_measured_or_none_of_them():
    # The first document by hash fills all limits; or the limits are 0.
    for limits in ({"sentences": 1, "lm_tokens": 1}, {"sentences": 0, "lm_tokens": 0}):
        found = compare_profiles(measured(ORDINARY, **limits), measured(ORDINARY, **limits), QUICK)
        check(found)
        assert found.metrics["frechet"].value_full in (None, 0)


# Letters, digits, ends of sentences and lines, what makes pairs, bullets and special signs, and any text at all.
texts = st.lists(st.one_of(st.text("aabbAB12  ..\n:-%é", max_size=40), st.text(max_size=12)), max_size=8)
TINY = Settings(repeats=2, floor_pairs=2, clusters=2, cluster_seeds=(0,))


@settings(max_examples=40, deadline=None)
@given(texts)
def test_any_corpus_against_itself(here):
    found = compare_profiles(measured(here), measured(here[::-1]), TINY)
    check(found)
    for name, each in found.metrics.items():
        assert {each.value, each.low, each.high, each.value_full} <= {
            None,
            1 if name == "vocab_overlap" else 0,
        }
        assert not each.clear


@settings(max_examples=40, deadline=None)
@given(texts, texts, st.randoms(use_true_random=False))
def test_any_two_corpora(here, there, dice):
    first, second = measured(here), measured(there)
    found, back = compare_profiles(first, second, TINY), compare_profiles(second, first, TINY)
    check(found)
    check_zeros(found, here, there)
    for name, each in found.metrics.items():
        if name != "cluster_jsd":
            expected = back.metrics[name].value_full
            assert each.value_full == (None if expected is None else pytest.approx(expected, abs=1e-9)), name
    shuffled = [measured(dice.sample(texts, len(texts))) for texts in (here, there)]
    assert compare_profiles(*shuffled, TINY) == found


def test_order_does_not_matter_with_copies():
    there = [*corpus(2, 20), *ORDINARY[:5], "", " "]
    found = compare_profiles(measured(ORDINARY), measured(there), QUICK)
    for seed in range(3):
        shuffled = random.Random(seed).sample(there, len(there))
        assert compare_profiles(measured(ORDINARY), measured(shuffled), QUICK) == found


def test_the_made_scorer_and_encoder_are_asked_for_every_document():
    # Guards the tests above: none would fail if nothing were measured.
    found = profile(ORDINARY, encode=fake_encoder, score=fake_scorer)
    assert len(found.embeddings) == 60
    assert (found.predicted > 0).all()
