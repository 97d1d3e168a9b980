"""One schema for every corpus: read, map labels, check offsets, split, remove duplicates, and say what was lost."""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phidrift.core.document import Document, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.core.files import whole_folder
from phidrift.corpora.ai4privacy import read_ai4privacy
from phidrift.corpora.i2b2 import read_i2b2
from phidrift.corpora.multileg import read_multileg
from phidrift.corpora.source import RawDocument, Reject
from phidrift.corpora.spans import SpanCounts, harmonised_spans, label_map
from phidrift.corpora.splitting import grouped_split, seeded_order
from phidrift.corpora.statistics import corpus_statistics

LOG = logging.getLogger(__name__)
READERS: dict[str, Callable[[Path, Reject], Iterator[RawDocument]]] = {
    "ai4privacy": read_ai4privacy,
    "i2b2": read_i2b2,
    "multileg": read_multileg,
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class CorpusSource:
    """A corpus to harmonise. `test` is the size of a seeded test split in documents, None the source's own split.

    Without `deduplicate` a seeded split draws documents, whatever group they belong to, and keeps duplicates: as the
    study did.
    """

    name: str
    folder: Path
    format: str
    test: int | None
    restricted: bool
    deduplicate: bool = True


@dataclass
class _Reading:
    counts: SpanCounts = field(default_factory=SpanCounts)
    rejected: list[str] = field(default_factory=list)  # reasons


def harmonize(source: CorpusSource, seed: int) -> tuple[list[Document], list[Document], dict[str, Any]]:
    """(train, test, report); both splits in seeded hash order, so that the first n are a nested training set.

    `meta` of each document holds corpus, split, group, stand_in and restricted. A document that can't be read is
    named in a warning, counted in the report (which names no file: file names may name patients), and skipped.
    Train documents whose group stands in test are left out;
    with `deduplicate`, so are those whose text does (white space and case aside). Duplicates within a split stay
    as the source has them, and are counted.

    Raises:
        PhidriftError: no folder, no readable document, no test split in the source, or fewer documents than `test`.
    """
    reading = _Reading()
    documents = _read(source, reading)
    train, test, left_out = _split(source, documents, seed)
    held = {document.meta["group"] for document in test}
    known = {_folded(document.text) for document in test}
    # A seeded split keeps groups whole already, or (with too few of them) splits documents on purpose.
    ungrouped = [d for d in train if source.test is not None or d.meta["group"] not in held]
    unseen = [d for d in ungrouped if not source.deduplicate or _folded(d.text) not in known]
    final_train = [_with_split(d, "train") for d in seeded_order(unseen, seed)]
    final_test = [_with_split(d, "test") for d in seeded_order(test, seed)]
    report = {
        "splits": {"train": corpus_statistics(final_train), "test": corpus_statistics(final_test)},
        "all": corpus_statistics([*final_train, *final_test]),
        "spans": {
            "outcomes": {k: reading.counts.outcomes[k] for k in ("exact", "relocated", "trimmed", "dropped")},
            "drop_reasons": dict(reading.counts.drop_reasons),
            "unmapped_labels": dict(reading.counts.unmapped),
            "inside_words": reading.counts.inside_words,
        },
        "without_split": sum(d.meta["split"] is None for d in documents) if source.test is None else 0,
        "dropped_from_train": {
            "group_in_test": left_out + len(train) - len(ungrouped),
            "text_in_test": len(ungrouped) - len(unseen),
        },
        "duplicates_kept": {"train": _repeats(final_train), "test": _repeats(final_test)},
        "rejected": {
            "documents": len(reading.rejected),
            "reasons": dict(Counter(reading.rejected)),
        },
        "stand_in": is_stand_in(source.folder),
        "restricted": source.restricted,
    }
    _log_losses(source.name, len(documents), report)
    return final_train, final_test, report


def _log_losses(name: str, read: int, report: dict[str, Any]) -> None:
    """Says in a line what became of a corpus, and warns of entities that a split lacks."""
    splits, lost = report["splits"], report["dropped_from_train"]
    LOG.info(
        "%s: %d documents read, %d rejected; %d train and %d test; left out: %d of groups in test, %d of texts in test,"
        " %d outside the folders train and test",
        name,
        read,
        report["rejected"]["documents"],
        splits["train"]["documents"],
        splits["test"]["documents"],
        lost["group_in_test"],
        lost["text_in_test"],
        report["without_split"],
    )
    for part in ("train", "test"):
        missing = [entity for entity, count in splits[part]["entities"].items() if not count["spans"]]
        if missing:
            unmapped = Counter(report["spans"]["unmapped_labels"]).most_common(5)
            seen = ", ".join(f"{label} ({count})" for label, count in unmapped) or "none"
            LOG.warning("%s: no %s in %s; labels not mapped: %s", name, " or ".join(missing), part, seen)


def write_corpus(folder: Path, train: Sequence[Document], test: Sequence[Document]) -> str:
    """Writes train.jsonl and test.jsonl, all or nothing; returns the SHA-256 over both files' bytes."""
    with whole_folder(folder) as temporary:
        digest = hashlib.sha256()
        for name, documents in (("train", train), ("test", test)):
            write_documents(temporary / f"{name}.jsonl", documents)
            digest.update((temporary / f"{name}.jsonl").read_bytes())
    return digest.hexdigest()


def is_stand_in(folder: Path) -> bool:
    """Whether the folder says, by a file named STANDIN, that it stands in for the real corpus."""
    return (folder / "STANDIN").is_file()


def _read(source: CorpusSource, reading: _Reading) -> list[Document]:
    def reject(where: str, reason: str) -> None:
        LOG.warning("%s: document skipped: %s", where, reason)
        reading.rejected.append(reason)

    labels, stand_in = label_map(source.format), is_stand_in(source.folder)
    documents: list[Document] = []
    taken: set[str] = set()
    for raw in READERS[source.format](source.folder, reject):
        spans = harmonised_spans(raw, labels, reading.counts)
        meta = {
            "corpus": source.name,
            "split": raw.split,
            "group": _safe(raw.group),
            "stand_in": stand_in,
            "restricted": source.restricted,
        }
        documents.append(Document(_unused(_safe(f"{source.name}-{raw.id}"), taken), raw.text, spans, meta))
    if not documents:
        problem = f"no readable document ({len(reading.rejected)} rejected)"
        raise PhidriftError(problem, where=source.folder, mend=f"is it in the {source.format} format?")
    return documents


def _split(
    source: CorpusSource, documents: list[Document], seed: int
) -> tuple[list[Document], list[Document], int]:
    if source.test is None:
        parts = {name: [d for d in documents if d.meta["split"] == name] for name in ("train", "test")}
        if not parts["test"]:
            mend = "put it into sub-folders train and test, or set split to {test: N}"
            raise PhidriftError("the source has no test split", where=source.folder, mend=mend)
        return parts["train"], parts["test"], 0
    if source.test >= len(documents):
        problem = f"a test split of {source.test} leaves no training document: there are {len(documents)}"
        raise PhidriftError(problem, where=source.folder, mend="make split.test smaller")
    if not source.deduplicate:
        ranked = seeded_order(documents, seed)
        return ranked[source.test :], ranked[: source.test], 0
    return grouped_split(documents, source.test, seed)


def _with_split(document: Document, split: str) -> Document:
    return replace(document, meta={**document.meta, "split": split})


def _repeats(documents: Sequence[Document]) -> int:
    return len(documents) - len({_folded(document.text) for document in documents})


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)


def _unused(name: str, taken: set[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free
