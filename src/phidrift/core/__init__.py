"""Foundation that all stages share: documents, text units, files, models, progress, errors."""
