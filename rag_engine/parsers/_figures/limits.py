from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_BYTES: Final = 16 << 20


def within(chunks: Iterable[bytes]) -> bytes:
    """Empty if there are more than `MOST_BYTES`."""
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > MOST_BYTES:
            return b""
    return bytes(content)
