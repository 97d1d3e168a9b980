"""docs/drift-metrics.md: its table is the registry's, its commands and examples work, its claims on size hold."""

import csv
import json
import re
import shlex
import zlib
from pathlib import Path

import numpy as np
import pytest
from made_corpora import corpus
from typer.main import get_command
from typer.testing import CliRunner

from phidrift.cli.main import app
from phidrift.core.errors import PhidriftError
from phidrift.drift import METRICS, Settings, profile
from phidrift.drift.documentation import END, PAGE, START, metrics_table, with_table
from phidrift.drift.sampling import draw, draw_disjoint, share_vocabulary

ROOT = Path(__file__).parents[2]
DOC = (ROOT / PAGE).read_text(encoding="utf-8")
MULTILEG = ROOT.parent / "shared" / "corpora" / "multileg"


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", DOC, re.DOTALL)


def commands():
    return [shlex.split(line) for block in blocks("sh") for line in block.splitlines()]


def options_of(command):
    return {word for word in command if word.startswith("--")}


def test_the_table_is_that_of_the_registry():
    assert DOC.split(START)[1].split(END)[0].strip() == metrics_table().strip()
    assert with_table(DOC) == DOC


def test_a_row_says_what_the_registry_says():
    rows = [line.strip("| ").split(" | ") for line in metrics_table().splitlines()]
    assert {len(row) for row in rows} == {10}  # no bar within a cell
    assert [row[0].strip("`") for row in rows[2:]] == list(METRICS)
    assert " | ".join(rows[4]) == (
        "`vocab_overlap` | lexical | similarity | words that both have, among the words that either has | "
        "higher is more alike | 0 to 1 | share | grows | tokens | Jaccard 1912"
    )


def test_only_what_is_between_the_marks_changes():
    assert with_table(f"a\n{START}old{END}\nb") == f"a\n{START}\n\n{metrics_table()}\n{END}\nb"
    for page in ("nothing", START, f"{END}{START}", f"{START}{END}{START}{END}"):
        with pytest.raises(PhidriftError, match="no single place"):
            with_table(page)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands leave behind that need no model; run in this process, which has all loaded."""
    folder = tmp_path_factory.mktemp("page")
    texts = [json.dumps({"text": text}) for text in corpus(1, 60)]
    (folder / "real.jsonl").write_text("\n".join(texts), encoding="utf-8")
    with (folder / "synthetic.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in corpus(2, 40, 20, ("dee", "eve")))])
    ran = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for program, *arguments in commands():
            assert program == "phidrift"
            if "perplexity,semantic" in arguments:
                done = CliRunner().invoke(app, arguments, catch_exceptions=False)
                assert done.exit_code == 0
                assert "metrics stand clear" in done.stdout
                ran += 1
    assert ran == 1
    return folder


def test_the_command_writes_the_shape_that_the_page_shows(folder):
    (shown,), found = map(json.loads, blocks("json")), json.loads((folder / "drift.json").read_text())
    assert found["metrics"].keys() == METRICS.keys()
    assert shown["metrics"]["jsd_unigram"].keys() == found["metrics"]["jsd_unigram"].keys()
    assert shown.keys() == found.keys()
    assert shown["sample"].keys() == found["sample"].keys()
    for side in ("reference", "candidate"):
        assert found["sample"][side].keys() == shown["sample"]["reference"].keys()
    assert shown["extras"].keys() == found["extras"].keys()
    assert shown["versions"].keys() <= found["versions"].keys()


def test_the_command_writes_table_and_page(folder):
    with (folder / "drift.csv").open(encoding="utf-8", newline="") as file:
        assert [row["metric"] for row in csv.DictReader(file)] == list(METRICS)
    assert "jsd_unigram" in (folder / "drift.html").read_text(encoding="utf-8")


def test_the_options_of_the_page_are_those_of_the_command():
    command = get_command(app).commands["compare"]
    known = {name for option in command.params for name in option.opts if name.startswith("--")}
    for words in commands():
        assert options_of(words) <= known
    explained = set(re.findall(r"`(--[a-z-]+)`", DOC.split("| option |")[1].split("\n\n")[0]))
    assert explained == known


def test_the_python_example_runs(capsys):
    (example,) = blocks("python")
    exec(example, {})
    # Case-folded, the words are the same and so is every sample of all of them; capitals are not.
    value, clear = capsys.readouterr().out.split()
    assert 0 <= float(value) <= 1
    assert clear == "True"


def by_chance(sentences):
    """An embedding of every sentence that only the sentence decides, all from one normal distribution."""
    rows = [np.random.default_rng(zlib.crc32(s.encode())).normal(size=8) for s in sentences]
    return np.array(rows, dtype=np.float32).reshape(-1, 8)


@pytest.fixture(scope="module")
def real():
    if not MULTILEG.is_dir():
        pytest.skip("no ../shared/corpora/multileg")
    texts = []
    for path in sorted(MULTILEG.glob("*.jsonl")):
        texts += [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    measured = profile(texts, encode=by_chance, encoder="chance", sentences=2_000)
    return share_vocabulary([measured], Settings(clusters=4))[0]


@pytest.mark.parametrize("name", [name for name in METRICS if name != "perplexity_diff"])
def test_what_the_table_says_of_size_holds(real, name):
    # Samples of one corpus, sixteen times as large the second time: beyond chance is 4 standard errors of the mean.
    metric, numbers = METRICS[name], []
    small = {"tokens": 2_000, "sentences": 50}[metric.needs]
    for size in (small, 16 * small):
        draws = range(20)
        if metric.own:
            found = [metric.own(draw(real, metric.needs, size, number)) for number in draws]
        else:
            found = [metric.between(*draw_disjoint(real, metric.needs, size, number)) for number in draws]
        numbers.append((np.mean(found), np.std(found) / np.sqrt(len(found))))
    (few, error), (many, other) = numbers
    chance = 4 * np.hypot(error, other)
    moved = "grows" if many - few > chance else "falls" if few - many > chance else "no"
    assert moved == metric.with_size
