"""Surrogates of persons: invented names, the same for the same name all through a document."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from phidrift.deidentification.surrogates.draw import Draw
from phidrift.deidentification.surrogates.folding import folded

_LETTERS = r"[^\W\d_ʼ]"  # ʼ is an apostrophe that Unicode counts among the letters
# These tell nobody's name, and stay. The second list would be names at the start ("Md Rahman", "Do").
_TITLES = {
    *("dr", "drs", "doctor", "mr", "mrs", "ms", "miss", "mx", "prof", "professor", "sir", "madam"),
}
_SUFFIXES = {"MD", "RN", "PHD", "JR", "SR", "II", "III"}
_DEGREE = r"(?<=[\s,])(?:M\.D|R\.N|Ph\.D|D\.O)\.?(?=\s*$)"
_PARTICLE = r"\b(?:von|van|der|den|de|la|del|della|di|da|dos|du|ten|ter|zu)\b[\s-]+"
_PART = re.compile(
    rf"(?P<kept>{_DEGREE}|['’‘ʼ][sS]\b)|(?P<particle>{_PARTICLE}(?={_LETTERS}))"
    rf"|(?P<word>{_LETTERS}+(?:['’‘ʼ]{_LETTERS}{{2,}})*)"
)
# What may stand between words and stays; any other sign could be part of what was to be hidden.
_BETWEEN = re.compile(r"[\s.,;:'’‘ʼ\"“”()/\\^&-]*")


def person_surrogates(surfaces: Sequence[str], draw: Draw) -> list[str | None]:
    """One surrogate for each mention of a person in a document; None for what doesn't read as a name.

    Every word has a surrogate of its own, whatever its case and apostrophes and wherever it stands: so "Dr. Anna
    Weber", "WEBER" and "A. Weber" stay one person. Titles, degrees and the possessive 's stay; particles (von, de la)
    go. A surrogate starts with another letter than the word, and is none of the document's own names. Genders are not
    heeded.

    Args:
        surfaces: the mentions, in text order.
        draw: of the document.
    """
    mentions = [unicodedata.normalize("NFC", surface) for surface in surfaces]
    roles = _roles(mentions)
    new = _assigned(roles, draw)
    full = _full_names(mentions)
    return [_written(mention, new, full, draw) for mention in mentions]


def _parts(mention: str) -> Iterator[tuple[re.Match[str], bool]]:
    """(match, whether it is a word of the name) for what `_PART` finds."""
    first = True
    for match in _PART.finditer(mention):
        word = match["word"]
        title = word is not None and (word.casefold() in _TITLES or (not first and word.upper() in _SUFFIXES))
        yield match, word is not None and not title
        first = False


def _words(mention: str) -> list[str]:
    return [match[0] for match, is_name in _parts(mention) if is_name]


def _split(mention: str) -> tuple[list[str], list[str]]:
    """(given names, surnames), by where they stand: "Anna Weber", or "Weber, Anna"; both empty for a single word."""
    before, comma, after = mention.partition(",")
    surnames, given = _words(before), _words(after)
    if comma and surnames and given:
        return given, surnames
    words = _words(mention)
    return (words[:-1], words[-1:]) if len(words) > 1 else ([], [])


def _roles(mentions: Sequence[str]) -> dict[str, str]:
    """Folded word -> given or surname, in order of appearance; initials are left out."""
    roles: dict[str, str] = {}
    known: dict[str, str] = {}
    for mention in mentions:
        for role, words in zip(("given", "surname"), _split(mention), strict=True):
            for word in words:
                known.setdefault(folded(word), role)
    for mention in mentions:
        for word in _words(mention):
            if len(word) > 1:
                roles.setdefault(folded(word), known.get(folded(word), "surname"))
    return roles


def _assigned(roles: dict[str, str], draw: Draw) -> dict[str, str]:
    """Folded word -> surrogate; words for which none is left are missing."""
    new: dict[str, str] = {}
    used: set[str] = set()
    for word, role in roles.items():
        able = [
            name for name in _pool(role) if _initial(name) != _initial(word) and folded(name) not in roles
        ]
        fresh = [name for name in able if name not in used] or able
        if fresh:
            new[word] = fresh[draw(f"name {role} {word}", len(fresh))]
            used.add(new[word])
    return new


@cache
def _pool(role: str) -> tuple[str, ...]:
    from faker.providers.person.en_US import Provider

    return tuple(sorted(set(Provider.last_names if role == "surname" else Provider.first_names)))


def _initial(word: str) -> str:
    """The first letter, folded and without its accent."""
    return unicodedata.normalize("NFKD", word)[0].casefold()


def _full_names(mentions: Sequence[str]) -> list[tuple[str, str]]:
    """(given name, surname), folded, of each mention that has both in full."""
    found = []
    for mention in mentions:
        given, surnames = _split(mention)
        if given and surnames:
            pairs = [(folded(name), folded(surnames[-1])) for name in given if len(name) > 1]
            found += pairs
    return found


def _written(mention: str, new: dict[str, str], full: Sequence[tuple[str, str]], draw: Draw) -> str | None:
    parts, done, changed = [], 0, False
    surname = next((folded(word) for word in reversed(_words(mention)) if len(word) > 1), "")
    for match, is_name in _parts(mention):
        between = mention[done : match.start()]
        if not _BETWEEN.fullmatch(between):
            return None
        parts.append(between)
        done = match.end()
        word = match[0]
        if not is_name:
            parts.append("" if match["particle"] else word)
            continue
        changed = True
        if len(word) == 1:
            parts.append(_in_case(_new_initial(word, surname, new, full, draw), word))
        elif folded(word) in new:
            parts.append(_in_case(new[folded(word)], word))
        else:
            return None
    if not changed or not _BETWEEN.fullmatch(mention[done:]):
        return None
    return "".join([*parts, mention[done:]])


def _new_initial(
    letter: str, surname: str, new: dict[str, str], full: Sequence[tuple[str, str]], draw: Draw
) -> str:
    """The first letter of the surrogate of the given name that the initial stands for, if the document tells it."""
    initial = _initial(letter)
    for given, last in full:
        if _initial(given) == initial and last == (surname or last) and given in new:
            return new[given][0]
    others = [each for each in "ABCDEFGHIJKLMNOPRSTVW" if each.casefold() != initial]
    return others[draw(f"initial {initial} {surname}", len(others))]


def _in_case(name: str, like: str) -> str:
    if len(like) > 1 and like.isupper():
        return name.upper()
    return name.lower() if like.islower() else name
