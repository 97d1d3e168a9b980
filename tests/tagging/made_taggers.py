"""Documents whose pattern a model of one layer can learn, and such a model."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertModel
from word_pieces import write_word_pieces

from phidrift.core.document import Document, Span
from phidrift.tagging.checkpoints import TrainingSet

SENTENCES = (
    "Seen on {}.",
    "The wound was closed {} by us.",
    "No fever.",
    "Pulse is 72.",
    "Review: {}\n",
    "Alert.",
)
MONTHS = ("May", "June", "July", "March")


def made_documents(count: int, corpus: str = "made", sentences: int = 3, shift: int = 0) -> list[Document]:
    """Documents of `sentences` sentences; each slot holds a date of a month and a number."""
    documents = []
    for number in range(shift, shift + count):
        text, spans = "", []
        for place in range(sentences):
            sentence = SENTENCES[(number + place * (1 + number % 5)) % len(SENTENCES)]
            date = f"{MONTHS[(number + place) % 4]} {(number * 7 + place) % 28 + 1}"
            if "{}" in sentence:
                start = len(text) + sentence.index("{}")
                spans.append(Span(start, start + len(date), "DATE"))
            text += sentence.format(date) + " "
        documents.append(Document(f"{corpus}-{number}", text, tuple(spans), {"corpus": corpus}))
    return documents


def write_base(folder: Path) -> str:
    """A random BERT of one layer, 32 wide, with a cased word-piece vocabulary; returns where it lies."""
    text = " ".join([*SENTENCES, *MONTHS, *(str(number) for number in range(100))]).replace("{}", " ")
    words = text.replace(".", " . ").replace(":", " : ").split()
    vocabulary = write_word_pieces(folder, words, max_length=64)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    torch.manual_seed(3)
    BertModel(config).save_pretrained(folder)
    return str(folder)


def made_set(documents: Sequence[Document], entity: str = "DATE") -> TrainingSet:
    scores = "metrics/tagging/made-30.json"
    return TrainingSet("made-30", "made", 30, entity, documents, "0" * 64, {"made": "CC0-1.0"}, scores)
