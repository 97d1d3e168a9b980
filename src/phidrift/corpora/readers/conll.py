"""Reader of CoNLL columns: one token a line, its tag in the last column."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from phidrift.corpora.files import LARGEST_DOCUMENT, NUL, TOO_LARGE, lines, source_files
from phidrift.corpora.source import RawDocument, RawSpan, ReadOptions, Reject

SUFFIXES = (".conll", ".conll2003", ".bio", ".iob", ".iob2", ".bioes", ".txt", ".tsv")
Token = tuple[str, str]  # token, tag
_BOUNDARY = "-DOCSTART-"
# `# key = value` as in CoNLL-U, and its marks without a value; `# id ...` heads each sentence in some corpora. A line
# of the token "#" has none of these forms: its tag comes next, or columns that are no key.
_COMMENT = re.compile(
    r"# (?:newdoc|newpar|id[ \t].+|(?:newdoc |newpar )?[A-Za-z][\w.:\[\]-]* =.*)", re.DOTALL
)
_OUTSIDE = ("O", "_", "-", "")
_PREFIXED = re.compile(r"([BIELMSUW])(?:-(.*))?", re.DOTALL)
_STARTS, _ENDS = "BSUW", "ELSUW"
NO_TAG = "a token without a tag"
LONE_CR = "a CR inside the line: save the file with LF line ends"
NUMBERED = "its first column numbers the tokens: the token must come first"


def read_conll(path: Path, options: ReadOptions, reject: Reject) -> Iterator[RawDocument]:
    """Documents of the CoNLL files at or below `path`, see SUFFIXES for their names.

    A line is a token, any further columns, and the tag, separated by tabs, or by blanks if the line has no tab; no
    other white space separates, so that NBSP stays inside its token. A blank line ends a sentence, across which
    no span reaches. `-DOCSTART-` lines stand before, between or after documents. A file without them is one document,
    as clinical notes are stored, however many sentences it has. Comments (`# key = value`) are passed over.

    The format does not store the text, so it is rebuilt: one blank between tokens, one line end between sentences.
    What stood between them in the original can't be known. `decode_tags` says how tags become spans.

    Ids number the documents of a file, rejected ones too, so that mending one leaves the others' ids.

    Rejected: each document that has a line without tag, with another number of columns than its first line (a token
    that was split would lose its rest), with NUL or a CR inside, too long or not in the encoding; that is larger
    than a document may be; whose first column is a count, as in CoNLL-U; where gzip is damaged.

    Raises:
        PhidriftError: nothing at `path`, or no file with one of the suffixes.
    """
    for file in source_files(path, SUFFIXES):
        number = 0
        for draft in _drafts(file.path, options):
            if draft.problem is None and not draft.size:
                continue
            number += 1
            problem = draft.problem or _numbered(draft)
            if problem:
                reject(*problem)
                continue
            if not draft.sentences[-1]:
                draft.sentences.pop()
            text, spans = text_and_spans(draft.sentences)
            draft.sentences.clear()  # the draft lives on while the next is read
            name = f"{file.name}-{number:06d}"
            yield RawDocument(name, text, spans, file.split, None, draft.where, field="tags")


def text_and_spans(sentences: Sequence[Sequence[Token]]) -> tuple[str, tuple[RawSpan, ...]]:
    """The text of sentences of (token, tag), one blank between tokens, one line end between sentences; and its spans.

    Tokens are taken as they are, even empty or with blanks inside. Surfaces are cut from the tokens.

    >>> text, spans = text_and_spans([[("Dr", "O"), ("Lee", "B-NAME")], [("Home", "O")]])
    >>> text, spans[0].start, spans[0].end, spans[0].surface
    ('Dr Lee\\nHome', 3, 6, 'Lee')
    """
    parts: list[str] = []
    spans: list[RawSpan] = []
    offset = 0
    for sentence in sentences:
        words = [token for token, _ in sentence]
        starts = []
        at = offset
        for word in words:
            starts.append(at)
            at += len(word) + 1
        for first, end, label in decode_tags([tag for _, tag in sentence]):
            surface = " ".join(words[first:end])
            spans.append(RawSpan(starts[first], starts[first] + len(surface), label, surface))
        parts.append(" ".join(words))
        offset += len(parts[-1]) + 1
    return "\n".join(parts), tuple(spans)


def decode_tags(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """(first token, token after the last, type) of each span in the tags of one sentence.

    One rule reads every scheme: B, S, U, W start a span. I, E, L, M and a tag without prefix continue the span before
    them if it is open and of the same type, else they start one. E, L, S, U, W end the span with their own token.
    Anything else than a continuation ends it before.

    - IOB2: every span opens with B and goes on with I, which finds it open.
    - IOB1: a span is a run of I, and B opens one only right after another of its type: without B, the two would
      have been continued as one, and with it they are not.
    - IOE1, IOE2: the same from the other side: E closes, so that the next I finds nothing open and starts.
    - BIOES, BILOU, BMES, BMEWO: B to E (or L) is one span by the IOB2 rule, and closing with E changes nothing, since
      B, S or O must follow; S (U, W) is B and E at once.
    - tags without prefix: a run of one type is one span, as a run of I is.

    `O`, `_`, `-` and the empty tag are outside. A prefix alone (B, I) has the type `_`. The first hyphen ends the
    prefix: `B-E-MAIL` is of type E-MAIL, but `E-MAIL` without a prefix reads as type MAIL.

    >>> decode_tags(["I-PER", "I-PER", "B-PER", "O", "LOC", "LOC"])
    [(0, 2, 'PER'), (2, 3, 'PER'), (4, 6, 'LOC')]
    """
    spans: list[tuple[int, int, str]] = []
    start, running = 0, None
    for position, tag in enumerate(tags):
        prefix, label = _parts(tag)
        if running is not None and (label != running or prefix in _STARTS):
            spans.append((start, position, running))
            running = None
        if label is not None and running is None:
            start, running = position, label
        if running is not None and prefix in _ENDS:
            spans.append((start, position + 1, running))
            running = None
    if running is not None:
        spans.append((start, len(tags), running))
    return spans


def _parts(tag: str) -> tuple[str, str | None]:
    """(prefix, type, None outside); a tag without prefix counts as I."""
    if tag in _OUTSIDE:
        return "O", None
    match = _PREFIXED.fullmatch(tag)
    return (match[1], match[2] or "_") if match else ("I", tag)


@dataclass(slots=True)
class _Draft:
    """A document while its lines are read; `where` is its first token's line, `size` the length of its text."""

    where: str = ""
    columns: int = 0
    size: int = 0
    problem: tuple[str, str] | None = None
    sentences: list[list[Token]] = field(default_factory=lambda: [[]])

    def spoil(self, where: str, reason: str) -> None:
        """Keeps the first problem, and lets go of the text."""
        self.problem = self.problem or (where, reason)
        self.sentences = [[]]

    def add(self, columns: list[str], where: str) -> None:
        self.where, self.columns = self.where or where, self.columns or len(columns)
        self.size += len(columns[0]) + 1
        if len(columns) == 1:
            self.spoil(where, NO_TAG)
        elif len(columns) != self.columns:
            self.spoil(where, f"{len(columns)} columns, where the document's first line has {self.columns}")
        elif self.size > LARGEST_DOCUMENT:
            self.spoil(self.where, TOO_LARGE)
        else:
            self.sentences[-1].append((columns[0], sys.intern(columns[-1].strip(" "))))


