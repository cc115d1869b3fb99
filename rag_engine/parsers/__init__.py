"""File formats, one module each, in folders by kind."""

from __future__ import annotations

FOLDERS = ("data", "documents", "mail", "media", "sheets", "texts")
