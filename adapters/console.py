"""The console: the reference adapter. A terminal shows the answer as it grows; a pipe gets the final text alone."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import mimetypes
import sys
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from pydantic import BaseModel, ConfigDict
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from bot.port import (
    Attachment,
    Budget,
    Channel,
    ChatService,
    Citation,
    Directory,
    IncomingMessage,
    Limits,
    Outlet,
    Person,
    Place,
    Reply,
    Route,
    Source,
    Standing,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from bot.port import Page

_HELP = """Ask a question, or:
  /add FILE   add a file to this conversation
  /sources    the quoted passages behind the last answer
  /help       this text
  /quit       leave (Ctrl-D does too)"""
_EDIT_SECONDS = 0.05
_ENDLESS: Final = 1 << 30
_FREE: Final = Budget(name=("console",), calls=_ENDLESS, seconds=1.0)
_ROUTES: Final = (Route(name="console", create=_FREE, edit=_FREE, finish=_FREE),)
_BLOCK_BYTES = 1 << 16


class Settings(BaseModel):
    """`conversation` names the history to go on with; empty starts a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    conversation: str = ""


async def run(settings: Settings, service: ChatService) -> None:
    """Read questions until the input ends; every question is one message of one conversation."""
    console = Console(highlight=False)
    if sys.stdin is None:  # closed by who started us
        return
    interactive = sys.stdin.isatty() and console.is_terminal
    place = Place(platform="console", workspace="local", channel=settings.conversation or uuid.uuid4().hex)
    if interactive:
        console.print(Text("Ask about your files. /help for more, Ctrl-D to leave.", style="dim"))
    last = Reply()
    async for line in _lines(sys.stdin, console=console, interactive=interactive):
        if line in {"/quit", "/exit"}:
            return
        if line == "/help":
            console.print(_HELP)
        elif line == "/sources":
            console.print(_quotes(last))
        elif line:
            last = await _turn(line, place=place, service=service, console=console)


@contextlib.contextmanager
def outlet(console: Console) -> Iterator[ConsoleOutlet]:
    """Where our message goes: a terminal, where it is edited in place, or a pipe, where it is printed once, when final."""
    with contextlib.ExitStack() as stack:
        if console.is_terminal:
            yield _Terminal(console, stack)
        else:
            yield _Pipe(console)


async def _turn(line: str, *, place: Place, service: ChatService, console: Console) -> Reply:
    """One message and what was replied to it in the end."""
    attachments: tuple[Attachment, ...] = ()
    text = line
    if line.split(maxsplit=1)[0] == "/add":
        path = line.removeprefix("/add").strip().strip("\"'")
        attachments, text = _attachments(path), ""
        if not attachments:
            console.print(f"There is no file {path!r}.", markup=False)
            return Reply()
    message = IncomingMessage(
        id=uuid.uuid4().hex, place=place, person=Person(id="console"), text=text, attachments=attachments
    )
    with outlet(console) as shown:
        await service.on_message(message, _Room(shown, place))
        return shown.final


def _attachments(name: str) -> tuple[Attachment, ...]:
    path = Path(name).expanduser()
    if not path.is_file():
        return ()

    async def read() -> AsyncIterator[bytes]:
        with path.open("rb") as file:
            while block := await asyncio.to_thread(file.read, _BLOCK_BYTES):
                yield block

    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    uri = path.resolve().as_uri()
    return (Attachment(name=path.name, media_type=media_type, size=path.stat().st_size, uri=uri, open=read),)


async def _lines(source: TextIO, *, console: Console, interactive: bool) -> AsyncIterator[str]:
    """The lines of the input, stripped, each read only when it is asked for."""
    if not interactive:
        while line := await _read(source.readline):
            yield line.strip()
        return
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # its import alone gives `input` line editing and a history
    with _terminal_restored(source):
        while True:
            try:
                line = await _read(lambda: input("\n> "))
            except EOFError:
                console.print()
                return
            yield line.strip()


async def read_line(prompt: str) -> str:
    """One line that a person types; empty where they end the input instead. Cancelled, it does not wait for Enter."""
    with _terminal_restored(sys.stdin):
        try:
            return await _read(lambda: input(prompt))
        except EOFError:
            print()
            return ""


