"""Shapes of batches.

In which order a model sums the numbers of a text depends on the shape of its batch, though not on what else is in it.
Where the shape follows from the text alone, the parts of a corpus give exactly what the whole gives.
"""


def padded_length(length: int) -> int:
    """The next of 8, 16, ... 64, 80, ... 128, 160, ... 256, 320, ...: at most a quarter, or seven tokens, of padding.

    >>> [padded_length(length) for length in (3, 8, 9, 65, 130, 1024)]
    [8, 8, 16, 80, 160, 1024]
    """
    step = max(8, 1 << max((length - 1).bit_length() - 3, 0))
    return -(-length // step) * step
