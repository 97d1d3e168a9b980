"""Where commands may write."""

from collections.abc import Sequence
from pathlib import Path

from phidrift.core.errors import PhidriftError


def refuse_overwriting(paths: Sequence[Path], *written: Path | None) -> None:
    """Nothing is ever written into a corpus, and no output over another."""
    outputs = [each for each in written if each is not None]
    for out in outputs:
        for path in paths:
            if out.resolve().is_relative_to(path.resolve()):
                raise PhidriftError("this would overwrite an input", where=out, mend="write it elsewhere")
        if out.suffix == ".gz":
            raise PhidriftError("outputs are not compressed", where=out, mend="leave .gz out of its name")
        if out.exists() and not out.is_file():
            raise PhidriftError("this is no plain file", where=out, mend="name a file")
    if len({out.resolve() for out in outputs}) < len(outputs):
        raise PhidriftError("two outputs have this name", where=outputs[0], mend="name another file for one")
