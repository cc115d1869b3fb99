"""The words in every small file, and shared writers."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

GERMAN: Final = "Der Jahresurlaub beträgt dreißig Tage."
CHINESE: Final = "季度报告显示，华东区的退货率下降了百分之三点二。"


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    """A writer of this text."""
    return content_of(content.encode(encoding))


def content_of(content: bytes) -> Callable[[Path], None]:
    """A writer of these bytes."""

    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def zip_of(members: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of these members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()
