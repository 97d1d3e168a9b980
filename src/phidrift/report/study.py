"""Everything that the report shows, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from phidrift.analysis.degradation import Outcome
from phidrift.analysis.scores import ABLATION, DriftValue, field
from phidrift.analysis.summary import AblationRow
from phidrift.report.marks import DAGGER, Marks


@dataclass(frozen=True, slots=True)
class CorpusRecord:
    """A corpus by name: its metrics file, as decoded."""

    name: str
    record: Mapping[str, Any]

    @property
    def stand_in(self) -> bool:
        return bool(field(self.record, "stand_in", f"metrics/corpora/{self.name}.json"))

    @property
    def restricted(self) -> bool:
        return bool(field(self.record, "restricted", f"metrics/corpora/{self.name}.json"))


@dataclass(frozen=True, slots=True)
class Study:
    """Results of one run of the pipeline, and what they were computed from."""

    entities: Sequence[str]
    targets: Sequence[str]
    sets: Sequence[str]  # the main ones, in the order of the parameters
    outcomes: Sequence[Outcome]  # of the main sets and the ablation set
    drift: Sequence[DriftValue]
    sample: Mapping[str, Any]  # data/drift/sample.json
    correlation: Mapping[str, Any]  # metrics/correlation.json
    corpora: Sequence[CorpusRecord]
    generation: Mapping[str, Any]  # metrics/generation.json
    recorded: Sequence[AblationRow]  # metrics/ablation.csv
    current: Sequence[AblationRow]  # the ablation set as it is now
    marks: Marks
    models: Sequence[Mapping[str, str | None]]  # role, name, description, licence, sha256
    packages: Mapping[str, str]  # name -> version
    hashes: Mapping[str, str]  # path -> SHA-256
    parameters: str  # params.yaml
    stages: Sequence[str]  # in pipeline order
    projection: Mapping[str, NDArray[Any]]  # corpus -> [n, 2], a map of sentence embeddings
    sentences: Mapping[str, int]  # corpus -> how many sentences stand behind the map

    def set_name(self, name: str) -> str:
        """A training set's name for print, marked if a stand-in's documents are in it."""
        mixed = name == ABLATION and any(
            row.real in self.marks.stand_ins and row.mixture < 1 for row in self.current
        )
        return name + DAGGER if mixed else self.marks.set_name(name)

    @property
    def main(self) -> list[Outcome]:
        """The outcomes of the main sets."""
        return [outcome for outcome in self.outcomes if outcome.score.set != ABLATION]

    @property
    def real_corpora(self) -> list[str]:
        """Corpora of the user, or their stand-ins: all but the synthetic one."""
        return [corpus.name for corpus in self.corpora]
