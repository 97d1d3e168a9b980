"""Stages `round` and `curate`: from prompts to pools, from pools to candidates and released corpora."""

from pathlib import Path
from typing import TYPE_CHECKING

from phidrift.config import Params
from phidrift.core.cache import cache_root

if TYPE_CHECKING:
    from phidrift.generation.rounds import RoundSettings

POOLS = Path("data/pools")


def round(params: Params, key: str) -> None:
    """Round `key`: data/pools/round_KEY.jsonl."""
    from phidrift.generation.pool import pool_path, write_pool
    from phidrift.generation.prompts import load_prompts
    from phidrift.generation.rounds import run_round

    number = int(key)
    pool = run_round(number, POOLS, _settings(params), load_prompts(), cache_root() / "answers.sqlite")
    write_pool(pool_path(POOLS, number), pool)


def curate(params: Params) -> None:
    """All rounds: data/candidates, data/synthetic, metrics/generation.json, plots/generation/rounds.csv."""
    from phidrift.core.document import write_documents
    from phidrift.core.files import whole_folder, write_csv, write_json
    from phidrift.generation.curation import CurationSettings, Released, curate_entity
    from phidrift.generation.pool import read_pools
    from phidrift.generation.summary import ROUND_COLUMNS, round_rows, summarise

    pools = read_pools(POOLS, range(len(params.generation.rounds)))
    samples = [sample for pool in pools for sample in pool.samples]
    wanted = params.curation
    settings = CurationSettings(
        params.seed, wanted.judge_threshold, wanted.entity_string_cap, wanted.negative_ratio, wanted.test
    )
    released: dict[str, Released] = {
        entity: curate_entity(samples, entity, settings) for entity in params.entities
    }
    with whole_folder(Path("data/candidates")) as folder:
        for entity, corpus in released.items():
            write_documents(folder / f"{entity}.jsonl", corpus.candidates)
    with whole_folder(Path("data/synthetic")) as folder:
        for entity, corpus in released.items():
            write_documents(folder / entity / "train.jsonl", corpus.train)
            write_documents(folder / entity / "test.jsonl", corpus.test)
    summary = summarise(pools, released)
    write_json(Path("metrics/generation.json"), summary)
    write_csv(Path("plots/generation/rounds.csv"), ROUND_COLUMNS, round_rows(summary))


def _settings(params: Params) -> "RoundSettings":
    from phidrift.generation.engine import Sampling
    from phidrift.generation.rounds import Generator, RoundSettings

    wanted = params.generation
    generators = {
        name: Generator(
            sampler.model, Sampling(sampler.temperature, sampler.top_p, sampler.top_k, wanted.max_tokens)
        )
        for name, sampler in wanted.generators.items()
    }
    return RoundSettings(
        seed=params.seed,
        entities=params.entities,
        engine=wanted.engine,
        samples=wanted.samples_per_round,
        negative_ratio=wanted.negative_ratio,
        few_shot_k=wanted.few_shot_k,
        few_shot_threshold=wanted.few_shot_threshold,
        entity_string_cap=wanted.entity_string_cap,
        batch_size=wanted.batch_size,
        generators=generators,
        judge_model=wanted.judge.model,
        criteria=wanted.judge.criteria,
    )
