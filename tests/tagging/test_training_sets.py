"""Nested training sets and the mixed set of the ablation."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phidrift.core.document import Document, Span, read_documents
from phidrift.core.errors import PhidriftError
from phidrift.tagging.training_sets import Mixture, mixed_set, nested_set, only_entity, write_set

DATE = (Span(0, 1, "DATE"), Span(0, 1, "PERSON"))


def real(count: int) -> list[Document]:
    return [
        Document(f"r{n}", f"text {n}", DATE if n % 3 else (), {"corpus": "multileg"}) for n in range(count)
    ]


def candidates(count: int) -> list[Document]:
    """Scores 1.0, 1.1, ...; every second one positive; generators alternate in pairs."""
    return [
        Document(
            f"s{n}",
            f"synthetic {n}",
            DATE if n % 2 else (),
            {"corpus": "syn", "score": 1 + n / 10, "generator": "ab"[n // 2 % 2]},
        )
        for n in range(count)
    ]


def ids(documents: list[Document], kind: str = "") -> set[str]:
    return {document.id for document in documents if document.id.startswith(kind)}


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9))
def test_smaller_sets_are_prefixes_of_larger_ones(one: int, other: int, seed: int) -> None:
    small, large = sorted((one, other))
    smaller = nested_set(real(30), small, seed, "DATE", "multileg")
    assert nested_set(list(reversed(real(30))), large, seed, "DATE", "multileg")[:small] == smaller
    assert all(span.label == "DATE" for document in smaller for span in document.spans or ())


def test_too_few_documents_are_named() -> None:
    with pytest.raises(
        PhidriftError, match="CONTACT: the training split of syn has 3 documents, 4 are asked for"
    ):
        nested_set(real(3), 4, 1, "CONTACT", "syn")


def test_unlabelled_documents_are_refused() -> None:
    with pytest.raises(PhidriftError, match="unlabelled"):
        only_entity(Document("u", "text", None), "DATE")


def test_the_mixture_by_hand() -> None:
    # 0.6 of 10 are 6 synthetic; of 20 candidates (1.0 to 2.9), score 2.0 leaves s10..s19: 5 positive, 5 negative.
    chosen, score = mixed_set(real(30), candidates(20), Mixture(10, 0.6, 2.0, "all", 0.5), 7, "DATE")
    assert score == 2.0
    synthetic = [d for d in chosen if d.id.startswith("s")]
    assert len(chosen) == 10
    assert len(synthetic) == 6
    assert all(d.meta["score"] >= 2.0 for d in synthetic)
    assert sum(not d.spans for d in synthetic) == 3
    assert ids(chosen, "r") == ids(nested_set(real(30), 4, 7, "DATE", "multileg"))


def test_a_quantile_is_taken_of_the_generator_s_own_scores() -> None:
    # Generator b wrote s2 s3 s6 s7 s10 s11: scores 1.2 1.3 1.6 1.7 2.0 2.1, median 1.65: s7, s10, s11 pass.
    chosen, score = mixed_set([], candidates(12), Mixture(3, 1.0, "q0.5", "b", 0.5), 7, "DATE")
    assert score == pytest.approx(1.65)
    assert ids(chosen) == {"s7", "s10", "s11"}


def test_negatives_give_way_where_candidates_do_not_allow_the_ratio() -> None:
    # Only s18 is negative at 2.75 and above: s18 s19 remain, and both are needed.
    chosen, _ = mixed_set([], candidates(20), Mixture(2, 1.0, 2.75, "all", 1.0), 7, "DATE")
    assert ids(chosen) == {"s18", "s19"}


@given(st.integers(1, 12), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 5))
def test_a_larger_mixture_holds_the_synthetic_part_of_a_smaller_one(
    size: int, one: float, other: float, negative: float, seed: int
) -> None:
    low, high = sorted((one, other))
    less, _ = mixed_set(real(12), candidates(12), Mixture(size, low, "q0", "all", negative), seed, "DATE")
    more, _ = mixed_set(real(12), candidates(12), Mixture(size, high, "q0", "all", negative), seed, "DATE")
    assert len(less) == len(more) == size
    assert ids(less, "s") <= ids(more, "s")
    assert ids(more, "r") <= ids(less, "r")


def test_the_ends_of_the_mixture_need_one_side_only() -> None:
    none, score = mixed_set(real(5), [], Mixture(5, 0.0, "q0.5", "all", 0.5), 1, "DATE")
    assert (len(ids(none, "r")), score) == (5, None)
    every, _ = mixed_set([], candidates(5), Mixture(5, 1.0, "q0", "all", 0.5), 1, "DATE")
    assert len(ids(every, "s")) == 5


@pytest.mark.parametrize(
    ("mixture", "message"),
    [
        (
            Mixture(4, 1.0, 2.8, "all", 0.5),
            r"DATE: 2 candidates pass judge_threshold 2.8 \(generator all, 20 in all\)",
        ),
        (
            Mixture(4, 1.0, "q0", "c", 0.5),
            r"DATE: 0 candidates pass judge_threshold q0 \(generator c, 20 in all\)",
        ),
        (Mixture(9, 0.0, "q0", "all", 0.5), "DATE: there are 5 real documents, the ablation set asks for 9"),
    ],
)
def test_too_few_for_a_mixture(mixture: Mixture, message: str) -> None:
    with pytest.raises(PhidriftError, match=message):
        mixed_set(real(5), candidates(20), mixture, 1, "DATE")


def test_a_candidate_without_a_score_never_passes() -> None:
    unscored = [Document("x", "t", (), {"corpus": "syn", "generator": "a", "score": None})]
    with pytest.raises(PhidriftError, match="0 candidates pass"):
        mixed_set([], unscored, Mixture(1, 1.0, "q0", "all", 0.5), 1, "DATE")


def test_written_set(tmp_path: Path) -> None:
    chosen, score = mixed_set(real(9), candidates(9), Mixture(6, 0.5, "q0", "all", 1.0), 1, "DATE")
    write_set(tmp_path / "ablation", {"DATE": chosen}, {"set": "ablation", "size": 6}, {"DATE": score})
    about = json.loads((tmp_path / "ablation" / "set.json").read_text(encoding="utf-8"))
    entity = about["entities"]["DATE"]
    assert list(read_documents(tmp_path / "ablation" / "DATE.jsonl")) == chosen
    assert entity["sources"] == {"multileg": 3, "syn": 3}
    assert entity["positives"] == sum(bool(d.spans) for d in chosen) == entity["spans"]
    assert entity["minimum_score"] == 1.0
    assert len(entity["sha256"]) == 64
