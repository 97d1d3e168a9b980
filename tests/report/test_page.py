"""The report, built from an invented project: what it says, what it marks, and that it is the same every time."""

import html.parser
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from phidrift.cli.stages import report as stage
from phidrift.cli.stages.analysis import correlate
from phidrift.cli.summary import print_summary
from phidrift.config import load_params
from phidrift.core.errors import PhidriftError
from phidrift.report.heatmap import HeatRow, drift_scores
from phidrift.report.marks import find_marks
from phidrift.report.projection import project

Write = Callable[..., Path]


class Parsed(html.parser.HTMLParser):
    """Attributes that load something, visible text, and the exhibits with their text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.exhibits: dict[str, str] = {}
        self.text = ""
        self.open: str | None = None
        self.depth = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.loads += [
            str(given[name]) for name in ("src", "href", "srcset", "data", "action") if name in given
        ]
        if "exhibit" in (given.get("class") or "").split():
            self.open, self.depth = str(given["id"]), 0
            self.exhibits[self.open] = ""
        if tag in ("div", "figure"):
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("div", "figure"):
            self.depth -= 1
            if self.depth == 0:
                self.open = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open:
            self.exhibits[self.open] += data


Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(write_project: Write, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Runs correlate and report in an invented project, with a map of sentences instead of UMAP; each once."""
    built: dict[tuple[str, ...], Path] = {}

    def run(real: tuple[str, ...] = (), again: bool = False) -> Path:
        if real in built and not again:
            return built[real]
        folder = write_project(tmp_path_factory.mktemp("project"), real)
        rng = np.random.default_rng(0)
        rows = {name: rng.normal(size=(40, 2)) for name in ("ai4privacy", "i2b2", "multileg", "syn")}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(stage, "_embeddings", lambda params: rows)
            patch.setattr(stage, "project", lambda embeddings, most, seed: embeddings)
            params = load_params()
            correlate(params)
            stage.report(params)
        built.setdefault(real, folder)
        return folder

    return run


FIGURES = {"foreign_f1", "drift_heatmap", "correlations", "mixtures", "sentence_map"}
ON_CORPORA = {
    *FIGURES,
    "f1",
    "means",
    "losses",
    "r_main_all",
    "r_main_ood",
    "r_by_entity",
    "r_ablation_all",
    "corpora",
    "labels",
}


def test_every_exhibit_says_what_it_rests_on(build: Build) -> None:
    page = Parsed((build() / "reports/index.html").read_text(encoding="utf-8"))
    for name in ON_CORPORA:
        assert "† Rests on stand-ins for ai4privacy, i2b2, multileg" in page.exhibits[name], name
    for name in ON_CORPORA - {"corpora", "labels"}:
        assert "small embedded models" in page.exhibits[name], name
    assert "small embedded models (generator, judge)" in page.exhibits["generation"]
    assert "stand-in" not in page.exhibits["generation"]
    assert "multileg†" in page.exhibits["f1"]
    assert "Read this first" in page.text


def test_what_was_left_out_of_a_corpus_and_its_labels_are_shown(build: Build) -> None:
    page = Parsed((build() / "reports/index.html").read_text(encoding="utf-8"))
    assert "3 not readable, 4 whose text is in test" in page.exhibits["provenance"]
    assert "en 98, und 2" in page.exhibits["provenance"]
    assert "STREET 71, CITY 70" in page.exhibits["labels"]  # the more frequent one first
    assert "ORG 12" in page.exhibits["labels"]


def test_a_real_corpus_is_not_marked(build: Build) -> None:
    page = Parsed((build(real=("multileg",)) / "reports/index.html").read_text(encoding="utf-8"))
    assert "multileg†" not in page.text
    assert "† Rests on stand-ins for ai4privacy, i2b2, not on the real corpora" in page.exhibits["f1"]
    assert "share neither it nor" not in page.text


def test_real_corpora_alone_carry_no_mark_but_the_restriction(build: Build) -> None:
    page = Parsed(
        (build(real=("ai4privacy", "i2b2", "multileg")) / "reports/index.html").read_text(encoding="utf-8")
    )
    assert "†" not in page.text
    assert "this page rests on i2b2; share neither it nor its figures" in page.text


def test_the_page_needs_no_network_and_names_no_folder(build: Build) -> None:
    folder = build()
    text = (folder / "reports/index.html").read_text(encoding="utf-8")
    page = Parsed(text)
    assert all(load.startswith(("data:", "#")) or load == "times.js" for load in page.loads)
    assert set(page.exhibits) >= FIGURES
    assert sum(load.startswith("data:image/") for load in page.loads) == len(FIGURES)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert str(folder) not in text


def test_the_same_results_give_the_same_bytes(build: Build) -> None:
    def everything(folder: Path) -> dict[str, bytes]:
        kept = ("reports", "plots", "metrics")
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for name in kept
            for path in sorted((folder / name).rglob("*"))
            if path.is_file()
        }

    first = everything(build())
    assert {f"plots/report/{name}.png" for name in FIGURES} <= set(first)
    assert everything(build(again=True)) == first


