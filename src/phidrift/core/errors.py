"""The one error that a user is meant to read."""

from pathlib import Path


class PhidriftError(Exception):
    """Something the user can mend: what is wrong, where, and how to mend it.

    The command line prints the message without a traceback and exits with code 2.

    >>> print(PhidriftError("span ends before it starts", where="notes.jsonl:3, spans[0]", mend="swap the offsets"))
    notes.jsonl:3, spans[0]: span ends before it starts. To mend: swap the offsets
    """

    def __init__(self, problem: str, *, where: str | Path | None = None, mend: str | None = None) -> None:
        self.problem, self.where, self.mend = problem, where, mend
        prefix = f"{where}: " if where is not None else ""
        suffix = f". To mend: {mend}" if mend else ""
        super().__init__(f"{prefix}{problem}{suffix}")
