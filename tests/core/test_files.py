"""Files are whole or absent, and the same content gives the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phidrift.core.files import read_json, whole_file, whole_folder, write_csv, write_json, write_lines


def test_a_failure_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def failing():  # type: ignore[no-untyped-def]
        yield "new"
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        write_lines(path, failing())
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    with whole_folder(path) as new:
        (new / "one").write_text("1")
    with whole_folder(path) as new:
        (new / "two").write_text("2")
    assert os.listdir(path) == ["two"]

    def fail() -> None:
        with whole_folder(path) as new:
            (new / "three").write_text("3")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert os.listdir(path) == ["two"]
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("name", ["a.txt", "a[1].txt"])
def test_what_a_dead_process_left_is_removed_and_a_living_one_is_spared(tmp_path: Path, name: str) -> None:
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    stale = tmp_path / f".{name}.{int(dead.stdout)}.tmp"
    living = tmp_path / f".{name}.{os.getppid()}.tmp"
    own = tmp_path / f".{name}.{os.getpid()}.tmp"
    for path in (stale, living, own):
        path.write_text("half")
    with whole_file(tmp_path / name) as temporary:
        temporary.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == sorted([living.name, name])


def test_a_folder_left_by_an_earlier_process_of_the_same_number_is_no_obstacle(tmp_path: Path) -> None:
    stale = tmp_path / f".folder.{os.getpid()}.tmp"
    stale.mkdir()
    (stale / "half").write_text("half")
    with whole_folder(tmp_path / "folder") as new:
        (new / "one").write_text("1")
    assert os.listdir(tmp_path / "folder") == ["one"]


def test_json_is_sorted_and_refuses_nan(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"b": 1, "a": [None, "é"]})
    assert path.read_text(encoding="utf-8") == '{\n  "a": [\n    null,\n    "é"\n  ],\n  "b": 1\n}\n'
    assert read_json(path) == {"b": 1, "a": [None, "é"]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"b": 1, "a": [None, "é"]}


def test_csv_writes_none_as_nothing_and_floats_in_full(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert write_csv(path, ["x", "y"], [{"x": 0.1 + 0.2, "y": None}, {"y": "a,b"}]) == 2
    assert path.read_text() == 'x,y\n0.30000000000000004,\n,"a,b"\n'
