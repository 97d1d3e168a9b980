"""docs/deidentify.md: every command in it works, and does what the page says."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from repository import ROOT
from typer.testing import CliRunner
from word_taggers import write_taggers

from phidrift.cli.main import app
from phidrift.deidentification.coverage import NOT_COVERED

DOC = (ROOT / "docs/deidentify.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", DOC, re.DOTALL) for line in block.splitlines()]
NOTE = "Dr. Ana Weber, 3/14/2019. WEBER: 555-0123. Lee at Elm Street."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands were run, each with success."""
    place = tmp_path_factory.mktemp("docs")
    write_taggers(place / "models/multileg-200")
    (place / "notes").mkdir()
    (place / "notes/weber-ana.txt").write_text(NOTE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for command in COMMANDS:
            program, *arguments = shlex.split(command)
            assert program == "phidrift"
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, (command, done.output, done.exception)
            assert "fit for clinical use" in done.output
    return place


def text_in(folder: Path) -> str:
    (line,) = (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    return str(json.loads(line)["text"])


def test_the_commands_do_what_the_page_says(folder: Path) -> None:
    assert len(COMMANDS) == 4
    masked = "Dr. [PERSON], [DATE]. [PERSON]: [CONTACT]. Lee at [ADDRESS]."
    assert text_in(folder / "redacted") == text_in(folder / "numbered") == masked
    assert (folder / "redacted/text/000001.txt").read_text(encoding="utf-8") == masked
    # "Lee" is a person with 0.21, too little to be decoded.
    assert text_in(folder / "careful") == masked.replace("Lee", "[PERSON]")
    key = json.loads((folder / "private/key.jsonl").read_text(encoding="utf-8"))
    assert (key["id"], key["place"]) == ("000001", "notes/weber-ana.txt:1")
    form = (
        r"Dr\. [A-Z]\w+ ([A-Z]\w+), \d{1,2}/\d{1,2}/20\d\d\. ([A-Z]+): 555-01\d\d\. Lee at [A-Z]\w+ Street\."
    )
    match = re.fullmatch(form, text_in(folder / "invented"))
    assert match
    assert match[1].upper() == match[2]


def test_the_files_are_those_of_the_table(folder: Path) -> None:
    table = DOC.split("## What is written")[1].split("Names of files")[0]
    named = set(re.findall(r"^\| ([\w./]+) \|", table, re.MULTILINE)) - {"file"}
    out = folder / "redacted"
    assert {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()} == named
    assert sorted(path.name for path in folder.iterdir()) == [
        *("careful", "invented", "models", "notes", "numbered", "private", "redacted"),
    ]


def test_the_page_names_all_that_is_not_covered() -> None:
    said = DOC.split("## What is not covered")[1].split("## When")[0]
    assert f"Nothing looks for: {', '.join(NOT_COVERED)}." in " ".join(said.split())


def test_a_document_that_fails_gives_the_exit_code_of_the_page(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_bytes(b"\xff")
    (tmp_path / "in/b.txt").write_text(NOTE)
    command = ["deidentify", str(tmp_path / "in"), "--models", str(folder / "models/multileg-200")]
    assert "| 3 | written, but some documents are left out |" in DOC
    assert CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")]).exit_code == 3
    (tmp_path / "in/b.txt").unlink()
    # Through the entry point, which turns an error into a message and exit code 2.
    from phidrift.cli.main import main

    monkeypatch.setattr(sys, "argv", ["phidrift", *command, "--out", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert not (tmp_path / "none").exists()
