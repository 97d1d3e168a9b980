"""The surrogates of all marks of a document."""

from collections.abc import Callable, Sequence

from phidrift.deidentification.redaction import Mark
from phidrift.deidentification.surrogates.addresses import address_surrogates
from phidrift.deidentification.surrogates.contacts import contact_surrogates
from phidrift.deidentification.surrogates.dates import day_offset, shifted_dates
from phidrift.deidentification.surrogates.draw import Draw, document_draw
from phidrift.deidentification.surrogates.names import person_surrogates


def _dates(surfaces: Sequence[str], draw: Draw) -> list[str | None]:
    return shifted_dates(surfaces, day_offset(draw))


_KINDS: dict[str, Callable[[Sequence[str], Draw], list[str | None]]] = {
    "ADDRESS": address_surrogates,
    "CONTACT": contact_surrogates,
    "DATE": _dates,
    "PERSON": person_surrogates,
}


def document_surrogates(text: str, marks: Sequence[Mark], secret: bytes, document: int) -> list[str | None]:
    """One surrogate a mark; None where there is none to be had, and the mark is to be masked.

    None equals what it stands for. Within the document the same name, contact or address has the same surrogate, and
    all dates are shifted by one number of days; other documents have others.

    Args:
        text: of the document.
        marks: as of `redaction.resolved`.
        secret: of the run (see `draw.document_draw`).
        document: its number in the run.
    """
    draw = document_draw(secret, document)
    found: list[str | None] = [None] * len(marks)
    for label, surrogates in _KINDS.items():
        places = [place for place, mark in enumerate(marks) if mark.label == label]
        surfaces = [text[marks[place].start : marks[place].end] for place in places]
        for place, surface, new in zip(places, surfaces, surrogates(surfaces, draw), strict=True):
            found[place] = None if new == surface else new
    return found
