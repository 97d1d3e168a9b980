"""Hand-made samples for tests."""

from phidrift.generation.pool import Sample
from phidrift.generation.structure import parse


def sample(
    number: int, raw: str, *, positive: bool = True, score: float | None = 3.0, entity: str = "PERSON"
) -> Sample:
    parsed = parse(raw, entity, positive, "stop")
    return Sample(
        id=f"{entity}-{number}",
        entity=entity,
        round=0,
        index=number,
        generator="g",
        positive=positive,
        seed=number,
        prompt_sha256="",
        example_ids=(),
        raw=raw,
        finish_reason="stop",
        outcome=parsed.outcome,
        text=parsed.text,
        spans=parsed.spans,
        checks=parsed.checks,
        tokens=9,
        scores={} if score is None else {"fluency": score},
        score=score,
    )
