"""The formats that corpora come in: what each is called, its reader, and what it leaves to the user to say."""

from dataclasses import dataclass

from phidrift.core.errors import PhidriftError
from phidrift.corpora.readers.ai4privacy import read_ai4privacy
from phidrift.corpora.readers.brat import read_brat
from phidrift.corpora.readers.conll import read_conll
from phidrift.corpora.readers.hf_datasets import read_hf_datasets
from phidrift.corpora.readers.i2b2 import read_i2b2
from phidrift.corpora.readers.jsonl import read_jsonl, read_table
from phidrift.corpora.readers.label_studio import read_label_studio
from phidrift.corpora.readers.multileg import read_multileg
from phidrift.corpora.readers.pii_anon import read_pii_anon
from phidrift.corpora.readers.presidio import read_presidio
from phidrift.corpora.readers.texts import read_txt
from phidrift.corpora.source import Reader, ReadOptions


@dataclass(frozen=True, slots=True)
class Format:
    """A format by name.

    `fields`: which of text_field and group_field its reader heeds; `restricted`: whether its corpora usually may not be
    shared.
    """

    name: str
    read: Reader
    fields: tuple[str, ...] = ()
    restricted: bool = False


_BOTH = ("text_field", "group_field")
FORMATS = {
    each.name: each
    for each in (
        Format("i2b2", read_i2b2, restricted=True),
        Format("multileg", read_multileg),
        Format("ai4privacy", read_ai4privacy),
        Format("jsonl", read_jsonl, _BOTH),
        Format("table", read_table, _BOTH),
        Format("label-studio", read_label_studio, _BOTH),
        Format("conll", read_conll),
        Format("brat", read_brat),
        Format("presidio", read_presidio, _BOTH),
        Format("pii-anon", read_pii_anon, _BOTH),
        Format("txt", read_txt),
        Format("datasets", read_hf_datasets, _BOTH),
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
