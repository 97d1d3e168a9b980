"""A profile: what drift needs to know of a corpus, document by document, so that any sample of it can be measured.

Measuring a corpus is slow (perplexity, embeddings), comparing two profiles takes well under a second. A profile holds
the word sequence of every document: it is as confidential as the corpus.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from phidrift.core import text as units
from phidrift.core.errors import PhidriftError
from phidrift.core.files import read_json, whole_folder, write_json
from phidrift.drift import lexical, structural
from phidrift.drift.embedding import Encoder
from phidrift.drift.perplexity import Scorer

# What is counted in every document: the numerators and denominators of all ratios.
COLUMNS = (
    "tokens",
    "words",
    "chunks",
    "sentences",
    "squared_sentence_tokens",
    "syllables",
    "punctuation_chunks",
    "digit_chunks",
    "capitalized_chunks",
    "special_chunks",
    "all_caps_tokens",
    "line_breaks",
    "key_value_sentences",
    "bullet_sentences",
)


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
    and the same however the corpus is ordered; the last of these documents is cut to fit the limit.

    Args:
        texts: documents.
        encode: sentence encoder; None leaves the semantic metrics undefined.
        score: language model; None leaves perplexity undefined.
        encoder: name of the encoder.
        lm: name of the language model.
        sentences: sentences to embed, at most.
        lm_tokens: model tokens to score, at most.
    """
    documents = sorted((_hash(text), text) for text in map(normalise, texts))
    ordered = [text for _, text in documents]
    words = [units.words(text) for text in ordered]
    vocabulary = tuple(sorted({word for document in words for word in document}))
    places = {word: place for place, word in enumerate(vocabulary)}
    embeddings, sentence_documents = _embed(ordered, encode, sentences)
    nll, predicted = _score(ordered, score, lm_tokens)
    return Profile(
        hashes=np.array([number for number, _ in documents], dtype=np.uint64),
        counts=np.array([_count(text) for text in ordered], dtype=np.int64).reshape(-1, len(COLUMNS)),
        factors=np.array(
            [(lexical.mtld_factors(each), lexical.mtld_factors(each[::-1])) for each in words]
        ).reshape(-1, 2),
        vocabulary=vocabulary,
        word_ids=np.array([places[word] for document in words for word in document], dtype=np.int32),
        nll=nll,
        predicted=predicted,
        embeddings=embeddings,
        sentence_documents=sentence_documents,
        encoder=encoder if encode else None,
        lm=lm if score else None,
    )


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _count(text: str) -> list[int]:
    tokens, words = units.tokens(text), units.words(text)
    chunks, sentences = units.chunks(text), units.sentences(text)
    counts = {
        "tokens": len(tokens),
        "words": len(words),
        "chunks": len(chunks),
        "sentences": len(sentences),
        "squared_sentence_tokens": sum(len(units.tokens(sentence)) ** 2 for sentence in sentences),
        "syllables": sum(map(lexical.syllables, words)),
        "punctuation_chunks": _number(lexical.has_punctuation, chunks),
        "digit_chunks": _number(lexical.has_digit, chunks),
        "capitalized_chunks": _number(lexical.is_capitalized, chunks),
        "special_chunks": _number(structural.has_special, chunks),
        "all_caps_tokens": _number(structural.is_all_caps, tokens),
        "line_breaks": structural.line_breaks(text),
        "key_value_sentences": _number(structural.is_key_value, sentences),
        "bullet_sentences": _number(structural.is_bullet, sentences),
    }
    return [counts[name] for name in COLUMNS]


def _number(holds: Callable[[str], bool], items: Sequence[str]) -> int:
    return sum(map(holds, items))


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
        about = {"columns": COLUMNS, "encoder": profile.encoder, "lm": profile.lm}
        write_json(temporary / "profile.json", about)


def load_profile(folder: Path) -> Profile:
    """Reads what `save_profile` wrote.

    Raises:
        PhidriftError: there is no profile, or it was made by another version of this code.
    """
    if not (folder / "profile.json").is_file():
        raise PhidriftError("no profile here", where=folder, mend="run the stage profiles")
    about = read_json(folder / "profile.json")
    if tuple(about["columns"]) != COLUMNS:
        raise PhidriftError(
            "the profile counts other things", where=folder, mend="run the stage profiles again"
        )
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        loaded = {name: arrays[name] for name in _ARRAYS}
    vocabulary = tuple(json.loads((folder / "vocabulary.json").read_text(encoding="utf-8")))
    return Profile(vocabulary=vocabulary, encoder=about["encoder"], lm=about["lm"], **loaded)
