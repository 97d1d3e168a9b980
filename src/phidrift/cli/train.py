"""`phidrift train`: taggers from any labelled corpus, without a pipeline."""

import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phidrift.cli.corpora import EncodingOption, FormatOption, TextFieldOption
from phidrift.core.document import ENTITIES
from phidrift.core.errors import PhidriftError

if TYPE_CHECKING:
    from phidrift.core.document import Document
    from phidrift.corpora.source import ReadOptions

LOG = logging.getLogger(__name__)
_WIDTH = 110  # characters where the output is no terminal
WARNING = "No tagger trained here is fit for clinical use before it has been evaluated on your own notes, by people."


def train(
    corpus: Annotated[Path, typer.Argument(help="A labelled corpus: a file, or a folder of files.")],
    out: Annotated[Path, typer.Option(help="The folder for ENTITY/TAGGER-SEED/, one an entity.")],
    entity: Annotated[
        list[str] | None, typer.Option(help="What to learn; may be repeated. Without, all four.")
    ] = None,
    format_name: FormatOption = None,
    text_field: TextFieldOption = None,
    encoding: EncodingOption = "utf-8",
    label_map: Annotated[
        Path | None,
        typer.Option(help="YAML with the corpus' labels under each entity; replaces the ready map."),
    ] = None,
    base: Annotated[
        str, typer.Option(help="The encoder to fine-tune: embedded/..., a folder, or a hub model.")
    ] = "embedded/all-minilm-l6-v2",
    epochs: Annotated[int, typer.Option(min=1, help="Times that each document is read.")] = 4,
    learning_rate: Annotated[float, typer.Option(help="The highest, after warm-up.")] = 2e-4,
    batch_size: Annotated[int, typer.Option(min=1, help="Windows of text a step.")] = 4,
    max_length: Annotated[int, typer.Option(min=3, help="Tokens of the model a window.")] = 256,
    seed: Annotated[
        list[int] | None, typer.Option(min=0, help="May be repeated: one tagger each. Without, 42.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="CPU threads of each training; without, all cores.")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Trainings at a time, each on a GPU of its own where there are some.")
    ] = 1,
    name: Annotated[str | None, typer.Option(help="Name of the training set; without, the corpus'.")] = None,
    licence: Annotated[str, typer.Option(help="Licence of the corpus, for the model cards.")] = "not stated",
    restricted: Annotated[
        bool, typer.Option("--restricted", help="The corpus may not be passed on, nor may its taggers.")
    ] = False,
    replaced: Annotated[
        bool, typer.Option("--replace", help="Replace all taggers that OUT holds of these entities.")
    ] = False,
) -> None:
    """Fine-tune a tagger for each entity on a labelled corpus; an interrupted run goes on when it is repeated."""
    from phidrift.corpora.source import ReadOptions

    # Threads that wait by spinning starve each other on shared cores; set before torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if base.startswith("embedded/"):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    entities = _entities(entity or ENTITIES)
    if learning_rate <= 0:
        raise PhidriftError(f"--learning-rate is {learning_rate}", mend="use one above 0, such as 2e-4")
    inputs = [corpus] if label_map is None else [corpus, label_map]
    _refuse_outputs(inputs, out, entities, replaced=replaced)
    source, documents = _read(
        corpus, format_name, ReadOptions(text_field=text_field, encoding=encoding), label_map, restricted
    )
    _refuse_what_teaches_nothing(documents, entities, corpus)

    from phidrift.corpora.files import safe_name
    from phidrift.tagging.checkpoints import TrainingSet, train_sets
    from phidrift.tagging.train import TaggerSettings

    sha256 = _hash(documents)
    set_name = " ".join(name.split()) if name else source
    sets = {
        out / each: TrainingSet(set_name, source, len(documents), each, documents, sha256, {source: licence})
        for each in entities
    }
    settings = TaggerSettings(base, max_length, batch_size, epochs, learning_rate, 0.1, 0.01)
    records = train_sets(
        sets,
        {safe_name(Path(base).name): settings},
        list(dict.fromkeys(seed or [42])),
        threads=threads or os.cpu_count() or 1,
        workers=workers,
    )
    _print_records({each: records[out / each] for each in entities}, out)


