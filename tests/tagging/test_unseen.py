"""Recall on strings that the training set held, and on others; and the share of documents with a miss."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phidrift.core.document import Document, Span
from phidrift.tagging.lenient import token_offsets
from phidrift.tagging.miss_rates import WILSON_OF_GROUPS, miss_rates, missed_tokens
from phidrift.tagging.unseen import NO_TRAINING_SET, folded, gold_strings, recall_by_familiarity

TRAINING = [
    Document("a", "Ana  LEE left.", (Span(0, 8, "PERSON"), Span(9, 13, "DATE")), {}),
    Document("b", "Straße", None, {}),
]


def test_strings_of_one_entity_folded() -> None:
    assert gold_strings(TRAINING, "PERSON") == {"ana lee"}
    assert gold_strings(TRAINING, "DATE") == {"left"}
    assert gold_strings(TRAINING, "CONTACT") == frozenset()
    assert folded(" STRASSE\u00a01 ") == folded("straße 1")


def test_recall_by_familiarity_by_hand() -> None:
    # "ana\nlee" 0-7 is seen; "Bo" 9-11 and "Cy" 13-15 are not. The first run finds "ana\nlee" and "Bo", the second
    # "Cy" and half of the first, which is no hit: seen 1/1 and 0/1, unseen 1/2 and 1/2.
    text, gold = "ana\nlee, Bo, Cy", {(0, 7), (9, 11), (13, 15)}
    runs = [[{(0, 7), (9, 11)}], [{(13, 15), (0, 3)}]]
    found = recall_by_familiarity([text], [gold], runs, gold_strings(TRAINING, "PERSON"))
    assert found == {"seen": {"recall": 0.5, "support": 1}, "unseen": {"recall": 0.5, "support": 2}}


def test_recall_by_familiarity_without_support_or_training_set() -> None:
    found = recall_by_familiarity(["Bo"], [{(0, 2)}], [[set()]], frozenset())
    assert found["seen"] == {"recall": None, "support": 0, "reason": "no gold span is seen"}
    assert found["unseen"] == {"recall": 0.0, "support": 1}
    unknown = recall_by_familiarity(["Bo"], [{(0, 2)}], [[{(0, 2)}]], None)
    assert unknown["seen"] == unknown["unseen"]
    assert unknown["seen"] == {"recall": None, "support": None, "reason": NO_TRAINING_SET}


def test_no_string_is_in_the_result() -> None:
    found = recall_by_familiarity(["Ana Lee"], [{(0, 7)}], [[{(0, 7)}]], frozenset({"ana lee"}))
    assert "lee" not in json.dumps(found).casefold()


@given(
    gold=st.sets(st.integers(0, 9)),
    said=st.sets(st.integers(0, 9)),
    known=st.frozensets(st.sampled_from("abcdefghij")),
)
@settings(max_examples=60, deadline=None)
def test_seen_and_unseen_make_up_the_whole(gold: set[int], said: set[int], known: frozenset[str]) -> None:
    spans, found = ({(n, n + 1) for n in places} for places in (gold, said))
    parts = recall_by_familiarity(["abcdefghij"], [spans], [[found]], known)
    assert sum(part["support"] for part in parts.values()) == len(gold)
    hits = sum((part["recall"] or 0) * part["support"] for part in parts.values())
    assert hits == pytest.approx(len(gold & said))


# Tokens: Dr(0,2) .(2,3) Anna(4,8) Weber(9,14) on(15,17) 3(18,19) /(19,20) 4(20,21)
TEXT = "Dr. Anna Weber on 3/4"


@pytest.mark.parametrize(
    ("gold", "predicted", "missed", "held"),
    [
        ({(4, 14)}, {(4, 14)}, 0, 2),
        ({(4, 14)}, {(4, 8), (9, 14)}, 0, 2),  # in two spans: the blank between them gives nobody away
        ({(4, 14)}, {(0, 8)}, 1, 2),
        ({(4, 14)}, {(4, 11)}, 1, 2),  # "ber" is left
        ({(5, 8)}, {(5, 8)}, 0, 1),  # only what is gold must be covered: the A of Anna is not
        ({(18, 21)}, set(), 3, 3),
        (set(), {(0, 8)}, 0, 0),
        ({(4, 8), (4, 14)}, {(4, 8), (0, 8)}, 1, 2),  # several entities, so spans overlap
    ],
)
def test_missed_tokens_by_hand(
    gold: set[tuple[int, int]], predicted: set[tuple[int, int]], missed: int, held: int
) -> None:
    assert missed_tokens(token_offsets(TEXT), gold, predicted) == (missed, held)


def test_miss_rates_by_hand() -> None:
    # Four documents; the third holds nothing. First run: one of three with a miss (2 tokens); second: two (1 + 1).
    # The share is the mean of 1/3 and 2/3.
    runs = [[(2, 2), (0, 3), (0, 0), (0, 1)], [(1, 2), (1, 3), (0, 0), (0, 1)]]
    found = miss_rates(runs, "abcd", resamples=200, seed=1)
    assert found["share"] == pytest.approx(0.5)
    assert (found["documents"], found["documents_missed"]) == (3, pytest.approx(1.5))
    assert (found["tokens"], found["tokens_missed"]) == (6, 2.0)
    # Wilson, 1.5 of 3: middle 0.5, half sqrt(3.84146 * (0.25 + 3.84146 / 12) / 3) / (1 + 3.84146 / 3) = 0.37468.
    assert found["interval"] == "Wilson"
    assert (found["low"], found["high"]) == pytest.approx((0.12532, 0.87468), abs=1e-4)
    assert miss_rates(runs, "abcd", resamples=0, seed=1) == found  # it needs no bootstrap


def test_groups_are_drawn_whole() -> None:
    # Half of 100 notes have a miss. Drawn singly, 0.5 +- 2 * sqrt(0.25 / 100) is 0.4 to 0.6. If they are those of one
    # of two patients, a quarter of the draws has that patient twice, and a quarter not at all: 0 to 1.
    many = [[(1, 1)] * 50 + [(0, 1)] * 50]
    alone = miss_rates(many, list(range(100)), resamples=2000, seed=1)
    assert alone["low"] == pytest.approx(0.4, abs=0.02)
    assert alone["high"] == pytest.approx(0.6, abs=0.02)
    # Two patients are too few for a bootstrap. Wilson, 1 of 2: 0.5 +- sqrt(z2 * (0.25 + z2 / 8) / 2) / (1 + z2 / 2)
    # = 0.5 +- sqrt(3.84146 * 0.73018 / 2) / 2.92073 = 0.5 +- 0.40547.
    paired = miss_rates(many, [0] * 50 + [1] * 50, resamples=2000, seed=1)
    assert paired["interval"] == WILSON_OF_GROUPS
    assert (paired["low"], paired["high"]) == pytest.approx((0.09453, 0.90547), abs=1e-4)
    # Ten patients with ten notes, five of them with misses alone: the draws hold binomial(10, 0.5) / 10 of those, of
    # which the middle 95 % are 0.2 to 0.8.
    ten = miss_rates(many, [number // 10 for number in range(100)], resamples=2000, seed=1)
    assert ten["interval"] == "bootstrap"
    assert (ten["low"], ten["high"]) == (pytest.approx(0.2), pytest.approx(0.8))
    bare = miss_rates(many, [number // 10 for number in range(100)], resamples=0, seed=1)
    assert (bare["share"], bare["low"], bare["high"], bare["interval"]) == (0.5, None, None, None)
    assert bare["reason"] == "no interval: no resamples were asked for"


def test_few_misses_have_an_interval_wide_enough() -> None:
    # 1 of 47, z2 = 3.84146: middle (1/47 + z2/94) / (1 + z2/47) = 0.062143 / 1.081733 = 0.057448, half
    # sqrt(z2 * (1/47 * 46/47 + z2/188) / 47) / 1.081733 = sqrt(3.84146 * 0.041257 / 47) / 1.081733 = 0.053683.
    found = miss_rates([[(1, 1)] + [(0, 1)] * 46 + [(0, 0)] * 3], list(range(50)), resamples=1000, seed=1)
    assert found["interval"] == "Wilson"
    assert (found["low"], found["high"]) == pytest.approx((0.003765, 0.111131), abs=1e-5)
    # Groups with one such document each are the same: here each of the last three belongs to another's.
    grouped = miss_rates(
        [[(1, 1)] + [(0, 1)] * 46 + [(0, 0)] * 3], [*range(47), 0, 1, 2], resamples=0, seed=1
    )
    assert grouped == found


def test_groups_of_different_sizes_are_fewer_trials() -> None:
    # Three notes of one patient, one of them with a miss, and one note of another: 4^2 / (3^2 + 1) = 1.6 trials, 0.25
    # of them missed. Middle (0.25 + z2/3.2) / (1 + z2/1.6) = 1.450456 / 3.400912 = 0.426490, half
    # sqrt(z2 * (0.1875 + z2/6.4) / 1.6) / 3.400912 = sqrt(3.84146 * 0.787728 / 1.6) / 3.400912 = 0.404370.
    found = miss_rates([[(1, 1), (0, 1), (0, 1), (0, 1)]], "aaab", resamples=500, seed=1)
    assert found["interval"] == WILSON_OF_GROUPS
    assert (found["low"], found["high"]) == pytest.approx((0.022120, 0.830860), abs=1e-4)


@given(
    notes=st.lists(
        st.tuples(st.integers(0, 8), st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=40
    ),
    resamples=st.integers(0, 40),
)
@settings(max_examples=150, deadline=None)
def test_an_interval_of_a_share_with_a_miss_lies_above_nothing(
    notes: list[tuple[int, bool, bool, bool]], resamples: int
) -> None:
    # Two runs miss the notes of the third and of the fourth; the second says whether a note holds PHI.
    runs = [[(int(held and missed[run]), int(held)) for _, held, *missed in notes] for run in (0, 1)]
    found = miss_rates(runs, [note[0] for note in notes], resamples=resamples, seed=1)
    if found["share"] and found["low"] is not None:
        assert 0 < found["low"] <= found["high"] <= 1
        assert found["interval"] == "bootstrap" or found["low"] <= found["share"] <= found["high"]


def test_a_share_of_nothing_or_all_has_no_bootstrap() -> None:
    # None of 30: up to 3/30. A fifth document without PHI counts nowhere.
    none = miss_rates([[(0, 1)] * 30 + [(0, 0)]], list(range(31)), resamples=100, seed=1)
    assert (none["share"], none["low"], none["interval"]) == (0.0, 0.0, "rule of three")
    assert none["high"] == pytest.approx(0.1)
    # In two groups, it is two that were seen: 3/2, at most 1.
    assert miss_rates([[(0, 1)] * 30], [0, 1] * 15, resamples=100, seed=1)["high"] == 1.0
    # All of 4, Wilson: n / (n + z^2) = 4 / (4 + 3.8415) = 0.5101.
    every = miss_rates([[(1, 1)] * 4], "abcd", resamples=100, seed=1)
    assert (every["share"], every["high"], every["interval"]) == (1.0, 1.0, "Wilson")
    assert every["low"] == pytest.approx(4 / 7.8415, abs=1e-4)


def test_no_document_with_phi() -> None:
    found = miss_rates([[(0, 0), (0, 0)]], "ab", resamples=10, seed=1)
    assert (found["share"], found["documents"], found["reason"]) == (None, 0, "no document holds any")
