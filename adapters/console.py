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
from typing import TYPE_CHECKING, Protocol, TextIO

from pydantic import BaseModel, ConfigDict
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from bot.port import (
    Attachment,
    ChatService,
    Citation,
    IncomingMessage,
    Limits,
    MessageStream,
    Person,
    Place,
    Reply,
    Source,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

_HELP = """Ask a question, or:
  /add FILE   add a file to this conversation
  /sources    the quoted passages behind the last answer
  /help       this text
  /quit       leave (Ctrl-D does too)"""
_EDIT_SECONDS = 0.05
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
def message_stream(console: Console) -> Iterator[ConsoleStream]:
    """Our message in a terminal (edited in place) or in a pipe (printed once, when final)."""
    if not console.is_terminal:
        yield _PlainStream(console)
        return
    stream = _TerminalStream(console)
    try:
        yield stream
    finally:
        stream.close()


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
    with message_stream(console) as stream:
        await service.on_message(message, stream)
        return stream.final


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


class ConsoleStream(MessageStream, Protocol):
    """Our message at the console; `final` is how it ended, empty until then."""

    final: Reply


class _PlainStream:
    """For pipes: nothing until the text is final, then that text and its sources, unadorned."""

    limits = Limits(characters=1_000_000, edit_seconds=1.0)

    def __init__(self, console: Console) -> None:
        self._file = console.file
        self.final = Reply()

    async def show(self, reply: Reply) -> None:
        """A pipe cannot be edited."""

    async def finish(self, reply: Reply) -> None:
        self.final = reply
        parts = [
            reply.text.rstrip(),
            *reply.notices,
            "\n".join(_source_line(source) for source in reply.sources),
        ]
        print("\n\n".join(part for part in parts if part), file=self._file, flush=True)


class _TerminalStream:
    """For terminals: a spinner with the status, then Markdown that grows in place."""

    limits = Limits(characters=1_000_000, edit_seconds=_EDIT_SECONDS)

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self.final = Reply()

    async def show(self, reply: Reply) -> None:
        if self._live is None:
            self._live = Live(console=self._console, transient=True, refresh_per_second=12)
            self._live.start()
        self._live.update(
            Markdown(reply.text) if reply.text else Spinner("dots", text=Text(reply.status, style="dim"))
        )

    async def finish(self, reply: Reply) -> None:
        self.final = reply
        self.close()
        self._console.print(_final(reply))

    def close(self) -> None:
        """Take down what is only shown while the answer grows, and give the cursor back."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def _final(reply: Reply) -> RenderableType:
    parts: list[RenderableType] = [Markdown(reply.text)]
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
