from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from rag_engine.citations.markers.reasoning_prefix import REASONING_END
from rag_engine.generation import passage_blocks, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.dates import today_line
from rag_engine.generation.prompt_rules import AGENT
from rag_engine.generation.prompt_safety import attribute, neutral
from rag_engine.generation.tool_request import ToolCall, ToolRequest, ToolSpec
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rag_engine.agent.passage_pool import PassagePool
    from rag_engine.agent.tool import Tool, ToolResult
    from rag_engine.generation.tool_request import ToolRound
    from rag_engine.types import Hit

TASK: Final = "agent"
_QUESTION_TOKENS: Final = 1_200
_PASSAGE_TOKENS: Final = 500
_CHARACTERS_A_TOKEN: Final = 8
_LONGEST_DESCRIPTION: Final = 1_000
_SHOWN: Final = 80


def _arguments(value: object) -> object:
    if not isinstance(value, str):
        return cast("object", value if isinstance(value, dict) else {})
    try:
        found: object = json.loads(value or "{}", strict=False)
    except (ValueError, RecursionError):
        return {}
    return cast("object", found) if isinstance(found, dict) else {}


class CallReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    tool: str = Field(max_length=200)
    arguments: Annotated[dict[str, object], BeforeValidator(_arguments)] = {}


class CallsReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    calls: list[CallReply]

    @model_validator(mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        found = cast("dict[str, object]", value)
        listed = found.get("calls", [found] if {"tool", "name"} & found.keys() else None)
        if not isinstance(listed, list):
            raise ValueError('an object {"calls": [...]} is needed')
        return {"calls": [_named(one) for one in cast("list[object]", listed)]}


def _named(call: object) -> object:
    if not isinstance(call, dict):
        return call
    found = cast("dict[str, object]", call)
    arguments = found.get("arguments", found.get("parameters", {}))
    return {"tool": found.get("tool", found.get("name")), "arguments": arguments}


def chosen_calls(reply: str) -> tuple[ToolCall, ...]:
    """None if the reply is words alone. Raises `UnreadableReply`."""
    if "{" not in REASONING_END.split(reply)[-1]:
        return ()
    read = structured_reply.parse(reply, CallsReply)
    return tuple(ToolCall(name=one.tool.strip(), arguments=one.arguments) for one in read.calls)


def prompt(
    tools: Sequence[Tool],
    begun: str,
    rounds: Sequence[ToolRound],
    *,
    remark: str = "",
    reply_tokens: int,
    temperature: float,
) -> Prompt:
    """`remark`: what was wrong with the last reply."""
    specs = tuple(
        ToolSpec(
            name=tool.name,
            description=neutral(tool.description[:_LONGEST_DESCRIPTION], keep_markers=True),
            parameters=tool.parameters,
        )
        for tool in tools
    )
    rules = "\n".join(rule.text for rule in AGENT if rule.when != "protocol")
    protocol = "\n".join(rule.text for rule in AGENT if rule.when == "protocol")
    listed = "\n".join(_listing(spec) for spec in specs)
    asked = Message(role="user", content=begun)
    remarked = (Message(role="user", content=remark),) if remark else ()
    exchanged = [message for round_ in rounds for message in _messages(round_)]
    system = Message(role="system", content=f"{rules}\n{protocol}\nTools:\n{listed}")
    messages = (system, asked, *exchanged, *remarked)
    return Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=reply_tokens,
        temperature=temperature,
        tool_request=ToolRequest(
            tools=specs,
            messages=(Message(role="system", content=rules), asked, *remarked),
            rounds=tuple(rounds),
        ),
    )


def _listing(spec: ToolSpec) -> str:
    parameters = json.dumps(dict(spec.parameters), ensure_ascii=False)
    return f"- {spec.name}: {spec.description} Arguments: {neutral(parameters, keep_markers=True)}"


def _messages(round_: ToolRound) -> tuple[Message, ...]:
    calls = [{"tool": call.name, "arguments": dict(call.arguments)} for call in round_.calls]
    return (
        Message(role="assistant", content=json.dumps({"calls": calls}, ensure_ascii=False)),
        Message(role="user", content="\n\n".join(round_.results)),
    )


def opening(question: str, hits: Sequence[Hit], pool: PassagePool, *, today: datetime) -> str:
    asked = tokens.cut_middle(question, _QUESTION_TOKENS, count=tokens.estimate)
    found = _passages(hits, pool) or "Nothing was found."
    return (
        f"A first search for the question found:\n{found}\n\n{today_line(today)}\n\n"
        f"Question:\n{neutral(asked, keep_markers=True)}"
    )


def result_text(name: str, result: ToolResult, pool: PassagePool, *, most_tokens: int) -> str:
    text = result.text[: most_tokens * _CHARACTERS_A_TOKEN]
    text = neutral(tokens.cut_middle(text, most_tokens, count=tokens.estimate), keep_markers=True)
    parts = [part for part in (text.strip(), _passages(result.hits, pool)) if part]
    return fenced(name, "\n".join(parts) or "Nothing was found.")


def fenced(name: str, text: str) -> str:
    return f'<tool name="{attribute(name)}">\n{text}\n</tool>'


def _passages(hits: Sequence[Hit], pool: PassagePool) -> str:
    return "\n".join(
        passage_blocks.passage(number, hit, _short(hit.chunk.text))
        if is_new
        else f"Passage {number}, shown above."
        for number, hit, is_new in pool.add(hits)
    )


def _short(text: str) -> str:
    text = text[: _PASSAGE_TOKENS * _CHARACTERS_A_TOKEN]
    return tokens.cut_middle(text, _PASSAGE_TOKENS, count=tokens.estimate)


def summary(call: ToolCall) -> str:
    values = [" ".join(str(value).split()) for value in call.arguments.values() if value not in ("", None)]
    line = ", ".join(values)
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def identity(call: ToolCall) -> str:
    """Differences in case and spaces do not count."""
    plain = json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True, default=str)
    return f"{call.name} {' '.join(plain.casefold().split())}"
