"""Label maps: ready ones, a user's own, and what is refused."""

from pathlib import Path

import pytest

from phidrift.core.document import ENTITIES
from phidrift.core.errors import PhidriftError
from phidrift.corpora.formats import FORMATS
from phidrift.corpora.label_maps import entity_of, parse_label_map, read_label_map, ready_map


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_map_that_reaches_every_entity(name: str) -> None:
    assert set(ready_map(name).values()) == set(ENTITIES)


@pytest.mark.parametrize(
    ("name", "label", "entity"),
    [
        ("i2b2", "ZIP", "ADDRESS"),
        ("i2b2", "HOSPITAL", None),  # as in the study's Table 3
        ("i2b2", "FECHAS", "DATE"),
        ("multileg", "IDNUM", "CONTACT"),
        ("multileg", "ORG", None),
        ("ai4privacy", "TIME", "DATE"),
        ("conll", "PER", "PERSON"),
        ("conll", "MISC", None),
        ("label-studio", "OTHER_PERSON", "PERSON"),
        ("presidio", "DATE_TIME", "DATE"),
        ("pii-anon", "PERSON_NAME", "PERSON"),
        ("jsonl", "PERSON", "PERSON"),
        ("jsonl", "Phone-number", "CONTACT"),  # compared in upper case, other signs as underscores
        ("brat", "Ünknown", None),
    ],
)
def test_ready_maps(name: str, label: str, entity: str | None) -> None:
    assert entity_of(label, ready_map(name)) == entity


def test_a_map_of_ones_own_replaces_the_ready_one(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text("PERSON: [Nurse]\nDATE: [when, 'day-of-birth']\n", encoding="utf-8")
    labels = read_label_map(tmp_path / "map.yaml")
    assert entity_of("NURSE", labels) == "PERSON"
    assert entity_of("day of birth", labels) == "DATE"
    assert entity_of("PATIENT", labels) is None


def test_letters_of_every_script_count() -> None:
    labels = parse_label_map({"PERSON": ["姓名1"], "ADDRESS": ["地址1"], "CONTACT": ["EMAIL"]}, "map.yaml")
    assert [entity_of(label, labels) for label in ("姓名1", "地址1", "1", "职业1")] == [
        "PERSON",
        "ADDRESS",
        None,
        None,
    ]
    # Not EMAIL with a letter lost.
    assert entity_of("É-MAIL", {"MAIL": "CONTACT", "EMAIL": "CONTACT", "E_MAIL": "CONTACT"}) is None
    assert entity_of("e mail", {"E_MAIL": "CONTACT"}) == "CONTACT"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PERSONS: [A]", r"map.yaml: unknown entity 'PERSONS'.*did you mean PERSON\?"),
        ("PERSON: A", "map.yaml: PERSON must have a list of labels"),
        ("PERSON: [1]", "map.yaml: PERSON must have a list of labels"),
        ("PERSON: [A]\nDATE: [a]", "map.yaml: label A stands under PERSON and DATE"),
        ("- PERSON", "map.yaml: a label map is a mapping of entities to lists of labels"),
        ("", "map.yaml: a label map is a mapping"),
        ("{PERSON", "map.yaml: not YAML"),
    ],
)
def test_what_is_no_label_map(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "map.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PhidriftError, match=message):
        read_label_map(tmp_path / "map.yaml")


def test_no_file_and_inline(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match="nowhere: this label map can't be read"):
        read_label_map(tmp_path / "nowhere")
    assert parse_label_map({"DATE": ["dob"]}, "params.yaml") == {"DOB": "DATE"}
