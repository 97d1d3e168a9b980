"""Taking out of texts what taggers find there: marks of several taggers resolved, masked or replaced, as a stream."""
