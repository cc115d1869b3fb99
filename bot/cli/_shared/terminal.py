"""Lines wrap at a terminal's width and stay whole in a pipe."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Final, TextIO

from rich.console import Console, RenderHook
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class _WithoutControls(RenderHook):
    """What people wrote may command a terminal."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        for each in renderables:
            if isinstance(each, Text):
                each.plain = _CONTROLS.sub("\ufffd", each.plain)
        return renderables


def console(*, quiet: bool = False) -> Console:
    made = Console(highlight=False, quiet=quiet, soft_wrap=not sys.stdout.isatty())
    made.push_render_hook(_WithoutControls())
    return made


def print_text(text: str) -> None:
    console().print(Text(text))


def wrapped(text: str, file: TextIO) -> str:
    if not file.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(textwrap.fill(line, width, break_long_words=False) for line in text.splitlines())


def counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
