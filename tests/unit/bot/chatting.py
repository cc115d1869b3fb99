"""A chat in memory as people see it, and a service over a real engine, real SQLite files and the real scheduler."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from bot.access.permissions import Permissions, Scope
from bot.access.question_budget import QuestionBudget
from bot.composition.conversation import ChatStores, Policies, Removals, assemble
from bot.conversation.dependencies import Commands, FollowedReply
from bot.conversation.explanation.explanation_view import ExplanationView
from bot.files.downloads import Downloads
from bot.files.uploads import Uploads
from bot.messages.refusals import PlaceName
from bot.port import (
    Action,
    Attachment,
    Budget,
    Channel,
    ChatError,
    Command,
    File,
    IncomingMessage,
    Membership,
    Person,
    Place,
    PlatformLimits,
    Reply,
    Route,
    Unreachable,
)
from bot.settings import AccessSettings, ChatSettings
from bot.store.places import PlaceSettings
from bot.streaming.message_stream import WriteDeadlines
from bot.streaming.scheduler import Scheduler
from rag_engine import plugins
from rag_engine.embedders import hashing
from rag_engine.engine import Engine, question_of
from rag_engine.errors import NotAllowed
from rag_engine.indexes import embedded
from rag_engine.ingestion.ingestion import Ingestion
from rag_engine.models import extractive
from rag_engine.models.scripted import ScriptedLine, ScriptedModel
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import parser_name
from rag_engine.pipeline import NamedStep
from rag_engine.ports import IndexIdentity, Ports
from rag_engine.splitters import structure
from rag_engine.storage.catalog import SqliteCatalog
from rag_engine.storage.history import SqliteHistory
from rag_engine.storage.sqlite.database import connect
from rag_engine.summaries.plan import Summaries
from rag_engine.text import analyzer
from tests.databases import new_database

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Mapping,
        Sequence,
    )
    from pathlib import Path

    from bot.access.permissions import Act
    from bot.conversation.dependencies import Show
    from bot.conversation.follow_ups import SuggestQuestions
    from bot.conversation.service import Service
    from bot.conversation.turn.thread_titles import WriteTitle
    from bot.port import Directory, Page, Room, Write
    from bot.store.turns import ChatTurn, Turns
    from rag_engine.ports import LanguageModel
    from rag_engine.types import Blob, KnowledgeBase, Section

ANN = Person(id="U1", name="Ann", language="en")
BEN = Person(id="U2", name="Ben", language="en")
ADMIN = Person(id="U9", name="Ada", language="en")
CHANNEL = Place(platform="test", workspace="w", channel="general")
THREAD = replace(CHANNEL, thread="t1")
DIRECT = Place(platform="test", workspace="w", channel="dm-ann")

_FREE = Budget(name=("free",), calls=1_000_000, seconds=1)
_ROUTE = Route(name="plain", create=_FREE, edit=_FREE, finish=_FREE)


@dataclass
class Post:
    """One message of ours: every page it ever showed."""

    id: str
    place: Place
    private: Person | None
    pages: list[Page] = field(default_factory=list)
    gone: bool = False

    @property
    def reply(self) -> Reply:
        return self.pages[-1].reply

    @property
    def text(self) -> str:
        return self.pages[-1].text

    @property
    def statuses(self) -> list[str]:
        return [page.status for page in self.pages if page.status]

    def button(self, name: str, *, ends: str = "") -> str:
        """The value of the button of that name."""
        return next(
            one.value for one in self.pages[-1].buttons if one.name == name and one.value.endswith(ends)
        )

    @property
    def buttons(self) -> list[str]:
        return [one.name for one in self.pages[-1].buttons]


async def no_pictures() -> tuple[File, ...]:
    return ()


@dataclass
class Chat:
    """What everybody has written, and where."""

    posts: dict[str, Post] = field(default_factory=dict)
    said: list[IncomingMessage] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    fault: Exception | None = None
    """Raised by every public write."""
    pictures: Callable[[], Awaitable[tuple[File, ...]]] = no_pictures
    """Of the Sources."""
    reactions: list[str] | None = field(default_factory=list[str])
    """Ids of messages marked as read; None: not permitted."""
    mute: bool = False
    """Earlier messages cannot be read."""
    reads: int = 0
    titles: list[tuple[str, str]] = field(default_factory=list)
    """Of threads, with their ids."""

    @property
    def public(self) -> list[Post]:
        return [post for post in self.posts.values() if post.private is None and not post.gone]

    @property
    def private(self) -> list[Post]:
        return [post for post in self.posts.values() if post.private is not None and not post.gone]

    async def until(self, predicate: object) -> None:
        """Wait until the predicate holds; it is asked whenever a message of ours changes."""
        assert callable(predicate)
        async with asyncio.timeout(5), self.changed:
            await self.changed.wait_for(predicate)

    def message(self, text: str = "", *attachments: Attachment, **values: object) -> IncomingMessage:
        """A message that somebody writes; by default a question of Ann's that opens a thread of the channel."""
        number = next(self.numbers)
        identity = f"m{number}"
        given: dict[str, object] = {
            "id": identity,
            "place": replace(CHANNEL, thread=identity),
            "person": ANN,
            "at": time.time(),
            "uri": f"chat://general/{identity}",
            **values,
        }
        message = IncomingMessage(text=text, attachments=attachments, **given)
        self.said.append(message)
        return message


