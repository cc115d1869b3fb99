"""The reply to a prompt: one model after the other until one answers, its markers made citations while it streams."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import deque
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_engine import citations
from rag_engine.errors import ContentFiltered, ModelUnavailable, RagError
from rag_engine.types import Delta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.types import Citation, Prompt

    Refit = Callable[[LanguageModel], Awaitable[Prompt]]


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""A model's text is text: what a terminal would obey is left out."""
_FEWEST_TOKENS = 2048
_CHARACTERS_A_TOKEN = 16  # reasoning included, which counts as written but is not shown
_LONGEST_SECONDS = 1800.0
_BEGINNING_SECONDS = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was replied in the end."""

    text: str
    citations: tuple[Citation, ...]
    model: str
    prompt: Prompt
    """What the model was given in the end."""
    notices: tuple[str, ...]
    fallbacks: tuple[str, ...]
    seconds: Mapping[str, float]
    """Seconds to the first text, and of what came after the last one."""
    citing: Mapping[str, object] = field(default_factory=dict[str, object])
    """What became of the markers, for the trace."""


@dataclass(slots=True, kw_only=True)
class _Chain:
    """The models that have not been asked yet, and what came of the others. The last one quotes, and needs no server."""

    models: deque[LanguageModel]
    ends: float
    """When a reply must have begun, by `time.monotonic`."""
    failures: list[RagError] = field(default_factory=list[RagError])

    def next(self) -> tuple[LanguageModel, float | None]:
        """The model to ask now, and its share of the time that is left; the last one has all it takes."""
        others = len(self.models) - 1
        share = max(self.ends - time.monotonic(), 0.0) / others if others else None
        return self.models.popleft(), share

    def failed(self, model: LanguageModel, error: RagError) -> None:
        """The model has not answered. What a filter stopped is no question for a model that may have none."""
        _log.warning("the language model %s did not answer: %s", model.name, error)
        self.failures.append(error)
        if isinstance(error, ContentFiltered):
            self.models = deque([self.models[-1]])

    def notices(self, model: LanguageModel, *, quotes: bool) -> tuple[str, ...]:
        """What a person is told of it: why the first one did not answer, and who did, if anybody."""
        if not self.failures:
            return ()
        if self.models:
            return (f"{self.failures[0]} {model.name} answered instead.",)
        return (f"{self.failures[0]}{' The best passages are quoted instead.' if quotes else ''}",)


@dataclass(slots=True, kw_only=True)
class _Telling:
    """The reply of one model, on its way."""

    model: LanguageModel
    prompt: Prompt
    refit: Refit | None
    """Makes the prompt anew for this model."""
    reasoning_first: bool
    stream: citations.MarkerStream = field(init=False)
    first_text: float = 0.0
    """When there was some, by `time.perf_counter`; 0 before that."""

    async def deltas(self, seconds: float | None) -> AsyncGenerator[Delta]:
        """The text as it grows. Raises what the model raises, and `ModelUnavailable` when it does not begin in time."""
        if self.refit is not None:
            self.prompt = await self.refit(self.model)
        self.stream = citations.MarkerStream(self.prompt.passages, reasoning_first=self.reasoning_first)
        async with _begun(self.model, self.prompt, seconds) as pieces:
            async for piece in bounded(pieces, self.prompt):
                if shown := self.stream.feed(_CONTROL.sub("", piece)):
                    self.first_text = self.first_text or time.perf_counter()
                    yield Delta(text=shown)
        if held := self.stream.close():
            yield Delta(text=held)
        if not self.stream.draft.text.strip():
            raise ModelUnavailable(
                f"The language model {self.model.name} answered nothing.", backend=self.model.name
            )


async def reply(
    prompt: Prompt,
    *,
    models: Sequence[LanguageModel],
    embedder: Embedder,
    thinkers: set[str],
    seconds: float = _BEGINNING_SECONDS,
    refit: Refit | None = None,
    last: Prompt | None = None,
    failures: Sequence[RagError] = (),
) -> AsyncGenerator[Delta | Told]:
    """Deltas that only grow the text, then what was told.

    A model that fails before its first text gives way to the next, and a notice says so; one that fails later leaves the
    text so far, marked as cut. Within `seconds` one has begun, or the last one is asked, which quotes. Where passages are
    needed and there are none, only the last model is asked: it says that nothing was found, and invents nothing. `refit`
    makes the prompt for a further model, whose window may be smaller, and `last` is that of the last one where it is another;
    `failures` are those of models before the first one here. `thinkers` are the names of models found to begin with
    reasoning that they do not announce; a newly found one is added, so that its next reply is held back until the reasoning
    ends. Raises what the last model raises before its first text.
    """
    candidates = models if prompt.passages or not prompt.needs_passages else models[-1:]
    chain = _Chain(models=deque(candidates), ends=time.monotonic() + seconds, failures=[*failures])
    started = time.perf_counter()
    cut: RagError | None = None
    while True:
        model, share = chain.next()
        telling = _Telling(
            model=model,
            prompt=prompt if chain.models or last is None else last,
            refit=refit if chain.failures and chain.models else None,
            reasoning_first=model.name in thinkers,
        )
        try:
            async with aclosing(telling.deltas(share)) as deltas:
                async for delta in deltas:
                    yield delta
        except RagError as error:
            if not telling.first_text:
                if not chain.models:
                    raise
                chain.failed(model, error)
                continue
            cut = error
            if held := telling.stream.close():
                yield Delta(text=held)
        if telling.stream.draft.reasoning_shown:
            thinkers.add(model.name)
        yield await _told(telling, chain, cut, embedder=embedder, started=started)
        return


async def _told(
    telling: _Telling, chain: _Chain, cut: RagError | None, *, embedder: Embedder, started: float
) -> Told:
    """The reply as a whole: cited, and with what had to be done without."""
    ended = time.perf_counter()
    draft, prompt = telling.stream.draft, telling.prompt
    # The last model quotes and cites by itself: where it cites nothing, it found nothing.
    passages = prompt.passages if chain.models or draft.marks else ()
    cited = await citations.finish(draft, passages, question=prompt.question, embedder=embedder)
    return Told(
        text=cited.text,
        citations=cited.citations,
        model=telling.model.name,
        prompt=prompt,
        notices=(
            *chain.notices(telling.model, quotes=bool(cited.citations)),
            *([f"The answer broke off: {cut}"] if cut else ()),
        ),
        fallbacks=(
            *("model_unavailable" for _ in chain.failures),
            *(["stream_cut"] if cut else ()),
            *cited.fallbacks,
        ),
        seconds={
            "first_text": (telling.first_text or ended) - started,
            "citations": time.perf_counter() - ended,
        },
        citing=cited.report,
    )


@asynccontextmanager
async def _begun(
    model: LanguageModel, prompt: Prompt, seconds: float | None
) -> AsyncGenerator[AsyncIterator[str]]:
    """The pieces of the reply, once there is the first one."""
    async with AsyncExitStack() as stack:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                pieces = await stack.enter_async_context(model.stream(prompt, task="answer"))
                first = await anext(pieces, "")
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ModelUnavailable(
                "The language model takes too long to answer; try again in a moment.",
                backend="model",
                reason="timeout",
            ) from error
        yield _from(first, pieces)


async def _from(first: str, rest: AsyncIterator[str]) -> AsyncGenerator[str]:
    yield first
    async for piece in rest:
        yield piece


async def bounded(pieces: AsyncIterator[str], prompt: Prompt) -> AsyncGenerator[str]:
    """The pieces, up to many times what the reply was allowed: a server that heeds no limit must not write for ever.

    Raises `ModelUnavailable` at the bound of characters or of time.
    """
    most = max(prompt.reply_tokens, _FEWEST_TOKENS) * _CHARACTERS_A_TOKEN
    ends = time.monotonic() + _LONGEST_SECONDS
    written = 0
    async for piece in pieces:
        yield piece
        written += len(piece)
        if written > most or time.monotonic() > ends:
            raise ModelUnavailable("The language model wrote far more than it was allowed to.")
