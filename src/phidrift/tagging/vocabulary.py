"""Training with the word embeddings of those pieces alone that occur, which are a small part of a vocabulary.

A row that no text uses has no gradient: AdamW only lets it decay, by the same factor each step as all weights. So it
can be left out of every step, and scaled once at the end. In a small encoder the rows are half of all parameters.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

Rows = list[dict[str, Any]]


def narrow_vocabulary(
    model: Any, rows: Sequence[dict[str, Any]], pad: int
) -> tuple[Rows, Callable[[float], None]]:
    """Takes the rows of pieces that don't occur out of the model's embeddings.

    Args:
        model: of transformers; changed in place.
        rows: all that it will be shown, with input_ids.
        pad: the number of the padding piece, which stays its number.

    Returns:
        (the rows with new numbers; a function to call after the training with the factor by which unused weights have
        decayed, which gives the model its whole vocabulary back). A model with embeddings of another kind is left as it
        is.
    """
    import torch

    embedding = model.get_input_embeddings()
    if type(embedding) is not torch.nn.Embedding or model.get_output_embeddings() is not None:
        return list(rows), lambda _: None
    occurring = {number for row in rows for number in row["input_ids"]}
    # Models tell padding by its number, so all numbers up to it stay.
    kept = [*range(pad + 1), *sorted(number for number in occurring if number > pad)]
    whole = embedding.weight.detach()
    weight = whole[kept].clone()
    narrow = torch.nn.Embedding(len(kept), weight.shape[1], padding_idx=embedding.padding_idx, _weight=weight)
    model.set_input_embeddings(narrow)
    new = {old: number for number, old in enumerate(kept)}

    def widen(decay: float) -> None:
        trained = model.get_input_embeddings().weight.detach()
        restored = whole.to(trained.device) * decay
        restored[kept] = trained
        embedding.weight = torch.nn.Parameter(restored)
        model.set_input_embeddings(embedding)

    return [{**row, "input_ids": [new[number] for number in row["input_ids"]]} for row in rows], widen


def decay_factor(learning_rates: Sequence[float], weight_decay: float) -> float:
    """What AdamW's decay makes of a weight of 1 without a gradient, given the learning rate of each step.

    >>> decay_factor([0.5, 0.25], 0.5)
    0.65625
    """
    return math.prod(1 - rate * weight_decay for rate in learning_rates)
