"""What observers learn of the ports; without observers nothing is wrapped."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.observability import Observers
from bot.observability.metrics import Meters
from bot.observability.observed_service import ObservedInbox, ObservedOutlet
from bot.observability.operations import Embedding, ModelCall, Parsing, Writing, outcome_of
from bot.port import (
    ChannelMessage,
    Gone,
    Page,
    Person,
    Place,
    PlainRoom,
    PlatformLimits,
    Room,
    Route,
    Stopped,
    Throttled,
    Unreachable,
    Write,
    WriteRefused,
)
from rag_engine import plugins
from rag_engine.errors import (
    ContentFiltered,
    CorruptFile,
    MissingExtra,
    ModelUnavailable,
)
from rag_engine.types import Blob, Message, Prompt
from tests.unit.adapters.recording import MemoryInbox

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Sequence

    from bot.observability.operations import Operation
    from rag_engine.ports import LanguageModel
    from rag_engine.types import Section

PROMPT = Prompt(messages=(Message(role="user", content="How long?"),), tokens=42)


class Told:
    """A sink that keeps what it gets."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.depths: dict[str, Callable[[], float]] = {}

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        try:
            yield
        finally:
            self.operations.append(operation)

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        self.depths[queue] = read

    def waited(self, database: str, seconds: float) -> None: ...

    def circuit(self, backend: str, state: str) -> None: ...


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def observers(told: Told) -> Observers:
    return Observers(sinks=(told,))


def test_where_nobody_observes_nothing_is_wrapped() -> None:
    port: Any = object()
    nobody = Observers()
    wrapped = [nobody.index, nobody.embedder, nobody.model, nobody.reranker, nobody.parse, nobody.service]
    assert [wrap(port) for wrap in wrapped] == [port] * len(wrapped)
    assert nobody.steps(port) is port


async def test_an_observed_room_has_the_optional_parts_of_the_room(observers: Observers) -> None:
    message = ChannelMessage(
        channel="C1", channel_name="general", person=Person(id="U1"), text="Friday", uri="", at=1.0
    )

    class SearchedRoom(PlainRoom):
        @property
        def finds_messages(self) -> bool:
            return True

        async def find_messages(self, question: str, *, limit: int) -> Sequence[ChannelMessage]:
            return [message] * limit

    class Service:
        inbox = MemoryInbox()
        commands = ()

        async def on_command(self, command: Any, room: Room) -> None:
            self.room = room

    service = Service()
    place = Place(platform="slack", workspace="T1", channel="C1")
    command: Any = SimpleNamespace(place=place)
    await observers.service(cast("Any", service)).on_command(command, cast("Any", SearchedRoom()))
    assert service.room.finds_messages
    assert await service.room.find_messages("When?", limit=2) == [message, message]
    # Every member of the port is there, whatever is added to it.
    assert {name for name in vars(Room) if not name.startswith("_")} <= set(dir(service.room))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ModelUnavailable(), "unavailable"),
        (CorruptFile(), "rejected"),
        (ContentFiltered(), "refused"),
        (Throttled(seconds=1), "throttled"),
        (Unreachable(), "unreachable"),
        (Stopped(), "stopped"),
        (Gone(), "gone"),
        (WriteRefused(), "refused"),
        (asyncio.CancelledError(), "cancelled"),
        (GeneratorExit(), "cancelled"),
        (KeyError(), "failed"),
    ],
)
def test_every_error_has_a_name_of_few(error: BaseException, outcome: str) -> None:
    assert outcome_of(error) == outcome


# --- models


class Model:
    """Says a few pieces, and then raises, if it is to."""

    name = "scripted"
    context_tokens = 4096
    window_is_assumed = False

    def __init__(self, *pieces: str, error: Exception | None = None) -> None:
        self._pieces = pieces
        self._error = error

    @asynccontextmanager
    async def stream(self, prompt: Prompt, *, task: str) -> AsyncGenerator[AsyncIterator[str]]:
        yield self._said()

    async def _said(self) -> AsyncGenerator[str]:
        for piece in self._pieces:
            yield piece
        if self._error is not None:
            raise self._error


async def test_a_reply_is_reported_with_its_tokens_and_its_first_text(
    told: Told, observers: Observers
) -> None:
    async with observers.model(Model("Two ", "weeks.")).stream(PROMPT, task="answer") as pieces:
        assert [piece async for piece in pieces] == ["Two ", "weeks."]
    (call,) = told.operations
    assert isinstance(call, ModelCall)
    assert (call.outcome, call.model, call.task, call.prompt_tokens) == ("ok", "scripted", "answer", 42)
    assert call.reply_tokens >= 2
    assert call.first_text_seconds is not None
    assert 0 < call.first_text_seconds <= call.seconds


async def _stop_after_one_piece(model: LanguageModel) -> None:
    async with model.stream(PROMPT, task="answer") as pieces:
        await anext(pieces)
        raise asyncio.CancelledError


