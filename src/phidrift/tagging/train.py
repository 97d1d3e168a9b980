"""Fine-tuning one tagger: an encoder with a BIO head for one entity, on one training set."""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.core.models import locate
from phidrift.core.progress import progress
from phidrift.tagging.alignment import (
    IGNORED,
    bio_labels,
    cut_windows,
    label_names,
    load_tokenizer,
    special_ids,
    tokenize,
    unrepresentable,
)
from phidrift.tagging.quiet import quiet_transformers


@dataclass(frozen=True, slots=True)
class TaggerSettings:
    """What to fine-tune and how; `model` is a name for core.models.locate."""

    model: str
    max_length: int  # model tokens a window, special tokens counted
    batch_size: int  # windows
    epochs: int
    learning_rate: float
    warmup_ratio: float
    weight_decay: float


@dataclass(frozen=True, slots=True)
class TrainedTagger:
    """What a training did: mean loss of the last epoch (nats a piece), steps, windows, spans no labelling can say."""

    loss: float
    steps: int
    windows: int
    spans: int
    unrepresentable_spans: int


def train_tagger(
    documents: Sequence[Document],
    entity: str,
    settings: TaggerSettings,
    *,
    seed: int,
    threads: int,
    folder: Path,
    name: str,
) -> TrainedTagger:
    """Fine-tunes and writes a plain transformers checkpoint (weights, config, tokenizer) into `folder`.

    AdamW with linear warm-up and decay, in bf16 where the hardware computes it, else in 32-bit floats; the
    weights are kept in 32-bit floats. The same documents, settings, seed and number of threads give the same
    bytes on the same kind of machine.

    Args:
        documents: labelled; spans of other entities are ignored.
        entity: the one to learn.
        settings: see TaggerSettings.
        seed: of the new head, of dropout and of the order of windows.
        threads: CPU threads of torch, for this process from here on.
        folder: made if missing.
        name: of the training set, for messages.

    Raises:
        PhidriftError: names the set if the loss is not finite, memory runs out, or max_length is wrong for the
            model.
    """
    import torch
    from transformers import AutoModelForTokenClassification
    from transformers.trainer_utils import enable_full_determinism

    torch.set_num_threads(threads)
    enable_full_determinism(seed)
    # A debugging aid of deterministic mode, which costs time at every step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    names = label_names(entity)
    place = locate(settings.model)
    tokenizer = load_tokenizer(place)
    rows, spans, unsaid = _windows(documents, entity, tokenizer, settings, name)
    with quiet_transformers():
        model = AutoModelForTokenClassification.from_pretrained(
            place,
            dtype=torch.float32,
            num_labels=len(names),
            id2label=dict(enumerate(names)),
            label2id={label: number for number, label in enumerate(names)},
            ignore_mismatched_sizes=True,  # a base that has a head for something else gets a new one
        )
    positions = getattr(model.config, "max_position_embeddings", None) or settings.max_length
    if settings.max_length > positions:
        raise PhidriftError(f"{settings.model} has {positions} positions", where="max_length")
    try:
        loss, steps = _fit(model, tokenizer, rows, settings, seed, name)
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        mend = "lower tagging.taggers.NAME.batch_size or max_length"
        raise PhidriftError("out of memory while training", where=name, mend=mend) from error
    tokenizer.model_max_length = settings.max_length
    with quiet_transformers():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return TrainedTagger(loss, steps, len(rows), spans, unsaid)


def _windows(
    documents: Sequence[Document], entity: str, tokenizer: Any, settings: TaggerSettings, name: str
) -> tuple[list[dict[str, Any]], int, int]:
    """(encoded windows, gold spans, those that no labelling can say)."""
    before, after = special_ids(tokenizer)
    limit = settings.max_length - len(before) - len(after)
    if limit < 1:
        raise PhidriftError(f"{settings.max_length} leaves no room for text", where="max_length")
    rows = []
    spans = unsaid = 0
    for document, pieces in zip(documents, tokenize(tokenizer, [d.text for d in documents]), strict=True):
        gold = document.entity_spans(entity)
        labels = bio_labels(pieces, gold)
        spans += len(gold)
        unsaid += unrepresentable(pieces, gold)
        for window in cut_windows(document.text, pieces, limit):
            if window.first == window.last:
                continue
            owned = [
                label if window.owned_first <= number < window.owned_last else IGNORED
                for number, label in enumerate(labels[window.first : window.last], start=window.first)
            ]
            ids = [*before, *pieces.ids[window.first : window.last], *after]
            rows.append(
                {
                    "input_ids": ids,
                    "attention_mask": [1] * len(ids),
                    "labels": [*[IGNORED] * len(before), *owned, *[IGNORED] * len(after)],
                    "length": len(ids),
                }
            )
    if not rows:
        raise PhidriftError("no text to learn from", where=name)
    return rows, spans, unsaid


def _fit(
    model: Any, tokenizer: Any, rows: list[dict[str, Any]], settings: TaggerSettings, seed: int, name: str
) -> tuple[float, int]:
    """Runs the training; returns (mean loss of the last epoch, steps)."""
    import torch
    from datasets import Dataset
    from transformers import (
        DataCollatorForTokenClassification,
        PrinterCallback,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    on_gpu = torch.cuda.is_available()
    bf16 = torch.cuda.is_bf16_supported() if on_gpu else torch.cpu._is_avx512_bf16_supported()
    steps = settings.epochs * math.ceil(len(rows) / settings.batch_size)

    with progress(f"train {name}", steps) as advance, tempfile.TemporaryDirectory() as scratch:

        class Watch(TrainerCallback):  # type: ignore[misc]
            def on_step_end(self, *_: Any, **__: Any) -> None:
                advance(1)

            def on_log(self, *_: Any, logs: dict[str, float], **__: Any) -> None:
                if not math.isfinite(logs.get("loss", 0.0)):
                    mend = "lower tagging.taggers.NAME.learning_rate"
                    raise PhidriftError("the loss is not finite", where=name, mend=mend)

        arguments = TrainingArguments(
            output_dir=scratch,
            per_device_train_batch_size=settings.batch_size,
            num_train_epochs=settings.epochs,
            learning_rate=settings.learning_rate,
            warmup_steps=settings.warmup_ratio,
            weight_decay=settings.weight_decay,
            optim="adamw_torch_fused",
            bf16=bf16,
            use_cpu=not on_gpu,
            train_sampling_strategy="group_by_length",
            seed=seed,
            full_determinism=True,
            save_strategy="no",
            logging_strategy="epoch",
            logging_nan_inf_filter=False,
            report_to="none",
            disable_tqdm=True,
        )
        trainer = Trainer(
            model,
            arguments,
            data_collator=DataCollatorForTokenClassification(tokenizer),
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
            callbacks=[Watch()],
        )
        trainer.remove_callback(PrinterCallback)  # prints to the standard output
        trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return float(losses[-1]), int(trainer.state.global_step)


def _is_out_of_memory(error: Exception) -> bool:
    import torch

    # torch raises a plain RuntimeError where the memory of the CPU runs out.
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in str(error)
