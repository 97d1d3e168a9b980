"""A checkpoint that marks exactly the words it is told to, so that its scores can be worked out by hand."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

from phidrift.core.files import write_json
from phidrift.tagging.alignment import label_names

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def dictionary_tagger(
    folder: Path, entity: str, begins: Collection[str], continues: Collection[str] = ()
) -> Path:
    """Writes a BERT without a layer: a word's vector is its label, and the head reads it off.

    Args:
        folder: of the checkpoint.
        entity: what it marks.
        begins: words that are B, wherever they stand; all words not named are O.
        continues: words that are I, which counts only behind a B or I.
    """
    words = [*_SPECIAL, *begins, *continues]
    backend = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=64, **names).save_pretrained(folder)
    labels = label_names(entity)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=3,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=3,
        max_position_embeddings=64,
        num_labels=3,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = BertForTokenClassification(config)
    label_of = [0] * len(_SPECIAL) + [1] * len(begins) + [2] * len(continues)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.bert.embeddings.word_embeddings.weight.copy_(torch.eye(3)[label_of])
        model.bert.embeddings.LayerNorm.weight.fill_(1.0)
        model.classifier.weight.copy_(10 * torch.eye(3))
    model.save_pretrained(folder)
    return folder


def record(folder: Path, entity: str, runs: Collection[tuple[str, int]], **values: Any) -> None:
    """Writes the training.json that would stand beside the checkpoints."""
    about = {
        "set": "made-20",
        "source": "made",
        "size": 20,
        "entity": entity,
        "sha256": "0" * 64,
        "restricted": False,
        "trained": True,
        "reason": None,
        "documents": 20,
        "positives": 9,
        "sources": {"made": 20},
        "taggers": [{"tagger": tagger, "seed": seed} for tagger, seed in runs],
    }
    write_json(folder / "training.json", {**about, **values})
