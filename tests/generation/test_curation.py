import random
from dataclasses import replace

import pytest
from samples import sample

from phidrift.core.errors import PhidriftError
from phidrift.generation.curation import CurationSettings, curate_entity, relation_to
from phidrift.generation.pool import Pool, Sample
from phidrift.generation.summary import round_rows, summarise

SETTINGS = CurationSettings(seed=7, judge_threshold=1.0, entity_string_cap=10, negative_ratio=0.5, test=8)
WORDS = [f"{a}{b}" for a in ("pa", "re", "mo", "lu", "ti") for b in ("in", "st", "ve", "ng", "ck")]


def pool(positives: int, negatives: int, seed: int = 0) -> list[Sample]:
    """Samples of 15 random words each, positives with a name of their own."""
    draw = random.Random(seed)
    made = []
    for number in range(positives + negatives):
        prose = " ".join(draw.choices(WORDS, k=15))
        is_positive = number < positives
        raw = f"Mr. <PERSON>N{number}</PERSON> {prose}." if is_positive else f"{prose}."
        made.append(sample(seed * 1000 + number, raw, positive=is_positive, score=2 + draw.random()))
    return made


def test_sizes_and_shares():
    released = curate_entity(pool(30, 26), "PERSON", SETTINGS)
    # Test: 4 with, 4 without. Left: 26 and 22; train takes turns (negative first) and ends as the 22 run out: 22 + 22.
    assert len(released.test) == 8
    assert sum(bool(d.spans) for d in released.test) == 4
    assert len(released.train) == 44
    assert len(released.candidates) == 48


def test_every_prefix_of_train_has_the_share():
    train = curate_entity(pool(30, 60), "PERSON", replace(SETTINGS, negative_ratio=0.7)).train
    for size in range(1, len(train) + 1):
        negatives = sum(not document.spans for document in train[:size])
        assert abs(negatives - 0.7 * size) <= 0.5 + 1e-9


def test_splits_are_disjoint_and_ordered_by_seed():
    released = curate_entity(pool(30, 30), "PERSON", SETTINGS)
    test = {document.text for document in released.test}
    assert test.isdisjoint(d.text for d in released.train)
    assert test.isdisjoint(d.text for d in released.candidates)
    assert {d.id for d in released.train} <= {d.id for d in released.candidates}
    assert released == curate_entity(list(reversed(pool(30, 30))), "PERSON", SETTINGS)
    other = curate_entity(pool(30, 30), "PERSON", replace(SETTINGS, seed=8))
    assert test != {document.text for document in other.test}


def test_the_test_split_keeps_what_still_hashes_lowest():
    small, large = pool(30, 30), [*pool(30, 30), *pool(30, 30, seed=1)]
    before = {d.id for d in curate_entity(small, "PERSON", SETTINGS).test}
    after = {d.id for d in curate_entity(large, "PERSON", SETTINGS).test}
    # Whatever of the small pool is in the later test split was in the earlier one.
    assert after & {s.id for s in small} <= before


def test_the_cap_holds_over_all_that_is_released():
    same = [
        sample(900 + n, f"Mr. <PERSON>Lee</PERSON> {' '.join(random.Random(n).choices(WORDS, k=15))}.")
        for n in range(30)
    ]
    released = curate_entity([*pool(30, 60), *same], "PERSON", replace(SETTINGS, entity_string_cap=3))
    held = sum("Lee" in d.text for d in (*released.train, *released.test))
    assert held == 3
    assert sum("Lee" in d.text for d in released.candidates) > 20


def test_a_near_duplicate_of_a_test_text_is_dropped():
    samples = pool(30, 30)
    test_id = next(d.id for d in curate_entity(samples, "PERSON", SETTINGS).test if not d.spans)
    original = next(s for s in samples if s.id == test_id)
    # One word of 15 changed at the end: 12 of 14 trigrams are common.
    near = sample(5000, original.raw.rsplit(" ", 1)[0] + " elsewhere.", positive=False)
    released = curate_entity([*samples, near], "PERSON", SETTINGS)
    assert (near.id in {d.id for d in released.test}) != (test_id in {d.id for d in released.test})
    assert not {near.id, test_id} & {d.id for d in released.candidates}


def test_similarity_by_hand():
    # "a b c d e" has trigrams abc, bcd, cde. "a b c d f" shares abc, bcd of 4 in all: 0.5. "a b c x y": 1 of 5.
    is_related = relation_to(["a b c d e"])
    assert is_related("A b, c d f!")
    assert not is_related("a b c x y")
    assert relation_to(["Home."])("home")


def test_threshold_and_unscored():
    samples = pool(30, 30)
    unjudged = replace(samples[0], score=None)
    released = curate_entity([unjudged, *samples[1:]], "PERSON", replace(SETTINGS, judge_threshold="q0.5"))
    documents = (*released.train, *released.test)
    middle = sorted(s.score for s in samples[1:] if s.score is not None)[29]
    assert all(document.meta["score"] >= middle for document in documents)
    assert unjudged.id not in {d.id for d in released.candidates}
    assert min(d.meta["score"] for d in released.candidates) < middle


@pytest.mark.parametrize(("positives", "negatives"), [(3, 30), (30, 4)])
def test_a_shortage_tells_how_many_there_are_and_what_to_do(positives: int, negatives: int):
    message = rf"PERSON: {positives} samples with the entity and {negatives} without.*samples_per_round"
    with pytest.raises(PhidriftError, match=message):
        curate_entity(pool(positives, negatives), "PERSON", SETTINGS)


def test_summary_counts():
    samples = pool(20, 20)
    lost = replace(samples[0], outcome="truncated", score=None)
    header = {"generators": {"g": {"name": "embedded/x"}}}
    released = {"PERSON": curate_entity([lost, *samples[1:]], "PERSON", SETTINGS)}
    summary = summarise([Pool(header, (lost, *samples[1:]))], released)
    counts = summary["entities"]["PERSON"]["all"]
    assert (counts["asked"], counts["well_formed"], counts["positives"], counts["negatives"]) == (
        40,
        39,
        19,
        20,
    )
    assert counts["outcomes"] == {"ok": 39, "truncated": 1}
    # 19 positives have a name each. Text: 15 words and a full stop; positives "Mr", "." and a name more.
    assert (counts["spans"], counts["distinct_strings"]) == (19, 19)
    assert counts["mean_tokens"] == pytest.approx((19 * 19 + 20 * 16) / 39)
    assert "no clinical text" in summary["note"]
    assert next(round_rows(summary))["round"] == 0
    hub = Pool({"generators": {"g": {"name": "org/model"}}}, (lost, *samples[1:]))
    assert summarise([hub], released)["note"] is None
