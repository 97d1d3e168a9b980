"""Perplexity of a corpus under one fixed causal language model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from phidrift.core.models import load_causal_lm
from phidrift.drift.batching import padded_length
from phidrift.drift.undefined import Undefined

WINDOW = 1_024  # model tokens seen at once, at most; the model may allow less
# Padded tokens a batch where there is no GPU, which wants many more.
_TOKENS_A_BATCH, _TOKENS_A_BATCH_ON_GPU = 256, 16_384
_POSITIONS_AT_ONCE = 256  # of which float32 logits are held

# (texts, most model tokens in all) -> (summed negative log-likelihood [n] in nats, predicted tokens [n])
Scorer = Callable[[Sequence[str], int | None], tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]]


def perplexity(nll: float, tokens: int) -> float:
    """exp(total negative log-likelihood in nats / total predicted tokens) of a corpus.

    1 up, no unit; higher is less expected by the model. Compare only under one model and tokenizer. The mean of the
    documents' perplexities is another statistic.

    Raises:
        Undefined: no token was predicted.

    Source: Jelinek et al. 1977.

    >>> round(perplexity(2 * 1.6094379124341003, 2), 6)  # two tokens of probability 1/5 each
    5.0
    """
    if tokens == 0:
        raise Undefined("no predicted tokens")
    return float(np.exp(nll / tokens))


def load_scorer(name: str) -> Scorer:
    """A function that scores texts under the causal language model of that name (see `phidrift.core.models`)."""
    model, tokenizer = load_causal_lm(name)
    return lambda texts, most: document_nll(texts, model, tokenizer, most=most)


def document_nll(
    texts: Sequence[str],
    model: Any,
    tokenizer: Any,
    *,
    most: int | None = None,
    window: int = WINDOW,
    batch_tokens: int | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Summed negative log-likelihood and number of predicted tokens of every document.

    A document longer than the window is read in windows that overlap by half; each token is predicted once, from at
    least half a window of context. The model's BOS token, if it has one, opens a document, so that its first token is
    predicted too. Documents are batched by length and padded on the right, where causal attention never looks; padding
    is not predicted. A batch has one of a few shapes, set by the length alone and filled up with empty rows: what a
    document gets doesn't depend on the others, not even in rounding; `batch_tokens` changes no more than that.

    Args:
        texts: documents [n].
        model: causal language model in evaluation mode.
        tokenizer: its tokenizer.
        most: predicted tokens after which no further document is read, later ones being left at 0; a single document
            is cut to as many. What a document counts so doesn't depend on the others.
        window: model tokens read at once, at most; at least 2.
        batch_tokens: padded tokens a batch, at most (one window at least); None: as suits the device.

    Returns:
        nats [n] and predicted tokens [n].
    """
    import torch

    limit = getattr(model.config, "max_position_embeddings", None)
    window = min(window, limit) if limit else window
    if batch_tokens is None:
        batch_tokens = _TOKENS_A_BATCH_ON_GPU if model.device.type == "cuda" else _TOKENS_A_BATCH
    pieces = list(_windows(_token_ids(texts, tokenizer, most), window))
    nll, predicted = np.zeros(len(texts)), np.zeros(len(texts), dtype=np.int64)
    with torch.inference_mode():
        for batch, shape in _batches(pieces, batch_tokens):
            for piece, losses in zip(batch, _losses(batch, shape, model), strict=True):
                nll[piece.document] += losses.sum()
                predicted[piece.document] += len(losses)
    return nll, predicted


@dataclass(frozen=True)
class _Piece:
    """One window of one document; the ids from `first` on are predicted here."""

    document: int
    start: int
    ids: list[int]
    first: int


def _token_ids(texts: Sequence[str], tokenizer: Any, most: int | None) -> Iterator[list[int]]:
    bos = tokenizer.bos_token_id
    done = 0
    for text in texts:
        if most is not None and done >= most:
            return
        ids: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        ids = ids if bos is None else [bos, *ids]
        if most is not None:
            ids = ids[: most + 1]  # the first one is not predicted
        done += max(len(ids) - 1, 0)
        yield ids


def _windows(documents: Iterator[list[int]], window: int) -> Iterator[_Piece]:
    for number, ids in enumerate(documents):
        start, done = 0, 1
        while done < len(ids):
            end = min(start + window, len(ids))
            yield _Piece(number, start, ids[start:end], done - start)
            start, done = start + window // 2, end


def _batches(pieces: list[_Piece], batch_tokens: int) -> Iterator[tuple[list[_Piece], tuple[int, int]]]:
    """(pieces of about one length, shape [rows, tokens] of their batch)."""
    by_width: dict[int, list[_Piece]] = {}
    for piece in pieces:
        by_width.setdefault(padded_length(len(piece.ids)), []).append(piece)
    for width, alike in sorted(by_width.items(), reverse=True):
        rows = max(1, batch_tokens // width)
        for start in range(0, len(alike), rows):
            yield alike[start : start + rows], (rows, width)


def _losses(batch: list[_Piece], shape: tuple[int, int], model: Any) -> Iterator[npt.NDArray[np.float64]]:
    import torch

    ids, mask = (torch.zeros(shape, dtype=torch.int64) for _ in range(2))
    mask[:, 0] = 1  # a row that sees nothing would give NaN
    for row, piece in enumerate(batch):
        ids[row, : len(piece.ids)] = torch.tensor(piece.ids)
        mask[row, : len(piece.ids)] = 1
    ids, mask = ids.to(model.device), mask.to(model.device)
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    for row, piece in enumerate(batch):
        losses = []
        for start in range(piece.first, len(piece.ids), _POSITIONS_AT_ONCE):
            end = min(start + _POSITIONS_AT_ONCE, len(piece.ids))
            # Position t predicts token t + 1.
            scores = torch.log_softmax(logits[row, start - 1 : end - 1].float(), dim=-1)
            losses.append(-scores.gather(1, ids[row, start:end, None])[:, 0].double().cpu().numpy())
        yield np.concatenate(losses)
