"""Progress of long work: a bar on a terminal, log lines with counts elsewhere."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOG = logging.getLogger(__name__)
_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function to call with the number of items just done.

    The title names the work, never its content: it may land in a log.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(title, total=total)
            yield lambda count: bar.advance(task, count)
        return
    done, last = 0, time.monotonic()

    def advance(count: int) -> None:
        nonlocal done, last
        done += count
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES or done >= total:
            LOG.info("%s: %d of %d", title, done, total)
            last = time.monotonic()

    yield advance
