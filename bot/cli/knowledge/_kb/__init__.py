"""Parts of `footnote kb`, loaded when they are needed."""
