import re

import pytest

from phidrift.core.document import ENTITIES
from phidrift.core.errors import PhidriftError
from phidrift.generation.prompts import load_prompts

PROMPTS = load_prompts()


@pytest.mark.parametrize("entity", ENTITIES)
@pytest.mark.parametrize("positive", [True, False])
def test_every_expression_compiles_and_has_no_empty_place(entity: str, positive: bool):
    for seed in range(60):
        expression = PROMPTS.constraint(entity, positive, seed)
        re.compile(expression)
        assert "$" not in expression
        assert (f"<{entity}>" in expression) == positive
        assert expression.count(f"<{entity}>") in ((1, 2) if positive else (0,))


def test_an_expression_takes_what_it_is_for_and_nothing_else():
    prose = r"[A-Z][A-Za-z -]*"
    for seed in range(40):
        expression = PROMPTS.constraint("DATE", False, seed)
        opener = re.match(r"\((.+?)\|", expression).group(1)
        good = f"{opener} seen with mild pain. "
        assert re.fullmatch(prose, opener)
        third = expression.count("\\.") == 3
        ends = re.findall(r"\(([A-Z][^()|]*)\|[^()]*\)\(", expression)
        text = (
            good + f"{ends[1]} seen with mild pain." + (f" {ends[2]} seen with mild pain." if third else "")
        )
        assert re.fullmatch(expression, text)
        assert not re.fullmatch(expression, text.replace("mild", "<DATE>3 May</DATE>"))
        assert not re.fullmatch(expression, text.replace("mild", "May"))


def test_numbers_and_domains_are_reserved():
    expressions = [PROMPTS.constraint("CONTACT", True, seed) for seed in range(60)]
    for inside in re.findall(r"<CONTACT>(.*?)</CONTACT>", " ".join(expressions)):
        assert "555-01[0-9]{2}" in inside or "example\\.(org|com" in inside


def test_draws_belong_to_the_seed_and_differ():
    assert PROMPTS.tail(1) == PROMPTS.tail(1)
    assert len({PROMPTS.tail(seed) for seed in range(40)}) > 35
    assert len({PROMPTS.constraint("PERSON", True, seed) for seed in range(40)}) > 35


def test_examples_stand_in_the_shared_head():
    head = PROMPTS.head("DATE", True, ["Seen on <DATE>3 May</DATE>."])
    assert head.startswith(PROMPTS.head("DATE", True, []))
    assert "- Seen on <DATE>3 May</DATE>.\n" in head


def test_an_unknown_criterion_is_told():
    with pytest.raises(PhidriftError, match=r"'beauty'.*realism"):
        PROMPTS.judge_questions(["beauty"])
