"""Training, checkpoints and evaluation with a model of one layer, on documents whose pattern it can learn."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from phidrift.core.document import Document, Span
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json
from phidrift.tagging import train as training
from phidrift.tagging.alignment import B, I, O, Pieces
from phidrift.tagging.checkpoints import TrainingSet, train_all
from phidrift.tagging.evaluate import CSV_COLUMNS, Target, csv_rows, evaluate_set, workload
from phidrift.tagging.predict import Tagger, best_labels, load_tagger, predict_spans
from phidrift.tagging.train import TaggerSettings, train_tagger

SENTENCES = (
    "Seen on {}.",
    "The wound was closed {} by us.",
    "No fever.",
    "Pulse is 72.",
    "Review: {}\n",
    "Alert.",
)
MONTHS = ("May", "June", "July", "March")


def made_documents(count: int, corpus: str = "made", sentences: int = 3, shift: int = 0) -> list[Document]:
    """Documents of `sentences` sentences; each slot holds a date of a month and a number."""
    documents = []
    for number in range(shift, shift + count):
        text, spans = "", []
        for place in range(sentences):
            sentence = SENTENCES[(number + place * (1 + number % 5)) % len(SENTENCES)]
            date = f"{MONTHS[(number + place) % 4]} {(number * 7 + place) % 28 + 1}"
            if "{}" in sentence:
                start = len(text) + sentence.index("{}")
                spans.append(Span(start, start + len(date), "DATE"))
            text += sentence.format(date) + " "
        documents.append(Document(f"{corpus}-{number}", text, tuple(spans), {"corpus": corpus}))
    return documents


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random BERT of one layer, 32 wide, with a cased word-piece vocabulary."""
    folder = tmp_path_factory.mktemp("base")
    text = " ".join([*SENTENCES, *MONTHS, *(str(number) for number in range(100))]).replace("{}", " ")
    words = text.replace(".", " . ").replace(":", " : ").split()
    vocabulary = {
        word: number
        for number, word in enumerate(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]))
    }
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=False)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    torch.manual_seed(3)
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def settings(base: str) -> TaggerSettings:
    return TaggerSettings(base, 32, 8, 12, 1e-2, 0.1, 0.01)


def made_set(documents: Sequence[Document], entity: str = "DATE") -> TrainingSet:
    return TrainingSet("made-30", "made", 30, entity, documents, "0" * 64, {"made": "CC0-1.0"})


@pytest.fixture(scope="module")
def models_folder(tmp_path_factory: pytest.TempPathFactory, settings: TaggerSettings) -> Path:
    """models/made-30: DATE trained with two seeds; PERSON, which no document holds."""
    folder = tmp_path_factory.mktemp("models") / "made-30"
    for entity in ("DATE", "PERSON"):
        train_all(
            made_set(made_documents(30), entity),
            {"tiny": settings},
            [1, 2],
            threads=1,
            folder=folder / entity,
        )
    return folder


def test_it_learns_its_training_documents(models_folder: Path) -> None:
    documents = made_documents(30)
    target = Target("made", {"DATE": documents})
    found = evaluate_set(models_folder, [target], ["DATE"], resamples=100, seed=1)["entities"]["DATE"]["made"]
    assert found["f1"] > 0.95
    assert found["f1_low"] <= found["f1"] <= found["f1_high"]
    assert found["support"] == sum(len(document.spans or ()) for document in documents)
    assert found["tp"] + found["fn"] == 2 * found["support"]  # counts are summed over the two runs
    assert [(run["tagger"], run["seed"]) for run in found["runs"]] == [("tiny", 1), ("tiny", 2)]
    assert found["f1"] == pytest.approx(sum(run["f1"] for run in found["runs"]) / 2)
    assert found["in_distribution"] is True
    assert found["trained"] is True


def test_long_documents_are_read_to_their_end(models_folder: Path) -> None:
    # About 1,000 pieces, 30 at a time: whatever lies after the first window must be found as well.
    documents = made_documents(2, sentences=200)
    spans = predict_spans(load_tagger(models_folder / "DATE" / "tiny-1"), [d.text for d in documents])
    for document, found in zip(documents, spans, strict=True):
        gold = set(document.spans or ())
        assert len(gold) > 50
        assert len(gold & set(found)) > 0.7 * len(gold)
        late = {span for span in gold if span.start > 0.9 * len(document.text)}
        assert len(late & set(found)) > 0.5 * len(late) > 0


def test_training_again_gives_the_same_bytes(
    models_folder: Path, settings: TaggerSettings, tmp_path: Path
) -> None:
    train_all(made_set(made_documents(30)), {"tiny": settings}, [1], threads=1, folder=tmp_path / "DATE")
    first, second = models_folder / "DATE" / "tiny-1", tmp_path / "DATE" / "tiny-1"
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert "model.safetensors" in names
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    other_seed = models_folder / "DATE" / "tiny-2" / "model.safetensors"
    assert (first / "model.safetensors").read_bytes() != other_seed.read_bytes()


