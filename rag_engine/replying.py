"""The reply to a prompt: one model after the other until one answers, its markers made citations while it streams."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_engine import citations
from rag_engine.errors import ModelUnavailable, RagError
from rag_engine.types import Delta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence

    from rag_engine.ports import Embedder, LanguageModel
    from rag_engine.types import Citation, Prompt


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""A model's text is text: what a terminal would obey is left out."""
_FEWEST_TOKENS = 2048
_CHARACTERS_A_TOKEN = 16  # reasoning included, which counts as written but is not shown
_LONGEST_SECONDS = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was replied in the end."""

    text: str
    citations: tuple[Citation, ...]
    model: str
    notices: tuple[str, ...]
    fallbacks: tuple[str, ...]
    seconds: Mapping[str, float]
    """Seconds to the first text, and of what came after the last one."""
    citing: Mapping[str, object] = field(default_factory=dict[str, object])
    """What became of the markers, for the trace."""


@dataclass(slots=True, kw_only=True)
class _Attempts:
    """What had to be done without so far."""

    notices: list[str] = field(default_factory=list[str])
    fallbacks: list[str] = field(default_factory=list[str])

    def note(self, fallback: str, notice: str) -> None:
        self.fallbacks.append(fallback)
        self.notices.append(notice)


async def reply(
    prompt: Prompt, *, models: Sequence[LanguageModel], embedder: Embedder, thinkers: set[str]
) -> AsyncGenerator[Delta | Told]:
    """Deltas that only grow the text, then what was told.

    A model that fails before its first text gives way to the next, and a notice says so; one that fails later leaves the
    text so far, marked as cut. Where passages are needed and there are none, only the last model is asked: it says that nothing
    was found, and invents nothing. `thinkers` are the names of models found to begin with reasoning that they do not announce; a newly found one is
    added, so that its next reply is held back until the reasoning ends. Raises what the last model raises before its first
    text.
    """
    attempts = _Attempts()
    candidates = models if prompt.passages or not prompt.needs_passages else models[-1:]
    started = time.perf_counter()
    for model, is_last in zip(candidates, [False] * (len(candidates) - 1) + [True], strict=True):
        stream = citations.MarkerStream(prompt.passages, reasoning_first=model.name in thinkers)
        first_text = 0.0
        try:
            async with model.stream(prompt, task="answer") as pieces:
                async for piece in bounded(pieces, prompt):
                    shown = stream.feed(_CONTROL.sub("", piece))
                    if shown:
                        first_text = first_text or time.perf_counter()
                        yield Delta(text=shown)
            if held := stream.close():
                yield Delta(text=held)
            if not stream.draft.text.strip():
                raise ModelUnavailable(
                    f"The language model {model.name} answered nothing.", backend=model.name
                )
        except RagError as error:
            if not first_text and is_last:
                raise
            if not first_text:
                attempts.note("model_unavailable", f"{error} The best passages are quoted instead.")
                continue
            attempts.note("stream_cut", f"The answer broke off: {error}")
            if held := stream.close():
                yield Delta(text=held)
        if stream.draft.reasoning_shown:
            thinkers.add(model.name)
        ended = time.perf_counter()
        # The last model quotes and cites by itself: where it cites nothing, it found nothing.
        passages = () if is_last and not stream.draft.marks else prompt.passages
        cited = await citations.finish(stream.draft, passages, question=prompt.question, embedder=embedder)
        yield Told(
            text=cited.text,
            citations=cited.citations,
            model=model.name,
            notices=tuple(attempts.notices),
            fallbacks=(*attempts.fallbacks, *cited.fallbacks),
            seconds={
                "first_text": (first_text or ended) - started,
                "citations": time.perf_counter() - ended,
            },
            citing=cited.report,
        )
        return


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
