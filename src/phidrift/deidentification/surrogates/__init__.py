"""What stands for the names, dates, contacts and addresses of a document that is de-identified."""
