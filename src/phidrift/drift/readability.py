"""Readability: syllables of a word, and the Flesch-Kincaid grade of a corpus."""

from functools import cache

from phidrift.drift.undefined import Undefined

_LONGEST_WORD = 100  # characters; hyphenation takes time with the square of the length


@cache
def syllables(word: str) -> int:
    """Syllables of one word by textstat: CMU dictionary where it has the word, else hyphenation; a number counts 1.

    A run of over 100 characters is no word of a language, but perhaps a base64 block: one syllable in three characters.
    """
    if len(word) > _LONGEST_WORD:
        return len(word) // 3
    import textstat

    return int(textstat.textstat.syllable_count(word))


def flesch_kincaid(words: int, sentences: int, syllables: int) -> float:
    """Flesch-Kincaid grade of a corpus from its totals: 0.39 words/sentences + 11.8 syllables/words - 15.59.

    In US school grades, -3.4 up; higher is harder to read. The mean of the documents' grades is another statistic.

    Raises:
        Undefined: no words or no sentences.

    Source: Kincaid et al. 1975.

    >>> round(flesch_kincaid(10, 2, 15), 2)  # 0.39 * 5 + 11.8 * 1.5 - 15.59
    4.06
    """
    if words == 0 or sentences == 0:
        raise Undefined("no words")
    return 0.39 * words / sentences + 11.8 * syllables / words - 15.59
