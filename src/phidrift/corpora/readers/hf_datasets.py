"""Reader of what Hugging Face `datasets` saves to disk: a text column, with spans or without, or tagged tokens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import safe_name
from phidrift.corpora.readers.fields import SPLITS
from phidrift.corpora.readers.jsonl import SPAN_FIELDS, document_of, only_text_field
from phidrift.corpora.source import RawDocument, ReadOptions, Reject

_TAG_COLUMNS = ("ner_tags", "tags", "labels")
_BATCH = 256  # rows
# What a folder that isn't as `datasets` wrote it makes its loader and pyarrow raise.
_BROKEN = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def read_hf_datasets(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Rows of a folder that `Dataset.save_to_disk` or `DatasetDict.save_to_disk` wrote.

    The files are mapped into memory and read row by row, without what `datasets` would decode (images, audio) or
    format. A split named train or test is the source's own; of other splits, the documents have none.

    A row is read as readers/jsonl.py reads an object: `options.text_field`, or else the one column that is known to
    hold text; spans as a list of objects, as an object of lists, or as JSON; class numbers by their names. Where
    there are columns `tokens` and `ner_tags` (or `tags`, `labels`) but no list of spans, and no text column is
    named, the text is rebuilt from the tokens as readers/conll.py does.

    Rejected: rows that readers/jsonl.py rejects; rows whose tokens or tags are not lists of strings of equal length,
    or have a number that names no class; a row that can't be converted.

    Raises:
        PhidriftError: no such folder, one that can't be loaded, no column that is known to hold text, or a tag
            column of numbers without names.
    """
    for name, split, dataset in _datasets(path):
        place = f"{path}, {split}" if split else f"{path}"
        tags = None if options.text_field else _tag_column(dataset.features, path)
        text_field = "text" if tags else options.text_field or _text_column(dataset.features, path)
        own_split = split if split in SPLITS else None
        for number, record in _records(dataset, place, reject):
            where = f"{place}, row {number}"
            rows_of_spans = {name: _rows_of(record[name]) for name in SPAN_FIELDS if name in record}
            row = (number, where, {**record, **rows_of_spans})
            if tags:
                document = _from_tokens(row, tags, name, own_split, options, reject)
            else:
                document = document_of(row, text_field, name, own_split, options, reject)
            if document is not None:
                yield document


def _datasets(path: Path) -> Iterator[tuple[str, str | None, Any]]:
    """(name for ids, split, dataset) of each dataset in the folder; every buffer is checked before it is read."""
    if not any((path / name).is_file() for name in ("dataset_dict.json", "dataset_info.json")):
        mend = "point the corpus' path to a folder that save_to_disk of `datasets` wrote"
        raise PhidriftError("no saved dataset here", where=path, mend=mend)
    import datasets
    import pyarrow

    quiet = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        loaded = datasets.load_from_disk(str(path.resolve()), keep_in_memory=False)
        parts = dict(loaded) if isinstance(loaded, datasets.DatasetDict) else {None: loaded}
        for dataset in parts.values():
            dataset.data.validate(full=True)  # pyarrow trusts offsets, and would read anywhere
    except (*_BROKEN, pyarrow.ArrowException) as error:
        problem = f"not as `datasets` saves it, or damaged ({type(error).__name__})"
        raise PhidriftError(problem, where=path, mend="save it again with save_to_disk") from error
    finally:
        if not quiet:
            datasets.enable_progress_bars()
    for split, dataset in parts.items():
        if split is None:
            yield safe_name(path.resolve().name), dataset.split and str(dataset.split), dataset
        else:
            yield safe_name(split), split, dataset


def _records(dataset: Any, place: str, reject: Reject) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number from 1, row as stored, but with names for class numbers)."""
    import pyarrow

    number = 0
    for batch in dataset.data.to_batches(max_chunksize=_BATCH):
        for position in range(batch.num_rows):
            number += 1
            try:
                record = batch.slice(position, 1).to_pylist()[0]
            except (*_BROKEN, pyarrow.ArrowException) as error:
                reject(f"{place}, row {number}", f"can't be converted ({type(error).__name__})")
                continue
            yield number, {name: _named(value, dataset.features.get(name)) for name, value in record.items()}


def _named(value: Any, feature: Any) -> Any:
    """The value with the name of each class number in it; None for a number that names no class."""
    import datasets

    if isinstance(feature, datasets.ClassLabel):
        known = isinstance(value, int) and 0 <= value < len(feature.names)
        return feature.names[value] if known else None
    if isinstance(feature, dict) and isinstance(value, dict):
        return {name: _named(item, feature.get(name)) for name, item in value.items()}
    if isinstance(feature, datasets.List | datasets.LargeList) and isinstance(value, list):
        return [_named(item, feature.feature) for item in value]
    return value


def _rows_of(value: Any) -> Any:
    """A list of objects that `datasets` stores as an object of lists, as a list again."""
    if not isinstance(value, dict) or not value:
        return value
    columns = list(value.values())
    if not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
        return value
    return [dict(zip(value, items, strict=True)) for items in zip(*columns, strict=True)]


def _text_column(features: Any, path: Path) -> str:
    strings = {name: "" if _is_string(feature) else None for name, feature in features.items()}
    return only_text_field(strings, path)


def _tag_column(features: Any, path: Path) -> str | None:
    """The column with the tags of `tokens`; None where there is none, or where spans are to be had.

    Raises:
        PhidriftError: the tags are numbers without names.
    """
    if "tokens" not in features or any(_is_list_of_objects(features.get(name)) for name in SPAN_FIELDS):
        return None
    column = next((name for name in _TAG_COLUMNS if hasattr(features.get(name), "feature")), None)
    if column is None:
        return None
    inner = features[column].feature
    if not _is_string(inner) and not hasattr(inner, "names"):
        mend = "cast it to a list of ClassLabel with the tags' names, and save it again"
        raise PhidriftError(f"column {column!r} holds no names of tags", where=path, mend=mend)
    return column


def _is_string(feature: Any) -> bool:
    return getattr(feature, "dtype", None) in ("string", "large_string") and not hasattr(feature, "names")


def _is_list_of_objects(feature: Any) -> bool:
    return isinstance(feature, dict) or isinstance(getattr(feature, "feature", None), dict)


def _from_tokens(
    row: tuple[int, str, dict[str, Any]],
    column: str,
    name: str,
    split: str | None,
    options: ReadOptions,
    reject: Reject,
) -> RawDocument | None:
    from phidrift.corpora.readers.conll import text_and_spans

    number, where, record = row
    tokens, tags = _strings(record.get("tokens")), _strings(record.get(column))
    unlabelled = record.get(column) is None
    if tokens is None:
        reject(where, "field 'tokens' must be a list of strings")
        return None
    if unlabelled:
        tags = ["O"] * len(tokens)
    if tags is None:
        reject(where, f"field {column!r} must be a list of tags that have a name")
        return None
    if len(tags) != len(tokens):
        reject(where, f"'tokens' and {column!r} differ in length")
        return None
    text, spans = text_and_spans([list(zip(tokens, tags, strict=True))])
    rest = {key: value for key, value in record.items() if key not in SPAN_FIELDS}
    document = document_of((number, where, {**rest, "text": text}), "text", name, split, options, reject)
    return document and document._replace(spans=None if unlabelled else spans, field=column)


def _strings(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None
