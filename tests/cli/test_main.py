"""The command line: answers at once, and its errors are for people."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Importing any of these takes seconds; `phidrift --help` may not.
HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "sentence_transformers",
    "sklearn",
    "scipy",
    "pandas",
    "numpy",
    "umap",
)


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["phidrift", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['phidrift', '--help']\n"
        "from phidrift.cli.main import main\n"
        "try: main()\n"
        f"finally: print('HEAVY', sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "stage" in done.stdout
    assert "HEAVY []" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stage", "trian"], "no stage 'trian'. To mend: use one of standins, harmonize"),
        (["stage", "train"], "stage train takes a key"),
        (["stage", "report", "x"], "stage report takes no key"),
        (["stage", "standins"], "params.yaml: no such file. To mend: run in the project's folder"),
    ],
)
def test_errors_are_one_line_and_code_2(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert f"error: {message}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["stage", "train", "x; rm -rf y"],
            "stage train has no 'x; rm -rf y'. To mend: use one of ai4privacy-200-",
        ),
        (["stage", "round", "x"], "stage round has no 'x'. To mend: use one of 0, 1, 2"),
        (["stage", "evaluate", "nope"], "stage evaluate has no 'nope'. To mend: use one of ai4privacy-200,"),
        (
            ["stage", "train", "syn-80-DATE"],
            "data/training_sets/main/syn-80/set.json: no such file. To mend: run dvc repro",
        ),
    ],
)
def test_keys_and_inputs_that_are_not_there_are_named(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    shutil.copyfile(Path(__file__).parents[2] / "profiles/default.yaml", tmp_path / "params.yaml")
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert f"error: {message}" in done.stderr
    assert "Traceback" not in done.stderr
