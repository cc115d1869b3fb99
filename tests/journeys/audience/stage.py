"""The service on a stage: a real engine over a real index, rooms that remember who could read what."""

from __future__ import annotations

import io
import itertools
import time
import zipfile
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from bot.access.audience import Audiences
from bot.access.permissions import Permissions
from bot.composition import application as composition
from bot.composition import chat_service
from bot.composition.layers.graph import build_graphs
from bot.files.downloads import Downloads
from bot.files.uploads import Uploads
from bot.port import Action, Attachment, Budget, Command, IncomingMessage, PlainRoom, PlatformLimits, Route
from bot.settings import (
    AccessSettings,
    AnsweringSettings,
    ChatSettings,
    EmbedderSlice,
    ModelSlice,
    ParsingSettings,
    Settings,
)
from bot.store.places import Places
from rag_engine.storage.sqlite.database import connect
from tests.databases import new_database
from tests.journeys.audience.world import OPERATOR, PLACES, QUESTION, SECRETS, TITLES, Eyes, towns

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from bot.conversation.service import Service
    from bot.port import Button, ChannelMessage, Outlet, Page, Person, Place, Write
    from rag_engine.engine import Engine
    from rag_engine.ports import Answerer, Embedder, LanguageModel
    from rag_engine.research.research import Research
    from rag_engine.storage.catalog import SqliteCatalog
    from rag_engine.types import AnswerEvent, ConversationId, KnowledgeBaseId, Query, Retrieval
    from tests.doubles.town import Town

_PLENTY = Budget(name=("plenty",), calls=100_000, seconds=1.0)
_ROUTE = Route(name="plain", create=_PLENTY, edit=_PLENTY, finish=_PLENTY)
_ids = itertools.count(1)


def fresh(kind: str) -> str:
    """An id that no other test has."""
    return f"{kind}-{next(_ids)}"


@dataclass(slots=True, kw_only=True)
class Shown:
    """A message of ours: everything it ever showed, and to whom."""

    id: str
    eyes: Eyes
    pages: list[Page] = field(default_factory=list)

    @property
    def everything(self) -> str:
        """All text that ever stood in it, whatever it stood in."""
        return "\n".join(map(_all_of, self.pages))

    @property
    def buttons(self) -> tuple[Button, ...]:
        return self.pages[-1].buttons


def _all_of(page: Page) -> str:
    reply = page.reply
    parts = [page.text, page.footer, page.status, reply.text, reply.status, *reply.notices]
    parts += [f"{button.label} {button.value}" for button in (*page.buttons, *reply.buttons)]
    parts += [f"{source.title} {source.places} {source.uri}" for source in reply.sources]
    parts += [
        f"{citation.title} {citation.anchor} {citation.quote} {citation.uri}" for citation in reply.citations
    ]
    parts += [
        f"{file.name} {file.description} {_unzipped(file.content)}" for file in (*page.files, *reply.files)
    ]
    return "\n".join(parts)


