"""A knowledge base as one zip file of JSON lines, and back without embedding anything again.

| Member | One line is |
| --- | --- |
| `manifest.json` | the whole: format and version, identity of the vectors, and of every other member its lines, bytes and SHA-256 |
| `documents.jsonl` | a document with its sources and the number of its sections, followed by that many lines, a section each |
| `chunks.jsonl` | a chunk; documents in the order of `documents.jsonl`, ordinals ascending |
| `vectors.jsonl` | the vector of the chunk on the same line of `chunks.jsonl`: little-endian float32 in base64 |

Base64 holds a vector bit for bit in 2 kB where decimal numbers take 4 kB. No settings, no keys, nothing that can be executed.
"""

from rag_engine.archive.exporting import export
from rag_engine.archive.importing import import_
from rag_engine.archive.wire import Contents, Limits

__all__ = ["Contents", "Limits", "export", "import_"]
