"""Drawing the next token of every row of a batch, each row with its own settings and its own random numbers."""

from collections.abc import Sequence

import torch

_USUALLY_ENOUGH = 1024  # likeliest tokens that are sorted first; a row that needs more is sorted whole


def uniforms(seed: int, count: int) -> torch.Tensor:
    """`count` numbers in [0, 1) of one request: its answer doesn't depend on the other rows' random numbers."""
    return torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def draw(
    logits: torch.Tensor,
    uniform: torch.Tensor,
    temperature: torch.Tensor,
    top_k: Sequence[int],
    top_p: torch.Tensor,
) -> torch.Tensor:
    """Next token ids [rows] by inversion: temperature, then the top_k likeliest, then the top_p nucleus.

    Args:
        logits: [rows, vocab], -inf where a token is forbidden.
        uniform: [rows] numbers in [0, 1); the token whose stretch of the cumulative distribution, likeliest
            first, holds it is drawn.
        temperature, top_p: [rows]; top_k: 0 means no limit.

    The nucleus is the smallest set of likeliest tokens whose probability reaches top_p (Holtzman et al. 2020).
    """
    scaled = logits / temperature[:, None]
    total = scaled.logsumexp(1, keepdim=True)
    count = min(_USUALLY_ENOUGH, logits.shape[1])
    chosen, settled = _draw_sorted(scaled, total, count, uniform, top_k, top_p)
    if not bool(settled.all()):
        rest = (~settled).nonzero().flatten()
        ranks = [top_k[int(row)] for row in rest]
        again, _ = _draw_sorted(scaled[rest], total[rest], logits.shape[1], uniform[rest], ranks, top_p[rest])
        chosen[rest] = again
    return chosen


def _draw_sorted(
    scaled: torch.Tensor,
    total: torch.Tensor,
    count: int,
    uniform: torch.Tensor,
    top_k: Sequence[int],
    top_p: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draws among the `count` likeliest tokens; a row is settled where the tokens left out can't matter."""
    values, ids = scaled.topk(count, dim=1)
    probability = (values - total).double().exp()
    limits = torch.tensor([limit or scaled.shape[1] for limit in top_k], device=scaled.device)
    ranks = torch.arange(count, device=scaled.device)[None, :]
    probability = probability.masked_fill(ranks >= limits[:, None], 0.0)
    cumulative = probability.cumsum(1)
    limited = limits <= count
    whole = torch.where(limited, cumulative[:, -1], torch.ones_like(cumulative[:, -1]))
    nucleus = top_p.double() * whole
    # A token is in the nucleus where the likelier ones don't reach top_p yet.
    kept = (cumulative - probability) < nucleus[:, None]
    kept_mass = (probability * kept).sum(1)
    everything = torch.full_like(limited, count == scaled.shape[1])
    settled = limited | everything | (cumulative[:, -1] >= nucleus) & (top_p < 1)
    position = (cumulative <= (uniform.to(kept_mass.device) * kept_mass)[:, None]).sum(1)
    last = (kept & (probability > 0)).sum(1) - 1
    position = torch.minimum(position, last.clamp(min=0))
    return ids.gather(1, position[:, None])[:, 0], settled