def _unzipped(content: bytes) -> str:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return repr(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


@dataclass(slots=True, kw_only=True)
class Sheet:
    """A `bot.port.Outlet` that never forgets."""

    stage: Stage
    eyes: Eyes
    messages: list[Shown]
    limits: PlatformLimits = field(default_factory=lambda: PlatformLimits(characters=4000, edit_seconds=0.0))
    routes: Sequence[Route] = (_ROUTE,)

    async def write(self, write: Write) -> str:
        if write.part == len(self.messages):
            self.messages.append(Shown(id=fresh("bot"), eyes=self.eyes))
            self.stage.shown[self.messages[-1].id] = self.messages[-1]
        message = self.messages[write.part]
        if all(shown is not message for shown, _ in self.stage.writing):
            self.stage.writing.append((message, len(message.pages)))
        if write.page is not None:
            # Who reads a page may be another than who read the message before.
            message.eyes = self.eyes
            message.pages.append(write.page)
        return message.id


@dataclass(slots=True, kw_only=True)
class StageRoom(PlainRoom):
    """A `bot.port.Room`."""

    stage: Stage
    name: str
    messages: list[IncomingMessage] = field(default_factory=list)
    stands: Place | None = None
    """The place of the answer to a message."""

    @property
    def place(self) -> Place:
        return PLACES[self.name]

    @property
    def directory(self) -> Town:
        return self.stage.towns[self.place.platform, self.place.workspace]

    async def open_thread(self) -> Place:
        return self.stands or self.place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        standing = [self.stage.shown[identity] for identity in posted]
        return Sheet(stage=self.stage, eyes=Eyes(place=self.name, person=private), messages=standing)

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        return self.messages[-limit:]

    @property
    def finds_messages(self) -> bool:
        return bool(self.stage.messages)

    async def find_messages(self, question: str, *, limit: int) -> Sequence[ChannelMessage]:
        """Whatever was ever written, as by a platform that checks nothing."""
        of = (self.place.platform, self.place.workspace)
        return [each for place, each in self.stage.messages if (place.platform, place.workspace) == of]

    async def fetch(self, link: str) -> IncomingMessage | None:
        """As a bot can: it reads every channel that it is in."""
        return self.stage.links.get((self.place.platform, self.place.workspace, link))


@dataclass(slots=True, kw_only=True)
class Watched:
    """The engine, and what it was asked."""

    engine: Engine
    queries: list[Query] = field(default_factory=list)

    @property
    def models(self) -> Sequence[LanguageModel]:
        return self.engine.models

    @property
    def choices(self) -> Mapping[str, LanguageModel]:
        return self.engine.choices

    @property
    def answerer(self) -> Answerer:
        return self.engine.answerer

    @property
    def embedder(self) -> Embedder:
        return self.engine.embedder

    @property
    def research(self) -> Research | None:
        return self.engine.research

    def answer(self, query: Query) -> AsyncGenerator[AnswerEvent]:
        self.queries.append(query)
        return self.engine.answer(query)

    async def search(self, query: Query) -> Retrieval:
        self.queries.append(query)
        return await self.engine.search(query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was shown to a question, and the conversation that it is kept in."""

    shown: list[Shown]
    conversation: ConversationId | None


Way: TypeAlias = Literal["mention", "private", "channel"]
"""How somebody asks: in a message, or by a command for themselves or for all."""


@dataclass(slots=True, kw_only=True)
class Stage:
    """Everybody, everything they hold, and everything that was ever shown."""

    towns: dict[tuple[str, str], Town]
    catalog: SqliteCatalog
    engine: Watched
    service: Service
    places: Places
    bound: bool
    """Every channel is bound to everything."""
    shown: dict[str, Shown] = field(default_factory=dict)
    writing: list[tuple[Shown, int]] = field(default_factory=list)
    """Messages that are written to in what happens now, and how many pages they had before."""
    messages: list[tuple[Place, ChannelMessage]] = field(default_factory=list)
    """What the platform's own search finds."""
    links: dict[tuple[str, str, str], IncomingMessage] = field(default_factory=dict)
    _asked: dict[tuple[str, Person, Way], Asked] = field(default_factory=dict)
    held: dict[str, KnowledgeBaseId] = field(default_factory=dict)

    def room(self, name: str, *earlier: IncomingMessage, stands: Place | None = None) -> StageRoom:
        return StageRoom(stage=self, name=name, messages=list(earlier), stands=stands)

    async def says(
        self,
        name: str,
        person: Person,
        text: str = QUESTION,
        *,
        earlier: Sequence[IncomingMessage] = (),
        **changes: object,
    ) -> list[Shown]:
        """What is shown, while and after the person writes a message there."""
        said = message(name, person, text, **changes)
        return await self.shows(self.service.on_message(said, self.room(name, *earlier, stands=said.place)))

    async def types(self, name: str, person: Person, command: str, line: str = "") -> list[Shown]:
        """The same of a slash command."""
        used = Command(id=fresh("command"), name=command, place=PLACES[name], person=person, line=line)
        return await self.shows(self.service.on_command(used, self.room(name)))

    async def presses(
        self, name: str, person: Person, button: str, value: str, *, under: str = ""
    ) -> list[Shown]:
        """The same of a button."""
        pressed = Action(
            id=fresh("action"), name=button, value=value, place=PLACES[name], person=person, message=under
        )
        return await self.shows(self.service.on_action(pressed, self.room(name)))

    async def once(self, name: str, person: Person, way: Way) -> Asked:
        """The answer to the person's question, asked now if need be: a place to press buttons."""
        key = (name, person, way)
        if key not in self._asked:
            if way == "mention":
                shown = await self.says(name, person)
            else:
                line = QUESTION if way == "private" else f"channel: {QUESTION}"
                shown = await self.types(name, person, "ask", line)
            self._asked[key] = Asked(shown=shown, conversation=self.engine.queries[-1].conversation)
        return self._asked[key]

    async def rebind(self, place: Place, bindings: Sequence[KnowledgeBaseId]) -> None:
        """Bind the place to these and to nothing else."""
        for base in await self.places.bindings(place):
            await self.places.unbind(place, base)
        for base in bindings:
            await self.places.bind(place, base)

    async def shows(self, happening: Awaitable[None]) -> list[Shown]:
        """The pages that are written while it happens."""
        self.writing.clear()
        await happening
        written = [replace(shown, pages=shown.pages[before:]) for shown, before in self.writing]
        assert all("Something broke" not in shown.everything for shown in written)
        return written


def message(name: str, person: Person, text: str, **changes: object) -> IncomingMessage:
    """A person's message in a place: in its thread, or opening one."""
    place = PLACES[name]
    identity = fresh("message")
    opens = not place.thread and not name.startswith("dm") and "private" not in changes
    made = IncomingMessage(
        id=identity,
        place=replace(place, thread=identity) if opens else place,
        person=person,
        text=text,
        in_thread=bool(place.thread),
        uri=f"https://chat.test/{name}/{identity}",
        at=time.time(),
    )
    return replace(made, **changes)


def secret_file(holder: str) -> Attachment:
    """The holder's document: the same sentences for all but for one word."""
    word = SECRETS[holder]
    text = f"The launch code of the harbour project is {word}.\n\nAsk nobody else for the launch code: {word} it is.\n"
    return attachment(TITLES[holder], text)


def attachment(name: str, text: str) -> Attachment:
    async def blocks() -> AsyncIterator[bytes]:
        yield text.encode()

    uri = f"https://chat.test/files/{name}"
    return Attachment(name=name, media_type="text/plain", size=len(text), uri=uri, open=blocks)


@asynccontextmanager
async def opened(
    folder: Path, *, bound: bool, file: Callable[[str], Attachment] = secret_file, graphs: bool = False
) -> AsyncGenerator[Stage]:
    """The stage, where everybody holds a secret; `bound`: every channel is bound to everything, which changes nobody's rights.

    `graphs`: of every knowledge base there is one.
    """
    settings = Settings(
        data_dir=folder,
        embedder=EmbedderSlice(kind="hashing"),
        model=ModelSlice.model_validate({"kind": "extractive", "sentences": 20}),
        parsing=ParsingSettings(workers=1),
        access=AccessSettings(add="everyone"),
        answering=AnsweringSettings(passages=20),
        # Some people ask hundreds of questions.
        chat=ChatSettings(questions_per_hour=0, repeats_per_hour=0, sources_per_hour=0),
        # Whatever is found is shown, so that a leak would be seen.
        steps={"evidence": {"enabled": False}},
    )
    async with AsyncExitStack() as stack:
        application = await stack.enter_async_context(composition.application(settings))
        engine = Watched(engine=application.engine)
        service = await stack.enter_async_context(
            chat_service.service(replace(application, engine=cast("Engine", engine)))
        )
        database = await stack.enter_async_context(
            connect(new_database(folder / "chat.sqlite"), scripts=files("bot.store") / "sql")
        )
        places = Places(database)
        stage = Stage(
            towns=towns(),
            catalog=application.catalog,
            engine=engine,
            service=cast("Service", service),
            places=places,
            bound=bound,
        )
        audiences = Audiences(
            places=places,
            catalog=application.catalog,
            access=Permissions(settings=settings.access),
            model=application.library.embedder.model,
        )
        for holder, place in PLACES.items():
            stage.held[holder] = (await audiences.own(place)).id
        operators = await application.catalog.open(f"{SECRETS[OPERATOR]} handbook", model=audiences.model)
        stage.held[OPERATOR] = operators.id
        uploads = Uploads(intake=application.library.ingestion, fetching=Downloads(most_bytes=1 << 20))
        for holder, base in stage.held.items():
            (taken,) = await uploads.add([file(holder)], knowledge_base=base, show=_ignore)
            assert taken.searchable, taken.line
            if graphs:
                await application.catalog.graph.switch(base, "rules")
                await build_graphs(settings, application.library, base)
        for place in PLACES.values() if bound else ():
            for base in stage.held.values():
                await places.bind(place, base)
        yield stage


def _ignore(lines: tuple[str, ...]) -> None:
    """Nobody watches."""
