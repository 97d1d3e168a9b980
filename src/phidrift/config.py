"""params.yaml as typed, checked values; a misspelt key is named with the nearest valid one and the file."""

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from phidrift.core.document import ENTITIES
from phidrift.core.errors import PhidriftError
from phidrift.corpora.formats import FORMATS

Entity = Literal["ADDRESS", "CONTACT", "DATE", "PERSON"]


def _name(value: str) -> str:
    # These names become stage keys, hence words of a command line.
    if not re.fullmatch(r"[a-z0-9_-]+", value):
        raise ValueError(f"{value!r}: a name is made of a-z, 0-9, _ and -")
    return value


def _path(value: Path) -> Path:
    if value == Path():
        raise ValueError("the folder of the corpus is not named")
    return value


def _below(value: str) -> str:
    # DVC watches the corpus' path, and what lies outside it would change unseen.
    if Path(value).is_absolute() or ".." in Path(value).parts:
        raise ValueError(f"{value!r}: name a file or folder below the corpus' path")
    return value


def _format(value: str) -> str:
    if value not in FORMATS:
        near = difflib.get_close_matches(value, FORMATS, n=1, cutoff=0.0)
        raise ValueError(f"{value!r} is no format, did you mean {near[0]!r}? There are {', '.join(FORMATS)}")
    return value


def _set_name(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9_-]+-[1-9]\d*", value):
        raise ValueError(f"{value!r}: a set is named after its corpus and size, such as multileg-200")
    return value


def _threshold(value: float | str) -> float | str:
    if isinstance(value, str):
        if not re.fullmatch(r"q(0(\.\d+)?|1(\.0*)?)", value):
            raise ValueError(f"{value!r}: a threshold is a score from 1 to 5, or a quantile such as q0.5")
    elif not 1 <= value <= 5:
        raise ValueError(f"{value}: a score lies between 1 and 5")
    return value


T = TypeVar("T")


def _distinct(values: list[T]) -> list[T]:
    repeated = [value for position, value in enumerate(values) if value in values[:position]]
    if repeated:
        raise ValueError(f"{repeated[0]!r} stands there twice")
    return values


