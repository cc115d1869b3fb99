"""Looking for what should not be there any more in the very bytes of every file of a data directory."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

MOST: Final = 16
"""Pieces that are looked for: each takes about a second for a GB."""
_BLOCK: Final = 4 << 20
_PIECE: Final = re.compile(r"\w[\w ,]{18,46}\w")
"""What looks the same in a database and in JSON."""
_NOT_OURS: Final = frozenset({"models", "workers"})


def pieces(texts: Iterable[str]) -> list[str]:
    """Some pieces of the texts that are long enough to be theirs alone, one of each, from all over them."""
    found = [match[0] for text in texts if (match := _PIECE.search(text))]
    return found[:: max(1, len(found) // MOST)][:MOST]


def files_with(data_dir: Path, wanted: Sequence[str], *, check: Callable[[], None]) -> dict[str, int]:
    """In how many files' bytes how many of the wanted strings stand, by the name of the file. Synchronous.

    `check` is called now and then, and may raise to end it.
    """
    encoded = [each.encode("utf-8", "surrogatepass") for each in dict.fromkeys(wanted)]
    found: dict[str, int] = {}
    for path in _files(data_dir):
        here: set[bytes] = set()
        for block in _blocks(path, overlap=max(map(len, encoded), default=0)):
            check()
            here.update(each for each in encoded if each in block)
        if here:
            found[path.relative_to(data_dir).as_posix()] = len(here)
    return found


def _files(data_dir: Path) -> Iterator[Path]:
    for top in sorted(data_dir.iterdir()):
        if top.name not in _NOT_OURS:
            yield from (path for path in [top, *sorted(top.rglob("*"))] if path.is_file())


def _blocks(path: Path, *, overlap: int) -> Iterator[bytes]:
    """The file block by block, each with the end of the one before; a file that is gone has none."""
    try:
        with path.open("rb") as file:
            end = b""
            while block := file.read(_BLOCK):
                yield end + block
                end = block[-overlap:]
    except FileNotFoundError:
        return


def sampled(ids: Iterable[str]) -> list[str]:
    """The first few."""
    return list(islice(ids, MOST))
