"""Layout metrics: line breaks, key-value lines, bullets, ALL-CAPS, special characters.

Each is a predicate on one unit of text; `phidrift.drift.profile` counts it, and the ratio is taken over a corpus or a
sample. Sentences are bounded by line ends. Source of all five: the study's appendix on drift metrics.
"""

import re
import unicodedata
from functools import cache

from phidrift.drift.lexical import ratio

_BULLET_SIGN = r"[-–—*+•‣⁃▪▫◦●○■□➢➤►·]"
_BULLET = re.compile(rf"{_BULLET_SIGN}\s|[•‣⁃▪▫◦●○■□➢➤►]|(?:\d{{1,3}}[.)]|[A-Za-z]\))(?:\s|$)")
# A key: starts with a letter, at most five words. A colon between digits is a time or a ratio, "//" a URL.
_KEY_VALUE = re.compile(
    rf"(?:{_BULLET_SIGN}\s+)?"
    r"(?!\S*://)(?!www\.)(?!mailto:)"
    r"[^\W\d_][\w.()/&'’#-]*(?:[ \t]+[\w.()/&'’#-]+){0,4}"
    r"[ \t]*(?::(?![:/])(?!(?<=\d:)\d)|=(?!=))[ \t]*[^\s=]"
)
# Symbols (Unicode S*: $ ^ ` ~ + < = > | and every other currency or mathematical sign) and these.
_SPECIAL = frozenset("@#%&*\\_{}")


def line_breaks(text: str) -> int:
    r"""Explicit line breaks in a text; CRLF is one.

    >>> line_breaks("a\r\nb\n")
    2
    """
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def line_break_density(breaks: int, tokens: int) -> float:
    """Line breaks per 100 tokens, 0 up.

    Raises:
        Undefined: no tokens.
    """
    return 100 * ratio(breaks, tokens, "no tokens")


def is_key_value(sentence: str) -> bool:
    """Whether a sentence has the form `Key: value` or `A=B`.

    A heading (`Plan:`) has no value; times (10:30), ratios and URLs are no pairs; a key has at most five words.

    >>> [is_key_value(s) for s in ("Name: Ann Lee", "dose=5", "Seen at 10:30", "https://example.org", "Plan:")]
    [True, True, False, False, False]
    """
    return _KEY_VALUE.match(sentence) is not None


def is_bullet(sentence: str) -> bool:
    """Whether a sentence opens with a bullet sign or an ordinal such as `1.`, `2)` or `a)`.

    >>> [is_bullet(s) for s in ("- rest", "1. rest", "1.5 mg daily", "-5 degrees")]
    [True, True, False, False]
    """
    return _BULLET.match(sentence) is not None


def is_all_caps(token: str) -> bool:
    """Whether a token is in capitals and has two letters or more.

    >>> [is_all_caps(t) for t in ("MRI", "ICD10", "I", "B12", "Mr")]
    [True, True, False, False, False]
    """
    return token.isupper() and sum(map(str.isalpha, token)) >= 2


def has_special(chunk: str) -> bool:
    """Whether a chunk holds a special character: one of @#%&*\\_{} or a Unicode symbol such as $, ^ or =."""
    return any(map(_is_special, chunk))


@cache
def _is_special(character: str) -> bool:
    return character in _SPECIAL or unicodedata.category(character)[0] == "S"
