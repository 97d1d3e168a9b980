"""Stages `training_sets` (one per set) and `ablation_set`."""

from pathlib import Path

from phidrift.config import Params
from phidrift.core.document import Document, read_documents
from phidrift.core.errors import PhidriftError
from phidrift.tagging.training_sets import Mixture, mixed_set, nested_set, write_set

_SETS = Path("data/training_sets")


def training_sets(params: Params, key: str) -> None:
    """Writes data/training_sets/main/KEY/ENTITY.jsonl and set.json for a set named CORPUS-SIZE."""
    if key not in params.sets:
        raise PhidriftError(f"no set {key!r}", mend=f"there are {', '.join(params.sets)}")
    source, _, digits = key.rpartition("-")
    size = int(digits)
    chosen: dict[str, list[Document]] = {
        entity: nested_set(_train_split(source, entity), size, params.seed, entity, source)
        for entity in params.entities
    }
    about = {"set": key, "source": source, "size": size, "licences": _licences(params, source)}
    write_set(_SETS / "main" / key, chosen, about, {})


def ablation_set(params: Params) -> None:
    """Writes data/training_sets/ablation, mixed of candidates and a real corpus."""
    mixture = Mixture(
        params.ablation.size,
        params.mixture,
        params.judge_threshold,
        params.generator,
        params.curation.negative_ratio,
    )
    real_name = params.ablation.real
    real = _train_split(real_name, "") if mixture.synthetic < mixture.size else []
    chosen: dict[str, list[Document]] = {}
    scores: dict[str, float | None] = {}
    for entity in params.entities:
        path = Path("data/candidates") / f"{entity}.jsonl"
        candidates = list(read_documents(path)) if mixture.synthetic else []
        chosen[entity], scores[entity] = mixed_set(real, candidates, mixture, params.seed, entity)
    about = {
        "set": "ablation",
        "source": "ablation",
        "size": mixture.size,
        "licences": _licences(params, "syn", real_name),
        "real": real_name,
        "mixture": mixture.share,
        "judge_threshold": mixture.threshold,
        "generator": mixture.generator,
    }
    write_set(_SETS / "ablation", chosen, about, scores)


def _licences(params: Params, *sources: str) -> dict[str, str]:
    """What the model cards of a set's taggers state."""
    return {
        name: "as the generators' licences allow" if name == "syn" else params.corpora[name].licence
        for name in sources
    }


def _train_split(source: str, entity: str) -> list[Document]:
    folder = Path("data/synthetic") / entity if source == "syn" else Path("data/corpora") / source
    return list(read_documents(folder / "train.jsonl"))
