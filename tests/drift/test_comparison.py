"""Comparison: matched samples, floors, what is undefined, and the metrics of whole corpora against plain code."""

import dataclasses
import doctest
import importlib
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from made_corpora import corpus, fake_encoder, fake_scorer, measured
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from phidrift.core import text as units
from phidrift.drift import METRICS, Settings, compare, compare_profiles, lexical, profile, sampling
from phidrift.drift.sampling import draw, draw_disjoint, full_sample, sample_sizes, share_vocabulary
from phidrift.drift.undefined import Undefined

SHARED = Path(__file__).parents[3] / "shared" / "corpora" / "multileg"
QUICK = Settings(repeats=6, floor_pairs=6, clusters=3, cluster_seeds=(0, 1), smoothing=0.0)
NAMES = [
    "jsd_unigram",
    "jsd_bigram",
    "vocab_overlap",
    "entropy_diff",
    "mtld_diff",
    "yules_k_diff",
    "distinct_1_diff",
    "distinct_2_diff",
    "self_repetition_diff",
    "sentence_length_mean_diff",
    "sentence_length_std_diff",
    "punctuation_ratio_diff",
    "digit_ratio_diff",
    "capitalized_ratio_diff",
    "readability_diff",
    "perplexity_diff",
    "line_break_density_diff",
    "key_value_ratio_diff",
    "bullet_ratio_diff",
    "all_caps_ratio_diff",
    "special_char_ratio_diff",
    "mmd",
    "frechet",
    "embedding_mean_distance",
    "cluster_jsd",
]


HERE = corpus(1, 60)
THERE = [text.upper() + "\n- Dose: 5%" for text in corpus(2, 40, 20, ("dee", "eve"))]


def test_registry_has_the_25_metrics_in_order():
    assert list(METRICS) == NAMES
    alike = [name for name, metric in METRICS.items() if metric.direction == "higher_is_more_alike"]
    assert alike == ["vocab_overlap"]
    for metric in METRICS.values():
        assert (metric.own is None) != (metric.between is None)
        assert (metric.kind == "value") == (metric.own is not None)
    families = [metric.family for metric in METRICS.values()]
    assert families == ["lexical"] * 16 + ["structural"] * 5 + ["semantic"] * 4


@pytest.fixture(scope="module")
def compared():
    return compare_profiles(measured(HERE), measured(THERE), QUICK).metrics


def test_every_metric_lies_in_its_range(compared):
    assert list(compared) == NAMES
    for name, found in compared.items():
        low, high = METRICS[name].range
        assert found.reason is None
        for number in (found.value, found.low, found.high, found.floor, found.value_full):
            assert number is not None
            assert low <= number <= (math.inf if high is None else high)
        assert found.low - 1e-12 <= found.value <= found.high + 1e-12
        if METRICS[name].kind == "value":
            assert found.value_full == abs(found.reference - found.candidate)
        else:
            assert found.reference is found.candidate is None


def test_full_values_are_those_of_plain_code(compared):
    here, there = ([units.words(text) for text in texts] for texts in (HERE, THERE))
    for n, name in ((1, "jsd_unigram"), (2, "jsd_bigram")):
        a, b = lexical.ngram_counts(here, n), lexical.ngram_counts(there, n)
        p, q = ([counts[gram] for gram in sorted(a | b)] for counts in (a, b))
        assert compared[name].value_full == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-12)
    words = [{word for document in side for word in document} for side in (here, there)]
    assert compared["vocab_overlap"].value_full == len(words[0] & words[1]) / len(words[0] | words[1])
    for found, side in (
        (compared["entropy_diff"].reference, here),
        (compared["entropy_diff"].candidate, there),
    ):
        assert found == pytest.approx(entropy(list(lexical.ngram_counts(side, 1).values())))
    assert compared["mtld_diff"].candidate == pytest.approx(lexical.mtld(there))
    for n in (1, 2):
        counts = lexical.ngram_counts(here, n)
        assert compared[f"distinct_{n}_diff"].reference == pytest.approx(len(counts) / counts.total())
    fours = lexical.ngram_counts(here, 4)
    repeated = sum(count > 1 for count in fours.values()) / len(fours)
    assert repeated > 0
    assert compared["self_repetition_diff"].reference == pytest.approx(repeated)
    # Two nats a token, by construction.
    assert compared["perplexity_diff"].reference == pytest.approx(math.e**2)
    # One break among the tokens of every text: 100 * texts / tokens.
    density = 100 * len(THERE) / sum(len(units.tokens(text)) for text in THERE)
    assert compared["line_break_density_diff"].candidate == pytest.approx(density)
    lengths = [len(units.tokens(s)) for text in THERE for s in units.sentences(text)]
    assert compared["sentence_length_std_diff"].candidate == pytest.approx(np.std(lengths))
    points = [fake_encoder([s for text in texts for s in units.sentences(text)]) for texts in (HERE, THERE)]
    apart = math.dist(points[0].mean(0, dtype=float), points[1].mean(0, dtype=float))
    assert compared["embedding_mean_distance"].value_full == pytest.approx(apart)


