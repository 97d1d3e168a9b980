import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from fake_engine import FakeEngine

from phidrift.core.errors import PhidriftError
from phidrift.generation.engine import Sampling
from phidrift.generation.pool import Pool, pool_path, read_pools, write_pool
from phidrift.generation.prompts import load_prompts
from phidrift.generation.rounds import Generator, RoundSettings, negatives_of, run_round

SETTINGS = RoundSettings(
    seed=1,
    entities=["DATE", "PERSON"],
    engine="transformers",
    samples=6,
    negative_ratio=0.7,
    few_shot_k=2,
    few_shot_threshold="q0.5",
    entity_string_cap=10,
    batch_size=5,
    generators={name: Generator("m", Sampling(temperature=t)) for name, t in (("cool", 0.5), ("warm", 1.0))},
    judge_model="m",
    criteria=["realism", "fluency"],
)


def make_round(number: int, folder: Path, engine: FakeEngine | None = None, **changes: object) -> Pool:
    engine = engine or FakeEngine()
    settings = replace(SETTINGS, **changes)
    pool = run_round(number, folder, settings, load_prompts(), folder / "a.sqlite", lambda *_: engine)
    write_pool(pool_path(folder, number), pool)
    return pool


def test_all_that_were_asked_for_are_there(tmp_path: Path):
    pool = make_round(0, tmp_path)
    # 2 entities x 2 generators x 6; 70 % of 6 is 4.2, so 4 negatives and 2 positives each.
    assert len(pool.samples) == 24
    assert len({sample.id for sample in pool.samples}) == 24
    assert sum(sample.positive for sample in pool.samples) == 2 * 2 * 2
    for sample in pool.samples:
        assert sample.outcome == "ok"
        assert sample.positive == bool(sample.spans)
        assert sample.score == pytest.approx((sample.scores["realism"] + sample.scores["fluency"]) / 2)
    assert read_pools(tmp_path, [0]) == [pool]


def test_half_rounds_up():
    assert [negatives_of(n, 0.5) for n in (1, 2, 3, 4)] == [1, 1, 2, 2]
    assert (negatives_of(20, 0.7), negatives_of(7, 0.0), negatives_of(7, 1.0)) == (14, 0, 7)


def test_headers_chain_the_rounds(tmp_path: Path):
    for number in range(3):
        make_round(number, tmp_path)
    headers = [pool.header for pool in read_pools(tmp_path, range(3))]
    files = [hashlib.sha256(pool_path(tmp_path, n).read_bytes()).hexdigest() for n in range(2)]
    assert [header["previous"] for header in headers] == [None, *files]
    # A change of round 0, which round 2 does not follow directly, reaches round 2's header.
    first = pool_path(tmp_path, 0)
    first.write_text(first.read_text().replace('"tokens": 20', '"tokens": 21', 1))
    with pytest.raises(PhidriftError, match="round 1 was not made from"):
        make_round(2, tmp_path)


def test_examples_come_from_earlier_rounds_well_judged_and_of_one_kind(tmp_path: Path):
    first = make_round(0, tmp_path)
    assert all(sample.example_ids == () for sample in first.samples)
    second = make_round(1, tmp_path)
    by_id = {sample.id: sample for sample in first.samples}
    shown = {}
    for sample in second.samples:
        assert len(sample.example_ids) == 2
        for example in (by_id[i] for i in sample.example_ids):
            assert (example.entity, example.positive) == (sample.entity, sample.positive)
            same = sorted(
                s.score for s in first.samples if (s.entity, s.positive) == (sample.entity, sample.positive)
            )
            assert example.score >= same[(len(same) - 1) // 2]
        shown.setdefault((sample.entity, sample.generator, sample.positive), set()).add(sample.example_ids)
    assert all(len(drawn) == 1 for drawn in shown.values())


def test_a_killed_round_goes_on_and_ends_the_same(tmp_path: Path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    make_round(0, whole)
    with pytest.raises(KeyboardInterrupt):
        make_round(0, broken, FakeEngine(fail_after=2))
    assert not pool_path(broken, 0).exists()
    resumed = FakeEngine()
    make_round(0, broken, resumed)
    # 24 requests in batches of 5 make 5 batches, of which 2 were stored.
    assert resumed.batches == 3
    assert pool_path(broken, 0).read_bytes() == pool_path(whole, 0).read_bytes()


def test_a_stored_round_asks_no_model(tmp_path: Path):
    make_round(0, tmp_path)
    again = FakeEngine(fail_after=0)
    make_round(0, tmp_path, again)
    assert again.batches == 0


@pytest.mark.parametrize(
    "changes", [{"seed": 2}, {"generators": {"cool": Generator("m", Sampling(top_k=3))}}]
)
def test_other_settings_are_other_answers(tmp_path: Path, changes: dict[str, object]):
    before = make_round(0, tmp_path)
    engine = FakeEngine()
    after = make_round(0, tmp_path, engine, **changes)
    assert engine.batches > 0
    assert {s.raw for s in before.samples}.isdisjoint(s.raw for s in after.samples)


def test_a_text_that_was_there_before_is_a_duplicate(tmp_path: Path):
    class Parrot(FakeEngine):
        def _one(self, request, draw):
            answer = super()._one(request, draw)
            return (
                replace(answer, text="The pain has gone and he sleeps well.")
                if "<" not in answer.text
                else answer
            )

    outcomes = [
        sample.outcome
        for number in range(2)
        for sample in make_round(number, tmp_path, Parrot()).samples
        if sample.entity == "DATE" and not sample.positive
    ]
    # The first of all stands, the other seven of round 0 and all eight of round 1 repeat it.
    assert outcomes == ["ok", *["duplicate"] * 15]


def test_a_broken_pool_file_is_told(tmp_path: Path):
    make_round(0, tmp_path)
    path = pool_path(tmp_path, 0)
    path.write_text(path.read_text().split("\n", 1)[1])
    with pytest.raises(PhidriftError, match="no header"):
        read_pools(tmp_path, [0])
