"""The strict span F1 as a module of Hugging Face evaluate: `evaluate.load` of this folder, with no network."""
