"""Taggers whose probabilities are known: a BERT without layers, which gives each piece the logits of a table."""

from pathlib import Path

import torch
from transformers import BertConfig, BertForTokenClassification
from word_pieces import write_word_pieces

from phidrift.tagging.alignment import label_names

Logits = tuple[float, float, float]  # of O, B, I
# Decoded as B, or as I after another: belongs to the entity with (e^2 + e^2.5) / (1 + e^2 + e^2.5) = 0.951.
SURE: Logits = (0.0, 2.0, 2.5)
# (e^4 + e^4.5) / (1 + e^4 + e^4.5) = 0.993
SURER: Logits = (0.0, 4.0, 4.5)
# Decoded as O; belongs with (1 + 1) / (e^2 + 1 + 1) = 0.213.
UNSURE: Logits = (2.0, 0.0, 0.0)
NO: Logits = (6.0, 0.0, 0.0)  # 2 / (e^6 + 2) = 0.005

_SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_WORDS = ["Ana", "Weber", "WEBER", "Lee", "Mon", "##day", "Elm", "Street", "555", "0123", "We", "##ber"]
_DIGITS = [*"0123456789", *(f"##{digit}" for digit in "0123456789")]
TABLES: dict[str, dict[str, Logits]] = {
    "ADDRESS": {"Elm": SURE, "Street": SURE},
    "CONTACT": {"555": SURER, "0123": SURER, "-": SURER},
    "DATE": {**dict.fromkeys([*_DIGITS, "/", "555"], SURE), "Mon": UNSURE, "##day": NO},
    "PERSON": {"Ana": SURE, "Weber": SURE, "WEBER": SURE, "Lee": UNSURE},
}


def write_tokenizer(folder: Path, max_length: int = 32) -> dict[str, int]:
    """A cased word-piece tokenizer that knows some words and else spells; returns its vocabulary."""
    known = [*_WORDS, *_SIGNS, *(f"##{sign}" for sign in _SIGNS), *"/-.,:@^()"]
    return write_word_pieces(folder, known, max_length)


def write_tagger(
    folder: Path, entity: str, table: dict[str, Logits], otherwise: Logits = NO, max_length: int = 32
) -> Path:
    """A checkpoint that gives each piece the logits of `table`."""
    vocabulary = write_tokenizer(folder, max_length)
    kinds = [otherwise, *dict.fromkeys(table.values())]
    width = max(8, len(kinds))
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=max_length,
        layer_norm_eps=1e-12,
        num_labels=3,
        id2label=dict(enumerate(label_names(entity))),
        label2id={label: number for number, label in enumerate(label_names(entity))},
    )
    model = BertForTokenClassification(config)
    with torch.no_grad():
        for parameter in model.bert.embeddings.parameters():
            parameter.zero_()
        model.bert.embeddings.LayerNorm.weight.fill_(1.0)
        for word, number in vocabulary.items():
            model.bert.embeddings.word_embeddings.weight[number, kinds.index(table.get(word, otherwise))] = (
                1.0
            )
        # After the layer norm, kind k is `hit` at place k and `miss` elsewhere.
        spread = (1 / width - 1 / width**2) ** 0.5
        hit, miss = (1 - 1 / width) / spread, (0 - 1 / width) / spread
        model.classifier.weight.zero_()
        for number, logits in enumerate(kinds):
            model.classifier.weight[:, number] = torch.tensor(logits) / (hit - miss)
        model.classifier.bias.copy_(-miss * model.classifier.weight.sum(dim=1))
    model.save_pretrained(folder)
    return folder


def write_taggers(folder: Path, entities: tuple[str, ...] = tuple(TABLES)) -> Path:
    """folder/ENTITY, a checkpoint each."""
    for entity in entities:
        write_tagger(folder / entity, entity, TABLES[entity])
    return folder
