"""The classifier two-sample test and the permutation p of the MMD, against oracles and on made corpora."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from phidrift.drift import Undefined, two_sample
from phidrift.drift.two_sample import MarkedText, classifier_two_sample, clustered_auc

COMMON = (
    *("seen", "in", "clinic", "today", "with", "pain", "and", "no", "fever", "the", "knee"),
    *("is", "stable", "we", "plan", "a", "scan", "next", "week"),
)


def notes(seed, number, extra=(), share=0.0, spans=()):
    """Notes of twelve common words; a share of them also holds the extra words."""
    dice = random.Random(seed)
    made = []
    for _ in range(number):
        words = dice.choices(COMMON, k=12)
        if dice.random() < share:
            words += extra
        made.append(MarkedText("Note " + " ".join(words) + ".", spans))
    return made


def marked(text, name):
    """The note with every occurrence of a name labelled."""
    places, start = [], text.find(name)
    while start >= 0:
        places.append((start, start + len(name)))
        start = text.find(name, start + 1)
    return MarkedText(text, tuple(places))


def test_one_source_is_not_told_apart_and_the_interval_covers_half():
    covered, aucs = 0, []
    for seed in range(20):
        both = notes(seed, 100)
        result = classifier_two_sample(both[:50], both[50:], seed=seed, words=0)
        aucs.append(result.auc)
        covered += result.interval[0] <= 0.5 <= result.interval[1]
    # The AUC of 50 + 50 has a standard deviation of 0.084 here, the mean of 20 one of 0.019. Of 20 intervals at 95 %,
    # fewer than 17 is a chance of 0.003; without the correction for shared training data 83 % cover.
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.05)
    assert covered >= 17


def test_two_sources_are_told_apart_by_the_word_that_tells():
    reference, candidate = notes(1, 60), notes(2, 60, ["tumour"], 0.5)
    result = classifier_two_sample(reference, candidate)
    assert 0.65 < result.auc < 0.95  # half of the candidate is marked: 0.75 without the chance words
    assert result.interval[0] > 0.5
    assert result.candidate_words[0].word == "tumour"
    assert result.candidate_words[0].documents == sum("tumour" in each.text for each in candidate)
    assert result.blanked
    assert (result.reference_documents, result.candidate_documents) == (60, 60)


def test_a_corpus_against_itself_is_at_a_half_exactly():
    corpus = notes(3, 30)
    result = classifier_two_sample(corpus, corpus[::-1])
    assert result.auc == 0.5
    assert result.interval == pytest.approx((0.5, 0.5), abs=1e-12)


def test_copies_do_not_teach_the_classifier():
    # Ten copies of each of 30 notes a side, all of one source: split by document, every copy would be known.
    both = notes(4, 60)
    result = classifier_two_sample(both[:30] * 10, both[30:] * 10)
    plain = classifier_two_sample(both[:30], both[30:])
    assert result.reference_documents == 30
    assert result.interval[0] < 0.5 < result.interval[1]
    # Ten copies count as one observation, so that the interval is about as wide as without them.
    width, plain_width = (each.interval[1] - each.interval[0] for each in (result, plain))
    assert width == pytest.approx(plain_width, rel=0.35)


def test_perfectly_told_apart_has_the_exact_bound():
    reference = notes(5, 40, ["alpha"], 1.0)
    candidate = notes(6, 40, ["omega"], 1.0)
    result = classifier_two_sample(reference, candidate)
    # 8 + 8 documents in each of 5 folds make 40 independent pairs, all in order: 0.025^(1/40) = 0.912.
    assert result.auc == 1
    assert result.interval == (pytest.approx(0.025 ** (1 / 40)), 1.0)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_sides_mirror(seed, dice):
    reference, candidate = notes(seed, 15), notes(seed + 1, 20, ["scar"], 0.4)
    result = classifier_two_sample(reference, candidate, seed=seed)
    mixed = [dice.sample(side, len(side)) for side in (reference, candidate)]
    assert classifier_two_sample(*mixed, seed=seed) == result
    back = classifier_two_sample(candidate, reference, seed=seed)
    assert back.auc == pytest.approx(result.auc, abs=1e-6)
    assert {each.word for each in back.reference_words} == {each.word for each in result.candidate_words}


def test_auc_is_sklearns_on_the_same_folds():
    reference, candidate = notes(7, 30), notes(8, 40, ["scar"], 0.6)
    result = classifier_two_sample(reference, candidate, folds=4, seed=5)
    texts = sorted({each.text for each in reference + candidate})
    readings = {text: two_sample._read(text, (), False) for text in texts}
    data = two_sample._collect([reference, candidate], readings, 4, 5)
    fold_of = dict(zip(sorted(reading.group for reading in readings.values()), data.folds, strict=True))
    vocabulary = sorted({word for reading in readings.values() for word in reading.seen})
    rows, sides, folds = [], [], []
    for side, documents in enumerate((reference, candidate)):
        for each in documents:
            words = each.text.lower().rstrip(".").split()
            rows.append([float(word in words) for word in vocabulary])
            sides.append(side)
            folds.append(fold_of[readings[each.text].group])
    rows, sides, folds = map(np.array, (rows, sides, folds))
    aucs = []
    for fold in range(4):
        model = LogisticRegression(class_weight="balanced", max_iter=1000)
        model.fit(rows[folds != fold], sides[folds != fold])
        scores = model.decision_function(rows[folds == fold])
        aucs.append(roc_auc_score(sides[folds == fold], scores))
    # One pair in a fold is 1 / 80; solvers stop at 1e-4 of the gradient, which may turn the order of a near tie.
    assert result.auc == pytest.approx(np.mean(aucs), abs=0.004)


def delong_by_loops(low, high):
    """AUC and DeLong's variance from all pairs."""
    order = [[(h > s) + 0.5 * (h == s) for h in high] for s in low]
    auc = np.mean(order)
    of_low, of_high = np.mean(order, axis=1), np.mean(order, axis=0)
    return auc, np.sum((of_low - auc) ** 2) / len(low) ** 2 + np.sum((of_high - auc) ** 2) / len(high) ** 2


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=12), st.lists(st.integers(0, 6), min_size=2, max_size=12)
)
def test_clustered_auc_is_delongs_where_every_document_is_alone(low, high):
    n = len(low) + len(high)
    auc, variance = clustered_auc(
        low + high, [1] * len(low) + [0] * len(high), [0] * len(low) + [1] * len(high)
    )
    expected, expected_variance = delong_by_loops(low, high)
    assert auc == pytest.approx(expected)
    assert auc == pytest.approx(roc_auc_score([0] * len(low) + [1] * len(high), low + high))
    assert variance == pytest.approx(expected_variance * n / (n - 1), abs=1e-12)


