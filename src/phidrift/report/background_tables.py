"""Tables on what stands behind the results: corpora, generation rounds, models, packages and hashes."""

from phidrift.analysis.scores import field
from phidrift.report.study import CorpusRecord, Study
from phidrift.report.tables import MISSING, Cell, Table, TableRow, number

_OUTCOMES = ("exact", "relocated", "trimmed", "dropped")  # of spans, on the way into the common schema


def corpora(study: Study) -> Table:
    """Size, vocabulary and entity counts: the form of the study's Tables 1 and 3, with spans beside tokens."""
    rows = []
    for corpus in study.corpora:
        place = f"metrics/corpora/{corpus.name}.json"
        for split in ("train", "test"):
            counts = field(field(corpus.record, "splits", place), split, f"{place}, splits")
            where = f"{place}, splits.{split}"
            cells = [
                Cell(_count(field(counts, "documents", where))),
                Cell(_count(field(counts, "tokens", where))),
                Cell(number(field(counts, "tokens_per_document", where), 1)),
                Cell(_count(field(counts, "vocabulary", where))),
            ]
            for entity in study.entities:
                here = field(field(counts, "entities", where), entity, f"{where}.entities")
                cells += [Cell(_count(field(here, name, where))) for name in ("spans", "tokens")]
            rows.append(TableRow(f"{study.marks.name(corpus.name)}, {split}", cells))
    groups = [("size", 4), *((entity, 2) for entity in study.entities)]
    columns = ["documents", "tokens", "per doc.", "vocabulary", *["spans", "tokens"] * len(study.entities)]
    return Table("corpus", groups, columns, rows)


def provenance(study: Study) -> Table:
    """What each corpus is, what of it was left out, how its spans were carried over, and its hash."""
    rows = []
    for corpus in study.corpora:
        place = f"metrics/corpora/{corpus.name}.json"
        outcomes = field(field(corpus.record, "spans", place), "outcomes", f"{place}, spans")
        kind = "stand-in" if corpus.stand_in else "the user's files"
        if corpus.restricted and not corpus.stand_in:
            kind += ", restricted: share nothing derived from them"
        digest = str(field(corpus.record, "sha256", place))
        cells = [
            Cell(kind, "word"),
            Cell(
                str(field(corpus.record, "licence", place)),
                "word",
                str(field(corpus.record, "source", place)),
            ),
            Cell(_left_out(corpus), "word"),
            Cell(", ".join(f"{_count(field(outcomes, o, place))} {o}" for o in _OUTCOMES), "word"),
            Cell(
                ", ".join(f"{code} {n}" for code, n in field(corpus.record, "languages", place).items()),
                "word",
            ),
            Cell(digest[:16], "code", digest),
        ]
        rows.append(TableRow(study.marks.name(corpus.name), cells))
    columns = [
        "read from",
        "licence of the real corpus",
        "documents left out",
        "spans",
        "languages of a sample",
    ]
    return Table("corpus", [], [*columns, "SHA-256 of the harmonised files"], rows)


def _left_out(corpus: CorpusRecord) -> str:
    place = f"metrics/corpora/{corpus.name}.json"
    rejected = field(field(corpus.record, "rejected", place), "documents", f"{place}, rejected")
    dropped = field(corpus.record, "dropped_from_train", place)
    lost = {
        "not readable": rejected,
        "of groups in test": field(dropped, "group_in_test", f"{place}, dropped_from_train"),
        "whose text is in test": field(dropped, "text_in_test", f"{place}, dropped_from_train"),
        "outside the splits": field(corpus.record, "without_split", place),
    }
    return ", ".join(f"{_count(count)} {what}" for what, count in lost.items() if count) or "none"


def labels(study: Study) -> Table:
    """The source's labels under each entity with their spans, every one counted: the form of the study's Table 3."""
    rows = []
    for corpus in study.corpora:
        found = field(corpus.record, "labels", f"metrics/corpora/{corpus.name}.json")
        by_entity: dict[str | None, list[str]] = {}
        for label, row in sorted(found.items(), key=lambda item: -item[1]["spans"]):
            by_entity.setdefault(row["entity"], []).append(f"{label} {_count(row['spans'])}")
        cells = [
            Cell(", ".join(by_entity.get(entity, [])) or MISSING, "word")
            for entity in (*study.entities, None)
        ]
        rows.append(TableRow(study.marks.name(corpus.name), cells))
    return Table("corpus", [], [*study.entities, "no entity"], rows)


def generation(study: Study) -> Table:
    """Per entity and round: samples asked for, well formed, kept, and the judge's mean score."""
    place = "metrics/generation.json"
    entities = field(study.generation, "entities", place)
    rows = []
    for entity in study.entities:
        rounds = field(field(entities, entity, f"{place}, entities"), "rounds", f"{place}, entities.{entity}")
        for name in sorted(rounds, key=int):
            record, where = rounds[name], f"{place}, entities.{entity}.rounds.{name}"
            asked, formed = field(record, "asked", where), field(record, "well_formed", where)
            share = f"{100 * formed / asked:.0f} %" if asked else MISSING
            cells = [
                Cell(name),
                Cell(_count(asked)),
                Cell(_count(formed)),
                Cell(share),
                Cell(number(field(record, "mean_score", where))),
                Cell(_count(field(record, "kept", where))),
            ]
            rows.append(TableRow(entity, cells))
    columns = ["round", "asked", "well formed", "share", "mean judge score (1 to 5)", "kept"]
    return Table("entity", [], columns, rows)


def models(study: Study) -> Table:
    """Every model by role, with the hash of its weights where it is known."""
    rows = [
        TableRow(
            str(model["role"]),
            [
                Cell(str(model["name"]), "word"),
                Cell(model["description"] or MISSING, "word"),
                Cell(model["licence"] or MISSING, "word"),
                Cell((model["sha256"] or MISSING)[:16], "code", model["sha256"] or "not known"),
            ],
        )
        for model in study.models
    ]
    return Table("role", [], ["model", "what it is", "licence", "SHA-256 of the weights"], rows)


def packages(study: Study) -> Table:
    """Versions of the packages that computed the results."""
    rows = [TableRow(name, [Cell(version, "code")]) for name, version in sorted(study.packages.items())]
    return Table("package", [], ["version"], rows)


def hashes(study: Study) -> Table:
    """Hashes of the data behind the page."""
    rows = [TableRow(path, [Cell(digest, "code")]) for path, digest in sorted(study.hashes.items())]
    return Table("file or folder", [], ["SHA-256"], rows)


def _count(value: int | None) -> str:
    return MISSING if value is None else f"{value:,}"
