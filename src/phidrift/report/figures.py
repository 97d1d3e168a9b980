"""The report's figures: scores out of distribution, correlations, mixtures and the map of sentences."""

from collections.abc import Iterable, Sequence
from typing import Any

from phidrift.analysis.degradation import Outcome
from phidrift.analysis.scores import SYNTHETIC
from phidrift.analysis.summary import AblationPoint, ablation_points
from phidrift.report.study import Study
from phidrift.report.style import INK, MUTED, color, render
from phidrift.report.tables import words


def foreign_scores(study: Study, notes: Sequence[str]) -> dict[str, bytes]:
    """Out-of-distribution F1 per entity: a bar is a set's mean over targets, a dot one target (the study's Fig. 2)."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        width = 0.8 / len(study.sets)
        for position, name in enumerate(study.sets):
            for place, entity in enumerate(study.entities):
                f1 = _foreign(study.main, name, entity)
                x = place - 0.4 + (position + 0.5) * width
                label = study.set_name(name) if place == 0 else None
                mean = sum(f1) / len(f1) if f1 else float("nan")  # an undefined mean is no bar
                axes.bar(x, mean, width * 0.86, color=color(position), alpha=0.55, label=label)
                axes.scatter(
                    [x] * len(f1), f1, s=16, color=color(position), edgecolor="white", linewidth=0.5, zorder=3
                )
        axes.set_xticks(range(len(study.entities)), study.entities)
        axes.set_ylabel("strict F1 out of distribution")
        axes.set_ylim(0, _ceiling(o.score.f1 for o in study.main if not o.score.in_distribution))
        axes.grid(axis="y")
        axes.tick_params(axis="x", length=0)
        figure.legend(title="trained on", ncols=min(4, len(study.sets)), loc="outside upper left")

    return render(draw, (10.5, 3.9), notes)


def _foreign(outcomes: Iterable[Outcome], name: str, entity: str) -> list[float]:
    return [
        o.score.f1
        for o in outcomes
        if o.score.set == name
        and o.score.entity == entity
        and not o.score.in_distribution
        and o.score.f1 is not None
    ]


def _ceiling(values: Iterable[float | None]) -> float:
    """An upper end of an F1 axis: never so low that tiny scores look large."""
    top = max((value for value in values if value is not None), default=0.0)
    return min(1.02, max(0.2, 1.08 * top))


def correlation_intervals(study: Study, notes: Sequence[str]) -> dict[str, bytes]:
    """|r| ranking: every metric's Pearson r with its interval over all rows, beside the indicator's r."""
    results = study.correlation["main"]["all"]
    known = [name for name in results if results[name]["pearson"] is not None]
    ranked = sorted(known, key=lambda name: (abs(results[name]["pearson"]), name))
    baseline = study.correlation["baseline"]["main"]["all"]["pearson"]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for place, name in enumerate(ranked):
            r = results[name]
            if r["pearson_low"] is not None:
                axes.plot([r["pearson_low"], r["pearson_high"]], [place] * 2, color="#9db4c8", lw=3, zorder=2)
            axes.scatter(r["pearson"], place, color=color(0), s=26, zorder=3)
        axes.axvline(0, color=MUTED, lw=0.8)
        if baseline is not None:
            for sign in (1, -1):
                label = f"out-of-distribution indicator alone, |r| = {abs(baseline):.2f}"
                axes.axvline(
                    sign * abs(baseline),
                    color=color(1),
                    ls="--",
                    lw=1.3,
                    zorder=1,
                    label=label if sign == 1 else None,
                )
            figure.legend(loc="outside upper right")
        axes.set_yticks(range(len(ranked)), [words(name) for name in ranked])
        axes.set_ylim(-0.7, len(ranked) - 0.3)
        axes.set_xlim(-1.03, 1.03)
        axes.set_xlabel("Pearson r with the loss in F1; bars: central 95 % of resampled sources and targets")
        axes.grid(axis="x")

    return render(draw, (11, 1.6 + 0.23 * max(4, len(ranked))), notes)


def mixtures(study: Study, notes: Sequence[str]) -> dict[str, bytes]:
    """Out-of-distribution F1 of the ablation set by the share of synthetic documents (the study's Fig. 3b)."""
    recorded, current = ablation_points(study.recorded), ablation_points(study.current)
    left_out = {SYNTHETIC, *(row.real for row in study.current)}

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(study.entities), sharey=True, squeeze=False)[0]
        series = sorted({_series(study, point) for point in recorded})
        top: list[float | None] = []
        for axes, entity in zip(panels, study.entities, strict=True):
            for position, name in enumerate(study.sets):
                f1, targets = _reference(study, name, entity, left_out)
                if f1 is None:
                    continue
                top.append(f1)
                axes.axhline(
                    f1,
                    color=color(position),
                    ls=":",
                    lw=1.5,
                    label=f"{study.set_name(name)}, on {' and '.join(targets)}",
                )
            for position, line in enumerate(series):
                points = [p for p in recorded if p.entity == entity and _series(study, p) == line]
                top.extend(p.ood_f1 for p in points)
                axes.plot(
                    [p.mixture for p in points],
                    [p.ood_f1 for p in points],
                    "o-",
                    color=color(7 - position),
                    ms=4.5,
                    lw=1.4,
                    label=f"recorded: {line}",
                )
            for p in (p for p in current if p.entity == entity):
                top.append(p.ood_f1)
                label = f"set ablation as it is now: {_series(study, p)}"
                axes.plot(
                    p.mixture, p.ood_f1, "D", color="#b3261e", ms=7.5, mec="white", label=label, zorder=4
                )
            axes.set_title(entity)
            axes.set_xlim(-0.06, 1.06)
            axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
            axes.grid()
        panels[0].set_ylim(0, _ceiling(top))
        panels[0].set_ylabel("strict F1 out of distribution")
        figure.legend(*_unique_labels(panels), loc="outside upper left", ncols=2)

    return render(
        draw, (11, 4.4), [*notes, "Horizontal axis: share of synthetic documents in the training set."]
    )


