from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import deque
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_engine import citations
from rag_engine.citations.answer_corrections import GENERAL, UNSUPPORTED
from rag_engine.errors import ContentFiltered, ModelUnavailable, RagError
from rag_engine.generation.closest import closest_titles
from rag_engine.generation.phrases import not_found, phrase
from rag_engine.text.language import question_language
from rag_engine.types import Delta, Prompt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence, Set
    from contextlib import AbstractAsyncContextManager

    from rag_engine.ports import Answerer, Embedder, LanguageModel
    from rag_engine.tables.types import ComputedAnswer
    from rag_engine.types import AnswerRequest, Citation, Hit

    Refit = Callable[[LanguageModel], Awaitable[Prompt]]


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FEWEST_TOKENS = 2048
_CHARACTERS_A_TOKEN = 16  # includes hidden reasoning
_LONGEST_SECONDS = 1800.0
_BEGINNING_SECONDS = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedReply:
    text: str
    citations: tuple[Citation, ...]
    model: str
    prompt: Prompt
    notices: tuple[str, ...]
    fallbacks: tuple[str, ...]
    seconds: Mapping[str, float]
    """To the first text, and for the citations."""
    grounded: bool = False
    support_ratio: float = 0.0
    unsupported: tuple[str, ...] = ()
    citing: Mapping[str, object] = field(default_factory=dict[str, object])
    """How each marker was resolved, for the trace."""
    language: str = ""
    repeatable: bool = True
    computed: ComputedAnswer | None = None


@dataclass(slots=True, kw_only=True)
class _ModelChain:
    models: deque[LanguageModel]
    deadline: float
    failures: list[RagError] = field(default_factory=list[RagError])
    answered: _ReplyStream | None = None

    def next(self) -> tuple[LanguageModel, float]:
        share = max(self.deadline - time.monotonic(), 0.0) / len(self.models)
        return self.models.popleft(), share

    def failed(self, model: LanguageModel, error: RagError) -> None:
        """After `ContentFiltered` no other model is tried: it may have no filter."""
        _log.warning("the language model %s did not answer: %s", model.name, error)
        self.failures.append(error)
        if isinstance(error, ContentFiltered):
            self.models.clear()


@dataclass(slots=True, kw_only=True)
class _ReplyStream:
    name: str
    prompt: Prompt
    is_quoted: bool = False
    is_summary: bool = False
    stream: citations.MarkerStream
    first_text_at: float = 0.0
    cut: RagError | None = None

    async def deltas(self, opening: AbstractAsyncContextManager[AsyncIterator[str]]) -> AsyncGenerator[Delta]:
        """Raises errors before the first text; keeps later ones in `cut`."""
        try:
            async with opening as pieces:
                async for piece in bounded(pieces, self.prompt):
                    if shown := self.stream.feed(_CONTROL.sub("", piece)):
                        self.first_text_at = self.first_text_at or time.perf_counter()
                        yield Delta(text=shown)
        except RagError as error:
            if not self.first_text_at:
                raise
            self.cut = error
        if held := self.stream.close():
            yield Delta(text=held)
        if not self.stream.draft.text.strip():
            raise ModelUnavailable(f"The language model {self.name} answered nothing.", backend=self.name)


async def reply(
    prompt: Prompt,
    request: AnswerRequest,
    *,
    models: Sequence[LanguageModel],
    answerer: Answerer,
    embedder: Embedder,
    thinkers: set[str],
    seconds: float = _BEGINNING_SECONDS,
    refit: Refit | None = None,
    failures: Sequence[RagError] = (),
    in_place_of_quotes: str = "",
) -> AsyncGenerator[Delta | GeneratedReply]:
    """Yields deltas that only append text, then one `GeneratedReply`.

    If a model fails before its first text, the next one answers, with a notice; if later, its text is marked
    as cut. The answerer replies if no model begins within `seconds`, or if the prompt lacks passages it
    needs. `in_place_of_quotes` is said if every model failed. Raises the answerer's errors before its first text.
    """
    chain = _ModelChain(
        models=deque(models if prompt.passages or not prompt.needs_passages else ()),
        deadline=time.monotonic() + seconds,
        failures=[*failures],
    )
    started = time.perf_counter()
    async with aclosing(_of_models(chain, prompt, thinkers, refit)) as deltas:
        async for delta in deltas:
            yield delta
    attempt = chain.answered
    if attempt is None:
        attempt = _quotation(answerer, prompt, request)
        says = bool(in_place_of_quotes and chain.failures)
        opening = nullcontext(_once(in_place_of_quotes)) if says else answerer.answer(request)
        async with aclosing(attempt.deltas(opening)) as deltas:
            async for delta in deltas:
                yield delta
    yield await _cited(attempt, request, chain.failures, embedder=embedder, started=started)


async def _of_models(
    chain: _ModelChain, prompt: Prompt, thinkers: set[str], refit: Refit | None
) -> AsyncGenerator[Delta]:
    while chain.models:
        model, share = chain.next()
        try:
            sent = prompt if refit is None or not chain.failures else await refit(model)
            stream = citations.MarkerStream(sent.passages, reasoning_first=model.name in thinkers)
            attempt = _ReplyStream(name=model.name, prompt=sent, stream=stream)
            opening = _begun(model.stream(sent, task="answer"), share)
            async with aclosing(attempt.deltas(opening)) as deltas:
                async for delta in deltas:
                    yield delta
        except RagError as error:
            chain.failed(model, error)
            continue
        if stream.draft.reasoning_shown:
            thinkers.add(model.name)
        chain.answered = attempt
        return


