from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from rag_engine.errors import ModelUnavailable
from rag_engine.generation import structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.generation.prompts import instructions
from rag_engine.graph.names import key_of, words_of
from rag_engine.graph.types import LONGEST_NAME, Extraction, Mention, Relation
from rag_engine.text import tokens
from rag_engine.text.chunk_text import searchable_text
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from rag_engine.ports import LanguageModel
    from rag_engine.types import Chunk

TASK: Final = "graph"
_MOST_ENTITIES: Final = 40
_MOST_RELATIONS: Final = 40
_LONGEST_STATEMENT: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLimits:
    gleanings: int = 0
    """Further calls for what the first reply left out."""
    at_once: int = 3
    seconds: float = 60.0
    """For all calls about one passage."""
    expected_tokens: int = 300
    reply_tokens: int = 1_500


def _text(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _list(value: object) -> object:
    return cast("object", value) if isinstance(value, list) else []


_Text = Annotated[str, BeforeValidator(_text)]


class NamedEntity(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: _Text = ""
    aliases: Annotated[list[_Text], BeforeValidator(_list)] = []


class StatedRelation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    subject: _Text = ""
    object: _Text = ""
    statement: _Text = ""


class GraphReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    entities: list[NamedEntity]
    relations: Annotated[list[StatedRelation], BeforeValidator(_list)] = []


def prompt_of(chunk: Chunk) -> Prompt:
    passage = neutral(searchable_text(chunk), keep_markers=True)
    messages = (
        Message(role="system", content=instructions(TASK)),
        Message(role="user", content=f"<passage>\n{passage}\n</passage>"),
    )
    return _prompt(messages, GraphLimits())


async def ask_for_entities(
    model: LanguageModel, chunk: Chunk, by_rules: Extraction, limits: GraphLimits
) -> Extraction:
    """Drops names that the passage does not hold. Raises the model's errors and `UnreadableReply`."""
    prompt = await asyncio.to_thread(prompt_of, chunk)
    found = by_rules
    try:
        async with asyncio.timeout(limits.seconds):
            for _ in range(1 + limits.gleanings):
                reply = await structured_reply.ask(model, prompt, GraphReply, task=TASK)
                before, found = found, await asyncio.to_thread(merged, found, reply, searchable_text(chunk))
                if found == before:
                    break
                messages = (
                    *prompt.messages,
                    Message(role="assistant", content=reply.model_dump_json()),
                    Message(
                        role="user",
                        content="Reply in the same form with the entities and relations that are missing.",
                    ),
                )
                prompt = _prompt(messages, limits)
    except TimeoutError as error:
        raise ModelUnavailable(
            f"The language model {model.name} took longer than {limits.seconds:g} s.", backend=model.name
        ) from error
    return found


def merged(found: Extraction, reply: GraphReply, passage: str) -> Extraction:
    held = f" {' '.join(words_of(passage))} "
    mentions = {mention.key: mention for mention in found.mentions}
    relations = {(each.subject, each.object): each for each in found.relations}

    def known(name: str) -> str:
        key = key_of(name) if len(name) <= LONGEST_NAME else ""
        if not key or (f" {key} " not in held and name.casefold() not in passage.casefold()):
            return ""
        if key not in mentions and len(mentions) < len(found.mentions) + _MOST_ENTITIES:
            mentions[key] = Mention(key=key, name=name, kind="name")
        return key if key in mentions else ""

    for entity in reply.entities[:_MOST_ENTITIES]:
        if subject := known(entity.name):
            for other in filter(None, map(known, entity.aliases[:5])):
                relations.setdefault((subject, other), Relation(subject=subject, object=other))
    for each in reply.relations[:_MOST_RELATIONS]:
        subject, object_ = known(each.subject), known(each.object)
        if subject and object_ and subject != object_ and each.statement:
            text = each.statement[:_LONGEST_STATEMENT]
            relations.setdefault((subject, object_), Relation(subject=subject, object=object_, text=text))
    distinct = tuple(each for each in relations.values() if each.subject != each.object)
    return Extraction(mentions=tuple(mentions.values()), relations=distinct)


def _prompt(messages: tuple[Message, ...], limits: GraphLimits) -> Prompt:
    return Prompt(
        messages=messages,
        tokens=messages_size(messages, tokens.estimate),
        reply_tokens=limits.reply_tokens,
        temperature=0.0,
    )
