"""Sentence embeddings from a sentence-transformers model."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from phidrift.core.models import loading, locate

Encoder = Callable[[Sequence[str]], npt.NDArray[np.float32]]  # sentences [n] -> embeddings [n, dimension]


def load_encoder(name: str, batch_size: int = 64) -> Encoder:
    """A function that embeds sentences with the model of that name, in float32.

    Equal sentences are encoded once and get equal embeddings; batches are sorted by length, so that the result does not
    depend on the order of the sentences.
    """
    from sentence_transformers import SentenceTransformer

    place = locate(name)
    with loading(name):
        model = SentenceTransformer(place)

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
