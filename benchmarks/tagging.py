"""How fast a tagger is trained, and how good it gets, beside transformers' Trainer left as it comes, in the same run.

    python benchmarks/tagging.py [--documents 200] [--test 300] [--rounds 3] [--tokens 0-1000]
        [--corpus ../shared/corpora/pii-anon]

Prints Markdown tables. All ways get the same documents, base model and settings, and only the steps are timed: loading
the model and writing it are not. Trainer padded to 512 in 32-bit floats reads few documents, since it is so slow; how
slow depends on the length of the documents (`--tokens`). F1, with one seed a round, is on other documents of the
corpus: PII-Anon's English clinical ones (template-made), or stand-ins where these aren't there.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from phidrift.core.document import Document

CORPUS = Path(__file__).parents[2] / "shared/corpora/pii-anon"
BASE = "embedded/all-minilm-l6-v2"
ENTITY = "PERSON"
THREADS = 2


def read_corpus(path: Path, most: int, tokens: tuple[int, int]) -> tuple[str, list[Document]]:
    """What the documents are, and the first ones of such a length, shuffled by a seed."""
    import random

    from phidrift.core import text as units
    from phidrift.corpora.reading import Reading, corpus_at, harmonised_documents
    from phidrift.corpora.standins import write_standins

    if path.is_dir():
        documents = list(harmonised_documents(corpus_at(path), Reading()))  # the English ones
        name = f"Documents of {path.name}"
    else:
        with tempfile.TemporaryDirectory() as folder:
            write_standins(Path(folder) / "standins", 1, (2, 1), 1, most)
            source = corpus_at(Path(folder) / "standins/ai4privacy", "ai4privacy")
            documents = list(harmonised_documents(source, Reading()))
        name = "stand-ins for Ai4Privacy"
    least, longest = tokens
    fitting = [each for each in documents if least <= len(units.tokens(each.text)) <= longest]
    different = list({document.text: document for document in fitting}.values())
    random.Random(0).shuffle(different)
    return name, list(islice(different, most))


def settings() -> Any:
    from phidrift.tagging.train import TaggerSettings

    return TaggerSettings(BASE, 256, 4, 4, 2e-4, 0.1, 0.01)


def plain_trainer(documents: Sequence[Document], epochs: int, seed: int, padding: Any, folder: Path) -> float:
    """Seconds of training a token classifier as it comes: 32-bit floats, batches in random order."""
    import torch
    from datasets import Dataset
    from transformers import (
        AutoModelForTokenClassification,
        AutoTokenizer,
        DataCollatorForTokenClassification,
        Trainer,
        TrainingArguments,
    )

    from phidrift.core.models import locate
    from phidrift.tagging.alignment import IGNORED, bio_labels, label_names, tokenize

    torch.set_num_threads(THREADS)
    names, chosen = label_names(ENTITY), settings()
    tokenizer = AutoTokenizer.from_pretrained(locate(BASE))
    torch.manual_seed(seed)
    model = AutoModelForTokenClassification.from_pretrained(
        locate(BASE), num_labels=3, id2label=dict(enumerate(names)), dtype=torch.float32
    )
    rows = []
    for document, pieces in zip(documents, tokenize(tokenizer, [d.text for d in documents]), strict=True):
        labels = bio_labels(pieces, document.entity_spans(ENTITY))[:254]
        ids = [tokenizer.cls_token_id, *pieces.ids[:254], tokenizer.sep_token_id]
        rows.append(
            {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": [IGNORED, *labels, IGNORED]}
        )
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            output_dir=scratch,
            per_device_train_batch_size=chosen.batch_size,
            num_train_epochs=epochs,
            learning_rate=chosen.learning_rate,
            warmup_steps=chosen.warmup_ratio,
            weight_decay=chosen.weight_decay,
            use_cpu=True,
            seed=seed,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            logging_strategy="no",
        )
        collator = DataCollatorForTokenClassification(tokenizer, **padding)
        trainer = Trainer(model, arguments, data_collator=collator, train_dataset=Dataset.from_list(rows))
        started = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - started
    tokenizer.model_max_length = 256
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return seconds


def ours(documents: Sequence[Document], seed: int, folder: Path) -> float:
    """Seconds of all steps, from the end of the first on."""
    from phidrift.tagging.train import train_tagger

    read: list[tuple[float, int]] = []
    train_tagger(
        documents,
        ENTITY,
        settings(),
        seed=seed,
        threads=THREADS,
        folder=folder,
        name="benchmark",
        advance=lambda count: read.append((time.perf_counter(), count)),
    )
    (first, already), (last, _) = read[0], read[-1]
    done = sum(count for _, count in read)
    return (last - first) * done / (done - already)


def strict_f1(folder: Path, documents: Sequence[Document]) -> float:
    from phidrift.tagging import scores
    from phidrift.tagging.predict import load_tagger, predict_spans

    found = predict_spans(load_tagger(folder), [document.text for document in documents])
    counts = [
        scores.strict_counts(scores.bounds(document.entity_spans(ENTITY)), scores.bounds(spans))
        for document, spans in zip(documents, found, strict=True)
    ]
    value = scores.f1(*(sum(column) for column in zip(*counts, strict=True)))
    assert value is not None
    return value


def matrix_rate() -> float:
    """Floating-point operations a second of the best bfloat16 product among some sizes."""
    import torch

    torch.set_num_threads(THREADS)
    best = 0.0
    for size in (512, 1024, 2048):
        a, b = (torch.randn(size, size, dtype=torch.bfloat16) for _ in range(2))
        for _ in range(8):
            started = time.perf_counter()
            a @ b
            best = max(best, 2 * size**3 / (time.perf_counter() - started))
    return best


def training_operations(documents: Sequence[Document]) -> float:
    """Operations that the layers' matrices need for one pass forward and back: 6 a weight and model token."""
    from transformers import AutoModel

    from phidrift.core.models import locate
    from phidrift.tagging.alignment import load_tokenizer, tokenize

    model = AutoModel.from_pretrained(locate(BASE))
    weights = sum(w.numel() for name, w in model.encoder.named_parameters() if w.dim() == 2)
    pieces = tokenize(load_tokenizer(locate(BASE)), [document.text for document in documents])
    return 6.0 * weights * sum(len(each.ids) + 2 for each in pieces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--test", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3, help="trainings of each way, with a seed each")
    parser.add_argument("--padded", type=int, default=24, help="documents read once, padded to 512")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--tokens", default="0-1000", help="of each document, from-to")
    options = parser.parse_args()
    least, longest = map(int, options.tokens.split("-"))
    name, documents = read_corpus(options.corpus, options.documents + options.test, (least, longest))
    train, test = documents[: options.documents], documents[options.documents :]
    epochs = settings().epochs
    ways: dict[str, tuple[int, Callable[[int, Path], float]]] = {
        "Trainer, padded to 512, fp32": (
            min(options.padded, len(train)),
            lambda seed, folder: plain_trainer(
                train[: options.padded], 1, seed, {"padding": "max_length", "max_length": 512}, folder
            ),
        ),
        "Trainer, dynamic padding, fp32": (
            len(train) * epochs,
            lambda seed, folder: plain_trainer(train, epochs, seed, {}, folder),
        ),
        "phidrift": (len(train) * epochs, lambda seed, folder: ours(train, seed, folder)),
    }
    rates: dict[str, list[float]] = {way: [] for way in ways}
    f1: dict[str, list[float]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as scratch:
        ours(train[:4], 0, Path(scratch) / "first")  # imports and the first use of each kernel are not timed
        for seed in range(options.rounds):
            for way, (read, work) in ways.items():
                folder = Path(scratch) / f"{way} {seed}"
                rates[way].append(read / work(seed, folder))
                if "512" not in way:
                    f1[way].append(strict_f1(folder, test))
    print(f"{name} of {options.tokens} tokens: {len(train)} to train on, {epochs} epochs, {len(test)} others")
    print(f"to test on; {ENTITY}, {BASE}\n")
    print("| | documents/s | phidrift is faster by | strict F1, by seed |\n|---|---|---|---|")
    for way in ways:
        ratios = [own / other for own, other in zip(rates["phidrift"], rates[way], strict=True)]
        scores_ = ", ".join(f"{value:.3f}" for value in f1[way]) or "-"
        speed = (
            ""
            if way == "phidrift"
            else f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        )
        print(f"| {way} | {statistics.median(rates[way]):.1f} | {speed} | {scores_} |")
    done = training_operations(train) / len(train) * statistics.median(rates["phidrift"])
    rate = matrix_rate()
    print(
        f"\nThe layers' products run at {done / 1e9:.0f} GFLOP/s, {100 * done / rate:.0f} % of the"
        f" {rate / 1e9:.0f} GFLOP/s of the best bfloat16 product here."
    )


if __name__ == "__main__":
    main()
