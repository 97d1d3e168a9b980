"""A temporary DVC repository with this project's pipeline and the tiny profile."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from phidrift.core.cache import cache_root

ROOT = Path(__file__).parents[2]
DVC_FILES = (".dvc/config", ".dvc/.gitignore", ".dvcignore", "dvc.yaml")
COPIED = (
    *DVC_FILES,
    ".gitignore",
    "Makefile",
    "pyproject.toml",
    "constraints.txt",
    "profiles",
    "src",
    "metrics/ablation.csv",
)


@dataclass(frozen=True)
class Repository:
    folder: Path

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command of the environment in the repository; a failure shows what it printed."""
        done = subprocess.run(
            command, cwd=self.folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or not check, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    def kill_during(self, stage: str, after: float, *command: str) -> None:
        """Runs a command and kills its whole process group `after` seconds into a stage."""
        log = self.folder.parent / "killed.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment(),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                deadline = time.monotonic() + 300
                while f"Running stage '{stage}'" not in log.read_text(errors="replace"):
                    assert process.poll() is None, f"ended before stage {stage}:\n{log.read_text()}"
                    assert time.monotonic() < deadline, f"stage {stage} not reached:\n{log.read_text()}"
                    time.sleep(0.1)
                time.sleep(after)
                assert process.poll() is None, f"ended before it was killed:\n{log.read_text()}"
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def files(self, *folders: str) -> dict[str, bytes]:
        """Contents of all files under some folders, by relative path."""
        paths = [path for name in folders for path in (self.folder / name).rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in sorted(paths)}


def environment() -> dict[str, str]:
    bin_folder = str(Path(sys.executable).parent)
    kept = {name: value for name, value in os.environ.items() if name != "PHIDRIFT_CACHE"}
    return {**kept, "PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}


def make_repository(folder: Path) -> Repository:
    """A committed copy of the pipeline with the tiny profile; answers are its own, converted models are shared."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copyfile(source, target)
    shutil.copyfile(ROOT / "tests/whole/tiny.yaml", folder / "params.yaml")
    models = cache_root(ROOT) / "models"
    models.mkdir(parents=True, exist_ok=True)
    (folder / ".phidrift").mkdir()
    (folder / ".phidrift/models").symlink_to(models)
    repository = Repository(folder)
    repository.run("git", "init", "-q")
    repository.run("git", "config", "user.name", "Test")
    repository.run("git", "config", "user.email", "test@example.org")
    repository.run("git", "add", "-A")
    repository.run("git", "commit", "-qm", "The pipeline, not yet run")
    return repository


def stages_run(output: str) -> list[str]:
    """Names of the stages that a dvc command executed, in order."""
    return [line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage '")]
