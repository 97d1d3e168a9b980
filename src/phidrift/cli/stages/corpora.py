"""Stages `standins` and `harmonize`."""

from pathlib import Path

from phidrift.config import Params
from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_json
from phidrift.corpora.harmonize import CorpusSource, write_corpus
from phidrift.corpora.harmonize import harmonize as harmonize_corpus
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
    test = None if corpus.split == "source" else corpus.split.test
    source = CorpusSource(key, corpus.path, corpus.format, test, corpus.restricted, corpus.deduplicate)
    train_part, test_part, report = harmonize_corpus(source, params.seed)
    digest = write_corpus(Path("data/corpora") / key, train_part, test_part)
    about = {"corpus": key, "licence": corpus.licence, "source": corpus.source, "sha256": digest}
    write_json(Path("metrics/corpora") / f"{key}.json", {**about, **report})
