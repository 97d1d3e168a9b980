"""Training, checkpoints and evaluation with a model of one layer, on documents whose pattern it can learn."""

import itertools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from made_taggers import made_documents, made_set, write_base
from safetensors.torch import load_file
from transformers import BertModel

from phidrift.core.document import ENTITIES, Document, Span
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json
from phidrift.core.models import locate
from phidrift.core.text import tokens
from phidrift.corpora.reading import Reading, corpus_at, harmonised_documents
from phidrift.corpora.standins import write_standins
from phidrift.tagging import train as training
from phidrift.tagging.alignment import IGNORED, B, I, O, Pieces, load_tokenizer
from phidrift.tagging.cards import write_scores
from phidrift.tagging.checkpoints import train_all
from phidrift.tagging.evaluate import CSV_COLUMNS, Target, csv_rows, evaluate_set, workload
from phidrift.tagging.examples import training_examples
from phidrift.tagging.predict import Tagger, best_labels, load_tagger, predict_spans
from phidrift.tagging.train import TaggerSettings, train_tagger


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHIDRIFT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def settings(base: str) -> TaggerSettings:
    return TaggerSettings(base, 32, 8, 12, 1e-2, 0.1, 0.01)


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
    assert "Not marked as restricted" in card
    assert card.startswith("---\nlibrary_name: transformers\n")
    assert yaml.safe_load(card.split("---")[1])["restricted"] is False
    assert f"mean of the last epoch: {run['loss']:.4f} nats" in card
    assert "Scores: metrics/tagging/made-30.json" in card
    assert "(Viterbi)" in card


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
    with pytest.raises(
        PhidriftError,
        match="1 of 1 trainings failed: made-30 DATE, tagger tiny, seed 1: the loss is not finite",
    ):
        train_all(made_set(made_documents(12)), {"tiny": wild}, [1], threads=1, folder=tmp_path / "DATE")
    assert not (tmp_path / "DATE").exists()


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


