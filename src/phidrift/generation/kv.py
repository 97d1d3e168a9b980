"""Key-value caches that many prompts share: a common head is computed once, then every row goes on alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer


class _ReservedLayer(DynamicLayer):  # type: ignore[misc]  # transformers is untyped here
    """Keys and values in memory reserved at the start: a new token is written in place, nothing is copied."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, filled: int) -> None:
        super().__init__()
        self.device, self.dtype, self.is_initialized = keys.device, keys.dtype, True
        self.reserved_keys, self.reserved_values = keys, values
        self.truncate(filled)

    def truncate(self, filled: int) -> None:
        self.filled = filled
        self.keys = self.reserved_keys[:, :, :filled]
        self.values = self.reserved_values[:, :, :filled]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        start, end = self.filled, self.filled + key_states.shape[2]
        self.reserved_keys[:, :, start:end] = key_states
        self.reserved_values[:, :, start:end] = value_states
        self.truncate(end)
        return self.keys, self.values


@dataclass
class Rows:
    """A batch in progress: one row a prompt. `mask` is [rows, reserved], `lengths` counts each row's own tokens."""

    model: Any
    cache: DynamicCache
    mask: torch.Tensor
    lengths: torch.Tensor
    width: int = 0

    def feed(self, ids: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Appends [rows, n] tokens (`real`: not padding); returns the last position's logits [rows, vocab]."""
        count = ids.shape[1]
        self.mask[:, self.width : self.width + count] = real
        positions = (self.lengths[:, None] + real.cumsum(1) - 1).clamp(min=0)
        output = self.model(
            input_ids=ids,
            attention_mask=self.mask[:, : self.width + count].long(),
            position_ids=positions,
            cache=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self.width += count
        self.lengths = self.lengths + real.sum(1)
        logits: torch.Tensor = output.logits[:, -1].float()
        return logits

    def rewind(self, width: int, lengths: torch.Tensor) -> None:
        """Forgets what was fed after the batch had that width and those lengths."""
        for layer in self.cache.layers:
            layer.truncate(width)
        self.mask[:, width:] = False
        self.width, self.lengths = width, lengths


def common_prefix(sequences: Sequence[Sequence[int]]) -> int:
    """Length of the longest start that all sequences share, leaving each at least one more token.

    >>> common_prefix([[1, 2, 3, 4], [1, 2, 5]])
    2
    """
    shortest = min(len(sequence) for sequence in sequences) - 1
    first = sequences[0]
    for position in range(shortest):
        if any(sequence[position] != first[position] for sequence in sequences):
            return position
    return shortest


def start_rows(
    model: Any, prompts: Sequence[list[int]], heads: Sequence[str], room: int
) -> tuple[Rows, torch.Tensor]:
    """Computes prompts, each distinct head once, and reserves `room` more tokens a row.

    Args:
        prompts: token ids a row; `heads` names for each row the group whose common start is shared.

    Returns:
        The rows, and the logits [rows, vocab] of the token after each prompt.
    """
    groups: dict[str, list[int]] = {}
    for row, head in enumerate(heads):
        groups.setdefault(head, []).append(row)
    shared = {head: common_prefix([prompts[row] for row in rows]) for head, rows in groups.items()}
    if min(shared.values()) == 0:  # nothing to share: every row then starts from its own first token
        groups = {str(row): [row] for row in range(len(prompts))}
        shared = {str(row): max(1, len(prompts[row]) - 1) for row in range(len(prompts))}
    longest = max(shared.values())
    tails = {row: prompts[row][shared[head] :] for head, rows in groups.items() for row in rows}
    tail_width = max(len(tail) for tail in tails.values())
    rows_state = _reserve(model, len(prompts), longest, longest + tail_width + room)
    for head, rows in groups.items():
        _copy_head(model, rows_state, prompts[rows[0]][: shared[head]], rows, longest)
    ids = torch.zeros(len(prompts), tail_width, dtype=torch.long)
    real = torch.zeros(len(prompts), tail_width, dtype=torch.bool)
    for row, tail in tails.items():
        ids[row, tail_width - len(tail) :] = torch.tensor(tail)
        real[row, tail_width - len(tail) :] = True
    return rows_state, rows_state.feed(ids.to(model.device), real.to(model.device))


def _reserve(model: Any, rows: int, width: int, reserved: int) -> Rows:
    config = model.config
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    shape = (rows, config.num_key_value_heads, reserved, size)
    layers = []
    for _ in range(config.num_hidden_layers):
        keys = torch.zeros(shape, dtype=model.dtype, device=model.device)
        layers.append(_ReservedLayer(keys, torch.zeros_like(keys), width))
    cache = DynamicCache()
    cache.layers = layers
    mask = torch.zeros(rows, reserved, dtype=torch.bool, device=model.device)
    return Rows(model, cache, mask, torch.zeros(rows, dtype=torch.long, device=model.device), width)


def _copy_head(model: Any, state: Rows, head: list[int], rows: list[int], end: int) -> None:
    """Writes one head's keys and values into all its rows, flush with column `end`."""
    ids = torch.tensor([head], device=model.device)
    filled = model(input_ids=ids, use_cache=True, cache=DynamicCache(), logits_to_keep=1).cache
    start = end - len(head)
    for layer, source in zip(state.cache.layers, filled.layers, strict=True):
        layer.reserved_keys[rows, :, start:end] = source.keys
        layer.reserved_values[rows, :, start:end] = source.values
    state.mask[rows, start:end] = True
    state.lengths[rows] = len(head)
