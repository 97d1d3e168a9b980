"""A profile: what drift needs to know of a corpus, document by document, so that any sample of it can be measured.

Measuring a corpus is slow (perplexity, embeddings), comparing two profiles takes well under a second. A profile holds
the word sequence of every document: it is as confidential as the corpus.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phidrift.core import text as units
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, whole_folder, write_json
from phidrift.drift.counting import COLUMNS, count_documents
from phidrift.drift.embedding import Encoder
from phidrift.drift.perplexity import Scorer


@dataclass(frozen=True)
class Profile:
    """A corpus in numbers; documents are sorted by the hash of their text, so that their order never matters.

    Attributes:
        hashes: first 64 bits of each text's SHA-256 [documents].
        counts: `COLUMNS` of each document [documents, columns].
        factors: MTLD factors of each document, forward and backward [documents, 2].
        vocabulary: distinct words, sorted.
        word_ids: places in the vocabulary of all words of all documents in turn [words].
        nll: negative log-likelihood of each document in nats [documents]; 0 where it was not measured.
        predicted: tokens that the language model predicted [documents]; 0 where it was not measured.
        embeddings: of the sentences of the first documents [sentences, dimension], float32.
        sentence_documents: the document of each of these sentences [sentences].
        encoder: name of the sentence encoder, None if embeddings were skipped.
        lm: name of the language model, None if perplexity was skipped.
        sentences: how many sentences were to be embedded, at most.
        lm_tokens: how many model tokens were to be scored before it stops.
    """

    hashes: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    factors: npt.NDArray[np.float64]
    vocabulary: tuple[str, ...]
    word_ids: npt.NDArray[np.int32]
    nll: npt.NDArray[np.float64]
    predicted: npt.NDArray[np.int64]
    embeddings: npt.NDArray[np.float32]
    sentence_documents: npt.NDArray[np.int32]
    encoder: str | None
    lm: str | None
    sentences: int
    lm_tokens: int

    def column(self, name: str) -> npt.NDArray[np.int64]:
        """One of `COLUMNS`, for every document."""
        return self.counts[:, COLUMNS.index(name)]


def content_digest(texts: Iterable[str]) -> str:
    """Hash of a corpus' texts, whatever their order: equal digests have equal profiles."""
    digests = sorted(hashlib.sha256(normalise(text).encode()).hexdigest() for text in texts)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def normalise(text: str) -> str:
    """The text as it is measured: CRLF and CR become LF, a lone surrogate (which no model reads) a question mark."""
    return re.sub(r"\r\n?", "\n", text).encode("utf-8", "replace").decode("utf-8")


def profile(
    texts: Iterable[str],
    *,
    encode: Encoder | None = None,
    score: Scorer | None = None,
    encoder: str | None = None,
    lm: str | None = None,
    sentences: int = 600,
    lm_tokens: int = 6_000,
) -> Profile:
    """Measures a corpus.

    Embeddings and perplexity are taken of the first documents in the order of their hashes, which is as good as random
    and the same however the corpus is ordered or divided: the profiles of its parts merge into that of the whole.

    Args:
        texts: documents.
        encode: sentence encoder; None leaves the semantic metrics undefined.
        score: language model; None leaves perplexity undefined.
        encoder: name of the encoder.
        lm: name of the language model.
        sentences: sentences to embed, at most; the last document's are cut.
        lm_tokens: model tokens after which no further document is scored; each is cut to as many.
    """
    documents = sorted((_hash(text), text) for text in map(normalise, texts))
    ordered = [text for _, text in documents]
    counted = count_documents(ordered)
    embeddings, sentence_documents = _embed(ordered, encode, sentences)
    nll, predicted = _score(ordered, score, lm_tokens)
    return Profile(
        hashes=np.array([number for number, _ in documents], dtype=np.uint64),
        counts=counted.counts,
        factors=counted.factors,
        vocabulary=counted.vocabulary,
        word_ids=counted.word_ids,
        nll=nll,
        predicted=predicted,
        embeddings=embeddings,
        sentence_documents=sentence_documents,
        encoder=encoder if encode else None,
        lm=lm if score else None,
        sentences=sentences,
        lm_tokens=lm_tokens,
    )


