"""One Markdown dialect a module."""
