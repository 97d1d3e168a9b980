"""Spans to pieces and back, on tokenizers small enough to follow by hand."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.tagging.alignment import (
    IGNORED,
    B,
    I,
    O,
    Pieces,
    Window,
    bio_labels,
    bio_spans,
    cut_windows,
    label_names,
    load_tokenizer,
    special_ids,
    tokenize,
    unrepresentable,
)


def fast(tokenizer: Tokenizer) -> Any:
    """The tokenizer as transformers wraps it."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=512,
    )


def wordpiece_tokenizer(words: str) -> Any:
    """Cased WordPiece with BERT's pre-tokenisation, [CLS] and [SEP]; any word can be spelt in single letters."""
    letters = [chr(code) for code in range(33, 127)]
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{a}" for a in letters), *words.split()]
    vocabulary = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return fast(tokenizer)


def unigram_tokenizer(words: str) -> Any:
    """SentencePiece Unigram as DeBERTa v3 has it: a piece that opens a word carries the blank before it."""
    letters = [chr(code) for code in range(33, 127)]
    whole = [f"▁{word}" for word in words.split()]
    entries = [("[PAD]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[UNK]", 0.0), ("▁", -8.0)]
    entries += [(letter, -9.0) for letter in letters] + [(word, -2.0) for word in dict.fromkeys(whole)]
    tokenizer = Tokenizer(models.Unigram(entries, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return fast(tokenizer)


WORDS = "Seen by Dr Lee on May Smith pain The note says that"
TOKENIZERS = {"wordpiece": wordpiece_tokenizer(WORDS), "unigram": unigram_tokenizer(WORDS)}


def dates(*bounds: tuple[int, int]) -> list[Span]:
    return [Span(start, end, "DATE") for start, end in bounds]


def pieces_of(name: str, text: str) -> Pieces:
    return tokenize(TOKENIZERS[name], [text])[0]


def shown(text: str, pieces: Pieces) -> list[str]:
    return [text[start:end] for start, end in pieces.offsets]


def test_wordpiece_pieces_and_labels() -> None:
    text = "Seen on 12/3 by Lee"
    pieces = pieces_of("wordpiece", text)
    assert shown(text, pieces) == ["Seen", "on", "1", "2", "/", "3", "by", "Lee"]
    assert bio_labels(pieces, dates((8, 12))) == [O, O, B, I, I, I, O, O]


def test_a_leading_blank_is_no_part_of_a_piece() -> None:
    text = "Seen on May by Lee"
    raw = TOKENIZERS["unigram"](text, add_special_tokens=False, return_offsets_mapping=True)
    assert (7, 11) in raw["offset_mapping"]  # what the tokenizer says of " May"
    pieces = pieces_of("unigram", text)
    assert shown(text, pieces) == ["Seen", "on", "May", "by", "Lee"]
    labels = bio_labels(pieces, dates((8, 11)))
    assert labels == [O, O, B, O, O]
    assert bio_spans(pieces, labels, "DATE") == (Span(8, 11, "DATE"),)


def test_a_lone_blank_piece_is_ignored_and_does_not_end_a_span() -> None:
    # "▁" stands alone before "x3"; in the span (8, 14) it lies between two shown pieces.
    text = "Seen on May x3"
    pieces = pieces_of("unigram", text)
    assert shown(text, pieces) == ["Seen", "on", "May", "", "x", "3"]
    labels = bio_labels(pieces, dates((8, 14)))
    assert labels == [O, O, B, IGNORED, I, I]
    assert bio_spans(pieces, labels, "DATE") == (Span(8, 14, "DATE"),)


def test_adjacent_spans_stay_two() -> None:
    pieces = pieces_of("wordpiece", "May May on")
    labels = bio_labels(pieces, dates((0, 3), (4, 7)))
    assert labels == [B, B, O]
    assert bio_spans(pieces, labels, "DATE") == tuple(dates((0, 3), (4, 7)))


def test_a_piece_half_inside_a_span_belongs_to_it_and_is_counted() -> None:
    text = "note says"
    pieces = pieces_of("wordpiece", text)  # "note" (0, 4), "says" (5, 9)
    gold = dates((0, 2), (5, 9))
    assert bio_labels(pieces, gold) == [B, B]
    assert bio_spans(pieces, [B, B], "DATE") == tuple(dates((0, 4), (5, 9)))
    assert unrepresentable(pieces, gold) == 1


def test_two_spans_in_one_piece_it_goes_to_the_longer() -> None:
    pieces = pieces_of("wordpiece", "note says")
    gold = dates((0, 1), (1, 9))  # "note": one character of the first, three of the second
    assert bio_labels(pieces, gold) == [B, I]
    assert unrepresentable(pieces, gold) == 2  # (0, 9) is neither


def test_a_word_without_a_piece() -> None:
    text = "on \u200b\ufffd May"  # both are dropped by BERT's normaliser
    pieces = pieces_of("wordpiece", text)
    assert shown(text, pieces) == ["on", "May"]
    assert bio_labels(pieces, dates((3, 5))) == [O, O]
    assert unrepresentable(pieces, dates((3, 5), (6, 9))) == 1


def test_a_lone_surrogate_moves_no_offset() -> None:
    text = "on \ud83d May 😀 Lee"
    for name in TOKENIZERS:
        pieces = pieces_of(name, text)
        bounds = {text[start:end]: (start, end) for start, end in pieces.offsets}
        assert bounds["May"] == (5, 8)
        assert bounds["Lee"] == (11, 14)


def test_an_i_without_a_b_starts_nothing() -> None:
    pieces = pieces_of("wordpiece", "on May by Lee")
    assert bio_spans(pieces, [I, O, I, I], "DATE") == ()
    assert bio_spans(pieces, [O, B, O, I], "DATE") == tuple(dates((3, 6)))


def test_pieces_of_one_character_stay_one_span() -> None:
    # "½" normalises to 1 / 2: three pieces, all at (3, 4).
    pieces = Pieces((5, 6, 7, 8), ((0, 2), (3, 4), (3, 4), (3, 4)))
    assert bio_spans(pieces, [O, B, B, I], "DATE") == tuple(dates((3, 4)))


def test_label_names_follow_their_numbers() -> None:
    assert [label_names("DATE")[number] for number in (O, B, I)] == ["O", "B-DATE", "I-DATE"]


def test_special_ids() -> None:
    assert special_ids(TOKENIZERS["wordpiece"]) == ([2], [3])
    assert special_ids(TOKENIZERS["unigram"]) == ([1], [2])


@pytest.mark.parametrize("name", sorted(TOKENIZERS))
@given(
    words=st.lists(
        st.sampled_from(["Lee", "May", "12/3", "x3", "\n", "(on", "Smith."]), min_size=1, max_size=30
    ),
    chosen=st.sets(st.tuples(st.integers(0, 29), st.integers(1, 3)), max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_gold_survives_where_spans_are_made_of_words(
    name: str, words: list[str], chosen: set[tuple[int, int]]
) -> None:
    text, bounds = "", []
    for word in words:
        bounds.append((len(text), len(text) + len(word)))
        text += word + " "
    gold: list[Span] = []
    for first, length in sorted(chosen):
        within = [
            b for b, word in list(zip(bounds, words, strict=True))[first : first + length] if word.strip()
        ]
        if within and (not gold or within[0][0] >= gold[-1].end):
            gold.append(Span(within[0][0], within[-1][1], "DATE"))
    pieces = pieces_of(name, text)
    assert bio_spans(pieces, bio_labels(pieces, gold), "DATE") == tuple(gold)
    assert unrepresentable(pieces, gold) == 0


def covers(windows: list[Window], count: int, limit: int) -> None:
    """Every piece is owned once, in order, in a window that holds it and is not too long."""
    assert windows[0].owned_first == 0
    assert windows[-1].owned_last == count
    for left, right in itertools.pairwise(windows):
        assert left.owned_last == right.owned_first
        assert left.first < right.first
        assert left.last < right.last
    for window in windows:
        assert window.first <= window.owned_first <= window.owned_last <= window.last
        assert window.last - window.first <= limit


def test_a_short_text_is_one_window() -> None:
    pieces = pieces_of("wordpiece", "on May by Lee")
    assert cut_windows("on May by Lee", pieces, 4) == [Window(0, 4, 0, 4)]
    assert cut_windows("", Pieces((), ()), 4) == [Window(0, 0, 0, 0)]


def test_windows_end_at_line_ends_and_meet_there() -> None:
    # Lines of 4 pieces; limit 16: overlap 4, so windows advance by three lines and own from the line border.
    text = "\n".join(["on May by Lee"] * 10)
    windows = cut_windows(text, pieces_of("wordpiece", text), 16)
    assert [(w.first, w.last) for w in windows] == [(0, 16), (12, 28), (24, 40)]
    # No line starts strictly inside an overlap of one line: the owned ranges meet where it begins, so no line is cut.
    assert [(w.owned_first, w.owned_last) for w in windows] == [(0, 12), (12, 24), (24, 40)]


def long_note() -> tuple[str, list[Span]]:
    """2,000 words; spans of 1 to 6 words every 9, some over line ends, some in a sentence of 500 words."""
    words, spans, text = [f"w{number}" for number in range(2000)], [], ""
    bounds = []
    for number, word in enumerate(words):
        bounds.append((len(text), len(text) + len(word)))
        breaks = number % 13 == 0 and not 700 < number < 1200
        text += word + (".\n" if breaks else " ")
    for first in range(0, 1980, 9):
        spans.append(Span(bounds[first][0], bounds[first + first % 6][1], "DATE"))
    return text, spans


@pytest.mark.parametrize("name", sorted(TOKENIZERS))
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 30, 126, 254, 510])
def test_no_gold_span_is_lost_in_a_long_note(name: str, limit: int) -> None:
    text, gold = long_note()
    pieces = pieces_of(name, text)
    windows = cut_windows(text, pieces, limit)
    covers(windows, len(pieces.ids), limit)
    labels = bio_labels(pieces, gold)
    # As training and prediction do: each window gives the labels that it owns.
    joined = [label for window in windows for label in labels[window.owned_first : window.owned_last]]
    assert bio_spans(pieces, joined, "DATE") == tuple(gold)


@pytest.mark.parametrize("limit", [126, 254, 510])
def test_any_stretch_of_an_eighth_lies_whole_in_a_window(limit: int) -> None:
    text, _ = long_note()
    pieces = pieces_of("wordpiece", text)
    windows = cut_windows(text, pieces, limit)
    length = limit // 8
    for first in range(len(pieces.ids) - length + 1):
        assert any(window.first <= first and first + length <= window.last for window in windows)


@given(
    breaks=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    limit=st.integers(1, 40),
)
@settings(max_examples=80, deadline=None)
def test_windows_cover_any_text(breaks: list[int], limit: int) -> None:
    text = "\n".join(" ".join(["May"] * count) for count in breaks)
    pieces = pieces_of("wordpiece", text)
    covers(cut_windows(text, pieces, limit), len(pieces.ids), limit)


def test_a_model_without_a_fast_tokenizer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    class Slow:
        is_fast = False

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(PhidriftError, match="no fast tokenizer"):
        load_tokenizer(str(tmp_path))
