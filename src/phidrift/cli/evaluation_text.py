"""An evaluation as tables on the terminal, with what has to be known beside them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_WIDTH = 116  # characters where the output is no terminal
_STRICT = ("precision", "recall", "f1")
_FEW_UNITS = 20
_LABELS = 10  # of those without an entity, how many are named


def print_evaluation(result: Mapping[str, Any], checks: Sequence[Mapping[str, Any]] | None) -> None:
    """Prints the scores, the share of documents with a miss, seqeval's scores if there are, and the notes."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDTH

    def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        console.print(title, soft_wrap=True)
        table = Table(box=box.SIMPLE, pad_edge=False)
        for number, column in enumerate(columns):
            table.add_column(column, justify="right" if number else "left", no_wrap=True)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)

    entities = result["entities"]
    show(
        f"Strict: both ends of a span are right, on {result['corpus']['name']}{_mark(result)}",
        ("entity", "gold spans", *("F1" if name == "f1" else name for name in _STRICT)),
        [[e, str(v["support"]), *(_bounded(v, name) for name in _STRICT)] for e, v in entities.items()],
    )
    kinds = ("token", "overlap")
    show(
        "Lenient: precision, recall and F1 over tokens that spans touch, and of spans that overlap",
        ("entity", *(f"{kind} {short}" for kind in kinds for short in ("P", "R", "F1"))),
        [[e, *(_number(v[f"{kind}_{n}"]) for kind in kinds for n in _STRICT)] for e, v in entities.items()],
    )
    if result["training"] is not None:
        show(
            "Strict recall on strings that the training corpus holds as this entity, and on all others",
            ("entity", "seen", "unseen"),
            [[e, *(_part(v[part]) for part in ("seen", "unseen"))] for e, v in entities.items()],
        )
    missed = {e: v["missed"] for e, v in entities.items()} | {"all four together": result["together"]}
    show(
        "Documents that keep at least one PHI token which was not marked, of those that hold any",
        ("entity", "share", "documents", "tokens not marked"),
        [
            [e, _bounded(v, "share"), _of(v, "documents"), _of(v, "tokens")]
            if v["share"] is not None
            else [e, "-", "-", "-"]
            for e, v in missed.items()
        ],
    )
    if checks is not None:
        show(
            "Cross-check: strict precision, recall, F1 by phidrift and by seqeval (mode strict, scheme IOB2)",
            ("entity", "tagger", "phidrift", "seqeval", "agree"),
            [
                [
                    check["entity"],
                    check["run"],
                    *(
                        " ".join(f"{check[by][name] or 0:.4f}" for name in _STRICT)
                        for by in ("ours", "seqeval")
                    ),
                    "yes" if check["agrees"] else "NO",
                ]
                for check in checks
            ],
        )
    for line in notes(result):
        console.print(line, soft_wrap=True)


def notes(result: Mapping[str, Any]) -> Iterator[str]:
    """What has to be known beside the figures, a line each."""
    for entity in result["not_covered"]:
        yield f"{entity}: not covered, there is no tagger for it; together, its PHI counts as not marked"
    for entity, values in result["entities"].items():
        for reason in filter(None, (result["taggers"][entity]["reason"], values.get("reason"))):
            yield f"{entity}: {reason}"
        if len(values["runs"]) > 1:
            listed = ", ".join(f"{run['name']} {_number(run['f1'])}" for run in values["runs"])
            yield f"{entity}: means of {len(values['runs'])} taggers; their F1: {listed}"
    if result["together"].get("reason"):
        yield f"all four together: {result['together']['reason']}"
    yield from _resampling_notes(result)
    training = result["training"]
    if training is None:
        yield "seen and unseen: name what the taggers learnt from with --training"
    else:
        for name, what in (("texts_in_test", "the same text as"), ("groups_in_test", "the same group as")):
            if training[name]:
                count = f"{training[name]} of {result['documents']} documents have {what} a training document"
                yield f"WARNING: {count}: these figures flatter the taggers"
    of_train = result["corpus"]["of_train_split"]
    if of_train:
        yield f"{of_train} documents are marked as of a train split: make sure that no tagger has learnt from them"
    yield from _label_notes(result)
    left_out = result["corpus"]["left_out"]
    if any(left_out.values()):
        yield f"left out: {left_out['documents']} documents and {left_out['spans']} spans that could not be read"
    if result["corpus"]["stand_in"]:
        yield "† a stand-in: its figures say nothing about real notes"
    if result["corpus"]["restricted"]:
        yield "This corpus is restricted: look at the figures before you pass them on"
    held_back = [entity for entity, about in result["taggers"].items() if about["restricted"]]
    if held_back:
        yield f"Restricted taggers, not to be passed on: {', '.join(held_back)}"


