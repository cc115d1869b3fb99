"""What a part is given: its own settings, and the names that people already have for their server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from bot import settings
from bot.composition import loader
from bot.composition.laboratory import retrieval_laboratory
from rag_engine.errors import BadSettings
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.pipeline import Inquiry
from rag_engine.ports import Ports
from rag_engine.types import Query
from tests.doubles.rankings import KNOWLEDGE_BASE, GivenIndex, ranking
from tests.unit.steps.test_retrieve import OneVector

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ELASTICSEARCH_URL", "https://somebody:hush-word@search.example:9200")
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "hush-key")


def given() -> dict[str, object]:
    read = settings.read()
    return loader.index_values(read.index, read)


def test_a_cluster_is_given_the_names_that_people_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX__KIND", "elasticsearch")
    assert given() == {
        "url": "https://somebody:hush-word@search.example:9200",
        "api_key": SecretStr("hush-key"),
    }


def test_its_own_settings_go_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX__KIND", "elasticsearch")
    monkeypatch.setenv("FOOTNOTE_INDEX__URL", "http://other:9200")
    monkeypatch.setenv("FOOTNOTE_INDEX__API_KEY", "other")
    assert given() == {"url": "http://other:9200", "api_key": "other"}


def test_another_index_is_not_given_them() -> None:
    assert given() == {}


def test_neither_key_nor_address_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX__API_KEY", "hush-other")
    read = settings.read()
    assert "hush" not in repr(read) + str(read)


def test_a_throw_away_index_of_a_cluster_is_never_the_one_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX__KIND", "elasticsearch")
    monkeypatch.setenv("FOOTNOTE_INDEX__ALIAS", "team")
    monkeypatch.setenv("FOOTNOTE_INDEX__SHARDS", "3")
    first, second = (loader.temporary_index(settings.read().index).rest() for _ in range(2))
    assert str(first["alias"]).startswith("team-eval-")
    assert first["alias"] != second["alias"]
    assert first["shards"] == second["shards"] == "3"


def test_a_throw_away_index_of_another_kind_has_no_settings_of_the_one_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX__FILE", "mine.sqlite")
    assert loader.temporary_index(settings.read().index, kind="embedded").rest() == {"file": "mine.sqlite"}
    other = loader.temporary_index(settings.read().index, kind="elasticsearch")
    assert other.kind == "elasticsearch"
    assert list(other.rest()) == ["alias"]


async def test_a_laboratory_leaves_no_index_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    folder = tmp_path / "throw-away"
    async with retrieval_laboratory(settings.read(), folder):
        assert (folder / "index.sqlite").exists()
    assert list(folder.iterdir()) == []


async def test_an_index_that_nobody_provides_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX__KIND", "pinecone")
    read = settings.read()
    with pytest.raises(BadSettings, match=r"no 'pinecone' in rag_engine\.indexes; known: .*embedded"):
        loader.index_module(read.index, read)


@pytest.mark.parametrize(
    ("values", "legs"),
    [
        ({}, ["lexical", "dense"]),
        ({"FUSE__DENSE_SHARE": "0"}, ["lexical"]),
        ({"FUSE__DENSE_SHARE": "1"}, ["dense"]),
        ({"FUSE__DENSE_SHARE": "0.5"}, ["lexical", "dense"]),
        ({"FUSE__DENSE_SHARE": "0", "FUSE__METHOD": "reciprocal_rank"}, ["lexical", "dense"]),
        ({"FUSE__DENSE_SHARE": "0", "RETRIEVE__LEGS": "lexical,dense"}, ["lexical", "dense"]),
    ],
)
async def test_a_leg_without_weight_is_not_searched(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], legs: list[str]
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"FOOTNOTE_STEPS__{name}", value)
    index = GivenIndex({"lexical": ranking("lexical", []), "dense": ranking("dense", [])})
    ports = Ports(embedder=OneVector(), index=index)
    query = Query(text="parental leave", knowledge_bases=frozenset({KNOWLEDGE_BASE}))

    step = loader.step("retrieve", settings.read(), ports)
    await step.run(Inquiry(query=query, question=query.text))

    assert [search.leg for search in index.calls[0]] == legs


@pytest.mark.parametrize(
    ("values", "searches"),
    [
        ({"RETRIEVE__CANDIDATES": "30"}, [("dense", 30)]),
        ({"RETRIEVE__CANDIDATES": "30", "HYPOTHESIS__CANDIDATES": "20"}, [("dense", 20)]),
        ({"RETRIEVE__LEGS": "lexical"}, []),
        ({"FUSE__DENSE_SHARE": "0"}, []),
    ],
)
async def test_made_up_passages_are_searched_for_as_the_question_is(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], searches: list[tuple[str, int]]
) -> None:
    for name, value in {"HYPOTHESIS__PASSAGES": "1", **values}.items():
        monkeypatch.setenv(f"FOOTNOTE_STEPS__{name}", value)
    told = json.dumps({"passages": ["Parental leave lasts fourteen months in total, " * 4]})
    model = ScriptedModel([ScriptedLine(pieces=(told,), task="hypothesis")], context_tokens=32_000)
    index = GivenIndex({"dense": ranking("dense", [("c0", 0.9)])})
    query = Query(text="How long is leave?", knowledge_bases=frozenset({KNOWLEDGE_BASE}), limit=8)

    step = loader.step("hypothesis", settings.read(), Ports(embedder=OneVector(), index=index, model=model))
    await step.run(Inquiry(query=query, question=query.text, rankings=(ranking("lexical", [("c0", 1.0)]),)))

    assert [(search.leg, search.limit) for call in index.calls for search in call] == searches
