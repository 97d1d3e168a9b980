"""Recall on strings that the training set held, and on others; and the share of documents with a miss."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phidrift.core.document import Document, Span
from phidrift.tagging.lenient import token_offsets
from phidrift.tagging.miss_rates import miss_rates, missed_tokens
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
    assert found["interval"] == "bootstrap"
    assert found["low"] <= 0.5 <= found["high"]
    bare = miss_rates(runs, "abcd", resamples=0, seed=1)
    assert (bare["share"], bare["low"], bare["high"], bare["interval"]) == (0.5, None, None, None)
    assert bare["reason"] == "no interval: no resamples were asked for"


def test_groups_are_drawn_whole() -> None:
    # Half of 100 notes have a miss. Drawn singly, 0.5 +- 2 * sqrt(0.25 / 100) is 0.4 to 0.6. If they are those of one
    # of two patients, a quarter of the draws has that patient twice, and a quarter not at all: 0 to 1.
    many = [[(1, 1)] * 50 + [(0, 1)] * 50]
    alone = miss_rates(many, list(range(100)), resamples=2000, seed=1)
    assert alone["low"] == pytest.approx(0.4, abs=0.02)
    assert alone["high"] == pytest.approx(0.6, abs=0.02)
    paired = miss_rates(many, [0] * 50 + [1] * 50, resamples=2000, seed=1)
    assert (paired["low"], paired["high"]) == (0.0, 1.0)


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