def _drafts(path: Path, options: ReadOptions) -> Iterator[_Draft]:
    """What stands between -DOCSTART- lines, empty where two follow each other."""
    unread: list[tuple[str, str]] = []  # lines that could not be read: each spoils the document it stands in
    draft = _Draft()
    for number, line in lines(path, options, lambda where, reason: unread.append((where, reason))):
        where = f"{path}:{number}"
        if unread:
            draft.spoil(*unread[0])
            unread.clear()
        line = line.rstrip(" \t\r")
        columns = line.split("\t") if "\t" in line else re.split(" +", line.lstrip(" "))
        if columns[0].strip(" ") == _BOUNDARY:
            yield draft
            draft = _Draft()
        elif draft.problem or _COMMENT.fullmatch(line):
            continue
        elif "\0" in line or "\r" in line:
            draft.spoil(where, NUL if "\0" in line else LONE_CR)
        elif line:
            draft.add(columns, where)
        elif draft.sentences[-1]:
            draft.sentences.append([])
    if unread:
        draft.spoil(*unread[0])
    yield draft


def _numbered(draft: _Draft) -> tuple[str, str] | None:
    """The problem of a document whose sentences all count their tokens from 1 in the first of three or more columns."""
    if draft.columns < 3 or max(map(len, draft.sentences)) < 2:
        return None
    counted = all(
        token == str(position)
        for sentence in draft.sentences
        for position, (token, _) in enumerate(sentence, start=1)
    )
    return (draft.where, NUMBERED) if counted else None
