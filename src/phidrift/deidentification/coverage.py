"""Which taggers a de-identification uses, and what it can't be relied on for."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.document import ENTITIES
from phidrift.core.errors import PhidriftError
from phidrift.tagging.model_folders import EntityTaggers

# The identifiers of HIPAA's safe harbor (45 CFR 164.514 (b) (2)) that none of the four entities stands for.
NOT_COVERED = (
    "social security numbers",
    "medical record numbers",
    "health plan numbers",
    "account numbers",
    "certificate and licence numbers",
    "vehicle identifiers and plates",
    "device identifiers and serial numbers",
    "web addresses (URLs)",
    "IP addresses",
    "ages over 89",
    "biometric identifiers",
    "photographs and other images",
    "any other number, code or circumstance that tells who someone is",
)
NOT_FOR_CLINICAL_USE = (
    "No tagger trained with phidrift is fit for clinical use: it misses identifiers, and nobody has "
    "certified it. Have a person check every text before it leaves its place."
)


@dataclass(frozen=True, slots=True)
class ChosenTagger:
    """The tagger of one entity: its folder, its name, and what is known of its training."""

    entity: str
    name: str
    folder: Path
    training: Mapping[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """Hashes of the training set and the weights, and what training.json says else (null: not known).

        Names of folders, files and training sets are left out: users give them, and they may hold a patient's.
        """
        training = self.training or {}
        return {
            "tagger": None if self.training is None else self.name,
            "training_set_sha256": training.get("sha256"),
            "weights_sha256": [_sha256(path) for path in sorted(self.folder.glob("*.safetensors"))],
            "restricted": training.get("restricted"),
            "stand_in": training.get("stand_in"),
        }


def choose_taggers(found: Mapping[str, EntityTaggers], name: str | None) -> list[ChosenTagger]:
    """One tagger an entity, in the order of the entities; those without a checkpoint are left out.

    Args:
        found: of `find_taggers`.
        name: "TAGGER-SEED"; None where each entity has but one.

    Raises:
        PhidriftError: several to choose from and no name, none of that name, or no checkpoint at all; lists the names.
    """
    chosen = []
    for entity, taggers in sorted(found.items()):
        names = sorted(taggers.checkpoints)
        if not names:
            continue
        if name is None and len(names) > 1:
            raise PhidriftError(
                f"several taggers of {entity}: {', '.join(names)}", mend="name one with --tagger"
            )
        if name is not None and name not in names:
            mend = f"{entity} has {', '.join(names)}"
            raise PhidriftError(f"no {entity} tagger is named {name!r}", mend=mend)
        one = name or names[0]
        chosen.append(ChosenTagger(entity, one, taggers.checkpoints[one], taggers.training))
    if not chosen:
        reasons = "; ".join(taggers.reason for taggers in found.values() if taggers.reason)
        raise PhidriftError(f"no tagger has a checkpoint ({reasons})", mend="name another models folder")
    return chosen


def missing_entities(chosen: Sequence[ChosenTagger]) -> list[str]:
    """Which of the four entities no tagger looks for."""
    return sorted(set(ENTITIES) - {tagger.entity for tagger in chosen})


def warnings(chosen: Sequence[ChosenTagger], *, seeded: bool) -> list[str]:
    """What whoever uses the output must know, one sentence or two each."""
    said = []
    missing = missing_entities(chosen)
    if missing:
        said.append(f"No tagger for {', '.join(missing)}: these stay in clear.")
    said.append(f"Not looked for at all: {', '.join(NOT_COVERED)}.")
    said.append(NOT_FOR_CLINICAL_USE)
    for key, states in (
        (
            "restricted",
            "is restricted: it may not be passed on, and what it marks may hint at its training documents",
        ),
        ("stand_in", "learnt from stand-ins for real corpora: it knows no real clinical text"),
    ):
        known = {tagger.entity: (tagger.training or {}).get(key) for tagger in chosen}
        yes = [entity for entity, value in known.items() if value]
        unknown = [entity for entity, value in known.items() if value is None]
        if yes:
            said.append(f"The tagger of {', '.join(yes)} {states}.")
        if unknown:
            what = "is restricted" if key == "restricted" else "learnt from stand-ins"
            said.append(f"Whether the tagger of {', '.join(unknown)} {what} is not recorded.")
    if seeded:
        said.append(
            "The surrogates come from a seed: whoever knows or guesses it can undo the shift of dates. Leave --seed "
            "out for anything that leaves this machine."
        )
    return said


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
