"""Memory of the bot and its parsing workers while a packed upload is added, beyond what they need for a small file.

`python -m benchmarks.documents.upload_memory [PART OF A NAME ...]`; each file in its own process, with the hashing embedder: the model's
memory does not depend on the file.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.composition.application import library
from bot.settings import Settings
from rag_engine.errors import RagError
from rag_engine.ingestion.ingestion import blob_from_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PERIOD: Final = 0.05
_MB: Final = 1 << 20


def _packed(members: Iterable[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def _words(size: int, seed: int, lines: int = 12) -> bytes:
    chosen = random.Random(seed)
    words = ["".join(chosen.choices("abcdefghiklmnoprstu", k=chosen.randint(3, 9))) for _ in range(5_000)]
    text: list[str] = []
    length = 0
    while length < size:
        line = " ".join(chosen.choices(words, k=lines)) + ".\n"
        text.append(line)
        length += len(line)
    return "".join(text).encode()


def _repeated_lines() -> bytes:
    lines = b"The same line again, and nothing else in it.\n\n" * 10_000
    return _packed((f"{number}.txt", lines + str(number).encode()) for number in range(150))


def _zips_of_zips() -> bytes:
    inner = _packed((f"{n}.md", _words(400_000, n) + b"\n# Heading\n\ntext\n" * 2_000) for n in range(10))
    return _packed((f"{number}.zip", inner + bytes([number])) for number in range(10))


def _spreadsheet() -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    for row in range(100_000):
        sheet.append([f"{row}-{column}" for column in range(10)])
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def _mails() -> bytes:
    mail = (
        "From a@b.c Mon Jan  1 00:00:00 2024\nFrom: a@b.c\nSubject: mail {0}\n\nA short text number {0}.\n\n"
    )
    return "".join(mail.format(number) for number in range(200_000)).encode()


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "repeated-lines.zip": _repeated_lines,
    "zips-of-zips.zip": _zips_of_zips,
    "other-text.zip": lambda: _packed((f"{number}.txt", _words(600_000, number)) for number in range(30)),
    "words.txt": lambda: _words(100_000_000, 1),
    "words-18mb.txt": lambda: _words(18_000_000, 1),
    "one-line.txt": lambda: _words(60_000_000, 2).replace(b"\n", b" "),
    "one-line-18mb.txt": lambda: _words(18_000_000, 2).replace(b"\n", b" "),
    "one-word.txt": lambda: b"a" * 60_000_000,
    "blank-lines.txt": lambda: b"a\n\n" * 6_000_000,
    "million-cells.csv": lambda: b"".join(
        b",".join(b"%d-%d" % (row, column) for column in range(10)) + b"\n" for row in range(100_000)
    ),
    "tiny-rows.csv": lambda: b"a,b\n" * 15_000_000,
    "wide.csv": lambda: (b",".join(b"c%d" % column for column in range(200_000)) + b"\n") * 30,
    "million-cells.xlsx": _spreadsheet,
    "lines.jsonl": lambda: b"".join(b'{"id": %d, "text": "a short text"}\n' % n for n in range(1_500_000)),
    "numbers.json": lambda: json.dumps(list(range(8_000_000))).encode(),
    "mails.mbox": _mails,
    "headings.md": lambda: b"".join(b"# Heading %d\n\nText.\n\n" % number for number in range(1_500_000)),
    "long-headings.md": lambda: (b"# " + b"heading " * 2_000 + b"\n\ntext\n\n") * 3_000,
    "deep.html": lambda: b"<div>" * 400_000 + b"text" + b"</div>" * 400_000,
    "paragraphs.html": lambda: b"<p>text</p>" * 4_000_000,
    "table.html": lambda: b"<table>" + b"<tr><td>a</td><td>b</td></tr>" * 1_500_000 + b"</table>",
    "elements.xml": lambda: b"<a>" + b"<b>text</b>" * 4_000_000 + b"</a>",
    "keys.yaml": lambda: b"".join(b"key%d: value\n" % number for number in range(1_000_000)),
    "code.py": lambda: b"".join(b"def f%d():\n    return 1\n\n" % number for number in range(400_000)),
    "deep.json": lambda: b"[" * 100_000 + b"]" * 100_000,
}


def main(wanted: list[str]) -> None:
    print(
        "| File | MB | Became | Passages | Seconds | MB of memory more |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name in FILES:
        if not wanted or any(part in name for part in wanted):
            command = [sys.executable, "-m", "benchmarks.documents.upload_memory", "--one", name]
            subprocess.run(command, check=False)


async def one(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / name, Path(folder) / "small.txt"
        path.write_bytes(FILES[name]())
        size = path.stat().st_size
        small.write_text("A few plain words. " * 200)
        settings = Settings.model_validate(
            {"data_dir": folder, "embedder": {"kind": "hashing"}, "parsing": {"seconds": 3600}}
        )
        async with library(settings) as parts:
            base = (await parts.catalog.open("bench", model=parts.embedder.model)).id
            await parts.ingestion.ingest(await blob_from_path(small), knowledge_base=base)
            before, began = tree_memory(os.getpid()), time.monotonic()
            peak = _Peak()
            try:
                blob = await blob_from_path(path, max_bytes=parts.max_file_bytes)
                record = (await parts.ingestion.ingest(blob, knowledge_base=base)).record
                became, passages = record.reason[:90] or record.state, record.chunks
            except RagError as error:
                became, passages = str(error)[:90], 0
            seconds = time.monotonic() - began
            more = max(peak.stop() - before, 0) // _MB
            print(
                f"| {name} | {size / 1e6:.1f} | {became} | {passages:,} | {seconds:.0f} | {more} |",
                flush=True,
            )


class _Peak:
    def __init__(self) -> None:
        self._peak = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._stopped.set()
        self._thread.join()
        return self._peak

    def _run(self) -> None:
        while not self._stopped.wait(_PERIOD):
            self._peak = max(self._peak, tree_memory(os.getpid()))


def tree_memory(process: int) -> int:
    """Bytes of a process and those it started; shared pages count once."""
    total, waiting = 0, [Path(f"/proc/{process}")]
    while waiting:
        folder = waiting.pop()
        try:
            total += int(folder.joinpath("smaps_rollup").read_text().partition("\nPss:")[2].split()[0]) << 10
            tasks = list(folder.joinpath("task").iterdir())
            waiting += [
                Path("/proc") / child for task in tasks for child in (task / "children").read_text().split()
            ]
        except (OSError, IndexError):
            continue
    return total


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        asyncio.run(one(sys.argv[2]))
    else:
        main(sys.argv[1:])
