"""Source corpora: readers of their raw formats, one document schema, splits, statistics, and stand-ins."""
