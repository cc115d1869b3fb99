from __future__ import annotations

import pytest

from rag_engine.types import KnowledgeBaseId, Query, Search


def test_a_search_names_what_it_may_see() -> None:
    with pytest.raises(ValueError, match="knowledge bases"):
        Search(leg="lexical", knowledge_bases=frozenset(), limit=5, tokens=("leave",))
    with pytest.raises(TypeError, match="knowledge_bases"):
        Search(leg="lexical", limit=5, tokens=("leave",))  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="knowledge_bases"):
        Query(text="leave")  # pyright: ignore[reportCallIssue]


def test_a_search_asks_for_hits_and_by_meaning_for_a_vector() -> None:
    here = frozenset({KnowledgeBaseId("kb")})
    with pytest.raises(ValueError, match="at least one hit"):
        Search(leg="lexical", knowledge_bases=here, limit=0)
    with pytest.raises(ValueError, match="vector"):
        Search(leg="dense", knowledge_bases=here, limit=1)
