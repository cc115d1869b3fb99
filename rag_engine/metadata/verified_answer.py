from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from rag_engine.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rag_engine.types import Hit, KnowledgeBaseId

MEDIA_TYPE: Final = "text/x-verified-answer"
LONGEST_QUESTION: Final = 500
LONGEST_ANSWER: Final = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSource:
    """A document that the answer rests on; `digest` is of the bytes when it was verified."""

    document: DocumentId
    digest: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """A chat's person, with the place where they verified; all empty but the name for the operator."""

    name: str
    platform: str = ""
    workspace: str = ""
    channel: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAnswer:
    """`id` is its document's. Times are Unix seconds; `review_at` 0: no review."""

    id: DocumentId
    knowledge_base: KnowledgeBaseId
    question: str
    answer: str
    author: Verifier
    written_at: float
    review_at: float = 0.0
    uri: str = ""
    """The permalink of the message with the answer."""
    sources: tuple[VerifiedSource, ...] = ()
    changed: tuple[str, ...] = ()
    """Titles of sources that changed or are gone."""

    def is_outdated(self, now: float) -> bool:
        return bool(self.changed) or 0 < self.review_at <= now


class VerifiedAnswers(Protocol):
    async def read(self, knowledge_bases: Collection[KnowledgeBaseId]) -> Sequence[VerifiedAnswer]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedMatch:
    answer: VerifiedAnswer
    hit: Hit


def verified_uri(identity: DocumentId) -> str:
    return f"verified:{identity}"


def verified_id(knowledge_base: KnowledgeBaseId, question: str) -> DocumentId:
    """The same words give the same id, so that a repeated command changes its answer."""
    words = " ".join(question.casefold().split())
    named = f"verified\x1f{knowledge_base}\x1f{words}"
    return DocumentId(hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32])