def _quotation(answerer: Answerer, prompt: Prompt, request: AnswerRequest) -> _ReplyStream:
    if request.passages != prompt.passages:
        prompt = Prompt(messages=(), passages=request.passages)
    stream = citations.MarkerStream(request.passages)
    return _ReplyStream(
        name=answerer.name,
        prompt=prompt,
        is_quoted=True,
        is_summary=request.summary is not None,
        stream=stream,
    )


async def _cited(
    attempt: _ReplyStream,
    request: AnswerRequest,
    failures: Sequence[RagError],
    *,
    embedder: Embedder,
    started: float,
) -> GeneratedReply:
    ended = time.perf_counter()
    draft, prompt = attempt.stream.draft, attempt.prompt
    # The answerer cites all quotes.
    passages = () if attempt.is_quoted and not draft.marks else prompt.passages
    cited = await citations.finish(
        draft, passages, question=request.question, embedder=embedder, check=_check(attempt, request)
    )
    language = question_language(request.question, chosen=request.language)
    if cited.is_invented:
        text = request.empty_answer or _not_found(request, passages, language)
        cited = replace(cited, text=text, citations=(), signs=frozenset(), unsupported=())
    return GeneratedReply(
        text=cited.text,
        citations=cited.citations,
        model=attempt.name,
        prompt=prompt,
        notices=(
            *_signs_explained(cited.signs, language),
            *_failure_notice(attempt, failures, is_cited=bool(cited.citations)),
            *([f"The answer broke off: {attempt.cut}"] if attempt.cut else ()),
        ),
        fallbacks=_fallbacks(attempt, failures, cited),
        seconds={
            "first_text": (attempt.first_text_at or ended) - started,
            "citations": time.perf_counter() - ended,
        },
        grounded=cited.grounded,
        support_ratio=cited.support_ratio,
        unsupported=cited.unsupported,
        citing=cited.report,
        language=language if cited.is_invented else _language(attempt, request),
    )


def _not_found(request: AnswerRequest, passages: Sequence[Hit], language: str) -> str:
    return not_found(
        language=language, scope=request.scope, titles=closest_titles(passages, language=language)
    )


def _language(attempt: _ReplyStream, request: AnswerRequest) -> str:
    if request.summary is not None:
        return request.language
    return question_language(request.question, chosen=request.language) if attempt.is_quoted else ""


def _fallbacks(
    attempt: _ReplyStream, failures: Sequence[RagError], cited: citations.Cited
) -> tuple[str, ...]:
    return (
        *("model_unavailable" for _ in failures),
        *(["stream_cut"] if attempt.cut else ()),
        *cited.fallbacks,
        *(["answer_unsupported"] if cited.is_invented else ()),
    )


def _signs_explained(signs: Set[str], language: str) -> tuple[str, ...]:
    unsupported = [phrase("unsupported_marked", language=language)] if UNSUPPORTED in signs else []
    general = [phrase("general_marked", language=language)] if GENERAL in signs else []
    return (*unsupported, *general)


def _check(attempt: _ReplyStream, request: AnswerRequest) -> citations.Check:
    if attempt.is_quoted:
        return "none"
    if request.summary is not None:
        return "facts"
    return "strict" if attempt.prompt.needs_passages else "blended"


def _failure_notice(
    attempt: _ReplyStream, failures: Sequence[RagError], *, is_cited: bool
) -> tuple[str, ...]:
    if not failures:
        return ()
    if not attempt.is_quoted:
        return (f"{failures[0]} {attempt.name} answered instead.",)
    if not is_cited:
        return (str(failures[0]),)
    quoted = (
        "The most telling sentences are quoted instead of a summary."
        if attempt.is_summary
        else "The best passages are quoted instead."
    )
    return (f"{failures[0]} {quoted}",)


async def _once(text: str) -> AsyncGenerator[str]:
    yield text


@asynccontextmanager
async def _begun(
    opening: AbstractAsyncContextManager[AsyncIterator[str]], seconds: float
) -> AsyncGenerator[AsyncIterator[str]]:
    async with AsyncExitStack() as stack:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                pieces = await stack.enter_async_context(opening)
                first = await anext(pieces, "")
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ModelUnavailable(
                "The language model takes too long to answer; try again in a moment.",
                backend="model",
                reason="timeout",
            ) from error
        yield _chained(first, pieces)


async def _chained(first: str, rest: AsyncIterator[str]) -> AsyncGenerator[str]:
    yield first
    async for piece in rest:
        yield piece


async def bounded(pieces: AsyncIterator[str], prompt: Prompt) -> AsyncGenerator[str]:
    """Raises `ModelUnavailable` far beyond the token limit."""
    most = max(prompt.reply_tokens, _FEWEST_TOKENS) * _CHARACTERS_A_TOKEN
    ends = time.monotonic() + _LONGEST_SECONDS
    written = 0
    async for piece in pieces:
        yield piece
        written += len(piece)
        if written > most or time.monotonic() > ends:
            raise ModelUnavailable("The language model wrote far more than it was allowed to.")