def test_a_corpus_against_itself_is_alike_and_never_clear():
    shuffled = random.Random(3).sample(HERE, len(HERE))
    found = compare_profiles(
        measured(HERE), measured([t.replace("\n", "\r\n") for t in shuffled]), QUICK
    ).metrics
    for name, each in found.items():
        alike = 1 if name == "vocab_overlap" else 0
        assert each.value == each.low == each.high == each.value_full == alike
        assert each.clear is False


def test_another_corpus_is_clear_and_another_half_is_not():
    far = compare_profiles(measured(HERE), measured(THERE), QUICK).metrics
    assert far["jsd_unigram"].clear
    assert far["vocab_overlap"].clear
    assert far["vocab_overlap"].value < far["vocab_overlap"].floor
    near = compare_profiles(measured(HERE), measured(corpus(5, 60)), QUICK).metrics
    assert not near["jsd_unigram"].clear
    assert not near["vocab_overlap"].clear
    # Unmatched or not, halves of one source differ: that is what the floor is for.
    assert near["jsd_unigram"].value > 0.01


def test_results_repeat_and_depend_on_the_seed():
    def value(seed):
        settings = dataclasses.replace(QUICK, seed=seed)
        return compare(HERE, THERE, settings=settings).metrics["jsd_unigram"].value

    assert value(1) == value(1) != value(2)


def test_jsd_and_overlap_are_symmetric():
    ahead, back = compare(HERE, THERE, settings=QUICK).metrics, compare(THERE, HERE, settings=QUICK).metrics
    for name in ("jsd_unigram", "jsd_bigram", "vocab_overlap", "entropy_diff"):
        assert ahead[name].value_full == pytest.approx(back[name].value_full, abs=1e-12)


def shared(*texts, settings=QUICK):
    return share_vocabulary([measured(each) for each in texts], settings)


def test_sample_size_is_the_smallest_corpus_or_half_the_smallest_reference():
    ten = [
        "one two three four five six seven eight nine " + str(i) for i in range(9)
    ]  # 9 documents of 10 tokens
    many, few = shared([f"{text} {n}" for text in ten for n in range(9)], ten)
    # Reference `few`: (90 - 10) / 2 = 40. As a candidate its 90 tokens are the smallest corpus.
    assert sample_sizes([many, few], [few], QUICK)["tokens"] == 40
    assert sample_sizes([many, few], [many], QUICK)["tokens"] == 90
    # One sentence a document: (9 - 1) / 2.
    assert sample_sizes([many, few], [few], QUICK)["sentences"] == 4
    fixed = dataclasses.replace(QUICK, sample_tokens=33)
    assert sample_sizes([many, few], [few], fixed)["tokens"] == 33


def test_a_sample_takes_whole_documents_until_its_size_is_reached():
    here, there = shared(HERE, THERE)
    for number in range(5):
        sample = draw(here, "tokens", 100, number)
        sizes = here.sizes["tokens"][sample.documents]
        assert 100 <= sample.size("tokens") < 100 + here.sizes["tokens"].max()
        assert sample.totals["tokens"] == sizes.sum()
        assert sample.unigrams[1].sum() == sample.totals["words"]
    assert not np.array_equal(draw(here, "tokens", 100, 0).documents, draw(here, "tokens", 100, 1).documents)
    assert len(draw(there, "sentences", 9, 0).embeddings) >= 9


