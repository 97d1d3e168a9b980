"""De-identifying corpora with the taggers of several entities: a stream of documents in, a folder of redacted ones out.

OUT/documents.jsonl   {"id", "text"}: what was written, redacted
OUT/spans.jsonl       {"id", "spans": [{"start", "end", "label", "score", "new_start", "new_end"}]}: places, no strings
OUT/text/ID.txt       the same texts as files, of inputs that are plain text files

An id is the running number of a document, since names of files and ids of records may hold the names of patients.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

from phidrift.core.document import to_line
from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import LARGEST_DOCUMENT, TOO_LARGE
from phidrift.corpora.formats import check_options, format_named
from phidrift.corpora.placing import is_blank
from phidrift.corpora.reading import CorpusSource
from phidrift.corpora.source import RawDocument
from phidrift.deidentification.redaction import Redacted, mask, redact, resolved, tagger_marks
from phidrift.deidentification.surrogates.document import document_surrogates
from phidrift.deidentification.unread import files_not_read
from phidrift.tagging.predict import Prediction, Tagger, predict

LOG = logging.getLogger(__name__)
Mode = Literal["mask", "surrogate"]
_DOCUMENTS, _CHARACTERS = 256, 100_000  # read before the taggers run
_TAGGER, _REPLACING = "the tagger", "replacing what was found"
_MENDS = {
    _TAGGER: "check the checkpoint: whether its model and tokenizer belong together, and whether memory suffices",
    _REPLACING: None,
}
_NAMED = 20  # documents left out that are named in the log


@dataclass(frozen=True, slots=True)
class Settings:
    """How to redact.

    Attributes:
        mode: mask puts [PERSON] in the place of a name, surrogate an invented one.
        threshold: see `redaction.tagger_marks`; None for the decoded spans alone.
        secret: of the surrogates (see `surrogates.draw.document_draw`).
    """

    mode: Mode
    threshold: float | None
    secret: bytes


@dataclass
class Account:
    """What became of the documents.

    Attributes:
        met: documents that there were, readable or not; the last running number.
        written: documents in the output.
        spans: redacted stretches by label.
        masked: in the mode surrogate, those by label that could only be masked.
        left_out: (id, reason) of every document that isn't in the output. No reason holds text.
        not_read: ending -> number of files of the inputs that nobody read (see `unread.files_not_read`).
        mends: what was said to do about documents left out.
    """

    met: int = 0
    written: int = 0
    spans: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    not_read: Mapping[str, int] = field(default_factory=dict)
    mends: set[str] = field(default_factory=set)

    def leave_out(self, number: int, where: str, reason: str, mend: str | None = None) -> None:
        """Counts a document that isn't written, and says which."""
        self.left_out.append((_identity(number), reason))
        self.mends |= {mend} if mend else set()
        if len(self.left_out) <= _NAMED:
            hint = f". To mend: {mend}" if mend else ""
            LOG.warning("document %s (%s) left out: %s%s", _identity(number), where, reason, hint)
        if len(self.left_out) == _NAMED:
            LOG.warning("further documents left out are listed in the manifest")


@dataclass(frozen=True, slots=True)
class _Item:
    number: int
    raw: RawDocument
    as_file: bool


@dataclass(frozen=True, slots=True)
class _Result:
    item: _Item
    redacted: Redacted
    spans: list[dict[str, int | float | str]]
    labels: Counter[str]
    masked: Counter[str]


def count_documents(sources: Sequence[CorpusSource]) -> int:
    """Documents that can be read; reads all inputs once."""
    return sum(1 for source in sources for _ in _read(source, lambda where, reason: None))


def deidentify(
    sources: Sequence[CorpusSource],
    taggers: Sequence[Tagger],
    settings: Settings,
    folder: Path,
    *,
    key: IO[str] | None = None,
    advance: Callable[[int], None] | None = None,
) -> Account:
    """Writes the redacted documents of all sources into a folder (see the head of this module).

    Documents are read in a stream, and the memory needed doesn't grow with their number. One that can't be read, or
    fails in any way, is left out, and never written as it was.

    Args:
        sources: what to read; labels that they may have are not looked at.
        taggers: one an entity.
        settings: see `Settings`.
        folder: an existing, empty one.
        key: where to write {"id", "place", "document"} of each document written: which one it was.
        advance: called with the number of documents done, once for each tagger.

    Raises:
        PhidriftError: nothing to read, a threshold outside 0 to 1, or not one document that could be redacted.
    """
    if settings.threshold is not None and not 0 <= settings.threshold <= 1:
        raise PhidriftError(f"{settings.threshold} is no probability", where="the threshold", mend="0 to 1")
    account = Account(not_read=files_not_read(sources))
    with ExitStack() as stack:
        documents, spans = (
            stack.enter_context((folder / name).open("w", encoding="utf-8", newline="\n"))
            for name in ("documents.jsonl", "spans.jsonl")
        )
        for batch in _batches(_items(sources, account)):
            for result in _redacted(batch, taggers, settings, account, advance or (lambda count: None)):
                _write(result, folder, documents, spans, key)
                account.written += 1
                account.spans += result.labels
                account.masked += result.masked
    if not account.written:
        reasons = Counter(reason for _, reason in account.left_out).most_common(1)
        why = f", most often: {reasons[0][0]}" if reasons else ""
        mend = "; ".join(sorted(account.mends)) or None
        raise PhidriftError(f"none of {account.met} documents could be redacted{why}", mend=mend)
    return account


