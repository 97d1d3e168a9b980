"""One module a package of the library: read params, call the library, write the outputs."""
