from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rag_engine.types import Matrix, Side


def well_formed(text: str) -> str:
    """Tokenizers and JSON reject lone surrogates."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unit_rows(rows: Matrix) -> Matrix:
    """As float32; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefixes:
    query: str = ""
    passage: str = ""

    def of(self, side: Side) -> str:
        return self.query if side == "query" else self.passage


_BGE_ENGLISH = Prefixes(query="Represent this sentence for searching relevant passages: ")
_BGE_CHINESE = Prefixes(query="为这个句子生成表示以用于检索相关文章：")
_SEARCH = Prefixes(query="search_query: ", passage="search_document: ")
_E5_INSTRUCT = Prefixes(
    query="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

_BY_NAME: tuple[tuple[str, Prefixes], ...] = (
    ("multilingual-e5-large-instruct", _E5_INSTRUCT),
    ("e5-mistral-7b-instruct", _E5_INSTRUCT),
    ("multilingual-e5-", Prefixes(query="query: ", passage="passage: ")),
    ("e5-", Prefixes(query="query: ", passage="passage: ")),
    ("bge-small-en", _BGE_ENGLISH),
    ("bge-base-en", _BGE_ENGLISH),
    ("bge-large-en", _BGE_ENGLISH),
    ("bge-small-zh", _BGE_CHINESE),
    ("bge-base-zh", _BGE_CHINESE),
    ("bge-large-zh", _BGE_CHINESE),
    ("nomic-embed-text", _SEARCH),
    ("modernbert-embed", _SEARCH),
    ("mxbai-embed-large", _BGE_ENGLISH),
    ("snowflake-arctic-embed-l-v2", Prefixes(query="query: ")),
    ("snowflake-arctic-embed-m-v2", Prefixes(query="query: ")),
    ("snowflake-arctic-embed", _BGE_ENGLISH),
)
"""Start of the model name (without organisation), from model cards; the first match counts."""


def known_prefixes(model: str) -> Prefixes | None:
    name = model.rstrip("/").rpartition("/")[2].lower()
    return next((prefixes for start, prefixes in _BY_NAME if name.startswith(start)), None)


def prefixes_of(trained: Prefixes, *, query: str | None, passage: str | None) -> Prefixes:
    return Prefixes(
        query=trained.query if query is None else query,
        passage=trained.passage if passage is None else passage,
    )


def own_prefix(prefixes: Prefixes, trained: Prefixes) -> str:
    if prefixes.passage == trained.passage:
        return ""
    return "+" + hashlib.sha256(prefixes.passage.encode()).hexdigest()[:8]
