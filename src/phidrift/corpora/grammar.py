"""Small text grammars as data, expanded at random from a seed; PHI spans are tracked while text is written."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from phidrift.corpora.source import RawSpan

Grammar = Mapping[str, Sequence[str]]

_PART = re.compile(r"\[(?P<tag>[A-Z]+)\|(?P<inner>[^\[\]]*)\]|\{(?P<reference>[^{}]+)\}")
_WEIGHT = re.compile(r"\*(\d+) ")


def load_grammar(name: str) -> dict[str, list[str]]:
    """The rules of grammar_NAME.yaml: name -> alternatives, of which "*3 text" counts three times."""
    rules = yaml.safe_load(Path(__file__).with_name(f"grammar_{name}.yaml").read_text(encoding="utf-8"))
    return {rule: _weighted(alternatives) for rule, alternatives in rules.items()}


def _weighted(alternatives: Sequence[object]) -> list[str]:
    weighted: list[str] = []
    for text in map(str, alternatives):
        weight = _WEIGHT.match(text)
        weighted += [text[weight.end() :]] * int(weight[1]) if weight else [text]
    return weighted


def expand(template: str, grammar: Grammar, rng: random.Random) -> tuple[str, list[RawSpan]]:
    """(text, spans) of a template.

    - `{rule}`: one alternative of a rule, itself a template
    - `[TAG|template]`: a span with that label; spans don't nest
    - `{int:5-40}`: a whole number, padded with zeros where the lower bound is (`{int:01-12}`)
    - `{num:##-###}`: a digit for every #
    - `{many:rule:2-4}`: that many different alternatives, one after the other
    - `{upper:rule}`, `{lower:rule}`, `{cap:rule}`, `{initial:rule}`: in capitals, small letters, with a capital
      first, its first letter alone

    >>> expand("Seen on [DATE|{int:3-3}/4].", {}, random.Random(1))[0]
    'Seen on 3/4.'

    Raises:
        KeyError: a rule that the grammar doesn't have.
    """
    text, position = "", 0
    spans: list[RawSpan] = []
    for part in _PART.finditer(template):
        text += template[position : part.start()]
        position = part.end()
        if part["tag"]:
            inner, nested = expand(part["inner"], grammar, rng)
            if nested:
                raise ValueError(f"spans nest in {template!r}")
            spans.append(RawSpan(len(text), len(text) + len(inner), part["tag"], inner))
        else:
            inner, nested = _resolve(part["reference"], grammar, rng)
            spans += [RawSpan(s.start + len(text), s.end + len(text), s.label, s.surface) for s in nested]
        text += inner
    return text + template[position:], spans


def _resolve(reference: str, grammar: Grammar, rng: random.Random) -> tuple[str, list[RawSpan]]:
    name, _, argument = reference.partition(":")
    if not argument:
        return expand(rng.choice(grammar[name]), grammar, rng)
    if name == "int":
        low, _, high = argument.partition("-")
        return str(rng.randint(int(low), int(high))).zfill(len(low)), []
    if name == "num":
        return "".join(str(rng.randrange(10)) if sign == "#" else sign for sign in argument), []
    if name == "many":
        rule, _, bounds = argument.partition(":")
        low, _, high = bounds.partition("-")
        different = list(dict.fromkeys(grammar[rule]))
        count = min(rng.randint(int(low), int(high)), len(different))
        return expand("".join(rng.sample(different, count)), grammar, rng)
    text, spans = expand(rng.choice(grammar[argument]), grammar, rng)
    changed = _CHANGES[name](text)
    if spans and len(changed) != len(text):
        raise ValueError(f"{name} changes the length of a text with spans: {reference!r}")
    return changed, [RawSpan(s.start, s.end, s.label, changed[s.start : s.end]) for s in spans]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _initial(text: str) -> str:
    return text[:1]


_CHANGES: Mapping[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "cap": _capital,
    "initial": _initial,
}
