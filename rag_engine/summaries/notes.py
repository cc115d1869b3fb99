from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine import citations
from rag_engine.errors import ContentFiltered, ModelUnavailable, Unavailable
from rag_engine.generation import generate
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.types import DocumentId, Prompt
from rag_engine.wrappers.retry import Attempts, Backoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.text import tokens
    from rag_engine.types import Hit, Message

_MOST_KEPT = 1_000
_ATTEMPTS = 2
_LONGEST_PAUSE = 20.0
_FIRST_PAUSE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Between the pieces of text, the indices of the passages that the previous one cites."""

    pieces: tuple[tuple[str, tuple[int, ...]], ...]
    quoted: bool = False
    """The model refused; these are sentences of the passages."""

    def moved(self, by: Sequence[int]) -> Note:
        pieces = tuple((text, tuple(by[one] for one in cited)) for text, cited in self.pieces)
        return replace(self, pieces=pieces)

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(one for _, cited in self.pieces for one in cited))

    def text(self, numbers: dict[int, int]) -> str:
        said: list[str] = []
        for text, cited in self.pieces:
            said.append(neutral(text, keep_markers=False))
            known = (numbers[one] for one in cited if one in numbers)
            if marks := "".join(f"[{number}]" for number in dict.fromkeys(known)):
                said.append(f" {marks}")
        return "".join(said).strip()


class NoteCache:
    def __init__(self, *, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._notes: OrderedDict[bytes, Note] = OrderedDict()

    def get(self, key: bytes) -> Note | None:
        found = self._notes.get(key)
        if found is not None:
            self._notes.move_to_end(key)
        return found

    def put(self, key: bytes, note: Note) -> None:
        self._notes[key] = note
        self._notes.move_to_end(key)
        while len(self._notes) > self._most:
            self._notes.popitem(last=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteTaker:
    model: LanguageModel
    embedder: Embedder
    cache: NoteCache
    count: tokens.Count
    seconds: float
    """Limit of one call."""
    thinkers: set[str] = field(default_factory=set[str])
    """Names of models that start with unannounced reasoning; extended as they are found."""

    async def take(
        self, messages: tuple[Message, ...], passages: Sequence[Hit], *, reply_tokens: int
    ) -> Note:
        """The messages number the passages from 1.

        Raises the model's errors, and `ModelUnavailable` for no text or no time.
        """
        key = self._key(messages, reply_tokens)
        if (known := self.cache.get(key)) is not None:
            return known
        prompt = Prompt(
            messages=messages,
            passages=tuple(passages),
            tokens=messages_size(messages, self.count),
            reply_tokens=reply_tokens,
        )
        note = await self._asked(prompt)
        self.cache.put(key, note)
        return note

    async def _asked(self, prompt: Prompt) -> Note:
        attempts = Attempts(
            backoff=Backoff(first=_FIRST_PAUSE), most=_ATTEMPTS, longest_retry_after=_LONGEST_PAUSE
        )
        while True:
            try:
                return await self._once(prompt)
            except ContentFiltered:
                raise
            except Unavailable as error:
                await attempts.pause(error, retry_after=error.retry_after)

    async def _once(self, prompt: Prompt) -> Note:
        # Each passage counts as a document, so that a marker means exactly one passage.
        alone = [_alone(hit, number) for number, hit in enumerate(prompt.passages)]
        stream = citations.MarkerStream(alone, reasoning_first=self.model.name in self.thinkers)
        try:
            async with asyncio.timeout(self.seconds), self.model.stream(prompt, task="summary") as pieces:
                async for piece in generate.bounded(pieces, prompt):
                    stream.feed(piece)
        except TimeoutError as error:
            raise ModelUnavailable(
                "The language model takes too long to summarise; try again in a moment.",
                backend=self.model.name,
                reason="timeout",
            ) from error
        stream.close()
        draft = stream.draft
        if draft.reasoning_shown:
            self.thinkers.add(self.model.name)
        text, marks = draft.text, draft.marks
        if not text[draft.reasoning_shown :].strip():
            raise ModelUnavailable(
                f"The language model {self.model.name} answered nothing.", backend=self.model.name
            )
        if not marks:
            found = await citations.finish(draft, alone, question="", embedder=self.embedder)
            text, marks = found.text, found.marks
        return Note(pieces=_pieces(text, marks, start=draft.reasoning_shown))

    def _key(self, messages: Sequence[Message], reply_tokens: int) -> bytes:
        digest = hashlib.sha256(f"{self.model.name}\x1f{reply_tokens}".encode("utf-8", "surrogatepass"))
        for message in messages:
            digest.update(b"\x1f" + message.content.encode("utf-8", "surrogatepass"))
        return digest.digest()


def _alone(hit: Hit, number: int) -> Hit:
    return replace(hit, chunk=replace(hit.chunk, document=DocumentId(str(number))))


def _pieces(
    text: str, marks: Sequence[citations.Mark], *, start: int
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    pieces: list[tuple[str, tuple[int, ...]]] = []
    reached = start
    for mark in (each for each in marks if each.start >= start):
        before = text[reached : mark.start]
        reached = mark.end
        if pieces and not before.strip():
            said, cited = pieces.pop()
            pieces.append((said, (*cited, *mark.passages)))
        else:
            pieces.append((before, mark.passages))
    if text[reached:]:
        pieces.append((text[reached:], ()))
    return tuple(pieces)
