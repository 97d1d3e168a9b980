"""A comparison in words and as a table on the terminal."""

from collections.abc import Mapping
from typing import Any

_FEW_DOCUMENTS = 10
_WIDTH = 116  # characters where the output is no terminal
_CLEAR = {None: "-", True: "yes", False: "no"}


def print_comparison(result: Mapping[str, Any]) -> None:
    """Prints the table of metrics, the extras, and what has to be known beside them."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDTH
    table = Table(title=Text(title(result)), title_justify="left", box=box.SIMPLE, pad_edge=False)
    for column in ("metric", "value", "interval", "floor", "reference", "candidate", "clear"):
        table.add_column(column, justify="left" if column == "metric" else "right", no_wrap=True)
    family = None
    for name, found in result["metrics"].items():
        if found["family"] != family:
            family = found["family"]
            table.add_section()
            table.add_row(Text(str(family), style="bold"))
        interval = "-" if found["interval"] is None else " to ".join(number(x) for x in found["interval"])
        own = (number(found["reference"]), number(found["candidate"]))
        clear = _CLEAR[found["clear"]]
        table.add_row(f"  {name}", number(found["value"]), interval, number(found["floor"]), *own, clear)
    console.print(table)
    reasons = {found["reason"] for found in result["metrics"].values() if found["reason"]}
    for reason in sorted(reasons):
        names = [name for name, found in result["metrics"].items() if found["reason"] == reason]
        console.print(f"{', '.join(names)}: {reason}")
    for line in (*extra_lines(result), *explanations(result)):
        console.print(line)


def title(result: Mapping[str, Any]) -> str:
    """Which corpus is compared with which."""
    return f"Drift of {result['sample']['candidate']['name']} from {result['sample']['reference']['name']}"


def extra_lines(result: Mapping[str, Any]) -> list[str]:
    """The extras, marked as such."""
    extras = result["extras"]
    if extras is None:
        return []
    reasons = extras["reasons"]
    lines = ["Extras, no part of the 25 metrics:"]
    classifier = extras["classifier"]
    if classifier is None:
        lines.append(f"  a classifier between them: {reasons['classifier']}")
    else:
        bounds = " to ".join(number(bound) for bound in classifier["interval"])
        lines.append(
            f"  a classifier tells their documents apart with AUC {number(classifier['auc'])} ({bounds})"
        )
        for side in ("reference", "candidate"):
            words = ", ".join(each["word"] for each in classifier[f"{side}_words"])
            lines.append(
                f"    what speaks for {result['sample'][side]['name']}: {words or 'no word that may be shown'}"
            )
    for name, what in (
        ("frontier", "divergence frontier score (1: alike)"),
        ("mmd_p", "permutation p of mmd"),
    ):
        found = reasons[name] if extras[name] is None else number(extras[name])
        lines.append(f"  {what}: {found}")
    if extras["entities"] is None:
        lines.append(f"  mentions of entities: {reasons['entities']}")
        return lines
    for entity, found in extras["entities"].items():
        lines.append(
            f"  {entity}: {found['reference_mentions']} and {found['candidate_mentions']} mentions, length "
            f"{number(found['reference_length'])} and {number(found['candidate_length'])} tokens, per 100 tokens "
            f"{number(found['reference_density'])} and {number(found['candidate_density'])},"
        )
        lines.append(
            f"    shared strings {number(found['surface_jaccard'])}, mentions known to the reference "
            f"{number(found['seen_share'])}, context JSD {number(found['context_jsd'])}"
        )
    return lines


def explanations(result: Mapping[str, Any]) -> list[str]:
    """What a reader has to know beside the table."""
    sample = result["sample"]
    clear = [name for name, found in result["metrics"].items() if found["clear"]]
    judged = [name for name, found in result["metrics"].items() if found["clear"] is not None]
    lines = [
        f"{len(clear)} of {len(judged)} metrics stand clear of the noise floor, which is what two samples of one "
        "corpus differ by.",
        f"{sample['repeats']} samples of {sample['tokens'] or 0} tokens, whole documents; the interval is over these, "
        "not over populations. vocab_overlap is higher where corpora are more alike, all others where they are less.",
    ]
    few = [
        count
        for side in ("reference", "candidate")
        for count in sample[side]["drawn_documents"].values()
        if count is not None and count < _FEW_DOCUMENTS
    ]
    if few:
        lines.append(
            f"Some samples hold only {min(few):.3g} documents on average: with under {_FEW_DOCUMENTS} "
            "the floor says little, and parts of one corpus may stand clear."
        )
    if min(sample["repeats"], sample["floor_pairs"]) < 40:
        lines.append("Fewer than 40 repeats: a quick look, with rough floors.")
    lines += [
        f"The {side}, {sample[side]['name']}, is a stand-in: this says nothing about the real corpus."
        for side in ("reference", "candidate")
        if sample[side]["stand_in"]
    ]
    lines += [
        f"The {side}, {sample[side]['name']}, is restricted: so is what this says of it, its words above all."
        for side in ("reference", "candidate")
        if sample[side]["restricted"]
    ]
    models = [each for each in (result["versions"]["encoder"], result["versions"]["lm"]) if each]
    small = [each["name"] for each in models if str(each["name"]).startswith("embedded/")]
    if small:
        lines.append(f"Computed with small embedded models: {', '.join(small)}.")
    return lines


def number(value: float | None) -> str:
    """Three significant digits, `-` for None."""
    return "-" if value is None else f"{value:.3g}"
