"""A generation round: prompts with examples of earlier rounds, answers, structure check, judge."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from phidrift.core.models import describe
from phidrift.generation.answers import AnswerStore, answer_all, open_store
from phidrift.generation.engine import Answer, Engine, Request, Sampling, digest, load_engine
from phidrift.generation.examples import draw_examples, example_pool
from phidrift.generation.judge import judge_samples, overall
from phidrift.generation.pool import Pool, Sample, chain_hash, read_pools, text_key
from phidrift.generation.prompts import Prompts
from phidrift.generation.structure import parse


@dataclass(frozen=True)
class Generator:
    """A named model with its sampling settings."""

    model: str
    sampling: Sampling


@dataclass(frozen=True)
class RoundSettings:
    """How a round is run; field for field the parameters under `generation`."""

    seed: int
    entities: Sequence[str]
    engine: str
    samples: int  # per generator and entity
    negative_ratio: float
    few_shot_k: int
    few_shot_threshold: float | str
    entity_string_cap: int
    batch_size: int
    generators: Mapping[str, Generator]
    judge_model: str
    criteria: Sequence[str]


@dataclass(frozen=True)
class _Asked:
    sample: Sample  # without an answer yet
    request: Request


def negatives_of(count: int, ratio: float) -> int:
    """How many of `count` samples are asked for without the entity (half rounds up).

    >>> negatives_of(5, 0.5)
    3
    """
    return int(count * ratio + 0.5)


def run_round(
    number: int,
    folder: Path,
    settings: RoundSettings,
    prompts: Prompts,
    store_path: Path,
    load: Callable[[str, str], Engine] | None = None,
) -> Pool:
    """Asks for a round's samples, checks and judges them. Reads the rounds before it from `folder`.

    Returns:
        The pool: a header with the hash of all earlier rounds, and every sample asked for, in the order entity,
        generator, index.

    Raises:
        PhidriftError: an earlier round is missing or is not the one that its successor was made from.
    """
    prompts.judge_questions(settings.criteria)  # a misspelt criterion stops the round before its work
    earlier = [sample for pool in read_pools(folder, range(number)) for sample in pool.samples]
    asked = _ask(number, settings, prompts, earlier)
    engines: dict[str, Engine] = {}

    def engine_of(model: str) -> Engine:
        if model not in engines:
            engines[model] = (load or load_engine)(settings.engine, model)
        return engines[model]

    with open_store(store_path) as store:
        samples = _answered(asked, settings, store, engine_of, earlier, f"round {number}")
        samples = _judged(
            samples, settings, prompts, store, engine_of(settings.judge_model), f"round {number}"
        )
    return Pool(_header(number, folder, settings, prompts, len(samples)), tuple(samples))


def _ask(number: int, settings: RoundSettings, prompts: Prompts, earlier: Sequence[Sample]) -> list[_Asked]:
    asked = []
    negatives = negatives_of(settings.samples, settings.negative_ratio)
    for entity in settings.entities:
        pools = {
            positive: example_pool(
                earlier, entity, positive, settings.few_shot_threshold, settings.entity_string_cap
            )
            for positive in (True, False)
        }
        for name, generator in settings.generators.items():
            for index in range(settings.samples):
                positive = index < settings.samples - negatives
                group = (
                    index if positive else index - settings.samples + negatives
                ) // prompts.examples_shared_by
                place = f"{settings.seed} {number} {entity} {name} {positive}"
                examples = draw_examples(pools[positive], settings.few_shot_k, f"examples {place} {group}")
                seed = int(digest("sample", place, index)[:12], 16)
                request = Request(
                    head=prompts.head(entity, positive, [example.raw.strip() for example in examples]),
                    tail=prompts.tail(seed),
                    seed=seed,
                    sampling=generator.sampling,
                    constraint=prompts.constraint(entity, positive, seed),
                )
                sample = Sample(
                    id=f"{entity}-{number}-{name}-{index}",
                    entity=entity,
                    round=number,
                    index=index,
                    generator=name,
                    positive=positive,
                    seed=seed,
                    prompt_sha256=digest(request.prompt, request.constraint),
                    example_ids=tuple(example.id for example in examples),
                    raw="",
                    finish_reason="",
                    outcome="",
                    text="",
                    spans=(),
                    checks=(),
                    tokens=0,
                )
                asked.append(_Asked(sample, request))
    return asked


def _answered(
    asked: Sequence[_Asked],
    settings: RoundSettings,
    store: AnswerStore,
    engine_of: Callable[[str], Engine],
    earlier: Sequence[Sample],
    title: str,
) -> list[Sample]:
    """Samples with answers and outcome. Generators that share a model share its batches."""
    by_model: dict[str, list[int]] = {}
    for position, item in enumerate(asked):
        by_model.setdefault(settings.generators[item.sample.generator].model, []).append(position)
    answers: dict[int, Answer] = {}
    for model, positions in by_model.items():
        requests = [asked[position].request for position in positions]
        found = answer_all(engine_of(model), store, requests, settings.batch_size, f"{title}: samples")
        answers.update(zip(positions, found, strict=True))
    seen = {(sample.entity, text_key(sample.text)) for sample in earlier if sample.text}
    samples = []
    for position, item in enumerate(asked):
        answer = answers[position]
        parsed = parse(answer.text, item.sample.entity, item.sample.positive, answer.finish_reason)
        key = (item.sample.entity, text_key(parsed.text))
        if parsed.text and key in seen:
            parsed = replace(parsed, checks=(*parsed.checks, "duplicate"))
        seen.add(key)
        samples.append(
            replace(
                item.sample,
                raw=answer.text,
                finish_reason=answer.finish_reason,
                outcome=parsed.outcome,
                text=parsed.text,
                spans=parsed.spans,
                checks=parsed.checks,
                tokens=answer.tokens,
            )
        )
    return samples


def _judged(
    samples: Sequence[Sample],
    settings: RoundSettings,
    prompts: Prompts,
    store: AnswerStore,
    engine: Engine,
    title: str,
) -> list[Sample]:
    """Scores for well-formed samples; the others have none."""
    positions = [i for i, sample in enumerate(samples) if sample.outcome == "ok"]
    questions = prompts.judge_questions(settings.criteria)
    texts = [samples[i].raw.strip() for i in positions]
    head = prompts.judge_head()
    scores = judge_samples(engine, store, texts, head, questions, settings.batch_size, f"{title}: judge")
    judged = list(samples)
    for position, values in zip(positions, scores, strict=True):
        named = dict(zip(settings.criteria, values, strict=True))
        judged[position] = replace(judged[position], scores=named, score=overall(values))
    return judged


def _header(
    number: int, folder: Path, settings: RoundSettings, prompts: Prompts, asked: int
) -> dict[str, object]:
    generators = {
        name: {**describe(generator.model), **asdict(generator.sampling)}
        for name, generator in settings.generators.items()
    }
    return {
        "round": number,
        "previous": chain_hash(folder, number),
        "prompts": prompts.sha256,
        "seed": settings.seed,
        "asked": asked,
        "generators": generators,
        "judge": describe(settings.judge_model),
    }