def test_cells(build: Build) -> None:
    folder = build()
    text = (folder / "reports/index.html").read_text(encoding="utf-8")
    row = next(r for r in re.findall(r"<tr.*?</tr>", text, re.S) if ">ai4privacy†-200<" in r)
    cells = re.findall(r"<td[^>]*>[^<]*</td>", row)
    assert len(cells) == 16
    tagging = json.loads((folder / "metrics/tagging/ai4privacy-200.json").read_text())["entities"]
    own = tagging["ADDRESS"]["ai4privacy"]
    assert f">{own['f1']:.2f}<" in cells[0]
    assert 'class="own"' in cells[0]
    assert f"{own['support']} gold spans" in cells[0]
    assert ">–<" in cells[6]  # CONTACT on multileg
    assert "neither gold nor predicted" in cells[6]
    law = next(r for r in re.findall(r"<tr.*?</tr>", text, re.S) if ">multileg†-200<" in r)
    assert "0.00‡" in law
    assert "not trained: no positive document" in law


def test_generation_rounds_stand_in_order(build: Build) -> None:
    page = Parsed((build() / "reports/index.html").read_text(encoding="utf-8"))
    dates = re.findall(r"DATE(\d+?)40(\d\d)(\d+ %)", page.exhibits["generation"])
    assert dates == [("0", "20", "50 %"), ("1", "21", "52 %"), ("2", "22", "55 %"), ("10", "30", "75 %")]
    assert "Written by a small model." in page.exhibits["generation"]


def test_correlation_file(build: Build) -> None:
    folder = build()
    content = json.loads((folder / "metrics/correlation.json").read_text())
    keys = [
        "pearson",
        "pearson_low",
        "pearson_high",
        "spearman",
        "p",
        "q",
        "partial",
        "n_rows",
        "n_pairs",
        "reason",
    ]
    for rows in ("main", "ablation"):
        assert set(content[rows]) == {"all", "ood", "ADDRESS", "CONTACT", "DATE", "PERSON"}
        for group in content[rows].values():
            assert len(group) == 25
            assert all(set(result) == set(keys) for result in group.values())
    # 48 scores, less three of CONTACT on multileg, which are undefined.
    assert content["design"]["main"]["all"]["n_rows"] == 45
    assert content["main"]["all"]["frechet"]["n_pairs"] == 9  # undefined on i2b2
    assert content["ablation"]["ood"]["mmd"]["pearson"] is None  # two pairs only
    ranked = (folder / "plots/correlation/correlations.csv").read_text().splitlines()
    r = [abs(float(line.split(",")[4])) for line in ranked if line.startswith("main,all,")]
    assert len(r) == 25
    assert r == sorted(r, reverse=True)
    assert len((folder / "plots/correlation/f1.csv").read_text().splitlines()) == 1 + 64


def test_parameters_hide_folders_of_the_machine(
    write_project: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_project(tmp_path)
    monkeypatch.chdir(folder)
    parameters = folder / "params.yaml"
    parameters.write_text(parameters.read_text().replace("data/standins/i2b2", "/home/someone/notes/i2b2"))
    text = stage._parameters(load_params())
    assert "/home/someone" not in text
    assert "path: (outside the repository)/i2b2" in text


def test_a_missing_result_is_named(
    write_project: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_project(tmp_path)
    monkeypatch.chdir(folder)
    (folder / "metrics/tagging/syn-80.json").unlink()
    with pytest.raises(PhidriftError, match=r"metrics/tagging/syn-80\.json: no such file"):
        correlate(load_params())


def test_summary_prints_the_main_figures(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    folder = build()
    capsys.readouterr()
    print_summary(folder)
    said = capsys.readouterr().out
    summary = json.loads((folder / "metrics/summary.json").read_text())
    assert f"Report: {folder.resolve() / 'reports/index.html'}" in said
    assert f"{summary['in_distribution']['DATE']:.2f}" in said
    assert str(summary["best_metric"]) in said
    words = " ".join(said.split())
    assert "These rest on stand-ins for " in words
    assert "small embedded models (generator, judge, tagger, encoder, language model)" in words
    assert "The correlation is descriptive: " in words


def test_drift_scores_by_hand() -> None:
    # Column 1: 1, 3 have mean 2 and deviation 1. Column 2 the same, but higher is more alike: signs turned.
    # Column 3 is constant: 0. Column 4 has one value: 0, and a gap.
    rows = [HeatRow("a", True, 0.0, (1.0, 1.0, 5.0, None)), HeatRow("b", False, 0.1, (3.0, 3.0, 5.0, 7.0))]
    scores = drift_scores(rows, [False, True, False, False])
    assert scores[:, :3] == pytest.approx(np.array([[-1.0, 1.0, 0.0], [1.0, -1.0, 0.0]]))
    assert np.isnan(scores[0, 3])
    assert scores[1, 3] == 0


def test_marks() -> None:
    marks = find_marks({"i2b2": True, "law": False}, {"judge": ["hub/large"], "tagger": ["embedded/small"]})
    assert (marks.name("i2b2"), marks.name("law"), marks.name("syn")) == ("i2b2†", "law", "syn")
    assert (marks.set_name("i2b2-20"), marks.set_name("ablation")) == ("i2b2†-20", "ablation")
    assert marks.basis(["law", "syn"], ["judge"]) == []
    assert len(marks.basis(["law", "i2b2"], ["judge", "tagger"])) == 2


def test_too_few_sentences_make_no_map() -> None:
    assert project({"a": np.zeros((4, 8)), "b": np.zeros((5, 8))}, most=300, seed=1) == {}
    assert project({}, most=300, seed=1) == {}
