"""Counts the files of ours that one Slack message passes on its way in and out.

    python -m scripts.message_path [--write FILE | --check FILE]

It starts `footnote run` against a double of Slack (Socket Mode) and a scripted model server, with the embedded index and metrics on, adds a file
to a channel, asks one question there, and records every call inside the bot (`scripts.message_path_probe`).

The measure. *Ours* are the files of `adapters/`, `bot/` and `rag_engine/`. A file is *passed* if a function of it is active, that is, started
and not finished: it runs, awaits, or is a context manager whose block is open.

- In: active in the tasks that handle the message when `Engine.answer` begins, or on the stack that created one of these tasks, since
  `SocketConnection` received the message.
- Out: active between the model and the frame that hands its first shown piece of text to `MessageStream.show`, or active in the task
  that writes the message, when it calls Slack for the first time after that.

Files that are only called and return before that point are listed separately: a value module, a store, a renderer. They are not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.message_path_probe import MARKER_VARIABLE, OUTPUT_VARIABLE
from tests.conftest import PROJECT
from tests.doubles.model_servers.openai_server import streamed
from tests.journeys.chat.scenario import SECONDS, scenario

MOST_FILES = 18
BEGIN, END = "<!-- message path: begin -->", "<!-- message path: end -->"
_CALLED = "Called on the way: "
_MARKER = "zebrafinch"
_HANDBOOK = f"# Records\n\nInvoices of the {_MARKER} project are kept for ten years.\n"
_ANSWER = (
    "Invoices of the project are kept ",
    "for ten years, as the handbook says [1]. ",
    "No longer is needed.",
)
_PROBE = "from scripts.message_path_probe import install; install()\n"


async def measure(folder: Path) -> dict[str, list[str]]:
    """The files passed (`in`, `out`) and the files called on the way (`in_called`, `out_called`), in order of their first call."""
    output = folder / "path.json"
    (folder / "sitecustomize.py").write_text(_PROBE)
    settings: dict[str, Any] = {
        "PYTHONPATH": os.pathsep.join([str(folder), str(PROJECT)]),
        "FOOTNOTE_METRICS__PORT": "0",
        OUTPUT_VARIABLE: str(output),
        MARKER_VARIABLE: f"{_MARKER} invoices",
    }
    async with scenario("slack", folder, **settings) as town:
        room = town.room()
        await town.knows(room, _HANDBOOK)
        town.model.on(streamed(*_ANSWER), task="answer")
        question = await town.says("ben", room, f"@footnote how long are {_MARKER} invoices kept?")
        await town.answered("ben", room, question)
        async with asyncio.timeout(SECONDS):
            while "out" not in (found := json.loads(output.read_text())):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.1)
    return found


def markdown(found: dict[str, list[str]]) -> str:
    """Both paths as Markdown."""
    lines: list[str] = []
    for way, title in (
        ("in", "In: from the event to `Engine.answer`"),
        ("out", "Out: from the model's text to Slack"),
    ):
        lines += [f"**{title}: {len(found[way])} files**", ""]
        lines += [f"{number}. `{file}`" for number, file in enumerate(found[way], 1)]
        lines += [
            "",
            _CALLED + ", ".join(f"`{file}`" for file in found[f"{way}_called"]) + ".",
            "",
        ]
    return "\n".join(lines).strip()


def replaced(page: str, section: str) -> str:
    """The page with `section` between its markers. Raises `ValueError` if it has none."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page has no {BEGIN}")
    return pattern.sub(lambda _: f"{BEGIN}\n{section}\n{END}", page)


def counted(page: str) -> str:
    """The page without the lists of called files, which depend on timing."""
    return "\n".join(line for line in page.splitlines() if not line.startswith(_CALLED))


def main() -> int:
    """Print both paths; exit code 1 if one is too long, or differs from the page that is checked."""
    parser = argparse.ArgumentParser(description="Count the files that one Slack message passes.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the section in this page")
    parser.add_argument("--check", type=Path, metavar="FILE", help="compare the section in this page")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder)))
    section = markdown(found)
    if chosen.write:
        chosen.write.write_text(replaced(chosen.write.read_text(encoding="utf-8"), section), encoding="utf-8")
    if not chosen.check:
        print(section)
    elif counted(page := chosen.check.read_text(encoding="utf-8")) != counted(replaced(page, section)):
        print(f"{chosen.check} differs: run `python -m scripts.message_path --write {chosen.check}`.")
        return 1
    return int(any(len(found[way]) > MOST_FILES for way in ("in", "out")))


if __name__ == "__main__":
    sys.exit(main())
