"""A warning where the texts of a corpus are not English, from a small seeded sample of them."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

SAMPLED = 200  # texts
READ = 2_000  # characters of each
ENOUGH_WORDS = 20
ENOUGH_TEXTS = 5
# The detector knows 140, and may take clinical English for a rare one (Nigerian Pidgin, Latin).
_LANGUAGES = (
    "ar bg bn ca cs da de el en es et eu fa fi fr ga gl he hi hr hu id is it ja ko lt lv mt nl no pl pt ro ru sk sl sq "
    "sr sv ta te th tr uk ur vi zh"
)
# Lists of drugs, values and abbreviations look like no language: below this probability none is named.
_SURE = 0.9
UNDETERMINED = "und"  # its code in ISO 639-2


@dataclass
class LanguageSample:
    """A seeded sample of a stream of texts, in bounded memory: each text is as likely to be in it as any other.

    Texts of fewer than 20 words (by the blanks between them) are sampled apart, and only used where there are no
    longer ones.
    """

    seed: int
    _long: list[str] = field(default_factory=list, init=False, repr=False)
    _short: list[str] = field(default_factory=list, init=False, repr=False)
    _counts: list[int] = field(
        default_factory=lambda: [0, 0], init=False, repr=False
    )  # of short texts, of long ones
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def add(self, text: str) -> None:
        """Takes the next text of the stream."""
        # Blanks are counted rather than words, which would cost as much as all the rest of reading a document.
        is_long = text.count(" ", 0, READ) >= ENOUGH_WORDS - 1
        sample = self._long if is_long else self._short
        self._counts[is_long] += 1
        seen = self._counts[is_long]
        if len(sample) < SAMPLED:
            sample.append(text[:READ])
        elif (place := int(self._random.random() * seen)) < SAMPLED:
            sample[place] = text[:READ]

    @property
    def texts(self) -> tuple[str, ...]:
        """At most 200 texts, each cut to its first 2,000 characters."""
        return tuple(self._long or self._short)


def languages(sample: LanguageSample) -> dict[str, int]:
    """ISO code -> number of sampled texts, most frequent first; `und` counts those whose language is not clear."""
    detect = _detector()
    counts = Counter(detect.classify(text)[0] for text in sample.texts)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def not_english(languages: Mapping[str, int]) -> str | None:
    """A warning if under half of the texts whose language is clear are English; None for fewer than 5 of these."""
    clear = {code: count for code, count in languages.items() if code != UNDETERMINED}
    total = sum(clear.values())
    if total < ENOUGH_TEXTS or 2 * clear.get("en", 0) >= total:
        return None
    others = ", ".join(f"{code} {count}" for code, count in clear.items() if code != "en")
    return f"most of {total} sampled texts are not English ({others}): models and stand-ins are"


@cache
def _detector() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    detector = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True, min_confidence=_SURE)
    detector.set_languages(_LANGUAGES.split())
    return detector
