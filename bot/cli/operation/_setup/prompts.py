from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from rich.text import Text

from bot.cli._shared import terminal
from bot.composition import loader
from rag_engine.text.legibility import printable

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


class NoAnswer(Exception):
    """Where one is needed."""


def show(text: str = "", *, style: str = "") -> None:
    terminal.console().print(Text(text, style=style))


async def ask(question: str, *, default: str = "") -> str:
    hint = f" [{default}]" if default else ""
    return (await loader.console().read_line(f"{question}{hint}: ")).strip() or default


async def ask_secret(question: str) -> str:
    """Pasting brings blanks."""
    with _hidden():
        typed = await loader.console().read_line(f"{question} (not shown): ")
    return printable("".join(typed.split()))


async def agrees(question: str, *, default: bool) -> bool:
    while True:
        answer = (await ask(f"{question} [{'Y/n' if default else 'y/N'}]")).casefold()
        if answer in ("", "y", "yes", "n", "no"):
            return answer in ("y", "yes") if answer else default
        show("Type y or n.")


async def choose(question: str, choices: Sequence[str]) -> int:
    """The index of the choice."""
    for number, choice in enumerate(choices, 1):
        show(f"  {number}  {choice}")
    while True:
        answer = await ask(question, default="1")
        if answer.isdecimal() and 0 < int(answer) <= len(choices):
            return int(answer) - 1
        if answer in choices:
            return choices.index(answer)
        show(f"Type a number from 1 to {len(choices)}.")


@contextlib.contextmanager
def _hidden() -> Generator[None]:
    import termios

    before = termios.tcgetattr(sys.stdin)
    hidden = [*before]
    hidden[3] = (hidden[3] & ~termios.ECHO) | termios.ECHONL
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
