"""Counting many texts at once gives what each unit's own predicate gives, one text at a time."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from phidrift.core import text as units
from phidrift.drift import Settings, lexical, ngrams, profile, readability, sampling
from phidrift.drift.counting import COLUMNS, count_document, count_documents

SHARED = Path(__file__).parents[3] / "shared" / "corpora"

# Pieces at which units end, and pieces that look like it: stops, abbreviations, ordinals, odd white space, pairs.
PIECES = [
    "Dr.", "(Dr.", "St.", "e.g.", "X.", "b.", "1.", "12.", "1234.", "1.5", "well.", "well.)", "Well", "what?!", "...",
    "”", "(“", "“Yes.”", "-", "•", "•x", "2)", "a)", "+", "Key:", "key : v", "A=B", "a==b", "=", ":", "10:30", "x.y:",
    "http://a.b", "www.a:b", "éa", "Ǆ", "ǆ", "ß", "İ", "٣", "²", "€5", "ICD10", "MRI", "a_b", "😀", "\u0301",
    "\u200b", " ", "  ", "\t", "\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "_",
]  # fmt: skip
PIECED = st.lists(st.sampled_from(PIECES) | st.sampled_from([" ", "\n"]), max_size=30).map("".join)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def check(texts):
    found = count_documents(texts)
    assert found.counts.tolist() == [count_document(text) for text in texts]
    words = [units.words(text) for text in texts]
    assert found.vocabulary == tuple(sorted({word for document in words for word in document}))
    assert [found.vocabulary[i] for i in found.word_ids] == [word for document in words for word in document]
    factors = [[lexical.mtld_factors(each), lexical.mtld_factors(each[::-1])] for each in words]
    assert found.factors.tolist() == factors


@settings(deadline=None, max_examples=250)
@given(st.lists(PIECED | ANY, max_size=6))
@example([])
@example([""])
@example(["", " \n", "\r\n", "a", ""])
@example(["1. A b. C", "x 1. A", "B. Cee. D", "Seen. Plan:\xa0rest", "Plan:\x0brest\nPlan: rest"])
def test_equal_to_one_text_at_a_time(texts):
    check(texts)


def real_texts(name):
    if name == "mts-dialog":
        with (SHARED / name / "MTS-Dialog-TrainingSet.csv").open(encoding="utf-8", newline="") as file:
            return [row[column] for row in csv.DictReader(file) for column in ("section_text", "dialogue")]
    paths = sorted((SHARED / name).glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [json.loads(line)["text"] for line in lines]


@pytest.mark.parametrize("name", ["mts-dialog", "multileg"])
def test_equal_on_real_text(name):
    if not (SHARED / name).is_dir():
        pytest.skip(f"no corpus {name}")
    texts = real_texts(name)
    check(texts[:800])
    # Longer documents, many lines each.
    check(["\n".join(texts[i : i + 40]) for i in range(800, min(len(texts), 2000), 40)])


def test_counts_by_hand():
    text = "Name: Ann Lee\r\n- MRI: 10% worse. 1. He rests."
    counts = dict(zip(COLUMNS, count_documents([text]).counts[0].tolist(), strict=True))
    # Sentences: "Name: Ann Lee" 4 tokens, "- MRI: 10% worse." 7, "1." 2 (no ordinal: no line starts here),
    # "He rests." 3.
    assert counts["sentences"] == 4
    assert counts["squared_sentence_tokens"] == 16 + 49 + 4 + 9
    assert counts["tokens"] == 16
    assert counts["words"] == 3 + 3 + 1 + 2
    assert counts["chunks"] == 10  # Name: Ann Lee - MRI: 10% worse. 1. He rests.
    assert counts["punctuation_chunks"] == 7  # Name: - MRI: 10% worse. 1. rests.
    assert counts["digit_chunks"] == 2
    assert counts["capitalized_chunks"] == 5  # Name: Ann Lee MRI: He
    assert counts["special_chunks"] == 1
    assert counts["all_caps_tokens"] == 1
    assert counts["line_breaks"] == 1
    assert counts["key_value_sentences"] == 2
    assert counts["bullet_sentences"] == 2  # "- MRI" and "1."
    # name, ann, lee, 10, worse, 1, he, rests: one each; mri three.
    assert counts["syllables"] == 11


def test_documents_are_apart():
    texts = ["Seen. Well", "Again. And", "", "a b a b a"]
    together = count_documents(texts)
    for number, text in enumerate(texts):
        alone = count_documents([text])
        assert np.array_equal(together.counts[number], alone.counts[0])
        assert np.array_equal(together.factors[number], alone.factors[0])


def test_one_line_of_a_megabyte():
    text = "Seen by Dr. Lee. Fever: none " * 35_000
    counts = dict(zip(COLUMNS, count_documents([text]).counts[0].tolist(), strict=True))
    # "Seen by Dr. Lee.", then "Fever: none Seen by Dr. Lee." again and again, and "Fever: none" at the end:
    # a pair where "Fever:" opens a sentence.
    assert counts["sentences"] == 35_001
    assert counts["key_value_sentences"] == 35_000


WORDY = st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), max_size=8)


@settings(deadline=None)
@given(WORDY, WORDY, st.data())
def test_ngrams_of_chosen_documents_are_those_of_a_plain_count(texts, others, data):
    corpus, _ = sampling.share_vocabulary([profile(texts), profile(others)], Settings())
    lengths = corpus.profile.column("words")
    documents = np.split(corpus.word_ids, np.cumsum(lengths)[:-1]) if len(lengths) else []
    chosen = np.flatnonzero([data.draw(st.booleans()) for _ in documents])
    sample = sampling.Sample(corpus, chosen)
    for n, (values, counts) in ((1, sample.unigrams), (2, sample.bigrams)):
        expected = lexical.ngram_counts([documents[i].tolist() for i in chosen], n)
        size = corpus.vocabulary_size
        named = {sum(w * size**p for p, w in enumerate(gram[::-1])): k for gram, k in expected.items()}
        assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == named
        assert values.tolist() == sorted(set(values.tolist()))
    expected = lexical.ngram_counts([documents[i].tolist() for i in chosen], 4)
    assert sorted(sample.fourgrams.tolist()) == sorted(expected.values())


@given(st.lists(st.integers(0, 2**40) | st.integers(0, 3), max_size=30))
def test_numbered_is_numpys_unique(keys):
    array = np.array(keys, dtype=np.int64)
    expected = np.unique(array, return_inverse=True)
    for found, wanted in zip(ngrams.numbered(array), expected, strict=True):
        assert found.tolist() == wanted.tolist()


def test_a_run_that_is_no_word_costs_no_time():
    # 90 characters are hyphenated, 101 are not: one syllable in three.
    assert readability.syllables("a" * 101) == 33
    assert readability.syllables("5" * 2_000_000) == 666_666
    assert count_document("b" * 300)[COLUMNS.index("syllables")] == 100
