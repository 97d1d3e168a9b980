"""The report: one page that opens from disk, its tables and figures, and what each of them rests on."""
