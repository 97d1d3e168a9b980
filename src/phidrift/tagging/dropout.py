"""Dropout on a CPU with a quarter of the random draws.

Torch draws a number for each element, one after another, and a small encoder spends a good part of each training step
on that. Sixteen bits of a number are plenty, so four elements share a draw here.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_STEPS = 2**16


def drop(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    """What torch.nn.functional.dropout computes: zero with probability p, else divided by 1 - p.

    p is taken to the nearest 1/65536, and the divisor with it, so that the expectation is the input. Random numbers are
    torch's, so a seed or a restored state repeats them. `inplace` is torch's argument, and costs memory only if false.
    """
    if not training or p == 0.0:
        return input
    dropped = round(p * _STEPS)
    if dropped == _STEPS:
        return input * 0.0
    count = input.numel()
    draws = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    numbers = draws.view(torch.int16)[:count].view(input.shape)
    keep = (numbers >= dropped - _STEPS // 2).to(input.dtype)
    return input * keep.mul_(_STEPS / (_STEPS - dropped))


@contextmanager
def quick_dropout() -> Iterator[None]:
    """Within it, torch.nn.functional.dropout is `drop`: that of torch.nn.Dropout and of eager attention."""
    original = torch.nn.functional.dropout
    torch.nn.functional.dropout = drop
    try:
        yield
    finally:
        torch.nn.functional.dropout = original
