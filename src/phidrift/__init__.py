"""phidrift: how far a synthetic clinical corpus is from real notes, and what that costs a PHI tagger."""

__version__ = "0.1.0"
