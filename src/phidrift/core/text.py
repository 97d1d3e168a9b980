"""The units that text is counted in: tokens, words, chunks, sentences.

Every count in the product (corpus statistics, drift metrics, limits in params.yaml) uses these four.
"""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")
_LINE = re.compile(r"[^\r\n]+")
# A full stop ends a sentence where white space and an upper-case letter, digit or opening sign follow.
_SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*(?=\s+[\"'(\[“‘]*[^\W_a-z])")
# "1." or "b." that opens a line numbers what follows.
_ORDINAL = re.compile(r"\s*(?:\d{1,3}|[^\W\d_])\.")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Dr|Mr|Mrs|Ms|Prof|St|Ave|Rd|Blvd|No|Nos|Art|vs|e\.g|i\.e|approx|Jan|Feb|Mar|Apr|Jun|Jul"
    r"|Aug|Sep|Sept|Oct|Nov|Dec|[A-Z])\.$"
)


def tokens(text: str) -> list[str]:
    """Runs of word characters, and every other non-blank character alone.

    >>> tokens("BP 120/80, stable.")
    ['BP', '120', '/', '80', ',', 'stable', '.']
    """
    return _TOKEN.findall(text)


def words(text: str) -> list[str]:
    """Case-folded word tokens.

    >>> words("Dr. Müller's note")
    ['dr', 'müller', 's', 'note']
    """
    return [word.casefold() for word in _WORD.findall(text)]


def chunks(text: str) -> list[str]:
    """White-space tokens.

    >>> chunks("BP 120/80, stable.")
    ['BP', '120/80,', 'stable.']
    """
    return text.split()


def sentence_offsets(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of every sentence, trimmed; line ends bound sentences too, since lists have no full stop.

    >>> [("A. Seen by Dr. Lee. Home:\\n- rest")[a:b] for a, b in sentence_offsets("A. Seen by Dr. Lee. Home:\\n- rest")]
    ['A. Seen by Dr. Lee.', 'Home:', '- rest']
    """
    for line in _LINE.finditer(text):
        start = line.start()
        for stop in _SENTENCE_END.finditer(text, line.start(), line.end()):
            # The rule above sees only the line's own text: a stop at its end needs no split.
            if start == line.start() and _ORDINAL.fullmatch(text, start, stop.end()):
                continue
            if _ABBREVIATION.search(text[max(start, stop.start() - 12) : stop.start() + 1]):
                continue
            yield from _trimmed(text, start, stop.end())
            start = stop.end()
        yield from _trimmed(text, start, line.end())


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in sentence_offsets(text)]


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
