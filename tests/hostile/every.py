"""Every family of files made to harm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.hostile import archives, documents, messages, texts

if TYPE_CHECKING:
    from collections.abc import Callable

FILES: Final[dict[str, Callable[[], bytes]]] = {
    **archives.FILES,
    **documents.FILES,
    **messages.FILES,
    **texts.FILES,
}
"""Name -> makes the file's content."""
