from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.composition import loader
from bot.settings import TaskSettings
from rag_engine.agent import calls
from rag_engine.agent.agent import Agent
from rag_engine.agent.loop import AgentLimits
from rag_engine.agent.tool import ToolPorts

if TYPE_CHECKING:
    from bot.composition.components import IndexingComponents
    from bot.settings import Settings
    from rag_engine.ports import Ports
    from rag_engine.tables.answers.computation import Computation


def agent(
    settings: Settings, indexing: IndexingComponents, ports: Ports, computation: Computation | None
) -> Agent | None:
    if ports.contents is None or ports.model is None or computation is None:
        return None
    tool_ports = ToolPorts(
        contents=ports.contents,
        records=indexing.catalog.records,
        compute=computation.passages,
        web=loader.step("web", settings, ports).run if ports.web is not None else None,
    )
    return Agent(
        tools=loader.tools(tool_ports),
        model=ports.task_models.get(calls.TASK),
        limits=limits(settings),
    )


def limits(settings: Settings) -> AgentLimits:
    chosen = AgentLimits(**settings.tools.model_dump())
    task = settings.tasks.get(calls.TASK, TaskSettings())
    return replace(
        chosen,
        reply_tokens=task.max_tokens or chosen.reply_tokens,
        temperature=task.temperature or chosen.temperature,
    )
