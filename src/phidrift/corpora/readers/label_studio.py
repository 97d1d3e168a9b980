"""Reader of what Label Studio exports: JSON with the regions of every annotator, or JSON-MIN."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import source_files
from phidrift.corpora.readers.fields import group_of, numbered, stated_id
from phidrift.corpora.rows import JSON_SUFFIXES, rows
from phidrift.corpora.source import MALFORMED, RawDocument, RawSpan, ReadOptions, Reject

# Regions of marked-up text: their offsets count what a browser shows, not what is stored.
_UNPLACED = ("hypertextlabels", "paragraphlabels")


def read_label_studio(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Tasks of the JSON files (an array, or a task a line) at or below `path`.

    A task is `{id, data: {text: ...}, annotations: [{result: [region, ...]}]}`; old exports call the annotations
    `completions`. A region of type `labels` gives a span for each of its labels: value.start, value.end (code points,
    end exclusive), value.text. Versions before late 2021 counted characters outside the basic plane twice: such
    offsets disagree with value.text, by which they are found again. Regions of other types (choices, relations) are
    passed over, but labels of hypertext and dialogues, whose offsets aren't those of the stored text, are spans
    without offsets, so that they are counted.

    Of several annotations (annotators) the first that isn't cancelled is read. Without one, the text is unlabelled:
    skipped is not the same as free of entities. Predictions are not read.

    An item of JSON-MIN has its fields side by side: `{id, text, label: [{start, end, text, labels: [...]}]}`,
    whatever the list of regions is called; several are read as one. Without such a list it has no entity if it names
    an `annotation_id`, else it is unlabelled.

    The text is `options.text_field` of `data`, or else `text`, or else the only string there; the first task of a
    file decides. The group is `options.group_field` of `data`, `meta` or the task, or else the id.

    Rejected: tasks without that text or group, whose annotations are no list of objects, whose result is no list.

    Raises:
        PhidriftError: nothing at `path`, no JSON file, or several strings of which none is called `text`.
    """
    for file in source_files(path, JSON_SUFFIXES):
        text_field = options.text_field
        for number, where, task in rows(file, options, reject):
            data = task.get("data")
            full = isinstance(data, dict)
            fields: dict[str, Any] = data if isinstance(data, dict) else task
            text_field = text_field or _text_field(fields, file.path)
            text = fields.get(text_field or "text")
            if not isinstance(text, str):
                reject(where, f"field {text_field or 'text'!r} must be a string")
                continue
            field, regions, problem = _regions(task) if full else _minimal_regions(task)
            if problem:
                reject(where, problem)
                continue
            identity, has_id = stated_id(task, ("id",), f"{file.name}-{number:06d}")
            meta = task["meta"] if isinstance(task.get("meta"), dict) else {}
            group, stated = group_of(fields, options, None, where, reject, meta, task)
            if not stated:
                continue
            spans = None if regions is None else _spans(regions)
            yield RawDocument(identity, text, spans, file.split, group, where, field, stated_id=has_id)


def _text_field(fields: dict[str, Any], path: Path) -> str | None:
    """`text`, or the only field that is a string; None where there is none.

    Raises:
        PhidriftError: several strings, none of them called `text`; lists them.
    """
    if "text" in fields:
        return "text"
    found = [name for name, value in fields.items() if isinstance(value, str)]
    if len(found) > 1:
        listed = ", ".join(repr(name) for name in found[:20])
        raise PhidriftError(
            f"which field holds the text? There are {listed}", where=path, mend="state text_field"
        )
    return found[0] if found else None


def _regions(task: dict[str, Any]) -> tuple[str, list[Any] | None, str]:
    """(field, regions or None if nobody labelled the task, problem)."""
    field = "completions" if task.get("annotations") is None and "completions" in task else "annotations"
    annotations = task.get(field)
    if annotations is None:
        return field, None, ""
    if not isinstance(annotations, list) or not all(isinstance(item, dict) for item in annotations):
        return field, None, f"field {field!r} must be a list of objects"
    place = next((n for n, item in enumerate(annotations) if not item.get("was_cancelled")), None)
    if place is None:
        return field, None, ""
    result = annotations[place].get("result")
    if not isinstance(result, list):
        return field, None, f"field 'result' of its {field} must be a list"
    return f"{field}[{place}].result", result, ""


def _minimal_regions(item: dict[str, Any]) -> tuple[str, list[Any] | None, str]:
    """As `_regions`, from JSON-MIN, in the shape that the full export has."""
    names = [name for name, value in item.items() if _is_region_list(value)]
    regions = [{"type": "labels", "value": value} for name in names for value in item[name]]
    labelled = bool(names) or item.get("annotation_id") is not None
    return names[0] if names else "label", regions if labelled else None, ""


def _is_region_list(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) and "labels" in item for item in value)


def _spans(regions: list[Any]) -> tuple[RawSpan, ...]:
    return numbered((place, span) for place, region in enumerate(regions) for span in _labelled(region))


def _labelled(region: object) -> list[RawSpan]:
    """A span for each label of a region."""
    kind = region.get("type") if isinstance(region, dict) else None
    if not isinstance(region, dict) or not isinstance(kind, str):
        return [MALFORMED]
    if kind != "labels" and kind not in _UNPLACED:
        return []
    value = region.get("value")
    labels = value.get(kind) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(labels, list):
        return [MALFORMED]
    start, end = (value.get(edge) if kind == "labels" else None for edge in ("start", "end"))
    surface = value.get("text") if isinstance(value.get("text"), str) else None
    return [RawSpan(start, end, label, surface) if isinstance(label, str) else MALFORMED for label in labels]
