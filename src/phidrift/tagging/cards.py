"""Model cards: what a checkpoint was trained on, who may have it, and how it scored."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_text
from phidrift.core.models import describe
from phidrift.tagging.alignment import label_names

if TYPE_CHECKING:
    from phidrift.tagging.checkpoints import TrainingSet
    from phidrift.tagging.training_state import Training

_SCORES = "## Scores"
_ADD = "`phidrift evaluate --models DIR --card` adds them"
_NO_SCORES = "- Scores: none yet"
_COLUMNS = ("f1", "f1_low", "f1_high", "precision", "recall", "support", "token_f1", "overlap_f1")
_HEADER = f"| corpus | {' | '.join(name.replace('_', ' ') for name in _COLUMNS)} |"


def model_card(training_set: "TrainingSet", training: "Training", loss: float) -> str:
    """The card of a new checkpoint: its data with their hash and licences, its settings, how its spans are decoded."""
    entity, settings = training.entity, training.settings
    base = describe(settings.model)
    lines = [
        "---",
        "library_name: transformers",
        "pipeline_tag: token-classification",
        "license: other",
        f"restricted: {str(training_set.restricted).lower()}",
        "---",
        f"# {entity} tagger, trained on {training_set.name}",
        "",
        f"Marks {entity} spans (BIO: {', '.join(label_names(entity))}). Made to measure what a training corpus costs a",
        "tagger. Not fit for clinical use without an evaluation on the notes that it is meant for.",
        "",
        f"- Training set: `{training_set.name}`, SHA-256 of its file `{training_set.sha256}`",
        f"- Documents: {len(training_set.documents)}, {training_set.positives} with {entity}",
    ]
    for corpus, count in training_set.sources.items():
        licence = training_set.licences.get(corpus, "not stated")
        lines.append(f"  - {corpus}: {count}, licence: {licence}")
    if training_set.stand_in:
        lines.append(
            "- **Stand-ins**: documents that imitate a real corpus; it has learnt no real clinical text."
        )
    if training_set.restricted:
        lines.append("- **Restricted**: trained on documents that may not be passed on; nor may this model.")
    else:
        lines.append(
            "- Not marked as restricted: whether it may be passed on is for the licences above to say."
        )
    weights = f", SHA-256 of its weights `{base['sha256']}`" if base["sha256"] else ""
    scored = f"- Scores: {training_set.scores}" if training_set.scores else f"{_NO_SCORES}, {_ADD}"
    lines += [
        f"- Base model: `{settings.model}`, licence: {base['licence'] or 'see its own card'}{weights}",
        f"- Tagger `{training.tagger}`, seed {training.seed}, AdamW",
        *(f"  - {name}: {value}" for name, value in asdict(settings).items() if name != "model"),
        f"- Training loss, mean of the last epoch: {loss:.4f} nats a token of the model",
        scored,
        "",
        "phidrift takes the likeliest label sequence that is valid IOB2 (Viterbi), over windows of a long text.",
        "A plain `pipeline` takes the likeliest label of each token by itself, so a few of its spans may differ.",
    ]
    return "\n".join(lines) + "\n"


def write_scores(checkpoint: Path, corpus: str, scores: Mapping[str, Any]) -> None:
    """Puts the scores on one corpus into the model card of a checkpoint, under "## Scores".

    One row a corpus, sorted by name; a second call for a corpus replaces its row. The line of a new card which says
    that there are no scores yet goes; all else stays, and a checkpoint without a card gets one that
    holds the scores alone.

    Args:
        checkpoint: the folder, with README.md.
        corpus: what the tagger was tested on.
        scores: those of metrics/tagging/SET.json for one entity and target: shares from 0 to 1, `support` in spans. One
            that is missing or None is shown as "-".

    Raises:
        PhidriftError: no such folder, or its card is not UTF-8.
    """
    if not checkpoint.is_dir():
        raise PhidriftError("no checkpoint here", where=checkpoint)
    path = checkpoint / "README.md"
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    except UnicodeDecodeError as error:
        raise PhidriftError("not UTF-8", where=path, mend="save the card as UTF-8") from error
    lines = [line for line in lines if not line.startswith(_NO_SCORES)]
    if _HEADER in lines:
        start = lines.index(_HEADER)
    else:
        gap = [""] if lines else []
        lines += [*gap, _SCORES, "", "Strict: a span counts where both ends and the entity agree.", ""]
        start = len(lines)
    end = start
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    rows = {_first_cell(row): row for row in lines[start + 2 : end]}
    row = _row(corpus, scores)
    rows[_first_cell(row)] = row
    table = [_HEADER, "|" + "---|" * (1 + len(_COLUMNS)), *(rows[name] for name in sorted(rows))]
    write_text(path, "\n".join([*lines[:start], *table, *lines[end:]]) + "\n")


def _row(corpus: str, scores: Mapping[str, Any]) -> str:
    # A bar or a line end in a name would end the cell.
    name = " ".join(corpus.split()).replace("|", "\\|")
    return f"| {name} | {' | '.join(_cell(scores.get(column)) for column in _COLUMNS)} |"


def _first_cell(row: str) -> str:
    return row.replace("\\|", "\0").split("|")[1].strip().replace("\0", "\\|")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