def test_the_first_documents_of_an_order_are_those_of_the_whole_order():
    texts = [f"note {number % 40} of a patient" for number in range(100)]  # 40 texts, most of them thrice
    (corpus,) = share_vocabulary([profile(texts)], Settings())
    whole = corpus.order("value", 3, 100)
    assert sorted(whole.tolist()) == list(range(100))
    for most in (0, 1, 17, 50, 99):
        first = corpus.order("value", 3, most)
        assert len(first) > most
        assert np.array_equal(first, whole[: len(first)])
        # Whole with its copies: what follows is another text.
        assert len(first) == 100 or corpus.texts[whole[len(first)]] != corpus.texts[first[-1]]


def test_a_sample_of_uneven_documents_is_found_whatever_its_margin(monkeypatch):
    texts = ["word"] * 3 + [f"a {number}" for number in range(200)] + ["long note " * 300]
    (corpus,) = share_vocabulary([profile(texts)], Settings())
    samples = [draw(corpus, "tokens", 300, number).documents for number in range(20)]
    pairs = [draw_disjoint(corpus, "tokens", 60, number) for number in range(20)]
    monkeypatch.setattr(sampling, "_MARGIN", 0.0)
    monkeypatch.setattr(sampling, "_MARGIN_DOCUMENTS", 1)
    for number in range(20):
        assert np.array_equal(draw(corpus, "tokens", 300, number).documents, samples[number])
        again = draw_disjoint(corpus, "tokens", 60, number)
        assert all(
            np.array_equal(a.documents, b.documents) for a, b in zip(again, pairs[number], strict=True)
        )


def test_every_document_is_as_likely():
    # 60 documents, samples of about 13 of 16 tokens: drawn 400 times, each is in 13/60 of them, give or take
    # 5 standard errors of sqrt(.217 * .783 / 400) = 0.0206.
    here, _ = shared(HERE, THERE)
    drawn = np.zeros(len(HERE))
    for number in range(400):
        drawn[draw(here, "tokens", 200, number).documents] += 1
    share = drawn.mean() / 400
    assert np.abs(drawn / 400 - share).max() < 5 * math.sqrt(share * (1 - share) / 400)


def test_copies_go_together():
    # 30 texts of four words each, three times: a sample of 20 tokens is two texts with all their copies (24).
    tripled, _ = shared([f"a b c d{n}" for n in range(30)] * 3, HERE)
    for number in range(20):
        first, second = draw_disjoint(tripled, "tokens", 20, number)
        assert first.size("tokens") == second.size("tokens") == 24
        assert not set(tripled.texts[first.documents]) & set(tripled.texts[second.documents])
    # All copies of one text are one text: it has a number, and nothing to judge it by.
    twins, _ = shared(["a b c d"] * 20, HERE)
    assert len(draw(twins, "tokens", 8, 0).documents) == 20
    with pytest.raises(Undefined, match="too few documents for samples of 8 tokens"):
        draw_disjoint(twins, "tokens", 8, 0)


def test_copying_a_corpus_moves_neither_its_value_nor_its_floor():
    settings = dataclasses.replace(QUICK, repeats=40, floor_pairs=40)
    parts = corpus(11, 120), corpus(12, 120)
    once = compare(*parts, settings=settings).metrics["jsd_unigram"]
    copied = compare(*(part * 3 for part in parts), settings=settings).metrics["jsd_unigram"]
    assert copied.value == pytest.approx(once.value, rel=0.1)
    assert copied.floor == pytest.approx(once.floor, rel=0.1)
    assert copied.clear == once.clear


def test_disjoint_samples_always_fit_into_a_reference():
    lengths = [50, 3, 9, 12, 7, 30, 4, 18, 25, 11]
    uneven = [" ".join(f"w{i}x{j}" for j in range(length)) for i, length in enumerate(lengths)]
    reference, large = shared(uneven, HERE)
    size = sample_sizes([reference, large], [reference], QUICK)["tokens"]
    assert size == (sum(lengths) - 50) // 2
    for number in range(40):
        first, second = draw_disjoint(reference, "tokens", size, number)
        assert not set(first.documents) & set(second.documents)
        assert min(first.size("tokens"), second.size("tokens")) >= size