def _series(study: Study, point: AblationPoint) -> str:
    return (
        f"{point.size} documents with {study.marks.name(point.real)}, score from {point.judge_threshold}, "
        f"generators: {point.generator}"
    )


def _reference(
    study: Study, name: str, entity: str, left_out: Iterable[str]
) -> tuple[float | None, list[str]]:
    """A main set's mean F1 on the targets of the mixtures, less its own corpus."""
    left_out = set(left_out)
    scores = [
        o.score
        for o in study.main
        if o.score.set == name
        and o.score.entity == entity
        and o.score.target not in left_out
        and not o.score.in_distribution
        and o.score.f1 is not None
    ]
    if not scores:
        return None, []
    return sum(s.f1 or 0.0 for s in scores) / len(scores), [study.marks.name(s.target) for s in scores]


def _unique_labels(panels: Iterable[Any]) -> tuple[list[Any], list[str]]:
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return list(handles.values()), list(handles)


def sentence_map(study: Study, notes: Sequence[str]) -> dict[str, bytes]:
    """Where the corpora's sentences lie in embedding space, by UMAP (the study's Fig. 6)."""

    def draw(figure: Any) -> None:
        names = list(study.projection)
        panels = figure.subplots(1, len(names), sharex=True, sharey=True, squeeze=False)[0]
        for position, (axes, name) in enumerate(zip(panels, names, strict=True)):
            for other in names:
                points = study.projection[other]
                if other != name:
                    axes.scatter(points[:, 0], points[:, 1], s=3, color="#dfe3e8", lw=0, rasterized=True)
            points = study.projection[name]
            axes.scatter(points[:, 0], points[:, 1], s=5, color=color(position), lw=0, rasterized=True)
            axes.set_title(f"{study.marks.name(name)} (n = {len(points)})", color=INK)
            axes.set_xticks([])
            axes.set_yticks([])
            for spine in axes.spines.values():
                spine.set_visible(True)
                spine.set_color("#d5dae0")

    return render(draw, (11, 3.3), notes)
