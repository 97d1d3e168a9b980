"""`phidrift evaluate`: what the taggers of a folder score on any labelled corpus."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phidrift.cli.corpora import EncodingOption, FormatOption, GroupFieldOption, TextFieldOption
from phidrift.cli.outputs import refuse_overwriting

if TYPE_CHECKING:
    from phidrift.core.document import Document
    from phidrift.tagging.corpus_scores import Predictions, Resampling
    from phidrift.tagging.model_folders import EntityTaggers

_SCORES = (
    *(f"{name}{end}" for name in ("precision", "recall", "f1") for end in ("", "_low", "_high", "_interval")),
    *("support", "tp", "fp", "fn"),
    *("token_precision", "token_recall", "token_f1", "overlap_precision", "overlap_recall", "overlap_f1"),
)
_MISSED = ("share", "low", "high", "interval", "documents", "documents_missed", "tokens", "tokens_missed")
COLUMNS = (
    *("entity", "covered", *_SCORES),
    *(f"{part}_{name}" for part in ("seen", "unseen") for name in ("recall", "support")),
    *(f"missed_{name}" for name in _MISSED),
    "reason",
)


_BOOTSTRAP_HELP = (
    "Resamples of the intervals; with 0, those that need no bootstrap stay (Wilson's, the rule of three)."
)


def evaluate(
    models: Annotated[Path, typer.Option(help="A folder that phidrift train wrote, or a checkpoint.")],
    corpus: Annotated[Path, typer.Option(help="Labelled documents that no tagger has learnt from.")],
    format_name: FormatOption = None,
    text_field: TextFieldOption = None,
    group_field: GroupFieldOption = None,
    encoding: EncodingOption = "utf-8",
    label_map: Annotated[
        Path | None,
        typer.Option(help="YAML with the corpus' labels under each entity; replaces the ready map."),
    ] = None,
    training: Annotated[
        Path | None, typer.Option(help="What the taggers learnt from, to tell seen strings from unseen ones.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the corpus; without, that of its path.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything here.")] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write a row an entity here.")] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help=_BOOTSTRAP_HELP)] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 42,
    threads: Annotated[
        int | None, typer.Option(min=1, help="CPU threads; without, as many as there are cores.")
    ] = None,
    cross_check: Annotated[
        bool, typer.Option("--cross-check", help="Compute the strict scores by seqeval too, and compare.")
    ] = False,
    card: Annotated[
        bool, typer.Option("--card", help="Write the scores into each checkpoint's model card.")
    ] = False,
) -> None:
    """Score taggers on labelled documents: strict, by token and by overlap, and how many documents keep PHI."""
    from dataclasses import replace

    from phidrift.cli.evaluation_inputs import own_name, read_corpus, read_training
    from phidrift.cli.evaluation_text import print_evaluation
    from phidrift.core.files import write_csv, write_json
    from phidrift.core.progress import progress
    from phidrift.corpora.files import safe_name
    from phidrift.corpora.label_maps import read_label_map
    from phidrift.corpora.reading import corpus_at
    from phidrift.corpora.source import ReadOptions
    from phidrift.tagging.corpus_scores import Resampling, check_labelled, corpus_scores, predict_corpus
    from phidrift.tagging.model_folders import find_taggers

    inputs = [path for path in (models, corpus, label_map, training) if path is not None]
    refuse_overwriting(inputs, json_file, csv_file)
    taggers = find_taggers(models)
    labels = None if label_map is None else read_label_map(label_map)
    options = ReadOptions(text_field, group_field, encoding)
    about, documents = read_corpus(replace(corpus_at(corpus, format_name, options), labels=labels))
    about["name"] = safe_name(name) if name else own_name(about["name"], corpus)
    check_labelled(documents, corpus)
    learnt = None
    if training is not None:
        learnt = read_training(training, corpus, format_name, options, labels)
        check_labelled(learnt, training)
    _limit_threads(threads)
    workload = len(documents) * sum(len(of.checkpoints) or 1 for of in taggers.values())
    with progress("evaluate", workload) as advance:
        predictions = predict_corpus(taggers, documents, advance)
    resampling = Resampling(bootstrap, seed)
    result = {
        "corpus": about,
        "taggers": {entity: _about(of) for entity, of in taggers.items()},
        **corpus_scores(documents, predictions, resampling, learnt),
        "versions": _versions(),
    }
    checks = _cross_checked(documents, predictions) if cross_check else None
    print_evaluation(result, checks)
    if json_file is not None:
        write_json(json_file, result)
    if csv_file is not None:
        write_csv(csv_file, COLUMNS, _rows(result))
    if card:
        _write_cards(about["name"], taggers, documents, predictions, resampling)
    if checks and not all(check["agrees"] for check in checks):
        raise typer.Exit(1)


def _limit_threads(threads: int | None) -> None:
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def _about(of: "EntityTaggers") -> dict[str, Any]:
    """What an entity's taggers are, as far as their folder says."""
    training = of.training or {}
    return {
        "checkpoints": list(of.checkpoints),
        "reason": of.reason,
        "restricted": of.restricted,
        **{name: training.get(name) for name in ("set", "sources", "documents", "positives", "sha256")},
    }


def _versions() -> dict[str, str]:
    import importlib.metadata

    names = ("phidrift", "numpy", "seqeval", "tokenizers", "torch", "transformers")
    return {name: importlib.metadata.version(name) for name in names}


def _cross_checked(documents: "list[Document]", predictions: "Predictions") -> list[dict[str, Any]]:
    """Strict scores of every run by phidrift and by seqeval."""
    from phidrift.tagging.cross_check import agrees, load_seqeval, seqeval_scores
    from phidrift.tagging.evaluate import strict_scores
    from phidrift.tagging.scores import bounds, run_counts

    metric = load_seqeval()
    found = []
    for entity, runs in predictions.items():
        gold = [bounds(document.entity_spans(entity)) for document in documents]
        for name, predicted in runs.items():
            ours = strict_scores(run_counts(gold, predicted))
            theirs = seqeval_scores(metric, gold, predicted)
            found.append(
                {
                    "entity": entity,
                    "run": name,
                    "ours": ours,
                    "seqeval": theirs,
                    "agrees": agrees(ours, theirs),
                }
            )
    return found


def _write_cards(
    corpus: str,
    taggers: "Mapping[str, EntityTaggers]",
    documents: "list[Document]",
    predictions: "Predictions",
    resampling: "Resampling",
) -> None:
    """Each checkpoint's own scores into its own card."""
    from phidrift.tagging.cards import write_scores
    from phidrift.tagging.corpus_scores import corpus_scores

    for entity, of in taggers.items():
        for name, checkpoint in of.checkpoints.items():
            alone = corpus_scores(documents, {entity: {name: predictions[entity][name]}}, resampling)
            write_scores(checkpoint, corpus, alone["entities"][entity])


def _rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row an entity, one for all four together, and one for each entity without a tagger."""
    for entity, values in result["entities"].items():
        parts = {
            f"{part}_{name}": values[part][name]
            for part in ("seen", "unseen")
            for name in ("recall", "support")
        }
        reasons = (values.get("reason"), values["missed"].get("reason"))
        reason = "; ".join(each for each in reasons if each) or None
        yield {
            "entity": entity,
            "covered": True,
            **values,
            **parts,
            **_missed(values["missed"]),
            "reason": reason,
        }
    together = result["together"]
    yield {"entity": "together", **_missed(together), "reason": together.get("reason")}
    for entity in result["not_covered"]:
        yield {"entity": entity, "covered": False, "reason": "no tagger in the folder of models"}


def _missed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"missed_{name}": values.get(name) for name in _MISSED}
