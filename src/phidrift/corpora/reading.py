"""Reading a corpus under the common schema, and the account of what became of every document and span."""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from phidrift.core.document import Document
from phidrift.core.errors import PhidriftError
from phidrift.corpora.files import LARGEST_DOCUMENT, TOO_LARGE, check_encoding, safe_name, split_suffix
from phidrift.corpora.formats import check_options, format_named
from phidrift.corpora.label_maps import ready_map
from phidrift.corpora.language import LanguageSample
from phidrift.corpora.offsets import OFFSETS
from phidrift.corpora.placing import is_blank
from phidrift.corpora.recognise import recognised_format
from phidrift.corpora.source import PLAIN, RawDocument, ReadOptions, Reject
from phidrift.corpora.spans import SpanCounts, harmonised_spans

LOG = logging.getLogger(__name__)
_BY_POSITION = re.compile(r"-\d{4,}$")  # how readers end the ids that they make
# More different labels are none, but perhaps the very texts that they should be labels of.
_MOST_LABELS, _FEW_LABELS, _LABELS_A_SPAN = 500, 20, 0.2
_NAMED = 20  # places named in warnings, of each reason; further ones are counted


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """A corpus to harmonise: where it lies and how to read it.

    `format` is a name of formats.FORMATS. `labels` maps source labels to entities (None: the format's ready map).
    `offsets` is a convention of offsets.CONVENTIONS, or auto. With `strict` the first bad document or span is an
    error. `parts` names the files or folders below `path` that make up each split; None: all there is, and the split
    that the source itself states. `guessed`: the format was recognised, not named, so that an error says so.
    """

    name: str
    path: Path
    format: str
    restricted: bool = False
    labels: Mapping[str, str] | None = None
    options: ReadOptions = PLAIN
    offsets: str = "auto"
    strict: bool = False
    parts: Mapping[str, Sequence[str]] | None = None
    guessed: bool = False

    @property
    def label_map(self) -> Mapping[str, str]:
        return ready_map(self.format) if self.labels is None else self.labels


def corpus_at(path: Path, format_name: str | None = None, options: ReadOptions = PLAIN) -> CorpusSource:
    """The corpus at a path, named after it, in the format of that name or else the one that is recognised.

    Raises:
        PhidriftError: an unknown format, or nothing to recognise one by.
    """
    check_encoding(options.encoding)
    found = format_named(format_name or recognised_format(path, options))
    stem = path.resolve().name if path.is_dir() else split_suffix(path)[0]
    return CorpusSource(
        safe_name(stem) or "corpus",
        path,
        found.name,
        found.restricted,
        None,
        options,
        guessed=format_name is None,
    )


@dataclass
class Reading:
    """What became of a corpus while it was read. Reasons to reject hold no text and no name of a file."""

    seed: int = 0
    documents: int = 0
    unlabelled: int = 0
    repeated_ids: int = 0
    restricted: int = 0  # documents that themselves say that they are
    stand_ins: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    spans: SpanCounts = field(default_factory=SpanCounts)
    language_sample: LanguageSample = field(init=False)
    _named: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.language_sample = LanguageSample(self.seed)

    def warn(self, problem: str, where: str, reason: str) -> None:
        """Says in a warning where something is wrong, for the first 20 of each reason."""
        self._named[reason] += 1
        if self._named[reason] <= _NAMED:
            LOG.warning("%s: %s: %s", where, problem, reason)
        if self._named[reason] == _NAMED:
            LOG.warning("further ones of this kind are counted, not named: %s", reason)


def harmonised_documents(source: CorpusSource, reading: Reading) -> Iterator[Document]:
    """Streams the documents of a corpus under the common schema, counting into `reading` what became of them.

    `meta` of each holds corpus, split, group, stand_in and restricted (a document that says so itself stays so). A
    document that can't be read is named in a warning, counted and skipped; so is a wrong span. An id that comes a
    second time is told apart by a number. Memory doesn't grow with the corpus where its format is read in a stream,
    but for 8 bytes of hash (some 60 in a Python set) a document whose id the source itself states.

    Raises:
        PhidriftError: nothing to read at the path, an unknown format or encoding; at the end, offsets that are
            evidently counted in another way, or no readable document at all; with `strict`, whatever is wrong first.
    """
    if source.offsets not in OFFSETS:
        raise PhidriftError(
            f"offsets can't be counted as {source.offsets!r}", mend=f"use one of {', '.join(OFFSETS)}"
        )
    try:
        yield from _documents(source, reading)
    except PhidriftError as error:
        if not source.guessed:
            raise
        guess = f"its format was recognised as {source.format}: if that is wrong, name the right one"
        mend = f"{error.mend}; {guess}" if error.mend else guess
        raise PhidriftError(error.problem, where=error.where, mend=mend) from error


