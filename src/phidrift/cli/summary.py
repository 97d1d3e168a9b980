"""What a run ends with: where the report is, and the main figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phidrift.analysis.scores import field, read_record
from phidrift.config import load_params


def print_summary(folder: Path = Path()) -> None:
    """Prints the path of reports/index.html and a table of the main figures of metrics/summary.json.

    Raises:
        PhidriftError: there is no summary yet, or it lacks a field.
    """
    from rich.console import Console
    from rich.table import Table

    place = folder / "metrics/summary.json"
    summary = read_record(place)
    inside, outside = field(summary, "in_distribution", place), field(summary, "out_of_distribution", place)
    ablation = field(summary, "ablation_ood_f1", place)
    table = Table(title="Mean strict F1", title_justify="left")
    for title in ("", "in distribution", "out of distribution", "set ablation, out"):
        table.add_column(title, justify="right" if title else "left")
    for name in sorted(inside, key=lambda entity: (entity == "all", entity)):
        table.add_row(name, *(_number(column.get(name)) for column in (inside, outside, ablation)))
    console = Console()
    console.print(table)
    for line in _lines(summary, place):
        console.print(line, highlight=False)
    for line in _caveats(folder):
        console.print(line, highlight=False)
    page = folder / "reports/index.html"
    # Printed by itself and unwrapped, so that it can be copied or clicked.
    console.print(f"Report: {page.resolve()}" if page.is_file() else "Report: not built yet", soft_wrap=True)


def _caveats(folder: Path) -> list[str]:
    """What the figures rest on: stand-ins, small models, few pairs of corpora."""
    corpora = [read_record(path) for path in sorted((folder / "metrics/corpora").glob("*.json"))]
    stand_ins = [str(corpus["corpus"]) for corpus in corpora if corpus["stand_in"]]
    lines = []
    if stand_ins:
        lines.append(
            f"These rest on stand-ins for {', '.join(stand_ins)}: they say nothing about the real corpora."
        )
    small = load_params(folder / "params.yaml").embedded_roles
    if small:
        lines.append(
            f"They rest on small embedded models ({', '.join(small)}): they show that the machinery works."
        )
    place = folder / "metrics/correlation.json"
    design = field(read_record(place), "design", place)["main"]["all"]
    if design["descriptive"]:
        lines.append(
            f"The correlation is descriptive: {design['n_pairs']} pairs of corpora, the best of 25 metrics."
        )
    return lines


def _lines(summary: Mapping[str, Any], place: Path) -> list[str]:
    learnt = field(summary, "in_distribution_pairs_above_0_3", place)
    pairs = field(summary, "in_distribution_pairs", place)
    best, r = field(summary, "best_metric", place), field(summary, "best_metric_pearson", place)
    baseline = _number(field(summary, "ood_indicator_pearson", place))
    strongest = "none is defined" if best is None else f"{best}, r = {_number(r)}"
    return [
        f"Pairs of corpus and entity with F1 above 0.3 on their own test corpus: {learnt} of {pairs}",
        f"Strongest correlation with the loss in F1: {strongest} (out-of-distribution indicator alone: {baseline})",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