class Outlet:
    """Where pages go. What exists is edited, what does not is created."""

    limits = PlatformLimits(characters=4000, edit_seconds=0)
    routes = (_ROUTE,)

    def __init__(self, chat: Chat, place: Place, private: Person | None, posted: Sequence[str]) -> None:
        self._chat = chat
        self._place = place
        self._private = private
        self._parts = list(posted)

    async def write(self, write: Write) -> str:
        if self._chat.fault is not None and self._private is None:
            raise self._chat.fault
        async with self._chat.changed:
            if write.part == len(self._parts):
                number = next(self._chat.numbers)
                identity = f"b{number}"
                post = Post(id=identity, place=self._place, private=self._private)
                self._chat.posts[identity] = post
                self._parts.append(identity)
                if self._private is None:
                    bot = Person(id="bot")
                    self._chat.said.append(
                        IncomingMessage(
                            id=identity, place=self._place, person=bot, text="ours", ours=True, at=time.time()
                        )
                    )
            post = self._chat.posts[self._parts[write.part]]
            if write.page is None:
                post.gone = True
                self._parts.pop()
            else:
                post.pages.append(write.page)
            self._chat.changed.notify_all()
        return post.id


@dataclass
class Here:
    """The room of one event."""

    chat: Chat
    place: Place
    event: IncomingMessage | None = None
    directory: Directory = field(default_factory=lambda: Everybody())
    threads: bool = True
    """Whether the thread that the answer is to open can be opened."""
    opened: int = 0
    """How often it was asked where the answer stands."""

    async def open_thread(self) -> Place:
        self.opened += 1
        opens = self.event is not None and not self.event.in_thread
        return self.place.parent if opens and not self.threads else self.place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        return Outlet(self.chat, self.place if self.threads else self.place.parent, private, posted)

    async def mark_read(self) -> bool:
        if self.chat.reactions is None or self.event is None:
            return False
        self.chat.reactions.append(self.event.id)
        return True

    async def show_activity(self, *, title: str, status: str) -> None: ...

    @property
    def can_be_renamed(self) -> bool:
        return bool(self.place.thread)

    async def rename(self, title: str) -> None:
        self.chat.titles.append((self.place.thread, title))

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        self.chat.reads += 1
        if self.chat.mute:
            raise Unreachable("The platform does not answer.")
        in_thread = self.event is None or self.event.in_thread
        before = [
            said
            for said in self.chat.said
            if said.place.channel == self.place.channel
            and (not in_thread or said.place.thread == self.place.thread)
            and (self.event is None or (said.at < self.event.at and said.id != self.event.id))
        ]
        return before[-limit:]

    async def fetch(self, link: str) -> IncomingMessage | None:
        return next((said for said in self.chat.said if said.uri == link), None)


