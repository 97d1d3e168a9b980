"""Which files of the inputs nobody reads, by their endings: a person must know that they are still to be done."""

from collections import Counter
from collections.abc import Sequence

from phidrift.corpora.files import all_files, split_suffix
from phidrift.corpora.formats import FORMATS, format_named
from phidrift.corpora.reading import CorpusSource

_OTHER = "(other)"
# Others aren't named: what follows the last full stop of a file name may be a patient's.
_USUAL = (
    "md rst log html htm yaml yml pdf rtf doc docx odt xls xlsx ods ppt pptx eml msg zip tar tgz bz2 xz zst 7z"
    " png jpg jpeg gif bmp tif tiff dcm hl7 mp3 wav mp4 db sqlite py r sas sav dta ini cfg bak tmp sh lock"
)
_NAMEABLE = {f".{ending}" for ending in _USUAL.split()}.union(*(form.endings for form in FORMATS.values()))


def files_not_read(sources: Sequence[CorpusSource]) -> dict[str, int]:
    """Ending -> number of files at or under the sources that have it and that no source reads, most frequent first.

    An ending that is in no list of usual ones, or none, counts as "(other)". ".gz" is left out. Hidden files aren't
    counted.

    Raises:
        PhidriftError: nothing there, or a folder that can't be listed.
    """
    every, read = set(), set()
    for source in sources:
        for file in all_files(source.path):
            place = file.resolve()
            every.add(place)
            if split_suffix(file)[1] in format_named(source.format).endings:
                read.add(place)
    found = (split_suffix(file)[1] for file in every - read)
    counts = Counter(ending if ending in _NAMEABLE else _OTHER for ending in found)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
