"""The report's tables as rows of cells, ready for the template."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phidrift.analysis.correlation import INDICATOR
from phidrift.analysis.degradation import Outcome
from phidrift.analysis.scores import ABLATION
from phidrift.report.study import Study

MISSING = "–"
_PRINTED = {"jsd": "JSD", "mtld": "MTLD", "mmd": "MMD", "frechet": "Fréchet", "yules": "Yule's", "k": "K"}


@dataclass(frozen=True, slots=True)
class Cell:
    """What is printed, a class for its look, and what a pointer shows."""

    text: str
    kind: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A heading and its cells."""

    head: str
    cells: Sequence[Cell]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Column headings, grouped where `groups` holds (title, columns spanned), and rows."""

    corner: str
    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Sequence[TableRow]


def number(value: float | None, digits: int = 2, signed: bool = False) -> str:
    """A number for print, with a true minus sign and never a negative zero; a dash where there is none.

    >>> number(-0.004), number(-0.26), number(None), number(0.5, 3, signed=True)
    ('0.00', '−0.26', '–', '+0.500')
    """
    if value is None:
        return MISSING
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return text.removeprefix("-")
    if text.startswith("-"):
        return "−" + text[1:]
    return f"+{text}" if signed else text


def cross_dataset(study: Study) -> Table:
    """F1 of every set (rows) on every entity and target (columns): the form of the study's Table 2."""
    by_key = {outcome.score.key: outcome for outcome in study.outcomes}
    best = _best_foreign(study.main)

    def cell(outcome: Outcome) -> Cell:
        s = outcome.score
        if s.f1 is None:
            return Cell(MISSING, "none", f"undefined: {s.reason}")
        bounds = f", {number(s.f1_low)} to {number(s.f1_high)} over documents" if s.f1_low is not None else ""
        title = f"F1 {number(s.f1, 3)}{bounds}; {s.support} gold spans"
        kinds = ["own"] if s.in_distribution else []
        if s.key in best:
            kinds.append("best")
        if not s.trained:
            kinds.append("untrained")
            title += f"; not trained: {s.reason or 'no positive example'}"
        return Cell(number(s.f1) + ("" if s.trained else "‡"), " ".join(kinds), title)

    rows = [_set_row(study, name, by_key, cell) for name in _rows(study)]
    return _grid("training set", study, [_support(study), *rows])


def losses(study: Study) -> Table:
    """d_f1 in the same form: how much each set falls short of the best set of a real source."""
    by_key = {outcome.score.key: outcome for outcome in study.outcomes}

    def cell(outcome: Outcome) -> Cell:
        if outcome.d_f1 is None:
            return Cell(MISSING, "none", f"undefined: {outcome.d_f1_reason}")
        drop = number(outcome.drop, 3, signed=True) if outcome.drop is not None else outcome.drop_reason
        title = f"loss {number(outcome.d_f1, 3, signed=True)}; drop from its own test corpus: {drop}"
        return Cell(number(outcome.d_f1, signed=True), "own" if outcome.score.in_distribution else "", title)

    return _grid("training set", study, [_set_row(study, name, by_key, cell) for name in _rows(study)])


def _rows(study: Study) -> list[str]:
    return [*study.sets, ABLATION]


def _set_row(
    study: Study, name: str, by_key: Mapping[Any, Outcome], cell: Callable[[Outcome], Cell]
) -> TableRow:
    cells = []
    for entity in study.entities:
        for target in study.targets:
            outcome = by_key.get((name, entity, target))
            cells.append(Cell(MISSING, "none", "not evaluated") if outcome is None else cell(outcome))
    return TableRow(study.set_name(name), cells, "apart" if name == ABLATION else "")


def _support(study: Study) -> TableRow:
    support = {(o.score.entity, o.score.target): o.score.support for o in study.outcomes}
    cells = [
        Cell(str(support[e, t])) if (e, t) in support else Cell(MISSING)
        for e in study.entities
        for t in study.targets
    ]
    return TableRow("gold spans (n)", cells, "support")


def _grid(corner: str, study: Study, rows: Sequence[TableRow]) -> Table:
    names = [study.marks.name(target) for target in study.targets]
    groups = [(entity, len(names)) for entity in study.entities]
    return Table(corner, groups, names * len(groups), rows)


