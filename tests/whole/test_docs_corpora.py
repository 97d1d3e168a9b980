"""docs/bring-your-own-corpus.md: every command in it works, in the order in which it stands there."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from repository import ROOT, Repository, environment, make_repository

from phidrift.config import load_params
from phidrift.core.document import read_documents
from phidrift.corpora.formats import FORMATS

DOC = (ROOT / "docs/bring-your-own-corpus.md").read_text(encoding="utf-8")
# "Ana" 8-11 in code points; after 😀, which takes two UTF-16 units, "Ana" 3-6 is 4-7 and "3/4" 10-13 is 11-14.
NOTE = "Seen by Ana on 3/4."
EMOJI = "😀, Ana on 3/4."


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, dict[str, str]]:
    folder = tmp_path_factory.mktemp("docs")
    repository = make_repository(folder / "project")
    _write_corpora(repository.folder)
    source = _public_repository(folder / "public", repository)
    params = yaml.safe_load((repository.folder / "params.yaml").read_text(encoding="utf-8"))
    params["corpora"] |= yaml.safe_load(_block("yaml corpora"))
    (repository.folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    repository.run("git", "commit", "-q", "-a", "-m", "a corpus of our own")
    found = {}
    for command in _commands():
        run = _fetch_from(source, repository) if command == "phidrift fetch multileg" else repository.run
        found[command] = run(*shlex.split(command)).stdout
    return repository, found


def _commands() -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", DOC, re.DOTALL) for line in block.splitlines()]


def _block(kind: str) -> str:
    (block,) = re.findall(rf"```{kind}\n(.*?)```", DOC, re.DOTALL)
    return str(block)


def _write_corpora(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes/a.txt").write_text("Admitted with chest pain.\n", encoding="utf-8")
    region = {"start": 8, "end": 11, "text": "Ana", "labels": ["PERSON"]}
    task = {
        "id": 7,
        "data": {"text": NOTE},
        "annotations": [{"result": [{"type": "labels", "value": region}]}],
    }
    (folder / "export.json").write_text(json.dumps([task]), encoding="utf-8")
    rows = [f'{number},p{number // 2},"Günther, visit {number}."' for number in range(20)]
    for place in (folder, folder.parent):
        (place / "visits.csv").write_text("\n".join(["id,patient,note", *rows]), encoding="latin-1")
    spans = [{"start": 4, "end": 7, "label": "STAFF"}, {"start": 11, "end": 14, "label": "VISIT_DATE"}]
    (folder / "annotated.jsonl").write_text(json.dumps({"text": EMOJI, "spans": spans}), encoding="utf-8")
    (folder / "labels.yaml").write_text(_block("yaml label-map"), encoding="utf-8")


def _public_repository(folder: Path, repository: Repository) -> Path:
    for split in ("train", "test"):
        (folder / "data/en" / split).mkdir(parents=True)
        for number in range(8):
            lines = [json.dumps({"text": f"Paragraph {split} {number} {n}.", "label": []}) for n in range(20)]
            (folder / "data/en" / split / f"{split}{number}_en.jsonl").write_text("\n".join(lines))
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "corpus"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)
    return folder


def _fetch_from(source: Path, repository: Repository) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same command with a local repository in the place of the public one, which tests can't reach."""
    code = (
        "import dataclasses, sys\nfrom phidrift.cli import fetch, main\n"
        f"local = dataclasses.replace(fetch.PUBLIC['multileg'], url={str(source)!r}, revision='HEAD')\n"
        "fetch.PUBLIC['multileg'] = local\nsys.argv = ['phidrift', *sys.argv[2:]]\nmain.main()\n"
    )
    return lambda *command: repository.run(sys.executable, "-c", code, *command)


def test_the_commands_do_what_the_page_says(printed: tuple[Repository, dict[str, str]]) -> None:
    folder, out = printed[0].folder, list(printed[1].values())
    assert "1 documents, recognised as txt -> notes.jsonl" in out[0]
    assert json.loads((folder / "notes.jsonl").read_text())["spans"] is None
    labelled = json.loads((folder / "labelled.jsonl").read_text())
    assert labelled["spans"] == [{"start": 8, "end": 11, "label": "PERSON"}]
    assert json.loads((folder / "labelled.json").read_text())["labels"]["PERSON"]["spans"] == 1
    visits = [json.loads(line) for line in (folder / "visits.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(visits) == 20
    assert visits[0]["text"] == "Günther, visit 0."
    assert visits[3]["meta"]["group"] == "p1"
    mapped = json.loads((folder / "mapped.jsonl").read_text(encoding="utf-8"))
    assert mapped["text"] == EMOJI
    assert [mapped["text"][s["start"] : s["end"]] for s in mapped["spans"]] == ["Ana", "3/4"]
    sizes = (folder / "reports/corpora/sizes.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in sizes] == ["corpus", "notes", "visits"]


def test_a_corpus_of_ones_own_enters_the_pipeline(printed: tuple[Repository, dict[str, str]]) -> None:
    folder = printed[0].folder
    assert "visits" in load_params(folder / "params.yaml").targets
    record = json.loads((folder / "metrics/corpora/visits.json").read_text())
    assert (record["read"]["documents"], record["read"]["unlabelled"]) == (20, 20)
    assert record["restricted"] is True
    parts = [
        [document.meta["group"] for document in read_documents(folder / f"data/corpora/visits/{part}.jsonl")]
        for part in ("train", "test")
    ]
    assert not set(parts[0]) & set(parts[1])
    assert len(parts[1]) in (5, 10)  # whole patients of two visits, 5 at least


def test_the_fetched_corpus_is_versioned_and_harmonised(printed: tuple[Repository, dict[str, str]]) -> None:
    folder = printed[0].folder
    pin = yaml.safe_load((folder / "sources/multileg.dvc").read_text())
    assert pin["deps"][0]["path"] == "data/en"
    assert re.fullmatch(r"[0-9a-f]{40}", pin["deps"][0]["repo"]["rev_lock"])
    record = json.loads((folder / "metrics/corpora/multileg.json").read_text())
    assert record["read"]["documents"] == 320
    assert record["stand_in"] is False


def test_every_format_stands_in_the_table() -> None:
    table = DOC.split("## Formats")[1].split("## Labels")[0]
    assert re.findall(r"^\| `([a-z0-9-]+)` \| ", table, re.MULTILINE) == ["--format", *FORMATS]


def test_without_a_network_fetch_says_what_it_tried_and_how_to_go_on(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "project")
    code = (
        "import dataclasses, sys\nfrom phidrift.cli import fetch, main\n"
        "gone = dataclasses.replace(fetch.PUBLIC['multileg'], url='https://corpora.invalid/x')\n"
        "fetch.PUBLIC['multileg'] = gone\nsys.argv = ['phidrift', 'fetch', 'multileg']\nmain.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository.folder, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 2
    tried = "error: dvc import --rev 285bc93 --out sources/multileg https://corpora.invalid/x data/en: ERROR"
    assert tried in done.stderr
    assert "git clone https://corpora.invalid/x and git checkout 285bc93" in done.stderr
    assert (
        "copy its data/en to sources/multileg, and set corpora.multileg.path=sources/multileg" in done.stderr
    )
    assert not (repository.folder / "sources").exists()
    again = repository.run("phidrift", "fetch", "i2b2", check=False)
    assert again.returncode == 2
    assert "no public corpus 'i2b2'. To mend: these can be fetched: multileg" in again.stderr
