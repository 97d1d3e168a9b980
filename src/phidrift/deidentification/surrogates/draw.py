"""Keyed draws: one secret, document and purpose give one number, and nobody without the secret can tell which."""

import hashlib
import hmac
from collections.abc import Callable

# (purpose, n) -> a number from 0 to n - 1
Draw = Callable[[str, int], int]


def document_draw(secret: bytes, document: int) -> Draw:
    """Draws of one document; those of another are independent of them.

    Each is HMAC-SHA-256 (Krawczyk, Bellare & Canetti, 1997) of the document's number and the purpose, modulo n.

    Args:
        secret: whoever has it can repeat the draws, and so undo a shift of dates.
        document: its number in the run.
    """

    def draw(purpose: str, below: int) -> int:
        message = f"{document}\0{purpose}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.digest(secret, message, hashlib.sha256)) % below

    return draw