async def _read(read: Callable[[], str]) -> str:
    """What `read` returns, waited for in a thread that nobody waits for: a person who leaves need not press Enter first."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def settle(value: str, error: BaseException | None) -> None:
        if line.done():
            return
        if error is None:
            line.set_result(value)
        else:
            line.set_exception(error)

    def work() -> None:
        value, error = "", None
        try:
            value = read()
        except (EOFError, OSError, ValueError) as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="console-input", daemon=True).start()
    return await line


@contextlib.contextmanager
def _terminal_restored(source: TextIO) -> Iterator[None]:
    """Leave the terminal as it was found, also when a line is still being edited."""
    try:
        termios = importlib.import_module("termios")
    except ImportError:
        yield
        return
    before = termios.tcgetattr(source)
    try:
        yield
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


class ConsoleOutlet(Outlet, Protocol):
    """An outlet at the console; `final` is how our message ended, empty until then."""

    final: Reply


class _Pipe:
    """For pipes: nothing until the text is final, then that text and its sources, unadorned."""

    limits = Limits(characters=_ENDLESS, edit_seconds=1.0)
    routes = _ROUTES

    def __init__(self, console: Console) -> None:
        self._file = console.file
        self.final = Reply()

    async def write(self, write: Write) -> str:
        """See `bot.port.Outlet`. A pipe cannot be edited."""
        if write.final and write.page is not None:
            self.final = write.page.reply
            print(_plain(write.page), file=self._file, flush=True)
        return str(write.part)


class _Terminal:
    """For terminals: a spinner with the status, then Markdown that grows in place; what is final stays."""

    limits = Limits(characters=_ENDLESS, edit_seconds=_EDIT_SECONDS)
    routes = _ROUTES

    def __init__(self, console: Console, stack: contextlib.ExitStack) -> None:
        self._console = console
        self._live: Live | None = None
        self._stack = stack
        self.final = Reply()

    async def write(self, write: Write) -> str:
        """See `bot.port.Outlet`."""
        if write.page is None or write.final:
            self._close()
        if write.page is not None and write.final:
            self.final = write.page.reply
            self._console.print(_final(write.page))
        elif write.page is not None:
            self._show(write.page)
        return str(write.part)

    def _show(self, page: Page) -> None:
        if self._live is None:
            self._live = Live(console=self._console, transient=True, refresh_per_second=12)
            self._live.start()
            self._stack.callback(self._close)
        self._live.update(
            Markdown(page.text) if page.text else Spinner("dots", text=Text(page.status, style="dim"))
        )

    def _close(self) -> None:
        """Take down what is only shown while the answer grows, and give the cursor back."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class _Room:
    """The console as the service sees it: one place that one person reads."""

    def __init__(self, shown: Outlet, place: Place) -> None:
        self._outlet = shown
        self._place = place

    @property
    def directory(self) -> Directory:
        return _OnePerson()

    async def settle(self) -> Place:
        """See `bot.port.Room`. There is one place."""
        return self._place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        """See `bot.port.Room`. There is one way out."""
        return self._outlet

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        """See `bot.port.Room`. What was said before is in the history."""
        return []

    async def fetch(self, link: str) -> IncomingMessage | None:
        """See `bot.port.Room`."""
        return None


class _OnePerson:
    """Whoever sits at the console is the only one there, and the administrator."""

    async def channel(self, channel: str) -> Channel:
        return Channel(id=channel, name="console", kind="direct")

    async def standing(self, person: str) -> Standing:
        return Standing(admin=True)

    async def may_read(self, channel: str, *, person: str = "", everyone_in: str = "") -> bool:
        return True


def _plain(page: Page) -> str:
    sources = "\n".join(_source_line(source) for source in page.reply.sources)
    return "\n\n".join(part for part in (page.text.rstrip(), *page.reply.notices, sources) if part)


def _final(page: Page) -> RenderableType:
    reply = page.reply
    parts: list[RenderableType] = [Markdown(page.text)]
    parts += [Text(notice, style="yellow") for notice in reply.notices]
    if reply.sources:
        parts.append(Text("\nSources", style="bold"))
    parts += [Text(_source_line(source), style=f"link {source.uri}") for source in reply.sources]
    return Group(*parts)


def _quotes(reply: Reply) -> RenderableType:
    if not reply.citations:
        return Text("The last answer cites nothing.", style="dim")
    return Group(*(_quote(citation) for citation in reply.citations))


def _quote(citation: Citation) -> Text:
    place = " — ".join(part for part in (citation.title, citation.anchor) if part)
    return Text.assemble(
        (f"[{citation.number}] {place}", "bold"), f"\n    “{' '.join(citation.quote.split())}”"
    )


def _source_line(source: Source) -> str:
    return f"[{source.number}] {source.title}" + (f" — {source.places}" if source.places else "")
