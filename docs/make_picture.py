"""Makes docs/demo.svg, the picture of README: the demo's question and answer, as a terminal really shows them.

`python -m docs.make_picture`, after `make demo`.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.doubles import terminal

QUESTIONS = ("How many days of leave do I have, and who approves them?", "密码至少需要多少个字符？")
COLUMNS, ROWS = 96, 28


async def main() -> None:
    """Ask, wait for the sources, and save the screen."""
    command = [sys.executable, "-m", "bot", "chat", "--kb", "samples"]
    async with terminal.running(command, environment=dict(os.environ), columns=COLUMNS, rows=ROWS) as shown:
        for number, question in enumerate(QUESTIONS, 1):
            await shown.until(
                lambda screen, number=number: screen.count("\n>") + screen.startswith(">") >= number
            )
            shown.type(f"{question}\n")
            await shown.until(
                lambda screen, number=number: screen.count("Sources") >= number and screen.endswith(">")
            )
        save(shown)


def save(shown: terminal.Terminal) -> None:
    """The screen as SVG, its colours kept."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    lines = shown.text.count("\n") + 1
    for row in range(lines):
        line = Text()
        for column in range(COLUMNS):
            cell = shown.screen.buffer[row][column]
            colour = None if cell.fg == "default" else cell.fg.replace("bright", "bright_")
            style = " ".join(filter(None, [cell.bold and "bold", cell.italics and "italic", colour]))
            line.append(cell.data, style=style or "none")
        line.rstrip()
        console.print(line, soft_wrap=True)
    picture = console.export_svg(title="footnote chat")
    # The template fetches its fonts from elsewhere; the reader's own monospace font does.
    picture = re.sub(r"@font-face\s*{[^}]*}", "", picture)
    (Path(__file__).parent / "demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
