"""The console: a terminal shows the answer as it grows, a pipe gets the final text."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import importlib
import mimetypes
import re
import sys
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from pydantic import BaseModel, ConfigDict
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from bot.port import (
    Action,
    Attachment,
    Budget,
    Button,
    ChatService,
    Citation,
    Command,
    Directory,
    File,
    IncomingMessage,
    OnePerson,
    Outlet,
    Person,
    Place,
    PlainRoom,
    PlatformLimits,
    Reply,
    Route,
    Source,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from bot.port import Page

_HELP = """Ask a question, or:
  /add FILE   add a file to this conversation
  /sources    the quoted passages behind the last answer
  /why        why the last answer says what it says
  /kb …       administer the knowledge bases, as in a chat; /kb help lists all of it
  /new        a new topic: earlier questions no longer count
  /help       this text
  /quit       leave (Ctrl-D does too)"""
_EDIT_SECONDS = 0.05
_ENDLESS: Final = 1 << 30
_FREE: Final = Budget(name=("console",), calls=_ENDLESS, seconds=1.0)
_ROUTES: Final = (Route(name="console", create=_FREE, edit=_FREE, finish=_FREE),)
_BLOCK_BYTES = 1 << 16
_PERSON: Final = Person(id="console")
_COMMAND: Final = re.compile(r"/[a-zA-Z][\w-]*")
_CHOICE: Final = "choice"
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'|\S+")


class Settings(BaseModel):
    """`conversation` names the history to continue; empty starts a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    conversation: str = ""


async def run(settings: Settings, service: ChatService) -> None:
    console = Console(highlight=False)
    if sys.stdin is None:
        return
    interactive = sys.stdin.isatty() and console.is_terminal
    place = Place(platform="console", workspace="local", channel=settings.conversation or uuid.uuid4().hex)
    if interactive:
        console.print(Text("Ask about your files. /help for more, Ctrl-D to leave.", style="dim"))
    session = _Session(place=place, service=service, console=console)
    async for line in _lines(sys.stdin, console=console, interactive=interactive):
        if line in {"/quit", "/exit"}:
            return
        if line:
            await session.enter(line)


@contextlib.contextmanager
def outlet(console: Console) -> Iterator[ConsoleOutlet]:
    with contextlib.ExitStack() as stack:
        if console.is_terminal:
            yield _Terminal(console, stack)
        else:
            yield _Pipe(console)


