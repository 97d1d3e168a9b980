"""Prompts and constraints, filled from prompts.yaml: the words are data, the choice among them is seeded."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from phidrift.core.errors import PhidriftError
from phidrift.generation.engine import digest

PROMPTS = Path(__file__).with_name("prompts.yaml")
_DEPTH = 8  # of parts within parts


@dataclass(frozen=True)
class Prompts:
    """The content of a prompts file."""

    data: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        return digest(self.data)

    @property
    def examples_shared_by(self) -> int:
        """Samples that are shown the same examples, so that their prompts share a computed head."""
        return int(self.data["examples_shared_by"])

    def head(self, entity: str, positive: bool, examples: Sequence[str]) -> str:
        """The part of a prompt that samples share: task, what the entity asks, examples with their markup."""
        wish = self.data["entities"][entity]["with" if positive else "without"]
        text = f"{self.data['task']} {wish}"
        if examples:
            text += self.data["examples"]
            text += "".join(Template(self.data["example"]).substitute(text=example) for example in examples)
        return text

    def tail(self, seed: int) -> str:
        """A sample's own part, drawn by its seed: whose note, what about, which kind."""
        draw = random.Random(f"tail {seed}")
        chosen = {name: draw.choice(values) for name, values in self.data["draws"].items()}
        return Template(self.data["details"]).substitute(chosen)

    def constraint(self, entity: str, positive: bool, seed: int) -> str:
        """The regular expression of a sample's whole answer, drawn by its seed: layout, cues, entity shapes."""
        draw = random.Random(f"constraint {seed}")
        layout = draw.choice(self.data["positive" if positive else "negative"])
        entity_data = self.data["entities"][entity]
        made: dict[str, Callable[[], str]] = {
            "${opener}": lambda: _any(draw.sample(self.data["openers"], self.data["openers_drawn"])),
            "${opening_mark}": lambda: self._mark(entity, "opening_cues", draw),
            "${mark}": lambda: " " + self._mark(entity, "cues", draw),
            "${lead}": lambda: self._lead(draw),
        }
        for place, make in made.items():
            while place in layout:
                layout = layout.replace(place, make(), 1)
        return _fill(layout, {**self.data["parts"], "word": entity_data.get("word", self.data["word"])})

    def judge_head(self) -> str:
        return str(self.data["judge"]["head"])

    def judge_questions(self, criteria: Sequence[str]) -> list[str]:
        """The question of each criterion.

        Raises:
            PhidriftError: a criterion has no question.
        """
        questions = self.data["judge"]["questions"]
        for name in criteria:
            if name not in questions:
                raise PhidriftError(
                    f"generation.judge.criteria: {name!r} has no question", mend=f"use {', '.join(questions)}"
                )
        return [str(questions[name]) for name in criteria]

    def _mark(self, entity: str, cues: str, draw: random.Random) -> str:
        data = self.data["entities"][entity]
        letters = self.data["initials"]
        initials = {
            name: "[" + "".join(sorted(draw.sample(letters, self.data["initials_drawn"]))) + "]"
            for name in ("initial", "initial2")
        }
        shape = _fill(draw.choice(data["shapes"]), {**initials, "small": initials["initial"].lower()})
        chosen = _any(draw.sample(data[cues], min(self.data["cues_drawn"], len(data[cues]))))
        return f"{chosen} <{entity}>{shape}</{entity}>"

    def _lead(self, draw: random.Random) -> str:
        least = draw.randint(*self.data["lead"])
        return f"{least},{least + 3}"


def load_prompts(path: Path = PROMPTS) -> Prompts:
    """Reads a prompts file."""
    return Prompts(yaml.safe_load(path.read_text(encoding="utf-8")))


def _any(choices: Sequence[str]) -> str:
    return "(" + "|".join(choices) + ")"


def _fill(text: str, parts: Mapping[str, str]) -> str:
    for _ in range(_DEPTH):
        filled = Template(text).safe_substitute(parts)
        if filled == text:
            break
        text = filled
    return text
