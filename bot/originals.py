"""The PDFs that were taken in, kept as they came, so that their pages can be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Originals:
    """PDFs in a folder, one for each digest of their bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, digest: str) -> Path | None:
        """Where the bytes of that digest are; None when they are not kept."""
        if not _DIGEST.fullmatch(digest):
            return None
        path = self._folder / f"{digest}.pdf"
        return path if path.is_file() else None
