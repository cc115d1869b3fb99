from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import InvalidFilter
from rag_engine.metadata.choice import automatic, chosen, names_a_value, vocabulary
from rag_engine.metadata.conditions import filter_of
from rag_engine.types import DocumentId, KnowledgeBaseId, Query

if TYPE_CHECKING:
    from rag_engine.metadata.filter_types import Properties

A, B, C = map(DocumentId, "abc")
KNOWN: dict[DocumentId, Properties] = {
    A: {"name": ("a.pdf",), "type": ("pdf",), "author": ("Anna Li",), "year": ("2024",)},
    B: {"name": ("data.pdf",), "type": ("pdf",), "author": ("Bob",)},
    C: {"name": ("c.docx",), "type": ("docx",), "tag": ("draft",)},
}


class Metadata:
    async def properties(self, knowledge_bases: object, **_: object) -> dict[DocumentId, Properties]:
        return KNOWN


async def choose(*filters: str) -> set[DocumentId] | None:
    query = Query(
        text="x", knowledge_bases=frozenset({KnowledgeBaseId("kb")}), filters=tuple(map(filter_of, filters))
    )
    found = await chosen(query, Metadata())  # pyright: ignore[reportArgumentType]
    return None if found is None else set(found)


async def test_all_filters_hold() -> None:
    assert await choose() is None
    assert await choose("type:pdf") == {A, B}
    assert await choose("type:pdf", "author contains anna") == {A}
    assert await choose("type:pdf", "tag:draft") == set()


async def test_in_means_the_file_of_that_name_before_others() -> None:
    assert await choose("in:a.pdf") == {A}
    assert await choose("in:data") == {B}
    assert await choose("in:dat") == {B}


async def test_a_property_that_no_file_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidFilter, match=r"No file here has the property dept; there are: .*author.*year"):
        await choose("dept:hr")


async def test_a_contradiction_is_refused() -> None:
    with pytest.raises(InvalidFilter, match="contradicts itself: after:2025, before:2024"):
        await choose("after:2025", "before:2024")


def test_an_automatic_filter_loses_its_least_certain_condition_first() -> None:
    found = automatic(filter_of("type:pdf and author contains anna and year:1999"), KNOWN)
    assert found.documents == {A}
    assert found.left_out == ("year:1999",)


def test_an_automatic_filter_that_matches_nothing_is_left_out() -> None:
    found = automatic(filter_of("author:zoe and type:exe"), KNOWN)
    assert (found.filter, found.documents) == (None, None)
    assert sorted(found.left_out) == ["author:zoe", "type:exe"]


def test_an_automatic_filter_skips_unknown_keys_and_stays_within_the_manual_one() -> None:
    found = automatic(filter_of("dept:hr and type:pdf"), KNOWN, within=frozenset({B, C}))
    assert (found.documents, found.left_out) == ({B}, ("dept:hr",))


def test_the_vocabulary_is_json_with_few_values() -> None:
    shown = json.loads(vocabulary(KNOWN))
    assert shown == {
        "author": ["Anna Li", "Bob"],
        "tag": ["draft"],
        "type": ["pdf", "docx"],
        "year": ["2024"],
    }
    assert json.loads(vocabulary(KNOWN, keys=["tag"])) == {"tag": ["draft"]}
    many: dict[DocumentId, Properties] = {
        DocumentId(str(number)): {"author": (f'"{number}"',), "k": (f"{'v' * 59}{number}",)}
        for number in range(500)
    }
    assert len(json.loads(vocabulary(many))["author"]) == 50
    assert len(vocabulary(many)) <= 4_100
    assert vocabulary({}) == ""


def test_a_question_may_name_an_author_or_a_tag() -> None:
    values = ["Anna Li", "Bob", "draft"]
    assert names_a_value("What did ANNA LI decide?", values)
    assert names_a_value("Is there a draft?", values)
    assert not names_a_value("What is the budget of 2024?", values)
