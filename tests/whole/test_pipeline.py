"""The whole pipeline on the tiny profile: a cold run, a second one, an experiment, and a run that is killed.

The numbers are checked against what can be computed again from the files, by other code than the pipeline's.
"""

import csv
import hashlib
import json
import math
import re
import shlex
import shutil
import socket
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from repository import ROOT, Repository, make_repository, stages_run
from scipy.spatial.distance import jensenshannon

pytestmark = pytest.mark.whole
ENTITIES = ("DATE", "PERSON")
TARGETS = ("ai4privacy", "i2b2", "multileg", "syn")
SETS = ("multileg-50", "syn-12", "ablation")
OUTPUTS = ("data", "metrics", "plots")


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository after its first `make run`, committed."""
    repository = make_repository(tmp_path_factory.mktemp("cold") / "repository")
    # The environment of this test stands in for the one that make would set up.
    venv = Path(sys.executable).parents[1]
    done = repository.run("make", "run", f"VENV={venv}", "-o", f"{venv}/.installed")
    assert len(stages_run(done.stdout)) == 24
    assert "reports/index.html" in done.stdout.splitlines()[-1] or "reports/index.html" in done.stdout
    repository.run("git", "add", "-A")
    repository.run("git", "commit", "-qm", "First run")
    return repository


def read_lines(path: Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def target_file(repository: Repository, target: str, entity: str) -> Path:
    data = repository.folder / "data"
    return (
        data / "synthetic" / entity / "test.jsonl"
        if target == "syn"
        else data / "corpora" / target / "test.jsonl"
    )


def set_file(repository: Repository, name: str, entity: str) -> Path:
    sets = repository.folder / "data/training_sets"
    return (sets if name == "ablation" else sets / "main") / name / f"{entity}.jsonl"


def drift_rows(repository: Repository) -> list[dict[str, str]]:
    with (repository.folder / "data/drift/drift.csv").open() as file:
        return list(csv.DictReader(file))


def scores(repository: Repository) -> dict[tuple[str, str, str], dict]:  # type: ignore[type-arg]
    cells = {}
    for name in SETS:
        record = json.loads((repository.folder / f"metrics/tagging/{name}.json").read_text())
        for entity, row in record["entities"].items():
            cells.update({(name, entity, target): cell for target, cell in row.items()})
    return cells


def test_every_cell_is_scored_on_its_gold_spans(cold: Repository) -> None:
    cells = scores(cold)
    assert set(cells) == {(s, e, t) for s in SETS for e in ENTITIES for t in TARGETS}
    for (name, entity, target), cell in cells.items():
        gold = sum(
            span["label"] == entity
            for document in read_lines(target_file(cold, target, entity))
            for span in document["spans"]
        )
        assert cell["support"] == gold == cell["tp"] + cell["fn"]
        assert gold > 0
        # F1 = 2 tp / (2 tp + fp + fn), from the counts in the file.
        f1 = 2 * cell["tp"] / (2 * cell["tp"] + cell["fp"] + cell["fn"])
        assert cell["f1"] == pytest.approx(f1)
        assert cell["f1_low"] <= cell["f1"] <= cell["f1_high"]
        own = {"multileg-50": {"multileg"}, "syn-12": {"syn"}, "ablation": {"multileg", "syn"}}[name]
        assert cell["in_distribution"] == (target in own)


def test_something_is_learnt(cold: Repository) -> None:
    # 50 paragraphs teach dates of their own kind; a pipeline in which every score is 0 shows nothing.
    assert scores(cold)["multileg-50", "DATE", "multileg"]["f1"] > 0.3


def test_training_and_test_documents_are_disjoint(cold: Repository) -> None:
    for entity in ENTITIES:
        tested = {d["text"] for target in TARGETS for d in read_lines(target_file(cold, target, entity))}
        for name in SETS:
            trained = read_lines(set_file(cold, name, entity))
            assert len(trained) == int(name.rpartition("-")[2]) if "-" in name else len(trained) == 12
            assert not tested & {d["text"] for d in trained}
            assert all(s["label"] == entity for d in trained for s in d["spans"])


def test_the_ablation_set_is_the_mixture_asked_for(cold: Repository) -> None:
    # mixture 0.6 of 12 documents: round(7.2) = 7 synthetic, 5 real.
    for entity in ENTITIES:
        sources = Counter(d["meta"]["corpus"] for d in read_lines(set_file(cold, "ablation", entity)))
        assert sources == {"syn": 7, "multileg": 5}


def test_the_drift_table_is_whole_and_its_divergence_is_scipys(cold: Repository) -> None:
    rows = drift_rows(cold)
    pairs = {(r["set"], r["entity"], r["target"]) for r in rows}
    assert pairs == set(scores(cold))
    assert len(rows) == len(pairs) * 25
    for row in rows:
        assert row["value"] == "" or math.isfinite(float(row["value"]))
        assert row["reason"] or (row["value"] and row["floor"] and row["clear"])
    checked = 0
    for row in rows:
        if row["metric"] != "jsd_unigram":
            continue
        counts = [
            Counter(w.casefold() for d in read_lines(path) for w in re.findall(r"\w+", d["text"]))
            for path in (
                target_file(cold, row["target"], row["entity"]),
                set_file(cold, row["set"], row["entity"]),
            )
        ]
        vocabulary = sorted(set(counts[0]) | set(counts[1]))
        p, q = ([c[w] for w in vocabulary] for c in counts)
        assert float(row["value_full"]) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-6)
        checked += 1
    assert checked == len(pairs)


def test_degradation_is_the_best_real_f1_less_the_rows(cold: Repository) -> None:
    cells = scores(cold)
    with (cold.folder / "plots/correlation/f1.csv").open() as file:
        rows = list(csv.DictReader(file))
    seen = 0
    for row in rows:
        # multileg-50 is the only set of a real source, so the best real F1 is its own.
        best = cells["multileg-50", row["entity"], row["target"]]["f1"]
        own = cells[row["set"], row["entity"], row["target"]]["f1"]
        assert float(row["d_f1"]) == pytest.approx(best - own)
        seen += 1
    assert seen >= 2 * len(ENTITIES) * len(TARGETS)


def test_pools_hold_all_that_was_asked_for_in_a_chain(cold: Repository) -> None:
    previous = None
    for n in range(2):
        header, *samples = read_lines(cold.folder / f"data/pools/round_{n}.jsonl")
        # 2 generators x 8 samples x 2 entities
        assert len(samples) == 32
        assert Counter(s["entity"] for s in samples) == {"DATE": 16, "PERSON": 16}
        assert Counter(s["generator"] for s in samples) == {"smol-steady": 16, "smol-free": 16}
        assert Counter(s["positive"] for s in samples) == {True: 16, False: 16}
        assert all((not s["example_ids"]) == (n == 0) for s in samples)
        for sample in samples:
            if sample["outcome"] == "ok":
                assert 1 <= sample["score"] <= 5
                assert bool(sample["spans"]) == sample["positive"]
        assert header["previous"] == previous
        previous = hashlib.sha256((cold.folder / f"data/pools/round_{n}.jsonl").read_bytes()).hexdigest()


def test_no_clock_host_or_path_in_any_output(cold: Repository) -> None:
    paths = [str(cold.folder), str(ROOT), str(Path.home()) + "/"]
    host = re.compile(rf"\b{re.escape(socket.gethostname())}\b")
    for name, content in cold.files(*OUTPUTS, "models").items():
        for path in paths:
            assert path.encode() not in content, f"{path} in {name}"
        # A short host name may stand in weights or in prose by chance; in these files it would be no chance.
        if name.startswith(("metrics/", "plots/", "models/")) and name.endswith((".json", ".csv", ".md")):
            assert "vocab" in name or "tokenizer" in name or not host.search(content.decode()), name
    assert not re.search(r"20\d\d-\d\d-\d\dT\d\d:", (cold.folder / "reports/index.html").read_text())


def test_the_report_marks_stand_ins_and_loads_nothing(cold: Repository) -> None:
    page = (cold.folder / "reports/index.html").read_text(encoding="utf-8")
    assert "stand-in" in page
    assert not re.search(r"""(src|href)\s*=\s*["'](https?:)?//""", page)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_the_report_opens_in_a_browser_from_disk(cold: Repository, tmp_path: Path) -> None:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--no-first-run", f"--user-data-dir={tmp_path}"]
    page = f"file://{cold.folder}/reports/index.html"
    dom = cold.run("chromium", *flags, "--virtual-time-budget=5000", "--dump-dom", page).stdout
    # The table of times is filled by a script, from the file beside the page.
    assert "train@multileg-50-DATE" in dom
    assert dom.count("<img") + dom.count("<svg") >= 5


