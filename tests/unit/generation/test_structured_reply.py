"""JSON out of what models really write."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag_engine.errors import ModelUnavailable
from rag_engine.generation import structured_reply
from rag_engine.generation.structured_reply import LONGEST, UnreadableReply
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from tests.unit.prompting import asking


class Found(BaseModel):
    queries: list[str]
    sure: bool = True


X_Y = Found(queries=["x", "y"])


@pytest.mark.parametrize(
    "reply",
    [
        '{"queries": ["x", "y"]}',
        '<think>{"a": 1}</think>\n{"queries":["x","y"]}',
        'unopened {"queries": ["no"]} </think> {"queries":["x","y"]}',
        'Here you are:\n```json\n{"queries": ["x", "y"],}\n```\nDo you need more?',
        "{'queries': ['x', 'y']}",
        "{“queries”: [“x”, “y”]}",
        '{"queries": ["x", "y"], "sure": True}',
        '{"queries": ["x", "y"',
        '{"queries": ["x", "y',
        'The set {a, "b"} is not it. {"queries": ["x", "y"]} And {this} neither.',
        'First {"queries": 1}, then {"queries": ["x", "y"]}',
        '{"result": {"queries": ["x", "y"]}}',
        '[{"queries": ["x", "y"]}]',
        'It\'s "quoted { in prose: {"queries": ["x", "y"]}',
    ],
)
def test_json_is_found_in_any_surrounding_text(reply: str) -> None:
    assert structured_reply.parse(reply, Found) == X_Y


@pytest.mark.parametrize(
    "reply", ["", "sorry", "{}", '{"queries": 1}', "[1, 2]", "{" * 500, '{"queries"', "}{"]
)
def test_what_does_not_fit_is_refused(reply: str) -> None:
    with pytest.raises(UnreadableReply):
        structured_reply.parse(reply, Found)


def test_a_single_quotation_mark_within_a_text_stays() -> None:
    assert structured_reply.parse("{'queries': ['it''s', 'don't know',]}", Found).queries[-1] == "don't know"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(
    queries=st.lists(st.text()),
    more=st.dictionaries(st.text().filter(lambda name: name not in {"queries", "sure"}), _VALUES, max_size=3),
    before=st.text(alphabet="ab {'}[\n", max_size=30),
    after=st.text(alphabet="ab }]\n.", max_size=30),
    indent=st.sampled_from([None, 2]),
)
def test_every_object_is_read_as_it_was_written(
    queries: list[str], more: dict[str, Any], before: str, after: str, indent: int | None
) -> None:
    written = json.dumps({**more, "queries": queries}, ensure_ascii=False, indent=indent)
    assert structured_reply.parse(f"{before}{written}{after}", Found).queries == queries


@given(st.text(alphabet="{}[]\"'“\\,: a\n", max_size=200))
def test_no_text_raises_another_error(reply: str) -> None:
    with suppress(UnreadableReply):
        assert isinstance(structured_reply.parse(reply, Found), Found)


@pytest.mark.parametrize(
    "piece", ["{", '{"a":', "[", '"', "'", "{'a' ", " ", "{}", '{"a": {', "\\", "“", "}", "{\n\n\n"]
)
def test_hostile_replies_take_little_time(piece: str) -> None:
    reply = (piece * LONGEST)[:LONGEST]
    started = time.process_time()
    with pytest.raises(UnreadableReply):
        structured_reply.parse(reply, Found)
    assert time.process_time() - started < 2


async def _ask(*lines: ScriptedLine) -> tuple[Found, ScriptedModel]:
    model = ScriptedModel(lines)
    return await structured_reply.ask(model, asking("Which?"), Found, task="understand"), model


async def test_a_bad_reply_is_asked_for_again_with_what_is_wrong() -> None:
    found, model = await _ask(
        ScriptedLine(pieces=('{"queries": ["x", "y"]}',), pattern="queries: Input should be a valid list"),
        ScriptedLine(pieces=('{"queries": "x"}',)),
    )
    assert found == X_Y
    first, second = (prompt for _, prompt in model.prompts)
    assert first.reply_schema is not None
    assert first.reply_schema["required"] == ["queries"]
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert second.tokens > first.tokens


async def test_a_second_bad_reply_is_the_last() -> None:
    with pytest.raises(UnreadableReply, match="holds no JSON"):
        await _ask(ScriptedLine(pieces=("I would rather talk.",)))


async def test_ten_megabytes_are_not_read() -> None:
    piece = "x" * 10_000
    model = ScriptedModel([ScriptedLine(pieces=(piece,) * 1000)])
    with pytest.raises(ModelUnavailable, match="far more"):
        await structured_reply.ask(model, asking("Which?"), Found, task="understand")
    assert model.open_replies == 0
