"""One question with its answer by plain Python and its SQL."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import openpyxl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rag_engine.tables.types import TypedTable

SHARED = Path(__file__).parents[4] / "shared" / "docs"
Kind = Literal[
    "count", "sum", "average", "extreme", "filter", "group", "dates", "join", "top", "lookup", "none"
]
Gold = str | int | float
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedQuestion:
    """`gold`: each value that the answer has to show; empty: no table answers it.

    `sql` names a table `<file.xlsx#Sheet>` and a column `[Header]`.
    """

    text: str
    kind: Kind
    gold: tuple[Gold, ...]
    sql: str = ""
    language: str = "en"

    @property
    def files(self) -> list[str]:
        return [name.partition("#")[0] for name in _TABLE.findall(self.sql)]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """`makers`: writes a made file; `real`: the path of a real one below the shared documents, by the name it is added as."""

    makers: Mapping[str, Callable[[Path], None]]
    real: Mapping[str, str]
    questions: Callable[[], list[ComputedQuestion]]
    """Those about real files that are absent are left out."""

    def write_all(self, folder: Path) -> None:
        for name, make in self.makers.items():
            make(folder / name)
        for name, place in self.real.items():
            if (SHARED / place).is_file():
                (folder / name).write_bytes((SHARED / place).read_bytes())


_TABLE = re.compile(r"<([^<>=]+\.[a-z]+(?:#[^<>]+)?)>")
_COLUMN = re.compile(r"\[([^\]]+)\]")


class UnknownName(Exception):
    """A table or column of a question is not among the stored tables."""


def resolved(question: ComputedQuestion, tables: Sequence[TypedTable]) -> str:
    """The question's SQL in the names of `tables`."""
    names = [name.strip() for name in _COLUMN.findall(question.sql)]
    chosen = {reference: _table(reference, names, tables) for reference in _TABLE.findall(question.sql)}
    columns = [column for table in chosen.values() for column in table.columns]

    def column(match: re.Match[str]) -> str:
        wanted = _plain(match[1])
        found = next((one for one in columns if _plain(one.name) == wanted), None) or next(
            (one for one in columns if wanted in _plain(one.name)), None
        )
        if found is None:
            raise UnknownName(f"{match[1]}: there are {[one.name for one in columns]}")
        return f'"{found.sql_name}"'

    sql = _TABLE.sub(lambda match: f'"{chosen[match[1]].sql_name}"', question.sql)
    return _COLUMN.sub(column, sql)


def _table(reference: str, columns: Sequence[str], tables: Sequence[TypedTable]) -> TypedTable:
    file, _, sheet = reference.partition("#")
    own = [
        table
        for table in tables
        if table.title == file and _plain(sheet) in _plain(f"{table.caption} {table.place}")
    ]
    if not own:
        raise UnknownName(f"{reference}: there are {[(one.title, one.caption, one.place) for one in tables]}")
    return max(
        own,
        key=lambda table: sum(
            any(_plain(name) in _plain(one.name) for one in table.columns) for name in columns
        ),
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def asker(language: str) -> Callable[..., ComputedQuestion]:
    def ask(text: str, kind: Kind, gold: tuple[Gold, ...], sql: str = "") -> ComputedQuestion:
        return ComputedQuestion(text=text, kind=kind, gold=gold, sql=sql, language=language)

    return ask


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def real_rows(place: str, *, encoding: str = "utf-8-sig", delimiter: str = ",") -> list[list[str]]:
    """Lines of a real CSV; none if it is absent."""
    path = SHARED / place
    return (
        list(csv.reader(io.StringIO(path.read_bytes().decode(encoding)), delimiter=delimiter))
        if path.is_file()
        else []
    )


def real_sheet(place: str, name: str) -> list[Row]:
    path = SHARED / place
    if not path.is_file():
        return []
    sheet = cast("Any", openpyxl.load_workbook(path, data_only=True)[name])
    return list(sheet.iter_rows(values_only=True))
