"""One schema for every corpus, split into train and test that share nothing, with the record of what was left out."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from phidrift.core.document import Document, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.core.files import whole_folder
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents
from phidrift.corpora.reading_report import reading_report, unmapped_labels, warn_of_reading
from phidrift.corpora.splitting import grouped_split, seeded_order
from phidrift.corpora.statistics import corpus_statistics

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Split:
    """How a corpus is split: by the source itself, or a seeded test split of `test` documents.

    Without `deduplicate` a seeded split draws documents, whatever group they belong to, and keeps duplicates: as the
    study did.
    """

    test: int | Literal["source"]
    deduplicate: bool = True


def harmonize(
    source: CorpusSource, split: Split, seed: int
) -> tuple[list[Document], list[Document], dict[str, Any]]:
    """(train, test, report); both splits in seeded hash order, so that the first n are a nested training set.

    Train documents whose group stands in test are left out; with `deduplicate`, so are those whose text does (white
    space and case aside). Duplicates within a split stay as the source has them, and are counted.

    Raises:
        PhidriftError: as `harmonised_documents`; restricted documents in a corpus that isn't; no test split in the
            source, or fewer documents than `test`.
    """
    reading = Reading(seed)
    documents = list(harmonised_documents(source, reading))
    account = reading_report(source, reading)
    warn_of_reading(source, account)
    if reading.restricted and not source.restricted:
        problem = f"{reading.restricted} of its documents are restricted, but the corpus is not"
        raise PhidriftError(problem, where=source.path, mend="mark the corpus restricted")
    train, test, left_out = _split(source, split, documents, seed)
    held = {document.meta["group"] for document in test}
    known = {_folded(document.text) for document in test}
    # A seeded split keeps groups whole already, or (with too few of them) splits documents on purpose.
    ungrouped = [d for d in train if split.test != "source" or d.meta["group"] not in held]
    unseen = [d for d in ungrouped if not split.deduplicate or _folded(d.text) not in known]
    if train and not unseen:
        problem = f"all {len(train)} train documents belong with test documents, or have the same text"
        raise PhidriftError(
            problem, where=source.path, mend="divide the corpus otherwise, or set deduplicate to false"
        )
    final_train = [_with_split(d, "train") for d in seeded_order(unseen, seed)]
    final_test = [_with_split(d, "test") for d in seeded_order(test, seed)]
    report = {
        **account,
        "splits": {"train": corpus_statistics(final_train), "test": corpus_statistics(final_test)},
        "whole": corpus_statistics(documents),
        "without_split": sum(d.meta["split"] is None for d in documents) if split.test == "source" else 0,
        "dropped_from_train": {
            "group_in_test": left_out + len(train) - len(ungrouped),
            "text_in_test": len(ungrouped) - len(unseen),
        },
        "duplicates_kept": {"train": _repeats(final_train), "test": _repeats(final_test)},
    }
    _log_losses(source, reading, report)
    return final_train, final_test, report


def write_corpus(folder: Path, train: Sequence[Document], test: Sequence[Document]) -> str:
    """Writes train.jsonl and test.jsonl, all or nothing; returns the SHA-256 over both files' bytes."""
    with whole_folder(folder) as temporary:
        digest = hashlib.sha256()
        for name, documents in (("train", train), ("test", test)):
            write_documents(temporary / f"{name}.jsonl", documents)
            digest.update((temporary / f"{name}.jsonl").read_bytes())
    return digest.hexdigest()


def _split(
    source: CorpusSource, split: Split, documents: list[Document], seed: int
) -> tuple[list[Document], list[Document], int]:
    if split.test == "source":
        parts = {name: [d for d in documents if d.meta["split"] == name] for name in ("train", "test")}
        if not parts["test"]:
            mend = "put it into sub-folders (or files) train and test, or set split to {test: N}"
            raise PhidriftError("the source has no test split", where=source.path, mend=mend)
        return parts["train"], parts["test"], 0
    if split.test >= len(documents):
        problem = f"a test split of {split.test} leaves no training document: there are {len(documents)}"
        raise PhidriftError(problem, where=source.path, mend="hold out fewer")
    if not split.deduplicate:
        ranked = seeded_order(documents, seed)
        return ranked[split.test :], ranked[: split.test], 0
    if len({document.meta["group"] for document in documents}) == 1:
        LOG.warning("%s: all documents are of one group, so that it stands in train and in test", source.name)
    return grouped_split(documents, split.test, seed)


def _log_losses(source: CorpusSource, reading: Reading, report: Mapping[str, Any]) -> None:
    """Says in a line what became of a corpus, and warns of entities that a split lacks."""
    splits, lost = report["splits"], report["dropped_from_train"]
    LOG.info(
        "%s: %d documents read, %d rejected; %d train and %d test; left out: %d of groups in test, %d of texts in test,"
        " %d outside the folders train and test",
        source.name,
        reading.documents,
        report["rejected"]["documents"],
        splits["train"]["documents"],
        splits["test"]["documents"],
        lost["group_in_test"],
        lost["text_in_test"],
        report["without_split"],
    )
    unmapped = list(unmapped_labels(reading.spans, source.label_map).items())
    LOG.info("%s: labels that are no entity: %s", source.name, _listed(unmapped))
    for part in ("train", "test"):
        if reading.unlabelled == reading.documents:
            break
        missing = [entity for entity, count in splits[part]["entities"].items() if not count["spans"]]
        if missing:
            LOG.warning(
                "%s: no %s in %s; labels not mapped: %s",
                source.name,
                " or ".join(missing),
                part,
                _listed(unmapped[:5]),
            )


def _listed(labels: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{label} ({count})" for label, count in labels) or "none"


def _with_split(document: Document, split: str) -> Document:
    return replace(document, meta={**document.meta, "split": split})


def _repeats(documents: Sequence[Document]) -> int:
    return len(documents) - len({_folded(document.text) for document in documents})


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
