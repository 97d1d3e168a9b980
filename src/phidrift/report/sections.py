"""The page's sections: which table or figure stands where, its caption, and what it rests on."""

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from phidrift.report import background_tables, tables
from phidrift.report.study import Study
from phidrift.report.tables import Table

TRAINED = ("tagger", "generator")  # roles whose models shape every F1
DRIFT = (*TRAINED, "encoder", "language model")  # and every correlation of drift with it


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table or a figure with its caption, and the sentences that say what it rests on."""

    name: str
    caption: str
    basis: Sequence[str]
    table: Table | None = None
    picture: str | None = None  # a data URI
    alternative: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, a paragraph on how to read what follows, and the exhibits."""

    anchor: str
    title: str
    text: str
    exhibits: Sequence[Exhibit]


def basis_of(study: Study, roles: Sequence[str], corpora: Collection[str] | None = None) -> list[str]:
    """What an exhibit rests on; its corpora are all of them unless given."""
    return study.marks.basis(study.targets if corpora is None else corpora, roles)


def sections(study: Study, pictures: Mapping[str, Mapping[str, bytes]]) -> list[Section]:
    """The page's sections, from results to what they were computed from."""
    return [
        _scores(study, pictures),
        _drift(study, pictures),
        _mixtures(study, pictures),
        _data(study, pictures),
    ]


def _figure(
    pictures: Mapping[str, Mapping[str, bytes]],
    name: str,
    caption: str,
    basis: Sequence[str],
    alternative: str,
) -> Exhibit:
    # An SVG inside an <img> keeps its identifiers to itself: several in one page can't clash.
    kind = ("png", "image/png") if name == "sentence_map" else ("svg", "image/svg+xml")
    data = base64.b64encode(pictures[name][kind[0]]).decode("ascii")
    return Exhibit(name, caption, basis, picture=f"data:{kind[1]};base64,{data}", alternative=alternative)


def _scores(study: Study, pictures: Mapping[str, Mapping[str, bytes]]) -> Section:
    basis = basis_of(study, TRAINED)
    rows = len(study.main)
    exhibits = [
        Exhibit(
            "f1",
            f"Strict entity-level F1 of every training set on every test corpus ({rows} scores of the main sets; "
            "mean over taggers and seeds). Shaded: the training set holds documents of the test corpus' source. "
            "Bold: best of the out-of-distribution scores in the column. ‡: no positive example to train on. "
            "Point at a cell for its interval over documents and its support.",
            basis,
            tables.cross_dataset(study),
        ),
        Exhibit(
            "means",
            "Mean F1 in and out of distribution; point at a cell for the number of scores behind it.",
            basis,
            tables.means(study),
        ),
        _figure(
            pictures,
            "foreign_f1",
            "Out-of-distribution F1 per entity: a bar is a training set's mean over the test corpora foreign to it "
            f"(n = {len(study.targets) - 1} at most), a dot one of them.",
            basis,
            "Bars of out-of-distribution F1 per entity and training set; the numbers are in the table above.",
        ),
        Exhibit(
            "losses",
            "Loss in F1: the best F1 that any set of a real source reaches on the test corpus, less this set's. "
            "0 for the best real set; negative where a set does better than all of them.",
            basis,
            tables.losses(study),
        ),
    ]
    text = (
        "One tagger per entity is trained on each set (rows) and tested on every corpus (columns). Scores on a "
        "corpus the tagger knows say little about one that it has never seen."
    )
    return Section("scores", "What the taggers score", text, exhibits)


def _drift(study: Study, pictures: Mapping[str, Mapping[str, bytes]]) -> Section:
    basis = basis_of(study, DRIFT)
    design = study.correlation["design"]
    exhibits = [
        _figure(
            pictures,
            "drift_heatmap",
            f"Drift between training set and test corpus, {len(study.drift):,} values in all"
            f"{_sample(study)}. Columns by |r| with the loss in F1 (r in brackets), rows in distribution above the "
            "others; colours are standard scores per metric over all rows shown, turned so that red is more drift "
            "also where a higher value means more alike. Means over training sizes. Grey: undefined.",
            basis,
            "Heatmap of drift metrics by pair of training and test corpus; values are in data/drift/drift.csv.",
        ),
        _figure(
            pictures,
            "correlations",
            f"Correlation of every metric with the loss in F1 {_behind(design['main']['all'])}.",
            basis,
            "Ranked correlations with intervals; the numbers are in the tables below.",
        ),
        *(_correlation_table(study, "main", group, basis) for group in ("all", "ood")),
        Exhibit(
            "r_by_entity",
            "Pearson r per group of rows, in the order of the first column.",
            basis,
            tables.by_entity(study),
        ),
        _correlation_table(study, "ablation", "all", basis),
    ]
    number = len(study.correlation["main"]["all"])
    text = (
        f"{number} metrics compare each training set with each test corpus, without labels. A metric is of use only "
        "as far as it says more than the bare fact that the two differ in source: the out-of-distribution indicator "
        "in the first line of each table. Intervals resample sources and targets, crossed; p exchanges whole pairs "
        "of corpora; q corrects p over the metrics (Benjamini and Hochberg); partial r holds the indicator fixed. "
        "A dash is undefined; point at it for the reason."
    )
    return Section("drift", "What drift says of the loss", text, exhibits)


