"""Tools in OpenAI's form; calls become the text that other models write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rag_engine.generation.tool_request import ToolRequest, ToolRound

_LONGEST: int = 64_000
_MOST: int = 64


def chat_messages(request: ToolRequest) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = [
        {"role": message.role, "content": message.content} for message in request.messages
    ]
    for number, round_ in enumerate(request.rounds, 1):
        messages += _exchanged(round_, number)
    return messages


def tool_specs(request: ToolRequest) -> list[dict[str, object]]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in request.tools
    ]


def _exchanged(round_: ToolRound, number: int) -> list[dict[str, object]]:
    ids = [f"call_{number}_{place}" for place, _ in enumerate(round_.calls, 1)]
    called: list[dict[str, object]] = [
        {
            "id": id_,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
            },
        }
        for id_, call in zip(ids, round_.calls, strict=True)
    ]
    answers: list[dict[str, object]] = [
        {"role": "tool", "tool_call_id": id_, "content": result}
        for id_, result in zip(ids, round_.results, strict=True)
    ]
    return [{"role": "assistant", "content": "", "tool_calls": called}, *answers]


@dataclass(slots=True)
class CallCollector:
    """Joins streamed parts of calls. Ollama and others send whole calls, without an index or with the same one."""

    _names: list[str] = field(default_factory=list[str])
    _arguments: list[str] = field(default_factory=list[str])
    _places: dict[object, int] = field(default_factory=dict[object, int])
    _size: int = 0

    def feed(self, delta: Mapping[str, object]) -> bool:
        parts = delta.get("tool_calls")
        if not isinstance(parts, list):
            return False
        listed = cast("Sequence[object]", parts)
        for part in listed:
            if isinstance(part, Mapping):
                self._add(cast("Mapping[str, object]", part))
        return bool(listed)

    def _add(self, part: Mapping[str, object]) -> None:
        function = part.get("function")
        said = cast("Mapping[str, object]", function if isinstance(function, Mapping) else {})
        name, arguments = str(said.get("name") or ""), said.get("arguments") or ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        place = self._place(part, is_new=bool(name))
        if place is None or self._size + len(text) > _LONGEST:
            return
        self._size += len(text)
        self._names[place] = self._names[place] or name
        self._arguments[place] += text

    def _place(self, part: Mapping[str, object], *, is_new: bool) -> int | None:
        key = part.get("id") or None
        index = part.get("index")
        known = self._places.get(("id", key)) if key else self._places.get(("index", index))
        if known is None and key and not is_new:
            known = self._places.get(("index", index))
        if known is not None and not (is_new and not key and self._names[known]):
            return known
        if len(self._names) >= _MOST:
            return None
        self._names.append("")
        self._arguments.append("")
        place = len(self._names) - 1
        self._places["index", index] = place
        if key:
            self._places["id", key] = place
        return place

    def text(self) -> str:
        if not self._names:
            return ""
        calls = (
            f'{{"tool": {json.dumps(name)}, "arguments": {arguments.strip() or "{}"}}}'
            for name, arguments in zip(self._names, self._arguments, strict=True)
        )
        return f'{{"calls": [{", ".join(calls)}]}}'
