from __future__ import annotations

import re
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.prompts import without_markers
from rag_engine.types import Delta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.pipeline import Inquiry
    from rag_engine.types import AnswerEvent

_MARKER: Final = re.compile(r"[ \t]?\[\d{1,3}\]")
_BEGINNING: Final = re.compile(r"(?:[ \t]|[ \t]?\[\d{0,3})\Z")


async def uncited(
    events: AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply],
) -> AsyncGenerator[AnswerEvent | Inquiry | GeneratedReply]:
    """Only markers and sources are left out."""
    held = ""
    async with aclosing(events) as items:
        async for item in items:
            if isinstance(item, Delta):
                text = _MARKER.sub("", held + item.text)
                beginning = _BEGINNING.search(text)
                held = beginning[0] if beginning else ""
                if shown := text[: len(text) - len(held)]:
                    yield Delta(text=shown)
            elif isinstance(item, GeneratedReply):
                if held:
                    yield Delta(text=held)
                yield replace(item, text=without_markers(item.text), citations=())
            else:
                yield item
