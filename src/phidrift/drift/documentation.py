"""The table of metrics in docs/drift-metrics.md, made from the registry.

When the registry has changed, write the table anew, in the root of the project:

    python -m phidrift.drift.documentation
"""

from pathlib import Path

from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_text
from phidrift.drift.registry import METRICS, Metric

PAGE = Path("docs/drift-metrics.md")
START, END = "<!-- metrics, from the registry: start -->", "<!-- metrics, from the registry: end -->"
_HEAD = (
    "name",
    "family",
    "kind",
    "what it is",
    "points",
    "range",
    "unit",
    "with size",
    "counted in",
    "source",
)


def metrics_table() -> str:
    """All registered metrics as a Markdown table, one row each, in the order of the registry."""
    rows = [_HEAD, ("---",) * len(_HEAD), *map(_row, METRICS.values())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(metric: Metric) -> tuple[str, ...]:
    low, high = metric.range
    return (
        f"`{metric.name}`",
        metric.family,
        metric.kind,
        metric.definition,
        metric.direction.replace("_", " "),
        f"{low} up" if high is None else f"{low} to {high:.5g}",
        metric.unit,
        metric.with_size,
        metric.needs,
        metric.source,
    )


def with_table(page: str) -> str:
    """A page with the table between its two marks made anew; the rest stays as it is.

    Raises:
        PhidriftError: the marks aren't there once each, in turn.
    """
    if page.count(START) != 1 or page.count(END) != 1 or page.index(START) > page.index(END):
        raise PhidriftError("no single place for the table", mend=f"put it between {START} and {END}")
    before, after = page.split(START)[0], page.split(END)[1]
    return f"{before}{START}\n\n{metrics_table()}\n{END}{after}"


def main() -> None:
    """Writes the table into the page anew."""
    write_text(PAGE, with_table(PAGE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
