from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bot.maintenance.erasure.marks import ErasedChannel, ErasedPerson, ErasureMarks
    from rag_engine.storage.sqlite.database import Database

_Condition: TypeAlias = "tuple[str, tuple[object, ...]]"
Store: TypeAlias = Literal["footnote.sqlite", "chat.sqlite", "vectors.sqlite"]

_BATCH: Final = 200
_OF_CHANNEL: Final = "platform = ? AND workspace = ? AND channel = ?"
_IN: Final = "IN (SELECT value FROM json_each(?))"
_BEGINS: Final = "conversation >= ? AND conversation < ?"
WITH_SPEAKERS: Final = (
    "EXISTS (SELECT 1 FROM json_each(details, '$.heard') WHERE value IN (SELECT value FROM json_each(?)))"
)
_NAMES: Final = "EXISTS (SELECT 1 FROM json_each(?) WHERE instr({column}, value))"
_OF_ANSWERS: Final = (
    "{column} IN (SELECT {table}.{column} FROM json_each(?) AS answers "
    "JOIN {table} ON {table}.{column} >= answers.value || '-' AND {table}.{column} < answers.value || '.')"
)
"""They begin with the chat's question id."""
_UNNAMED: Final = "name = '', uri = '', source = '', document = '', answer = ''"
"""Without the row the file would be ingested again."""

