"""Lines wrap at a terminal's width and stay whole in a pipe."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TextIO

from rich.console import Console
from rich.text import Text


def console(*, quiet: bool = False) -> Console:
    return Console(highlight=False, quiet=quiet, soft_wrap=not sys.stdout.isatty())


def print_text(text: str) -> None:
    console().print(Text(text))


def wrapped(text: str, file: TextIO) -> str:
    if not file.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(textwrap.fill(line, width, break_long_words=False) for line in text.splitlines())
