"""The stand-ins: raw formats, sizes, shapes, entity shares, seeds."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phidrift.core.document import ENTITIES, Document
from phidrift.core.text import sentence_offsets, tokens
from phidrift.corpora.grammar import expand
from phidrift.corpora.harmonize import Split, harmonize
from phidrift.corpora.reading import CorpusSource
from phidrift.corpora.standins import source_grammar, write_standins

Corpora = dict[str, tuple[list[Document], list[Document], dict[str, Any]]]  # train, test, report
SOURCES = ("i2b2", "multileg", "ai4privacy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("standins")
    write_standins(path, 42, (30, 30), 300, 400)
    return path


@pytest.fixture(scope="module")
def corpora(folder: Path) -> Corpora:
    sizes: dict[str, Any] = {"i2b2": "source", "multileg": 90, "ai4privacy": 100}
    return {n: harmonize(CorpusSource(n, folder / n, n, n == "i2b2"), Split(sizes[n]), 42) for n in SOURCES}


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_standins(tmp_path / name, seed, (2, 2), 40, 30)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    for source in SOURCES:
        assert files(tmp_path / "a" / source) != files(tmp_path / "c" / source)


def test_every_span_is_exact_and_nothing_is_rejected(corpora: Corpora) -> None:
    # The harmoniser compares text[start:end] with the stored surface for i2b2 and ai4privacy.
    for name in SOURCES:
        report = corpora[name][2]
        assert {k for k, v in report["spans"]["outcomes"].items() if v} == {"exact"}, name
        assert report["rejected"]["documents"] == 0
        assert report["stand_in"] is True


def test_raw_offsets_hold_the_surface(folder: Path) -> None:
    for line in (folder / "ai4privacy" / "english_pii_43k.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = row["source_text"]
        assert all(text[m["start"] : m["end"]] == m["value"] for m in row["privacy_mask"])
        stretches = json.loads(row["span_labels"])
        assert "".join(text[start:end] for start, end, _ in stretches) == text
        # Putting the values back into the template gives the text.
        rebuilt = row["target_text"]
        for mask in row["privacy_mask"]:
            rebuilt = rebuilt.replace(f"[{mask['label']}]", mask["value"], 1)
        assert rebuilt == text
    paragraphs = [
        json.loads(line)
        for path in sorted((folder / "multileg").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert len(paragraphs) == 300
    for paragraph in paragraphs:
        for start, end, tag in paragraph["label"]:
            surface = paragraph["text"][start:end]
            assert surface == surface.strip()
            if tag == "IDNUM":
                assert re.search(r"\d", surface)
            if tag == "DATE":
                assert re.search(r"(19|20)\d\d", surface)


def test_sizes_and_patients(folder: Path, corpora: Corpora) -> None:
    train, test, _ = corpora["i2b2"]
    assert (len(train), len(test)) == (30, 30)
    assert not {d.meta["group"] for d in train} & {d.meta["group"] for d in test}
    assert all(500 <= len(tokens(d.text)) <= 1000 for d in [*train, *test])
    assert len(list((folder / "multileg").glob("*.jsonl"))) == 30
    # multileg-200 and ai4privacy-200 of the default profile need 200 training documents.
    assert len(corpora["multileg"][0]) >= 200
    assert len(corpora["ai4privacy"][0]) >= 200
    for name in SOURCES:
        assert not {d.text for d in corpora[name][0]} & {d.text for d in corpora[name][1]}


@pytest.mark.parametrize("seed", [0, 1, 7, 123])
def test_other_seeds_leave_enough_training_documents(tmp_path: Path, seed: int) -> None:
    write_standins(tmp_path, seed, (1, 1), 300, 1)
    train, test, _ = harmonize(CorpusSource("m", tmp_path / "multileg", "multileg"), Split(90), seed)
    assert len(train) >= 200
    assert 80 <= len(test) <= 99


@pytest.mark.parametrize(
    ("name", "low", "high"),
    # Long notes hold most entities; of short texts each is in about a third.
    [("i2b2", 0.6, 1.0), ("multileg", 0.25, 0.6), ("ai4privacy", 0.25, 0.6)],
)
def test_every_entity_is_in_a_fair_share_of_documents(
    corpora: Corpora, name: str, low: float, high: float
) -> None:
    everything = [*corpora[name][0], *corpora[name][1]]
    for entity in ENTITIES:
        share = sum(bool(d.entity_spans(entity)) for d in everything) / len(everything)
        assert low <= share <= high, entity


def shapes(documents: list[Document]) -> Iterator[str]:
    """Sentences with PHI, each span replaced by its label and each number by 0."""
    for document in documents:
        for start, end in sentence_offsets(document.text):
            inside = [s for s in document.spans or () if start <= s.start and s.end <= end]
            shape, position = "", start
            for span in inside:
                shape += f"{document.text[position : span.start]}[{span.label}]"
                position = span.end
            if inside:
                yield re.sub(r"\d+", "0", shape + document.text[position:end])


@pytest.mark.parametrize(("name", "least"), [("i2b2", 600), ("multileg", 250), ("ai4privacy", 300)])
def test_several_hundred_sentence_shapes(corpora: Corpora, name: str, least: int) -> None:
    everything = [*corpora[name][0], *corpora[name][1]]
    assert len(set(shapes(everything))) >= least


def test_sources_differ_but_share_surface_forms(corpora: Corpora) -> None:
    def forms(name: str, entity: str) -> set[str]:
        everything = [*corpora[name][0], *corpora[name][1]]
        surfaces = {d.text[s.start : s.end] for d in everything for s in d.entity_spans(entity)}
        return {re.sub(r"[A-Za-z]+", "a", re.sub(r"\d", "0", surface)) for surface in surfaces}

    for left, right in (("i2b2", "multileg"), ("i2b2", "ai4privacy"), ("multileg", "ai4privacy")):
        for entity in ("DATE", "ADDRESS"):
            assert forms(left, entity) & forms(right, entity)
            assert forms(left, entity) ^ forms(right, entity)
    assert sum("\n" in d.text for d in corpora["i2b2"][1]) == 30
    assert not any("\n" in d.text for name in SOURCES[1:] for d in corpora[name][0])


def test_telephone_numbers_and_domains_are_reserved(corpora: Corpora) -> None:
    reserved = re.compile(r"555[-. ]?01\d\d|7946 0\d{3}|01632 960\d{3}|07700 900\d{3}|x5-01\d\d")
    for name in ("i2b2", "ai4privacy"):
        for document in [*corpora[name][0], *corpora[name][1]]:
            for span in document.entity_spans("CONTACT"):
                surface = document.text[span.start : span.end]
                if "@" in surface:
                    assert re.search(r"[@.]example\.(com|org|net)$", surface)
                else:
                    assert reserved.search(surface), surface


@pytest.mark.parametrize("name", SOURCES)
def test_every_rule_a_grammar_names_exists(name: str) -> None:
    grammar = source_grammar(name, 1)
    context = {"pfirst", "plast", "dfirst", "dlast", "hospital", "hospital_short", "year", "year2"}
    context |= {"he", "he_small", "his_small", "woman", "mr", "mrn", "age"}
    for alternatives in grammar.values():
        for template in alternatives:
            for reference in re.findall(r"\{([^{}]+)\}", template):
                kind, _, argument = reference.partition(":")
                if kind not in ("int", "num"):
                    assert (argument.split(":")[0] or kind) in {*grammar, *context}, reference


def test_expansion_tracks_spans_through_nested_rules() -> None:
    grammar = {"who": ["Dr. [PER|{last}]"], "last": ["Ng"], "line": ["{who}; ", "none; "]}
    text, spans = expand(
        "Seen by {who} and {upper:who} on [DATE|{int:03-3}/{num:1#}].", grammar, random.Random(5)
    )
    assert [(text[s.start : s.end], s.label) for s in spans][:2] == [("Ng", "PER"), ("NG", "PER")]
    assert all(text[s.start : s.end] == s.surface for s in spans)
    assert re.fullmatch(r"Seen by Dr\. Ng and DR\. NG on 03/1\d\.", text)
    assert expand("{many:line:2-5}", grammar, random.Random(5))[0] in ("Dr. Ng; none; ", "none; Dr. Ng; ")
    with pytest.raises(ValueError, match="spans nest"):
        expand("[DATE|{who}]", grammar, random.Random(5))
    with pytest.raises(KeyError):
        expand("{absent}", grammar, random.Random(5))
