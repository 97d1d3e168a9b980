"""The report page: one file, everything inside it, opened from disk."""

from collections.abc import Mapping
from dataclasses import dataclass

from phidrift.analysis.summary import mean_f1, pairs_learnt
from phidrift.report import tables
from phidrift.report.figures import correlation_intervals, foreign_scores, mixtures, sentence_map
from phidrift.report.heatmap import drift_heatmap
from phidrift.report.sections import DRIFT, TRAINED, basis_of, sections
from phidrift.report.study import Study
from phidrift.report.templates import template


def draw_figures(study: Study) -> dict[str, dict[str, bytes]]:
    """Every figure by name, as "svg" and "png"."""
    scored = basis_of(study, TRAINED)
    drifted = basis_of(study, DRIFT)
    pictures = {
        "foreign_f1": foreign_scores(study, scored),
        "correlations": correlation_intervals(study, drifted),
        "drift_heatmap": drift_heatmap(study, drifted),
        "mixtures": mixtures(study, scored),
    }
    if study.projection:
        pictures["sentence_map"] = sentence_map(
            study, basis_of(study, ("generator", "encoder"), study.projection)
        )
    return pictures


def build_page(study: Study, pictures: Mapping[str, Mapping[str, bytes]]) -> str:
    """The page's HTML: no network, no clock, no path of this machine; the same study gives the same text."""
    return template("report.html").render(
        stand_ins=sorted(study.marks.stand_ins),
        embedded={role: names for role, names in study.marks.embedded.items() if names},
        restricted=[c.name for c in study.corpora if c.restricted and not c.stand_in],
        key_figures=_key_figures(study),
        key_basis=basis_of(study, DRIFT),
        sections=sections(study, pictures),
        parameters=study.parameters,
        stages=list(study.stages),
    )


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One large number and what it is."""

    value: str
    label: str


def _key_figures(study: Study) -> list[KeyFigure]:
    scores = [outcome.score for outcome in study.main]
    f1, (learnt, pairs) = mean_f1(scores, study.entities), pairs_learnt(scores)
    results = study.correlation["main"]["all"]
    ranked = sorted(results, key=lambda name: (-abs(results[name]["pearson"] or 0.0), name))
    best = ranked[0] if ranked else None
    baseline = study.correlation["baseline"]["main"]["all"]["pearson"]
    figures = [
        KeyFigure(tables.number(f1["in_distribution"]["all"]), "mean F1 in distribution"),
        KeyFigure(tables.number(f1["out_of_distribution"]["all"]), "mean F1 out of distribution"),
        KeyFigure(f"{learnt} of {pairs}", "corpus and entity pairs learnt (own-test F1 above 0.3)"),
    ]
    if best is not None:
        r = tables.number(results[best]["pearson"], signed=True)
        figures.append(KeyFigure(r, f"strongest correlation with the loss: {tables.words(best)}"))
    label = "correlation of the out-of-distribution indicator alone, the baseline"
    return [*figures, KeyFigure(tables.number(baseline, signed=True), label)]
