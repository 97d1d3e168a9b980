"""docs/your-own-tagger.md: every command in it works, in the order in which it stands there, outside any repository."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from repository import ROOT, environment

from phidrift.core.document import read_documents
from phidrift.tagging.intervals import wilson

DOC = (ROOT / "docs/your-own-tagger.md").read_text(encoding="utf-8")
NAMES = (
    "Anna Weber",
    "Tom Reed",
    "Ida Blum",
    "Max Stone",
    "Lena Frost",
    "Sam Field",
    "Eva Hall",
    "Ben Marsh",
)
STREETS = ("Elm Street", "Oak Road", "Mill Lane", "High Street", "Park Avenue")
MONTHS = ("March", "April", "May", "June", "July")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("ward")
    for number in range(74):
        _write_note(folder / "notes", number, ("PERSON", "ADDRESS", "PHONE", "DATE"))
    for number in range(80, 88):
        _write_note(folder / "other-ward", number, ("STAFF", "HOME", "PHONE", "VISIT_DATE"))
    (folder / "new-notes").mkdir()
    (folder / "new-notes/a.txt").write_text("Seen by Anna Weber on May 3.\n", encoding="utf-8")
    (block,) = re.findall(r"```yaml labels\n(.*?)```", DOC, re.DOTALL)
    (folder / "labels.yaml").write_text(block, encoding="utf-8")
    found = {}
    for command in _commands():
        done = subprocess.run(
            shlex.split(command), cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        found[command.split()[1] if command.split()[1] not in found else "elsewhere"] = done.stdout
    return folder, found


def _commands() -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", DOC, re.DOTALL) for line in block.splitlines()]


def _write_note(folder: Path, number: int, labels: tuple[str, ...]) -> None:
    """A note in brat's format, with one entity of each kind."""
    folder.mkdir(exist_ok=True)
    values = (
        NAMES[number % len(NAMES)],
        f"{number + 1} {STREETS[number % len(STREETS)]}",
        f"555-01{number:02}",
        f"{MONTHS[number % len(MONTHS)]} {number % 28 + 1}",
    )
    text, lines = "", []
    for lead, value, label in zip(
        ("Seen: ", ", lives at ", ". Phone ", ", next visit "), values, labels, strict=True
    ):
        text += lead
        lines.append(f"T{len(lines) + 1}\t{label} {len(text)} {len(text) + len(value)}\t{value}")
        text += value
    (folder / f"note{number}.txt").write_text(text + ".\n", encoding="utf-8")
    (folder / f"note{number}.ann").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_split_and_the_taggers(printed: tuple[Path, dict[str, str]]) -> None:
    folder, out = printed
    train, test = (list(read_documents(folder / f"mine/{name}.jsonl")) for name in ("train", "test"))
    assert (len(train), len(test)) == (24, 50)
    assert "test.jsonl: 50 documents; spans: ADDRESS 50, CONTACT 50, DATE 50, PERSON 50" in out["harmonize"]
    for entity in ("ADDRESS", "CONTACT", "DATE", "PERSON"):
        assert (folder / f"taggers/{entity}/training.json").is_file()
        (card,) = (folder / f"taggers/{entity}").glob("*/README.md")
        assert re.search(r"^\| mine-test \|.* 50 \|", card.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_figures_that_the_page_explains(printed: tuple[Path, dict[str, str]]) -> None:
    folder, out = printed
    found = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    assert list(found["entities"]) == ["ADDRESS", "CONTACT", "DATE", "PERSON"]
    assert (found["documents"], found["not_covered"]) == (50, [])
    assert found["training"] == {"documents": 24, "texts_in_test": 0, "groups_in_test": 0}
    for values in found["entities"].values():
        assert values["tp"] + values["fn"] == values["support"] == 50
        assert values["seen"]["support"] + values["unseen"]["support"] == 50
        assert values["token_recall"] is not None
    assert found["entities"]["PERSON"]["seen"]["support"] == 50  # 8 names, all of them among the 24 notes
    assert found["entities"]["CONTACT"]["unseen"]["support"] == 50  # a number of its own for each note
    assert found["together"]["documents"] == 50
    assert "all four together" in out["evaluate"]
    rows = (folder / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == [*found["entities"], "together"]


def test_notes_from_elsewhere_with_another_label_map(printed: tuple[Path, dict[str, str]]) -> None:
    text = printed[1]["elsewhere"]
    assert "seqeval (mode strict, scheme IOB2)" in text
    assert len(re.findall(r" yes\s*$", text, re.MULTILINE)) == 4
    assert len(re.findall(r"^ (?:ADDRESS|CONTACT|DATE|PERSON) +8 ", text, re.MULTILINE)) == 4


def test_new_notes_are_redacted(printed: tuple[Path, dict[str, str]]) -> None:
    folder = printed[0]
    assert any(path.is_file() for path in (folder / "redacted").rglob("*"))
    assert (folder / "new-notes/a.txt").read_text(encoding="utf-8") == "Seen by Anna Weber on May 3.\n"


def test_the_numbers_on_the_page() -> None:
    assert "| none keeps PHI | 0 to 6 % |" in DOC
    assert round(100 * 3 / 50) == 6
    assert [round(100 * bound) for bound in wilson(1, 50)] == [0, 10]
    assert [round(100 * bound) for bound in wilson(10, 50)] == [11, 33]
    assert "300 test notes" in DOC
    assert 3 / 300 == 0.01
    assert round(1 - 0.98**30, 2) == 0.45
