"""How much of the documents a language model reads, by the size of its window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import IndexUnavailable
from rag_engine.generation.context_budget import messages_size
from rag_engine.models.scripted import ScriptedModel
from rag_engine.retrieval.whole_files import with_full_request
from rag_engine.steps import context, pack
from rag_engine.text import tokens
from rag_engine.types import ChunkId, DocumentId
from tests.unit.steps.shelf import SENTENCE, Shelf

if TYPE_CHECKING:
    from rag_engine.pipeline import Inquiry
    from rag_engine.types import Prompt


async def widened(inquiry: Inquiry, shelf: Shelf, *, window: int = 32_000, **settings: object) -> Inquiry:
    model = ScriptedModel([], context_tokens=window)
    return await context.widen(
        inquiry, settings=context.Settings.model_validate(settings), model=model, contents=shelf
    )


async def packed(inquiry: Inquiry, *, window: int = 32_000) -> Prompt:
    done = await pack.pack(inquiry, settings=pack.Settings(), model=ScriptedModel([], context_tokens=window))
    assert done.prompt is not None
    return done.prompt


async def test_a_document_that_fits_is_in_the_prompt_whole_and_each_place_has_its_number() -> None:
    shelf = Shelf(minutes=9)
    done = await widened(shelf.inquiry(("minutes", 4)), shelf)
    prompt = await packed(done)
    assert [hit.chunk for hit in prompt.passages] == shelf.documents["minutes"]
    for number, chunk in enumerate(shelf.documents["minutes"], 1):
        assert (
            f'<passage id="{number}" place="{chunk.anchor}">\n{chunk.text.strip()}'
            in prompt.messages[-1].content
        )
    assert prompt.messages[-1].content.count("minutes.md") == 1
    assert done.details["whole_documents"] == ["minutes"]


async def test_of_a_document_replaced_since_the_search_no_earlier_version_is_in_the_prompt() -> None:
    shelf = Shelf(minutes=4)
    asked = shelf.inquiry(("minutes", 2), ("minutes", 1), limit=1)
    shelf.documents["minutes"] = [
        replace(chunk, id=ChunkId(f"new-{chunk.ordinal}"), text=f"Version 2. {SENTENCE}")
        for chunk in shelf.documents["minutes"]
    ]
    done = await widened(asked, shelf)
    prompt = await packed(done)
    assert [hit.chunk for hit in prompt.passages] == shelf.documents["minutes"]
    assert [hit.chunk.id for hit in done.hits] == ["new-2"]


async def test_a_document_removed_since_the_search_is_not_in_the_prompt() -> None:
    shelf = Shelf(minutes=4, agenda=2)
    asked = shelf.inquiry(("minutes", 2), ("agenda", 0), ("minutes", 1), limit=2)
    shelf.documents["minutes"] = []
    assert "minutes" not in (await packed(await widened(asked, shelf))).messages[-1].content
    shelf.documents["agenda"] = []
    nothing = await widened(asked, shelf)
    assert (nothing.hits, nothing.further) == ((), ())
    assert (await packed(nothing)).passages == ()


async def test_a_question_about_the_same_documents_has_the_same_beginning() -> None:
    shelf = Shelf(minutes=4, agenda=3)
    asked = [("minutes", 2), ("agenda", 0)]
    prompts = [await packed(await widened(shelf.inquiry(*places), shelf)) for places in (asked, asked[::-1])]
    listed = [prompt.messages[-1].content.partition("</passages>")[0] for prompt in prompts]
    assert listed[0] == listed[1]
    assert prompts[0].messages[0] == prompts[1].messages[0]


async def test_a_book_is_not_read_whole_but_around_what_was_found() -> None:
    shelf = Shelf(book=3_000)
    done = await widened(shelf.inquiry(("book", 1_500), ("book", 20)), shelf)
    assert {hit.chunk.ordinal for hit in done.context} == {1499, 1500, 1501, 19, 20, 21}
    assert shelf.read == 6


@pytest.mark.parametrize(
    ("window", "most"), [(4_096, 1_638), (8_192, 3_276), (32_000, 12_000), (200_000, 12_000)]
)
async def test_the_share_of_the_window_and_the_ceiling_are_kept(window: int, most: int) -> None:
    shelf = Shelf(**{f"minutes{number}": 30 for number in range(8)})
    best = [(f"minutes{number}", 3) for number in range(8)]
    done = await widened(
        shelf.inquiry(*best, *((name, 20) for name, _ in best)), shelf, window=window, weak=0
    )
    prompt = await packed(done, window=window)
    alone = await packed(replace(done, context=(), hits=done.hits[:1]), window=window)
    assert prompt.tokens - alone.tokens <= most
    assert messages_size(prompt.messages, tokens.count) == prompt.tokens
    assert len(prompt.passages) > 8
    assert {hit.chunk.id for hit in done.hits} <= {hit.chunk.id for hit in prompt.passages}


async def test_what_fills_a_small_window_is_sent_as_before() -> None:
    shelf = Shelf(minutes=30)
    asked = shelf.inquiry(*(("minutes", number * 3) for number in range(8)))
    assert (await widened(asked, shelf, window=1_000)).context == ()
    assert shelf.read == 0


@pytest.mark.parametrize(
    "unwanted",
    [{"enabled": False}, {"tokens": 0}],
    ids=["switched off", "no tokens"],
)
async def test_settings_keep_it_to_the_best_passages(unwanted: dict[str, object]) -> None:
    shelf = Shelf(minutes=9)
    assert (await widened(shelf.inquiry(("minutes", 4)), shelf, **unwanted)).context == ()


async def test_an_exact_number_of_passages_is_kept() -> None:
    shelf = Shelf(minutes=9)
    asked = shelf.inquiry(("minutes", 4), ("minutes", 7), limit=1)
    exact = replace(asked, query=replace(asked.query, exact_limit=True))
    assert len((await packed(await widened(exact, shelf))).passages) == 1


async def test_a_question_without_a_model_is_left_alone() -> None:
    shelf = Shelf(minutes=9)
    asked = shelf.inquiry(("minutes", 4))
    done = await context.widen(asked, settings=context.Settings(), model=None, contents=shelf)
    assert done == asked


@pytest.mark.parametrize("slow", [True, False])
async def test_an_index_that_fails_costs_the_width_and_no_answer(slow: bool) -> None:
    shelf = Shelf(minutes=9)
    if slow:
        shelf.seconds = 5.0
    else:
        shelf.fault = IndexUnavailable("No index.", backend="x", reason="unreachable")
    done = await widened(shelf.inquiry(("minutes", 4)), shelf, timeout=0.05)
    assert done.context == ()
    assert done.fallbacks == ("context_unavailable",)
    assert [hit.chunk.ordinal for hit in (await packed(done)).passages] == [4]


async def test_a_smaller_model_gets_what_fits_it() -> None:
    shelf = Shelf(minutes=60)
    wide = await widened(shelf.inquiry(("minutes", 4)), shelf)
    assert len(wide.context) == 60
    narrow = await widened(wide, shelf, window=4_096)
    assert [hit.chunk.ordinal for hit in narrow.context] == [4, 3, 5]


def _asking_for_all(inquiry: Inquiry) -> Inquiry:
    query = with_full_request(replace(inquiry.query, text=f"{inquiry.query.text} full:yes"))
    assert query.text == inquiry.query.text
    return replace(inquiry, query=query)


async def test_whole_files_that_are_asked_for_take_more_of_the_window() -> None:
    shelf = Shelf(minutes=110)
    asked = shelf.inquiry(("minutes", 4))
    assert len((await widened(asked, shelf, tokens=500)).context) < 110
    whole = await widened(_asking_for_all(asked), shelf, tokens=500, enabled=False)
    assert [hit.chunk for hit in whole.context] == shelf.documents["minutes"]
    assert whole.notices == ()


async def test_files_that_do_not_fit_are_named() -> None:
    shelf = Shelf(minutes=30, book=3_000)
    done = await widened(_asking_for_all(shelf.inquiry(("minutes", 4), ("book", 9))), shelf)
    assert [hit.chunk.document for hit in done.context].count(DocumentId("minutes")) == 30
    (notice,) = done.notices
    assert "book.md" in notice
    assert "minutes.md" not in notice


async def test_whole_files_need_a_model() -> None:
    shelf = Shelf(minutes=3)
    asked = _asking_for_all(shelf.inquiry(("minutes", 1)))
    done = await context.widen(asked, settings=context.Settings(), model=None, contents=shelf)
    assert done.notices == ("Reading whole files needs a language model, and none is set up here.",)
