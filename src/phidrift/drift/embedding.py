"""Sentence embeddings from a sentence-transformers model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from phidrift.core.models import loading, locate
from phidrift.drift.batching import padded_length

Encoder = Callable[[Sequence[str]], npt.NDArray[np.float32]]  # sentences [n] -> embeddings [n, dimension]
Precision = Literal["auto", "float32", "bfloat16"]


def load_encoder(name: str, batch_size: int | None = None, dtype: Precision = "float32") -> Encoder:
    """A function that embeds sentences with the model of that name; the embeddings are float32 in any case.

    Equal sentences are encoded once. Batches have one of a few shapes, set by the length of their sentences alone and
    filled up with empty rows: the embedding of a sentence does not depend on the others, not even in rounding.

    Args:
        name: sentence-transformers model, as `phidrift.core.models.locate` takes it.
        batch_size: sentences at a time; None: as suits the device. It may change embeddings by rounding.
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
    rows = batch_size or (256 if model.device.type == "cuda" else 16)
    set_width = _fix_shapes(model, rows)
    prompt = model.prompts.get(model.default_prompt_name) or ""

    def encode(sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        different = sorted(set(sentences))
        found = np.zeros((len(different), model.get_embedding_dimension() or 0), dtype=np.float32)
        alike: dict[int, list[int]] = {}
        for number, sentence in enumerate(different):
            ids = model.tokenizer(prompt + sentence, truncation=True, max_length=model.max_seq_length)
            alike.setdefault(padded_length(len(ids["input_ids"])), []).append(number)
        for width, numbers in sorted(alike.items()):
            set_width(width)
            texts = [different[number] for number in numbers]
            found[numbers] = model.encode(
                texts, batch_size=rows, show_progress_bar=False, convert_to_numpy=True
            )
        places = {sentence: place for place, sentence in enumerate(different)}
        return found[[places[sentence] for sentence in sentences]]

    return encode


def _fix_shapes(model: Any, rows: int) -> Callable[[int], None]:
    """Makes the transformer of a model see [rows, width] whatever it is given; returns what sets the width.

    What sums a sentence's numbers, and in which order, may depend on the shape of its batch, but on nothing else.
    """
    import torch

    left = model.tokenizer.padding_side == "left"
    padding = {"input_ids": model.tokenizer.pad_token_id or 0}
    width = given = 0

    def set_width(value: int) -> None:
        nonlocal width
        width = value

    def fill_up(_: Any, inputs: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        nonlocal given
        features = dict(inputs[0])
        given, length = features["input_ids"].shape
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            if name in features:
                sides = (width - length, 0) if left else (0, width - length)
                below = (0, rows - given)
                features[name] = torch.nn.functional.pad(
                    features[name], (*sides, *below), value=padding.get(name, 0)
                )
        features["attention_mask"][given:, 0] = 1  # a row that sees nothing would give NaN
        return (features, *inputs[1:])

    def cut_back(_: Any, inputs: tuple[dict[str, Any], ...], outputs: dict[str, Any]) -> dict[str, Any]:
        # The mean over tokens and the unit length would lose what bfloat16 has no digits for.
        embeddings = outputs["token_embeddings"][:given].float()
        return outputs | {"token_embeddings": embeddings, "attention_mask": outputs["attention_mask"][:given]}

    model[0].register_forward_pre_hook(fill_up)
    model[0].register_forward_hook(cut_back)
    return set_width


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
