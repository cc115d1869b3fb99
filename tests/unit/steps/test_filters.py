"""Filters of a person and of a model, from the query to the searches of both legs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine import pipeline
from rag_engine.errors import InvalidFilter
from rag_engine.metadata.conditions import filter_of
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry, NamedStep
from rag_engine.ports import Ports
from rag_engine.retrieval.queries.document_filters import with_chosen_documents, with_inline_filter
from rag_engine.steps import retrieve, understand
from rag_engine.types import DocumentId, KnowledgeBaseId, Query
from tests.doubles.rankings import GivenIndex, ranking
from tests.unit.prompting import conversation
from tests.unit.steps.test_retrieve import OneVector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_engine.metadata.filter_types import Properties

A, B = DocumentId("a"), DocumentId("b")
KNOWN: Mapping[DocumentId, Properties] = {
    A: {"name": ("a.pdf",), "type": ("pdf",), "author": ("Anna Li",), "created": ("2024-05-01",)},
    B: {"name": ("b.docx",), "type": ("docx",), "author": ("Bob",), "created": ("2025-05-01",)},
}
TALK = ("What are the office hours in Berlin?", "Nine to five [1].")


class Metadata:
    async def properties(self, knowledge_bases: object, **_: object) -> Any:
        return KNOWN

    async def authors_and_tags(self, knowledge_bases: object) -> list[str]:
        return ["Anna Li", "Bob"]


METADATA: Any = Metadata()


def query(text: str, **more: Any) -> Query:
    return Query(text=text, knowledge_bases=frozenset([KnowledgeBaseId("kb")]), **more)


async def searched(
    asked: Query, *, turns: tuple[str, ...] = (), reply: object = None, **settings: Any
) -> tuple[Inquiry, list[frozenset[DocumentId] | None], ScriptedModel]:
    """The inquiry after the search, the documents of each search of the index, and the model."""
    index = GivenIndex({"lexical": ranking("lexical", []), "dense": ranking("dense", [])})
    pieces = (json.dumps(reply, ensure_ascii=False),)
    model = ScriptedModel([ScriptedLine(pieces=pieces, task="understand")])
    ports = Ports(embedder=OneVector(), index=index, model=model if reply else None, metadata=METADATA)
    inquiry = Inquiry(query=asked, question=asked.text, history=conversation(*turns))
    inquiry = await with_chosen_documents(inquiry, METADATA)
    steps = [
        NamedStep(name="understand", run=understand.build(understand.Settings(**settings), ports)),
        NamedStep(name="retrieve", run=retrieve.build(retrieve.Settings(), ports)),
    ]
    async for item in pipeline.run(inquiry, steps):
        if isinstance(item, Inquiry):
            inquiry = item
    return inquiry, [search.documents for call in index.calls for search in call], model


def filtering(*conditions: tuple[str, str, object], **more: object) -> dict[str, object]:
    listed = [{"key": key, "op": op, "value": value} for key, op, value in conditions]
    return {"route": "search", "question": "What are the office hours in London?", "filter": listed, **more}


async def test_a_filter_in_the_message_reaches_both_legs() -> None:
    asked = with_inline_filter(query("What does type:pdf say of travel?"))
    assert asked.text == "What does say of travel?"
    inquiry, documents, _ = await searched(asked)
    assert documents == [frozenset({A})] * 2
    assert inquiry.details["filter"] == {"used": "type:pdf", "by": "person", "documents": 1}


async def test_filters_of_several_places_all_hold() -> None:
    asked = with_inline_filter(query("costs after:2025", filters=(filter_of("author not empty"),)))
    _, documents, _ = await searched(asked)
    assert documents == [frozenset({B})] * 2


async def test_three_spellings_search_alike() -> None:
    for spelling in ("author == bob", "author = bob", "author is bob"):
        _, documents, _ = await searched(query("costs", filters=(filter_of(spelling),)))
        assert documents == [frozenset({B})] * 2


async def test_asked_without_filters_everything_is_searched() -> None:
    asked = with_inline_filter(
        query(f"costs type:pdf tag:{'x' * 10_000}", filters=(filter_of("type:pdf"),), unfiltered=True)
    )
    _, documents, _ = await searched(asked)
    assert documents == [None] * 2
    plain = with_inline_filter(query("costs type:pdf", unfiltered=True))
    assert (plain.text, plain.filters) == ("costs", ())


async def test_a_model_filters_by_the_properties_of_the_files() -> None:
    inquiry, documents, model = await searched(
        query("And in London?"), turns=TALK, reply=filtering(("author", "contains", "anna"))
    )
    assert documents[:3] == [None, None, None]
    assert set(documents[3:]) == {frozenset({A})}
    assert inquiry.details["filter"] == {
        "used": "author contains anna",
        "by": "model",
        "documents": 1,
        "left_out": [],
    }
    assert inquiry.notices == ()
    asked = model.prompts[0][1].messages[-1].content
    assert '"author": ["Anna Li", "Bob"]' in asked
    assert "Use the keys and values of <properties> only" in model.prompts[0][1].messages[0].content


async def test_a_first_question_that_names_an_author_is_understood_too() -> None:
    _, documents, model = await searched(
        query("What did Anna Li write about travel?"), reply=filtering(("author", "=", "Anna Li"))
    )
    assert len(model.prompts) == 1
    assert set(documents[3:]) == {frozenset({A})}
    _, documents, model = await searched(query("What is said about travel?"), reply=filtering())
    assert (documents, model.prompts) == ([None, None], [])


async def test_a_models_filter_stays_within_the_persons() -> None:
    asked = query("And in London?", filters=(filter_of("type:docx"),))
    reply = filtering(("author", "contains", "anna"))
    inquiry, documents, _ = await searched(asked, turns=TALK, reply=reply)
    assert set(documents) == {frozenset({B})}
    assert inquiry.details["filter"] == {
        "used": "type:docx",
        "by": "person",
        "documents": 1,
        "left_out": ["author contains anna"],
    }


async def test_without_a_match_the_least_certain_condition_goes_and_that_is_said() -> None:
    reply = filtering(("author", "contains", "anna"), ("created", ">=", "2026-01-01"))
    reply["filter"][0]["certainty"] = 0.9  # type: ignore[index]
    inquiry, documents, _ = await searched(query("And in London?"), turns=TALK, reply=reply)
    assert set(documents[3:]) == {frozenset({A})}
    assert inquiry.notices == ("This filter matched no file and was left out: created ≥ 2026-01-01.",)


async def test_with_no_match_at_all_everything_is_searched_and_that_is_said() -> None:
    reply = filtering(("author", "=", "Zoe"))
    inquiry, documents, _ = await searched(query("And in London?"), turns=TALK, reply=reply)
    assert set(documents) == {None}
    assert inquiry.notices == ("This filter matched no file and was left out: author:Zoe.",)
    assert inquiry.filtered_by == ()


@pytest.mark.parametrize("broken", ["n/a", 7, [{"key": "x"}], {"conditions": 3}])
async def test_a_broken_filter_is_left_out_and_said(broken: object) -> None:
    reply = {**filtering(), "filter": broken}
    inquiry, documents, _ = await searched(query("And in London?"), turns=TALK, reply=reply)
    assert set(documents) == {None}
    assert "meta_filter_invalid" in inquiry.fallbacks
    assert len(inquiry.notices) == 1
    assert inquiry.details["filter"]["left_out"]  # type: ignore[index]


async def test_chosen_keys_alone_are_offered_and_used() -> None:
    reply = filtering(("author", "=", "Bob"), ("created", "=", "2024-05-01"))
    inquiry, documents, model = await searched(
        query("And in London?"), turns=TALK, reply=reply, filter_keys=("created >=",)
    )
    assert set(documents[3:]) == {frozenset({A, B})}
    assert "Anna Li" not in model.prompts[0][1].messages[-1].content
    assert inquiry.details["filter"]["used"] == "created ≥ 2024-05-01"  # type: ignore[index]


async def test_switched_off_no_property_is_shown_to_the_model() -> None:
    reply = filtering(("author", "=", "Bob"))
    _, documents, model = await searched(query("And in London?"), turns=TALK, reply=reply, filters=False)
    assert set(documents) == {None}
    assert "<properties>" not in model.prompts[0][1].messages[-1].content


async def test_unknown_keys_and_contradictions_of_a_person_are_refused() -> None:
    for text in ("dept:hr", "after:2025 before:2024"):
        with pytest.raises(InvalidFilter):
            await searched(query("costs", filters=(filter_of(text),)))
