"""Computed tables of many rows come as a file, too."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, cast

from bot.conversation.turn.report_file import attach_report
from bot.port import Reply
from rag_engine.tables.answers.figures import SHOWN_ROWS
from rag_engine.tables.types import ComputedAnswer, ResultColumn
from rag_engine.types import Answer, TurnId

if TYPE_CHECKING:
    from bot.streaming.message_stream import MessageStream


class Shown:
    def __init__(self) -> None:
        self.replies: list[Reply] = []

    async def finish(self, reply: Reply) -> None:
        self.replies.append(reply)


async def attached(rows: int) -> list[Reply]:
    computed = ComputedAnswer(
        sql="SELECT name, days FROM leave",
        columns=(ResultColumn(name="=name"), ResultColumn(name="days")),
        rows=tuple(("=cmd()" if number == 3 else f"Name {number}", number) for number in range(rows)),
        sources=(),
    )
    answer = Answer(
        turn=TurnId("t"), text="Computed.", citations=(), grounded=True, timings={}, computed=computed
    )
    shown = Shown()
    await attach_report(cast("MessageStream", shown), Reply(text="Computed.", language="de"), answer)
    return shown.replies


async def test_more_rows_than_are_shown_are_a_file_without_formulas() -> None:
    [reply] = await attached(SHOWN_ROWS + 1)
    [file] = reply.files
    assert (file.name, file.media_type, file.description) == (
        "table.csv",
        "text/csv",
        "Alle Zeilen des Ergebnisses",
    )
    rows = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert len(rows) == SHOWN_ROWS + 2
    assert rows[0] == ["'=name", "days"]
    assert rows[4] == ["'=cmd()", "3"]


async def test_few_rows_are_shown_alone() -> None:
    assert await attached(SHOWN_ROWS) == []
