"""Strict and lenient span scores and their intervals, by hand. Against seqeval: test_seqeval_agreement.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phidrift.core.document import Document, Span
from phidrift.tagging import scores
from phidrift.tagging.evaluate import entity_scores
from phidrift.tagging.intervals import bootstrap, by_group, resampled_sums, wilson, without_width
from phidrift.tagging.lenient import overlap_scores, token_offsets, token_scores


def test_counts_by_hand() -> None:
    # (0, 4) is right; (10, 12) has the wrong end, so it is one false and (10, 14) one missed; (20, 24) is false.
    counts = scores.strict_counts({(0, 4), (10, 14)}, {(0, 4), (10, 12), (20, 24)})
    assert counts == (1, 2, 1)
    assert scores.precision(1, 2) == pytest.approx(1 / 3)
    assert scores.recall(1, 1) == 0.5
    assert scores.f1(*counts) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("gold", "predicted", "counts"),
    [
        ([(0, 4)], [], (0, 0, 1)),
        ([], [(0, 4)], (0, 1, 0)),
        ([], [], (0, 0, 0)),
        ([(0, 4), (4, 8)], [(0, 4), (4, 8)], (2, 0, 0)),  # adjacent entities are two
        ([(0, 4), (4, 8)], [(0, 8)], (0, 1, 2)),  # taken for one: one false, two missed
        ([(0, 8)], [(0, 4), (4, 8)], (0, 2, 1)),
        ([(0, 8)], [(2, 6)], (0, 1, 1)),  # one inside the other is as wrong as one elsewhere
        ([(2, 6)], [(0, 8)], (0, 1, 1)),
        ([(3, 9)], [(3, 8)], (0, 1, 1)),  # off by one character, at either end
        ([(3, 9)], [(2, 9)], (0, 1, 1)),
        ([(3, 9)], [(4, 10)], (0, 1, 1)),
        ([(3, 9)], [(3, 9), (3, 9)], (1, 0, 0)),  # said twice, counted once
        ([(3, 9), (3, 9)], [(3, 9)], (1, 0, 0)),
    ],
)
def test_known_counts(
    gold: list[tuple[int, int]], predicted: list[tuple[int, int]], counts: tuple[int, int, int]
) -> None:
    assert scores.strict_counts(gold, predicted) == counts
    assert scores.run_counts([gold, []], [predicted, []]).tolist() == [list(counts), [0, 0, 0]]


def test_documents_are_summed_before_anything_is_divided() -> None:
    # Document 1: 1 right. Document 2: 1 right, 2 false, 3 missed. tp 2, fp 2, fn 3: precision 2/4, recall 2/5,
    # F1 4 / (4 + 2 + 3). The mean of the documents' F1 would be (1 + 2 / (2 + 2 + 3)) / 2.
    gold = [{(0, 1)}, {(0, 1), (2, 3), (4, 5), (6, 7)}]
    counts = scores.run_counts(gold, [{(0, 1)}, {(0, 1), (10, 11), (12, 13)}])
    tp, fp, fn = scores.summary(counts)
    assert (scores.precision(tp, fp), scores.recall(tp, fn)) == (0.5, 0.4)
    assert scores.f1(tp, fp, fn) == pytest.approx(4 / 9)


def test_a_span_belongs_to_its_document() -> None:
    assert scores.run_counts([{(0, 4)}, set()], [set(), {(0, 4)}]).tolist() == [[0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(("gold", "predicted"), [(3, 2), (2, 1)])
def test_counts_that_do_not_add_up_are_a_fault(gold: int, predicted: int) -> None:
    # tp 1, fp 1, fn 1 can only come of 2 gold and 2 predicted spans.
    scores.check_counts(np.array([[1, 1, 1]]), 2, 2)
    with pytest.raises(RuntimeError, match=rf"tp 1, fp 1, fn 1 of {gold} gold and {predicted} predicted"):
        scores.check_counts(np.array([[1, 1, 1]]), gold, predicted)


def test_every_evaluation_makes_sure_that_counts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document("a", "On May 3.", (Span(3, 8, "DATE"),), {})
    right = [[{(3, 8)}]]
    assert entity_scores([document], "DATE", right, resamples=0, seed=1)[0]["tp"] == 1
    monkeypatch.setattr(scores, "strict_counts", lambda gold, predicted: (1, 1, 0))
    with pytest.raises(RuntimeError, match="don't add up"):
        entity_scores([document], "DATE", right, resamples=0, seed=1)


@pytest.mark.parametrize(
    ("gold", "predicted", "precision", "recall", "f1"),
    [
        ({(0, 1)}, set(), None, 0.0, 0.0),
        (set(), {(0, 1)}, 0.0, None, None),
        (set(), set(), None, None, None),
        ({(0, 1)}, {(0, 1)}, 1.0, 1.0, 1.0),
    ],
)
def test_what_is_undefined(
    gold: set[tuple[int, int]],
    predicted: set[tuple[int, int]],
    precision: float | None,
    recall: float | None,
    f1: float | None,
) -> None:
    tp, fp, fn = scores.strict_counts(gold, predicted)
    assert (scores.precision(tp, fp), scores.recall(tp, fn), scores.f1(tp, fp, fn)) == (precision, recall, f1)
    undefined = None in (precision, recall, f1)
    assert (scores.undefined_reason(len(gold), len(predicted)) is not None) == undefined


def test_mean_leaves_out_the_undefined() -> None:
    assert scores.mean_defined([0.5, None, 1.0]) == 0.75
    assert scores.mean_defined([None]) is None


def test_bootstrap_of_one_document_is_a_point() -> None:
    # Every draw is that document: F1 = 2*3 / (2*3 + 1 + 2) = 2/3.
    found = bootstrap(np.array([[[3, 1, 2]]]), 50, seed=1)
    assert found.f1 == pytest.approx((2 / 3, 2 / 3))
    assert found.precision == pytest.approx((3 / 4, 3 / 4))
    assert found.recall == pytest.approx((3 / 5, 3 / 5))


def test_bootstrap_of_two_documents_by_hand() -> None:
    # One perfect, one all missed. Draws: both perfect (1/4) F1 1, one each (1/2) F1 2/3, both missed (1/4) F1 0.
    counts = np.array([[[1, 0, 0], [0, 0, 1]]])
    assert bootstrap(counts, 2000, seed=1).f1 == pytest.approx((0.0, 1.0))
    assert bootstrap(counts, 2000, seed=1, level=0.4).f1 == pytest.approx((2 / 3, 2 / 3))
    # Recall is 1, 1/2 and 0. Precision is 1 wherever the first is drawn, and undefined where it isn't.
    assert bootstrap(counts, 2000, seed=1, level=0.4).recall == (0.5, 0.5)
    assert bootstrap(counts, 2000, seed=1).precision == (1.0, 1.0)


def test_bootstrap_draws_documents_jointly_over_runs() -> None:
    # The two runs are right on different documents, so the mean of their F1 is 0.5, or with a document drawn twice
    # (1 + 0) / 2: always 0.5 or (2/3 + 2/3) / 2. Independent draws would reach 0 and 1.
    counts = np.array([[[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [1, 0, 0]]])
    assert bootstrap(counts, 500, seed=3).f1 == pytest.approx((0.5, 2 / 3))


def test_bootstrap_covers_the_true_f1() -> None:
    # Documents with one gold span, found with probability 0.6 and no false ones: F1 = 2*0.6 / (2*0.6 + 0.4) = 0.75.
    rng = np.random.default_rng(0)
    covered = 0
    for trial in range(200):
        hit = rng.random(60) < 0.6
        counts = np.stack([hit, np.zeros(60, bool), ~hit], axis=-1)[None].astype(np.int64)
        interval = bootstrap(counts, 300, seed=trial).f1
        assert interval is not None
        covered += interval[0] <= 0.75 <= interval[1]
    # 95 % of 200 is 190; the percentile interval falls a little short, and 3 standard errors are 9.
    assert 176 <= covered <= 199


def test_bootstrap_without_anything_to_say() -> None:
    empty = np.zeros((1, 4, 3), np.int64)
    for nothing in (bootstrap(empty, 20, 1), bootstrap(empty[:, :0], 20, 1), bootstrap(empty + 1, 0, 1)):
        assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    only_false = bootstrap(np.array([[[0, 2, 0], [0, 1, 0]]]), 20, seed=1)
    assert (only_false.precision, only_false.recall, only_false.f1) == ((0.0, 0.0), None, None)


def test_the_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(1).integers(0, 5, (2, 7, 3))
    whole = resampled_sums(counts, 50, seed=4)
    monkeypatch.setattr("phidrift.tagging.intervals._DRAWN_AT_ONCE", 7 * 3)
    assert np.array_equal(resampled_sums(counts, 50, seed=4), whole)
    assert whole.shape == (50, 2, 3)


def test_groups_are_summed_and_drawn_whole() -> None:
    counts = np.array([[[1, 0, 2], [3, 0, 0], [0, 5, 1]]])
    assert by_group(counts, ["p", "q", "p"]).tolist() == [[[1, 5, 3], [3, 0, 0]]]
    # Each group has one found and one missed span, in two documents: whole groups have no spread.
    halves = np.array([[[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]]])
    assert bootstrap(by_group(halves, "aabb"), 200, seed=1).recall == (0.5, 0.5)
    alone = bootstrap(halves, 200, seed=1).recall
    assert alone is not None
    assert alone[0] < 0.5 < alone[1]


def test_wilson_by_hand() -> None:
    # 8 of 10, z^2 = 3.84146: middle (0.8 + 0.19207) / 1.38415 = 0.71673, half
    # 1.95996 * sqrt(0.8 * 0.2 / 10 + 3.84146 / 400) / 1.38415 = 0.22658.
    assert wilson(8, 10) == pytest.approx((0.71673 - 0.22658, 0.71673 + 0.22658), abs=1e-4)
    low, high = wilson(0, 10)
    assert (low, high) == (0.0, pytest.approx(3.84146 / 13.84146, abs=1e-5))


@given(trials=st.integers(1, 400), data=st.data())
def test_wilson_agrees_with_scipy(trials: int, data: st.DataObject) -> None:
    from scipy.stats import binomtest

    successes = data.draw(st.integers(0, trials))
    theirs = binomtest(successes, trials).proportion_ci(method="wilson")
    found = wilson(successes, trials)
    assert found == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert found[0] <= successes / trials <= found[1]


def test_what_serves_where_a_bootstrap_has_no_width() -> None:
    assert without_width(0.0, 60) == ((0.0, pytest.approx(0.05)), "rule of three")
    assert without_width(0.0, 2) == ((0.0, 1.0), "rule of three")
    found = without_width(1.0, 60)
    assert found is not None
    assert found == ((pytest.approx(60 / 63.84146, abs=1e-5), 1.0), "Wilson")
    assert without_width(0.5, 60) is None
    assert without_width(0.0, 0) is None


def test_lenient_scores_tell_a_boundary_from_a_miss() -> None:
    # Tokens: Seen(0,4) on(5,7) May(8,11) 3(12,13). Gold "May 3", predicted "3".
    offsets = token_offsets("Seen on May 3")
    assert offsets == [(0, 4), (5, 7), (8, 11), (12, 13)]
    gold, predicted = [{(8, 13)}], [{(12, 13)}]
    assert scores.f1(*scores.strict_counts(gold[0], predicted[0])) == 0
    # Tokens: 1 found, 0 false, 1 missed: precision 1, recall 1/2, F1 2/3. Spans that touch: 1 of 1 and 1 of 1.
    assert token_scores([offsets], gold, predicted) == (1.0, 0.5, pytest.approx(2 / 3))
    assert overlap_scores(gold, predicted) == (1.0, 1.0, 1.0)
    # A miss is a miss everywhere; touching ends share no character.
    assert token_scores([offsets], gold, [{(5, 8)}]) == (0.0, 0.0, 0.0)
    assert overlap_scores(gold, [{(5, 8)}]) == (0.0, 0.0, 0.0)
    # Nothing to find, nothing said: undefined as for the strict scores.
    for found, nothing in ((overlap_scores, [set()]), (lambda g, p: token_scores([offsets], g, p), [set()])):
        assert found(nothing, nothing) == (None, None, None)
        assert found(nothing, predicted) == (0.0, None, None)
        assert found(gold, nothing) == (None, 0.0, 0.0)


def test_overlap_by_hand() -> None:
    # One long prediction touches both gold spans, another none: right 1 of 2, found 2 of 2: 2 * 0.5 * 1 / 1.5.
    assert overlap_scores([{(0, 2), (3, 5)}], [{(0, 5), (8, 9)}]) == (0.5, 1.0, pytest.approx(2 / 3))


disjoint = st.lists(st.integers(0, 40), max_size=10, unique=True).map(
    lambda cuts: set(zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False))
)


@given(of=disjoint, by=disjoint)
@settings(max_examples=150, deadline=None)
def test_overlap_agrees_with_looking_at_characters(
    of: set[tuple[int, int]], by: set[tuple[int, int]]
) -> None:
    held = {position for start, end in by for position in range(start, end)}
    touched = sum(bool(held & set(range(*span))) for span in of)
    found = overlap_scores([by], [of])[2]
    if touched == 0:
        assert found == (0.0 if by else None)
    else:
        held = {position for start, end in of for position in range(start, end)}
        right, share = touched / len(of), sum(bool(held & set(range(*s))) for s in by) / len(by)
        assert found == pytest.approx(2 * right * share / (right + share))


@given(text=st.text(alphabet="ab1 .,-\n\tß中", max_size=40))
def test_token_offsets_give_the_tokens_back(text: str) -> None:
    from phidrift.core.text import tokens

    assert [text[start:end] for start, end in token_offsets(text)] == tokens(text)


def test_bounds() -> None:
    assert scores.bounds([Span(1, 2, "DATE"), Span(3, 5, "DATE")]) == {(1, 2), (3, 5)}


def test_all_scores_of_an_entity_by_hand() -> None:
    # "May 3" 3-8 and "Lee" 12-15 in one, "June" 0-4 in the other. Run 1 finds "May 3" and half of nothing; run 2 says
    # "3" and "June". Tokens of DATE: May, 3, June.
    documents = [
        Document("a", "On May 3 to Lee", (Span(3, 8, "DATE"), Span(12, 15, "PERSON")), {}),
        Document("b", "June", (Span(0, 4, "DATE"),), {}),
    ]
    values, runs = entity_scores(
        documents,
        "DATE",
        [[{(3, 8)}, set()], [{(7, 8)}, {(0, 4)}]],
        resamples=50,
        seed=1,
        known=frozenset({"june"}),
    )
    # Run 1: tp 1, fp 0, fn 1. Run 2: tp 1, fp 1, fn 1.
    assert runs[0] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert runs[1] == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert [values[name] for name in ("tp", "fp", "fn", "support")] == [2, 1, 2, 2]
    assert (values["precision"], values["recall"]) == (0.75, 0.5)
    assert values["f1"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    # Tokens, run 1: 2 of 3 found, none false; run 2: 3 and June, 2 of 3. Overlap: 1/1 and 1/2; 2/2 and 2/2.
    assert (values["token_precision"], values["token_recall"]) == (1.0, pytest.approx(2 / 3))
    assert (values["overlap_precision"], values["overlap_recall"]) == (1.0, 0.75)
    assert values["seen"] == {"recall": 0.5, "support": 1}  # "June": found by the second run
    assert values["unseen"] == {"recall": 0.5, "support": 1}
    assert values["recall_low"] <= values["recall"] <= values["recall_high"]
    assert "reason" not in values