def _correlation_table(study: Study, rows: str, group: str, basis: Sequence[str]) -> Exhibit:
    which = {"all": "all rows", "ood": "out-of-distribution rows alone"}[group]
    of = {"main": "main sets", "ablation": "set ablation"}[rows]
    caption = (
        f"Correlation with the loss in F1, {of}, {which} {_behind(study.correlation['design'][rows][group])}."
    )
    return Exhibit(f"r_{rows}_{group}", caption, basis, tables.correlations(study, rows, group))


def _behind(design: Mapping[str, int | bool]) -> str:
    """The design in words, with the warning that belongs to it."""
    text = (
        f"(n = {design['n_rows']} rows from {design['n_pairs']} pairs of corpora, "
        f"{design['distinct_permutations']:,} distinct permutations"
    )
    return text + ("; descriptive: fewer than 20 pairs)" if design["descriptive"] else ")")


def _sample(study: Study) -> str:
    tokens, repeats = study.sample.get("sample_tokens"), study.sample.get("repeats")
    return "" if tokens is None else f", on samples of {tokens:,} tokens, {repeats} a value"


def _mixtures(study: Study, pictures: Mapping[str, Mapping[str, bytes]]) -> Section:
    real = sorted({row.real for row in study.current})
    caption = (
        "Mean out-of-distribution F1 of the set ablation by its share of synthetic documents. The mean is over the "
        f"test corpora that are foreign at every mixture: without {' and '.join([*real, 'syn'])}, which are mixed. "
        f"Recorded points ({len({(r.mixture, r.judge_threshold, r.generator) for r in study.recorded})} sets) come "
        "from metrics/ablation.csv. Dotted: the main sets on the same corpora, less their own."
    )
    figure = _figure(
        pictures,
        "mixtures",
        caption,
        basis_of(study, TRAINED),
        "Out-of-distribution F1 against the share of synthetic documents, one panel an entity.",
    )
    text = (
        "Does synthetic text help where a little real text is there? Real and synthetic documents are mixed."
    )
    return Section("mixtures", "Mixing real and synthetic text", text, [figure])


def _data(study: Study, pictures: Mapping[str, Mapping[str, bytes]]) -> Section:
    basis = study.marks.basis(study.real_corpora, ())
    made = study.marks.basis((), ("generator", "judge"))
    exhibits = [
        Exhibit(
            "corpora",
            "The harmonised corpora: documents, tokens and vocabulary, and per entity the spans and the tokens "
            "inside them (the study counts the latter).",
            basis,
            background_tables.corpora(study),
        ),
        Exhibit(
            "provenance",
            "Where the corpora come from, what of them was left out, and how their spans were carried over.",
            basis,
            background_tables.provenance(study),
        ),
        Exhibit(
            "labels",
            "Labels of the sources by entity, with the number of their spans before any is dropped.",
            basis,
            background_tables.labels(study),
        ),
        Exhibit(
            "generation",
            f"Generation by round, all generators together. {_note(study)}".strip(),
            made,
            background_tables.generation(study),
        ),
    ]
    if study.projection:
        counts = ", ".join(f"{study.marks.name(name)} {n:,}" for name, n in study.sentences.items())
        exhibits.append(
            _figure(
                pictures,
                "sentence_map",
                "Sentences of the test corpora in embedding space, flattened by UMAP (one map, each corpus in its "
                f"colour before all others in grey; embedded: {counts}). It shows neighbourhoods, not distances.",
                basis_of(study, ("generator", "encoder"), study.projection),
                "A scatter of sentence embeddings per corpus.",
            )
        )
    exhibits += [
        Exhibit("models", "Models by role.", (), background_tables.models(study)),
        Exhibit("hashes", "The data behind this page.", (), background_tables.hashes(study)),
        Exhibit("packages", "Packages that computed it.", (), background_tables.packages(study)),
    ]
    return Section("data", "Data, models and versions", "", exhibits)


def _note(study: Study) -> str:
    note = study.generation.get("note")
    return f"{note[0].upper()}{note[1:].rstrip('.')}." if note else ""
