"""The manifest of a backup, and what is said of a file that is none.

A backup is a zip file: each database as one sound SQLite file, the PDFs under `originals/`, and `manifest.json`, which tells of
every other member its bytes and SHA-256. No settings, no keys, nothing that can be executed.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION: Final = 1
MANIFEST: Final = "manifest.json"
MANIFEST_BYTES: Final = 1 << 26
"""The longest that is read: there is a line for each PDF."""
_BLOCK: Final = 1 << 20


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Member(_Line):
    """What a member must turn out to be."""

    bytes: int = Field(ge=0)
    sha256: str


class Manifest(_Line):
    """What is in a backup. `version` rises when an older Footnote could not read it."""

    format: Literal["footnote-backup"] = "footnote-backup"
    version: int = VERSION
    footnote: str
    """The version of the Footnote that made it."""
    made_at: float
    """Seconds since the epoch, UTC."""
    index: str
    """The kind of index the documents were in, which is in the backup only where it is a file of the data directory."""
    schemas: dict[str, int]
    """Of each database."""
    members: dict[str, Member]


class ManifestVersion(BaseModel):
    """All that is read of a manifest whose version may be a newer one."""

    format: Literal["footnote-backup"]
    version: int
    footnote: str = ""


def damaged(file: Path, what: str) -> CorruptFile:
    """The error for a file that cannot be what it says it is."""
    return CorruptFile(
        f"{file.name} is damaged, or no backup of Footnote: {what}. Nothing was restored; take another backup."
    )


def blocks(source: IO[bytes]) -> Iterator[bytes]:
    """What is left of a file, a piece at a time."""
    while block := source.read(_BLOCK):
        yield block
