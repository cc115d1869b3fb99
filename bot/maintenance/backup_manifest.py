"""A backup is a zip: a SQLite file per database, files with pictures under `originals/`, and a manifest; no settings or keys."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from rag_engine.archive.zip_container import LAST_SECOND, Member, StrictModel, Version, ZipFormat
from rag_engine.errors import SchemaMismatch

BACKUP: Final = ZipFormat(
    noun="backup",
    refusal="Nothing was restored",
    advice="take another backup",
    version=1,
    newer=SchemaMismatch,
    manifest_bytes=1 << 26,
)


class BackupManifest(StrictModel):
    """`version` rises when an older Footnote could not read it."""

    format: Literal["footnote-backup"] = "footnote-backup"
    version: Version = BACKUP.version
    footnote: str
    made_at: float = Field(ge=0, le=LAST_SECOND)
    """Seconds since the epoch, UTC."""
    index: str
    """A server's is not in the backup."""
    schemas: dict[str, int]
    members: dict[str, Member]
