"""What `--models DIR` means: a training set's folder, an entity's, a checkpoint, a folder of checkpoints."""

import json
from pathlib import Path

import pytest
from dictionary_tagger import dictionary_tagger, record

from phidrift.core.errors import PhidriftError
from phidrift.tagging.model_folders import checkpoint_entity, find_taggers


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """set/PERSON with two seeds, set/DATE that was not trained, loose/dates a checkpoint on its own."""
    folder = tmp_path_factory.mktemp("models")
    for seed in (1, 2):
        dictionary_tagger(folder / f"set/PERSON/tiny-{seed}", "PERSON", ["Lee"])
    record(folder / "set/PERSON", "PERSON", [("tiny", 1), ("tiny", 2)], restricted=True)
    (folder / "set/DATE").mkdir()
    record(folder / "set/DATE", "DATE", [("tiny", 1)], trained=False, reason="none holds DATE")
    dictionary_tagger(folder / "loose/dates", "DATE", ["May"])
    (folder / "loose/notes").mkdir()
    (folder / "loose/readme.txt").write_text("no folder")
    return folder


def test_the_folder_of_a_training_set(made: Path) -> None:
    found = find_taggers(made / "set")
    assert list(found) == ["DATE", "PERSON"]
    person, date = found["PERSON"], found["DATE"]
    assert dict(person.checkpoints) == {f"tiny-{seed}": made / f"set/PERSON/tiny-{seed}" for seed in (1, 2)}
    assert (person.restricted, person.reason) == (True, None)
    assert (dict(date.checkpoints), date.reason, date.restricted) == ({}, "none holds DATE", False)


def test_the_folder_of_one_entity(made: Path) -> None:
    found = find_taggers(made / "set/PERSON")
    assert list(found) == ["PERSON"]
    assert sorted(found["PERSON"].checkpoints) == ["tiny-1", "tiny-2"]


@pytest.mark.parametrize("name", ["set/PERSON/tiny-1", "loose/dates"])
def test_a_single_checkpoint(made: Path, name: str) -> None:
    (only,) = find_taggers(made / name).values()
    assert dict(only.checkpoints) == {Path(name).name: made / name}
    assert (only.training, only.restricted, only.reason) == (None, None, None)


def test_a_folder_of_checkpoints_passes_over_what_is_none(made: Path) -> None:
    found = find_taggers(made / "loose")
    assert dict(found["DATE"].checkpoints) == {"dates": made / "loose/dates"}
    assert list(found) == ["DATE"]


def test_a_checkpoint_is_named_though_the_path_has_no_name(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made / "loose/dates")
    assert list(find_taggers(Path())["DATE"].checkpoints) == ["dates"]
    # ".." begins with a dot, but nobody hid it.
    monkeypatch.chdir(made / "set/PERSON/tiny-1")
    assert sorted(find_taggers(Path(".."))["PERSON"].checkpoints) == ["tiny-1", "tiny-2"]


def test_hidden_folders_are_no_models(tmp_path: Path) -> None:
    dictionary_tagger(tmp_path / "DATE", "DATE", ["May"])
    dictionary_tagger(tmp_path / ".DATE.123.tmp", "DATE", ["May"])
    assert list(find_taggers(tmp_path)["DATE"].checkpoints) == ["DATE"]


def test_no_taggers(tmp_path: Path) -> None:
    with pytest.raises(PhidriftError, match="no such folder"):
        find_taggers(tmp_path / "nowhere")
    with pytest.raises(PhidriftError, match=r"no taggers here\. To mend: name a folder that phidrift train"):
        find_taggers(tmp_path)


def test_two_folders_of_one_entity(tmp_path: Path) -> None:
    for name in ("a", "b"):
        dictionary_tagger(tmp_path / name, "DATE", ["May"])
    with pytest.raises(PhidriftError, match="two folders hold taggers of DATE"):
        find_taggers(tmp_path)


def test_what_training_json_names_must_be_there(tmp_path: Path) -> None:
    record(tmp_path, "DATE", [("tiny", 1)])
    with pytest.raises(PhidriftError, match="tiny-1: no checkpoint here"):
        find_taggers(tmp_path)
    checkpoint = dictionary_tagger(tmp_path / "tiny-1", "PERSON", ["Lee"])
    with pytest.raises(PhidriftError, match=r"no DATE tagger, which training\.json names"):
        find_taggers(tmp_path)
    record(tmp_path, "PERSON", [("tiny", 1)])
    assert list(find_taggers(tmp_path)) == ["PERSON"]
    (checkpoint / "model.safetensors").unlink()
    (checkpoint / "pytorch_model.bin").write_bytes(b"may hold code")
    for folder in (tmp_path, checkpoint):
        with pytest.raises(PhidriftError, match="no weights here"):
            find_taggers(folder)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not the record of a training"),
        ("[]", "entity is missing"),
        ('{"entity": "DATE", "trained": true, "reason": null, "taggers": []}', "restricted is missing"),
        (
            '{"entity": "DATE", "trained": true, "reason": null, "restricted": false, "taggers": [{"seed": 1}]}',
            "tagger and seed of each run is missing",
        ),
    ],
)
def test_a_damaged_record(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "training.json").write_text(content)
    with pytest.raises(PhidriftError, match=rf"training\.json: {problem}"):
        find_taggers(tmp_path)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("{", "not the configuration of a model"),
        ("[]", "not the configuration of a model"),
        ('{"id2label": ["O", "B-X", "I-X"]}', "not the configuration of a model"),
        ("{}", "labels are LABEL_0, LABEL_1, expected O, B-ENTITY, I-ENTITY"),
        ('{"id2label": {}}', "labels are none, expected O, B-ENTITY, I-ENTITY"),
        (json.dumps({"id2label": {"0": "O", "1": "B-", "2": "I-"}}), "labels are O, B-, I-, expected"),
        (json.dumps({"id2label": {"0": "O", "1": "I-DATE", "2": "B-DATE"}}), "labels are O, I-DATE, B-DATE"),
        (json.dumps({"id2label": {"1": "O", "2": "B-DATE", "3": "I-DATE"}}), "labels are None, O, B-DATE"),
    ],
)
def test_a_model_of_another_kind(tmp_path: Path, config: str, problem: str) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(PhidriftError, match=problem):
        checkpoint_entity(tmp_path)
