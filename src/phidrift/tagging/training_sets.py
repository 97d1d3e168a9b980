"""Training sets: nested prefixes of a corpus, and the mixed set of the ablation. One entity at a time."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from phidrift.core.document import Document, write_documents
from phidrift.core.errors import PhidriftError
from phidrift.core.files import whole_folder, write_json
from phidrift.corpora.splitting import seeded_order
from phidrift.generation.selection import minimum_score


@dataclass(frozen=True)
class Mixture:
    """What the set `ablation` is made of.

    `share` of its `size` documents is synthetic. Of the candidates, those by `generator` ("all": whoever wrote
    them) count whose judge score is at least `threshold`; a quantile such as "q0.5" is taken of the scores of that
    generator's candidates. `negative_ratio` is the share of the synthetic documents without the entity.
    """

    size: int
    share: float
    threshold: float | str
    generator: str
    negative_ratio: float

    @property
    def synthetic(self) -> int:
        """Synthetic documents asked for: share * size, halves rounded up."""
        return _half_up(self.share * self.size)


def only_entity(document: Document, entity: str) -> Document:
    """The document with the spans of one entity alone.

    Raises:
        PhidriftError: the document is unlabelled, so that it can't train a tagger.
    """
    if document.spans is None:
        raise PhidriftError("an unlabelled document can't be trained on", where=document.id)
    return replace(document, spans=document.entity_spans(entity))


def nested_set(
    documents: Sequence[Document], size: int, seed: int, entity: str, source: str
) -> list[Document]:
    """The first `size` documents in seeded hash order, with the spans of `entity`: smaller sets are prefixes.

    Raises:
        PhidriftError: there are fewer documents; says how many, of what.
    """
    if len(documents) < size:
        problem = (
            f"{entity}: the training split of {source} has {len(documents)} documents, {size} are asked for"
        )
        raise PhidriftError(problem, mend="ask for a smaller set in `sets`, or bring more documents")
    return [only_entity(document, entity) for document in seeded_order(documents, seed)[:size]]


def mixed_set(
    real: Sequence[Document], candidates: Sequence[Document], mixture: Mixture, seed: int, entity: str
) -> tuple[list[Document], float | None]:
    """(documents in seeded hash order, minimum judge score) of the ablation set for one entity.

    Both parts are prefixes of fixed orders: with a larger share, the synthetic part is a superset and the real
    part a subset. The score is None where no synthetic document is asked for.

    Raises:
        PhidriftError: too few candidates at that score and generator, or too few real documents; says how many.
    """
    wanted, score = mixture.synthetic, None
    chosen: list[Document] = []
    if wanted:
        ours = [c for c in candidates if mixture.generator in ("all", c.meta.get("generator"))]
        scored = [(c, float(c.meta["score"])) for c in ours if c.meta.get("score") is not None]
        score = minimum_score(mixture.threshold, [s for _, s in scored]) if scored else None
        passed = [c for c, s in scored if score is not None and s >= score]
        if len(passed) < wanted:
            problem = (
                f"{entity}: {len(passed)} candidates pass judge_threshold {mixture.threshold} (generator "
                f"{mixture.generator}, {len(candidates)} in all), the ablation set asks for {wanted}"
            )
            raise PhidriftError(
                problem, mend="lower judge_threshold, mixture or ablation.size, or generate more"
            )
        chosen = _in_ratio(seeded_order(passed, seed), entity, mixture.negative_ratio)[:wanted]
    rest = mixture.size - len(chosen)
    if rest > len(real):
        problem = f"{entity}: there are {len(real)} real documents, the ablation set asks for {rest}"
        raise PhidriftError(problem, mend="raise mixture or lower ablation.size")
    chosen += seeded_order(real, seed)[:rest]
    return seeded_order((only_entity(document, entity) for document in chosen), seed), score


def _in_ratio(documents: Sequence[Document], entity: str, negative_ratio: float) -> list[Document]:
    """An order whose every prefix of n has n * ratio documents without the entity, as long as both kinds last."""
    positives = [document for document in documents if document.entity_spans(entity)]
    negatives = [document for document in documents if not document.entity_spans(entity)]
    ordered: list[Document] = []
    used = 0
    for position in range(1, len(documents) + 1):
        due = used < _half_up(position * negative_ratio) and used < len(negatives)
        if due or len(ordered) - used == len(positives):
            ordered.append(negatives[used])
            used += 1
        else:
            ordered.append(positives[len(ordered) - used])
    return ordered


def write_set(
    folder: Path,
    entities: Mapping[str, Sequence[Document]],
    about: Mapping[str, Any],
    scores: Mapping[str, float | None],
) -> None:
    """Writes ENTITY.jsonl and set.json into `folder`, all or nothing.

    set.json is `about` (set, source, size, ...) with, under `entities`, each entity's documents, positives
    (documents with a span), spans, sources (corpus: documents) and sha256; and minimum_score where `scores` has it.
    """
    with whole_folder(folder) as temporary:
        described: dict[str, Any] = {}
        for entity, documents in entities.items():
            path = temporary / f"{entity}.jsonl"
            write_documents(path, documents)
            described[entity] = {
                "documents": len(documents),
                "positives": sum(bool(document.spans) for document in documents),
                "spans": sum(len(document.spans or ()) for document in documents),
                "sources": dict(Counter(str(document.meta.get("corpus")) for document in documents)),
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
            if entity in scores:
                described[entity]["minimum_score"] = scores[entity]
        write_json(temporary / "set.json", {**about, "entities": described})


def _half_up(value: float) -> int:
    # 0.3 * 25 is 7.499999999999999 or 7.5 by the order of its factors: the tenth digit decides nothing here.
    return math.floor(round(value, 9) + 0.5)
