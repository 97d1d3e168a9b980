"""`phidrift harmonize` and `phidrift corpora`: any corpus that the readers know, harmonised or counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phidrift.cli.outputs import refuse_overwriting
from phidrift.cli.split import refuse_folder, split_lines, write_split
from phidrift.core.document import ENTITIES, Document
from phidrift.core.errors import PhidriftError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from phidrift.corpora.source import ReadOptions
    from phidrift.corpora.tables import CorpusCounts, Rows

_WIDTH = 110  # characters where the output is no terminal
FormatOption = Annotated[str | None, typer.Option("--format", help="Its format; without, it is recognised.")]
TextFieldOption = Annotated[str | None, typer.Option(help="The field or column that holds the text.")]
GroupFieldOption = Annotated[
    str | None, typer.Option(help="The field that says what belongs together, such as a patient's number.")
]
EncodingOption = Annotated[str, typer.Option(help="The encoding of text files, such as latin-1.")]


def harmonize(
    path: Annotated[Path, typer.Argument(help="A file, or a folder of files.")],
    out: Annotated[
        Path, typer.Option(help="The JSON-lines file to write, whole or not at all; with --test, the folder.")
    ],
    format_name: FormatOption = None,
    label_map: Annotated[
        Path | None,
        typer.Option(help="YAML with the corpus' labels under each entity; replaces the ready map."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the corpus; without, that of its path.")] = None,
    text_field: TextFieldOption = None,
    group_field: GroupFieldOption = None,
    encoding: EncodingOption = "utf-8",
    offsets: Annotated[
        str, typer.Option(help="What offsets count: auto, characters, inclusive (of the end), utf16, bytes.")
    ] = "auto",
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad document or span.")] = False,
    restricted: Annotated[
        bool | None, typer.Option(help="Whether it may not be shared; without, as usual for its format.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A JSON file for the account of documents, spans and labels.")
    ] = None,
    test: Annotated[
        int | None,
        typer.Option(min=1, help="Split off about so many documents: writes train.jsonl and test.jsonl."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the split.")] = 42,
) -> None:
    """Read a corpus, map its labels to ADDRESS, CONTACT, DATE and PERSON, check every offset, write JSON lines."""
    from phidrift.core.document import write_documents
    from phidrift.core.files import write_json
    from phidrift.corpora.files import safe_name
    from phidrift.corpora.label_maps import read_label_map
    from phidrift.corpora.reading import Reading, corpus_at, harmonised_documents
    from phidrift.corpora.reading_report import reading_report, warn_of_reading
    from phidrift.corpora.source import ReadOptions

    inputs = [path] if label_map is None else [path, label_map]
    refuse_overwriting(inputs, *([report] if test else [out, report]))
    if test:
        refuse_folder(inputs, out, report)
    found = corpus_at(path, format_name, ReadOptions(text_field, group_field, encoding))
    source = replace(
        found,
        name=safe_name(name) if name else found.name,
        labels=None if label_map is None else read_label_map(label_map),
        offsets=offsets,
        strict=strict,
        restricted=found.restricted if restricted is None else restricted,
    )
    if test:
        account = write_split(source, out, test, seed)
        _print_account(account, out, source.guessed)
        for line in split_lines(account):
            _console().print(line, soft_wrap=True)
        if report is not None:
            write_json(report.resolve(), account)
        return
    reading = Reading()
    write_documents(out.resolve(), harmonised_documents(source, reading))
    account = reading_report(source, reading)
    warn_of_reading(source, account)
    if report is not None:
        write_json(report.resolve(), account)
    _print_account(account, out, source.guessed)


def _print_account(account: Mapping[str, Any], out: Path, guessed: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    read, rejected, spans = account["read"], account["rejected"], account["spans"]
    console = _console()
    how = "recognised as" if guessed else "read as"
    console.print(f"{read['documents']} documents, {how} {account['format']} -> {out}", soft_wrap=True)
    for reason, count in rejected["reasons"].items():
        console.print(f"  {count} skipped: {reason}")
    table = Table(title="Labels", title_justify="left")
    for title in ("label", "entity", "spans", "tokens"):
        table.add_column(title, justify="left" if title in ("label", "entity") else "right")
    for label, row in sorted(account["labels"].items(), key=lambda item: (-item[1]["spans"], item[0])):
        table.add_row(Text(label), row["entity"] or "-", str(row["spans"]), str(row["tokens"]))
    if table.row_count:
        console.print(table)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in spans["outcomes"].items())
    console.print(f"Spans of the four entities: {outcomes}")
    for reason, count in spans["drop_reasons"].items():
        console.print(f"  {count} dropped: {reason}")
    if spans["inside_words"]:
        console.print(f"  {spans['inside_words']} begin or end inside a word")
    languages = ", ".join(f"{code} {count}" for code, count in list(account["languages"].items())[:5])
    console.print(f"Languages of a sample: {languages or 'too little text'}")


def corpora(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Corpora to read; without, those of the pipeline's last run.")
    ] = None,
    format_name: FormatOption = None,
    text_field: TextFieldOption = None,
    encoding: EncodingOption = "utf-8",
    out: Annotated[Path, typer.Option(help="The folder for sizes.csv and labels.csv.")] = Path(
        "reports/corpora"
    ),
) -> None:
    """Print how large each corpus is and which of its labels is which entity (the study's Tables 1 and 3)."""
    from phidrift.core.files import write_csv
    from phidrift.corpora.source import ReadOptions
    from phidrift.corpora.tables import LABELS, SIZES, label_rows, size_rows

    refuse_overwriting(paths or [], out / "sizes.csv", out / "labels.csv")
    options = ReadOptions(text_field=text_field, encoding=encoding)
    if paths:
        found = [_counted(path, format_name, options) for path in paths]
        names = [each.name for each in found]
        if len(set(names)) < len(names):
            found = [replace(each, name=str(path)) for each, path in zip(found, paths, strict=True)]
    else:
        found = _of_the_pipeline(Path())
    sizes, labels = size_rows(found), label_rows(found)
    write_csv(out / "sizes.csv", SIZES, sizes)
    write_csv(out / "labels.csv", LABELS, labels)
    console = _console()
    small = [
        name for name in SIZES if not name.endswith(("_spans", "tokens", "stand_in")) or name == "tokens"
    ]
    console.print(_table("Corpora (a token is a run of word characters, or one other sign)", small, sizes))
    counted = [{**row, **_spans_and_tokens(row)} for row in sizes]
    console.print(_table("Spans / tokens of each entity", ("corpus", *ENTITIES), counted))
    if labels:
        console.print(_table("Source labels, every span before any is dropped", LABELS[:-1], labels))
    if any(row["stand_in"] for row in sizes):
        console.print("† a stand-in: its figures say nothing about the real corpus")
    if not paths and _written_by_small_models(Path("params.yaml")):
        console.print("syn_*: written by small embedded models, and no clinical text")
    console.print(f"Written to {out / 'sizes.csv'} and {out / 'labels.csv'}", soft_wrap=True)


def _counted(path: Path, format_name: str | None, options: "ReadOptions") -> "CorpusCounts":
    """The counts of a corpus as it is read, all documents together."""
    from phidrift.corpora.reading import Reading, corpus_at, harmonised_documents
    from phidrift.corpora.reading_report import reading_report, warn_of_reading
    from phidrift.corpora.statistics import corpus_statistics
    from phidrift.corpora.tables import CorpusCounts

    source, reading = corpus_at(path, format_name, options), Reading()
    splits: Counter[str | None] = Counter()

    def documents() -> Iterator[Document]:
        for document in harmonised_documents(source, reading):
            splits[document.meta["split"]] += 1
            yield document

    statistics = corpus_statistics(documents())
    report = reading_report(source, reading)
    warn_of_reading(source, report)
    has_splits = bool(splits["train"] or splits["test"])
    train, test = (splits[name] if has_splits else None for name in ("train", "test"))
    return CorpusCounts(source.name, statistics, report["labels"], train, test, report["stand_in"])


def _of_the_pipeline(folder: Path) -> "list[CorpusCounts]":
    """The counts of the last run: metrics/corpora, and the synthetic corpora of data/synthetic."""
    from phidrift.core.document import read_documents
    from phidrift.core.files import read_json
    from phidrift.corpora.statistics import corpus_statistics
    from phidrift.corpora.tables import CorpusCounts

    found = []
    for place in sorted((folder / "metrics/corpora").glob("*.json")):
        record = read_json(place)
        try:
            train, test = (record["splits"][name]["documents"] for name in ("train", "test"))
            name, whole, labels = record["corpus"], record["whole"], record["labels"]
            found.append(CorpusCounts(name, whole, labels, train, test, record["stand_in"]))
        except KeyError as error:
            mend = "run dvc repro, which writes it anew"
            raise PhidriftError(f"field {error.args[0]!r} is missing", where=place, mend=mend) from error
    for entity in ENTITIES:
        parts = [folder / "data/synthetic" / entity / f"{name}.jsonl" for name in ("train", "test")]
        if all(part.is_file() for part in parts):
            own, held = (list(read_documents(part)) for part in parts)
            statistics = corpus_statistics([*own, *held])
            found.append(CorpusCounts(f"syn_{entity}", statistics, {}, len(own), len(held), stand_in=False))
    if not found:
        mend = "name corpora to read, or run dvc repro first"
        raise PhidriftError("no corpora here", where=folder.resolve(), mend=mend)
    return found


def _written_by_small_models(params: Path) -> bool:
    from phidrift.config import load_params

    return params.is_file() and "generator" in load_params(params).embedded_roles


def _table(title: str, columns: Sequence[str], rows: "Rows") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(
            column.replace("_", " "), justify="left" if column in ("corpus", "label", "entity") else "right"
        )
    for row in rows:
        mark = "†" if row["stand_in"] else ""
        table.add_row(
            *(Text(f"{_cell(row.get(name))}{mark if name == 'corpus' else ''}") for name in columns)
        )
    return table


def _console() -> "Console":
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDTH
    return console


def _spans_and_tokens(row: Mapping[str, Any]) -> dict[str, str]:
    return {e: f"{row[f'{e.lower()}_spans']:,} / {row[f'{e.lower()}_tokens']:,}" for e in ENTITIES}


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
