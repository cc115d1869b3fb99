from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rag_engine.errors import RagError, UserError
from rag_engine.metadata.verified_answer import (
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    MEDIA_TYPE,
    VerifiedAnswer,
    VerifiedSource,
    verified_id,
    verified_uri,
)
from rag_engine.types import Document, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.ingestion.ingestion import Ingestion
    from rag_engine.metadata.verified_answer import Verifier
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

_DAY: Final = 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedEditor:
    """`review_days`: days until the next check; 0: never."""

    ingestion: Ingestion
    catalog: SqliteCatalog
    review_days: float = 180.0
    clock: Callable[[], float] = time.time

    async def save(
        self,
        knowledge_base: KnowledgeBaseId,
        *,
        question: str,
        answer: str,
        author: Verifier,
        uri: str = "",
        sources: Sequence[DocumentRecord] = (),
    ) -> VerifiedAnswer:
        """Replaces the one to the same question. Raises `UserError`, and `Unavailable`: save it again."""
        question, answer = " ".join(question.split()), answer.strip()
        _check(question, answer)
        now = self.clock()
        saved = VerifiedAnswer(
            id=verified_id(knowledge_base, question),
            knowledge_base=knowledge_base,
            question=question,
            answer=answer,
            author=author,
            written_at=now,
            review_at=self._review_at(now),
            uri=uri,
            sources=tuple(
                VerifiedSource(
                    document=each.document.id, digest=each.document.digest, title=each.document.title
                )
                for each in sources
            ),
        )
        await self.catalog.verified.save(saved)
        await self._write(saved)
        return saved

    async def confirm(self, answer: VerifiedAnswer) -> None:
        await self.catalog.verified.confirm(answer.id, review_at=self._review_at(self.clock()))

    async def change(self, answer: VerifiedAnswer, text: str, *, author: Verifier) -> VerifiedAnswer:
        """Its sources as they are now."""
        _check(answer.question, text.strip())
        now = self.clock()
        changed = replace(
            answer, answer=text.strip(), author=author, written_at=now, review_at=self._review_at(now)
        )
        await self.catalog.verified.save(changed)
        await self.catalog.verified.confirm(answer.id, review_at=changed.review_at)
        await self._write(changed)
        return changed

    async def revoke(self, answer: VerifiedAnswer) -> None:
        await self.catalog.verified.remove(answer.id)
        await self.ingestion.forget(answer.knowledge_base, answer.id)

    async def finish_writing(self) -> None:
        """After a kill, or without the index."""
        bases = [base.id for base in await self.catalog.knowledge_bases()]
        for answer in await self.catalog.verified.read(bases):
            record = await self.catalog.find(answer.knowledge_base, uri=verified_uri(answer.id))
            if record is None or record.state != "ready" or record.document.digest != _digest(answer):
                try:
                    await self._write(answer)
                except RagError as error:
                    _log.warning("a verified answer is not searchable yet: %s", error)

    async def _write(self, answer: VerifiedAnswer) -> None:
        document = Document(
            id=answer.id,
            knowledge_base=answer.knowledge_base,
            title=answer.question,
            uri=verified_uri(answer.id),
            media_type=MEDIA_TYPE,
            digest=_digest(answer),
            size=len(answer.answer.encode("utf-8", "replace")),
        )
        await self.ingestion.write(document, [Section(text=answer.answer, headings=(answer.question,))])

    def _review_at(self, now: float) -> float:
        return now + self.review_days * _DAY if self.review_days else 0.0


def _check(question: str, answer: str) -> None:
    if not question or not answer:
        raise UserError("A verified answer needs a question and an answer.")
    if len(question) > LONGEST_QUESTION:
        raise UserError(
            f"The question of a verified answer may have {LONGEST_QUESTION:,} characters: shorten it."
        )
    if len(answer) > LONGEST_ANSWER:
        raise UserError(
            f"A verified answer may have {LONGEST_ANSWER:,} characters: shorten it, or add the text as a file."
        )


def _digest(answer: VerifiedAnswer) -> str:
    text = f"{answer.question}\x1f{answer.answer}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
