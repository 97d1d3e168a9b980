"""What counts as one word, however it is written: its case and its apostrophes are nobody's name."""

_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ", "'"))


def folded(word: str) -> str:
    """The word without its case, with ASCII apostrophes.

    >>> folded("O’Brien") == folded("O'BRIEN")
    True
    """
    return word.casefold().translate(_APOSTROPHES)
