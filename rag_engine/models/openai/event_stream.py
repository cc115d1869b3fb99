from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from rag_engine.errors import ContentFiltered, ModelUnavailable
from rag_engine.models.openai.errors import of_reported
from rag_engine.models.openai.tool_calls import CallCollector

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

logger = logging.getLogger(__name__)

_LONGEST_LINE = 4_000_000
_BACKEND = "model"


async def text_pieces(body: AsyncIterator[bytes], *, content_type: str) -> AsyncGenerator[str]:
    """Yields text, then calls of tools; an empty string for reasoning shows that the model is alive. Raises
    `ModelUnavailable`, `ContentFiltered`, `RateLimited`, `ContextTooLong`.
    """
    finish = ""
    has_text = False
    calls = CallCollector()
    async for chunk in _chunks(body, content_type):
        text, reason = _read(chunk)
        finish = reason or finish
        has_text = has_text or bool(text.strip())
        if calls.feed(_delta(chunk)) or text or _is_reasoning(chunk):
            yield text
    if called := calls.text():
        has_text = True
        yield called
    if finish == "content_filter":
        raise ContentFiltered
    if not has_text:
        raise ModelUnavailable(_nothing(finish), backend=_BACKEND)
    if finish == "length":
        raise ModelUnavailable(
            "the language model reached the end of its reply's allowance; the operator of this bot can raise "
            "FOOTNOTE_STEPS__PACK__REPLY_TOKENS.",
            backend=_BACKEND,
        )


def _nothing(finish: str) -> str:
    if finish == "length":
        return (
            "The language model used up its reply before it wrote anything: the operator of this bot must raise "
            "FOOTNOTE_STEPS__PACK__REPLY_TOKENS."
        )
    return "The language model gave an empty answer; ask again."


def _read(chunk: Mapping[str, object]) -> tuple[str, str]:
    failure = chunk.get("error")
    if failure:
        fields = _mapping(failure)
        raise of_reported(
            str(fields.get("code") or fields.get("type") or ""), str(fields.get("message") or failure)
        )
    choice = _mapping(_first(chunk.get("choices")))
    delta = _delta(chunk)
    reason = choice.get("finish_reason")
    text = _text(delta.get("content")) or _text(delta.get("refusal")) or _text(choice.get("text"))
    return text, reason if isinstance(reason, str) else ""


def _delta(chunk: Mapping[str, object]) -> Mapping[str, object]:
    choice = _mapping(_first(chunk.get("choices")))
    return _mapping(choice.get("delta")) or _mapping(choice.get("message"))


def _is_reasoning(chunk: Mapping[str, object]) -> bool:
    delta = _mapping(_mapping(_first(chunk.get("choices"))).get("delta"))
    return any(delta.get(name) for name in ("reasoning_content", "reasoning", "thinking"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [_mapping(part) for part in cast("list[object]", content)]
        return "".join(str(part.get("text") or "") for part in parts if part.get("type", "text") == "text")
    return ""


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _first(value: object) -> object:
    return cast("Sequence[object]", value)[0] if isinstance(value, list) and value else None


async def _chunks(body: AsyncIterator[bytes], content_type: str) -> AsyncGenerator[Mapping[str, object]]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind in {"text/html", "application/xhtml+xml"}:
        raise ModelUnavailable(
            "A web page answered in place of the language model: the operator of this bot must check OPENAI_BASE_URL.",
            backend=_BACKEND,
        )
    if kind == "application/json":
        yield _whole(b"".join([part async for part in body]))
        return
    finished = False
    async for line in _lines(body):
        name, colon, value = line.partition(b":")
        if name != b"data" or not colon:
            continue
        data = value.strip()
        if data == b"[DONE]":
            return
        chunk = _object(data)
        if chunk is None:
            logger.warning("The language model sent a line that is no JSON object; it is skipped.")
            continue
        finished = finished or bool(_mapping(_first(chunk.get("choices"))).get("finish_reason"))
        yield chunk
    if not finished:
        raise ModelUnavailable("The language model broke off in the middle of its answer.", backend=_BACKEND)


def _whole(body: bytes) -> Mapping[str, object]:
    found = _object(body)
    if found is None:
        raise ModelUnavailable(
            "The language model gave an answer that cannot be read; ask again.", backend=_BACKEND
        )
    return found


def _object(data: bytes) -> Mapping[str, object] | None:
    try:
        found: object = json.loads(data)
    except ValueError:
        return None
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else None


async def _lines(body: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    held = b""
    async for part in body:
        *lines, held = (held + part).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")
        if len(held) > _LONGEST_LINE:
            raise ModelUnavailable(
                "The language model gave an answer that cannot be read; ask again.", backend=_BACKEND
            )
    if held:
        yield held.rstrip(b"\r")