@pytest.fixture(scope="module")
def long_notes(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    """Ten notes of some 2,000 tokens, each the three of a patient in the i2b2 stand-in."""
    folder = tmp_path_factory.mktemp("standins")
    write_standins(folder, 5, (30, 1), 90, 1)
    notes = list(harmonised_documents(corpus_at(folder / "i2b2"), Reading()))
    joined = []
    for first in range(0, 30, 3):
        text, spans = "", []
        for note in notes[first : first + 3]:
            spans += [replace(s, start=s.start + len(text), end=s.end + len(text)) for s in note.spans or ()]
            text += note.text + "\n"
        joined.append(Document(f"long-{first}", text, tuple(spans), {}))
    assert 1500 < sum(len(tokens(note.text)) for note in joined) / 10 < 2500
    return joined


@pytest.mark.parametrize("max_length", [128, 512])
@pytest.mark.parametrize("entity", ENTITIES)
def test_no_window_cuts_a_span_of_a_long_note(
    max_length: int, entity: str, long_notes: list[Document]
) -> None:
    tokenizer = load_tokenizer(locate("embedded/all-minilm-l6-v2"))
    found = training_examples(long_notes, entity, tokenizer, max_length)
    assert found.spans == sum(len(note.entity_spans(entity)) for note in long_notes) > 20
    assert found.cut == 0
    # One "DD:5/25/2093DT:" that the stand-in runs together, as i2b2's typists did: "3DT" is one piece.
    assert found.unrepresentable == (entity == "DATE")
    assert len(found.rows) > 10 * 2000 / max_length  # a token of the text is one of the model or more
    assert max(row["length"] for row in found.rows) <= max_length
    # Every gold span begins with a B that counts, in exactly one window.
    assert sum(row["labels"].count(B) for row in found.rows) == found.spans


def test_a_span_over_a_border_is_counted_once_and_keeps_its_labels(base: str) -> None:
    # 60 words of one sentence; windows of 14 pieces, borders at words within 3 of each other's ends, so a span of
    # 40 words goes over several of them, and one of a single word over none.
    text = " ".join(["May"] * 60)
    gold = (Span(4 * 5, 4 * 45 - 1, "DATE"), Span(4 * 50, 4 * 50 + 3, "DATE"))
    document = Document("a", text, gold, {})
    found = training_examples([document], "DATE", load_tokenizer(base), 16)
    assert (found.spans, found.cut) == (2, 1)
    labels = [label for row in found.rows for label in row["labels"] if label != IGNORED]
    assert labels == [O] * 5 + [B] + [I] * 39 + [O] * 5 + [B] + [O] * 9


def test_scores_go_into_the_card_one_row_a_corpus(models_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tagger"
    shutil.copytree(models_folder / "DATE" / "tiny-1", folder)
    before = (folder / "README.md").read_text(encoding="utf-8")
    write_scores(folder, "ward|7", {"f1": 0.25, "support": 4})
    write_scores(folder, "notes", {"f1": None, "precision": None, "recall": 1.0, "support": 0})
    first = (folder / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(first + "\n## Mine\n\nKept.\n", encoding="utf-8")
    write_scores(folder, "ward|7", {"f1": 0.5, "f1_low": 0.25, "f1_high": 0.75, "support": 4})
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith(before)
    assert card.count("## Scores") == 1
    rows = [line for line in card.splitlines() if line.startswith("|")]
    assert rows[0].startswith("| corpus | f1 | f1 low | f1 high | precision | recall | support |")
    assert rows[2:] == [
        "| notes | - | - | - | - | 1.000 | 0 | - | - |",
        "| ward\\|7 | 0.500 | 0.250 | 0.750 | - | - | 4 | - | - |",
    ]
    assert card.endswith("\n## Mine\n\nKept.\n")
    (folder / "README.md").unlink()
    write_scores(folder, "notes", {"f1": 1.0})
    assert "| notes | 1.000 |" in (folder / "README.md").read_text(encoding="utf-8")
    with pytest.raises(PhidriftError, match="no checkpoint"):
        write_scores(tmp_path / "absent", "notes", {})
    (folder / "README.md").write_bytes(b"\xff")
    with pytest.raises(PhidriftError, match="not UTF-8"):
        write_scores(folder, "notes", {})


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


def test_leaving_unused_pieces_out_of_the_steps_changes_no_weight(
    base: str, settings: TaggerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = made_documents(3)  # of 42 words and 100 numbers, a few
    strong = replace(settings, epochs=4, learning_rate=1e-2, weight_decay=0.5)
    weights = []
    for narrow in (True, False):
        if not narrow:
            monkeypatch.setattr(
                training, "narrow_vocabulary", lambda _, rows, pad: (rows, lambda decay: None)
            )
        folder = tmp_path / str(narrow)
        train_tagger(documents, "DATE", strong, seed=1, threads=1, folder=folder, name="made")
        weights.append(load_file(folder / "model.safetensors"))
    narrowed, plain = weights
    assert narrowed.keys() == plain.keys()
    rows = "bert.embeddings.word_embeddings.weight"
    start = BertModel.from_pretrained(base).embeddings.word_embeddings.weight.detach()
    for name, value in plain.items():
        # Sums over fewer zeros round otherwise, and a step of Adam is of one size whatever the gradient's.
        torch.testing.assert_close(narrowed[name], value, rtol=2e-3, atol=2e-3, msg=name)
    # The decay is not the start: 4 steps of at most 0.01 * 0.5 leave more than 0.98, less than 1, of an unused row.
    used = {number for ids in _ids(base, documents) for number in ids}
    unused = [number for number in range(len(start)) if number not in used]
    assert len(unused) > 50
    ratio = (narrowed[rows][unused] / start[unused]).flatten()
    ratio = ratio[torch.isfinite(ratio)]
    assert 0.98 < float(ratio.min()) <= float(ratio.max()) < 1
    torch.testing.assert_close(narrowed[rows][unused], plain[rows][unused], rtol=1e-6, atol=1e-8)


def _ids(base: str, documents: Sequence[Document]) -> list[list[int]]:
    tokenizer = load_tokenizer(base)
    return [row["input_ids"] for row in training_examples(documents, "DATE", tokenizer, 32).rows]
