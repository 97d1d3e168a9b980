"""`phidrift compare`: what it prints and writes, that it repeats, what it refuses, and what it keeps to itself."""

import csv
import json
import logging
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from phidrift.cli.compare import COLUMNS
from phidrift.cli.main import main
from phidrift.core.cache import cache_root
from phidrift.drift import METRICS

FAST = ("--skip", "perplexity,semantic", "--repeats", "4", "--floor-pairs", "4")
KEYS = {
    *("value", "interval", "floor", "reference", "candidate", "family"),
    *("direction", "unit", "clear", "reason", "value_full"),
}
# Made-up words, so that a word of a document is never one of the program's own.
PLAIN = ["zorb", "quixle", "vrunt", "smyg", "plonk", "drax", "fleem", "grubble"]
NAMES = {"here": ("Xanthor", "Brimbo"), "there": ("Ypsilo", "Drogma")}
TELLING = {"here": "wexford", "there": "yarnal"}


def notes(side: str, count: int = 30, seed: int = 0) -> list[dict]:
    """Notes of made-up words, each with its name labelled, one telling word, and a number of its own."""
    dice = random.Random(f"{side}{seed}")
    made = []
    for number in range(count):
        name = NAMES[side][number % 2]
        body = " ".join([*dice.choices(PLAIN, k=8), TELLING[side], f"{side}serial{number}"])
        made.append({"text": f"{name} {body}.", "spans": [[0, len(name), "PER"]]})
    return made