Seed = Annotated[int, Field(ge=0, lt=2**32)]
Distinct = Annotated[list[T], Field(min_length=1), AfterValidator(_distinct)]
Below = Annotated[str, AfterValidator(_below)]
Name = Annotated[str, AfterValidator(_name)]
Threshold = Annotated[float | str, AfterValidator(_threshold)]
SetName = Annotated[str, AfterValidator(_set_name)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NoteCounts(_Strict):
    train: Count
    test: Positive


class StandinsParams(_Strict):
    """Sizes, in documents, of the stand-ins for corpora that can't be shipped."""

    i2b2: NoteCounts
    multileg: Positive
    ai4privacy: Positive


class SplitParams(_Strict):
    """A seeded test split of so many documents, or the files and folders below the corpus' path for each split."""

    test: Annotated[
        Annotated[Positive, Tag("a number")] | Annotated[Distinct[Below], Tag("a list")],
        Discriminator(lambda value: "a list" if isinstance(value, list) else "a number"),
    ]
    train: Distinct[Below] | None = None

    @model_validator(mode="after")
    def _both_or_one(self) -> "SplitParams":
        if self.train is not None and isinstance(self.test, int):
            raise ValueError("train is given by paths, so test must be too")
        if self.train is None and not isinstance(self.test, int):
            raise ValueError("test is given by paths, so train must be too")
        return self


class CorpusParams(_Strict):
    """A source corpus. `split` is `source` (its own), {test: documents}, or {train: [paths], test: [paths]}."""

    path: Annotated[Path, AfterValidator(_path)]
    format: Annotated[str, AfterValidator(_format)]
    split: Annotated[
        Annotated[Literal["source"], Tag("a name")] | Annotated[SplitParams, Tag("a mapping")],
        Discriminator(lambda value: "a name" if isinstance(value, str) else "a mapping"),
    ]
    deduplicate: bool = True
    labels: dict[Entity, Distinct[str]] | None = None  # None: the format's ready map
    text_field: str | None = None
    group_field: str | None = None
    encoding: str = "utf-8"
    offsets: Literal["auto", "characters", "inclusive", "utf16", "bytes"] = "auto"  # what offsets count
    strict: bool = False
    restricted: bool
    licence: str
    source: str


class RoundParams(_Strict):
    """A generation round; `reads` is the file of the round before (round 0: the prompts)."""

    reads: Path


class SamplerParams(_Strict):
    """A model and how to draw from it; null is the model's own default, top_k 0 means no limit."""

    model: str
    temperature: float | None = Field(default=None, gt=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=0)


class JudgeParams(_Strict):
    model: str
    criteria: Distinct[str]


class GenerationParams(_Strict):
    engine: Literal["transformers"]
    rounds: dict[Annotated[str, Field(pattern=r"^\d+$")], RoundParams]
    samples_per_round: Positive  # per generator and entity
    negative_ratio: Share  # share of samples asked for without the entity
    few_shot_k: Count
    few_shot_threshold: Threshold  # samples at or above it may become examples
    entity_string_cap: Positive  # occurrences of one entity string among a pool's examples
    max_tokens: Positive
    batch_size: Positive
    generators: dict[Name, SamplerParams] = Field(min_length=1)
    judge: JudgeParams

    @model_validator(mode="after")
    def _rounds_are_a_chain(self) -> "GenerationParams":
        if "all" in self.generators:
            raise ValueError("generators: no generator can be named all, which stands for every one of them")
        if not self.rounds or list(self.rounds) != [str(n) for n in range(len(self.rounds))]:
            raise ValueError('rounds are numbered "0", "1", "2", ..., from "0" and without a gap')
        for n in range(1, len(self.rounds)):
            wanted = Path(f"data/pools/round_{n - 1}.jsonl")
            if self.rounds[str(n)].reads != wanted:
                raise ValueError(f"round {n} reads {wanted}")
        return self


class CurationParams(_Strict):
    """What becomes the released synthetic corpora."""

    judge_threshold: Threshold
    entity_string_cap: Positive
    negative_ratio: Share
    test: Positive  # documents an entity, fixed


class TaggerParams(_Strict):
    model: str
    max_length: Positive  # model tokens a window
    batch_size: Positive
    epochs: Positive
    learning_rate: float = Field(gt=0)
    warmup_ratio: Share
    weight_decay: float = Field(ge=0)


class TaggingParams(_Strict):
    taggers: dict[Name, TaggerParams] = Field(min_length=1)
    seeds: Distinct[Seed]
    threads: Positive  # of torch, in each training
    workers: Positive  # trainings of a stage at a time, each in a process and on a GPU if there are some
    bootstrap: Count  # resamples of documents for the F1 interval


class AblationParams(_Strict):
    """The set `ablation`: its size in documents and the real corpus that it is mixed with."""

    size: Positive
    real: Name


class DriftParams(_Strict):
    encoder: str
    lm: str
    lm_tokens: Positive  # model tokens a corpus whose perplexity is measured
    sentences: Positive  # sentences a corpus that are embedded, at most
    sample_tokens: Positive | None  # size of every sample; null: as large as the smallest corpus allows
    repeats: Positive  # size-matched samples a value
    floor_pairs: Positive  # pairs of disjoint samples a noise floor
    clusters: Positive
    cluster_seeds: Distinct[Seed]
    smoothing: float = Field(ge=0)


class AnalysisParams(_Strict):
    bootstrap: Positive
    permutations: Positive


class Params(_Strict):
    """All of params.yaml."""

    seed: Seed
    entities: Distinct[Entity]
    mixture: Share  # share of synthetic documents in the set `ablation`
    judge_threshold: Threshold  # of the synthetic documents in it
    generator: str  # of the synthetic documents in it: all, or a name
    standins: StandinsParams
    corpora: dict[Name, CorpusParams]
    generation: GenerationParams
    curation: CurationParams
    sets: Distinct[SetName]
    ablation: AblationParams
    tagging: TaggingParams
    drift: DriftParams
    analysis: AnalysisParams

    @model_validator(mode="after")
    def _names_exist(self) -> "Params":
        for reserved in ("syn", "ablation"):
            if reserved in self.corpora:
                raise ValueError(f"corpora: {reserved} is the name of what this project makes itself")
        sources = [*self.corpora, "syn"]
        for name in self.sets:
            if name.rpartition("-")[0] not in sources:
                raise ValueError(f"sets: {name} has no corpus; there are {', '.join(sources)}")
        if self.ablation.real not in self.corpora:
            raise ValueError(f"ablation.real: {self.ablation.real} is no corpus")
        if self.generator not in ("all", *self.generation.generators):
            names = ", ".join(("all", *self.generation.generators))
            raise ValueError(f"generator: {self.generator!r} is unknown; there are {names}")
        return self

    @property
    def targets(self) -> list[str]:
        """The corpora that taggers are evaluated on: every source corpus, and syn."""
        return [*sorted(self.corpora), "syn"]

    @property
    def models(self) -> dict[str, list[str]]:
        """Names of the models by role, without repeats."""
        return {
            "generator": sorted({sampler.model for sampler in self.generation.generators.values()}),
            "judge": [self.generation.judge.model],
            "tagger": sorted({tagger.model for tagger in self.tagging.taggers.values()}),
            "encoder": [self.drift.encoder],
            "language model": [self.drift.lm],
        }

    @property
    def embedded_roles(self) -> list[str]:
        """Roles in which a small model serves that pip installs."""
        return [role for role, names in self.models.items() if any(n.startswith("embedded/") for n in names)]

    @property
    def all_embedded(self) -> bool:
        """Whether no model has to come from a hub or a folder."""
        return all(name.startswith("embedded/") for names in self.models.values() for name in names)


def load_params(path: Path = Path("params.yaml")) -> Params:
    """Reads and checks a parameter file.

    Raises:
        PhidriftError: names every wrong key (with the nearest valid one) or value, and the file.
    """
    if not path.is_file():
        raise PhidriftError("no such file", where=path, mend="run in the project's folder")
    try:
        raw = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # The parser lets through what it can't build, such as a date in a 13th month.
        raise PhidriftError(f"not YAML ({error})", where=path) from error
    try:
        return Params.model_validate(raw)
    except ValidationError as error:
        raise PhidriftError("; ".join(_explain(item) for item in error.errors()), where=path) from error


def _explain(item: Any) -> str:
    # Tags of unions are no keys; they alone hold a blank.
    location = [str(part) for part in item["loc"] if " " not in str(part)]
    place = ".".join(location)
    if item["type"] == "extra_forbidden":
        near = difflib.get_close_matches(location[-1], _keys_at(Params, location[:-1]), n=1, cutoff=0.0)
        return f"unknown key {place!r}" + (f", did you mean {near[0]!r}?" if near else "")
    if location[-1:] == ["[key]"]:
        near = difflib.get_close_matches(location[-2], ENTITIES, n=1, cutoff=0.0)
        return f"unknown key {'.'.join(location[:-1])!r}, did you mean {near[0]!r}?"
    if item["type"] == "missing":
        return f"key {place!r} is missing"
    message = item["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _keys_at(model: Any, location: list[str]) -> list[str]:
    """Field names of the model at a place; a name inside a dictionary of models stands for that model."""
    for part in location:
        known = _first_model(model)
        if hasattr(model, "model_fields"):
            model = known.model_fields[part].annotation if part in known.model_fields else None
        else:
            model = known
    return list(getattr(_first_model(model), "model_fields", {}))


def _first_model(annotation: Any) -> Any:
    """The model itself, or the first one among the arguments of a dictionary or union."""
    if hasattr(annotation, "model_fields"):
        return annotation
    arguments = getattr(annotation, "__args__", ())
    return next((argument for argument in arguments if hasattr(argument, "model_fields")), None)