def _identity(number: int) -> str:
    return f"{number:06d}"


def _read(source: CorpusSource, reject: Callable[[str, str], None]) -> Iterator[RawDocument]:
    form = format_named(source.format)
    check_options(form, source.options)
    for raw in form.read(source.path, source.options, reject):
        if is_blank(raw.text):
            reject(raw.where, "no text")
        elif len(raw.text) > LARGEST_DOCUMENT:
            reject(raw.where, TOO_LARGE)
        else:
            yield raw


def _items(sources: Sequence[CorpusSource], account: Account) -> Iterator[_Item]:
    def reject(where: str, reason: str) -> None:
        account.met += 1
        account.leave_out(account.met, where, reason)

    for source in sources:
        for raw in _read(source, reject):
            account.met += 1
            yield _Item(account.met, raw, source.format == "txt")


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    batch: list[_Item] = []
    length = 0
    for item in items:
        batch.append(item)
        length += len(item.raw.text)
        if len(batch) >= _DOCUMENTS or length >= _CHARACTERS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _redacted(
    batch: Sequence[_Item],
    taggers: Sequence[Tagger],
    settings: Settings,
    account: Account,
    advance: Callable[[int], None],
) -> list[_Result]:
    """The batch redacted, in order; where that fails, document by document, without those that fail alone."""
    left = len(batch) * len(taggers)

    def done(count: int) -> None:
        nonlocal left
        left -= count
        advance(count)

    found = []
    step = _TAGGER
    try:
        every = predict(taggers, [item.raw.text for item in batch], done)
        step = _REPLACING
        for place, item in enumerate(batch):
            found.append(_result(item, taggers, [predictions[place] for predictions in every], settings))
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs one document, which is named and counted
        if len(batch) == 1:
            # The message of a foreign error may quote the text.
            reason, mend = f"{step} failed ({type(error).__name__})", _MENDS[step]
            if isinstance(error, PhidriftError):
                reason, mend = error.problem, error.mend
            account.leave_out(batch[0].number, batch[0].raw.where, reason, mend)
        else:
            found = [
                result
                for item in batch
                for result in _redacted([item], taggers, settings, account, lambda count: None)
            ]
    if left:
        advance(left)
    return found


def _result(
    item: _Item, taggers: Sequence[Tagger], predictions: Sequence[Prediction], settings: Settings
) -> _Result:
    text = item.raw.text
    marks = resolved(
        text,
        [
            mark
            for tagger, prediction in zip(taggers, predictions, strict=True)
            for mark in tagger_marks(prediction, tagger.entity, settings.threshold)
        ],
    )
    surrogates: list[str | None] = [None] * len(marks)
    if settings.mode == "surrogate":
        surrogates = document_surrogates(text, marks, settings.secret, item.number)
    replacements = [
        mask(mark.label) if new is None else new for mark, new in zip(marks, surrogates, strict=True)
    ]
    redacted = redact(text, marks, replacements)
    spans: list[dict[str, int | float | str]] = [
        {
            "start": mark.start,
            "end": mark.end,
            "label": mark.label,
            "score": round(mark.score, 4),
            "new_start": start,
            "new_end": end,
        }
        for mark, (start, end) in zip(marks, redacted.places, strict=True)
    ]
    masked = Counter(mark.label for mark, new in zip(marks, surrogates, strict=True) if new is None)
    return _Result(
        item,
        redacted,
        spans,
        Counter(mark.label for mark in marks),
        masked if settings.mode == "surrogate" else Counter(),
    )


def _write(result: _Result, folder: Path, documents: IO[str], spans: IO[str], key: IO[str] | None) -> None:
    identity, text = _identity(result.item.number), result.redacted.text
    documents.write(to_line({"id": identity, "text": text}) + "\n")
    spans.write(to_line({"id": identity, "spans": result.spans}) + "\n")
    if result.item.as_file:
        (folder / "text").mkdir(exist_ok=True)
        # Line ends stay as they were.
        (folder / "text" / f"{identity}.txt").write_text(text, encoding="utf-8", newline="")
    if key is not None:
        raw = result.item.raw
        key.write(json.dumps({"id": identity, "place": raw.where, "document": raw.id}) + "\n")


def by_label(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts in the order of the labels."""
    return dict(sorted(counts.items()))
