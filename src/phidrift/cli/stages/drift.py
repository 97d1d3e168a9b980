"""Stages profiles, profile_ablation and drift."""

from collections.abc import Mapping
from pathlib import Path

from phidrift.config import Params
from phidrift.core.document import read_documents
from phidrift.core.files import read_json, whole_folder, write_csv, write_json
from phidrift.core.models import describe
from phidrift.core.progress import progress
from phidrift.drift.embedding import load_encoder
from phidrift.drift.perplexity import load_scorer
from phidrift.drift.profile import Profile, content_digest, load_profile, profile, save_profile
from phidrift.drift.sampling import Settings
from phidrift.drift.table import TABLE_COLUMNS, Row, drift_table

MAIN = Path("data/profiles/main")
ABLATION = Path("data/profiles/ablation")
TABLE = Path("data/drift/drift.csv")
SAMPLE = Path("data/drift/sample.json")
_CONTENTS = "contents.json"  # name of a profile -> hash of its texts


def profiles(params: Params) -> None:
    """Profiles of every test split and every training set."""
    paths = {f"target-{name}": Path(f"data/corpora/{name}/test.jsonl") for name in params.corpora}
    for entity in params.entities:
        paths[f"target-syn-{entity}"] = Path(f"data/synthetic/{entity}/test.jsonl")
        for name in params.sets:
            paths[f"{name}-{entity}"] = Path(f"data/training_sets/main/{name}/{entity}.jsonl")
    _write_profiles(MAIN, paths, params)


def profile_ablation(params: Params) -> None:
    """Profiles of the set `ablation`."""
    paths = {f"ablation-{e}": Path(f"data/training_sets/ablation/{e}.jsonl") for e in params.entities}
    _write_profiles(ABLATION, paths, params)


def _write_profiles(folder: Path, paths: Mapping[str, Path], params: Params) -> None:
    texts = {name: [document.text for document in read_documents(path)] for name, path in paths.items()}
    contents = {name: content_digest(each) for name, each in texts.items()}
    names: dict[str, list[str]] = {}
    for name, content in sorted(contents.items()):
        names.setdefault(content, []).append(name)
    drift = params.drift
    encode, score = load_encoder(drift.encoder), load_scorer(drift.lm)
    with whole_folder(folder) as temporary, progress("profiles", len(names)) as advance:
        for same in names.values():
            measured = profile(
                texts[same[0]],
                encode=encode,
                score=score,
                encoder=drift.encoder,
                lm=drift.lm,
                sentences=drift.sentences,
                lm_tokens=drift.lm_tokens,
            )
            for name in same:
                save_profile(measured, temporary / name)
            advance(1)
        write_json(temporary / _CONTENTS, contents)


def drift(params: Params) -> None:
    """The drift table, and what its samples were."""
    rows = list(_rows(params))
    wanted = {name for row in rows for name in (row.reference, row.candidate)}
    keys: dict[str, str] = {}
    loaded: dict[str, Profile] = {}
    for folder in (MAIN, ABLATION):
        for name, content in sorted(read_json(folder / _CONTENTS).items()):
            if name in wanted:
                keys[name] = content
                if content not in loaded:
                    loaded[content] = load_profile(folder / name)
    settings = Settings(
        seed=params.seed,
        repeats=params.drift.repeats,
        floor_pairs=params.drift.floor_pairs,
        clusters=params.drift.clusters,
        cluster_seeds=tuple(params.drift.cluster_seeds),
        smoothing=params.drift.smoothing,
        sample_tokens=params.drift.sample_tokens,
    )
    lines, about = drift_table(rows, loaded, keys, settings)
    write_csv(TABLE, TABLE_COLUMNS, lines)
    about |= {
        "repeats": settings.repeats,
        "floor_pairs": settings.floor_pairs,
        "seed": settings.seed,
        "clusters": settings.clusters,
        "cluster_seeds": list(settings.cluster_seeds),
        "smoothing": settings.smoothing,
        "versions": {"encoder": describe(params.drift.encoder), "lm": describe(params.drift.lm)},
    }
    write_json(SAMPLE, about)


def _rows(params: Params) -> list[Row]:
    sets = [(name, name.rpartition("-")[0], int(name.rpartition("-")[2])) for name in params.sets]
    sets.append(("ablation", "ablation", params.ablation.size))
    return [
        Row(
            set=name,
            source=source,
            size=size,
            entity=entity,
            target=target,
            candidate=f"{name}-{entity}",
            reference=f"target-syn-{entity}" if target == "syn" else f"target-{target}",
        )
        for name, source, size in sets
        for entity in params.entities
        for target in params.targets
    ]
