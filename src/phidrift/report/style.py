"""One look for all figures, and the same bytes for the same data."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from phidrift.core.files import whole_file

INK, MUTED, RULE = "#1d2733", "#5b6673", "#d5dae0"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d1f", "#000000")

# Fonts and salts are fixed: a figure may not depend on the machine's fonts, nor on chance.
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "svg.hashsalt": "phidrift",
    "svg.fonttype": "path",
    "path.simplify": False,
}


def color(position: int) -> str:
    """The colour of a series; colours come round again after eight."""
    return SERIES[position % len(SERIES)]


def render(draw: Callable[[Any], None], size: tuple[float, float], notes: Sequence[str]) -> dict[str, bytes]:
    """Draws once and gives the figure as "svg" and "png".

    Args:
        draw: fills a matplotlib figure.
        size: width and height in inches.
        notes: what the figure rests on, printed under it, so that a copied picture still says so.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        if notes:
            figure.supxlabel("\n".join(notes), x=0.01, ha="left", fontsize=8, color="#8a4b00")
        svg, png = io.BytesIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=130, metadata={"Software": None})
    return {"svg": svg.getvalue(), "png": png.getvalue()}


def save_png(path: Path, picture: dict[str, bytes]) -> None:
    """Writes the bitmap of a rendered figure."""
    with whole_file(path) as temporary:
        temporary.write_bytes(picture["png"])
