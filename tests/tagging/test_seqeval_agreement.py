"""Our strict span scores against seqeval's (mode strict, scheme IOB2): where they must agree, and where they can't."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics import f1_score, recall_score
from seqeval.scheme import IOB2

from phidrift.core.document import Span
from phidrift.tagging import scores
from phidrift.tagging.alignment import B, I, O, Pieces, bio_labels, bio_spans, unrepresentable
from phidrift.tagging.cross_check import agrees, load_seqeval, segment_labels, seqeval_scores
from phidrift.tagging.evaluate import strict_scores

NAMES = ["O", "B-X", "I-X"]
STRICT = {"mode": "strict", "scheme": IOB2, "zero_division": 0}


@pytest.fixture(scope="module")
def metric(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        return load_seqeval()


def pieces_of(words: Sequence[str]) -> Pieces:
    """One piece a word, a blank between two."""
    offsets, start = [], 0
    for word in words:
        offsets.append((start, start + len(word)))
        start += len(word) + 1
    return Pieces(tuple(range(len(words))), tuple(offsets))


def ours(gold: Sequence[scores.Bounds], predicted: Sequence[scores.Bounds]) -> dict[str, float | None]:
    return strict_scores(scores.run_counts(gold, predicted))


def test_thousands_of_random_label_sequences(metric: object) -> None:
    """Any labels of pieces, invalid ones too: the spans that we read from them score as seqeval scores the labels."""
    rng = random.Random(5)
    sequences = 0
    for _ in range(150):
        labels: list[list[list[int]]] = []
        offsets = []
        for _ in range(rng.randint(1, 30)):
            words = ["x" * rng.randint(1, 6) for _ in range(rng.randint(1, 25))]
            gold = rng.choices([O, B, I], weights=[3, 1, 2], k=len(words))
            said = [label if rng.random() < 0.8 else rng.choice([O, B, I]) for label in gold]
            labels.append([gold, said])
            offsets.append(pieces_of(words))
            sequences += 1
        spans = [
            [scores.bounds(bio_spans(of, pair[side], "X")) for of, pair in zip(offsets, labels, strict=True)]
            for side in (0, 1)
        ]
        theirs = metric.compute(  # type: ignore[attr-defined]
            references=[[NAMES[label] for label in gold] for gold, _ in labels],
            predictions=[[NAMES[label] for label in said] for _, said in labels],
        )
        assert agrees(ours(*spans), theirs), (ours(*spans), theirs)
    assert sequences > 2000


spans_anywhere = st.lists(st.integers(0, 60), max_size=16, unique=True).map(
    lambda cuts: frozenset(zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False))
)


@given(documents=st.lists(st.tuples(spans_anywhere, spans_anywhere), min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_any_spans_by_segments(
    metric: object, documents: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]]
) -> None:
    gold, predicted = zip(*documents, strict=True)
    assert agrees(ours(gold, predicted), seqeval_scores(metric, gold, predicted))


def test_segments_by_hand() -> None:
    # Cut at 0, 2, 4, 6, 9: gold 2-6 is the second and third segment, gold 6-9 the fourth; predicted 2-4 the second.
    gold, said = segment_labels({(2, 6), (6, 9)}, {(2, 4)})
    assert gold == ["O", "B-X", "I-X", "B-X"]
    assert said == ["O", "B-X", "O", "O"]
    assert segment_labels(set(), set()) == (["O"], ["O"])


def test_a_disagreement_is_seen() -> None:
    assert agrees(
        {"precision": None, "recall": 0.0, "f1": 0.0}, dict.fromkeys(("precision", "recall", "f1"), 0.0)
    )
    assert not agrees(
        {"precision": 0.5, "recall": 0.5, "f1": 0.5}, {"precision": 0.5, "recall": 0.5, "f1": 0.501}
    )


def test_undefined_here_is_zero_there(metric: object) -> None:
    """Nothing to find and nothing found: seqeval says 0, as if all had been missed. We say that there is no score."""
    assert ours([set()], [set()]) == {"precision": None, "recall": None, "f1": None}
    assert seqeval_scores(metric, [set()], [set()]) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_without_the_scheme_seqeval_is_lenient_and_an_open_i_is_an_entity() -> None:
    """Predicted I without a B. Strict IOB2: nothing is said, so 0 of 1 found. Lenient: it counts, 1 of 1.

    Ours is strict: the decoder never says such a sequence, and a measure that forgave it would score taggers by their
    slips. transformers' `simple` aggregation is as lenient as seqeval without a scheme.
    """
    gold, said = [["O", "B-X", "I-X", "O"]], [["O", "I-X", "I-X", "O"]]
    pieces = pieces_of(["on", "May", "3", "."])
    assert bio_spans(pieces, [O, I, I, O], "X") == ()
    assert ours([{(3, 8)}], [set()])["recall"] == 0.0
    assert recall_score(gold, said, **STRICT) == 0.0
    assert recall_score(gold, said) == 1.0
    # The mode alone changes nothing, and no warning says so: hence both are stated in our module.
    assert recall_score(gold, said, mode="strict") == 1.0


def test_a_span_that_windows_cut() -> None:
    """ "12 May Street" lies across two windows of three pieces; the tagger finds "12 May" and not "Street".

    Ours, on the document: gold 1, predicted 1 with a wrong end: tp 0, fp 1, fn 1, F1 0. seqeval on the windows' labels:
    the gold of window two begins with I and is dropped, window one is all right: F1 1. Ours is right: the street's
    name is still in the text.
    """
    pieces = pieces_of(["at", "12", "May", "Street", "now"])
    gold_labels, said_labels = [O, B, I, I, O], [O, B, I, O, O]
    gold = [scores.bounds(bio_spans(pieces, gold_labels, "X"))]
    said = [scores.bounds(bio_spans(pieces, said_labels, "X"))]
    assert (gold, said) == ([{(3, 16)}], [{(3, 9)}])
    assert ours(gold, said)["f1"] == 0.0
    windows = [
        [[NAMES[label] for label in part] for part in (labels[:3], labels[3:])]
        for labels in (gold_labels, said_labels)
    ]
    assert f1_score(*windows, **STRICT) == 1.0
    # Without the cut seqeval agrees.
    assert (
        f1_score(*[[[NAMES[label] for label in labels]] for labels in (gold_labels, said_labels)], **STRICT)
        == 0.0
    )


def test_a_gold_span_inside_a_piece() -> None:
    """Gold "05" in the piece "05/21": no labelling says it. The tagger marks the piece.

    seqeval on pieces: gold B, predicted B, F1 1: what the labels can't say is not counted. Ours: predicted 3-8 is not
    gold 3-5: F1 0. Ours is what the annotators' spans say; training.json counts such spans as unrepresentable, so that
    it can be told how much of a low score is theirs.
    """
    pieces = pieces_of(["on", "05/21", "."])
    gold = [Span(3, 5, "X")]
    labels = bio_labels(pieces, gold)
    assert labels == [O, B, O]
    said = bio_spans(pieces, labels, "X")
    assert said == (Span(3, 8, "X"),)
    assert unrepresentable(pieces, gold) == 1
    named = [[NAMES[label] for label in labels]]
    assert f1_score(named, named, **STRICT) == 1.0
    assert ours([scores.bounds(gold)], [scores.bounds(said)])["f1"] == 0.0
