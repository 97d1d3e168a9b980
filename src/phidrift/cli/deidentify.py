"""`phidrift deidentify`: redacts documents with trained taggers, and says what that doesn't cover."""

import hashlib
import importlib.metadata
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from phidrift.core.errors import PhidriftError

if TYPE_CHECKING:
    from phidrift.deidentification.coverage import ChosenTagger
    from phidrift.deidentification.stream import Account, Settings

INCOMPLETE = 3  # the exit code where a document was left out
_PACKAGES = ("phidrift", "torch", "transformers", "tokenizers", "numpy", "faker")


def deidentify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Text files, or corpora of any format.")
    ],
    models: Annotated[
        Path, typer.Option(help="The folder of the taggers: of a set, an entity or a checkpoint.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write; new or empty.")],
    mode: Annotated[
        Literal["mask", "surrogate"], typer.Option(help="[PERSON] for a name, or an invented name.")
    ] = "mask",
    threshold_for_recall: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Also mark every token that is PHI with at least this probability: lower marks more.",
        ),
    ] = None,
    tagger: Annotated[
        str | None, typer.Option(metavar="NAME-SEED", help="Which one, where an entity has several.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the inputs; without, it is recognised.")
    ] = None,
    text_field: Annotated[str | None, typer.Option(help="The field or column that holds the text.")] = None,
    encoding: Annotated[str, typer.Option(help="The encoding of text files, such as latin-1.")] = "utf-8",
    seed: Annotated[
        int | None,
        typer.Option(help="Surrogates that can be repeated, and so undone. Without, a random secret."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="A private file outside OUT that says which document has which number."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads; without, torch's default.")] = None,
) -> None:
    """Redact documents with trained taggers. For trials: no tagger of phidrift is fit for clinical use."""
    import torch

    from phidrift.core.files import whole_folder, write_json
    from phidrift.core.progress import progress
    from phidrift.corpora.reading import corpus_at
    from phidrift.corpora.source import ReadOptions
    from phidrift.deidentification import coverage
    from phidrift.deidentification.stream import Settings, count_documents
    from phidrift.deidentification.stream import deidentify as redact_all
    from phidrift.tagging.model_folders import find_taggers
    from phidrift.tagging.predict import load_tagger

    _check_places(paths, models, out, key)
    if seed is not None and mode == "mask":
        raise PhidriftError("masks are not drawn from a seed", where="--seed", mend="leave it out")
    chosen = coverage.choose_taggers(find_taggers(models), tagger)
    sources = [corpus_at(path, format_name, ReadOptions(text_field, None, encoding)) for path in paths]
    if threads is not None:
        torch.set_num_threads(threads)
    secret = secrets.token_bytes(32) if seed is None else hashlib.sha256(f"phidrift {seed}".encode()).digest()
    settings = Settings(mode, threshold_for_recall, secret)
    total = count_documents(sources)
    taggers = [load_tagger(one.folder) for one in chosen]
    warnings = coverage.warnings(chosen, seeded=seed is not None)
    with _private(key) as key_file, whole_folder(out) as folder:
        with progress("deidentify", total * len(taggers)) as advance:
            account = redact_all(sources, taggers, settings, folder, key=key_file, advance=advance)
        manifest = _manifest(account, settings, chosen, warnings, seed is not None)
        write_json(folder / "manifest.json", manifest)
        _check_empty(out)  # what came there in the meantime is not to be lost
    _say(account, out, warnings, mode)
    if account.left_out:
        raise typer.Exit(INCOMPLETE)


def _check_places(paths: Sequence[Path], models: Path, out: Path, key: Path | None) -> None:
    mend = "name another place"
    if Path.cwd().is_relative_to(out.resolve()):
        problem = "this is the working folder or holds it, and is to be replaced as a whole"
        raise PhidriftError(problem, where=out, mend="name a new folder in it, such as redacted")
    for written in (out, *([] if key is None else [key])):
        for path in (*paths, models):
            if written.resolve().is_relative_to(path.resolve()) or path.resolve().is_relative_to(
                written.resolve()
            ):
                raise PhidriftError("this would write into an input", where=written, mend=mend)
    _check_empty(out)
    if key is None:
        return
    if key.resolve().is_relative_to(out.resolve()):
        problem = "the key says which document is whose: it must not lie with the redacted ones"
        raise PhidriftError(problem, where=key, mend=mend)
    if key.exists():
        raise PhidriftError("there is one already", where=key, mend="name a new file, or move the old one")


def _check_empty(out: Path) -> None:
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise PhidriftError("this is not a new or empty folder", where=out, mend="name another, or empty it")


@contextmanager
def _private(key: Path | None) -> Iterator[IO[str] | None]:
    """The key file, which only its owner may read, whole at the end."""
    from phidrift.core.files import whole_file

    if key is None:
        yield None
        return
    with whole_file(key) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file


def _manifest(
    account: "Account",
    settings: "Settings",
    chosen: "Sequence[ChosenTagger]",
    warnings: Sequence[str],
    seeded: bool,
) -> dict[str, Any]:
    """What was done, with what, and what it doesn't cover. Holds no text and no path; nor the seed, which is a key."""
    from phidrift.deidentification.coverage import NOT_COVERED, missing_entities
    from phidrift.deidentification.stream import by_label

    return {
        "mode": settings.mode,
        "threshold_for_recall": settings.threshold,
        "seeded": seeded,
        "documents": {"met": account.met, "written": account.written, "left_out": len(account.left_out)},
        "left_out": [{"id": identity, "reason": reason} for identity, reason in account.left_out],
        "files_not_read": dict(account.not_read),
        "spans": by_label(account.spans),
        "masked_for_want_of_a_surrogate": by_label(account.masked) if settings.mode == "surrogate" else None,
        "taggers": {tagger.entity: tagger.to_json() for tagger in chosen},
        "no_tagger": missing_entities(chosen),
        "not_covered": list(NOT_COVERED),
        "warnings": list(warnings),
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES},
    }


def _say(account: "Account", out: Path, warnings: Sequence[str], mode: str) -> None:
    from phidrift.deidentification.stream import by_label

    print(f"{account.written} of {account.met} documents -> {out}")
    print(f"Redacted: {_counts(by_label(account.spans))}")
    if mode == "surrogate":
        print(f"Masked, for want of a surrogate: {_counts(by_label(account.masked))}")
    if account.left_out:
        print(f"LEFT OUT: {len(account.left_out)} documents, listed in {out / 'manifest.json'}")
    if account.not_read:
        count = sum(account.not_read.values())
        print(f"{count} files with other endings were NOT read and not written: {_counts(account.not_read)}")
    for warning in warnings:
        print(f"! {warning}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count}" for label, count in counts.items()) or "nothing"
