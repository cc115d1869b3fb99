"""Where what is marked can stand in the databases, one rule for each table: to count it, to remove it, to see that it is gone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.keeping.forgetting.marks import Channel, Marks, Person
    from rag_engine.storage.sqlite import Database

_Condition: TypeAlias = "tuple[str, tuple[object, ...]]"
"""SQL, and its parameters."""
Store: TypeAlias = Literal["footnote.sqlite", "chat.sqlite", "vectors.sqlite"]

_BATCH: Final = 200
"""Rows of one transaction: others write in between."""
_OF_CHANNEL: Final = "platform = ? AND workspace = ? AND channel = ?"
_IN: Final = "IN (SELECT value FROM json_each(?))"
_BEGINS: Final = "conversation >= ? AND conversation < ?"
_LEANING: Final = "instr(details, '\"understood_as\"')"
_OF_ANSWERS: Final = (
    "{column} IN (SELECT {table}.{column} FROM json_each(?) AS answers "
    "JOIN {table} ON {table}.{column} >= answers.value || '-' AND {table}.{column} < answers.value || '.')"
)
"""The engine's ids of what came of a question in a chat begin with the id of that."""
_UNNAMED: Final = "name = '', uri = '', source = '', document = '', answer = ''"
"""That a file was dealt with stays, or it would be taken in again when its thread is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rows of a table that go, or that forget a part of themselves by `change`, after which the condition must not hold."""

    store: Store
    what: str
    table: str
    condition: str
    parameters: tuple[object, ...]
    change: str = ""

    async def count(self, database: Database) -> int:
        """How many rows there are."""
        sql = f"SELECT count(*) FROM {self.table} WHERE {self.condition}"  # noqa: S608 - our own words
        ((count,),) = await database.fetch(sql, self.parameters)
        return int(count)

    async def apply(self, database: Database) -> None:
        """Remove or change them, some at a time."""
        rows = f"SELECT rowid FROM {self.table} WHERE {self.condition} LIMIT {_BATCH}"  # noqa: S608 - our own words
        doing = f"UPDATE {self.table} SET {self.change}" if self.change else f"DELETE FROM {self.table}"  # noqa: S608
        sql = f"{doing} WHERE rowid IN ({rows}) RETURNING 1"
        done = _BATCH
        while done == _BATCH:
            async with database.transaction() as transaction:
                done = len(await transaction.execute(sql, self.parameters))


def of(marks: Marks) -> list[Rule]:
    """Every place where something of the marks can stand outside of the index, in the order of removal.

    The engine's memory is last: an answer that it remembers after that finds its question gone, and is forgotten by its bot.
    """
    rules = [*_documents(marks)]
    for person in marks.people:
        rules += _person(person)
    for channel in marks.channels:
        rules += _channel(channel)
    return [*rules, *_history(marks)]


def _history(marks: Marks) -> Iterator[Rule]:
    """The engine's memory of conversations. Its traces also tell what an earlier question of theirs has made of a later one."""
    turns, traces = list(_conversations(marks)), list(_conversations(marks))
    if marks.turns:
        turns.append((f"id {_IN}", (_list([*marks.turns, *(f"{turn}-question" for turn in marks.turns)]),)))
        traces.append((f"turn {_IN}", (_list(marks.turns),)))
    if marks.answers:
        turns.append((_OF_ANSWERS.format(column="id", table="turns"), (_list(marks.answers),)))
        traces.append((_OF_ANSWERS.format(column="turn", table="traces"), (_list(marks.answers),)))
    if marks.documents:
        documents = _list(document.document for document in marks.documents)
        traces.append(("EXISTS (SELECT 1 FROM json_each(?) WHERE instr(details, value))", (documents,)))
    if turns:
        condition, parameters = _either(turns)
        leaning = f"conversation IN (SELECT conversation FROM turns WHERE {condition}) AND {_LEANING}"  # noqa: S608 - our own words
        yield _engine("traces of questions that lean on them", "traces", leaning, parameters)
    if traces:
        yield _engine("traces", "traces", *_either(traces))
    if turns:
        yield _engine("turns of conversations", "turns", *_either(turns))


