from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.port import Person, Place

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rag_engine.storage.sqlite.database import Database, Row

_MOST_SEARCHED: Final = 3_000
_COLUMNS: Final = (
    "a.id, a.platform, a.workspace, a.channel, a.thread, a.private, a.person, a.name, a.question, a.asked_at, "
    "a.state, f.outcome, f.seconds, f.up, f.down"
)
_LAST: Final = (1e12, "\U0010ffff")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFilter:
    platform: str = ""
    workspace: str = ""
    channel: str = ""
    outcome: str = ""
    text: str = ""
    before: tuple[float, str] = _LAST


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuestion:
    id: str
    place: Place
    private: bool
    person: Person
    question: str
    asked_at: float
    state: str
    outcome: str
    seconds: float | None
    up: int
    down: int

    @property
    def private_of(self) -> str:
        return self.person.id if self.private else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPart:
    questions: tuple[ListedQuestion, ...]
    next: tuple[float, str] | None


async def questions(
    database: Database,
    chosen: QuestionFilter,
    *,
    limit: int,
    reads: Callable[[ListedQuestion], Awaitable[bool]] | None = None,
) -> QuestionPart:
    """With a `text`, only questions that `reads` allows: a match alone says what a hidden one holds."""
    by_figures = bool(chosen.outcome or chosen.channel)
    key = "f.asked_at, f.answer" if by_figures else "a.asked_at, a.id"
    tables = (
        "turn_figures AS f JOIN answers AS a ON a.id = f.answer"
        if by_figures
        else "answers AS a LEFT JOIN turn_figures AS f ON f.answer = a.id"
    )
    conditions, values = _conditions(chosen, "f" if by_figures else "a", key)
    looked_at = _MOST_SEARCHED if chosen.text else limit + 1
    order = ", ".join(f"{column} DESC" for column in key.split(", "))
    rows = await database.fetch(
        f"SELECT {_COLUMNS} FROM {tables} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?",  # noqa: S608
        (*values, looked_at),
    )
    wanted = chosen.text.casefold()
    found = [_listed(row) for row in rows if wanted in row[8].casefold()]
    if wanted and reads is not None:
        found = [each for each in found if await reads(each)]
    if len(found) > limit:
        last = found[limit - 1]
    elif len(rows) == looked_at:
        last = _listed(rows[-1])
    else:
        return QuestionPart(questions=tuple(found), next=None)
    return QuestionPart(questions=tuple(found[:limit]), next=(last.asked_at, last.id))


def _conditions(chosen: QuestionFilter, table: str, key: str) -> tuple[list[str], list[object]]:
    conditions = [f"({key}) < (?, ?)", "a.state <> 'withdrawn'"]
    parameters: list[object] = [*chosen.before]
    # The sign keeps SQLite from an index that would need sorting.
    sign = "+" if chosen.outcome and not chosen.channel else ""
    for column, value in (
        ("platform", chosen.platform),
        ("workspace", chosen.workspace if chosen.platform else ""),
        ("channel", chosen.channel),
    ):
        if value:
            conditions.append(f"{sign}{table}.{column} = ?")
            parameters.append(value)
    if chosen.outcome == "down":
        conditions.append("f.down > 0")
    elif chosen.outcome:
        conditions.append("f.outcome = ?")
        parameters.append(chosen.outcome)
    return conditions, parameters


def _listed(row: Row) -> ListedQuestion:
    identity, platform, workspace, channel, thread, private, person, name, question, asked_at, *rest = row
    state, outcome, seconds, up, down = rest
    return ListedQuestion(
        id=identity,
        place=Place(platform=platform, workspace=workspace, channel=channel, thread=thread),
        private=bool(private),
        person=Person(id=person, name=name),
        question=question,
        asked_at=asked_at,
        state=state,
        outcome=outcome or "",
        seconds=seconds,
        up=up or 0,
        down=down or 0,
    )
