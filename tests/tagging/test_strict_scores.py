"""Strict span scores: by hand, against seqeval, and as a module of evaluate."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import phidrift.tagging.strict_span_f1
from phidrift.core.document import Span
from phidrift.tagging import scores


def test_counts_by_hand() -> None:
    # (0, 4) is right; (10, 12) has the wrong end, so it is one false and (10, 14) one missed; (20, 24) is false.
    counts = scores.strict_counts({(0, 4), (10, 14)}, {(0, 4), (10, 12), (20, 24)})
    assert counts == (1, 2, 1)
    assert scores.precision(1, 2) == pytest.approx(1 / 3)
    assert scores.recall(1, 1) == 0.5
    assert scores.f1(*counts) == pytest.approx(0.4)


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


def _spans_of(labels: list[str]) -> set[tuple[int, int]]:
    """Strict IOB2 in words: B opens, I continues what is open, all else closes. One token is one character."""
    found: set[tuple[int, int]] = set()
    start: int | None = None
    for number, label in enumerate([*labels, "O"]):
        if start is not None and label != "I-X":
            found.add((start, number))
            start = None
        if label == "B-X":
            start = number
    return found


def test_agrees_with_seqeval_strict() -> None:
    from seqeval.metrics import f1_score, precision_score, recall_score
    from seqeval.scheme import IOB2

    rng = random.Random(5)
    for _ in range(30):
        gold, said = [], []
        for _ in range(rng.randint(1, 6)):
            length = rng.randint(1, 12)
            gold.append(["B-X", *rng.choices(["O", "B-X", "I-X"], k=length)])
            said.append([*(label if rng.random() < 0.7 else "O" for label in gold[-1][:-1]), "B-X"])
        total = np.array(
            [scores.strict_counts(_spans_of(g), _spans_of(s)) for g, s in zip(gold, said, strict=True)]
        )
        tp, fp, fn = scores.summary(total)
        strict = {"mode": "strict", "scheme": IOB2}
        assert scores.precision(tp, fp) == pytest.approx(precision_score(gold, said, **strict))
        assert scores.recall(tp, fn) == pytest.approx(recall_score(gold, said, **strict))
        assert scores.f1(tp, fp, fn) == pytest.approx(f1_score(gold, said, **strict))


def test_bootstrap_of_one_document_is_a_point() -> None:
    # Every draw is that document: F1 = 2*3 / (2*3 + 1 + 2) = 2/3.
    interval = scores.bootstrap_f1(np.array([[[3, 1, 2]]]), 50, seed=1)
    assert interval == pytest.approx((2 / 3, 2 / 3))


def test_bootstrap_of_two_documents_by_hand() -> None:
    # One perfect, one all missed. Draws: both perfect (1/4) F1 1, one each (1/2) F1 2/3, both missed (1/4) F1 0.
    counts = np.array([[[1, 0, 0], [0, 0, 1]]])
    assert scores.bootstrap_f1(counts, 2000, seed=1) == pytest.approx((0.0, 1.0))
    assert scores.bootstrap_f1(counts, 2000, seed=1, level=0.4) == pytest.approx((2 / 3, 2 / 3))


def test_bootstrap_draws_documents_jointly_over_runs() -> None:
    # The two runs are right on different documents, so the mean of their F1 is 0.5, or with a document drawn twice
    # (1 + 0) / 2: always 0.5 or (2/3 + 2/3) / 2. Independent draws would reach 0 and 1.
    counts = np.array([[[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [1, 0, 0]]])
    assert scores.bootstrap_f1(counts, 500, seed=3) == pytest.approx((0.5, 2 / 3))


def test_bootstrap_covers_the_true_f1() -> None:
    # Documents with one gold span, found with probability 0.6 and no false ones: F1 = 2*0.6 / (2*0.6 + 0.4) = 0.75.
    rng = np.random.default_rng(0)
    covered = 0
    for trial in range(200):
        hit = rng.random(60) < 0.6
        counts = np.stack([hit, np.zeros(60, bool), ~hit], axis=-1)[None].astype(np.int64)
        interval = scores.bootstrap_f1(counts, 300, seed=trial)
        assert interval is not None
        covered += interval[0] <= 0.75 <= interval[1]
    # 95 % of 200 is 190; the percentile interval falls a little short, and 3 standard errors are 9.
    assert 176 <= covered <= 199


def test_bootstrap_without_anything_to_say() -> None:
    empty = np.zeros((1, 4, 3), np.int64)
    assert scores.bootstrap_f1(empty, 20, seed=1) is None
    assert scores.bootstrap_f1(empty[:, :0], 20, seed=1) is None
    assert scores.bootstrap_f1(empty + 1, 0, seed=1) is None
    only_false = np.array([[[0, 2, 0], [0, 1, 0]]])
    assert scores.bootstrap_f1(only_false, 20, seed=1) is None


def test_lenient_scores_tell_a_boundary_from_a_miss() -> None:
    # Tokens: Seen(0,4) on(5,7) May(8,11) 3(12,13). Gold "May 3", predicted "3".
    offsets = scores.token_offsets("Seen on May 3")
    assert offsets == [(0, 4), (5, 7), (8, 11), (12, 13)]
    gold, predicted = [{(8, 13)}], [{(12, 13)}]
    assert scores.f1(*scores.strict_counts(gold[0], predicted[0])) == 0
    # Tokens: 1 found, 0 false, 1 missed: 2 / 3. Spans that touch: 1 of 1 and 1 of 1.
    assert scores.token_f1([offsets], gold, predicted) == pytest.approx(2 / 3)
    assert scores.overlap_f1(gold, predicted) == 1.0
    # A miss is a miss everywhere; touching ends share no character.
    assert scores.token_f1([offsets], gold, [{(5, 8)}]) == 0.0
    assert scores.overlap_f1(gold, [{(5, 8)}]) == 0.0
    assert scores.overlap_f1([set()], [set()]) is None


def test_overlap_f1_by_hand() -> None:
    # One long prediction touches both gold spans, another none: right 1 of 2, found 2 of 2: 2 * 0.5 * 1 / 1.5.
    assert scores.overlap_f1([{(0, 2), (3, 5)}], [{(0, 5), (8, 9)}]) == pytest.approx(2 / 3)


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
    found = scores.overlap_f1([by], [of])
    if touched == 0:
        assert found == (0.0 if by else None)
    else:
        held = {position for start, end in of for position in range(start, end)}
        right, share = touched / len(of), sum(bool(held & set(range(*s))) for s in by) / len(by)
        assert found == pytest.approx(2 * right * share / (right + share))


@given(text=st.text(alphabet="ab1 .,-\n\tß中", max_size=40))
def test_token_offsets_give_the_tokens_back(text: str) -> None:
    from phidrift.core.text import tokens

    assert [text[start:end] for start, end in scores.token_offsets(text)] == tokens(text)


def test_bounds() -> None:
    assert scores.bounds([Span(1, 2, "DATE"), Span(3, 5, "DATE")]) == {(1, 2), (3, 5)}


def test_evaluate_loads_the_metric_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import evaluate

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = Path(phidrift.tagging.strict_span_f1.__file__).parent
    metric = evaluate.load(str(folder), cache_dir=str(tmp_path), keep_in_memory=True)
    found = metric.compute(
        predictions=[[[0, 4], [10, 12], [20, 24]], []], references=[[[0, 4], [10, 14]], [[1, 2]]]
    )
    # tp 1, fp 2, fn 2: F1 = 2 / (2 + 2 + 2).
    assert found == {
        "precision": pytest.approx(1 / 3),
        "recall": pytest.approx(1 / 3),
        "f1": pytest.approx(1 / 3),
        "tp": 1,
        "fp": 2,
        "fn": 2,
        "support": 3,
    }
    assert metric.compute(predictions=[[]], references=[[]])["f1"] is None
