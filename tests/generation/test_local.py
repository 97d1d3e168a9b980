"""The real 135M model: few, short answers."""

import math
import re
from dataclasses import replace

import pytest
import torch

from phidrift.core.errors import PhidriftError
from phidrift.generation.engine import Request, Sampling
from phidrift.generation.kv import common_prefix, start_rows
from phidrift.generation.local import TransformersEngine
from phidrift.generation.prompts import load_prompts

SHAPE = r"[A-Z][a-z]+( [a-z]+){2,5} on <DATE>[1-9] (May|June) 20[0-2][0-9]</DATE>\."


def requests(count: int) -> list[Request]:
    sampling = Sampling(temperature=0.8, top_p=0.95, top_k=50, max_tokens=32)
    return [Request("Write a clinical note.", f" Bed {n}.", n, sampling, SHAPE) for n in range(count)]


def test_one_batch_one_answer_and_the_constraint_holds(smol: TransformersEngine):
    asked = [*requests(3), replace(requests(1)[0], head="Another head, a longer one.")]
    answers = smol.answer(asked)
    assert answers == smol.answer(asked)
    for answer in answers:
        assert answer.finish_reason == "stop"
        assert re.fullmatch(SHAPE, answer.text)


def test_seeds_make_answers_differ_and_length_is_a_reason(smol: TransformersEngine):
    sampling = Sampling(temperature=1.0, max_tokens=8)
    answers = smol.answer([Request("Tell a story.", "", seed, sampling) for seed in range(4)])
    assert len({answer.text for answer in answers}) == 4
    assert {(answer.finish_reason, answer.tokens) for answer in answers} == {("length", 8)}


def test_a_shared_head_gives_the_logits_of_the_whole_prompt(smol: TransformersEngine):
    # Oracle: each prompt alone through the plain model. bf16 keeps about three digits; logits reach about 20.
    prompts = [[5, 9, 300, 41, 7], [5, 9, 300, 80], [11, 12, 13], [5, 9, 300, 41, 90, 6]]
    with torch.inference_mode():
        _, logits = start_rows(smol._model, prompts, ["a", "a", "b", "a"], 2)
        for row, ids in enumerate(prompts):
            alone = smol._model(input_ids=torch.tensor([ids])).logits[0, -1].float()
            assert torch.corrcoef(torch.stack([alone, logits[row]]))[0, 1] > 0.999
            assert (alone - logits[row]).abs().max() < 0.6


def test_common_prefix_leaves_each_a_token():
    assert common_prefix([[1, 2, 3], [1, 2, 3]]) == 2
    assert common_prefix([[1, 2], [3, 2]]) == 0


def test_expected_rating_is_that_of_the_whole_prompt(smol: TransformersEngine):
    # Oracle: one full forward pass a question, softmax over the five digit tokens by hand.
    prompts = load_prompts()
    texts, questions = (
        ["Pain has eased.", "Seen on <DATE>3 May 2020</DATE> with a cough."],
        ["Good, 1 to 5?", "Sound, 1 to 5?"],
    )
    found = smol.digit_scores(prompts.judge_head(), texts, questions)
    start, end = smol._split_template()
    for text, row in zip(texts, found, strict=True):
        for question, score in zip(questions, row, strict=True):
            first = smol._ids(start + prompts.judge_head() + text + "\n\n")
            ids = first + smol._ids(question + end + "Rating:")
            with torch.inference_mode():
                logits = smol._model(input_ids=torch.tensor([ids])).logits[0, -1].double()
            weights = [math.exp(float(logits[i])) for i in smol._digit_ids()]
            expected = sum((k + 1) * w for k, w in enumerate(weights)) / sum(weights)
            assert score == pytest.approx(expected, abs=0.05)
            assert 1 < score < 5


def test_a_wrong_expression_is_told(smol: TransformersEngine):
    with pytest.raises(PhidriftError, match="constraint"):
        smol.answer([replace(requests(1)[0], constraint="a(b")])
