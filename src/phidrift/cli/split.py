"""What `phidrift harmonize --test` writes: a corpus split into train and test that share no group and no text."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phidrift.core.errors import PhidriftError

if TYPE_CHECKING:
    from phidrift.corpora.reading import CorpusSource


def refuse_folder(inputs: Sequence[Path], out: Path, report: Path | None) -> None:
    """The folder of a split is replaced as a whole: it must hold nothing else, and lie outside the inputs."""
    folder = out.resolve()
    for path in inputs:
        if folder.is_relative_to(path.resolve()) or path.resolve().is_relative_to(folder):
            raise PhidriftError("this would overwrite an input", where=out, mend="write it elsewhere")
    if report is not None and report.resolve().is_relative_to(folder):
        raise PhidriftError(
            "the folder of a split holds nothing else", where=report, mend="write it elsewhere"
        )
    if folder.exists() and not folder.is_dir():
        raise PhidriftError("with --test this is a folder", where=out, mend="name another")
    if folder.is_dir() and {path.name for path in folder.iterdir()} - {"train.jsonl", "test.jsonl"}:
        raise PhidriftError("this folder holds other files", where=out, mend="name another, or an empty one")


def write_split(source: "CorpusSource", out: Path, test: int, seed: int) -> dict[str, Any]:
    """Writes train.jsonl and test.jsonl as the pipeline's harmonize does; returns the account of the reading."""
    from phidrift.corpora.harmonize import Split, write_corpus
    from phidrift.corpora.harmonize import harmonize as split_corpus

    train, held, account = split_corpus(source, Split(test), seed)
    write_corpus(out.resolve(), train, held)
    return account


def split_lines(account: Mapping[str, Any]) -> Iterator[str]:
    """What the two files hold, and what was left out of train."""
    splits, dropped = account["splits"], account["dropped_from_train"]
    for name in ("train", "test"):
        entities = splits[name]["entities"].items()
        spans = ", ".join(f"{entity} {counts['spans']}" for entity, counts in entities)
        yield f"{name}.jsonl: {splits[name]['documents']} documents; spans: {spans}"
    groups, texts = dropped["group_in_test"], dropped["text_in_test"]
    yield f"Left out: {groups} documents of groups in test, {texts} train documents of texts in test"
