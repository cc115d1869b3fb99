"""Writers of small files of every format, one module per family."""
