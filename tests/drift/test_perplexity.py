"""Perplexity against a plain loop, one document and one window at a time, on a tiny random model."""

import math

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from phidrift.drift import Undefined
from phidrift.drift.perplexity import document_nll, perplexity

TEXTS = ["abcabc", "", "a", "hello world " * 6, "zz", "the quick brown fox"]


class Letters:
    """A tokenizer of one token a character; BOS is 1 where it has one."""

    def __init__(self, bos):
        self.bos_token_id = bos

    def __call__(self, text, add_special_tokens, verbose):
        assert not add_special_tokens
        return {"input_ids": [2 + ord(character) % 28 for character in text]}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for models this small, threads cost more than they bring
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=["llama", "gpt2"])
def model(request):
    torch.manual_seed(0)
    if request.param == "llama":
        config = LlamaConfig(
            vocab_size=30,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=64,
            initializer_range=0.5,
        )
        return LlamaForCausalLM(config).eval()
    config = GPT2Config(
        vocab_size=30, n_embd=16, n_layer=2, n_head=2, n_positions=64, initializer_range=0.5,
        bos_token_id=1, eos_token_id=1,
    )  # fmt: skip
    return GPT2LMHeadModel(config).eval()


def by_loop(text, model, bos, window):
    ids = Letters(bos)(text, False, False)["input_ids"]
    ids = ids if bos is None else [bos, *ids]
    total, count = 0.0, 0
    for target in range(1, len(ids)):
        # Windows start at multiples of window/2; the first that holds the target predicts it.
        start = 0
        while target >= start + window:
            start += window // 2
        with torch.no_grad():
            logits = model(torch.tensor([ids[start:target]])).logits[0, -1].double()
        total -= float(logits[ids[target]] - torch.logsumexp(logits, 0))
        count += 1
    return total, count


@pytest.mark.parametrize("bos", [1, None])
@pytest.mark.parametrize("window", [8, 64])
def test_is_a_plain_loop_over_documents(model, bos, window):
    expected = [by_loop(text, model, bos, window) for text in TEXTS]
    for batch_tokens in (1, 50, 10_000):  # one window at a time, some together, all together
        nll, predicted = document_nll(TEXTS, model, Letters(bos), window=window, batch_tokens=batch_tokens)
        np.testing.assert_allclose(nll, [total for total, _ in expected], rtol=1e-5, atol=1e-5)
        assert predicted.tolist() == [count for _, count in expected]


def test_a_document_does_not_depend_on_the_others_in_a_single_bit(model):
    texts = ["abcdefg hijk "[: 1 + n % 13] * (1 + n // 13) for n in range(80)]
    whole = document_nll(texts, model, Letters(1), window=32)[0]
    for part in (slice(0, 1), slice(5, 9), slice(79, 0, -7)):
        assert np.array_equal(document_nll(texts[part], model, Letters(1), window=32)[0], whole[part])


def test_window_is_no_longer_than_the_model_allows(model):
    texts = ["abcdefg " * 20]  # 160 tokens, the model sees 64
    long = document_nll(texts, model, Letters(1), window=1_000)[0]
    assert long == pytest.approx(document_nll(texts, model, Letters(1), window=64)[0])


def test_first_token_is_predicted_only_after_bos(model):
    assert document_nll(["abc"], model, Letters(1))[1].tolist() == [3]
    assert document_nll(["abc"], model, Letters(None))[1].tolist() == [2]


def test_the_limit_ends_the_reading_and_cuts_a_single_document(model):
    nll, predicted = document_nll(["abcd", "efgh", "ijkl"], model, Letters(1), most=6)
    assert predicted.tolist() == [4, 4, 0]  # at 4 of 6 another document is read, whole
    whole = document_nll(["abcd", "efgh"], model, Letters(1))[0]
    np.testing.assert_allclose(nll, [*whole, 0], rtol=1e-5)
    for bos in (1, None):
        assert document_nll(["abcdefghi", "ab"], model, Letters(bos), most=3)[1].tolist() == [3, 0]


def test_perplexity_of_a_corpus_is_not_the_mean_of_documents():
    # 1 token of probability 1/2, 3 tokens of 1/4: exp((ln 2 + 3 ln 4) / 4) = 2^(7/4); the mean would be 3.
    assert perplexity(math.log(2) + 3 * math.log(4), 4) == pytest.approx(2**1.75)
    with pytest.raises(Undefined, match="no predicted tokens"):
        perplexity(0.0, 0)
