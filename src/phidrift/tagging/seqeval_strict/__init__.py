"""The strict IOB2 scores of seqeval as a module of Hugging Face evaluate, loaded from this folder with no network."""
