"""Small made corpora, and stand-ins for the two models."""

import random

import numpy as np

from phidrift.core import text as units
from phidrift.drift import profile


def corpus(seed, documents, length=12, names=("ann", "bob", "cy")):
    """Short notes whose words depend on the seed alone."""
    dice = random.Random(seed)
    verbs = ["saw", "met", "called", "left", "found", "asked"]
    things = ["pain", "fever", "ward", "clinic", "dose", "scan", "knee", "chart"]

    def sentence():
        return " ".join(
            [dice.choice(names).title(), dice.choice(verbs), *dice.choices(things, k=length // 2 - 2)]
        )

    return [f"{sentence()}. {sentence()} {dice.randint(1, 99)}." for _ in range(documents)]


def fake_encoder(sentences):
    """Length, vowels and first letter of a sentence."""
    rows = [(len(s), sum(c in "aeiou" for c in s), ord(s[0])) for s in sentences]
    return np.array(rows, dtype=np.float32).reshape(-1, 3)


def fake_scorer(texts, most):
    """One token a chunk, 2 nats each, until the limit is reached."""
    sizes = []
    for text in texts:
        sizes.append(min(len(units.chunks(text)), most) if sum(sizes) < most else 0)
    return 2.0 * np.array(sizes), np.array(sizes, dtype=np.int64)


def measured(texts, **limits):
    return profile(texts, encode=fake_encoder, score=fake_scorer, encoder="letters", lm="chunks", **limits)
