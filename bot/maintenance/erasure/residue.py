from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST: Final = 16
"""Each piece takes about a second per GB."""
_BLOCK: Final = 4 << 20
_PIECE: Final = re.compile(r"\w[\w ,]{18,46}\w")
"""The same bytes in a database and in JSON."""
_SKIPPED: Final = frozenset({"models", "workers"})


def pieces(texts: Iterable[str]) -> list[str]:
    found = [match[0] for text in texts if (match := _PIECE.search(text))]
    return found[:: max(1, len(found) // MOST)][:MOST]


async def files_with(data_dir: Path, texts: Sequence[str]) -> dict[str, int]:
    """How many of `texts` each file has, by its name in `data_dir`. Raises `Unavailable`."""
    # In a process of its own: closing a database that this process has open would release its locks.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, str(data_dir)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        found, _ = await process.communicate(json.dumps(list(dict.fromkeys(texts))).encode("ascii"))
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise Unavailable(
            "All rows are gone, but the files could not be searched for what is left of them.",
            backend="storage",
            reason="failed",
        )
    return json.loads(found)


def _found(data_dir: Path, texts: Sequence[str]) -> dict[str, int]:
    encoded = [each.encode("utf-8", "surrogatepass") for each in texts]
    found: dict[str, int] = {}
    for path in _files(data_dir):
        matches: set[bytes] = set()
        for block in _blocks(path, overlap=max(map(len, encoded), default=0)):
            matches.update(each for each in encoded if each in block)
        if matches:
            found[path.relative_to(data_dir).as_posix()] = len(matches)
    return found


def _files(data_dir: Path) -> Iterator[Path]:
    for top in sorted(data_dir.iterdir()):
        if top.name not in _SKIPPED:
            yield from (path for path in [top, *sorted(top.rglob("*"))] if path.is_file())


def _blocks(path: Path, *, overlap: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            end = b""
            while block := file.read(_BLOCK):
                yield end + block
                end = block[-overlap:]
    except FileNotFoundError:
        return


def sampled(ids: Iterable[str]) -> list[str]:
    return list(islice(ids, MOST))


if __name__ == "__main__":
    print(json.dumps(_found(Path(sys.argv[1]), json.load(sys.stdin))))
