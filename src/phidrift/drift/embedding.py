"""Sentence embeddings from a sentence-transformers model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from phidrift.core.models import loading, locate

Encoder = Callable[[Sequence[str]], npt.NDArray[np.float32]]  # sentences [n] -> embeddings [n, dimension]
Precision = Literal["auto", "float32", "bfloat16"]


def load_encoder(name: str, batch_size: int = 32, dtype: Precision = "float32") -> Encoder:
    """A function that embeds sentences with the model of that name; the embeddings are float32 in any case.

    Equal sentences are encoded once and get equal embeddings; the different ones are sorted, then batched by length, so
    that the result does not depend on the order of the sentences.

    Args:
        name: sentence-transformers model, as `phidrift.core.models.locate` takes it.
        batch_size: sentences at a time.
        dtype: what the model computes in. bfloat16 keeps the cosine to the float32 embedding above 0.999, pooling and
            length in float32. auto: bfloat16 where the processor or the GPU computes in it, else float32; figures then
            depend on the machine, which is why it is not the default.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    narrow = dtype == "bfloat16" or (dtype == "auto" and has_bfloat16())
    place = locate(name)
    with loading(name):
        model = SentenceTransformer(
            place, model_kwargs={"dtype": torch.bfloat16 if narrow else torch.float32}
        )
    # The mean over tokens and the unit length would lose what bfloat16 has no digits for.
    model[0].register_forward_hook(_widen)

    def encode(sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        different = sorted(set(sentences))
        if not different:
            return np.zeros((0, model.get_embedding_dimension() or 0), dtype=np.float32)
        embedded = model.encode(
            different, batch_size=batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        places = {sentence: place for place, sentence in enumerate(different)}
        return np.asarray(embedded[[places[sentence] for sentence in sentences]], dtype=np.float32)

    return encode


def _widen(module: Any, inputs: Any, outputs: dict[str, Any]) -> dict[str, Any]:
    return outputs | {"token_embeddings": outputs["token_embeddings"].float()}


def has_bfloat16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the device that torch would use computes in bfloat16 itself: elsewhere it is emulated, and slow.

    The GPU where there is one, else the processor by what Linux says of it; False where that can't be read.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    try:
        words = set(cpuinfo.read_text(encoding="utf-8").split())
    except OSError:
        return False
    return not words.isdisjoint({"avx512_bf16", "amx_bf16", "bf16"})  # x86, x86, ARM
