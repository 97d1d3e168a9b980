import pytest
import torch

from phidrift.tagging.dropout import drop, quick_dropout


def test_the_share_and_the_mean_are_those_of_dropout():
    torch.manual_seed(1)
    ones = torch.ones(1_000_001)
    found = drop(ones, 0.1)
    # Binomial: sd of the share dropped is sqrt(0.1 * 0.9 / 1e6) = 0.0003; five of them.
    assert float((found == 0).float().mean()) == pytest.approx(0.1, abs=0.0015)
    # p is 6554 of 65536; what stays is divided by what is left of 1.
    assert found.unique().tolist() == pytest.approx([0.0, 65536 / (65536 - 6554)])
    assert float(found.double().mean()) == pytest.approx(1.0, abs=0.002)


def test_each_of_the_four_elements_of_a_draw_is_dropped_alike_and_on_its_own():
    torch.manual_seed(2)
    kept = (drop(torch.ones(400_000), 0.5) > 0).double().view(-1, 4)
    # sd of a column's mean: 0.5 / sqrt(100,000) = 0.0016; of a correlation: 0.0032; five of each.
    assert kept.mean(0).tolist() == pytest.approx([0.5] * 4, abs=0.008)
    assert (torch.corrcoef(kept.T) - torch.eye(4)).abs().max() < 0.016


def test_a_seed_repeats_it_and_the_next_draw_differs():
    torch.manual_seed(3)
    first, second = drop(torch.ones(64), 0.5), drop(torch.ones(64), 0.5)
    torch.manual_seed(3)
    assert torch.equal(drop(torch.ones(64), 0.5), first)
    assert not torch.equal(first, second)


def test_the_gradient_goes_where_the_value_went():
    torch.manual_seed(4)
    value = torch.full((5, 7), 2.0, requires_grad=True)
    found = drop(value, 0.3)
    found.sum().backward()
    assert value.grad is not None
    assert torch.equal(value.grad * 2.0, found.detach())


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.9, False)])
def test_nothing_is_dropped_at_0_or_outside_training(p: float, training: bool):
    value = torch.ones(3)
    assert drop(value, p, training) is value


def test_all_is_dropped_at_1():
    assert drop(torch.ones(3), 1.0).tolist() == [0.0, 0.0, 0.0]


def test_modules_use_it_within_and_torchs_own_after():
    own, layer = torch.nn.functional.dropout, torch.nn.Dropout(0.5)
    with quick_dropout():
        torch.manual_seed(5)
        inside = layer(torch.ones(64))
    assert torch.nn.functional.dropout is own
    torch.manual_seed(5)
    assert torch.equal(inside, drop(torch.ones(64), 0.5))


def test_an_error_within_ends_it():
    own = torch.nn.functional.dropout
    with pytest.raises(AttributeError), quick_dropout():
        torch.nn.Dropout(0.5)(None)
    assert torch.nn.functional.dropout is own