def _entities(wanted: Sequence[str]) -> list[str]:
    unknown = sorted(set(wanted) - set(ENTITIES))
    if unknown:
        raise PhidriftError(f"no entity {unknown[0]!r}", mend=f"use some of {', '.join(ENTITIES)}")
    return [each for each in ENTITIES if each in wanted]


def _refuse_outputs(inputs: Sequence[Path], out: Path, entities: Sequence[str], *, replaced: bool) -> None:
    """No input and nothing that is no training's own folder may be written over."""
    for each in entities:
        folder = (out / each).resolve()
        for path in inputs:
            place = path.resolve()
            if folder.is_relative_to(place) or place.is_relative_to(folder):
                raise PhidriftError("this would overwrite an input", where=out, mend="write it elsewhere")
        if folder.exists() and not (folder / "training.json").is_file():
            mend = "write elsewhere, or move it away"
            raise PhidriftError("this is there, and no earlier training", where=out / each, mend=mend)
        if folder.exists() and not replaced:
            mend = "write elsewhere, or replace all that is there with --replace"
            raise PhidriftError("taggers are here already", where=out / each, mend=mend)
    if out.exists() and not out.is_dir():
        raise PhidriftError("this is a file", where=out, mend="name a folder")


def _read(
    path: Path,
    format_name: str | None,
    options: "ReadOptions",
    label_map: Path | None,
    restricted: bool,
) -> "tuple[str, list[Document]]":
    """(name of the corpus, its documents)."""
    from phidrift.corpora.label_maps import read_label_map
    from phidrift.corpora.reading import corpus_at
    from phidrift.corpora.reading_report import read_and_report

    source = corpus_at(path, format_name, options)
    source = replace(source, restricted=source.restricted or restricted)
    if label_map is not None:
        source = replace(source, labels=read_label_map(label_map))
    documents, _ = read_and_report(source)
    held_out = sum(document.meta["split"] == "test" for document in documents)
    if held_out:
        LOG.warning(
            "%s: %d documents of its own test split are learnt from too; to keep them for the test, name the training "
            "part alone",
            source.name,
            held_out,
        )
    return source.name, documents


def _refuse_what_teaches_nothing(
    documents: "Sequence[Document]", entities: Sequence[str], corpus: Path
) -> None:
    unlabelled = sum(document.spans is None for document in documents)
    if unlabelled:
        problem = (
            f"{unlabelled} of {len(documents)} documents have no labels, so nothing can be learnt from them"
        )
        raise PhidriftError(problem, where=corpus, mend="label them, or leave them out of the corpus")
    held = {span.label for document in documents for span in document.spans or ()}
    missing = [each for each in entities if each not in held]
    if missing:
        others = [each for each in entities if each in held]
        leave = f"leave it out: {' '.join(f'--entity {each}' for each in others)}" if others else "label some"
        problem = f"no document holds a span of {', '.join(missing)}"
        raise PhidriftError(problem, where=corpus, mend=f"{leave}; or name its labels with --label-map")


def _hash(documents: "Sequence[Document]") -> str:
    """SHA-256 of the file that `phidrift harmonize` writes of them."""
    from phidrift.core.document import to_line

    digest = hashlib.sha256()
    for document in documents:
        digest.update(f"{to_line(document.to_json())}\n".encode())
    return digest.hexdigest()


def _print_records(records: Mapping[str, Mapping[str, Any]], out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDTH
    table = Table()
    for title in ("entity", "seed", "documents", "with entity", "spans", "not sayable", "loss"):
        table.add_column(title, justify="left" if title == "entity" else "right")
    for entity, record in records.items():
        for run in record["taggers"]:
            counts = (record["documents"], record["positives"], run["spans"], run["unrepresentable_spans"])
            table.add_row(entity, str(run["seed"]), *map(str, counts), f"{run['loss']:.4f}")
    console.print(table)
    console.print(
        "not sayable: spans that begin or end inside a token of the model; loss: mean of the last epoch"
    )
    console.print(f"Written to {out}", soft_wrap=True)
    if any(record["restricted"] for record in records.values()):
        console.print("Restricted: trained on documents that may not be passed on; nor may these taggers.")
    console.print(WARNING)
