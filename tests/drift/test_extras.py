"""What is measured beside the 25 metrics: each of it or a reason, with and without labels and models."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from made_corpora import corpus, fake_encoder

from phidrift.core.document import ENTITIES, Document, Span
from phidrift.drift import Settings, profile
from phidrift.drift.extras import Extras, measure_extras

QUICK = Settings(repeats=2, floor_pairs=2)


def documents(texts, name=None):
    """Documents that are unlabelled, or in which every occurrence of a name is a PERSON."""
    made = []
    for number, text in enumerate(texts):
        spans = None
        if name is not None:
            starts = [i for i in range(len(text)) if text.startswith(name, i)]
            spans = tuple(Span(start, start + len(name), "PERSON") for start in starts)
        made.append(Document(str(number), text, spans))
    return made


def wide_encoder(sentences):
    """Every sentence its own point of 8 coordinates."""
    rows = [np.random.default_rng(list(s.encode())).standard_normal(8) for s in sentences]
    return np.array(rows, dtype=np.float32).reshape(-1, 8)


def measured(reference, candidate, encode=wide_encoder, settings=QUICK) -> Extras:
    profiles = [
        profile([document.text for document in side], encode=encode, encoder="made" if encode else None)
        for side in (reference, candidate)
    ]
    extras = measure_extras(reference, candidate, (profiles[0], profiles[1]), settings)
    # Whatever is measured: plain data without NaN, and a reason for exactly what is missing.
    data = json.loads(json.dumps(extras.to_json(), allow_nan=False))
    assert set(data) == {"frontier", "mmd_p", "classifier", "entities", "reasons"}
    assert set(extras.reasons) == {name for name in data if data[name] is None}
    assert all(extras.reasons.values())
    return extras


HERE, THERE = corpus(1, 60), corpus(2, 60, names=("dee", "eve"))


def test_all_extras_of_two_labelled_corpora():
    extras = measured(documents(HERE, "Ann"), documents(THERE, "Dee"))
    assert extras.reasons == {}
    assert 1 / 252 <= extras.frontier < 1
    assert 1 / 1000 <= extras.mmd_p <= 1
    assert extras.classifier.blanked
    assert extras.classifier.reference_documents == extras.classifier.candidate_documents == 60
    assert list(extras.entities) == list(ENTITIES)
    person = extras.entities["PERSON"]
    assert person.reference_mentions == sum(text.count("Ann") for text in HERE)
    # "Ann" and "Dee" are one token each and have no string in common.
    assert (person.surface_jaccard, person.seen_share) == (0, 0)
    assert (person.reference_length, person.candidate_length, person.length_diff) == (1, 1, 0)
    assert extras.entities["DATE"].reasons["surface_jaccard"] == "no DATE span in the reference"


def test_telling_words_are_none_of_the_labelled_names():
    extras = measured(documents(HERE, "Ann"), documents(THERE, "Dee"))
    reference = {each.word for each in extras.classifier.reference_words}
    candidate = {each.word for each in extras.classifier.candidate_words}
    # Without the labels the names are what tells most.
    assert "ann" not in reference
    assert "dee" not in candidate
    # Bob and Cy are not labelled here, but capitalised.
    assert not reference & {"bob", "cy"}
    assert "eve" not in candidate
    assert candidate & {"asked", "clinic", "fever"}


def test_a_corpus_against_itself():
    extras = measured(documents(HERE, "Ann"), documents(HERE[::-1], "Ann"))
    assert extras.frontier == 1
    assert extras.mmd_p == 1
    assert extras.classifier.auc == 0.5
    person = extras.entities["PERSON"]
    assert (person.surface_jaccard, person.seen_share) == (1, 1)
    assert person.length_diff == person.density_diff == 0
    assert person.context_jsd == pytest.approx(0, abs=1e-12)


def test_another_corpus_is_told_apart():
    far = measured(documents(HERE), documents([text.replace("a", "o") for text in THERE]))
    near = measured(documents(HERE), documents(corpus(3, 60)))
    assert far.classifier.auc > 0.95 > 0.7 > near.classifier.auc
    assert near.classifier.interval[0] < 0.5 < near.classifier.interval[1]


@pytest.mark.parametrize(("first", "second"), [(None, "Dee"), ("Ann", None), (None, None)])
def test_without_labels_there_are_no_entities(first, second):
    extras = measured(documents(HERE, first), documents(THERE, second))
    side = "reference" if first is None else "candidate"
    assert extras.entities is None
    assert extras.reasons == {"entities": f"the {side} has no labels"}
    assert not extras.classifier.blanked


def test_one_labelled_document_is_enough_for_entities():
    partly = [*documents(HERE[:1], "Ann"), *documents(HERE[1:])]
    assert measured(partly, documents(THERE, "Dee")).entities is not None


def test_skipped_embeddings():
    extras = measured(documents(HERE), documents(THERE), encode=None)
    assert extras.frontier is extras.mmd_p is None
    assert extras.reasons["frontier"] == extras.reasons["mmd_p"] == "no sentence embeddings"
    assert extras.classifier is not None


def test_too_few_documents():
    extras = measured(documents(HERE[:3]), documents(THERE[:1]))
    assert extras.reasons["classifier"] == "fewer than 10 different documents in the reference"
    assert extras.reasons["mmd_p"] == "fewer than two documents on a side"
    assert "fewer than 50 different sentences" in extras.reasons["frontier"]


def test_one_side_of_a_single_document():
    extras = measured(documents(HERE), documents(THERE[:1]))
    assert extras.reasons["classifier"] == "fewer than 10 different documents in the candidate"
    assert extras.reasons["mmd_p"] == "fewer than two documents on a side"
    assert extras.frontier is not None


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["", " \n"],
        ["one"],
        ["😀", "🩺 🩺"],
        ["\ud800 a", "b \udfff"],
        ["\0", "a\0"],
        ["same text."] * 40,
        [f"\udcff {n} 😀" for n in range(40)],
    ],
    ids=["empty", "blanks", "one word", "emoji", "surrogates", "NUL", "all alike", "many surrogates"],
)
@pytest.mark.parametrize("name", [None, "a"])
def test_bad_text_has_reasons(texts, name):
    for sides in ((HERE, texts), (texts, HERE), (texts, texts)):
        measured(*(documents(side, name) for side in sides), encode=fake_encoder)


@pytest.mark.parametrize("value", [1.0, math.nan, math.inf])
def test_constant_and_broken_embeddings(value):
    def constant(sentences):
        return np.full((len(sentences), 4), value, dtype=np.float32)

    extras = measured(documents(HERE), documents(THERE), encode=constant)
    assert extras.frontier is extras.mmd_p is None
    if value == 1:
        assert extras.reasons["mmd_p"] == "over half of the sentences coincide: the bandwidth is 0"
    else:
        assert "NaN or infinite" in extras.reasons["mmd_p"]


def test_neither_order_nor_run_matters_but_the_seed_does():
    here, there = documents(HERE, "Ann"), documents(THERE, "Dee")
    extras = measured(here, there)
    assert measured(here[::-1], there[7:] + there[:7]).to_json() == extras.to_json()
    other = measured(here, there, settings=replace(QUICK, seed=1))
    assert other.classifier.auc != extras.classifier.auc
