"""A model writes one SELECT, and corrects it at most twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict

from rag_engine.errors import QueryRefused, QueryTooHeavy
from rag_engine.generation import prompts, structured_reply
from rag_engine.generation.context_budget import messages_size
from rag_engine.generation.prompt_safety import neutral
from rag_engine.text import tokens
from rag_engine.types import Message, Prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag_engine.ports import LanguageModel
    from rag_engine.tables.types import ComputedAnswer, TypedColumn, TypedTable

TASK: Final = "sql"
REPAIRS: Final = 2
_REPLY_TOKENS: Final = 768
_QUESTION_TOKENS: Final = 1_200
_SCHEMA_TOKENS: Final = 4_000
_MOST_COLUMNS: Final = 60
_SAMPLES: Final = 6
_LONGEST_SAMPLE: Final = 40


def _text(value: object) -> object:
    return value if isinstance(value, str) else ""


class SqlReply(BaseModel):
    """`sql` is empty if the tables do not answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sql: Annotated[str, BeforeValidator(_text)]


async def computed(
    model: LanguageModel,
    question: str,
    tables: Sequence[TypedTable],
    run: Callable[[str], Awaitable[ComputedAnswer]],
) -> tuple[ComputedAnswer | None, list[str]]:
    """None if the tables do not answer or every attempt was refused; with what was wrong. Raises the model's errors and
    `UnreadableReply`.
    """
    prompt = await asyncio.to_thread(_prompt, question, tables)
    faults: list[str] = []
    for _ in range(1 + REPAIRS):
        reply = await structured_reply.ask(model, prompt, SqlReply, task=TASK)
        if not reply.sql.strip():
            return None, faults
        try:
            return await run(reply.sql), faults
        except (QueryRefused, QueryTooHeavy) as error:
            faults.append(str(error))
            messages = (
                *prompt.messages,
                Message(role="assistant", content=reply.model_dump_json()),
                Message(
                    role="user",
                    content=f"{neutral(str(error), keep_markers=True)} Reply with the corrected JSON object alone.",
                ),
            )
            prompt = Prompt(
                messages=messages,
                tokens=messages_size(messages, tokens.estimate),
                reply_tokens=_REPLY_TOKENS,
            )
    return None, faults


def _prompt(question: str, tables: Sequence[TypedTable]) -> Prompt:
    asked = tokens.cut_middle(question, _QUESTION_TOKENS, count=tokens.estimate)
    content = f"Tables:\n\n{_schemas(tables)}\n\nQuestion:\n{neutral(asked, keep_markers=True)}"
    messages = (
        Message(role="system", content=prompts.instructions(TASK)),
        Message(role="user", content=content),
    )
    size = messages_size(messages, tokens.estimate)
    return Prompt(messages=messages, tokens=size, reply_tokens=_REPLY_TOKENS)


def _schemas(tables: Sequence[TypedTable]) -> str:
    described: list[str] = []
    left = _SCHEMA_TOKENS
    for table in tables:
        text = _schema(table)
        left -= tokens.estimate(text)
        if described and left < 0:
            break
        described.append(text)
    return "\n\n".join(described)


def _schema(table: TypedTable) -> str:
    about = f"{table.title}, {table.caption}, {table.row_count} rows"
    columns = "\n".join(f"- {_column(column)}" for column in table.columns[:_MOST_COLUMNS])
    return f"{table.sql_name} ({neutral(about, keep_markers=True)}):\n{columns}"


def _column(column: TypedColumn) -> str:
    samples = [value[:_LONGEST_SAMPLE] for value in column.values[:_SAMPLES]]
    unit = f" in {column.unit}" if column.unit else ""
    span = f", from {column.least} to {column.greatest}" if column.least is not None else ""
    shown = f"{column.name}; e.g. {' | '.join(samples)}" if samples else column.name
    return f"{column.sql_name} {column.kind}{neutral(f'{unit}{span}: {shown}', keep_markers=True)}"