@dataclass
class Everybody:
    """Everybody is known, and Ada is the administrator."""

    home: str = "w"
    gone: set[str] = field(default_factory=set)
    """People who can read nothing any more."""
    refuses: ChatError | None = None
    """What the platform answers about who is present."""

    def of_workspace(self, workspace: str) -> Directory | None:
        return self if workspace == self.home else None

    async def are_members(self, *, person: str = "", everyone_in: str = "") -> bool:
        return True

    async def joined(self, person: str, channels: Collection[str]) -> frozenset[str]:
        return frozenset(channels)

    async def present(self, place: Place, person: str) -> bool:
        if self.refuses is not None:
            raise self.refuses
        return person not in self.gone

    async def channel(self, channel: str) -> Channel:
        return Channel(id=channel, name=channel, kind="direct" if channel.startswith("dm") else "public")

    async def membership(self, person: str) -> Membership:
        return Membership(admin=person == ADMIN.id, member=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        return True


@dataclass
class OpenTown:
    """Audiences, access and settings in their plainest form: each place sees its own and its channel's."""

    catalog: SqliteCatalog
    model: str
    settings_of: dict[str, PlaceSettings] = field(default_factory=dict)
    empty: bool = False
    named: bool = False
    """Knowledge bases are known by their names."""
    closed: bool = False
    """In threads too, only Ada may add files."""

    async def scope(
        self, place: Place, directory: Directory, *, person: Person | None = None, asker: Person | None = None
    ) -> Scope:
        wanted = {self._name(place), self._name(place.parent)}
        bases = [base for base in await self.catalog.knowledge_bases() if base.name in wanted]
        return Scope(
            knowledge_bases=frozenset(base.id for base in bases if not self.empty),
            name=f"#{place.channel}",
            threads=not bases,
            names={base.id: PlaceName(base.name) for base in bases} if self.named else {},
        )

    async def own(self, place: Place) -> KnowledgeBase:
        return await self.catalog.open(self._name(place), model=self.model)

    async def check_present(self, person: Person, place: Place, directory: Directory) -> None:
        await Permissions(settings=AccessSettings()).check_present(person, place, directory)

    async def admit_person(self, person: Person, place: Place, directory: Directory) -> None:
        self.admit(place)

    def admit(self, place: Place) -> None:
        if place.workspace == "elsewhere":
            raise NotAllowed("This workspace is not served.")

    async def check(
        self, person: Person, place: Place, directory: Directory, *, act: Act, asker: str = ""
    ) -> None:
        if act == "stop" and person.id == asker:
            return
        if act == "add" and not self.closed and (place.thread or place.channel.startswith("dm")):
            return
        if not (await directory.membership(person.id)).admin:
            raise NotAllowed(f"Only an admin may {act} here.")

    async def settings(self, place: Place) -> PlaceSettings:
        return self.settings_of.get(place.channel, PlaceSettings())

    def _name(self, place: Place) -> str:
        return f"{place.channel} {place.thread}".strip()


@dataclass
class World:
    """Everything a test asks or changes."""

    chat: Chat
    town: OpenTown
    service: Service
    model: ScriptedModel
    turns: Turns
    history: SqliteHistory
    catalog: SqliteCatalog
    stores: ChatStores
    removals: Removals
    uploads: Uploads
    assemble: Callable[..., Service]
    """Makes the service again, as a restart does; takes other `stores` or `removals`."""
    ingestion: Ingestion
    intake: Ingestion
    script: list[ScriptedLine]

    async def send(self, message: IncomingMessage, *, into: Room | None = None) -> None:
        """Deliver the message and wait until it has been dealt with."""
        async with asyncio.timeout(10):
            await self.service.on_message(message, into or Here(self.chat, message.place, message))

    async def ask(self, text: str, *attachments: Attachment, **values: object) -> Post:
        """Send a message; what stands last."""
        await self.send(self.chat.message(text, *attachments, **values))
        return self.last

    @property
    def last(self) -> Post:
        return list(self.chat.posts.values())[-1]

    async def press(
        self,
        post: Post,
        name: str,
        *,
        person: Person = ANN,
        value: str = "",
        ends: str = "",
        directory: Directory | None = None,
    ) -> None:
        """Press a button under the message."""
        action = Action(
            id=f"a{next(self.chat.numbers)}",
            name=name,
            value=value or post.button(name, ends=ends),
            place=post.place,
            person=person,
            message=post.id,
        )
        async with asyncio.timeout(10):
            room = Here(self.chat, post.place, directory=directory or Everybody())
            await self.service.on_action(action, room)

    async def command(
        self, name: str, line: str = "", *, place: Place = CHANNEL, person: Person = ANN
    ) -> None:
        command = Command(id=f"c{next(self.chat.numbers)}", name=name, line=line, place=place, person=person)
        async with asyncio.timeout(10):
            await self.service.on_command(command, Here(self.chat, place))

    async def file(self, name: str, text: str, *, place: Place = CHANNEL) -> None:
        """Something to find, in the place's own knowledge base."""
        base = await self.town.own(place)
        taken = await self.uploads.add(
            [attachment(name, text)], knowledge_base=base.id, show=lambda lines: None
        )
        assert taken[0].searchable, taken

    def says(self, *pieces: str, pattern: str = "", **values: object) -> None:
        """What the model answers from now on."""
        self.script.insert(0, ScriptedLine(pieces=pieces, pattern=pattern, **values))


def attachment(name: str, content: str | bytes | Exception, **values: object) -> Attachment:
    """A file of a message; an exception comes when it is opened."""
    data = content.encode() if isinstance(content, str) else content

    async def pieces() -> AsyncIterator[bytes]:
        if isinstance(data, Exception):
            raise data
        yield data

    size = 0 if isinstance(data, Exception) else len(data)
    given = {
        "media_type": "application/octet-stream",
        "size": size,
        "uri": f"chat://files/{name}",
        "id": f"F-{name}",
        **values,
    }
    return Attachment(name=name, open=pieces, **given)


async def parse(blob: Blob) -> AsyncIterator[list[Section]]:
    """The real parsers, in a thread instead of a process."""

    def read() -> list[Section]:
        return list(plugins.load(FAMILY, parser_name(blob.path, blob.name)).parse(blob.path))

    yield await asyncio.to_thread(read)


@asynccontextmanager
async def world(
    folder: Path,
    *,
    settings: ChatSettings | None = None,
    max_file_bytes: int = 1_000_000,
    budget: QuestionBudget | None = None,
    complete: bool = False,
    understands: bool = False,
    judges: bool = False,
    choices: Mapping[str, LanguageModel] | None = None,
    suggest: SuggestQuestions | None = None,
    write_title: WriteTitle | None = None,
) -> AsyncGenerator[World]:
    """A service with nothing in it yet. The model says what the world tells it to, else it quotes.

    `complete` also completes follow-ups and summarises; `judges` decides before writing whether passages answer.
    """
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(connect(new_database(folder / "footnote.sqlite")))
        chats = await stack.enter_async_context(
            connect(new_database(folder / "chat.sqlite"), scripts=files("bot.store") / "sql")
        )
        embedder = await stack.enter_async_context(hashing.connect(hashing.Settings(), data_dir=folder))
        identity = IndexIdentity(
            model=embedder.model, dimensions=embedder.dimensions, analyzer=analyzer.VERSION
        )
        index = await stack.enter_async_context(
            embedded.connect(embedded.Settings(), data_dir=folder, identity=identity)
        )
        quoting = await stack.enter_async_context(
            extractive.connect(extractive.Settings(), embedder=embedder)
        )
        script: list[ScriptedLine] = []
        model = _Model(script)
        history, catalog = SqliteHistory(database), SqliteCatalog(database)
        ports = Ports(
            embedder=embedder,
            index=index,
            model=model if understands else None,
            metadata=catalog.metadata,
        )
        ingestion = Ingestion(
            parse=parse,
            splitter=structure.build(
                structure.Settings(), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
            ),
            embedder=embedder,
            index=index,
            catalog=catalog,
        )
        engine = Engine(
            search_steps=[
                _step(name, ports)
                for name in (*(["understand"] if complete or understands else []), "retrieve", "fuse")
            ],
            prompt_steps=[_step(name, ports) for name in (*(["evidence"] if judges else []), "pack")],
            models=[model],
            choices=choices or {},
            answerer=quoting,
            embedder=embedder,
            history=history,
            metadata=catalog.metadata,
            summaries=Summaries(
                index=index, library=catalog, unfinished=catalog.unfinished, embedder=embedder
            )
            if complete
            else None,
        )
        town = OpenTown(catalog=catalog, model=embedder.model)
        stores = ChatStores.over(chats, retention_seconds=90 * 86_400.0)
        uploads = Uploads(intake=ingestion, fetching=Downloads(most_bytes=max_file_bytes, seconds=5))
        removals = Removals(
            turn=lambda turn: history.forget((turn, question_of(turn))),
            document=ingestion.forget,
            source=ingestion.forget_source,
        )
        assembled = partial(
            assemble,
            engine=engine,
            stores=stores,
            policies=Policies(
                audiences=town,
                permissions=town,
                places=town,
                commands=Commands(specs=(), execute=_execute, press=_press),
                show_sources=_show_sources,
                show_explanation=ExplanationView(
                    audiences=town, catalog=catalog, history=history, turns=stores.turns
                ).press,
                names=catalog.metadata.names,
                budget=budget or QuestionBudget(),
            ),
            removals=removals,
            uploads=uploads,
            scheduler=Scheduler(deadlines=WriteDeadlines(final=0.2, first_wait=0.05, longest_wait=0.05)),
            settings=settings or ChatSettings(),
            passages=None,
            keep_trace=history.keep,
            stored_answers=history,
            records=catalog.records,
            suggest=suggest,
            write_title=write_title,
        )
        yield World(
            chat=Chat(),
            town=town,
            service=assembled(),
            model=model,
            turns=stores.turns,
            history=history,
            catalog=catalog,
            stores=stores,
            removals=removals,
            uploads=uploads,
            assemble=assembled,
            ingestion=ingestion,
            intake=ingestion,
            script=script,
        )


class _Model(ScriptedModel):
    """The scripted model with a script that can still be written."""

    def __init__(self, script: list[ScriptedLine]) -> None:
        super().__init__(())
        self._script = script


def _step(name: str, ports: Ports) -> NamedStep:
    module = plugins.load("rag_engine.steps", name)
    return NamedStep(name=name, run=module.build(module.Settings(), ports), status=module.STATUS)


async def _execute(command: Command, room: Room, show: Show) -> Reply:
    if command.line == "fail":
        raise ValueError("a bug")
    return Reply(text=f"done: {command.name} {command.line}".strip())


async def _press(action: Action, room: Room, show: Show) -> Reply | None:
    return Reply(text="page 2") if action.name == "kb" else None


async def _show_sources(turn: ChatTurn, action: Action, room: Room) -> FollowedReply:
    assert isinstance(room, Here)
    reply = Reply(text="\n".join(citation.quote for citation in turn.citations))
    return FollowedReply(reply=reply, files=room.chat.pictures)
