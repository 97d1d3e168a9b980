"""Stage report: reports/index.html and the bitmaps of its figures."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phidrift.analysis.degradation import degradation
from phidrift.analysis.scores import ABLATION, read_drift, read_record, read_scores
from phidrift.analysis.summary import read_ablation
from phidrift.cli.stages.analysis import ablation_rows_of, tagging_file
from phidrift.config import Params
from phidrift.core.files import write_text
from phidrift.core.models import describe
from phidrift.core.progress import progress
from phidrift.report.marks import find_marks
from phidrift.report.page import build_page, draw_figures
from phidrift.report.projection import project
from phidrift.report.study import CorpusRecord, Study
from phidrift.report.style import save_png

_SENTENCES = 300  # a corpus, at most, on the map
_PACKAGES = (
    "phidrift",
    "datasets",
    "dvc",
    "evaluate",
    "faker",
    "llguidance",
    "matplotlib",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "seqeval",
    "textstat",
    "torch",
    "transformers",
    "umap-learn",
)


def report(params: Params) -> None:
    """Writes reports/index.html and plots/report/*.png."""
    with progress("report", 3) as advance:
        study = _study(params)
        advance(1)
        pictures = draw_figures(study)
        for name, picture in pictures.items():
            save_png(Path(f"plots/report/{name}.png"), picture)
        advance(1)
        write_text(Path("reports/index.html"), build_page(study, pictures))
        advance(1)


def _study(params: Params) -> Study:
    scores = [score for name in [*params.sets, ABLATION] for score in read_scores(tagging_file(name))]
    scores = [score for score in scores if score.entity in params.entities]
    corpora = [
        CorpusRecord(name, read_record(Path(f"metrics/corpora/{name}.json")))
        for name in sorted(params.corpora)
    ]
    embeddings = _embeddings(params)
    return Study(
        entities=params.entities,
        targets=params.targets,
        sets=params.sets,
        outcomes=degradation(scores, real_sources=set(params.corpora)),
        drift=read_drift(Path("data/drift/drift.csv")),
        sample=read_record(Path("data/drift/sample.json")),
        correlation=read_record(Path("metrics/correlation.json")),
        corpora=corpora,
        generation=read_record(Path("metrics/generation.json")),
        recorded=read_ablation(Path("metrics/ablation.csv")),
        current=ablation_rows_of(params, scores),
        marks=find_marks({c.name: c.stand_in for c in corpora}, params.models),
        models=[{"role": role, **describe(name)} for role, names in params.models.items() for name in names],
        packages=_packages(),
        hashes=_hashes(),
        parameters=_parameters(params),
        stages=_stages(),
        projection=project(embeddings, _SENTENCES, params.seed),
        sentences={name: len(rows) for name, rows in embeddings.items()},
    )


def _embeddings(params: Params) -> dict[str, Any]:
    """Sentence embeddings of every test corpus, from its profile; syn's four entities after one another."""
    import numpy as np

    from phidrift.drift.profile import load_profile

    root = Path("data/profiles/main")
    found: dict[str, Any] = {}
    for target in params.targets:
        names = [f"target-{target}", *(f"target-{target}-{entity}" for entity in params.entities)]
        profiles = [load_profile(root / name).embeddings for name in names if (root / name).is_dir()]
        profiles = [rows for rows in profiles if len(rows)]
        if profiles:
            found[target] = np.concatenate(profiles)
    return found


def _packages() -> dict[str, str]:
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    return {"python": platform.python_version(), **versions}


def _hashes() -> Mapping[str, str]:
    places = [Path("data/drift/drift.csv"), Path("data/synthetic"), Path("metrics/correlation.json")]
    return {place.as_posix(): _digest(place) for place in places}


def _digest(place: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files."""
    if place.is_file():
        return hashlib.sha256(place.read_bytes()).hexdigest()
    total = hashlib.sha256()
    for file in sorted(path for path in place.rglob("*") if path.is_file()):
        total.update(
            file.relative_to(place).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest()
        )
    return total.hexdigest()


def _parameters(params: Params) -> str:
    """params.yaml, without the folders of a user's machine."""
    text = Path("params.yaml").read_text(encoding="utf-8")
    for corpus in params.corpora.values():
        if corpus.path.is_absolute():
            text = text.replace(str(corpus.path), f"(outside the repository)/{corpus.path.name}")
    return text


def _stages() -> list[str]:
    from phidrift.cli.stages.run import MODULES

    return list(MODULES)