def test_clustered_auc_by_hand():
    # Low 1, 2; high 2, 3. Pairs: 1<2, 1<3, 2=2, 2<3: 3.5 of 4. The documents at 2 are one cluster of the two sides.
    # Influences: cluster 1: (1 - 7/8) / 2 = 1/16; cluster 3: (1 - 7/8) / 2 = 1/16; cluster 2: (3/4 - 7/8) / 2 twice,
    # -1/8. Variance: 3/2 * (1/256 + 1/256 + 4/256) = 9/256.
    auc, variance = clustered_auc([1, 2, 3], [1, 1, 0], [0, 1, 1])
    assert auc == 0.875
    assert variance == pytest.approx(9 / 256)
    with pytest.raises(Undefined, match="a side"):
        clustered_auc([1, 2], [1, 1], [0, 0])


def shown(result):
    return {each.word for each in (*result.reference_words, *result.candidate_words)}


def test_a_word_has_to_stand_in_k_different_documents():
    reference, candidate = notes(9, 40), notes(10, 36) + notes(11, 4, ["rarity"], 1.0)
    assert "rarity" not in shown(classifier_two_sample(reference, candidate, words=50))
    assert "rarity" in shown(classifier_two_sample(reference, candidate, words=50, least_documents=4))
    # Copies are one document, however often.
    copied = classifier_two_sample(reference, candidate + candidate[-4:] * 5, words=50)
    assert "rarity" not in shown(copied)


@pytest.mark.parametrize("labelled", [True, False])
def test_names_are_not_shown(labelled):
    reference = notes(12, 40, spans=() if labelled else None)
    candidate = []
    for number, each in enumerate(notes(13, 40, ["by", "Keller", "at", "1450", "tumour"], 1.0)):
        text = each.text.replace("1450", "1450" if labelled else f"145{number % 2}")
        candidate.append(marked(text, "Keller") if labelled else MarkedText(text))
    result = classifier_two_sample(reference, candidate, words=50)
    assert "keller" not in shown(result)
    assert "tumour" in shown(result)
    assert not any(word.isdigit() for word in shown(result))
    assert result.blanked == labelled
    assert result.auc == 1


def test_the_classifier_does_not_see_labelled_names():
    both = notes(14, 80)
    named = [marked(each.text[:-1] + " Keller.", "Keller") for each in both[40:]]
    blanked = classifier_two_sample(both[:40], named)
    assert blanked.interval[0] < 0.5 < blanked.interval[1]
    # One unlabelled document: blanking the rest would tell the sides apart, so nothing is blanked ...
    half = classifier_two_sample([*both[:39], MarkedText(both[39].text)], named, words=50)
    assert not half.blanked
    assert half.auc == 1
    assert "keller" not in shown(half)  # ... but still not shown


