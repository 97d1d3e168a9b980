"""Tokenizers as the study's models have them: Bio_ClinicalBERT's folder, DeBERTa-v3's sentence pieces."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel, DebertaV2Config, DebertaV2Model

from phidrift.core.document import Document, Span
from phidrift.core.files import read_json, write_json
from phidrift.tagging.alignment import (
    IGNORED,
    B,
    I,
    O,
    bio_labels,
    bio_spans,
    load_tokenizer,
    tokenize,
    unrepresentable,
)
from phidrift.tagging.predict import load_tagger, predict_spans
from phidrift.tagging.train import TaggerSettings, train_tagger

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CASED = ["Smith", "smith", "May", "may", "on", "was", "seen", "Zü", "zu", "##rich", "3", "."]
SETTINGS = TaggerSettings("", 32, 2, 10, 1e-2, 0.1, 0.01)


def bert_folder(folder: Path, vocabulary: list[str]) -> str:
    """A model as Bio_ClinicalBERT lies on its hub: weights, config.json and vocab.txt, and no more."""
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(SPECIAL + vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *vocabulary]) + "\n", encoding="utf-8")
    assert not (folder / "tokenizer_config.json").exists()
    return str(folder)


def shown(place: str, text: str) -> list[str]:
    tokenizer = load_tokenizer(place)
    found: list[str] = tokenizer.convert_ids_to_tokens(tokenize(tokenizer, [text])[0].ids)
    return found


def test_transformers_alone_takes_a_cased_folder_for_uncased(tmp_path: Path) -> None:
    # Why load_tokenizer looks at the vocabulary. If this fails, transformers has mended it, and _is_cased may go.
    place = bert_folder(tmp_path, CASED)
    assert AutoTokenizer.from_pretrained(place).tokenize("Smith on May 3") == ["smith", "on", "may", "3"]


def test_a_cased_vocabulary_keeps_the_case_and_the_accents(tmp_path: Path) -> None:
    place = bert_folder(tmp_path, CASED)
    assert shown(place, "Smith may on May 3, Zürich") == [
        *("Smith", "may", "on", "May", "3", "[UNK]", "Zü", "##rich"),
    ]


def test_an_uncased_vocabulary_stays_uncased(tmp_path: Path) -> None:
    place = bert_folder(tmp_path, [word for word in CASED if word == word.lower()])
    assert shown(place, "Smith on MAY 3") == ["smith", "on", "may", "3"]


def test_a_stated_choice_of_a_cased_folder_is_kept(tmp_path: Path) -> None:
    place = bert_folder(tmp_path, CASED)
    write_json(tmp_path / "tokenizer_config.json", {"do_lower_case": False})
    assert shown(place, "Smith on May") == ["Smith", "on", "May"]


def test_a_checkpoint_keeps_the_case_and_tells_may_from_may(tmp_path: Path) -> None:
    # "May" is a month and "may" is none: only a tagger that sees the case can learn it.
    place = bert_folder(tmp_path / "base", CASED)
    documents = [
        Document("a", "Smith was seen on May 3.", (Span(18, 21, "DATE"),), {}),
        Document("b", "Smith may on may.", (), {}),
    ] * 4
    folder = tmp_path / "tagger"
    train_tagger(
        documents, "DATE", replace(SETTINGS, model=place), seed=1, threads=1, folder=folder, name="made"
    )
    assert read_json(folder / "tokenizer_config.json")["do_lower_case"] is False
    assert AutoTokenizer.from_pretrained(folder).tokenize("Smith on May") == ["Smith", "on", "May"]
    found = predict_spans(load_tagger(folder), [document.text for document in documents[:2]])
    assert found == [(Span(18, 21, "DATE"),), ()]


TEXTS = ("Smith was seen on May 3.", "Lee was seen in March 2014.", "No fever. Seen by Dr. Smith, on May 3.")


@pytest.fixture(scope="module")
def deberta(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A DeBERTa-v2 folder as DeBERTa-v3 lies on its hub: config.json, and spm.model, a real sentence-piece model."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("deberta")
    (folder / "texts").write_text("\n".join(TEXTS * 50), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "texts"),
        model_prefix=str(folder / "spm"),
        model_type="unigram",
        vocab_size=56,
        hard_vocab_limit=False,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        pad_piece="[PAD]",
        bos_piece="[CLS]",
        eos_piece="[SEP]",
        unk_piece="[UNK]",
        user_defined_symbols=["[MASK]"],
        minloglevel=2,
    )
    (folder / "texts").unlink()
    (folder / "spm.vocab").unlink()
    torch.manual_seed(1)
    config = DebertaV2Config(
        vocab_size=42,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        type_vocab_size=0,
    )
    DebertaV2Model(config).save_pretrained(folder)
    return str(folder)


def pieces_and_text(place: str, text: str) -> tuple[Any, list[str], list[str]]:
    tokenizer = load_tokenizer(place)
    (pieces,) = tokenize(tokenizer, [text])
    return (
        pieces,
        tokenizer.convert_ids_to_tokens(pieces.ids),
        [text[start:end] for start, end in pieces.offsets],
    )


def test_deberta_pieces_carry_their_blank_and_their_offsets_do_not(deberta: str) -> None:
    text = "Seen by  Smith,\n\ton May 3."
    tokenizer = load_tokenizer(deberta)
    raw = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    assert any(text[start].isspace() for start, end in raw if start < end)  # what _trim is for
    _, tokens, surfaces = pieces_and_text(deberta, text)
    assert any(token.startswith("\u2581") for token in tokens)
    assert not any(surface != surface.strip() for surface in surfaces)
    # Two blanks, a line end and a tab become one blank each: what follows them stays at its place.
    assert "".join(surfaces) == "SeenbySmith,onMay3."


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Seen by  Smith, on May 3.", 9, 14),
        ("Seen by\r\n\tSmith.", 10, 15),
        ("  Smith was seen", 2, 7),
        ("Smith", 0, 5),
        ("on May 3", 3, 8),
    ],
)
def test_deberta_says_spans_exactly(deberta: str, text: str, start: int, end: int) -> None:
    gold = (Span(start, end, "X"),)
    pieces, _, _ = pieces_and_text(deberta, text)
    assert bio_spans(pieces, bio_labels(pieces, gold), "X") == gold
    assert unrepresentable(pieces, gold) == 0


def test_a_lone_blank_sign_bears_no_label(deberta: str) -> None:
    text = "on May 3"
    pieces, tokens, surfaces = pieces_and_text(deberta, text)
    labels = bio_labels(pieces, (Span(3, 8, "DATE"),))
    for token, surface, label in zip(tokens, surfaces, labels, strict=True):
        assert (label == IGNORED) == (surface == ""), token
    assert "\u2581" in tokens  # the small vocabulary has no piece for " 3"
    assert next(label for label in labels if label not in (IGNORED, O)) == B


def test_deberta_learns_and_finds_spans(deberta: str, tmp_path: Path) -> None:
    documents = [
        Document("a", TEXTS[0], (Span(0, 5, "PERSON"),), {}),
        Document("b", TEXTS[1], (Span(0, 3, "PERSON"),), {}),
        Document("c", TEXTS[2], (Span(22, 27, "PERSON"),), {}),
    ]
    assert [documents[2].text[22:27], documents[1].text[:3]] == ["Smith", "Lee"]
    long = replace(SETTINGS, model=deberta, max_length=64, epochs=40)
    folder = tmp_path / "tagger"
    trained = train_tagger(documents, "PERSON", long, seed=1, threads=1, folder=folder, name="made")
    assert (trained.spans, trained.unrepresentable_spans) == (3, 0)
    found = predict_spans(load_tagger(folder), [document.text for document in documents])
    assert found == [document.spans for document in documents]
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["model_max_length"] == 64


def test_a_word_of_lost_characters_has_no_piece(tmp_path: Path) -> None:
    # BERT's normaliser takes out control characters: the second word has no piece, and no span can say it.
    place = bert_folder(tmp_path, CASED)
    text = "Smith \x02\x03 May"
    (pieces,) = tokenize(load_tokenizer(place), [text])
    assert [text[start:end] for start, end in pieces.offsets] == ["Smith", "May"]
    lost, around = Span(6, 8, "X"), Span(0, 12, "X")
    assert bio_labels(pieces, (lost,)) == [O, O]
    assert unrepresentable(pieces, (lost,)) == 1
    # One that begins and ends on pieces is said whole, with what was lost in its middle.
    assert bio_labels(pieces, (around,)) == [B, I]
    assert bio_spans(pieces, [B, I], "X") == (around,)


def test_sentence_pieces_of_unknown_signs_keep_their_place(deberta: str) -> None:
    text = "Seen by Smith 😀 on May 3."
    pieces, tokens, surfaces = pieces_and_text(deberta, text)
    assert "[UNK]" in tokens
    assert "".join(surfaces) == text.replace(" ", "")
    gold = (Span(8, 13, "X"), Span(14, 15, "X"))
    assert bio_spans(pieces, bio_labels(pieces, gold), "X") == gold
