import math
from collections import Counter

import pytest
import torch

from phidrift.generation.sampling import draw, uniforms

LOGITS = torch.log(torch.tensor([[0.1, 0.4, 0.2, 0.3]]))


def pick(uniform: float, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> int:
    number = torch.tensor([uniform], dtype=torch.float64)
    return int(draw(LOGITS, number, torch.tensor([temperature]), [top_k], torch.tensor([top_p]))[0])


def test_inversion_by_hand():
    # Likeliest first: token 1 holds [0, .4), token 3 [.4, .7), token 2 [.7, .9), token 0 [.9, 1).
    assert [pick(u) for u in (0.0, 0.39, 0.41, 0.69, 0.71, 0.89, 0.91, 0.999)] == [1, 1, 3, 3, 2, 2, 0, 0]


def test_top_k_and_top_p_by_hand():
    # Two likeliest: 4/7 and 3/7. A nucleus of 0.75 needs 0.4 + 0.3 + 0.2, so 4/9, 3/9, 2/9.
    assert [pick(u, top_k=2) for u in (0.57, 0.58, 0.99)] == [1, 3, 3]
    assert [pick(u, top_p=0.75) for u in (0.44, 0.45, 0.77, 0.78, 0.99)] == [1, 3, 3, 2, 2]
    # Within the two likeliest, 4/7 alone reaches a nucleus of 0.5.
    assert [pick(u, top_k=2, top_p=0.5) for u in (0.1, 0.99)] == [1, 1]


def test_temperature_by_hand():
    # At temperature 0.5 the odds of token 1 are 16 / (1 + 16 + 4 + 9) = 0.533.
    assert pick(0.53, temperature=0.5) == 1
    assert pick(0.54, temperature=0.5) == 3


@pytest.mark.parametrize("top_p", [0.9, 1.0])
def test_forbidden_tokens_are_never_drawn(top_p: float):
    logits = torch.tensor([[0.0, -math.inf, 0.0, -math.inf]]).expand(200, -1)
    numbers = torch.cat([uniforms(1, 199), torch.tensor([1 - 1e-16], dtype=torch.float64)])
    found = Counter(draw(logits, numbers, torch.ones(200), [0] * 200, torch.full((200,), top_p)).tolist())
    assert set(found) == {0, 2}
    assert 60 < found[0] < 140  # 100 expected, sd 7


def test_a_flat_nucleus_over_more_tokens_than_are_sorted_first():
    # 4,000 equal tokens: half of the mass is 2,000 of them, more than the 1,024 sorted at first.
    logits = torch.zeros(1, 4000)
    last = draw(logits, torch.tensor([0.9999], dtype=torch.float64), torch.ones(1), [0], torch.tensor([0.5]))
    every = {
        int(
            draw(logits, torch.tensor([u / 50], dtype=torch.float64), torch.ones(1), [0], torch.tensor([0.5]))
        )
        for u in range(50)
    }
    assert 0 <= int(last) < 4000
    assert len(every) == 50


def test_random_numbers_belong_to_the_seed():
    assert torch.equal(uniforms(3, 5), uniforms(3, 9)[:5])
    assert not torch.equal(uniforms(3, 5), uniforms(4, 5))
