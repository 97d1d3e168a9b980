"""Dispatch of `phidrift stage NAME [KEY]`, and the record of how long each stage took."""

import importlib
import json
import os
import resource
import time
from pathlib import Path

from phidrift.config import Params, load_params
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, write_json, write_text

# Stage name -> the module of phidrift.cli.stages that holds a function of that name.
MODULES = {
    "standins": "corpora",
    "harmonize": "corpora",
    "round": "generation",
    "curate": "generation",
    "training_sets": "training_sets",
    "ablation_set": "training_sets",
    "train": "tagging",
    "evaluate": "tagging",
    "profiles": "drift",
    "profile_ablation": "drift",
    "drift": "drift",
    "correlate": "analysis",
    "report": "report",
}
KEYED = {"harmonize", "round", "training_sets", "train", "evaluate"}


def run_stage(name: str, key: str | None) -> None:
    """Runs one stage in the working folder.

    Raises:
        PhidriftError: unknown stage, a key missing or unwanted or malformed, or a wrong params.yaml.
    """
    if name not in MODULES:
        raise PhidriftError(f"no stage {name!r}", mend=f"use one of {', '.join(MODULES)}")
    if (name in KEYED) != (key is not None):
        raise PhidriftError(f"stage {name} takes {'a' if name in KEYED else 'no'} key")
    params = load_params()
    if key is not None and key not in (keys := _keys(name, params)):
        raise PhidriftError(f"stage {name} has no {key!r}", mend=f"use one of {', '.join(keys)}")
    # Threads that wait by spinning starve each other on shared cores; set before torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if not os.environ.get("HF_HUB_OFFLINE") and params.all_embedded:
        os.environ["HF_HUB_OFFLINE"] = "1"
    function = getattr(importlib.import_module(f"phidrift.cli.stages.{MODULES[name]}"), name)
    started = time.monotonic()
    if key is None:
        function(params)
    else:
        function(params, key)
    _record(f"{name}@{key}" if key else name, time.monotonic() - started)


def _keys(name: str, params: Params) -> list[str]:
    """What a keyed stage may be asked for, as dvc.yaml expands it from the parameters."""
    trained = [*params.sets, "ablation"]
    return {
        "harmonize": list(params.corpora),
        "round": list(params.generation.rounds),
        "training_sets": params.sets,
        "train": [f"{set_name}-{entity}" for set_name in trained for entity in params.entities],
        "evaluate": trained,
    }[name]


def _record(stage: str, seconds: float) -> None:
    """Adds seconds and peak memory (MiB) to reports/times.js, which no output depends on."""
    log = Path("reports/times.json")
    times = read_json(log) if log.is_file() else {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times[stage] = {"seconds": round(seconds, 1), "peak_mib": round(peak)}
    write_json(log, times)
    write_text(Path("reports/times.js"), f"window.PHIDRIFT_TIMES = {json.dumps(times, sort_keys=True)};\n")
