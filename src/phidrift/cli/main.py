"""The `phidrift` command. Heavy imports happen inside the commands that need them."""

import logging
import sys
from typing import Annotated

import typer

from phidrift.cli.compare import compare
from phidrift.cli.corpora import corpora, harmonize
from phidrift.cli.deidentify import deidentify
from phidrift.cli.evaluate import evaluate
from phidrift.cli.fetch import fetch
from phidrift.cli.train import train

app = typer.Typer(
    help="How far is a synthetic clinical corpus from real notes, and what does that cost a PHI tagger?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _options(
    verbose: Annotated[bool, typer.Option("--verbose", help="Log at debug level.")] = False,
) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if verbose else logging.INFO,
        format="%(levelname)s %(name)s: %(message)s",
    )
    for chatty in (
        "httpx",
        "urllib3",
        "filelock",
        "datasets",
        "numba",
        "matplotlib",
        "fsspec",
        "transformers",
    ):
        logging.getLogger(chatty).setLevel(logging.WARNING)


@app.command()
def stage(
    name: Annotated[str, typer.Argument(help="A stage of dvc.yaml.")],
    key: Annotated[str | None, typer.Argument(help="Which one of a stage that has several.")] = None,
) -> None:
    """Run one stage of the pipeline in the current folder (dvc repro calls this)."""
    from phidrift.cli.stages.run import run_stage
    from phidrift.core.errors import PhidriftError

    try:
        run_stage(name, key)
    except FileNotFoundError as error:
        # An input that an earlier stage makes: this one was called before it.
        mend = "run dvc repro, which makes what is missing first"
        raise PhidriftError("no such file", where=error.filename, mend=mend) from error


@app.command()
def summary() -> None:
    """Print the main figures of the last run and where its report lies."""
    from phidrift.cli.summary import print_summary

    print_summary()


app.command()(harmonize)
app.command()(corpora)
app.command()(fetch)
app.command()(compare)
app.command()(evaluate)
app.command()(train)
app.command()(deidentify)


def main() -> None:
    """Entry point: errors that the user can mend are printed without a traceback, with exit code 2."""
    from phidrift.core.errors import PhidriftError

    try:
        app()
    except PhidriftError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from error
    except OSError as error:
        if error.filename is None:
            raise
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from error
