"""The formats that corpora come in: what each is called, how it is read, and how it is recognised."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from phidrift.core.errors import PhidriftError
from phidrift.corpora.source import RawDocument, ReadOptions, Reject


@dataclass(frozen=True, slots=True)
class Format:
    """A format by name. `reader` is `module:function` under phidrift.corpora.readers."""

    name: str
    reader: str
    what: str
    restricted: bool = False  # whether its corpora usually may not be shared

    def read(self, path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
        """Its reader's documents."""
        module, function = self.reader.split(":")
        read: Callable[[Path, ReadOptions, Reject], Iterator[RawDocument]] = getattr(
            import_module(f"phidrift.corpora.readers.{module}"), function
        )
        return read(path, options, reject)


FORMATS = {
    each.name: each
    for each in (
        Format("i2b2", "i2b2:read_i2b2", "i2b2 2014 XML, and MEDDOCAN", restricted=True),
        Format("multileg", "multileg:read_multileg", "MultiLeg JSON lines (text, label)"),
        Format("ai4privacy", "ai4privacy:read_ai4privacy", "Ai4Privacy, every release"),
        Format("jsonl", "jsonl:read_jsonl", "JSON lines or a JSON array (text, spans)"),
        Format("table", "jsonl:read_table", "CSV, TSV or Parquet with a text column"),
        Format("label-studio", "label_studio:read_label_studio", "Label Studio export"),
        Format("conll", "conll:read_conll", "CoNLL columns (IOB1, IOB2, BIOES)"),
        Format("brat", "brat:read_brat", "brat stand-off (.txt and .ann)"),
        Format("presidio", "presidio:read_presidio", "presidio-research JSON"),
        Format("pii-anon", "pii_anon:read_pii_anon", "PII-Anon JSON lines"),
        Format("txt", "texts:read_txt", "a folder of .txt, unlabelled"),
        Format("datasets", "hf_datasets:read_hf_datasets", "a folder saved by Hugging Face datasets"),
    )
}


def format_named(name: str) -> Format:
    """The format of a name.

    Raises:
        PhidriftError: there is none; lists them.
    """
    if name not in FORMATS:
        raise PhidriftError(f"no format {name!r}", mend=f"use one of {', '.join(FORMATS)}")
    return FORMATS[name]
