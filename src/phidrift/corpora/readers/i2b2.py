"""Reader of the i2b2 2014 de-identification layout: one XML file a record, stand-off tags beside the text."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from phidrift.corpora.files import LARGEST_DOCUMENT, source_files, whole_bytes
from phidrift.corpora.source import RawDocument, RawSpan, ReadOptions, Reject


def read_i2b2(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Records of the XML files at or below `path`, by file name.

    `<TEXT>` holds the text, each child of `<TAGS>` a span: `start`, `end` (code points, end exclusive), `text`
    and `TYPE`, the label (the element's name where there is no TYPE). The root element may have any name, so
    that MEDDOCAN reads too. The group is the patient: the file name before its last hyphen. The encoding is the one
    that the file declares.

    Rejected: files that are too large, that aren't well-formed XML, that declare a document type (and so might expand
    entities), that have no TEXT, or elements inside it.

    Raises:
        PhidriftError: nothing at `path`, or no XML file.
    """
    for file in source_files(path, (".xml",)):
        content = whole_bytes(file.path, LARGEST_DOCUMENT, reject)
        if content is None:
            continue
        root, problem, line = _parsed(content)
        if root is None:
            reject(f"{file.path}:{line}", problem)
            continue
        if len(root.find("TEXT") or ()):
            reject(f"{file.path}:1", "TEXT holds elements: offsets into it would be ambiguous")
            continue
        text = root.findtext("TEXT")
        if text is None:
            reject(f"{file.path}:1", "no TEXT")
            continue
        tags = root.find("TAGS")
        spans = () if tags is None else tuple(_span(tag) for tag in tags)
        group = file.stem.rpartition("-")[0] or None
        crlf = b"\r\n" in content
        where = f"{file.path}:1"
        yield RawDocument(
            file.name, text, spans, file.split, group, where, field="TAGS", carriage_returns=crlf
        )


def _parsed(content: bytes) -> tuple[Element | None, str, int]:
    """(root or None, problem, its line)."""
    try:
        return fromstring(content, forbid_dtd=True), "", 1
    except ParseError as error:
        return None, "not well-formed XML", error.position[0]
    except DefusedXmlException:
        return None, "declares a document type or entities, which are refused", 1
    except (ValueError, LookupError):  # an unknown or multi-byte encoding
        return None, "its encoding can't be read", 1


def _span(tag: Element) -> RawSpan:
    start, end = (_integer(tag.get(name)) for name in ("start", "end"))
    return RawSpan(start, end, tag.get("TYPE") or tag.tag, tag.get("text"))


def _integer(value: str | None) -> int | None:
    try:
        return None if value is None else int(value)
    except ValueError:
        return None
