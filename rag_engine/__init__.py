"""Files in, answers with citations out; nothing of chat platforms.

Public names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_engine.engine import Engine
    from rag_engine.errors import Misconfigured, RagError, Refused, Unavailable, UserError
    from rag_engine.ingestion.ingestion import Ingestion
    from rag_engine.retriever import Limits
    from rag_engine.types import (
        Answer,
        Blob,
        Chunk,
        Citation,
        Delta,
        Document,
        Hit,
        Ingested,
        KnowledgeBase,
        Query,
        Retrieval,
        Section,
        Stage,
        Turn,
    )

__all__ = [
    "Answer",
    "Blob",
    "Chunk",
    "Citation",
    "Delta",
    "Document",
    "Engine",
    "Hit",
    "Ingested",
    "Ingestion",
    "KnowledgeBase",
    "Limits",
    "Misconfigured",
    "Query",
    "RagError",
    "Refused",
    "Retrieval",
    "Section",
    "Stage",
    "Turn",
    "Unavailable",
    "UserError",
]

_MODULES = {
    "rag_engine.engine": ("Engine",),
    "rag_engine.errors": ("Misconfigured", "RagError", "Refused", "Unavailable", "UserError"),
    "rag_engine.ingestion.ingestion": ("Ingestion",),
    "rag_engine.retriever": ("Limits",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME.get(name, "rag_engine.types")), name)
