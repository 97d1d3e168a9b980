"""How fast corpora are read and harmonised, beside plain parsers in the same run, and how memory grows.

    python benchmarks/readers.py [--megabytes 40] [--repeats 3]

Prints a Markdown table. `read` is the reader alone, `harmonised` is read, mapped and checked, `written` also written
as JSON lines. The peers do less: `json.loads` and ElementTree only parse, `datasets` builds its Arrow cache.
"""

import argparse
import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from phidrift.core.document import write_documents
from phidrift.corpora.formats import format_named
from phidrift.corpora.reading import CorpusSource, Reading, harmonised_documents
from phidrift.corpora.source import PLAIN, RawDocument
from phidrift.corpora.standins import write_standins

NOTES, PARAGRAPHS, XML = "notes (JSON lines)", "paragraphs (JSON lines)", "notes (XML)"
FORMATS = {NOTES: "jsonl", PARAGRAPHS: "multileg", XML: "i2b2"}


def make_corpora(folder: Path, megabytes: float) -> dict[str, Path]:
    """Stand-ins for clinical notes and court paragraphs, repeated to a size, in three raw forms."""
    write_standins(folder / "standins", 1, (30, 30), 300, 10)
    notes = list(_raw("i2b2", folder / "standins/i2b2"))
    paragraphs = list(_raw("multileg", folder / "standins/multileg"))
    paths = {NOTES: folder / "notes", PARAGRAPHS: folder / "paragraphs", XML: folder / "xml"}
    for path in paths.values():
        path.mkdir()
    _repeat(paths[NOTES] / "notes.jsonl", megabytes, [_note(raw) for raw in notes])
    _repeat(paths[PARAGRAPHS] / "paragraphs.jsonl", megabytes, [_paragraph(raw) for raw in paragraphs])
    records = sorted((folder / "standins/i2b2").rglob("*.xml"))
    size = sum(record.stat().st_size for record in records)
    for copy in range(max(1, round(megabytes * 1e6 / size))):
        for record in records:
            (paths[XML] / f"{copy}{record.name}").write_bytes(record.read_bytes())
    return paths


def _raw(name: str, path: Path) -> Iterator[RawDocument]:
    return format_named(name).read(path, PLAIN, _refuse)


def _refuse(where: str, reason: str) -> None:
    raise AssertionError(f"{where}: {reason}")


def _note(raw: RawDocument) -> str:
    spans = [{"start": s.start, "end": s.end, "label": s.label, "text": s.surface} for s in raw.spans or ()]
    return json.dumps({"text": raw.text, "spans": spans}, ensure_ascii=False)


def _paragraph(raw: RawDocument) -> str:
    labels = [[s.start, s.end, s.label] for s in raw.spans or ()]
    return json.dumps({"text": raw.text, "label": labels}, ensure_ascii=False)


def _repeat(path: Path, megabytes: float, lines: list[str]) -> None:
    size = sum(len(line.encode()) + 1 for line in lines)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(max(1, round(megabytes * 1e6 / size))):
            file.writelines(f"{line}\n" for line in lines)


def ways(kind: str, path: Path, scratch: Path) -> dict[str, Callable[[], None]]:
    """What is timed on a corpus, by name; the peers first."""
    source = CorpusSource("benchmark", path, FORMATS[kind])
    return {
        **(_xml_peers(path) if kind == XML else _json_peers(path, scratch)),
        "read": lambda: _exhaust(_raw(source.format, path)),
        "harmonised": lambda: _exhaust(harmonised_documents(source, Reading())),
        "written": lambda: _write(source, scratch / "out.jsonl"),
    }


def _json_peers(path: Path, scratch: Path) -> dict[str, Callable[[], None]]:
    (file,) = path.iterdir()

    def loads() -> None:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)

    def arrow() -> None:
        import datasets

        datasets.disable_progress_bars()
        with tempfile.TemporaryDirectory(dir=scratch) as cache:
            _exhaust(
                iter(datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=cache))
            )

    return {"json.loads": loads, "datasets": arrow}


def _xml_peers(path: Path) -> dict[str, Callable[[], None]]:
    def parse() -> None:
        for file in path.iterdir():
            root = ElementTree.parse(file).getroot()
            root.findtext("TEXT")
            [dict(tag.attrib) for tag in root.find("TAGS") or ()]

    return {"ElementTree": parse}


def _exhaust(items: Iterator[object]) -> None:
    for _ in items:
        pass


def _write(source: CorpusSource, out: Path) -> None:
    write_documents(out, harmonised_documents(source, Reading()))


def _seconds(work: Callable[[], None], repeats: int) -> float:
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def peak_mib(kind: str, path: Path) -> float:
    """Peak resident memory of a process that harmonises a corpus into a file, in MiB."""
    command = [sys.executable, __file__, "--measure", kind, str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    if options.measure:
        kind, path = options.measure
        with tempfile.TemporaryDirectory() as scratch:
            _write(CorpusSource("benchmark", Path(path), FORMATS[kind]), Path(scratch) / "out.jsonl")
        # Not ru_maxrss, which starts with what the parent process held.
        status = Path("/proc/self/status").read_text(encoding="ascii")
        print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = make_corpora(folder / "one", options.megabytes)
        print("| corpus | MB | what | MB/s | share of the first |\n|---|---|---|---|---|")
        for kind, path in paths.items():
            size = sum(file.stat().st_size for file in path.iterdir()) / 1e6
            first = None
            for what, work in ways(kind, path, folder).items():
                speed = size / _seconds(work, options.repeats)
                first = first or speed
                print(f"| {kind} | {size:.0f} | {what} | {speed:.1f} | {speed / first:.2f} |", flush=True)
        print("\n| corpus | MB | peak MiB |\n|---|---|---|")
        for factor in (1, 2, 4):
            larger = make_corpora(folder / f"times{factor}", factor * options.megabytes / 4)
            for kind in (NOTES, PARAGRAPHS):
                size = sum(file.stat().st_size for file in larger[kind].iterdir()) / 1e6
                print(f"| {kind} | {size:.0f} | {peak_mib(kind, larger[kind]):.0f} |", flush=True)


if __name__ == "__main__":
    main()