def test_too_small_for_disjoint_samples_has_a_value_but_no_floor():
    found = compare(HERE, THERE[:1], settings=QUICK).metrics["jsd_unigram"]
    assert found.value is not None
    assert found.floor is found.clear is None
    assert found.reason.startswith("no floor of the candidate: too few documents for samples of")


def test_too_small_for_the_wanted_size_has_no_value():
    found = compare(HERE, THERE[:3], settings=dataclasses.replace(QUICK, sample_tokens=500)).metrics[
        "jsd_unigram"
    ]
    assert found.value is found.low is found.high is found.clear is None
    assert found.value_full is not None
    assert "too few documents for samples of 500 tokens" in found.reason


def test_skipped_models_and_empty_corpora_have_reasons():
    found = compare(HERE, THERE, settings=QUICK).metrics
    assert found["mmd"].value is found["mmd"].value_full is None
    assert found["mmd"].reason.startswith("no sentence embeddings")
    assert found["perplexity_diff"].reason.startswith("no perplexity was measured")
    empty = compare(HERE, [], settings=QUICK).metrics
    assert all(each.value is None and each.clear is None and each.reason for each in empty.values())
    assert empty["jsd_unigram"].reason.startswith("the corpus is empty")
    assert empty["entropy_diff"].reference is not None


def test_no_metric_is_a_silent_number_without_its_units():
    # Documents of three words have no 4-gram: self-repetition has no value, the others have.
    short = [f"a{i} b c" for i in range(12)]
    found = compare(HERE, short, settings=QUICK).metrics
    assert found["self_repetition_diff"].value_full is None
    assert found["self_repetition_diff"].reason.startswith("no n-grams")
    assert found["distinct_2_diff"].value_full is not None


def test_unmeasured_documents_are_not_sampled():
    limited = profile(HERE, encode=fake_encoder, score=fake_scorer, sentences=20, lm_tokens=60)
    here, _ = share_vocabulary([limited, measured(THERE)], QUICK)
    assert full_sample(here, "sentences").size("sentences") == 20
    sample = draw(here, "lm_tokens", 40, 0)
    assert (limited.predicted[sample.documents] > 0).all()
    assert sample.nll == 2.0 * sample.size("lm_tokens")
    with pytest.raises(Undefined, match=f"samples of {limited.predicted.sum() + 1} lm tokens"):
        draw(here, "lm_tokens", int(limited.predicted.sum()) + 1, 0)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared/corpora/multileg")
def test_random_halves_of_one_real_corpus_are_far_from_alike():
    # What the floor is for. Measured apart, with scipy: over 20 draws of 2 x 50 of the 2,500 English paragraphs,
    # unigram JSD of words is 0.301 bit (0.257 to 0.331) and vocabulary overlap 0.277; at 1,250 a side 0.052 and 0.53.
    texts = []
    for path in sorted(SHARED.glob("*.jsonl")):
        texts += [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]

    def halves(seed, size):
        drawn = random.Random(seed).sample(texts, 2 * size)
        first, second = (
            lexical.ngram_counts(map(units.words, half), 1) for half in (drawn[:size], drawn[size:])
        )
        p, q = ([counts[word] for word in first | second] for counts in (first, second))
        return lexical.jsd(p, q), lexical.vocab_overlap(first, second)

    few = np.mean([halves(seed, 50) for seed in range(10)], axis=0)
    assert few == pytest.approx([0.301, 0.277], abs=0.02)
    assert halves(0, 1_250) == pytest.approx([0.052, 0.53], abs=0.01)


@pytest.mark.parametrize("module", ["", ".lexical", ".structural", ".perplexity"])
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(f"phidrift.drift{module}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_what_is_no_corpus_and_no_setting():
    with pytest.raises(TypeError, match="not one text"):
        compare("a text", HERE)
    for wrong in ({"repeats": 0}, {"floor_pairs": 0}, {"clusters": 0}, {"cluster_seeds": ()}):
        with pytest.raises(ValueError, match="are the least"):
            Settings(**wrong)
