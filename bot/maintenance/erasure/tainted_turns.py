from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from bot.maintenance.erasure import rules
from rag_engine.engine import question_of
from rag_engine.types import TurnId

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bot.maintenance.erasure.marks import ErasureMarks
    from rag_engine.storage.sqlite.database import Database

_OF_CONVERSATIONS = """
    SELECT turn, details FROM traces WHERE conversation IN (SELECT conversation FROM traces
        WHERE turn IN (SELECT value FROM json_each(?))
            OR EXISTS (SELECT 1 FROM json_each(details, '$.history') WHERE value IN (SELECT value FROM json_each(?))) UNION SELECT conversation FROM turns WHERE id IN (SELECT value FROM json_each(?)))
    ORDER BY conversation, ordinal
"""


async def find(engine: Database, marks: ErasureMarks, own: Sequence[str]) -> list[str]:
    """And later turns that may repeat the words of `own`."""
    from_speakers = await engine.fetch(
        f"SELECT turn FROM traces WHERE {rules.WITH_SPEAKERS}",  # noqa: S608
        (json.dumps(rules.speakers(marks)),),
    )
    from_answers = [turn for answer in marks.answers for turn in await _engine_turns(engine, answer)]
    first = dict.fromkeys([*own, *from_answers, *(turn for (turn,) in from_speakers)])
    ids = json.dumps([*first, *(question_of(TurnId(turn)) for turn in first)], ensure_ascii=False)
    rows = await engine.fetch(_OF_CONVERSATIONS, (ids, ids, ids))
    touched = set(first)
    for turn, details in rows:
        if turn not in touched and _drew_on(json.loads(details), touched):
            touched.add(turn)
    return [*first, *(turn for turn, _ in rows if turn in touched and turn not in first)]


async def _engine_turns(engine: Database, answer: str) -> list[str]:
    rows = await engine.fetch(
        "SELECT turn FROM traces WHERE turn >= ? AND turn < ?", (f"{answer}-", f"{answer}.")
    )
    return [turn for (turn,) in rows]


def _drew_on(details: Mapping[str, object], touched: Collection[str]) -> bool:
    history = cast("list[str] | None", details.get("history"))
    if history is None:  # an earlier version's trace
        return "understood_as" in details
    return any(turn in touched or turn.removesuffix("-question") in touched for turn in history)
