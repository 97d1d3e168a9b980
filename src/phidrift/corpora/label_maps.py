"""Label maps: which of a source's labels is which entity."""

import difflib
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from phidrift.core.document import ENTITIES
from phidrift.core.errors import PhidriftError

# What PyYAML raises for values that are not what their tags say (`!!int a`, the date 2001-99-99).
_NOT_YAML = (
    yaml.YAMLError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_OTHER = re.compile(r"[\W_]+")


@cache
def ready_map(source_format: str) -> Mapping[str, str]:
    """Label -> entity for a format, from label_maps.yaml; a format without a map of its own has the common one."""
    path = Path(__file__).with_name("label_maps.yaml")
    maps = yaml.safe_load(path.read_text(encoding="utf-8"))
    return parse_label_map(maps.get(source_format, maps["common"]), f"{path.name}, {source_format}")


def read_label_map(path: Path) -> Mapping[str, str]:
    """Label -> entity from a YAML or JSON file that lists labels under each entity.

    Raises:
        PhidriftError: no such file, not YAML, or not such a map; names the file and the entry.
    """
    try:
        return parse_label_map(yaml.safe_load(path.read_bytes()), str(path))
    except OSError as error:
        raise PhidriftError("this label map can't be read", where=path) from error
    except _NOT_YAML as error:
        raise PhidriftError(
            "not YAML", where=path, mend="list labels under each entity: PERSON: [PATIENT]"
        ) from error


def parse_label_map(entities: Any, where: str) -> Mapping[str, str]:
    """Label -> entity from {entity: [label, ...]}; labels are normalised as `entity_of` does.

    Raises:
        PhidriftError: another shape, an unknown entity (with the nearest one), or a label under two entities.
    """
    if not isinstance(entities, dict) or not entities:
        mend = "list labels under each entity: PERSON: [PATIENT, DOCTOR]"
        raise PhidriftError("a label map is a mapping of entities to lists of labels", where=where, mend=mend)
    found: dict[str, str] = {}
    for entity, labels in entities.items():
        if entity not in ENTITIES:
            near = difflib.get_close_matches(str(entity).upper(), ENTITIES, n=1, cutoff=0.0)
            mend = f"use one of {', '.join(ENTITIES)}" + (f"; did you mean {near[0]}?" if near else "")
            raise PhidriftError(f"unknown entity {entity!r}", where=where, mend=mend)
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise PhidriftError(f"{entity} must have a list of labels", where=where)
        for label in map(normalised, labels):
            if found.setdefault(label, entity) != entity:
                raise PhidriftError(f"label {label} stands under {found[label]} and {entity}", where=where)
    return found


@lru_cache(maxsize=4096)
def normalised(label: str) -> str:
    """Upper case, each run of other characters than letters and digits as one underscore.

    >>> normalised("Other-person")
    'OTHER_PERSON'
    """
    return _OTHER.sub("_", label.upper()).strip("_") or label


def entity_of(label: str, labels: Mapping[str, str]) -> str | None:
    """The entity of a source's label, None where the map has none."""
    entity = labels.get(label)
    return labels.get(normalised(label)) if entity is None else entity
