"""Reader of the i2b2 2014 de-identification layout: one XML file a record, stand-off tags beside the text."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from phidrift.corpora.source import RawDocument, RawSpan, Reject, source_files

_LARGEST = 10_000_000  # bytes


def read_i2b2(folder: Path, reject: Reject) -> Iterator[RawDocument]:
    """Records of `folder` and of its sub-folders train... and test... (the source's split), by file name.

    `<TEXT>` holds the text, each child of `<TAGS>` a span: `start`, `end` (code points, end exclusive), `text`
    and `TYPE`, the label (the element's name where there is no TYPE). The root element may have any name, so
    that MEDDOCAN reads too. The group is the patient: the file name before its last hyphen.

    Rejected: files over 10 MB, that aren't well-formed XML, that declare a document type (and so might expand
    entities), that have no TEXT, or elements inside it.

    Raises:
        PhidriftError: no such folder, or no XML file in it.
    """
    for split, path in source_files(folder, (".xml",)):
        if path.stat().st_size > _LARGEST:
            reject(f"{path}:1", "larger than 10 MB")
            continue
        content = path.read_bytes()
        try:
            root = fromstring(content, forbid_dtd=True)
        except ParseError as error:
            reject(f"{path}:{error.position[0]}", "not well-formed XML")
            continue
        except DefusedXmlException:
            reject(f"{path}:1", "declares a document type or entities, which are refused")
            continue
        except (ValueError, LookupError):  # an unknown or multi-byte encoding
            reject(f"{path}:1", "its encoding can't be read")
            continue
        if len(root.find("TEXT") or ()):
            reject(f"{path}:1", "TEXT holds elements: offsets into it would be ambiguous")
            continue
        text = root.findtext("TEXT")
        if not text or not text.strip():
            reject(f"{path}:1", "no TEXT")
            continue
        tags = root.find("TAGS")
        spans = () if tags is None else tuple(_span(tag) for tag in tags)
        group = path.stem.rpartition("-")[0] or path.stem
        yield RawDocument(path.stem, text, spans, split, group, f"{path}:1", b"\r\n" in content)


def _span(tag: Element) -> RawSpan:
    start, end = (_integer(tag.get(name)) for name in ("start", "end"))
    return RawSpan(start, end, tag.get("TYPE") or tag.tag, tag.get("text"))


def _integer(value: str | None) -> int | None:
    try:
        return None if value is None else int(value)
    except ValueError:
        return None
