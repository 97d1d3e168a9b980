"""The real embedded model, loaded once for all tests that need it."""

import pytest

from phidrift.generation.local import TransformersEngine


@pytest.fixture(scope="session")
def smol() -> TransformersEngine:
    return TransformersEngine("embedded/smollm2-135m-instruct")
