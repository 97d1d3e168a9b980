"""The drift heatmap: every pair of a training and a test corpus against every metric (the study's Fig. 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phidrift.analysis.degradation import Outcome
from phidrift.analysis.scores import Key
from phidrift.report.study import Study
from phidrift.report.style import MUTED, render
from phidrift.report.tables import number, words

_CLIP = 2.0  # standard deviations at which the colours end


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A training corpus on a test corpus for one entity; values are means over the training sizes."""

    label: str
    in_distribution: bool
    d_f1: float | None
    values: Sequence[float | None]  # by metric


def heat_rows(study: Study, metrics: Sequence[str]) -> list[HeatRow]:
    """In-distribution rows first, then the others; each by entity, source and target."""
    values: dict[Key, dict[str, float | None]] = {}
    for item in study.drift:
        values.setdefault(item.key, {})[item.metric] = item.value
    groups: dict[tuple[bool, str, str, str], list[Outcome]] = {}
    for o in study.main:
        s = o.score
        groups.setdefault((not s.in_distribution, s.entity, s.source, s.target), []).append(o)
    rows = []
    for (foreign, entity, source, target), members in sorted(groups.items()):
        columns = [[values.get(o.score.key, {}).get(metric) for o in members] for metric in metrics]
        label = f"{entity}  {study.marks.name(source)} → {study.marks.name(target)}"
        rows.append(
            HeatRow(label, not foreign, _mean([o.d_f1 for o in members]), [_mean(c) for c in columns])
        )
    return rows


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def drift_scores(rows: Sequence[HeatRow], alike: Sequence[bool]) -> NDArray[np.float64]:
    """Standard scores per column [rows, metrics], turned so that higher is more drift; NaN where undefined.

    A constant column is 0. `alike` marks the metrics for which a higher value means more alike.
    """
    grid = np.array([[np.nan if v is None else v for v in row.values] for row in rows], dtype=np.float64)
    for column, flip in enumerate(alike):
        known = grid[:, column][~np.isnan(grid[:, column])]
        if known.size:
            spread = known.std()
            grid[:, column] = (grid[:, column] - known.mean()) / (spread if spread > 0 else 1.0)
            if flip:
                grid[:, column] *= -1
    return grid


def drift_heatmap(study: Study, notes: Sequence[str]) -> dict[str, bytes]:
    """Colours are standard scores per metric, red for more drift; columns by |r|, rows in two panels."""
    results = study.correlation["main"]["all"]
    metrics = sorted(results, key=lambda name: (-abs(results[name]["pearson"] or 0.0), name))
    alike = {item.metric: item.alike for item in study.drift}
    rows = heat_rows(study, metrics)
    scores = drift_scores(rows, [alike.get(metric, False) for metric in metrics])
    own = [n for n, row in enumerate(rows) if row.in_distribution]
    foreign = [n for n, row in enumerate(rows) if not row.in_distribution]

    def draw(figure: Any) -> None:
        figure.get_layout_engine().set(wspace=0.0, w_pad=0.02)
        panels = figure.subplots(
            2,
            2,
            squeeze=False,
            gridspec_kw={"height_ratios": [max(1, len(own)), max(1, len(foreign))], "width_ratios": [26, 1]},
        )
        image = None
        for (axes, losses), chosen, title in (
            (panels[0], own, "in distribution"),
            (panels[1], foreign, "out of distribution"),
        ):
            image = _panel(axes, scores[chosen], [rows[n].label for n in chosen])
            axes.set_ylabel(title, fontweight="bold")
            _losses(losses, [rows[n].d_f1 for n in chosen])
        labels = [f"{words(m)}  ({number(results[m]['pearson'], signed=True)})" for m in metrics]
        _column_labels(panels[0][0], labels)
        _column_labels(panels[0][1], ["loss in F1"])
        bar = figure.colorbar(image, ax=panels[:, :], location="right", shrink=0.35, aspect=30, pad=0.01)
        bar.set_label("standard score per metric: red is more drift", fontsize=8)

    return render(draw, (12.4, 3.2 + 0.19 * len(rows)), notes)


def _panel(axes: Any, scores: NDArray[np.float64], labels: Sequence[str]) -> Any:
    axes.set_facecolor("#b9bec5")
    shown = np.ma.masked_invalid(scores)
    image = axes.pcolormesh(shown, cmap="RdBu_r", vmin=-_CLIP, vmax=_CLIP, edgecolors="white", linewidth=0.4)
    axes.set_yticks(np.arange(len(labels)) + 0.5, labels, fontsize=8)
    axes.set_xticks([])
    axes.invert_yaxis()
    _bare(axes)
    return image


def _losses(axes: Any, losses: Sequence[float | None]) -> None:
    for place, loss in enumerate(losses):
        axes.text(0.5, place + 0.5, number(loss), ha="center", va="center", fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_ylim(len(losses), 0)
    axes.set_xticks([])
    axes.set_yticks([])
    _bare(axes)


def _column_labels(axes: Any, labels: Sequence[str]) -> None:
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(labels)) + 0.5, labels, rotation=55, ha="left", va="bottom", fontsize=8.5)
    for label in axes.get_xticklabels():
        label.set_rotation_mode("anchor")


def _bare(axes: Any) -> None:
    axes.tick_params(length=0, colors="#1d2733")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.yaxis.label.set_color(MUTED)
