"""The structure check: is a model's answer a usable fragment with sound annotation?"""

import re
from dataclasses import dataclass

from phidrift.core.document import Span
from phidrift.core.text import words

_TAG = re.compile(r"<(/?)([A-Z]+)>")
_LEAST_WORDS = 6
_LEAST_DISTINCT = 0.4  # share of a text's words that differ from all before them

# Worst first: a sample's outcome is the first of its failed checks.
CHECKS = (
    "truncated",
    "broken_markup",
    "unexpected_entity",
    "empty_entity",
    "no_markup",
    "too_short",
    "repetitive",
    "duplicate",
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """Text without markup, spans in its code points, and the checks that it failed (empty: well formed)."""

    text: str
    spans: tuple[Span, ...]
    checks: tuple[str, ...]

    @property
    def outcome(self) -> str:
        return self.checks[0] if self.checks else "ok"


def mark(text: str, spans: tuple[Span, ...]) -> str:
    """The text with its spans marked, as a model is asked to write it.

    >>> mark("Seen by Ann Lee.", (Span(8, 15, "PERSON"),))
    'Seen by <PERSON>Ann Lee</PERSON>.'
    """
    for span in reversed(spans):
        inside = text[span.start : span.end]
        text = f"{text[: span.start]}<{span.label}>{inside}</{span.label}>{text[span.end :]}"
    return text


def parse(raw: str, entity: str, positive: bool, finish_reason: str) -> Parsed:
    """Takes the markup out of an answer and checks it.

    A positive sample must hold at least one marked span, of its entity only; a negative one none. Blanks around
    the answer are no part of the text. Where the markup is broken there is no text.

    >>> parse("Seen on <DATE>3 May</DATE>, feeling better today.", "DATE", True, "stop").spans
    (Span(start=8, end=13, label='DATE'),)
    """
    failed = {"truncated"} if finish_reason == "length" else set()
    pieces: list[str] = []
    spans: list[Span] = []
    raw = raw.strip()
    length, last, opened = 0, 0, None
    for tag in _TAG.finditer(raw):
        piece = raw[last : tag.start()]
        pieces.append(piece)
        length, last = length + len(piece), tag.end()
        closing, label = tag.group(1) == "/", tag.group(2)
        if label != entity or not positive:
            failed.add("unexpected_entity")
        if closing == (opened is None) or (opened is not None and opened[1] != label):
            failed.add("broken_markup")
            break
        if opened is None:
            opened = (length, label)
            continue
        inside = "".join(pieces)[opened[0] : length]
        if not inside.strip():
            failed.add("empty_entity")
        else:
            left = len(inside) - len(inside.lstrip())
            spans.append(Span(opened[0] + left, opened[0] + len(inside.rstrip()), label))
        opened = None
    if opened is not None:
        failed.add("broken_markup")
    if "broken_markup" in failed:
        return Parsed("", (), _ordered(failed))
    text = "".join(pieces) + raw[last:]
    if positive and not spans and "empty_entity" not in failed:
        failed.add("no_markup")
    found = words(text)
    if len(found) < _LEAST_WORDS:
        failed.add("too_short")
    elif len(set(found)) < _LEAST_DISTINCT * len(found):
        failed.add("repetitive")
    return Parsed(text, tuple(spans), _ordered(failed))


def _ordered(failed: set[str]) -> tuple[str, ...]:
    return tuple(check for check in CHECKS if check in failed)
