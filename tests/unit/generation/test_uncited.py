"""Answers for places that want no citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.generation.generate import GeneratedReply
from rag_engine.generation.uncited import uncited
from rag_engine.types import Citation, Delta, Prompt, Stage
from tests.unit.prompting import passage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag_engine.types import AnswerEvent

CHUNK = passage("Four weeks.").chunk
CITATION = Citation(
    number=1, title="a", anchor="", uri="", quote="Four weeks.", document=CHUNK.document, chunk=CHUNK.id
)


async def stripped(*pieces: str) -> tuple[str, GeneratedReply]:
    async def events() -> AsyncGenerator[AnswerEvent | GeneratedReply]:
        yield Stage(name="answer")
        for piece in pieces:
            yield Delta(text=piece)
        yield GeneratedReply(
            text="".join(pieces),
            citations=(CITATION,),
            model="m",
            prompt=Prompt(messages=()),
            notices=(),
            fallbacks=(),
            seconds={},
            grounded=True,
        )

    seen = [event async for event in uncited(events())]
    assert isinstance(seen[0], Stage)
    last = seen[-1]
    assert isinstance(last, GeneratedReply)
    return "".join(event.text for event in seen if isinstance(event, Delta)), last


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("Four weeks [1].",), "Four weeks."),
        (("Four weeks ", "[1", "][2", "].", " More [12]"), "Four weeks. More"),
        (
            (
                "a [",
                "link](x) and [1234]",
            ),
            "a [link](x) and [1234]",
        ),
        (("ends with [1",), "ends with [1"),
    ],
)
async def test_markers_and_sources_are_left_out(pieces: tuple[str, ...], text: str) -> None:
    streamed, last = await stripped(*pieces)
    assert (streamed, last.text) == (text, text)
    assert last.citations == ()
    assert last.grounded