def write(path: Path, records: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.chdir(tmp_path)
    return write(Path("here.jsonl"), notes("here")), write(Path("there.jsonl"), notes("there"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command in this process: (exit code, standard output, standard error)."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["phidrift", "compare", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def result(run, *arguments: str | Path) -> dict:
    code, _, errors = run(*arguments, "--json", "result.json")
    assert code == 0, errors
    return json.loads(Path("result.json").read_text(encoding="utf-8"))


def test_json_has_the_documented_shape(corpora, run) -> None:
    found = result(run, *corpora, *FAST)
    assert set(found) == {"metrics", "sample", "seed", "versions", "extras"}
    assert set(found["metrics"]) == set(METRICS)
    for name, each in found["metrics"].items():
        assert set(each) == KEYS
        assert (each["family"], each["unit"]) == (METRICS[name].family, METRICS[name].unit)
        assert each["direction"] == METRICS[name].direction
        skipped = name == "perplexity_diff" or each["family"] == "semantic"
        assert (each["value"] is None) == (each["interval"] is None) == (each["clear"] is None) == skipped
        assert bool(each["reason"]) == skipped
        if not skipped:
            low, high = each["interval"]
            assert low - 1e-12 <= each["value"] <= high + 1e-12
    assert found["metrics"]["mmd"]["reason"] == "no sentence embeddings"
    assert found["metrics"]["perplexity_diff"]["reason"] == "no perplexity was measured"
    assert found["seed"] == 42
    sample = found["sample"]
    assert (sample["repeats"], sample["floor_pairs"], sample["sentences"]) == (4, 4, None)
    # 12 tokens a note: (30 * 12 - 12) / 2.
    assert sample["tokens"] == 174
    reference = sample["reference"]
    assert (reference["name"], reference["format"], reference["documents"]) == ("here", "jsonl", 30)
    assert (reference["tokens"], reference["stand_in"], reference["restricted"]) == (360, False, False)
    assert found["versions"]["encoder"] is found["versions"]["lm"] is None
    assert found["versions"]["numpy"]
    assert set(found["extras"]) == {"frontier", "mmd_p", "classifier", "entities", "reasons"}


def test_values_are_those_of_the_texts(corpora, run) -> None:
    found = result(run, *corpora, *FAST)["metrics"]
    # Serial numbers are one word each: 30 of their own a side, 2 names, 1 telling word; 8 words are shared.
    assert found["vocab_overlap"]["value_full"] == pytest.approx(8 / (8 + 2 * 33))
    assert found["jsd_unigram"]["clear"] is True
    # One of the 11 white-space tokens of every note is capitalised, one holds digits, on either side.
    for name in ("capitalized_ratio_diff", "digit_ratio_diff"):
        each = found[name]
        assert each["reference"] == each["candidate"] == pytest.approx(1 / 11)
        assert each["value"] == each["floor"] == 0
        assert each["clear"] is False


def test_csv_and_html_and_the_printed_table_say_the_same(corpora, run) -> None:
    code, out, _ = run(*corpora, *FAST, "--json", "o/r.json", "--csv", "o/r.csv", "--html", "o/r.html")
    assert code == 0
    assert sorted(path.name for path in Path("o").iterdir()) == ["r.csv", "r.html", "r.json"]
    found = json.loads(Path("o/r.json").read_text(encoding="utf-8"))["metrics"]
    with Path("o/r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["metric"] for row in rows] == list(METRICS)
    page = Path("o/r.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert "http" not in page
    for row in rows:
        each = found[row["metric"]]
        for name in ("value", "floor", "value_full", "reference", "candidate"):
            assert (float(row[name]) if row[name] else None) == each[name]
        assert ([float(row["low"]), float(row["high"])] if row["low"] else None) == each["interval"]
        assert row["clear"] == {None: "", True: "True", False: "False"}[each["clear"]]
        line = re.search(rf"^ *{row['metric']} .*$", out, re.MULTILINE)
        assert line
        shown = "-" if each["value"] is None else f"{each['value']:.3g}"
        assert line.group().split()[1] == shown
        assert (
            f'<th scope="row">{row["metric"]}</th><td>{shown.replace("-", "–", each["value"] is None)}<'
            in page
        )
    assert "Fewer than 40 repeats" in out
    assert "Drift of there from here" in out
    clear = sum(each["clear"] is True for each in found.values())
    assert f"{clear} of 20 metrics stand clear" in out


def written(run, *arguments: str | Path) -> list[bytes]:
    names = ["r.json", "r.csv", "r.html"]
    outputs = [part for name in names for part in (f"--{name[2:]}", f"out/{name}")]
    code, out, errors = run(*arguments, *outputs)
    assert code == 0, errors
    return [*(Path("out", name).read_bytes() for name in names), out.encode()]


def test_the_same_seed_gives_the_same_bytes_in_any_order(corpora, run) -> None:
    first = written(run, *corpora, *FAST)
    assert written(run, *corpora, *FAST) == first
    for side, path in zip(("here", "there"), corpora, strict=True):
        write(path, random.Random(5).sample(notes(side), 30))
    assert written(run, *corpora, *FAST) == first
    assert written(run, *corpora, *FAST, "--seed", "7")[0] != first[0]


def test_the_order_and_names_of_files_do_not_matter(corpora, run) -> None:
    texts = [note["text"] for note in notes("here")]
    for number, order in enumerate((texts, texts[::-1])):
        folder = Path(f"{number}/notes")
        folder.mkdir(parents=True)
        for place, text in enumerate(order):
            (folder / f"{place:03}.txt").write_text(text, encoding="utf-8")
    found = [result(run, f"{number}/notes", corpora[1], *FAST) for number in range(2)]
    assert found[0] == found[1]
    assert found[0]["sample"]["reference"]["format"] == "txt"
    # The same texts with labels, as JSON lines: equal but for what needs labels.
    assert found[0]["metrics"] == result(run, *corpora, *FAST)["metrics"]
    assert found[0]["extras"]["reasons"]["entities"] == "the reference has no labels"


def test_a_csv_corpus_with_a_text_column(corpora, run) -> None:
    with Path("table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "body"])
        writer.writerows([number, note["text"]] for number, note in enumerate(notes("here")))
    found = result(
        run,
        "table.csv",
        "table.csv",
        "--reference-text-field",
        "body",
        "--candidate-text-field",
        "body",
        *FAST,
    )
    assert found["sample"]["reference"]["documents"] == 30
    # A corpus against itself.
    assert found["metrics"]["vocab_overlap"]["value"] == 1
    assert found["metrics"]["jsd_unigram"]["value"] == found["metrics"]["jsd_unigram"]["value_full"] == 0
    assert not any(each["clear"] for each in found["metrics"].values())
    assert found["extras"]["classifier"]["auc"] == 0.5


def test_samples_that_are_too_large_are_null_with_a_reason(corpora, run) -> None:
    found = result(run, *corpora, *FAST, "--sample-tokens", "100000")["metrics"]["jsd_unigram"]
    assert found["value"] is found["interval"] is found["floor"] is found["clear"] is None
    assert found["reason"].startswith("too few documents for samples of 100000 tokens")
    assert found["value_full"] > 0
    # Large enough for a value, too large for two disjoint samples.
    found = result(run, *corpora, *FAST, "--sample-tokens", "300")["metrics"]["jsd_unigram"]
    assert found["value"] > 0
    assert found["floor"] is found["clear"] is None
    assert "no floor of the reference: too few documents for samples of 300 tokens" in found["reason"]


def test_a_corpus_of_one_word(corpora, run) -> None:
    write(Path("one.jsonl"), [{"text": "zorb"}])
    found = result(run, corpora[0], "one.jsonl", *FAST)
    assert found["metrics"]["jsd_bigram"]["value"] is None
    assert found["metrics"]["jsd_bigram"]["reason"].startswith("no n-grams")
    assert found["metrics"]["jsd_unigram"]["value_full"] > 0
    assert found["extras"]["classifier"] is None
    assert found["extras"]["reasons"]["classifier"] == "fewer than 10 different documents in the candidate"


def test_extras_can_be_left_out(corpora, run) -> None:
    found = result(run, *corpora, *FAST[2:], "--skip", " semantic, perplexity,extras ,")
    assert found["extras"] is None
    _, out, _ = run(*corpora, *FAST[2:], "--skip", "semantic,perplexity,extras")
    assert "Extras" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl", "there.jsonl"], "nowhere.jsonl: no such file or folder"),
        (["here.jsonl", "nowhere"], "nowhere: no such file or folder"),
        (["here.jsonl", "there.jsonl", "--skip", "lexical"], "--skip knows no 'lexical'. To mend: use some of"),
        (["here.jsonl", "there.jsonl", "--json", "."], ".: this is no plain file. To mend: name a file"),
        (["here.jsonl", "there.jsonl", "--html", "."], ".: this is no plain file"),
        (["here.jsonl", "there.jsonl", "--reference-format", "xml"], "no format 'xml'. To mend: use one of"),
        (["here.jsonl", "there.jsonl", "--candidate-format", "i2b2"], "there.jsonl: no *.xml"),
        (["here.jsonl", "there.jsonl", "--json", "here.jsonl"], "here.jsonl: this would overwrite an input"),
        (["here.jsonl", "there.jsonl", "--csv", "./there.jsonl"], "there.jsonl: this would overwrite an"),
        (["folder", "there.jsonl", "--html", "folder/new/r.html"], "this would overwrite an input"),
        (["here.jsonl", "blank.jsonl", "--skip", "perplexity,semantic"], "no readable document (1 rejected)"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_code_2_and_write_nothing(corpora, run, arguments, message) -> None:
    write(Path("folder/a.jsonl"), notes("here"))
    write(Path("blank.jsonl"), [{"text": " \n "}])
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    code, out, errors = run(*arguments)
    assert (code, out) == (2, "")
    (line,) = errors.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["--repeats", "0"],
        ["--floor-pairs", "0"],
        ["--sample-tokens", "0"],
        ["--seed", "-1"],
        ["--dtype", "x"],
    ],
)
def test_numbers_out_of_range_are_refused(corpora, run, arguments) -> None:
    code, out, errors = run(*corpora, *FAST[:2], *arguments)
    assert (code, out) == (2, "")
    assert arguments[0] in errors


def test_stand_ins_and_restricted_corpora_are_marked(corpora, run) -> None:
    # Both folders have one name: neither mark may hide behind the other corpus.
    write(Path("a/notes/x.jsonl"), notes("here"))
    write(Path("b/notes/x.jsonl"), notes("there"))
    Path("a/notes/STANDIN").write_text("made", encoding="utf-8")
    for order, side in ((("a/notes", "b/notes"), "reference"), (("b/notes", "a/notes"), "candidate")):
        code, out, _ = run(*order, *FAST, "--json", "r.json", "--html", "r.html")
        assert code == 0
        said = " ".join(out.split())
        assert f"The {side}, notes, is a stand-in: this says nothing about the real corpus." in said
        assert said.count("is a stand-in") == 1
        sample = json.loads(Path("r.json").read_text(encoding="utf-8"))["sample"]
        assert [name for name in ("reference", "candidate") if sample[name]["stand_in"]] == [side]
        assert Path("r.html").read_text(encoding="utf-8").count("(a stand-in)") == 1
    for number, note in enumerate(notes("here")):
        place = Path(f"xml/{number}.xml")
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"<x><TEXT>{note['text']}</TEXT></x>", encoding="utf-8")
    found = result(run, "xml", corpora[1], *FAST, "--html", "r.html")
    assert found["sample"]["reference"]["restricted"] is True
    assert found["sample"]["candidate"]["restricted"] is False
    assert Path("r.html").read_text(encoding="utf-8").count("(restricted)") == 1


def document_words() -> set[str]:
    texts = [note["text"] for side in ("here", "there") for note in notes(side)]
    return {word.casefold() for text in texts for word in re.findall(r"\w+", text)}


def test_no_word_of_a_document_is_shown_but_the_telling_ones(corpora, run, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    code, out, errors = run(*corpora, *FAST, "--json", "r.json", "--csv", "r.csv", "--html", "r.html")
    assert code == 0
    classifier = json.loads(Path("r.json").read_text(encoding="utf-8"))["extras"]["classifier"]
    telling = {each["word"] for side in ("reference", "candidate") for each in classifier[f"{side}_words"]}
    assert {"wexford", "yarnal"} <= telling
    # Labelled names stand in half of the notes of a side, serial numbers in one note each: none is told.
    assert telling <= {*PLAIN, *TELLING.values()}
    assert classifier["blanked"]
    files = [Path(name).read_text(encoding="utf-8") for name in ("r.json", "r.csv", "r.html")]
    for text in (out, errors, caplog.text, *files):
        shown = {word.casefold() for word in re.findall(r"\w+", text)} & document_words()
        assert shown <= telling
    assert not {word.casefold() for word in re.findall(r"\w+", caplog.text + errors)} & document_words()


def test_what_is_wrong_with_a_corpus_is_said_without_its_text(corpora, run, caplog) -> None:
    bad = [*notes("here"), {"text": "Xanthor zorb", "spans": [[0, 999, "PER"]]}, {"text": 5}]
    write(Path("here.jsonl"), bad)
    code, out, errors = run(*corpora, *FAST)
    assert code == 0
    assert "here.jsonl:31, spans[0]: span dropped" in caplog.text
    assert "here.jsonl:32: document skipped" in caplog.text
    assert "xanthor" not in (out + errors + caplog.text).casefold()


def test_a_name_that_is_labelled_in_one_copy_is_not_told(corpora, run) -> None:
    # Unlabelled, and always capitalised at the beginning of a sentence: nothing speaks against a name.
    for side, path in zip(("here", "there"), corpora, strict=True):
        write(path, [{"text": note["text"]} for note in notes(side)])
    classifier = result(run, *corpora, *FAST)["extras"]["classifier"]
    words = {each["word"] for side in ("reference", "candidate") for each in classifier[f"{side}_words"]}
    assert {"wexford", "yarnal"} <= words
    assert not words & {name.casefold() for names in NAMES.values() for name in names}


def test_help_names_every_option(run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    for option in (
        "--json",
        "--csv",
        "--html",
        "--seed",
        "--repeats",
        "--sample-tokens",
        "--skip",
        "--encoder",
        "--lm",
    ):
        assert option in plain


def test_in_a_process_of_its_own(corpora) -> None:
    code = "import sys; sys.argv[0] = 'phidrift'; from phidrift.cli.main import main; main()"
    command = [sys.executable, "-c", code, "compare", *map(str, corpora), *FAST]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Drift of there from here")
    # The table fits a page of 116 characters.
    assert max(map(len, done.stdout.splitlines())) <= 116
    assert not {word.casefold() for word in re.findall(r"\w+", done.stderr)} & document_words()
    assert "Traceback" not in done.stderr


@pytest.mark.filterwarnings("default")
def test_with_the_small_models(corpora, run, monkeypatch) -> None:
    # The repository's cache, else the language model would be converted for this test alone.
    monkeypatch.setenv("PHIDRIFT_CACHE", str(cache_root(Path(__file__))))
    write(Path("here.jsonl"), [{"text": f"Ann saw knee {number} today."} for number in range(30)])
    write(Path("there.jsonl"), [{"text": f"The court paid {number} euros."} for number in range(30)])
    found = result(run, *corpora, "--repeats", "4", "--floor-pairs", "4")
    assert {name for name, each in found["metrics"].items() if each["value"] is None} == set()
    assert found["metrics"]["perplexity_diff"]["reference"] > 1
    assert 0 < found["metrics"]["mmd"]["value"] < 2**0.5
    assert found["versions"]["encoder"]["name"] == "embedded/all-minilm-l6-v2"
    assert found["versions"]["lm"]["name"] == "embedded/smollm2-135m-instruct"
    assert 0 < found["extras"]["mmd_p"] <= 0.05
    assert 0 < found["extras"]["frontier"] < 1
