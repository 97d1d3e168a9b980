"""`phidrift fetch`: a public corpus brought in by DVC at a pinned revision, so that its provenance is versioned."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from phidrift.core.errors import PhidriftError

FOLDER = Path("sources")
_LONGEST = 300  # characters of what dvc says


@dataclass(frozen=True, slots=True)
class PublicCorpus:
    """A corpus in a public git repository: `folder` of it at `revision`. `parameters` point params.yaml to it."""

    url: str
    revision: str
    folder: str
    licence: str
    parameters: str


PUBLIC = {
    "multileg": PublicCorpus(
        "https://github.com/tilde-nlp/MultiLeg-dataset",
        "285bc93",
        "data/en",
        "CC-BY-4.0",
        "corpora.multileg.path=sources/multileg",
    )
}


def fetch(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(PUBLIC)}.")],
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for the repository.")] = 600,
) -> None:
    """Bring a public corpus into sources/NAME with `dvc import`, pinned to a revision."""
    if name not in PUBLIC:
        mend = f"these can be fetched: {', '.join(PUBLIC)}; point corpora.NAME.path to your own copy of another one"
        raise PhidriftError(f"no public corpus {name!r}", mend=mend)
    corpus, place = PUBLIC[name], FOLDER / name
    if place.exists():
        raise PhidriftError(
            "it is here already", where=place, mend=f"remove it first: dvc remove --outs {place}.dvc"
        )
    if not Path(".dvc").is_dir():
        raise PhidriftError("not a DVC project", where=Path.cwd(), mend="run it in the project's folder")
    FOLDER.mkdir(exist_ok=True)
    command = ["dvc", "import", "--rev", corpus.revision, "--out", str(place), corpus.url, corpus.folder]
    problem = _failure(command, timeout)
    if problem:
        if not any(FOLDER.iterdir()):
            FOLDER.rmdir()
        raise PhidriftError(f"{' '.join(command)}: {problem}", mend=_by_hand(corpus, place))
    print(
        f"{place}: {corpus.folder} of {corpus.url} at {corpus.revision}, {corpus.licence}; recorded in {place}.dvc"
    )
    print(f"Use it with: dvc exp run -S {corpus.parameters}")


def _failure(command: list[str], timeout: float) -> str | None:
    """Runs a dvc command; the last line of what it printed on failure, None on success."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {timeout:.0f} seconds"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    said = next(
        (line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "failed"
    )
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]} ..."


def _by_hand(corpus: PublicCorpus, place: Path) -> str:
    return (
        f"where there is a network, run git clone {corpus.url} and git checkout {corpus.revision} in it; "
        f"copy its {corpus.folder} to {place}, and set {corpus.parameters}"
    )
