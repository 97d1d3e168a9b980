"""Stage correlate: degradation, its correlation with drift, and the main figures."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from phidrift.analysis.correlation import Group, Resampling, correlate_groups, join
from phidrift.analysis.degradation import Outcome, degradation
from phidrift.analysis.scores import ABLATION, DriftValue, Score, read_drift, read_scores
from phidrift.analysis.summary import AblationRow, ablation_points, ablation_rows, summarize
from phidrift.config import Params
from phidrift.core.files import write_csv, write_json

_PLOTS = Path("plots/correlation")


def correlate(params: Params) -> None:
    """Writes metrics/correlation.json, metrics/summary.json and plots/correlation/*.csv."""
    scores = [score for name in [*params.sets, ABLATION] for score in read_scores(tagging_file(name))]
    scores = [score for score in scores if score.entity in params.entities]
    outcomes = degradation(scores, real_sources=set(params.corpora))
    drift = read_drift(Path("data/drift/drift.csv"))
    metrics = sorted({item.metric for item in drift})
    resampling = Resampling(params.analysis.bootstrap, params.analysis.permutations, params.seed)
    main = [outcome for outcome in outcomes if outcome.score.set != ABLATION]
    ablation = [outcome for outcome in outcomes if outcome.score.set == ABLATION]
    groups = {
        name: correlate_groups(join(rows, drift), params.entities, metrics, resampling)
        for name, rows in (("main", main), ("ablation", ablation))
    }
    points = ablation_points(ablation_rows_of(params, scores))

    write_csv(
        _PLOTS / "f1.csv",
        ("set", "entity", "target", "f1", "f1_low", "f1_high", "support", "in_distribution", "d_f1", "drop"),
        (_f1_row(outcome) for outcome in outcomes),
    )
    ranked = list(_correlation_rows(groups, drift))
    columns = ("rows", "group", "metric", "family", "pearson", "low", "high", "spearman")
    write_csv(_PLOTS / "correlations.csv", columns, ranked)
    main_rows = (row for row in ranked if row["rows"] == "main" and row["group"] == "all")
    write_csv(_PLOTS / "main.csv", columns, main_rows)
    write_csv(
        _PLOTS / "ablation.csv",
        ("mixture", "judge_threshold", "generator", "real", "size", "entity", "ood_f1", "targets"),
        ({**asdict(point), "targets": " ".join(point.targets)} for point in points),
    )
    write_json(Path("metrics/correlation.json"), _to_json(groups))
    in_main = [outcome.score for outcome in main]
    write_json(
        Path("metrics/summary.json"), summarize(in_main, points, groups["main"]["all"], params.entities)
    )


def tagging_file(name: str) -> Path:
    """Where the scores of a set are."""
    return Path(f"metrics/tagging/{name}.json")


def ablation_rows_of(params: Params, scores: Iterable[Score]) -> list[AblationRow]:
    """The current ablation set's lines, as metrics/ablation.csv would hold them."""
    return ablation_rows(
        scores, params.mixture, params.judge_threshold, params.generator, params.ablation.real
    )


def _f1_row(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome.score), "d_f1": outcome.d_f1, "drop": outcome.drop}


def _correlation_rows(
    groups: dict[str, dict[str, Group]], drift: Iterable[DriftValue]
) -> Iterator[dict[str, Any]]:
    family = {item.metric: item.family for item in drift}
    for rows, members in groups.items():
        for name, group in members.items():
            for metric, r in group.metrics.items():
                yield {
                    "rows": rows,
                    "group": name,
                    "metric": metric,
                    "family": family[metric],
                    "pearson": r.pearson,
                    "low": r.pearson_low,
                    "high": r.pearson_high,
                    "spearman": r.spearman,
                }


def _to_json(groups: dict[str, dict[str, Group]]) -> dict[str, Any]:
    """Correlations per rows, group and metric; beside them the indicator's, and what is behind them."""
    content: dict[str, Any] = {"baseline": {}, "design": {}}
    for rows, members in groups.items():
        content[rows] = {name: group.to_json() for name, group in members.items()}
        content["baseline"][rows] = {name: asdict(group.baseline) for name, group in members.items()}
        content["design"][rows] = {
            name: {
                "n_rows": group.n_rows,
                "n_pairs": group.n_pairs,
                "distinct_permutations": group.distinct_permutations,
                "descriptive": group.descriptive,
            }
            for name, group in members.items()
        }
    return content