def _documents(source: CorpusSource, reading: Reading) -> Iterator[Document]:
    check_encoding(source.options.encoding)
    check_options(format_named(source.format), source.options)

    def wrong(problem: str) -> Callable[[str, str], None]:
        def tell(where: str, reason: str) -> None:
            if source.strict:
                raise PhidriftError(
                    reason, where=where, mend="correct it, or read without strict, which skips it"
                )
            reading.warn(problem, where, reason)

        return tell

    reject, lose = wrong("document skipped"), wrong("span dropped")

    def rejected(where: str, reason: str) -> None:
        reject(where, reason)
        reading.rejected[reason] += 1

    labels, stand_in = source.label_map, is_stand_in(source.path)
    seen, numbers = set[int](), dict[int, int]()
    for raw in _raw_documents(source, rejected):
        if is_blank(raw.text):
            rejected(raw.where, "no text")
            continue
        if len(raw.text) > LARGEST_DOCUMENT:
            rejected(raw.where, TOO_LARGE)
            continue
        spans = harmonised_spans(raw, labels, reading.spans, source.offsets, lose)
        identity = f"{source.name}-{safe_name(raw.id) if raw.stated_id else raw.id}"
        # Ids by position are distinct by themselves, unless files are listed in several goes or others are stated too.
        if raw.stated_id or seen or source.parts:
            identity = _unused(identity, raw, seen, numbers, reading)
        meta = {
            "corpus": source.name,
            "split": raw.split,
            "group": identity if raw.group is None else safe_name(raw.group),
            "stand_in": stand_in or raw.stand_in,
            "restricted": source.restricted or raw.restricted,
        }
        if len(reading.spans.labels) > _MOST_LABELS:
            raise _no_labels(source, reading)
        reading.documents += 1
        reading.unlabelled += spans is None
        reading.restricted += raw.restricted
        reading.stand_ins += raw.stand_in
        reading.language_sample.add(raw.text)
        yield Document(identity, raw.text, spans, meta)
    labels_seen = len(reading.spans.labels)
    if labels_seen > _FEW_LABELS and labels_seen > _LABELS_A_SPAN * reading.spans.labels.total():
        raise _no_labels(source, reading)
    if source.offsets == "auto":
        reading.spans.evidence.refuse_other_convention()
    if not reading.documents:
        raise _nothing_readable(source, reading)


def _raw_documents(source: CorpusSource, reject: Reject) -> Iterator[RawDocument]:
    read = format_named(source.format).read
    if source.parts is None:
        yield from read(source.path, source.options, reject)
        return
    for split, names in source.parts.items():
        for name in names:
            for raw in read(source.path / name, source.options, reject):
                yield raw._replace(split=split)


def _unused(
    identity: str, raw: RawDocument, seen: set[int], numbers: dict[int, int], reading: Reading
) -> str:
    """The id, or with a number behind it if it was there before; `numbers` holds the last one given to each."""
    first = key = _hash(identity)
    free, number = identity, numbers.get(first, 1)
    # An earlier document by position, whose id was not kept, may have the id of one that looks like it.
    by_position = raw.stated_id and _BY_POSITION.search(identity) is not None
    may_be_taken = by_position and reading.documents > len(seen)
    while key in seen or (may_be_taken and free == identity):
        number += 1
        free = f"{identity}-{number}"
        key = _hash(free)
    seen.add(key)
    if number > 1:
        numbers[first] = number
    if number > 1 and raw.stated_id:
        reading.repeated_ids += 1
        reading.warn("id repeated", raw.where, "another document has this id")
    return free


def _hash(identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _no_labels(source: CorpusSource, reading: Reading) -> PhidriftError:
    """Labels as varied as names are no labels, and must not get into logs and reports."""
    problem = f"{len(reading.spans.labels)} different labels on {reading.spans.labels.total()} spans"
    mend = "is the field or column that was taken for the label one? It should hold few kinds of entities"
    return PhidriftError(problem, where=source.path, mend=mend)


def _nothing_readable(source: CorpusSource, reading: Reading) -> PhidriftError:
    problem = f"no readable document ({sum(reading.rejected.values())} rejected)"
    if reading.rejected:
        reason, count = reading.rejected.most_common(1)[0]
        problem += f", most often: {reason} ({count})"
    try:
        guess = recognised_format(source.path, source.options)
    except PhidriftError:
        guess = source.format
    mend = f"is it in the {source.format} format?"
    if guess != source.format:
        mend = f"it was read as {source.format}, but looks like {guess}: set the format to {guess}"
    return PhidriftError(problem, where=source.path, mend=mend)


def is_stand_in(path: Path) -> bool:
    """Whether the folder says, by a file named STANDIN, that it stands in for the real corpus."""
    return (path / "STANDIN").is_file()
