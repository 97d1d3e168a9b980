"""Synthetic clinical fragments with marked entities: rounds of generation, structure check, judge, curation."""
