"""Stages `standins` and `harmonize`."""

from pathlib import Path

from phidrift.config import CorpusParams, Params
from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_json
from phidrift.corpora.harmonize import Split, write_corpus
from phidrift.corpora.harmonize import harmonize as harmonize_corpus
from phidrift.corpora.label_maps import parse_label_map
from phidrift.corpora.reading import CorpusSource
from phidrift.corpora.source import ReadOptions
from phidrift.corpora.standins import write_standins


def standins(params: Params) -> None:
    """Writes data/standins/{i2b2,multileg,ai4privacy} in the sources' raw formats."""
    sizes = params.standins
    write_standins(
        Path("data/standins"),
        params.seed,
        (sizes.i2b2.train, sizes.i2b2.test),
        sizes.multileg,
        sizes.ai4privacy,
    )


def harmonize(params: Params, key: str) -> None:
    """Writes data/corpora/KEY/{train,test}.jsonl and metrics/corpora/KEY.json."""
    if key not in params.corpora:
        raise PhidriftError(f"no corpus {key!r}", mend=f"there are {', '.join(params.corpora)}")
    corpus = params.corpora[key]
    train_part, test_part, report = harmonize_corpus(source_of(key, corpus), split_of(corpus), params.seed)
    digest = write_corpus(Path("data/corpora") / key, train_part, test_part)
    about = {"corpus": key, "licence": corpus.licence, "source": corpus.source, "sha256": digest}
    write_json(Path("metrics/corpora") / f"{key}.json", {**about, **report})


def source_of(name: str, corpus: CorpusParams) -> CorpusSource:
    """The corpus of params.yaml as the library takes it."""
    split, parts = corpus.split, None
    if split != "source" and not isinstance(split.test, int):
        parts = {"train": split.train or [], "test": split.test}
    return CorpusSource(
        name,
        corpus.path,
        corpus.format,
        corpus.restricted,
        None
        if corpus.labels is None
        else parse_label_map(dict(corpus.labels), f"params.yaml, corpora.{name}.labels"),
        ReadOptions(corpus.text_field, corpus.group_field, corpus.encoding),
        corpus.offsets,
        corpus.strict,
        parts,
    )


def split_of(corpus: CorpusParams) -> Split:
    """How params.yaml has the corpus split."""
    split = corpus.split
    if split != "source" and isinstance(split.test, int):
        return Split(split.test, corpus.deduplicate)
    return Split("source", corpus.deduplicate)
