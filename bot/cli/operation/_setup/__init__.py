"""The wizard of `footnote setup`."""
