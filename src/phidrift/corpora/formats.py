"""The formats that corpora come in: what each is called, its reader, and what it leaves to the user to say."""

from dataclasses import dataclass

from phidrift.core.errors import PhidriftError
from phidrift.corpora.readers.ai4privacy import read_ai4privacy
from phidrift.corpora.readers.brat import read_brat
from phidrift.corpora.readers.conll import SUFFIXES as CONLL_SUFFIXES
from phidrift.corpora.readers.conll import read_conll
from phidrift.corpora.readers.hf_datasets import read_hf_datasets
from phidrift.corpora.readers.i2b2 import read_i2b2
from phidrift.corpora.readers.jsonl import read_jsonl, read_table
from phidrift.corpora.readers.label_studio import read_label_studio
from phidrift.corpora.readers.multileg import read_multileg
from phidrift.corpora.readers.pii_anon import read_pii_anon
from phidrift.corpora.readers.presidio import read_presidio
from phidrift.corpora.readers.texts import read_txt
from phidrift.corpora.rows import JSON_SUFFIXES, ROW_SUFFIXES, TABLE_SUFFIXES
from phidrift.corpora.source import Reader, ReadOptions


@dataclass(frozen=True, slots=True)
class Format:
    """A format by name.

    `endings`: of the files that its reader opens, .gz left out; `fields`: which of text_field and group_field it
    heeds; `restricted`: whether its corpora usually may not be shared.
    """

    name: str
    read: Reader
    endings: tuple[str, ...]
    fields: tuple[str, ...] = ()
    restricted: bool = False


_BOTH = ("text_field", "group_field")
FORMATS = {
    each.name: each
    for each in (
        Format("i2b2", read_i2b2, (".xml",), restricted=True),
        Format("multileg", read_multileg, (".jsonl",)),
        Format("ai4privacy", read_ai4privacy, ROW_SUFFIXES),
        Format("jsonl", read_jsonl, JSON_SUFFIXES, _BOTH),
        Format("table", read_table, TABLE_SUFFIXES, _BOTH),
        Format("label-studio", read_label_studio, JSON_SUFFIXES, _BOTH),
        Format("conll", read_conll, CONLL_SUFFIXES),
        Format("brat", read_brat, (".txt", ".ann")),
        Format("presidio", read_presidio, JSON_SUFFIXES, _BOTH),
        Format("pii-anon", read_pii_anon, JSON_SUFFIXES, _BOTH),
        Format("txt", read_txt, (".txt", ".text")),
        Format("datasets", read_hf_datasets, (".arrow", ".json"), _BOTH),
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


def check_options(form: Format, options: ReadOptions) -> None:
    """Raises PhidriftError for a field that was stated and that the format's reader would not look at."""
    for name in _BOTH:
        if getattr(options, name) is not None and name not in form.fields:
            able = ", ".join(each.name for each in FORMATS.values() if name in each.fields)
            raise PhidriftError(
                f"{name} means nothing to the format {form.name}", mend=f"leave it out; it serves {able}"
            )