def test_nothing_of_this_machine_is_in_a_checkpoint(models_folder: Path, base: str) -> None:
    for path in sorted((models_folder / "DATE").rglob("*")):
        if path.name in ("config.json", "tokenizer_config.json", "tokenizer.json"):
            assert str(Path(base).parent) not in path.read_text(encoding="utf-8"), path.name


def test_what_training_json_and_the_card_say(models_folder: Path) -> None:
    record = read_json(models_folder / "DATE" / "training.json")
    documents = made_documents(30)
    assert record["positives"] == sum(bool(document.spans) for document in documents)
    assert record["sources"] == {"made": 30}
    assert (record["trained"], record["reason"], record["restricted"]) == (True, None, False)
    run = record["taggers"][0]
    # 30 windows in batches of 8 are 4 steps an epoch.
    assert (run["windows"], run["steps"], run["unrepresentable_spans"]) == (30, 4 * 12, 0)
    assert 0 < run["loss"] < 0.5
    card = (models_folder / "DATE" / "tiny-1" / "README.md").read_text(encoding="utf-8")
    assert "made: 30, licence: CC0-1.0" in card
    assert "0" * 64 in card
    assert "Restricted: no" in card


def test_a_restricted_document_restricts_the_model(
    settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = made_documents(4)
    documents[2] = replace(documents[2], meta={"corpus": "notes", "restricted": True})
    short = replace(settings, epochs=1)
    record = train_all(made_set(documents), {"tiny": short}, [1], threads=1, folder=tmp_path / "DATE")
    assert record["restricted"] is True
    assert record["sources"] == {"made": 3, "notes": 1}
    assert "**Restricted**" in (tmp_path / "DATE" / "tiny-1" / "README.md").read_text(encoding="utf-8")


def test_a_set_without_a_positive_gets_the_tagger_that_says_nothing(models_folder: Path) -> None:
    record = read_json(models_folder / "PERSON" / "training.json")
    assert record["trained"] is False
    assert "none of the 30 training documents holds PERSON" in record["reason"]
    assert sorted(path.name for path in (models_folder / "PERSON").iterdir()) == ["training.json"]
    named = Document("a", "Lee was seen.", (Span(0, 3, "PERSON"),), {"corpus": "other"})
    nobody = Document("b", "No fever.", (), {"corpus": "empty"})
    targets = [Target("other", {"PERSON": [named]}), Target("empty", {"PERSON": [nobody]})]
    found = evaluate_set(models_folder, targets, ["PERSON"], resamples=10, seed=1)["entities"]["PERSON"]
    other, empty = found["other"], found["empty"]
    assert (other["f1"], other["recall"], other["precision"]) == (0.0, 0.0, None)
    assert (other["tp"], other["fp"], other["fn"], other["support"]) == (0, 0, 2, 1)
    assert (other["f1_low"], other["f1_high"]) == (0.0, 0.0)
    assert (other["trained"], other["in_distribution"]) == (False, False)
    assert "precision: nothing predicted" in other["reason"]
    assert [run["f1"] for run in other["runs"]] == [0.0, 0.0]
    assert (empty["f1"], empty["f1_low"], empty["support"]) == (None, None, 0)
    assert "no span of this entity" in empty["reason"]


def test_csv_rows_and_workload(models_folder: Path) -> None:
    documents = made_documents(3, corpus="elsewhere", shift=50)
    targets = [Target("elsewhere", {"DATE": documents, "PERSON": documents})]
    done: list[int] = []
    found = evaluate_set(models_folder, targets, ["DATE", "PERSON"], resamples=5, seed=1, advance=done.append)
    # Three documents, two taggers, two entities.
    assert sum(done) == workload(models_folder, targets, ["DATE", "PERSON"]) == 12
    assert (found["set"], found["source"], found["size"]) == ("made-30", "made", 30)
    rows = csv_rows(found)
    assert [(row["entity"], row["target"]) for row in rows] == [
        ("DATE", "elsewhere"),
        ("PERSON", "elsewhere"),
    ]
    assert all(set(CSV_COLUMNS) <= set(row) for row in rows)
    assert rows[0]["in_distribution"] is False


def test_unlabelled_documents_are_refused(
    models_folder: Path, settings: TaggerSettings, tmp_path: Path
) -> None:
    unlabelled = Document("note-7", "Seen on May 3.", None, {})
    with pytest.raises(PhidriftError, match=r"note-7.*unlabelled"):
        train_all(made_set([unlabelled]), {"tiny": settings}, [1], threads=1, folder=tmp_path / "x")
    with pytest.raises(PhidriftError, match=r"note-7.*unlabelled"):
        evaluate_set(models_folder, [Target("t", {"DATE": [unlabelled]})], ["DATE"], resamples=0, seed=1)


def test_a_loss_that_is_not_finite_names_the_set(settings: TaggerSettings, tmp_path: Path) -> None:
    wild = replace(settings, learning_rate=1e30, epochs=3)
    with pytest.raises(PhidriftError, match="made-30 DATE: the loss is not finite"):
        train_all(made_set(made_documents(12)), {"tiny": wild}, [1], threads=1, folder=tmp_path / "DATE")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate")],
)
def test_out_of_memory_names_the_set(
    error: Exception, settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(training, "_fit", fail)
    with pytest.raises(PhidriftError, match="made-30: out of memory"):
        train_tagger(
            made_documents(2), "DATE", settings, seed=1, threads=1, folder=tmp_path / "m", name="made-30"
        )


def test_windows_longer_than_the_model_are_refused(settings: TaggerSettings, tmp_path: Path) -> None:
    for length, message in ((65, "has 64 positions"), (2, "no room for text")):
        wrong = replace(settings, max_length=length)
        with pytest.raises(PhidriftError, match=message):
            train_tagger(
                made_documents(2), "DATE", wrong, seed=1, threads=1, folder=tmp_path / "m", name="made-30"
            )


def test_a_checkpoint_works_in_a_transformers_pipeline(models_folder: Path) -> None:
    from transformers import pipeline

    folder = str(models_folder / "DATE" / "tiny-1")
    tagger = pipeline("token-classification", model=folder, aggregation_strategy="simple")
    document = made_documents(1)[0]
    found = [(item["start"], item["end"], item["entity_group"]) for item in tagger(document.text)]
    assert found == [(span.start, span.end, "DATE") for span in document.spans or ()]


def test_load_tagger_says_what_is_wrong(models_folder: Path, base: str) -> None:
    with pytest.raises(PhidriftError, match="no checkpoint"):
        load_tagger(models_folder / "DATE" / "tiny-9")
    with pytest.raises(PhidriftError, match="labels are LABEL_0, LABEL_1"):
        load_tagger(Path(base))


def test_what_shares_a_batch_changes_no_span(models_folder: Path) -> None:
    tagger = load_tagger(models_folder / "DATE" / "tiny-1")
    texts = [document.text for document in made_documents(12, shift=100)]
    texts += ["", " \n", "Seen on May 3. " * 40]
    together = predict_spans(tagger, texts)
    assert together == [predict_spans(tagger, [text])[0] for text in texts]
    assert together[12:14] == [(), ()]
    assert together[::-1] == predict_spans(tagger, texts[::-1])


def test_no_text_no_span(models_folder: Path) -> None:
    tagger: Tagger = load_tagger(models_folder / "DATE" / "tiny-1")
    assert predict_spans(tagger, []) == []


def test_best_labels_obey_the_scheme() -> None:
    pieces = Pieces((7, 8, 9), ((0, 1), (2, 3), (4, 5)))

    def best(*rows: tuple[float, float, float]) -> list[int]:
        return best_labels(pieces, np.log(np.array(rows, np.float32)))

    # The likeliest labels one by one are O I O, which is not valid: I needs a B or I before it. Of the valid ones,
    # B I O has 0.4 * 0.8 * 0.9, O B O 0.5 * 0.1 * 0.9, O O O 0.5 * 0.1 * 0.9.
    assert best((0.5, 0.4, 0.1), (0.1, 0.1, 0.8), (0.9, 0.05, 0.05)) == [B, I, O]
    # Here O B O (0.9 * 0.4 * 0.9) beats B I O (0.05 * 0.5 * 0.9).
    assert best((0.9, 0.05, 0.05), (0.1, 0.4, 0.5), (0.9, 0.05, 0.05)) == [O, B, O]


def test_best_labels_agree_with_trying_all() -> None:
    from itertools import product

    rng = np.random.default_rng(2)
    pieces = Pieces((1,) * 5, ((0, 1), (1, 2), (2, 2), (2, 3), (3, 4)))  # the third shows nothing
    shown = [0, 1, 3, 4]
    for _ in range(50):
        scores = np.log(rng.dirichlet([1, 1, 1], size=5)).astype(np.float32)

        def total(labels: tuple[int, ...], scores: Any = scores) -> float:
            return sum(float(scores[place, label]) for place, label in zip(shown, labels, strict=True))

        valid = [
            labels
            for labels in product((O, B, I), repeat=4)
            if labels[0] != I and all(not (a == O and b == I) for a, b in itertools.pairwise(labels))
        ]
        wanted = max(valid, key=total)
        assert [best_labels(pieces, scores)[place] for place in shown] == list(wanted)
