"""What every language model engine does: answer a batch of requests, the same batch always in the same way."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from phidrift.core.errors import PhidriftError


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw tokens; None is the model's own default, top_k 0 means no limit."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int = 80


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and how to answer it.

    The prompt is `head` + `tail`; requests with one head share its computation. `constraint` is a regular
    expression that the whole answer must match.
    """

    head: str
    tail: str
    seed: int
    sampling: Sampling
    constraint: str | None = None

    @property
    def prompt(self) -> str:
        return self.head + self.tail


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's text; finish_reason is "stop", or "length" where max_tokens cut it; `tokens` counts the model's."""

    text: str
    finish_reason: str
    tokens: int


class Engine(Protocol):
    """A model ready to answer. `identity` names engine, model and weights, for the key of stored answers."""

    @property
    def identity(self) -> str: ...

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers one batch, in order."""
        ...

    def digit_scores(self, head: str, texts: Sequence[str], questions: Sequence[str]) -> list[list[float]]:
        """[texts, questions] expected ratings in 1 to 5: see `phidrift.generation.judge`."""
        ...


def digest(*parts: object) -> str:
    """SHA-256 of values as JSON with sorted keys: the same values, the same digest, on every machine."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def request_record(request: Request) -> dict[str, object]:
    """Plain data that identifies a request."""
    return asdict(request)


def load_engine(engine: str, model: str) -> Engine:
    """The engine of that name with a model loaded.

    Raises:
        PhidriftError: unknown engine, or the model can't be found.
    """
    if engine != "transformers":
        raise PhidriftError(f"no engine {engine!r}", mend="use transformers")
    from phidrift.generation.local import TransformersEngine

    return TransformersEngine(model)
