"""Questions and tokens in numbers, without a word or a person."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag_engine.storage.sqlite.database import Database, Transaction

TurnOutcome: TypeAlias = Literal["answered", "unanswered", "talk", "stopped", "failed"]

_DAY: Final = 86_400
_TENTHS: Final = 10
_KEPT_DAYS: Final = 400
_ANSWERS: Final = ("answered", "unanswered")
_MEASURE: Final = """
    UPDATE turn_figures SET seconds = ?, first_seconds = ?, outcome = coalesce(?, outcome) WHERE answer = ?
"""
_COUNT_TOKENS: Final = """
    INSERT INTO model_days (day, platform, workspace, model, calls, prompt_tokens, reply_tokens) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,
        reply_tokens = reply_tokens + excluded.reply_tokens
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    calls: int = 0
    prompt: int = 0
    reply: int = 0

    def __add__(self, other: TokenCount) -> TokenCount:
        return TokenCount(
            calls=self.calls + other.calls, prompt=self.prompt + other.prompt, reply=self.reply + other.reply
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTurn:
    """`answer`: the id of its `ChatTurn`; empty for what no question caused."""

    answer: str = ""
    outcome: TurnOutcome | None = None
    seconds: float = 0.0
    first_seconds: float | None = None
    tokens: Mapping[str, TokenCount] = field(default_factory=dict[str, TokenCount])


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """`day`: the first, in days since 1970, UTC. `latency`: of answers, how many took so many tenths of a second, long ones rounded down."""

    day: int
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    up: int = 0
    down: int = 0
    latency: Mapping[int, int] = field(default_factory=dict[int, int])
    tokens: Mapping[str, TokenCount] = field(default_factory=dict[str, TokenCount])

    @property
    def questions(self) -> int:
        return sum(self.outcomes.values())


class TurnFigures:
    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def record(self, turns: Sequence[MeasuredTurn]) -> None:
        today = int(self._clock() // _DAY)
        async with self._database.transaction() as transaction:
            for turn in turns:
                if turn.answer:
                    values = (turn.seconds, turn.first_seconds, turn.outcome, turn.answer)
                    await transaction.execute(_MEASURE, values)
                where = await _where(transaction, turn.answer) if turn.tokens else ("", "")
                for model, count in turn.tokens.items():
                    counted = (count.calls, count.prompt, count.reply)
                    await transaction.execute(_COUNT_TOKENS, (today, *where, model, *counted))
            await transaction.execute("DELETE FROM model_days WHERE day < ?", (today - _KEPT_DAYS,))

    async def days(
        self, count: int, *, span: int = 1, platform: str = "", workspace: str = ""
    ) -> list[DayFigures]:
        today = int(self._clock() // _DAY)
        first = today - count + 1
        condition, where = _condition(platform, workspace)
        found = {day: _Day() for day in range(first, today + 1, span)}
        begins = f"day - (day - {first}) % {span}"
        values = (first, today, *where)
        for day, *row in await self._database.fetch(
            f"SELECT {begins}, outcome, tenths, sum(count), sum(up), sum(down) FROM turn_days "  # noqa: S608
            f"WHERE day BETWEEN ? AND ? {condition} GROUP BY 1, 2, 3",
            values,
        ):
            found[day].add(*row)
        for day, model, *counted in await self._database.fetch(
            f"SELECT {begins}, model, sum(calls), sum(prompt_tokens), sum(reply_tokens) FROM model_days "  # noqa: S608
            f"WHERE day BETWEEN ? AND ? {condition} GROUP BY 1, 2",
            values,
        ):
            calls, prompt, reply = counted
            found[day].tokens[model] = TokenCount(calls=calls, prompt=prompt, reply=reply)
        return [each.figures(day) for day, each in found.items()]

    async def citations(self, documents: Sequence[str]) -> dict[str, int]:
        rows = await self._database.fetch(
            "SELECT document, count(*) FROM turn_citations WHERE document IN (SELECT value FROM json_each(?)) GROUP BY 1",
            (json.dumps(list(documents)),),
        )
        return dict(rows)


def percentile(latency: Mapping[int, int], share: float) -> float | None:
    total = sum(latency.values())
    reached = 0
    for tenths, number in sorted(latency.items()):
        reached += number
        if reached >= total * share:
            return tenths / _TENTHS
    return None


def totalled(latencies: Sequence[Mapping[int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for latency in latencies:
        for tenths, number in latency.items():
            found[tenths] = found.get(tenths, 0) + number
    return found


@dataclass(slots=True)
class _Day:
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    up: int = 0
    down: int = 0
    latency: dict[int, int] = field(default_factory=dict[int, int])
    tokens: dict[str, TokenCount] = field(default_factory=dict[str, TokenCount])

    def add(self, outcome: str, tenths: int, number: int, up: int, down: int) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + number
        if tenths >= 0 and outcome in _ANSWERS:
            self.latency[tenths] = self.latency.get(tenths, 0) + number
        self.up += up
        self.down += down

    def figures(self, day: int) -> DayFigures:
        return DayFigures(
            day=day,
            outcomes=self.outcomes,
            up=self.up,
            down=self.down,
            latency=self.latency,
            tokens=self.tokens,
        )


def _condition(platform: str, workspace: str) -> tuple[str, tuple[str, ...]]:
    return ("AND platform = ? AND workspace = ?", (platform, workspace)) if platform else ("", ())


async def _where(transaction: Transaction, answer: str) -> tuple[str, str]:
    rows = await transaction.execute("SELECT platform, workspace FROM answers WHERE id = ?", (answer,))
    return (rows[0][0], rows[0][1]) if rows else ("", "")
