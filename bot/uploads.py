"""A file in a message becomes a searchable document."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.blobs import blob_from_path
from rag_engine.errors import FileTooLarge

if TYPE_CHECKING:
    from bot.compose import Library
    from bot.port import Attachment
    from rag_engine.types import Ingested


async def receive(attachment: Attachment, *, library: Library, knowledge_base: str) -> Ingested:
    """Download the attachment, once its size is known to be allowed, and take it into the knowledge base of that name.

    Raises `UserError` when it may not or cannot be read.
    """
    most = library.max_file_bytes
    if attachment.size > most:
        raise FileTooLarge(f"The file is larger than {most / 1e6:.0f} MB.")
    base = await library.catalog.open(knowledge_base, model=library.embedder.model)
    with tempfile.TemporaryDirectory(prefix="footnote-upload-") as folder:
        path = Path(folder) / "upload"
        await _download(attachment, path, most=most)
        blob = await blob_from_path(path, uri=attachment.uri, max_bytes=most)
        blob = replace(blob, name=attachment.name, media_type=attachment.media_type)
        return await library.ingestion.ingest(blob, knowledge_base=base.id)


async def _download(attachment: Attachment, path: Path, *, most: int) -> None:
    """Write the bytes to `path`; the platform's word on the size is not trusted."""
    written = 0
    with await asyncio.to_thread(path.open, "wb") as file:
        async for block in attachment.open():
            written += len(block)
            if written > most:
                raise FileTooLarge(f"The file is larger than {most / 1e6:.0f} MB.")
            await asyncio.to_thread(file.write, block)
