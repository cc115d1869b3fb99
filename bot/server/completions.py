"""The shapes of OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from rag_engine.errors import UserError
from rag_engine.text import tokens
from rag_engine.types import AnswerOptions, ConversationId, Turn, TurnId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import Answer, Citation, Role

ALL: Final = "footnote"
"""The model that reads all the key may read."""
_MOST_MESSAGES: Final = 200
_LONGEST_PERSONA: Final = 1_000
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant"}
_CONVERSATION: Final = ConversationId("api")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRequest:
    question: str
    earlier: tuple[Turn, ...]
    model: str
    streams: bool
    wants_usage: bool
    options: AnswerOptions


def completion_request(body: object) -> CompletionRequest:
    """Raises `UserError` for what cannot be answered."""
    if not isinstance(body, dict):
        raise UserError("The request must be a JSON object.")
    fields = cast("dict[str, Any]", body)
    said = _messages(fields.get("messages"))
    if not said or said[-1][0] != "user":
        raise UserError("The last of `messages` must be the question, of the role `user`.")
    turns = [(role, text) for role, text in said if role in _ROLES and text.strip()]
    persona = " ".join(text for role, text in said if role in ("system", "developer"))
    stream_options = fields.get("stream_options")
    return CompletionRequest(
        question=said[-1][1].strip(),
        earlier=tuple(_turn(number, *turn) for number, turn in enumerate(turns[:-1])),
        model=_model(fields.get("model")),
        streams=fields.get("stream") is True,
        wants_usage=isinstance(stream_options, dict)
        and cast("dict[str, Any]", stream_options).get("include_usage") is True,
        options=AnswerOptions(
            persona=persona[:_LONGEST_PERSONA], temperature=_temperature(fields.get("temperature"))
        ),
    )


def _model(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise UserError("`model` must name one of GET /v1/models.")
    return value


def _messages(value: object) -> list[tuple[str, str]]:
    if not isinstance(value, list) or len(cast("list[Any]", value)) > _MOST_MESSAGES:
        raise UserError(f"`messages` must be a list of at most {_MOST_MESSAGES} messages.")
    return [_message(each) for each in cast("list[Any]", value)]


def _message(value: object) -> tuple[str, str]:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    role, content = fields.get("role"), fields.get("content")
    if not isinstance(role, str):
        raise UserError("Each message needs a `role` and a `content`.")
    if content is None:
        return role, ""
    if isinstance(content, str):
        return role, content
    parts = cast("list[Any]", content) if isinstance(content, list) else [None]
    texts = [_part(part) for part in parts]
    return role, "\n".join(texts)


def _part(value: object) -> str:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    text = fields.get("text")
    if fields.get("type") != "text" or not isinstance(text, str):
        raise UserError(
            "Only text can be read: a message's content must be a string or parts of the type `text`."
        )
    return text


def _temperature(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise UserError("`temperature` must be a number from 0 to 2.")
    return float(value)


def _turn(number: int, role: str, text: str) -> Turn:
    return Turn(
        id=TurnId(f"api-{number}"), conversation=_CONVERSATION, role=_ROLES[role], text=text, at=float(number)
    )


def footer(citations: Sequence[Citation]) -> str:
    lines: dict[int, str] = {}
    for citation in citations:
        place = f" — {citation.anchor}" if citation.anchor else ""
        lines.setdefault(citation.number, f"[{citation.number}] {citation.title}{place}")
    return "\n\n" + "\n".join(lines.values()) if lines else ""


def source_annotations(answer: Answer) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    sources = {citation.number: citation for citation in reversed(answer.citations)}
    for number, citation in sorted(sources.items()):
        marker = f"[{number}]"
        start = answer.text.find(marker)
        while start >= 0:
            place = {"start_index": start, "end_index": start + len(marker), "title": citation.title}
            found.append({"type": "url_citation", "url_citation": {**place, "url": public_uri(citation.uri)}})
            start = answer.text.find(marker, start + 1)
    return found


def citations(answer: Answer) -> list[dict[str, object]]:
    return [
        {**{key: value for key, value in asdict(one).items() if key != "uri"}, "url": public_uri(one.uri)}
        for one in answer.citations
    ]


def public_uri(uri: str) -> str:
    """Paths of this machine are nobody's business."""
    return uri if uri.startswith(("http://", "https://")) else ""


def completion(identity: str, model: str, answer: Answer) -> dict[str, object]:
    message = {
        "role": "assistant",
        "content": answer.text + footer(answer.citations),
        "refusal": None,
        "annotations": source_annotations(answer),
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {
        **_head(identity, model, "chat.completion"),
        "choices": [choice],
        "usage": usage(answer),
        "citations": citations(answer),
        "grounded": answer.grounded,
    }


def chunk(
    identity: str, model: str, delta: Mapping[str, object], *, finish: str | None = None, **more: object
) -> dict[str, object]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish, "logprobs": None}
    return {**_head(identity, model, "chat.completion.chunk"), "choices": [choice], **more}


def usage_chunk(identity: str, model: str, answer: Answer) -> dict[str, object]:
    return {**_head(identity, model, "chat.completion.chunk"), "choices": [], "usage": usage(answer)}


def usage(answer: Answer) -> dict[str, int]:
    """Tokens of the reply are an estimate."""
    written = tokens.estimate(answer.text)
    read = answer.prompt_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def model_list(names: Sequence[str]) -> dict[str, object]:
    data = [
        {"id": name, "object": "model", "created": 0, "owned_by": "footnote"}
        for name in dict.fromkeys((ALL, *names))
    ]
    return {"object": "list", "data": data}


def error(message: str, *, kind: str, code: str | None = None) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _head(identity: str, model: str, kind: str) -> dict[str, object]:
    return {"id": identity, "object": kind, "created": int(time.time()), "model": model}
