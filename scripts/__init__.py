"""Scripts that keep the documentation true: each has `--check` for `make check` and writes its page without it."""