def _label_notes(result: Mapping[str, Any]) -> Iterator[str]:
    unmapped = list(result["corpus"]["unmapped_labels"].items())
    if unmapped:
        listed = ", ".join(f"{label} ({count})" for label, count in unmapped[:_LABELS])
        more = f", and {len(unmapped) - _LABELS} more labels" if len(unmapped) > _LABELS else ""
        yield f"Labels without an entity, whose spans count nowhere: {listed}{more}"
    if not set(result["corpus"]["mapped_entities"]) & set(result["entities"]):
        yield (
            "WARNING: no label of the corpus stands for an entity that has a tagger: say with --label-map which "
            "label is which entity"
        )


def _resampling_notes(result: Mapping[str, Any]) -> Iterator[str]:
    resampled = result["resampled"]
    if resampled["resamples"]:
        count = f"{resampled['units']} {resampled['unit']}"
        of = f" ({result['documents']} documents)" if resampled["unit"] == "groups" else ""
        yield f"Intervals: 95 %, bootstrap over {count}{of}, {resampled['resamples']} resamples"
        if resampled["units"] < _FEW_UNITS:
            yield f"{count} are few: the intervals are rough, and too narrow rather than too wide"
    if "note" in resampled:
        yield str(resampled["note"])
    entities = list(result["entities"].values())
    missed = [values["missed"] for values in entities] + [result["together"]]
    of_missed = {values.get("interval") for values in missed if values["share"] not in (0.0, 1.0)}
    at_ends = {values.get("interval") for values in missed if values["share"] in (0.0, 1.0)}
    at_ends |= {values[f"{name}_interval"] for values in entities for name in _STRICT}
    if "Wilson" in of_missed:
        yield "Documents with a miss: Wilson's method, over the documents that hold the entity"
    if "Wilson over groups" in of_missed:
        yield (
            "Documents with a miss: too few groups with or without one for a bootstrap, so Wilson's method over "
            "groups, as if the documents of a group were all alike: an approximation"
        )
    if at_ends & {"rule of three", "Wilson"}:
        yield (
            "A bootstrap has no width at 0 and 1: there, intervals are by the rule of three (0) and by Wilson's "
            "method (1), over the documents or groups that hold the entity"
        )


def _mark(result: Mapping[str, Any]) -> str:
    return " †" if result["corpus"]["stand_in"] else ""


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _bounded(values: Mapping[str, Any], name: str) -> str:
    """A value with its interval."""
    low, high = ("low", "high") if name == "share" else (f"{name}_low", f"{name}_high")
    if values[name] is None or values[low] is None:
        return _number(values[name])
    return f"{values[name]:.3f} ({values[low]:.3f} to {values[high]:.3f})"


def _part(values: Mapping[str, Any]) -> str:
    """A recall with its support."""
    return "-" if values["recall"] is None else f"{values['recall']:.3f} of {values['support']}"


def _of(values: Mapping[str, Any], name: str) -> str:
    # A mean over runs may be a fraction.
    return f"{values[f'{name}_missed']:g} of {values[name]}"