@dataclass(kw_only=True)
class _Session:
    place: Place
    service: ChatService
    console: Console
    last: Reply = field(default_factory=Reply)
    buttons: Sequence[Button] = ()

    async def enter(self, line: str) -> None:
        buttons, self.buttons = self.buttons, ()
        name, _, rest = line.partition(" ")
        if line.isdecimal() and 0 < int(line) <= len(buttons):
            await self._press(buttons[int(line) - 1])
        elif line == "/help":
            self.console.print(_HELP, soft_wrap=True)
        elif line == "/sources":
            self.console.print(_quotes(self.last))
        elif name == "/add":
            path = rest.strip().strip("\"'")
            if attachments := _attachments(path):
                await self._message("", attachments)
            else:
                self.console.print(f"There is no file {path!r}.", markup=False)
        elif name == "/ask":
            await self._message(rest.strip(), ())
        elif name in {f"/{spec.name.partition(' ')[0]}" for spec in self.service.commands}:
            await self._command(name, rest)
        elif _COMMAND.fullmatch(name):
            self.console.print(self._unknown(name), markup=False, soft_wrap=True)
        else:
            await self._message(line, ())

    async def _message(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        message = IncomingMessage(
            id=uuid.uuid4().hex, place=self.place, person=_PERSON, text=text, attachments=attachments
        )
        with outlet(self.console) as shown:
            await self.service.on_message(message, _Room(shown, self.place))
        self._answered(shown.final)

    async def _command(self, name: str, line: str) -> None:
        words, files = _QUOTED.findall(line), list[Attachment]()
        if words[:1] == ["add"]:
            found = {word: _attachments(word.strip("\"'")) for word in words[1:]}
            files = [attachment for attachments in found.values() for attachment in attachments]
            line = " ".join(["add", *(word for word in words[1:] if not found[word])])
        command = Command(
            id=uuid.uuid4().hex,
            name=name.removeprefix("/"),
            place=self.place,
            person=_PERSON,
            line=line,
            attachments=tuple(files),
        )
        with outlet(self.console) as shown:
            await self.service.on_command(command, _Room(shown, self.place))
        self._show_extras(shown.final)

    async def _press(self, button: Button) -> None:
        action = Action(
            id=uuid.uuid4().hex, name=button.name, value=button.value, place=self.place, person=_PERSON
        )
        with outlet(self.console) as shown:
            await self.service.on_action(action, _Room(shown, self.place))
        if button.name == _CHOICE:
            self._answered(shown.final)
        else:
            self._show_extras(shown.final)

    def _answered(self, reply: Reply) -> None:
        self.last = reply
        self._offer([button for button in reply.buttons if button.name == _CHOICE])

    def _show_extras(self, reply: Reply) -> None:
        for file in reply.files:
            self.console.print(f"Saved as {_saved(file)}.", markup=False, soft_wrap=True)
        self._offer(reply.buttons)

    def _offer(self, buttons: Sequence[Button]) -> None:
        self.buttons = buttons
        if self.buttons:
            labels = "   ".join(f"{number}  {one.label}" for number, one in enumerate(self.buttons, 1))
            self.console.print(f"{labels}   (type the number)", soft_wrap=True)

    def _unknown(self, name: str) -> str:
        spellings = {word: f"/{word}" for word in ("add", "ask", "sources", "help", "quit")}
        for spec in self.service.commands:
            for spelling in (spec.name.rpartition(" ")[2], spec.name):
                spellings.setdefault(spelling, f"/{spec.name}")
        near = difflib.get_close_matches(name.removeprefix("/").casefold(), list(spellings), n=1, cutoff=0.3)
        meant = f"Did you mean {spellings[near[0]]}? " if near else ""
        return f"There is no command {name}. {meant}/help lists the commands."


def _saved(file: File) -> Path:
    path, number = Path(Path(file.name).name), 1
    while path.exists():
        number += 1
        path = path.with_stem(f"{Path(file.name).stem}-{number}")
    path.write_bytes(file.content)
    return path


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
    if not interactive:
        while line := await _read(source.readline):
            yield line.strip()
        return
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # gives `input` line editing and a history
    with _terminal_restored(source):
        while True:
            try:
                line = await _read(lambda: input("\n> "))
            except EOFError:
                console.print()
                return
            yield line.strip()


async def read_line(prompt: str) -> str:
    """Empty at the end of the input. Can be cancelled."""
    with _terminal_restored(sys.stdin):
        try:
            return await _read(lambda: input(prompt))
        except EOFError:
            print()
            return ""


async def _read(read: Callable[[], str]) -> str:
    """A daemon thread: leaving does not wait for Enter."""
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
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="console-input", daemon=True).start()
    return await line


@contextlib.contextmanager
def _terminal_restored(source: TextIO) -> Iterator[None]:
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
    final: Reply


class _Pipe:
    limits = PlatformLimits(characters=_ENDLESS, edit_seconds=1.0)
    routes = _ROUTES

    def __init__(self, console: Console) -> None:
        self._file = console.file
        self.final = Reply()

    async def write(self, write: Write) -> str:
        if write.final and write.page is not None:
            self.final = write.page.reply
            print(_plain(write.page), file=self._file, flush=True)
        return str(write.part)


class _Terminal:
    limits = PlatformLimits(characters=_ENDLESS, edit_seconds=_EDIT_SECONDS)
    routes = _ROUTES

    def __init__(self, console: Console, stack: contextlib.ExitStack) -> None:
        self._console = console
        self._live: Live | None = None
        self._stack = stack
        self.final = Reply()

    async def write(self, write: Write) -> str:
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
        if self._live is not None:
            self._live.stop()
            self._live = None


class _Room(PlainRoom):
    def __init__(self, shown: Outlet, place: Place) -> None:
        self._outlet = shown
        self._place = place

    @property
    def directory(self) -> Directory:
        return OnePerson()

    async def open_thread(self) -> Place:
        return self._place

    def outlet(self, *, private: Person | None = None, posted: Sequence[str] = ()) -> Outlet:
        return self._outlet

    async def earlier(self, *, limit: int) -> list[IncomingMessage]:
        return []

    async def fetch(self, link: str) -> IncomingMessage | None:
        return None


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
        return Text("The last answer has no citations.", style="dim")
    return Group(*(_quote(citation) for citation in reply.citations))


def _quote(citation: Citation) -> Text:
    place = " — ".join(part for part in (citation.title, citation.anchor) if part)
    return Text.assemble(
        (f"[{citation.number}] {place}", "bold"), f"\n    “{' '.join(citation.quote.split())}”"
    )


def _source_line(source: Source) -> str:
    return f"[{source.number}] {source.title}" + (f" — {source.places}" if source.places else "")
