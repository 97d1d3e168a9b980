"""Fine-tuning one tagger: an encoder with a BIO head for one entity, on one training set."""

import logging
import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.core.models import loading, locate
from phidrift.tagging.alignment import check_vocabulary, label_names, load_tokenizer
from phidrift.tagging.dropout import quick_dropout
from phidrift.tagging.examples import Examples, training_examples
from phidrift.tagging.quiet import quiet_transformers
from phidrift.tagging.seals import seal, sealed
from phidrift.tagging.vocabulary import decay_factor, narrow_vocabulary

LOG = logging.getLogger(__name__)
# Writing the state of a 22M model takes about half a second, so an epoch of a few seconds isn't worth it.
SECONDS_BETWEEN_SAVES = 60.0


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
    """What a training did.

    Attributes:
        loss: mean of the last epoch, in nats a piece.
        steps: of the optimiser, in all epochs.
        windows: stretches of text that were learnt from in each epoch.
        spans: gold spans of the entity.
        unrepresentable_spans: those that no labelling can say exactly.
        cut_spans: those that no single window learns whole (see tagging.examples).
    """

    loss: float
    steps: int
    windows: int
    spans: int
    unrepresentable_spans: int
    cut_spans: int = 0


def train_tagger(
    documents: Sequence[Document],
    entity: str,
    settings: TaggerSettings,
    *,
    seed: int,
    threads: int,
    folder: Path,
    name: str,
    state: Path | None = None,
    advance: Callable[[int], None] | None = None,
) -> TrainedTagger:
    """Fine-tunes and writes a plain transformers checkpoint (weights, config, tokenizer) into `folder`.

    AdamW with linear warm-up and decay, in bf16 where the hardware computes it, else in 32-bit floats; the
    weights are kept in 32-bit floats. The same documents, settings, seed and number of threads give the same
    bytes on the same kind of machine, whether or not the training was interrupted and went on.

    Args:
        documents: labelled; spans of other entities are ignored.
        entity: the one to learn.
        settings: see TaggerSettings.
        seed: of the new head, of dropout and of the order of windows.
        threads: CPU threads of torch, for this process from here on.
        folder: made if missing.
        name: of the training set, for messages.
        state: a folder for what an interrupted training goes on from, written at the end of an epoch but at most once
            a minute; what an earlier call with the same arguments left there is used. None: nothing is kept.
        advance: called with documents just read, `epochs` times each (as of core.progress).

    Raises:
        PhidriftError: names the set if the loss is not finite or memory runs out; the model can't be loaded, or
            max_length is wrong for it.
    """
    import torch
    from transformers import AutoModelForTokenClassification

    torch.set_num_threads(threads)
    _be_deterministic(seed)
    names = label_names(entity)
    place = locate(settings.model)
    tokenizer = load_tokenizer(place)
    examples = training_examples(documents, entity, tokenizer, settings.max_length)
    if not examples.rows:
        raise PhidriftError("no text to learn from", where=name)
    with quiet_transformers(), loading(settings.model):
        model = AutoModelForTokenClassification.from_pretrained(
            place,
            dtype=torch.float32,
            num_labels=len(names),
            id2label=dict(enumerate(names)),
            label2id={label: number for number, label in enumerate(names)},
            ignore_mismatched_sizes=True,  # a base that has a head for something else gets a new one
            # On a CPU, torch's own attention drops out with torch's own, slow draws.
            attn_implementation=None if precision()[0] else "eager",
        )
    check_vocabulary(tokenizer, model, settings.model)
    positions = getattr(model.config, "max_position_embeddings", None) or settings.max_length
    if settings.max_length > positions:
        raise PhidriftError(f"{settings.model} has {positions} positions", where="max_length")
    read = _Reader(len(documents) * settings.epochs, advance)
    with tempfile.TemporaryDirectory() if state is None else nullcontext(state) as kept:
        try:
            loss, steps = _fit(
                model,
                tokenizer,
                examples,
                settings,
                seed,
                name,
                Path(kept),
                read,
            )
        except (MemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            mend = "lower its batch_size or max_length"
            raise PhidriftError("out of memory while training", where=name, mend=mend) from error
    tokenizer.model_max_length = settings.max_length
    # How this process came by the tokenizer is no part of it, and differs from one environment to the next.
    for trace in ("is_local", "local_files_only"):
        tokenizer.init_kwargs.pop(trace, None)
    with quiet_transformers():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return TrainedTagger(
        loss, steps, len(examples.rows), examples.spans, examples.unrepresentable, examples.cut
    )


@dataclass
class _Reader:
    """Tells how many documents a share of all steps amounts to."""

    documents: int
    advance: Callable[[int], None] | None
    done: int = 0

    def reach(self, share: float) -> None:
        now = round(share * self.documents)
        if self.advance is not None and now > self.done:
            self.advance(now - self.done)
        self.done = now


def _be_deterministic(seed: int) -> None:
    import torch
    from transformers import set_seed

    # transformers' enable_full_determinism also makes every CUDA launch wait, which these settings do without.
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
    os.environ["FLASH_ATTENTION_DETERMINISTIC"] = "1"
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    # A debugging aid of deterministic mode, which costs time at every step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    set_seed(seed)


def _fit(
    model: Any,
    tokenizer: Any,
    examples: Examples,
    settings: TaggerSettings,
    seed: int,
    name: str,
    state: Path,
    read: _Reader,
) -> tuple[float, int]:
    """Runs the training, from its last whole state on; returns (mean loss of the last epoch, steps)."""
    from datasets import Dataset
    from transformers import (
        DataCollatorForTokenClassification,
        PrinterCallback,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    rows, widen = narrow_vocabulary(model, examples.rows, tokenizer.pad_token_id)
    on_gpu, bf16 = precision()
    last_save = time.monotonic()

    class Watch(TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, _: Any, at: Any, control: Any, **__: Any) -> None:
            if at.global_step:
                LOG.info("train %s: goes on after step %d of %d", name, at.global_step, at.max_steps)
                read.reach(at.global_step / at.max_steps)

        def on_step_end(self, _: Any, at: Any, control: Any, **__: Any) -> None:
            read.reach(at.global_step / at.max_steps)

        def on_epoch_end(self, _: Any, at: Any, control: Any, **__: Any) -> None:
            due = time.monotonic() - last_save >= SECONDS_BETWEEN_SAVES
            # After the last epoch, the finished checkpoint itself is written.
            control.should_save = due and at.global_step < at.max_steps

        def on_save(self, _: Any, at: Any, control: Any, **__: Any) -> None:
            nonlocal last_save
            last_save = time.monotonic()
            seal(state / f"checkpoint-{at.global_step}")

        def on_log(self, *_: Any, logs: dict[str, float], **__: Any) -> None:
            if not math.isfinite(logs.get("loss", 0.0)):
                raise PhidriftError("the loss is not finite", where=name, mend="lower its learning_rate")

    arguments = TrainingArguments(
        output_dir=str(state),
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
        save_strategy="no",  # Watch says when
        save_total_limit=2,  # the one before, in case the process dies while it writes the next
        logging_strategy="epoch",
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
    )
    if on_gpu:
        # A second device would double the batch.
        arguments._n_gpu = min(1, arguments.n_gpu)
    trainer = Trainer(
        model,
        arguments,
        data_collator=DataCollatorForTokenClassification(tokenizer),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        callbacks=[Watch()],
    )
    trainer.remove_callback(PrinterCallback)  # prints to the standard output
    # The state holds pickles (optimizer.pt, rng_state.pth). They are this user's own, from this user's cache, with the
    # hashes that they were written with, and transformers loads them with torch's weights_only.
    earlier = sealed(state.glob("checkpoint-*"))
    with quiet_transformers(), nullcontext() if on_gpu else quick_dropout():
        trainer.train(resume_from_checkpoint=str(earlier) if earlier else None)
    share = trainer.lr_scheduler.lr_lambdas[0]
    rates = [settings.learning_rate * share(step) for step in range(trainer.state.global_step)]
    widen(decay_factor(rates, settings.weight_decay))
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return float(losses[-1]), int(trainer.state.global_step)


def precision() -> tuple[bool, bool]:
    """(whether there is a GPU to train on, whether the hardware computes in bf16)."""
    import torch

    if torch.cuda.is_available():
        return True, bool(torch.cuda.is_bf16_supported())
    return False, bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def _is_out_of_memory(error: Exception) -> bool:
    import torch

    # torch raises a plain RuntimeError where the memory of the CPU runs out.
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in str(error)