def _best_foreign(outcomes: Iterable[Outcome]) -> set[tuple[str, str, str]]:
    """Keys of the best out-of-distribution F1 above 0 per entity and target."""
    top: dict[tuple[str, str], float] = {}
    foreign = [o.score for o in outcomes if not o.score.in_distribution and o.score.f1]
    for s in foreign:
        place = (s.entity, s.target)
        top[place] = max(s.f1 or 0.0, top.get(place, 0.0))
    return {s.key for s in foreign if s.f1 == top[s.entity, s.target]}


def means(study: Study) -> Table:
    """Mean F1 per set and entity, in and out of distribution."""
    names = [*study.entities, "all four" if len(study.entities) == 4 else "all"]

    def row(head: str, chosen: Sequence[Outcome], kind: str = "") -> TableRow:
        cells = []
        for name in names:
            for inside in (True, False):
                f1 = [
                    o.score.f1
                    for o in chosen
                    if o.score.f1 is not None
                    and o.score.in_distribution is inside
                    and (o.score.entity == name or name not in study.entities)
                ]
                mean = sum(f1) / len(f1) if f1 else None
                cells.append(Cell(number(mean), "own" if inside else "", f"mean of {len(f1)} F1"))
        return TableRow(head, cells, kind)

    rows = [
        row(study.set_name(name), [o for o in study.outcomes if o.score.set == name]) for name in study.sets
    ]
    rows.append(row("all of these", study.main, "total"))
    rows.append(
        row(study.set_name(ABLATION), [o for o in study.outcomes if o.score.set == ABLATION], "apart")
    )
    return Table("training set", [(name, 2) for name in names], ["in", "out"] * len(names), rows)


def correlations(study: Study, rows: str, group: str) -> Table:
    """All metrics of one group by |r|, the out-of-distribution indicator first as the baseline."""
    families = {item.metric: item.family for item in study.drift}
    results = study.correlation[rows][group]
    ranked = sorted(results, key=lambda name: (-abs(results[name]["pearson"] or 0.0), name))
    baseline = study.correlation["baseline"][rows][group]
    body = [_correlation_row("out-of-distribution indicator", "baseline", baseline, "baseline")]
    body += [
        _correlation_row(words(name), families.get(name, MISSING), results[name])
        for name in ranked
        if name != INDICATOR
    ]
    columns = (
        "family",
        "Pearson r",
        "95 % of resamples",
        "Spearman",
        "p",
        "q",
        "partial r",
        "rows",
        "pairs",
    )
    return Table("drift metric", [], columns, body)


def _correlation_row(head: str, family: str, result: Mapping[str, Any], kind: str = "") -> TableRow:
    low, high = result["pearson_low"], result["pearson_high"]
    interval = MISSING if low is None else f"{number(low)} to {number(high)}"
    title = result["reason"] or ""
    cells = [
        Cell(family, "word"),
        Cell(number(result["pearson"], signed=True), "strong", title),
        Cell(interval, "", title),
        Cell(number(result["spearman"], signed=True), "", title),
        Cell(number(result["p"], 3), "", title),
        Cell(number(result["q"], 3), "", title),
        Cell(number(result["partial"], signed=True), "", title),
        Cell(str(result["n_rows"])),
        Cell(str(result["n_pairs"])),
    ]
    return TableRow(head, cells, kind)


def by_entity(study: Study) -> Table:
    """Pearson's r of every metric in every group, in the order of the group of all rows."""
    main = study.correlation["main"]
    everything = main["all"]
    ranked = sorted(everything, key=lambda name: (-abs(everything[name]["pearson"] or 0.0), name))
    groups = ["all", "ood", *study.entities]
    baseline = study.correlation["baseline"]["main"]

    def row(head: str, results: Mapping[str, Mapping[str, Any]], kind: str = "") -> TableRow:
        cells = [
            Cell(number(results[g]["pearson"], signed=True), "", results[g]["reason"] or "") for g in groups
        ]
        return TableRow(head, cells, kind)

    rows = [row("out-of-distribution indicator", baseline, "baseline")]
    rows += [row(words(name), {g: main[g][name] for g in groups}) for name in ranked]
    return Table("drift metric", [], ["all rows", "out of distribution", *study.entities], rows)


def words(metric: str) -> str:
    """A metric's name for print.

    >>> words("jsd_unigram"), words("yules_k_diff")
    ('JSD unigram', "Yule's K diff")
    """
    return " ".join(_PRINTED.get(part, part) for part in metric.split("_"))
