"""`phidrift compare`: the drift between any two corpora, with or without labels."""

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from phidrift.cli.outputs import refuse_overwriting
from phidrift.core.errors import PhidriftError

if TYPE_CHECKING:
    from phidrift.core.document import Document
    from phidrift.drift.comparison import Drift
    from phidrift.drift.profile import Profile

ENCODER, LM = "embedded/all-minilm-l6-v2", "embedded/smollm2-135m-instruct"
SKIPPABLE = ("perplexity", "semantic", "extras")
Precision = Literal["float32", "bfloat16", "auto"]
COLUMNS = (
    *("metric", "family", "value", "low", "high", "floor", "clear"),
    *("reference", "candidate", "value_full", "direction", "unit", "reason"),
)


def compare(
    reference: Annotated[Path, typer.Argument(help="The corpus to judge by: real notes, or a part of them.")],
    candidate: Annotated[Path, typer.Argument(help="The corpus whose distance from it is measured.")],
    reference_format: Annotated[str | None, typer.Option(help="Without, it is recognised.")] = None,
    candidate_format: Annotated[str | None, typer.Option(help="Without, it is recognised.")] = None,
    reference_text_field: Annotated[str | None, typer.Option(help="Its field or column of text.")] = None,
    candidate_text_field: Annotated[str | None, typer.Option(help="Its field or column of text.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything here.")] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write the table here.")] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write a page here that opens offline.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Moves every sample.")] = 42,
    repeats: Annotated[int, typer.Option(min=1, help="Size-matched samples a value.")] = 40,
    floor_pairs: Annotated[int, typer.Option(min=1, help="Pairs of disjoint samples a noise floor.")] = 40,
    sample_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens a sample; without, as many as the corpora allow.")
    ] = None,
    skip: Annotated[str, typer.Option(help=f"Leave out what costs a model: {', '.join(SKIPPABLE)}.")] = "",
    encoder: Annotated[str, typer.Option(help="Sentence encoder of the semantic metrics.")] = ENCODER,
    lm: Annotated[str, typer.Option(help="Causal language model of the perplexity.")] = LM,
    encoder_dtype: Annotated[
        Precision,
        typer.Option(
            help="What the encoder computes in: float32, bfloat16, or auto (bfloat16 where native)."
        ),
    ] = "float32",
) -> None:
    """Measure the drift between two corpora by 25 metrics, each beside its noise floor."""
    from phidrift.cli.comparison_text import explanations, extra_lines, print_comparison, title
    from phidrift.core.files import write_csv, write_json, write_text
    from phidrift.drift import Settings, compare_profiles
    from phidrift.drift.extras import measure_extras
    from phidrift.report.comparison_page import comparison_page

    left_out = _skipped(skip)
    refuse_overwriting([reference, candidate], json_file, csv_file, html_file)
    about, documents = _read(reference, reference_format, reference_text_field)
    other_about, others = _read(candidate, candidate_format, candidate_text_field)
    settings = Settings(seed=seed, repeats=repeats, floor_pairs=floor_pairs, sample_tokens=sample_tokens)
    models = (None if "semantic" in left_out else encoder, None if "perplexity" in left_out else lm)
    profiles = _profiles(documents, others, models[0], models[1], encoder_dtype)
    result = as_json(compare_profiles(*profiles, settings), about, other_about, _versions(*models))
    result["extras"] = None
    if "extras" not in left_out:
        result["extras"] = measure_extras(documents, others, profiles, settings).to_json()
    print_comparison(result)
    if json_file is not None:
        write_json(json_file, result)
    if csv_file is not None:
        write_csv(csv_file, COLUMNS, _rows(result))
    if html_file is not None:
        write_text(
            html_file, comparison_page(result, title(result), explanations(result), extra_lines(result)[1:])
        )


def _skipped(skip: str) -> set[str]:
    names = {name.strip() for name in skip.split(",") if name.strip()}
    unknown = sorted(names - set(SKIPPABLE))
    if unknown:
        raise PhidriftError(f"--skip knows no {unknown[0]!r}", mend=f"use some of {', '.join(SKIPPABLE)}")
    return names


def _read(
    path: Path, format_name: str | None, text_field: str | None
) -> "tuple[dict[str, Any], list[Document]]":
    """(what the corpus is, its documents)."""
    from phidrift.corpora.reading import corpus_at
    from phidrift.corpora.reading_report import read_and_report
    from phidrift.corpora.source import ReadOptions

    source = corpus_at(path, format_name, ReadOptions(text_field=text_field))
    documents, report = read_and_report(source)
    about = {name: report[name] for name in ("format", "stand_in", "restricted")}
    return {"name": source.name, **about}, documents


def _profiles(
    reference: "Sequence[Document]",
    candidate: "Sequence[Document]",
    encoder: str | None,
    lm: str | None,
    dtype: Precision,
) -> "tuple[Profile, Profile]":
    from phidrift.core.progress import progress
    from phidrift.drift import profile
    from phidrift.drift.embedding import load_encoder
    from phidrift.drift.perplexity import load_scorer

    encode = load_encoder(encoder, dtype=dtype) if encoder else None
    score = load_scorer(lm) if lm else None
    found = []
    with progress("profiles", 2) as advance:
        for documents in (reference, candidate):
            texts = [document.text for document in documents]
            found.append(profile(texts, encode=encode, score=score, encoder=encoder, lm=lm))
            advance(1)
    return found[0], found[1]


def _versions(encoder: str | None, lm: str | None) -> dict[str, Any]:
    """What computed the numbers: packages, and the models that were used."""
    from phidrift.core.models import describe

    names = ("phidrift", "numpy", "scipy", "scikit-learn", "textstat", "torch", "sentence-transformers")
    versions: dict[str, Any] = {name: importlib.metadata.version(name) for name in names}
    versions["encoder"] = describe(encoder) if encoder else None
    versions["lm"] = describe(lm) if lm else None
    return versions


def as_json(
    drift: "Drift", reference: Mapping[str, Any], candidate: Mapping[str, Any], versions: Mapping[str, Any]
) -> dict[str, Any]:
    """The comparison as plain data: metrics by name, what was sampled of which corpora, the seed, and versions."""
    from phidrift.drift.registry import METRICS

    sample = dict(drift.sample)
    seed = sample.pop("seed")
    for side, about in (("reference", reference), ("candidate", candidate)):
        sample[side] = {**about, **sample[side]}
    metrics = {
        name: {
            "value": found.value,
            "interval": None if found.low is None else [found.low, found.high],
            "floor": found.floor,
            "reference": found.reference,
            "candidate": found.candidate,
            "family": found.family,
            "direction": found.direction,
            "unit": METRICS[name].unit,
            "clear": found.clear,
            "reason": found.reason,
            "value_full": found.value_full,
        }
        for name, found in drift.metrics.items()
    }
    return {"metrics": metrics, "sample": sample, "seed": seed, "versions": dict(versions)}


def _rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, found in result["metrics"].items():
        low, high = found["interval"] or (None, None)
        yield {**found, "metric": name, "low": low, "high": high}
