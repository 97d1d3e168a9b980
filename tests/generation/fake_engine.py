"""An engine without a model: its answers are a function of the whole batch, as those of a real one are."""

import random
from collections.abc import Sequence

from phidrift.generation.engine import Answer, Request, digest, request_record

WORDS = (
    "pain",
    "fever",
    "cough",
    "rash",
    "wound",
    "scan",
    "heart",
    "lung",
    "knee",
    "clinic",
    "ward",
    "visit",
    "dose",
)


class FakeEngine:
    identity = "fake"

    def __init__(self, fail_after: int | None = None) -> None:
        self.batches = 0
        self.fail_after = fail_after

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        if self.fail_after is not None and self.batches >= self.fail_after:
            raise KeyboardInterrupt
        self.batches += 1
        whole = digest([request_record(request) for request in requests])
        return [self._one(request, random.Random(f"{whole} {row}")) for row, request in enumerate(requests)]

    def _one(self, request: Request, draw: random.Random) -> Answer:
        prose = " ".join(draw.choices(WORDS, k=12))
        entity = next(
            (name for name in ("DATE", "PERSON") if f"<{name}>" in (request.constraint or "")), None
        )
        inside = draw.choice(["Ann Lee", "Bo Chan", "Cy Dunn", "Di Eck"])
        end = f" <{entity}>{inside}</{entity}>." if entity else "."
        return Answer(prose.capitalize() + end, "stop", 20)

    def digit_scores(self, head: str, texts: Sequence[str], questions: Sequence[str]) -> list[list[float]]:
        return [[1 + int(digest(text, question)[:4], 16) / 16384 for question in questions] for text in texts]
