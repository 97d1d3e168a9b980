"""What `predict` says of pieces and spans, with taggers whose probabilities are known."""

import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from word_taggers import NO, SURE, TABLES, write_tagger, write_taggers

from phidrift.core.document import Span
from phidrift.core.errors import PhidriftError
from phidrift.tagging import predict as prediction
from phidrift.tagging.predict import load_tagger, predict, predict_spans


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_taggers(tmp_path_factory.mktemp("taggers"))


def test_spans_have_the_mean_probability_of_their_pieces(folder: Path) -> None:
    tagger = load_tagger(folder / "PERSON")
    text = "Ana Weber, Lee"
    ((found,),) = predict([tagger], [text])
    assert found.spans == (Span(0, 9, "PERSON"),)
    sure = (math.exp(2) + math.exp(2.5)) / (1 + math.exp(2) + math.exp(2.5))
    assert found.scores == (pytest.approx(sure, abs=1e-6),)
    # The pieces are Ana, Weber, the comma and Lee; Lee is 2 / (e^2 + 2), the comma 2 / (e^6 + 2).
    wanted = [sure, sure, 2 / (math.exp(6) + 2), 2 / (math.exp(2) + 2)]
    assert found.belongs == pytest.approx(wanted, abs=1e-6)
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-6)


def test_a_score_is_a_mean_where_pieces_differ(tmp_path: Path) -> None:
    # Ana 0.951, Weber (1 + 1) / (1 + 1 + 1) = 0.667, which is decoded as I since B I is the likeliest sequence.
    tagger = load_tagger(write_tagger(tmp_path / "t", "PERSON", {"Ana": SURE, "Weber": (0.0, -1.0, 0.5)}))
    ((found,),) = predict([tagger], ["Ana Weber"])
    ana = (math.exp(2) + math.exp(2.5)) / (1 + math.exp(2) + math.exp(2.5))
    weber = (math.exp(-1) + math.exp(0.5)) / (1 + math.exp(-1) + math.exp(0.5))
    assert found.spans == (Span(0, 9, "PERSON"),)
    assert found.scores == (pytest.approx((ana + weber) / 2, abs=1e-6),)


def test_taggers_of_one_tokenizer_share_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taggers = [load_tagger(folder / entity) for entity in TABLES]
    texts = ["Ana Weber, 555-0123", "", "Seen 3/14 by WEBER. " * 30]
    alone = [predict([tagger], texts)[0] for tagger in taggers]
    calls = []
    original = prediction.tokenize
    monkeypatch.setattr(prediction, "tokenize", lambda *a: calls.append(1) or original(*a))
    done = []
    together = predict(taggers, texts, done.append)
    assert len(calls) == 1
    assert sum(done) == len(taggers) * len(texts)
    for one, other in zip(alone, together, strict=True):
        assert [each.spans for each in one] == [each.spans for each in other]
        assert [each.scores for each in one] == [each.scores for each in other]


def test_other_tokenizers_are_kept_apart(folder: Path, tmp_path: Path) -> None:
    # Windows of 16 pieces, not 32: the same spans, found in other windows.
    short = load_tagger(write_tagger(tmp_path / "short", "PERSON", TABLES["PERSON"], max_length=16))
    long = load_tagger(folder / "PERSON")
    assert (short.limit, long.limit) == (14, 30)
    texts = ["We saw Ana Weber. " * 40]
    both = predict([short, long], texts)
    assert both[0][0].spans == both[1][0].spans
    assert len(both[0][0].spans) == 40
    assert predict_spans(short, texts) == [both[0][0].spans]


def test_output_that_is_not_finite_is_an_error(folder: Path) -> None:
    # A model without numbers would say O everywhere, and a document would be written as it is.
    tagger = load_tagger(folder / "PERSON")
    tagger.model.classifier.bias.data.fill_(math.nan)
    with pytest.raises(PhidriftError, match="PERSON tagger's output is not finite"):
        predict_spans(tagger, ["Ana Weber"])


def test_weights_that_the_configuration_has_no_place_for_are_an_error(tmp_path: Path) -> None:
    folder = write_tagger(tmp_path / "t", "PERSON", {"Ana": SURE}, NO)
    path = folder / "model.safetensors"
    weights = load_file(path)
    more = {f"bert.encoder.layer.7.{name}": tensor.clone() for name, tensor in list(weights.items())[:3]}
    save_file({**weights, **more}, path, metadata={"format": "pt"})
    with pytest.raises(PhidriftError, match="no place for 3 of its weights"):
        load_tagger(folder)


def test_a_tokenizer_that_knows_no_words_is_an_error(tmp_path: Path) -> None:
    # transformers makes one of five pieces where tokenizer.json is missing: every word would be unknown, and no name
    # found.
    folder = write_tagger(tmp_path / "t", "PERSON", {"Ana": SURE}, NO)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(PhidriftError, match=r"t: (the tokenizer knows \d+ pieces|no tokenizer can be read)"):
        load_tagger(folder)


def test_weights_that_are_not_all_there_are_an_error(tmp_path: Path) -> None:
    folder = write_tagger(tmp_path / "t", "PERSON", {"Ana": SURE}, NO)
    path = folder / "model.safetensors"
    weights = load_file(path)
    kept = {name: tensor for name, tensor in weights.items() if not name.startswith("classifier")}
    save_file(kept, path, metadata={"format": "pt"})
    with pytest.raises(PhidriftError, match="2 weights of the model are missing"):
        load_tagger(folder)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(PhidriftError, match="can't be read"):
        load_tagger(folder)
    path.unlink()
    with pytest.raises(PhidriftError, match="can't be loaded"):
        load_tagger(folder)
