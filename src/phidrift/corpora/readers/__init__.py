"""One reader per source format; each takes (path, options, reject) and yields raw documents."""
