from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.errors import RagError, first_error
from rag_engine.generation.phrases import phrase
from rag_engine.retrieval.context_width import MOST_PASSAGES, LoadedDocument, current, widened
from rag_engine.text import tokens
from rag_engine.text.language import question_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.generation.phrases import Phrase
    from rag_engine.pipeline import Inquiry
    from rag_engine.ports import IndexContents, LanguageModel, Ports, Step
    from rag_engine.retrieval.context_width import Context
    from rag_engine.types import Chunk, DocumentId, Hit

PHASE = "prompt"
POSITION = 7
STATUS = ""

_WRAPPING = '<passage id="200" title="" section="" place="">\n\n</passage>\n'
_FEWEST_TOKENS = 48

_log = logging.getLogger(__name__)


class Settings(BaseModel):
    """Gives a language model whole documents if they fit, else more passages than the best."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """False: the best passages alone."""
    tokens: int = Field(default=12_000, ge=0)
    """The most tokens of a question's passages; limits its cost."""
    window_ratio: float = Field(default=0.4, gt=0, le=1)
    """The most of the window that passages take."""
    weak: float = Field(default=0.5, ge=0, le=1)
    """Further hits with less than this share of the best score are left out."""
    whole_ratio: float = Field(default=0.6, gt=0, le=1)
    """The most of the window that passages take if whole files are asked for (`full:yes`)."""
    timeout: float = Field(default=3.0, gt=0)
    """Time limit for reading the documents."""


def build(settings: Settings, ports: Ports) -> Step:
    return partial(widen, settings=settings, model=ports.model, contents=ports.contents)


async def widen(
    inquiry: Inquiry, *, settings: Settings, model: LanguageModel | None, contents: IndexContents | None
) -> Inquiry:
    inquiry = replace(inquiry, context=())
    best = inquiry.hits[: inquiry.query.limit]
    asks_for_all = inquiry.query.options.whole_files
    if asks_for_all and model is None:
        return _noticing(inquiry, "full_needs_model")
    is_wanted = asks_for_all or (settings.enabled and not inquiry.query.exact_limit)
    if model is None or contents is None or not best or not is_wanted or inquiry.route == "chat":
        return inquiry
    room = _room(settings, model.context_tokens, asks_for_all=asks_for_all)
    await asyncio.to_thread(tokens.prepare)
    weights = await asyncio.to_thread(lambda: {hit.chunk.id: _weight(hit.chunk) for hit in best})
    if sum(weights.values()) >= room:
        return inquiry
    try:
        async with asyncio.timeout(settings.timeout):
            documents = await _loaded(best, contents, most=min(room // _FEWEST_TOKENS, MOST_PASSAGES))
    except (RagError, TimeoutError) as error:
        _log.warning("the documents of the best passages could not be read: %s", error or "it took too long")
        return inquiry.falling_back("context_unavailable")
    found, best = best, current(best, documents)
    read = {hit.chunk.id for hit in best}
    changed = {hit.chunk.document for hit in found if hit.chunk.id not in read}
    if changed:
        further = tuple(hit for hit in inquiry.further if hit.chunk.document not in changed)
        inquiry = replace(inquiry, hits=best, further=further).noting(changed_documents=sorted(changed))
    widen_by = partial(widened, room=room, weigh=_weight, weights=weights, weak=settings.weak)
    context = await asyncio.to_thread(widen_by, best, inquiry.further, documents)
    if asks_for_all:
        inquiry = _saying_what_was_cut(inquiry, best, documents, context)
    if context is None:
        return inquiry
    return replace(inquiry, context=context.hits).noting(
        passages_added=len(context.hits) - len(best),
        whole_documents=list(context.whole),
        weak_left_out=context.left_out,
    )


def _room(settings: Settings, window: int, *, asks_for_all: bool) -> int:
    if asks_for_all:
        return int(window * settings.whole_ratio)
    return min(settings.tokens, int(window * settings.window_ratio))


def _noticing(inquiry: Inquiry, name: Phrase, **values: str) -> Inquiry:
    language = question_language(inquiry.query.text, chosen=inquiry.query.language)
    return replace(inquiry, notices=(*inquiry.notices, phrase(name, language=language, **values)))


def _saying_what_was_cut(
    inquiry: Inquiry,
    best: Sequence[Hit],
    documents: Mapping[DocumentId, LoadedDocument],
    context: Context | None,
) -> Inquiry:
    taken = {hit.chunk.id for hit in (context.hits if context else best)}
    cut = {
        hit.chunk.title: None
        for hit in best
        if not documents[hit.chunk.document].is_whole
        or any(chunk.id not in taken for chunk in documents[hit.chunk.document].chunks)
    }
    return _noticing(inquiry, "full_cut", titles=", ".join(cut)) if cut else inquiry


def _weight(chunk: Chunk) -> int:
    return tokens.count("\n".join((_WRAPPING, chunk.title, *chunk.headings, chunk.anchor, chunk.text)))


async def _loaded(
    best: Sequence[Hit], contents: IndexContents, *, most: int
) -> Mapping[DocumentId, LoadedDocument]:
    names = list(dict.fromkeys(hit.chunk.document for hit in best))
    hits = {name: [hit.chunk for hit in best if hit.chunk.document == name] for name in names}
    with first_error():
        async with asyncio.TaskGroup() as group:
            reading = {name: group.create_task(_read(hits[name], contents, most=most)) for name in names}
    return {name: task.result() for name, task in reading.items()}


async def _read(found: Sequence[Chunk], contents: IndexContents, *, most: int) -> LoadedDocument:
    place = found[0].knowledge_base, found[0].document
    if max(chunk.ordinal for chunk in found) < most:
        chunks = await contents.chunks(*place, limit=most + 1)
        if len(chunks) <= most:
            return LoadedDocument(chunks=tuple(chunks), is_whole=bool(chunks))
    around: dict[int, Chunk] = {}
    for chunk in found:
        start = max(chunk.ordinal - 1, 0)
        near = await contents.chunks(*place, limit=chunk.ordinal + 2 - start, start=start)
        around.update((each.ordinal, each) for each in near)
    return LoadedDocument(chunks=tuple(around[ordinal] for ordinal in sorted(around)), is_whole=False)