def merge_profiles(parts: Sequence[Profile]) -> Profile:
    """The profile of a corpus from those of its parts: the same as if it had been measured whole.

    It is exact because a part's first documents by hash include all of its documents that are among the whole's first.

    Raises:
        PhidriftError: no parts, or parts that were measured with other models or limits.
    """
    if not parts:
        raise PhidriftError("there is no profile to merge")
    same = {(part.encoder, part.lm, part.sentences, part.lm_tokens) for part in parts}
    if len(same) > 1:
        mend = "profile all parts with the same encoder, lm, sentences and lm_tokens"
        raise PhidriftError("these profiles were not measured alike", mend=mend)
    first = parts[0]
    hashes = np.concatenate([part.hashes for part in parts])
    order = np.argsort(hashes, kind="stable")
    vocabulary = tuple(sorted({word for part in parts for word in part.vocabulary}))
    predicted = np.concatenate([part.predicted for part in parts])[order]
    unscored = np.cumsum(predicted) - predicted >= first.lm_tokens
    embeddings, sentence_documents = _merged_embeddings(parts, order, first.sentences)
    return Profile(
        hashes=hashes[order],
        counts=np.concatenate([part.counts for part in parts])[order],
        factors=np.concatenate([part.factors for part in parts])[order],
        vocabulary=vocabulary,
        word_ids=_merged_words(parts, order, vocabulary),
        nll=np.where(unscored, 0.0, np.concatenate([part.nll for part in parts])[order]),
        predicted=np.where(unscored, 0, predicted),
        embeddings=embeddings,
        sentence_documents=sentence_documents,
        encoder=first.encoder,
        lm=first.lm,
        sentences=first.sentences,
        lm_tokens=first.lm_tokens,
    )


def _merged_words(
    parts: Sequence[Profile], order: npt.NDArray[np.int64], vocabulary: tuple[str, ...]
) -> npt.NDArray[np.int32]:
    places = {word: place for place, word in enumerate(vocabulary)}
    renumbered = [
        np.array([places[word] for word in part.vocabulary], dtype=np.int32)[part.word_ids] for part in parts
    ]
    lengths = np.concatenate([part.column("words") for part in parts])
    return np.concatenate(renumbered)[_grouped(lengths, order)]


def _merged_embeddings(
    parts: Sequence[Profile], order: npt.NDArray[np.int64], most: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """The first `most` sentences of the documents in order."""
    # A part without documents knows no dimension.
    embedded = [part.embeddings for part in parts if len(part.embeddings)] or [parts[0].embeddings]
    lengths = np.concatenate(
        [np.bincount(part.sentence_documents, minlength=len(part.hashes)) for part in parts]
    )
    taken = _grouped(lengths, order)[:most]
    documents = np.repeat(np.arange(len(order)), lengths[order])[:most]
    return np.concatenate(embedded)[taken], documents.astype(np.int32)


def _grouped(lengths: npt.NDArray[np.int64], order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where the items of documents stand, document after document in an order; `lengths` says how many each has."""
    starts = np.cumsum(lengths) - lengths
    ordered = lengths[order]
    before = np.cumsum(ordered) - ordered
    return np.repeat(starts[order] - before, ordered) + np.arange(ordered.sum())


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _embed(
    texts: Sequence[str], encode: Encoder | None, most: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    if encode is None:
        return np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.int32)
    taken: list[tuple[int, str]] = []
    for number, text in enumerate(texts):
        if len(taken) >= most:
            break
        taken += [(number, sentence) for sentence in units.sentences(text)]
    taken = taken[:most]
    return encode([sentence for _, sentence in taken]), np.array([n for n, _ in taken], dtype=np.int32)


def _score(
    texts: Sequence[str], score: Scorer | None, most: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    if score is None:
        return np.zeros(len(texts)), np.zeros(len(texts), dtype=np.int64)
    return score(texts, most)


_ARRAYS = (
    "hashes",
    "counts",
    "factors",
    "word_ids",
    "nll",
    "predicted",
    "embeddings",
    "sentence_documents",
)


def save_profile(profile: Profile, folder: Path) -> None:
    """Writes a profile to a folder: arrays.npz, vocabulary.json, profile.json. Equal profiles give equal bytes."""
    with whole_folder(folder) as temporary:
        # numpy stamps every member of the archive 1980-01-01.
        np.savez(temporary / "arrays.npz", **{name: getattr(profile, name) for name in _ARRAYS})
        write_json(temporary / "vocabulary.json", profile.vocabulary)
        names = ("encoder", "lm", "sentences", "lm_tokens")
        about = {"columns": COLUMNS, **{name: getattr(profile, name) for name in names}}
        write_json(temporary / "profile.json", about)


def load_profile(folder: Path) -> Profile:
    """Reads what `save_profile` wrote.

    Raises:
        PhidriftError: there is no profile, or it was made by another version of this code.
    """
    if not (folder / "profile.json").is_file():
        raise PhidriftError("no profile here", where=folder, mend="run the stage profiles")
    about = read_json(folder / "profile.json")
    if tuple(about["columns"]) != COLUMNS or "lm_tokens" not in about:
        raise PhidriftError(
            "the profile counts other things", where=folder, mend="run the stage profiles again"
        )
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        loaded = {name: arrays[name] for name in _ARRAYS}
    vocabulary = tuple(json.loads((folder / "vocabulary.json").read_text(encoding="utf-8")))
    limits = {name: about[name] for name in ("encoder", "lm", "sentences", "lm_tokens")}
    return Profile(vocabulary=vocabulary, **limits, **loaded)
