from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, ValidationError

from rag_engine.citations.markers.reasoning_prefix import REASONING_END
from rag_engine.errors import RagError
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.generate import bounded
from rag_engine.text import tokens
from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.surrogates import encodable
from rag_engine.types import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rag_engine.ports import LanguageModel
    from rag_engine.types import Prompt

_Shape = TypeVar("_Shape", bound=BaseModel)

LONGEST: Final = 64_000
"""Characters of a reply that are read."""
_DEEPEST: Final = 16
_MOST_STARTS: Final = 24
_MOST_CANDIDATES: Final = 24
_REPEATED: Final = 2_000
_CLOSING: Final = {"{": "}", "[": "]"}
_TOKEN: Final = lazy(
    lambda: re.compile(
        r'"(?>(?:\\(?:.|\Z)|[^"\\])*)(?:"|\Z)'
        r"|'(?>(?:\\(?:.|\Z)|[^'\\]|'(?![ \t\r\n]{0,8}(?:[,:}\]]|\Z)))*)(?:'|\Z)"
        r"|[“”„](?>(?:\\(?:.|\Z)|[^“”\\])*)(?:[“”]|\Z)"
        r"|[{}\[\],]|[^\s\"'“”„{}\[\],:]++|.",
        re.DOTALL,
    )
)
_MARK: Final = lazy(lambda: re.compile(r'"(?>(?:\\.|[^"\\])*)(?:"|\Z)|[{}\[\]]', re.DOTALL))
_LITERALS: Final = {"True": "true", "False": "false", "None": "null"}


class UnreadableReply(RagError):
    """The language model's reply does not have the form that was asked for."""


async def ask(
    model: LanguageModel,
    prompt: Prompt,
    shape: type[_Shape],
    *,
    task: str,
    follow: Callable[[str], None] | None = None,
) -> _Shape:
    """Asked once more, with what is wrong. Raises the model's errors and `UnreadableReply`; has no time limit. `follow`
    gets the first reply so far, piece by piece.
    """
    prompt = replace(prompt, reply_schema=_schema(shape))
    reply = await _reply(model, prompt, task, follow)
    try:
        return await asyncio.to_thread(parse, reply, shape)
    except UnreadableReply as error:
        messages = (
            *prompt.messages,
            Message(role="assistant", content=reply[-_REPEATED:] or "{}"),
            Message(role="user", content=f"{error} Reply with the JSON object alone."),
        )
    again = replace(prompt, messages=messages, tokens=messages_size(messages, tokens.estimate))
    return await asyncio.to_thread(parse, await _reply(model, again, task), shape)


@cache
def _schema(shape: type[BaseModel]) -> Mapping[str, object]:
    return shape.model_json_schema()


async def _reply(
    model: LanguageModel, prompt: Prompt, task: str, follow: Callable[[str], None] | None = None
) -> str:
    reply = ""
    async with model.stream(prompt, task=task) as pieces:
        async for piece in bounded(pieces, prompt):
            reply += piece
            if follow is not None:
                follow(reply)
    return reply


def parse(reply: str, shape: type[_Shape]) -> _Shape:
    """The last JSON value that fits, repaired if need be. Raises `UnreadableReply`."""
    if len(reply) > LONGEST:
        raise UnreadableReply("The reply is too long.")
    fault = "The reply holds no JSON object."
    for candidate in _candidates(REASONING_END.split(reply)[-1]):
        for text in (candidate, _repaired(candidate)):
            try:
                value: object = _encodable(json.loads(text, strict=False), text)
            except (ValueError, RecursionError):
                continue
            try:
                return shape.model_validate(value)
            except ValidationError as error:
                fault = _sentence(error)
            break
    raise UnreadableReply(fault)


def _encodable(value: object, text: str) -> object:
    """A reply can write half a character as an escape."""
    return json.loads(encodable(json.dumps(value, ensure_ascii=False))) if "\\u" in text else value


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"])) or "The value"
    return f"{where}: {first['msg']}."


def _candidates(text: str) -> list[str]:
    closed: list[tuple[int, int]] = []
    unclosed: list[int] = []
    position = 0
    for _ in range(_MOST_STARTS):
        start = text.find("{", position)
        if start < 0:
            break
        found = list(_balanced(text, start))
        closed += found
        if found and found[-1][0] == start:
            position = found[-1][1]
        else:
            unclosed.append(start)
            position = start + 1
    ordered = sorted(dict.fromkeys(closed), key=lambda span: (-span[1], span[0]))
    return [
        *(text[start:end] for start, end in ordered[:_MOST_CANDIDATES]),
        *(text[start:] for start in unclosed[:1]),
    ]


def _balanced(text: str, start: int) -> Iterator[tuple[int, int]]:
    opened: list[int] = []
    for mark in _MARK.finditer(text, start):
        sign = mark[0]
        if sign in _CLOSING:
            opened.append(mark.start())
            if len(opened) > _DEEPEST:
                return
        elif sign in "}]":
            if not opened or _CLOSING[text[opened[-1]]] != sign:
                return
            begun = opened.pop()
            if sign == "}":
                yield begun, mark.end()
            if not opened:
                return


def _repaired(text: str) -> str:
    parts: list[str] = []
    opened: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] in "\"'“”„":
            token = _quoted(token)
        elif token in _CLOSING:
            opened.append(_CLOSING[token])
        elif token in {"}", "]"}:
            _drop_comma(parts)
            if opened:
                opened.pop()
        parts.append(_LITERALS.get(token, token))
    _drop_comma(parts)
    return "".join([*parts, *reversed(opened)])


def _quoted(token: str) -> str:
    closes = len(token) > 1 and token[-1] in "\"'“”"
    inner = token[1:-1] if closes else token[1:].removesuffix("\\")
    if token[0] == '"':
        return f'"{inner}"'
    return json.dumps(inner.replace("\\'", "'").replace('\\"', '"'), ensure_ascii=False)


def _drop_comma(parts: list[str]) -> None:
    last = next((place for place in range(len(parts) - 1, -1, -1) if not parts[place].isspace()), None)
    if last is not None and parts[last] == ",":
        parts[last] = " "
