"""What `phidrift evaluate` reads: the corpus, and what the taggers learnt from."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phidrift.core.document import Document
    from phidrift.corpora.reading import CorpusSource
    from phidrift.corpora.source import ReadOptions

_LOOKED_AT = 20  # documents
# Names of files and folders that say nothing of whose notes they hold.
_GENERIC = frozenset({"train", "test", "dev", "corpus", "data", "documents", "notes"})


def read_corpus(source: "CorpusSource") -> "tuple[dict[str, Any], list[Document]]":
    """(what the corpus is, its documents)."""
    from phidrift.corpora.reading_report import read_and_report

    documents, report = read_and_report(source)
    about = {name: report[name] for name in ("format", "stand_in", "restricted")}
    lost = {"documents": report["rejected"]["documents"], "spans": report["spans"]["outcomes"]["dropped"]}
    of_train = sum(document.meta["split"] == "train" for document in documents)
    mapped = {row["entity"] for row in report["labels"].values()} - {None}
    labels = {"unmapped_labels": report["spans"]["unmapped_labels"], "mapped_entities": sorted(mapped)}
    return {"name": source.name, **about, "left_out": lost, **labels, "of_train_split": of_train}, documents


def own_name(name: str, path: Path) -> str:
    """A corpus' name, behind those of its folders where it says nothing by itself: ward-test for ward/test.jsonl."""
    from phidrift.corpora.files import safe_name

    parts, folder = [name], path.resolve().parent
    while parts[0].casefold() in _GENERIC and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return safe_name("-".join(parts))


def read_training(
    path: Path,
    corpus: Path,
    format_name: str | None,
    options: "ReadOptions",
    labels: Mapping[str, str] | None,
) -> "list[Document]":
    """What the taggers learnt from: harmonised, or as raw as the corpus, whose options then hold for it too.

    A format that was named holds if both look as if they were in the same one. A label map of the corpus is added to
    the ready map of the training file's format.
    """
    from dataclasses import replace

    from phidrift.core.errors import PhidriftError
    from phidrift.corpora.formats import FORMATS
    from phidrift.corpora.label_maps import ready_map
    from phidrift.corpora.reading import Reading, corpus_at, harmonised_documents
    from phidrift.corpora.source import PLAIN

    if _is_harmonised(path):
        return list(harmonised_documents(corpus_at(path), Reading()))
    alike = _looks_like(path, options) == _looks_like(corpus, options)
    source = corpus_at(path, format_name if alike else None, options)
    heeded = FORMATS[source.format].fields
    own = replace(
        options,
        text_field=options.text_field if "text_field" in heeded else None,
        group_field=options.group_field if "group_field" in heeded else None,
    )
    both = None if labels is None else {**ready_map(source.format), **labels}
    try:
        return list(harmonised_documents(replace(source, options=own, labels=both), Reading()))
    except PhidriftError as error:
        if own == PLAIN:
            raise
        hint = "it was read with the options of the corpus: if others hold for it, harmonise it first"
        mend = f"{error.mend}; {hint}" if error.mend else hint
        raise PhidriftError(error.problem, where=error.where, mend=mend) from error


def _is_harmonised(path: Path) -> bool:
    """Whether these are JSON lines as phidrift writes them, in which no field is left to be named."""
    from itertools import islice

    from phidrift.corpora.files import all_files, source_files, split_suffix
    from phidrift.corpora.recognise import recognised_format
    from phidrift.corpora.rows import JSON_SUFFIXES, rows
    from phidrift.corpora.source import PLAIN

    suffixes = {split_suffix(file)[1] for file in all_files(path)}
    if not suffixes.intersection(JSON_SUFFIXES) or recognised_format(path) != "jsonl":
        return False
    found = rows(source_files(path, JSON_SUFFIXES)[0], PLAIN, lambda where, reason: None)
    first = [record for _, _, record in islice(found, _LOOKED_AT)]
    return bool(first) and all(
        record.keys() >= {"id", "text", "spans", "meta"}
        and isinstance(record["meta"], dict)
        and "corpus" in record["meta"]
        for record in first
    )


def _looks_like(path: Path, options: "ReadOptions") -> str | None:
    """The format that is recognised; None if none is, so that one must have been named."""
    from phidrift.core.errors import PhidriftError
    from phidrift.corpora.recognise import recognised_format

    try:
        return recognised_format(path, options)
    except PhidriftError:
        return None
