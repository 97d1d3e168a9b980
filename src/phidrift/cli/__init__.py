"""The `phidrift` command: thin shells over the library."""