async def test_a_reply_that_breaks_off_or_is_not_wanted_any_more(told: Told, observers: Observers) -> None:
    cut = observers.model(Model("Two ", error=ModelUnavailable()))
    with pytest.raises(ModelUnavailable):
        async with cut.stream(PROMPT, task="answer") as pieces:
            [piece async for piece in pieces]
    never = observers.model(Model(error=ModelUnavailable()))
    with pytest.raises(ModelUnavailable):
        async with never.stream(PROMPT, task="answer") as pieces:
            [piece async for piece in pieces]
    stopped = observers.model(Model("Two "))
    with pytest.raises(asyncio.CancelledError):
        await _stop_after_one_piece(stopped)
    calls = cast("list[ModelCall]", told.operations)
    assert [call.outcome for call in calls] == ["unavailable", "unavailable", "cancelled"]
    assert [call.first_text_seconds is None for call in calls] == [False, True, False]
    assert calls[1].reply_tokens == 0


# --- files


async def test_a_file_is_counted_by_a_format_of_few(told: Told, observers: Observers) -> None:
    async def parse(blob: Blob) -> AsyncGenerator[list[Section]]:
        if blob.name == "broken.pdf":
            raise CorruptFile
        yield []

    for name in ("notes.md", "zebrafinch.zebrafinch", "broken.pdf"):
        blob = Blob(name=name, media_type="", path=Path(name), digest="", size=1, uri="")
        try:
            assert [batch async for batch in observers.parse(parse)(blob)] == [[]]
        except CorruptFile:
            continue
    parsed = [(each.format, each.outcome) for each in told.operations if isinstance(each, Parsing)]
    assert parsed == [("markdown", "ok"), ("other", "ok"), ("pdf", "rejected")]


# --- the chat


class Wall:
    """An outlet that answers as the test says."""

    limits = PlatformLimits(characters=2000, edit_seconds=1)
    routes: Sequence[Route] = ()

    def __init__(self) -> None:
        self.error: Exception | None = None

    async def write(self, write: Write) -> str:
        if self.error is not None:
            raise self.error
        return "m1"


async def test_writes_are_labelled_by_what_they_do(told: Told, observers: Observers) -> None:
    wall = Wall()
    outlet = ObservedOutlet(wall, observers, "slack")
    page = Page(text="Two weeks.")
    wall.error = Throttled(seconds=1)
    with pytest.raises(Throttled):
        await outlet.write(Write(part=0, page=page, route="posted"))
    wall.error = None
    for write in (
        Write(part=0, page=page, route="posted"),
        Write(part=0, page=page, route="posted"),
        Write(part=1, page=page, route="posted"),
        Write(part=0, page=page, route="posted", final=True),
        Write(part=1, page=None, route="posted"),
    ):
        assert await outlet.write(write) == "m1"
    written = [(each.action, each.outcome) for each in told.operations if isinstance(each, Writing)]
    assert written == [
        ("create", "throttled"),
        ("create", "ok"),
        ("edit", "ok"),
        ("create", "ok"),
        ("final", "ok"),
        ("remove", "ok"),
    ]


async def test_how_many_events_are_not_dealt_with_yet(told: Told, observers: Observers) -> None:
    memory = MemoryInbox()
    await memory.add("slack", "before", {})
    inbox = ObservedInbox(memory, observers)
    assert told.depths["inbox"]() == 0
    await inbox.unhandled("slack")
    await inbox.add("slack", "e1", {})
    await inbox.add("slack", "e1", {})
    await inbox.add("discord", "e1", {})
    assert told.depths["inbox"]() == 3
    await inbox.remove("slack", "e1")
    await inbox.remove("slack", "before")
    assert told.depths["inbox"]() == 1
    assert [event for event, _ in await inbox.unhandled("slack")] == []


# --- sinks


def test_every_sink_receives_an_operation_and_its_outcome() -> None:
    sinks = Told(), Told()
    observers = Observers(sinks=sinks)
    with pytest.raises(KeyError), observers.around(Embedding(side="query", texts=1)):
        raise KeyError
    assert [sink.operations[0].outcome for sink in sinks] == ["failed", "failed"]
    assert isinstance(sinks[0].operations[0].error, KeyError)


def test_a_circuit_and_a_wait_are_shown() -> None:
    meters = Meters()
    observers = Observers(sinks=(meters,))
    for state, value in (("open", 1), ("half_open", 0.5), ("closed", 0)):
        observers.circuit("reranker", state)
        shown = meters.registry.get_sample_value("footnote_circuit_open", {"backend": "reranker"})
        assert shown == value
    observers.waited("chat", 0.003)
    labels = {"database": "chat", "le": "0.005"}
    assert meters.registry.get_sample_value("footnote_storage_wait_seconds_bucket", labels) == 1
    observers.depth("files", lambda: 7)
    assert meters.registry.get_sample_value("footnote_waiting", {"queue": "files"}) == 7


def test_without_its_libraries_tracing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "bot.observability.otel_traces", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'footnote-bot\[otel\]'$"):
        plugins.load("bot.observability", "otel_traces", extra="otel")