def _either(conditions: Iterable[_Condition]) -> _Condition:
    """Where any of them holds."""
    texts, parameters = zip(*conditions, strict=True)
    return " OR ".join(f"({text})" for text in texts), tuple(chain.from_iterable(parameters))


def _conversations(marks: Marks) -> Iterator[_Condition]:
    """Those that go as a whole: of a channel, and those that one person alone read."""
    for channel in marks.channels:
        yield _BEGINS, _range(f"{channel.platform}:{channel.workspace}:{channel.channel}:")
    for person in marks.people:
        ending = f":ask:{person.id}"
        same = f"substr(conversation, -{len(ending)}) = ? AND {_BEGINS}"
        yield same, (ending, *_range(f"{person.platform}:"))


def _documents(marks: Marks) -> Iterator[Rule]:
    if marks.documents:
        documents = _list(document.document for document in marks.documents)
        uris = [uri for document in marks.documents for uri in document.uris]
        paths = _list(unquote(urlsplit(uri).path) for uri in uris if uri.startswith("file:"))
        hashes = _list(key for document in marks.documents for key in document.vectors)
        cited = "EXISTS (SELECT 1 FROM json_each(?) WHERE instr(citations, value))"
        yield Rule(
            store="vectors.sqlite",
            what="vectors",
            table="vectors",
            condition=f"hash {_IN}",
            parameters=(hashes,),
        )
        yield _engine("files that wait", "jobs", f"CAST(path AS TEXT) {_IN}", (paths,))
        yield _engine("files that were begun", "attempts", f"uri {_IN}", (_list(uris),))
        yield _chat("names of files", "taken_files", f"document {_IN}", (documents,), change=_UNNAMED)
        yield _chat(
            "answers that quote it", "answers", cited, (documents,), change="citations = '[]', turn = ''"
        )
    if marks.knowledge_bases:
        for table in ("bindings", "audiences"):
            yield _chat(table, table, f"knowledge_base {_IN}", (_list(marks.knowledge_bases),))


def _person(person: Person) -> Iterator[Rule]:
    own = "SELECT id FROM answers WHERE person = ? AND platform = ?"
    parameters = (person.id, person.platform)
    yield _chat("ratings", "feedback", f"person = ? OR answer IN ({own})", (person.id, *parameters))
    yield _chat("questions", "answers", "person = ? AND platform = ?", parameters)
    yield _chat(
        "events under way", "inbox", "platform = ? AND instr(payload, ?)", (person.platform, person.id)
    )


def _channel(channel: Channel) -> Iterator[Rule]:
    place = (channel.platform, channel.workspace, channel.channel)
    yield _chat("ratings", "feedback", f"answer IN (SELECT id FROM answers WHERE {_OF_CHANNEL})", place)  # noqa: S608
    yield _chat("questions", "answers", _OF_CHANNEL, place)
    yield _chat(
        "events under way", "inbox", "platform = ? AND instr(payload, ?)", (channel.platform, channel.channel)
    )
    for table, what in {
        "taken_files": "files",
        "place_settings": "settings",
        "bindings": "bindings",
        "audiences": "audiences",
    }.items():
        yield _chat(what, table, _OF_CHANNEL, place)


def _chat(what: str, table: str, condition: str, parameters: tuple[object, ...], *, change: str = "") -> Rule:
    return Rule(
        store="chat.sqlite", what=what, table=table, condition=condition, parameters=parameters, change=change
    )


def _engine(what: str, table: str, condition: str, parameters: tuple[object, ...]) -> Rule:
    return Rule(store="footnote.sqlite", what=what, table=table, condition=condition, parameters=parameters)


def _range(prefix: str) -> tuple[str, str]:
    return prefix, prefix + "\U0010ffff"


def _list(values: Iterable[str]) -> str:
    """As one parameter, of which a statement may have only so many."""
    return json.dumps(list(values), ensure_ascii=False)