_UNLINKED: Final = (
    "turn = '', choices = '[]', question = CASE WHEN message LIKE 'choice:%' THEN '' ELSE question END"
)
"""A button's question was written by a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRule:
    store: Store
    what: str
    table: str
    condition: str
    parameters: tuple[object, ...]
    change: str = ""

    async def count(self, database: Database) -> int:
        sql = f"SELECT count(*) FROM {self.table} WHERE {self.condition}"  # noqa: S608
        ((count,),) = await database.fetch(sql, self.parameters)
        return int(count)

    async def apply(self, database: Database) -> None:
        rows = f"SELECT rowid FROM {self.table} WHERE {self.condition} LIMIT {_BATCH}"  # noqa: S608
        action = f"UPDATE {self.table} SET {self.change}" if self.change else f"DELETE FROM {self.table}"  # noqa: S608
        sql = f"{action} WHERE rowid IN ({rows}) RETURNING 1"
        done = _BATCH
        while done == _BATCH:
            async with database.transaction() as transaction:
                done = len(await transaction.execute(sql, self.parameters))


def of(marks: ErasureMarks) -> list[ErasureRule]:
    """In the order of removal. The history comes last: the bot drops an answer whose question is gone."""
    rules = [*_gaps(marks), *_documents(marks)]
    if marks.turns:
        drawn = (_list(marks.turns),)
        rules.append(_chat("answers with erased words", "answers", f"turn {_IN}", drawn, change=_UNLINKED))
    for person in marks.people:
        rules += _person(person)
    for channel in marks.channels:
        rules += _channel(channel)
    return [*rules, *_history(marks)]


def _gaps(marks: ErasureMarks) -> Iterator[ErasureRule]:
    asked = [("platform = ? AND person = ?", (person.platform, person.id)) for person in marks.people]
    asked += [(_OF_CHANNEL, (each.platform, each.workspace, each.channel)) for each in marks.channels]
    asked += [(f"turn {_IN}", (_list(marks.turns),))] if marks.turns else []
    asked += [(f"question {_IN}", (_list(marks.answers),))] if marks.answers else []
    named: list[_Condition] = (
        [(_NAMES.format(column="name"), (_list(marks.file_names),))] if marks.file_names else []
    )
    if asked:
        condition, parameters = _either(asked)
        named.append((f"id IN (SELECT gap FROM gap_questions WHERE {condition})", parameters))  # noqa: S608
    if named:
        condition, parameters = _either(named)
        unnamed = "name = '', named_from = '[]'"
        yield _chat("names of gaps", "gaps", f"name <> '' AND ({condition})", parameters, change=unnamed)
    if asked:
        yield _chat("questions of gaps", "gap_questions", *_either(asked))
    if marks.turns:
        # Given before its question went and after the first rule.
        stays = f"EXISTS (SELECT 1 FROM gap_questions WHERE gap = gaps.id AND turn {_IN})"  # noqa: S608
        late = (
            f"name <> '' AND NOT {stays} AND EXISTS (SELECT 1 FROM json_each(named_from) WHERE value {_IN})"  # noqa: S608
        )
        drawn = (_list(marks.turns), _list(marks.turns))
        yield _chat("names of gaps", "gaps", late, drawn, change="name = '', named_from = '[]'")
    if marks.answers:
        from_gaps = _list(f"gap:{answer}" for answer in marks.answers)
        yield _chat("gaps brought to experts", "expert_requests", f"answer_id {_IN}", (from_gaps,))


def _history(marks: ErasureMarks) -> Iterator[ErasureRule]:
    """`marks.turns` includes later answers with erased words in view."""
    turns, traces = list(_conversations(marks)), list(_conversations(marks))
    researched = list(_conversations(marks))
    if marks.turns:
        turns.append((f"id {_IN}", (_list([*marks.turns, *(f"{turn}-question" for turn in marks.turns)]),)))
        traces.append((f"turn {_IN}", (_list(marks.turns),)))
        researched.append((f"turn {_IN}", (_list(marks.turns),)))
    if marks.answers:
        turns.append((_OF_ANSWERS.format(column="id", table="turns"), (_list(marks.answers),)))
        traces.append((_OF_ANSWERS.format(column="turn", table="traces"), (_list(marks.answers),)))
        researched.append((_OF_ANSWERS.format(column="turn", table="research"), (_list(marks.answers),)))
    if marks.people:
        traces.append((WITH_SPEAKERS, (_list(speakers(marks)),)))
    if marks.documents:
        traces.append((_NAMES.format(column="details"), (_list(names(marks)),)))
        researched.append((_NAMES.format(column="state"), (_list(names(marks)),)))
        turns.append((f"role = 'assistant' AND {_NAMES.format(column='text')}", (_list(marks.file_names),)))
    if researched:
        yield _engine("interrupted researches", "research", *_either(researched))
    if traces:
        yield _engine("traces", "traces", *_either(traces))
    if turns:
        condition, parameters = _either(turns)
        of_turns = f"conversation IN (SELECT conversation FROM turns WHERE {condition})"  # noqa: S608
        of_names = (_NAMES.format(column="title"), (_list(marks.file_names),))
        titles = _either([(of_turns, parameters), of_names])
        tags = _either([(of_turns, parameters), (_NAMES.format(column="tag"), of_names[1])])
        yield _engine("titles of conversations", "conversation_titles", *titles)
        yield _engine("tags of conversations", "conversation_tags", *tags)
        yield _engine("turns of conversations", "turns", condition, parameters)


def speakers(marks: ErasureMarks) -> list[str]:
    return [f"{person.platform}:{person.id}" for person in marks.people]


def names(marks: ErasureMarks) -> list[str]:
    return [*(document.document for document in marks.documents), *marks.file_names]


def _either(conditions: Iterable[_Condition]) -> _Condition:
    texts, parameters = zip(*conditions, strict=True)
    return " OR ".join(f"({text})" for text in texts), tuple(chain.from_iterable(parameters))


def _conversations(marks: ErasureMarks) -> Iterator[_Condition]:
    for channel in marks.channels:
        yield _BEGINS, _range(f"{channel.platform}:{channel.workspace}:{channel.channel}:")
    for person in marks.people:
        yield _private_conversations(person)


def _private_conversations(person: ErasedPerson) -> _Condition:
    ending = f":ask:{person.id}"
    same = f"substr(conversation, -{len(ending)}) = ? AND {_BEGINS}"
    return same, (ending, *_range(f"{person.platform}:"))


def _documents(marks: ErasureMarks) -> Iterator[ErasureRule]:
    if marks.documents:
        documents = _list(document.document for document in marks.documents)
        uris = [uri for document in marks.documents for uri in document.uris]
        paths = _list(unquote(urlsplit(uri).path) for uri in uris if uri.startswith("file:"))
        hashes = _list(key for document in marks.documents for key in document.vectors)
        cited = "EXISTS (SELECT 1 FROM json_each(?) WHERE instr(citations, value))"
        yield ErasureRule(
            store="vectors.sqlite",
            what="vectors",
            table="vectors",
            condition=f"hash {_IN}",
            parameters=(hashes,),
        )
        yield _engine("files that wait", "jobs", f"CAST(path AS TEXT) {_IN}", (paths,))
        yield _engine("files that were begun", "attempts", f"uri {_IN}", (_list(uris),))
        if not marks.people:
            yield from _talk(_list(uris))
        yield _chat("names of files", "taken_files", f"document {_IN}", (documents,), change=_UNNAMED)
        yield _chat(
            "answers that quote it",
            "answers",
            cited,
            (documents,),
            change=f"citations = '[]', {_UNLINKED}",
        )
    if marks.knowledge_bases:
        for table in ("bindings", "audiences"):
            yield _chat(table, table, f"knowledge_base {_IN}", (_list(marks.knowledge_bases),))


def _talk(uris: str) -> Iterator[ErasureRule]:
    of_uris = f"SELECT source, document FROM channel_documents WHERE uri {_IN}"  # noqa: S608
    yield _chat(
        "documents of channels",
        "channel_documents",
        f"NOT forgotten AND uri {_IN}",
        (uris,),
        change="forgotten = 1",
    )
    yield _chat("messages of channels", "channel_messages", f"(source, document) IN ({of_uris})", (uris,))
    yield _chat(
        "files of channels",
        "channel_files",
        f"person <> '' AND uri {_IN}",
        (uris,),
        change="person = '', state = 'unreadable'",
    )


def _talk_by(by: tuple[str, str]) -> Iterator[ErasureRule]:
    yield _chat(
        "documents of channels",
        "channel_documents",
        f"written >= 0 AND (source, document) IN (SELECT source, document FROM channel_messages WHERE {TALK_OF})",  # noqa: S608
        by,
        change="written = -1, live = 1, version = version + 1",
    )
    yield _chat("messages in channels", "channel_messages", TALK_OF, by)
    yield _chat("files in channels", "channel_files", TALK_OF, by)


def _person(person: ErasedPerson) -> Iterator[ErasureRule]:
    by = (person.platform, person.id)
    yield from _talk_by(by)
    own = f"platform = ? AND person = ? OR {written_by('about')}"
    parameters = (*by, *by)
    rated = f"person = ? OR answer IN (SELECT id FROM answers WHERE {own})"  # noqa: S608
    yield _chat("ratings", "feedback", rated, (person.id, *parameters))
    unread = f"document = '' AND name <> '' AND {FILES_OF}"
    yield _chat("names of unread files", "taken_files", unread, (*by, *by), change=_UNNAMED)
    yield _chat("questions", "answers", own, parameters)
    yield _chat("authors of messages", "authors", "platform = ? AND person = ?", by)
    yield _chat(
        "events under way", "inbox", "platform = ? AND instr(payload, ?)", (person.platform, person.id)
    )
    yield _chat("topics", "topics", *_private_conversations(person))
    yield _chat("digests of gaps", "gap_digests", "platform = ? AND person = ?", by, change="person = ''")
    yield _chat("messages to experts", "expert_posts", "platform = ? AND person = ?", by)
    yield _chat("sessions of the page", "web_sessions", "platform = ? AND person = ?", by)
    yield _chat("links to the page", "web_links", "platform = ? AND person = ?", by)
    mention = (person.platform, f"<@{person.id}>")
    yield _chat("experts", "experts", "platform = ? AND channel = ?", mention)
    yield _chat("questions to experts", "expert_requests", "platform = ? AND person = ?", by)
    yield _chat(
        "answers of experts",
        "expert_requests",
        "platform = ? AND expert = ?",
        by,
        change="expert = '', expert_name = '', said = '', said_in = '', said_uri = '', said_by_post = '', files = '[]', heard = '[]'",
    )
    yield ErasureRule(
        store="footnote.sqlite",
        what="authors of verified answers",
        table="verified_answers",
        condition="platform = ? AND person = ?",
        parameters=by,
        change="author = '', person = '', uri = ''",
    )


def written_by(message: str) -> str:
    """Parameters are platform and person."""
    return (
        f"(platform, workspace, channel, {message}) IN "  # noqa: S608
        "(SELECT platform, workspace, channel, message FROM authors WHERE authors.platform = ? AND authors.person = ?)"
    )


TALK_OF: Final = "source IN (SELECT id FROM channel_sources WHERE platform = ?) AND person = ?"
"""On `channel_messages` and `channel_files`."""
_WITH_OWN_QUESTION: Final = (
    "(answer, message) IN (SELECT id, message FROM answers WHERE platform = ? AND person = ?)"
)
FILES_OF: Final = f"({written_by('message')} OR {_WITH_OWN_QUESTION})"
"""On `taken_files`; parameters are platform and person, twice."""


def _channel(channel: ErasedChannel) -> Iterator[ErasureRule]:
    place = (channel.platform, channel.workspace, channel.channel)
    yield _chat("ratings", "feedback", f"answer IN (SELECT id FROM answers WHERE {_OF_CHANNEL})", place)  # noqa: S608
    yield _chat("questions", "answers", _OF_CHANNEL, place)
    experts = "platform = ? AND workspace = ? AND ? IN (channel, expert_channel)"
    yield _chat("questions to experts", "expert_requests", experts, place)
    yield _chat("channels of experts", "experts", _OF_CHANNEL, place)
    yield _chat("messages to experts", "expert_posts", _OF_CHANNEL, place)
    yield _chat(
        "events under way", "inbox", "platform = ? AND instr(payload, ?)", (channel.platform, channel.channel)
    )
    for table, what in {
        "taken_files": "files",
        "authors": "authors of messages",
        "place_settings": "settings",
        "bindings": "bindings",
        "audiences": "audiences",
        "channel_sources": "messages of channels",
        "group_messages": "marks of group messages",
        "gap_digests": "digests of gaps",
        "gap_digest_posts": "posted digests of gaps",
    }.items():
        yield _chat(what, table, _OF_CHANNEL, place)
    yield _chat("topics", "topics", _BEGINS, _range(f"{':'.join(place)}:"))


def _chat(
    what: str, table: str, condition: str, parameters: tuple[object, ...], *, change: str = ""
) -> ErasureRule:
    return ErasureRule(
        store="chat.sqlite", what=what, table=table, condition=condition, parameters=parameters, change=change
    )


def _engine(what: str, table: str, condition: str, parameters: tuple[object, ...]) -> ErasureRule:
    return ErasureRule(
        store="footnote.sqlite", what=what, table=table, condition=condition, parameters=parameters
    )


def _range(prefix: str) -> tuple[str, str]:
    return prefix, prefix + "\U0010ffff"


def _list(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