def test_a_second_run_does_nothing(cold: Repository) -> None:
    assert stages_run(cold.run("dvc", "repro").stdout) == []
    assert cold.run("dvc", "status").stdout.strip() == "Data and pipelines are up to date."
    assert cold.run("git", "status", "--porcelain").stdout == ""


def test_metrics_and_plots_are_shown_by_dvc(cold: Repository) -> None:
    shown = json.loads(cold.run("dvc", "metrics", "show", "--json").stdout)[""]["data"]
    assert "metrics/summary.json" in shown
    assert {f"metrics/tagging/{name}.json" for name in SETS} <= set(shown)
    cold.run("dvc", "plots", "show", "--out", "page")
    assert (cold.folder / "page/index.html").is_file()
    shutil.rmtree(cold.folder / "page")


@pytest.fixture(scope="module")
def experiment(
    cold: Repository, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Repository, dict[str, str]]:
    """A copy of the repository in which the README's commands ran one after another, and what they printed."""
    folder = tmp_path_factory.mktemp("experiment") / "repository"
    shutil.copytree(cold.folder, folder, symlinks=True)
    repository = Repository(folder)
    repository.run("git", "reset", "-q", "--soft", "HEAD~1")  # as after `make run`
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks[0].splitlines() == ["make run", "make test"]
    commands = blocks[1].splitlines()
    return repository, {command: repository.run(*shlex.split(command)).stdout for command in commands}


