"""Training sets, PHI taggers fine-tuned on them, and their strict scores on every target corpus."""
