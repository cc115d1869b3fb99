from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

MOST: Final = 16
"""Each piece takes about a second per GB."""
_BLOCK: Final = 4 << 20
_PIECE: Final = re.compile(r"\w[\w ,]{18,46}\w")
"""The same bytes in a database and in JSON."""
_SKIPPED: Final = frozenset({"models", "workers"})


def pieces(texts: Iterable[str]) -> list[str]:
    found = [match[0] for text in texts if (match := _PIECE.search(text))]
    return found[:: max(1, len(found) // MOST)][:MOST]


def files_with(data_dir: Path, texts: Sequence[str], *, check: Callable[[], None]) -> dict[str, int]:
    """`check` is called often and may raise to stop."""
    encoded = [each.encode("utf-8", "surrogatepass") for each in dict.fromkeys(texts)]
    found: dict[str, int] = {}
    for path in _files(data_dir):
        matches: set[bytes] = set()
        for block in _blocks(path, overlap=max(map(len, encoded), default=0)):
            check()
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
