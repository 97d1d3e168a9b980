"""Answers that survive a crash: a content-addressed store, one entry a batch.

A batch's key holds the model, and every prompt, setting, constraint and seed in it, in order. In bf16 an answer
can depend on what else was in its batch; so a batch is found whole or computed whole, and a run that was killed
ends as an undisturbed one would.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from phidrift.core.progress import progress
from phidrift.generation.engine import Answer, Engine, Request, digest, request_record


class AnswerStore:
    """Key -> JSON value in one SQLite file, which several processes may use at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, key: str) -> Any | None:
        row = self._connection.execute("SELECT value FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, key: str, value: Any) -> None:
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, json.dumps(value, allow_nan=False))
            )


@contextmanager
def open_store(path: Path) -> Iterator[AnswerStore]:
    """The store in that file, made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        yield AnswerStore(connection)


def answer_all(
    engine: Engine, store: AnswerStore, requests: Sequence[Request], batch_size: int, title: str
) -> list[Answer]:
    """Answers to all requests, in their order, in batches of those with the same head."""
    order = sorted(range(len(requests)), key=lambda i: (len(requests[i].head), requests[i].head, i))
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]

    def compute(batch: Sequence[int]) -> list[dict[str, Any]]:
        return [asdict(answer) for answer in engine.answer([requests[i] for i in batch])]

    def key(batch: Sequence[int]) -> str:
        return digest("answers", engine.identity, [request_record(requests[i]) for i in batch])

    return [Answer(**value) for value in in_batches(store, batches, key, compute, title)]


def in_batches(
    store: AnswerStore,
    batches: Sequence[Sequence[int]],
    key: Callable[[Sequence[int]], str],
    compute: Callable[[Sequence[int]], list[Any]],
    title: str,
) -> list[Any]:
    """The values of all items, by item: from the store where a batch is in it, else computed and stored."""
    values: dict[int, Any] = {}
    with progress(title, sum(len(batch) for batch in batches)) as advance:
        for batch in batches:
            place = key(batch)
            found = store.get(place)
            if found is None:
                found = compute(batch)
                store.put(place, found)
            values.update(zip(batch, found, strict=True))
            advance(len(batch))
    return [values[i] for i in range(len(values))]
