"""Which knowledge bases a place may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.errors import UnknownKnowledgeBase
from rag_engine.storage.names import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ports import Catalog
    from rag_engine.types import KnowledgeBase, KnowledgeBaseId

DEFAULT_KNOWLEDGE_BASE = "default"
"""Where files go when nobody names a knowledge base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The knowledge bases a question may look in, and what a person calls them."""

    knowledge_bases: frozenset[KnowledgeBaseId]
    name: str


async def scope(catalog: Catalog, names: Sequence[str] = ()) -> Scope:
    """The knowledge bases of these names, or all of them: what the operator at the console may see.

    Raises `UnknownKnowledgeBase` for a name nobody uses, and when there is nothing to look in yet.
    """
    known = await catalog.knowledge_bases()
    chosen = [find(known, name) for name in names] if names else known
    if not chosen:
        raise UnknownKnowledgeBase("There is nothing to look in yet: add files with `footnote add PATH`.")
    return Scope(
        knowledge_bases=frozenset(knowledge_base.id for knowledge_base in chosen),
        name=", ".join(dict.fromkeys(knowledge_base.name for knowledge_base in chosen)),
    )


def find(known: Sequence[KnowledgeBase], name: str) -> KnowledgeBase:
    """The knowledge base of that name, upper and lower case alike."""
    for knowledge_base in known:
        if folded(knowledge_base.name) == folded(name):
            return knowledge_base
    names = ", ".join(knowledge_base.name for knowledge_base in known) or "none yet"
    raise UnknownKnowledgeBase(f"There is no knowledge base {name!r}; there are: {names}.")
