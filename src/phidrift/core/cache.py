"""Where work that must survive a crash lives: outside every DVC output."""

import os
from pathlib import Path


def cache_root(start: Path | None = None) -> Path:
    """The folder of the answer store and of converted models.

    PHIDRIFT_CACHE if set; else `.phidrift` in the repository that `start` (default: the working folder) lies
    in; outside any, `phidrift` in the user's cache folder (XDG_CACHE_HOME, or ~/.cache). An experiment that runs
    in a copy under `.dvc/tmp/exps` uses the main repository's.
    """
    named = os.environ.get("PHIDRIFT_CACHE")
    if named:
        return Path(named).expanduser().resolve()
    here = (start or Path.cwd()).resolve()
    parts = here.parts
    for position in range(len(parts) - 2):
        if parts[position : position + 3] == (".dvc", "tmp", "exps"):
            return Path(*parts[:position]) / ".phidrift"
    for folder in (here, *here.parents):
        if (folder / ".dvc").is_dir() or (folder / ".git").exists():
            return folder / ".phidrift"
    # A relative XDG_CACHE_HOME is to be ignored, as its specification says.
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "phidrift"
