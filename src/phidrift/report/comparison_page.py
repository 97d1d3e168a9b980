"""The page of one comparison: a table that opens from disk, with a bar for how far each metric is from its floor."""

from collections.abc import Mapping, Sequence
from typing import Any

from phidrift.report.templates import template

_FULL_BAR = 5  # times the floor


def comparison_page(
    result: Mapping[str, Any], title: str, notes: Sequence[str], extras: Sequence[str]
) -> str:
    """The HTML of a comparison as `phidrift compare --json` has it; no network, no clock, no path of this machine.

    `notes` are what a reader has to know first, `extras` lines on what was measured beside the 25 metrics.
    """
    rows = [{"name": name, **found, "times": times_floor(found)} for name, found in result["metrics"].items()]
    return template("comparison.html").render(
        title=title,
        notes=notes,
        extras=extras,
        families=list(dict.fromkeys(row["family"] for row in rows)),
        rows=rows,
        full_bar=_FULL_BAR,
        sample=result["sample"],
        seed=result["seed"],
        versions=result["versions"],
        number=lambda value: "\u2013" if value is None else f"{value:.3g}",
    )


def times_floor(found: Mapping[str, Any]) -> float | None:
    """How many times its floor a metric is: above 1 where it stands clear; None without a floor, or with one of 0.

    For a similarity, which drift lowers, it is the other way round: floor / value.
    """
    value, floor = found["value"], found["floor"]
    if value is None or floor is None:
        return None
    part, whole = (floor, value) if found["direction"] == "higher_is_more_alike" else (value, floor)
    return float(part / whole) if whole > 0 else None