def test_a_name_missed_by_the_annotators_is_not_shown():
    # Labelled in 30 documents, missed in 6: a word that is PHI anywhere is never shown.
    reference = notes(15, 40)
    texts = [each.text[:-1] + " Keller." for each in notes(16, 36)]
    candidate = [marked(text, "Keller") for text in texts[:30]] + [
        MarkedText(text, ()) for text in texts[30:]
    ]
    assert "keller" not in shown(classifier_two_sample(reference, candidate, words=50))
    # A name that is labelled in one copy of a text is labelled in all of them.
    twice = [MarkedText(text, ()) for text in texts] + [marked(text, "Keller") for text in texts]
    assert "keller" not in shown(classifier_two_sample(reference, twice, words=50))


def test_what_looks_like_a_name_in_unlabelled_text():
    reference = [MarkedText(each.text) for each in notes(17, 40)]
    cases = {
        "Keller": False,  # capitalised inside sentences
        "tumour": True,
        "b12": False,  # holds a digit
        "病院": False,  # no case: nothing tells a name from a word
        "_____": False,
    }
    for word, expected in cases.items():
        candidate = [MarkedText(f"{each.text[:-1]} {word} again.") for each in notes(18, 40)]
        found = shown(classifier_two_sample(reference, candidate, words=50))
        assert (word.casefold() in found) == expected
        assert "again" in found
    # At the beginning of sentences alone nothing tells a name; once inside, lower case does.
    first = [MarkedText(f"Keller. {each.text}") for each in notes(19, 40)]
    assert "keller" not in shown(classifier_two_sample(reference, first, words=50))
    spoken = [MarkedText(f"Referred. {each.text[:-1]} referred.") for each in notes(20, 40)]
    assert "referred" in shown(classifier_two_sample(reference, spoken, words=50))
    # All lower case on one side does not clear a name that the other side capitalises.
    lower = [MarkedText(f"{each.text[:-1]} keller keller.") for each in notes(21, 40)]
    upper = [*reference, MarkedText("Seen by Keller.")]
    assert "keller" not in shown(classifier_two_sample(upper, lower, words=50))


def test_addresses_neither_show_a_name_nor_clear_it():
    reference = [MarkedText(each.text) for each in notes(22, 40)]
    # The mail address writes the name in lower case, beside the signature that doesn't.
    signed = [
        MarkedText(f"{each.text[:-1]} by Keller at keller@example.org again.") for each in notes(23, 40)
    ]
    found = shown(classifier_two_sample(reference, signed, words=50))
    assert "again" in found
    assert not found & {"keller", "example", "org"}
    alone = [MarkedText(f"{each.text[:-1]} see https://example.org/keller again.") for each in notes(24, 40)]
    assert "keller" not in shown(classifier_two_sample(reference, alone, words=50))


def test_a_word_marked_once_is_never_shown():
    # Marked in one document of 40 and left open in 39.
    reference = notes(25, 40)
    texts = [each.text[:-1] + " keller." for each in notes(26, 40)]
    candidate = [marked(texts[0], "keller"), *(MarkedText(text, ()) for text in texts[1:])]
    assert "keller" not in shown(classifier_two_sample(reference, candidate, words=50))


def test_the_interval_does_not_jump_where_errors_end():
    reference, candidate = notes(27, 60), notes(28, 60, ["tumour"], 1.0)
    perfect = classifier_two_sample(reference, candidate)
    nearly = classifier_two_sample(reference, [*candidate[:-4], *notes(29, 4)])
    assert perfect.auc == 1
    assert 0.9 < nearly.auc < 1
    assert nearly.interval[0] <= perfect.interval[0]


TOO_LITTLE = {
    "empty": [],
    "one document": notes(1, 1),
    "copies of one": notes(1, 1) * 50,
    "blanks": [MarkedText(" " * number) for number in range(50)],
    "emoji": [MarkedText("😀" * number) for number in range(50)],
    "nine": notes(1, 9),
}


@pytest.mark.parametrize("name", TOO_LITTLE)
def test_too_few_documents(name):
    with pytest.raises(Undefined, match="fewer than 10 different documents in the candidate"):
        classifier_two_sample(notes(0, 20), TOO_LITTLE[name])
    with pytest.raises(Undefined, match="fewer than 10 different documents in the reference"):
        classifier_two_sample(TOO_LITTLE[name], notes(0, 20))


def test_odd_documents():
    alone = [[MarkedText(f"{side}{number}") for number in range(12)] for side in "ab"]
    with pytest.raises(Undefined, match="two different documents"):
        classifier_two_sample(*alone)
    # Blanks, lone surrogates and spans past the end among proper documents do no harm.
    odd = [MarkedText(""), MarkedText("\ud800 pain", ((0, 99),)), MarkedText("😀", ((5, 3),))]
    result = classifier_two_sample(notes(1, 12) + odd, notes(2, 12))
    assert 0 <= result.interval[0] <= result.auc <= result.interval[1] <= 1
    with pytest.raises(ValueError, match="two folds"):
        classifier_two_sample(notes(1, 12), notes(2, 12), folds=1)