def test_the_readmes_commands_work(experiment: tuple[Repository, dict[str, str]]) -> None:
    repository, printed = experiment
    assert stages_run(printed["dvc repro"]) == []
    assert "metrics/summary.json" in printed["dvc metrics show metrics/summary.json"]
    assert "metrics/summary.json" in printed["dvc metrics diff"]
    assert (repository.folder / "dvc_plots/index.html").is_file()
    assert "reports/index.html" in printed["phidrift summary"]


def test_another_mixture_runs_the_ablation_alone(experiment: tuple[Repository, dict[str, str]]) -> None:
    assert sorted(stages_run(experiment[1]["dvc exp run -S mixture=0.4"])) == sorted(
        [
            "ablation_set",
            "profile_ablation",
            *(f"train_ablation@{entity}" for entity in ENTITIES),
            "evaluate_ablation",
            "drift",
            "correlate",
            "report",
        ]
    )


def test_another_mixture_shows_in_the_diff(experiment: tuple[Repository, dict[str, str]]) -> None:
    repository, _ = experiment
    sources = Counter(d["meta"]["corpus"] for d in read_lines(set_file(repository, "ablation", "DATE")))
    assert sources == {"syn": 5, "multileg": 7}  # round(0.4 * 12) = 5
    changed = json.loads(repository.run("dvc", "metrics", "diff", "--json").stdout)
    assert "metrics/tagging/ablation.json" in changed
    assert "metrics/tagging/multileg-50.json" not in changed


def test_a_misspelt_parameter_stops_before_any_work(cold: Repository) -> None:
    params = cold.folder / "params.yaml"
    kept = params.read_text()
    try:
        raw = yaml.safe_load(kept)
        raw["drift"]["repeets"] = raw["drift"].pop("repeats")
        params.write_text(yaml.safe_dump(raw, sort_keys=False))
        done = cold.run("phidrift", "stage", "drift", check=False)
        assert done.returncode == 2
        assert "unknown key 'drift.repeets', did you mean 'repeats'?" in done.stderr
    finally:
        params.write_text(kept)


def test_killed_in_the_middle_it_goes_on_to_the_same_result(
    cold: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = make_repository(tmp_path_factory.mktemp("killed") / "repository")
    other.kill_during("round@1", 9.0, "dvc", "repro")
    other.kill_during("train@multileg-50-PERSON", 6.0, "dvc", "repro")
    done = other.run("dvc", "repro")
    assert "train@multileg-50-PERSON" in stages_run(done.stdout)
    mine, theirs = cold.files(*OUTPUTS), other.files(*OUTPUTS)
    assert sorted(mine) == sorted(theirs)
    assert [name for name in mine if mine[name] != theirs[name]] == []
