"""The whole program with a model server that has tool calls, its own model for the task, and a tool of the operator."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot import settings
from bot.composition import application as composition
from bot.composition.agent import operator_tools
from rag_engine.agent.tool import is_tool_result
from rag_engine.errors import BadSettings
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.types import Answer, AnswerOptions, Query, ToolPolicy
from tests.doubles.model_servers.openai_server import serve, streamed
from tests.unit.models.test_openai_tools import called, part
from tests.unit.operator_tools.test_http_tools import SCHEMA, service

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.engine import Engine
    from rag_engine.types import KnowledgeBaseId

pytestmark = pytest.mark.process
QUESTION = "How warm is it in Rome, and who leads the Aurora project?"


async def asked(engine: Engine, base: KnowledgeBaseId, tools: ToolPolicy) -> Answer:
    query = Query(
        text=QUESTION,
        knowledge_bases=frozenset({base}),
        options=AnswerOptions(tools=tools, agent=True),
    )
    async with asyncio.timeout(30), aclosing(engine.answer(query)) as events:
        return [event async for event in events if isinstance(event, Answer)][-1]


def names(body: Any) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


async def test_native_calls_of_the_operators_tool_are_cited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with serve() as model, service() as here:
        for name, value in {
            "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
            "FOOTNOTE_EMBEDDER__KIND": "hashing",
            "OPENAI_BASE_URL": model.base_url,
            "FOOTNOTE_MODEL__NAME": "writer",
            "FOOTNOTE_MODEL__CONTEXT_TOKENS": "32000",
            "FOOTNOTE_TASKS__AGENT__MODEL": "clever",
            "FOOTNOTE_TOOLS__HTTP__WEATHER__URL": f"{here.url}/weather/{{city}}",
            "FOOTNOTE_TOOLS__HTTP__WEATHER__DESCRIPTION": "The weather of a city.",
            "FOOTNOTE_TOOLS__HTTP__WEATHER__ARGUMENTS": json.dumps(SCHEMA),
            "FOOTNOTE_TOOLS__HTTP__WEATHER__HEADERS": '{"X-Key": "hush"}',
        }.items():
            monkeypatch.setenv(name, value)
        model.on(called([part(0, "weather", '{"city": "Rome"}', "a")]), task="agent", times=1)
        model.on(streamed("done"), task="agent")
        model.on(streamed('It is 21 degrees: "temperature": 21 [1].'), task="answer")
        read = settings.read()
        assert "hush" not in repr(read)
        async with composition.application(read) as running:
            base = await running.catalog.open("kb", model=running.library.embedder.model)
            path = tmp_path / "projects.md"
            path.write_text("The Aurora project is led by Nadia Petrov.", encoding="utf-8")
            await running.library.ingestion.ingest(await blob_from_path(path), knowledge_base=base.id)
            answer = await asked(running.engine, base.id, "all")
            own = await asked(running.engine, base.id, "on")
    agents = [request for request in model.requests if request.task == "agent"]
    assert [(one.body["model"], one.body["temperature"]) for one in agents] == [("clever", 0.0)] * 3
    assert names(agents[0].body) == ["compute", "list", "read", "search", "weather"]
    assert names(agents[2].body) == ["compute", "list", "read", "search"]
    sent = cast("list[dict[str, Any]]", agents[1].body["messages"])
    assert sent[-1]["role"] == "tool"
    assert '"temperature": 21' in sent[-1]["content"]
    assert "hush" not in json.dumps([one.body for one in model.requests]).replace('\\"key\\": \\"hush\\"', "")
    cited = [one for one in answer.citations if is_tool_result(one.document)]
    assert {(one.title, one.anchor) for one in cited} == {("weather", "city: Rome")}
    assert "21" in cited[0].quote
    assert own.route == "search"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HTTP__WEATHER__URL", "https://{host}/x", "http"),
        ("HTTP__WEATHER__URL", "ftp://host/x", "http"),
        ("HTTP__WEATHER__HEADERS", "Bearer x", "JSON"),
        ("MCP__SHOP__TOOLS", "a", "COMMAND or a URL"),
        ("STEPS", "0", "STEPS"),
    ],
)
def test_what_cannot_be_is_said_at_the_start(
    name: str, value: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_TOOLS__HTTP__WEATHER__URL", "https://host/{city}")
    monkeypatch.setenv("FOOTNOTE_TOOLS__HTTP__WEATHER__DESCRIPTION", "Weather.")
    monkeypatch.setenv(f"FOOTNOTE_TOOLS__{name}", value)
    with pytest.raises(BadSettings, match=sentence):
        settings.read()


async def test_without_tools_of_the_operator_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with operator_tools(settings.read()) as listed:
        assert listed is None
