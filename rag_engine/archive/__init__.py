"""Exports a knowledge base to a zip of JSON lines, and imports it without embedding again.

`manifest.json`: format, version, vector identity; lines, bytes and SHA-256 of other members.
`documents.jsonl`: per document a line with sources and number of sections, then a line per section, and its tables with their rows.
`chunks.jsonl`: a line per chunk; documents in the same order, ordinals ascending.
`vectors.jsonl`: a vector for each line of `chunks.jsonl`, little-endian float32 in base64.

An export holds no settings, keys or executables.
"""

from rag_engine.archive.exporter import export
from rag_engine.archive.importer import import_
from rag_engine.archive.schema import ArchiveContents, ArchiveLimits

__all__ = ["ArchiveContents", "ArchiveLimits", "export", "import_"]
