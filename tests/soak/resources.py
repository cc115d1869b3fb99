"""What a process holds, read from outside."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """`resident` in bytes, of which `mapped` are pages of files, which the system takes back when it needs room.

    `tasks` are those of its event loop, `processes` it has started and not seen end.
    """

    resident: int
    mapped: int
    kinds: Mapping[str, int]
    """Open descriptors: how many sockets, pipes, files and others."""
    threads: int
    processes: int
    tasks: int

    @property
    def descriptors(self) -> int:
        """Open descriptors, without the pipes to processes, which are counted themselves."""
        return sum(number for kind, number in self.kinds.items() if kind != "pipes")


def held(process: int, *, tasks: int) -> Resources:
    """What the process holds now; how many tasks it has, it must tell itself."""
    folder = Path(f"/proc/{process}")
    threads = list((folder / "task").iterdir())
    children = [child for thread in threads for child in _children(thread)]
    _, resident, mapped, *_ = (folder / "statm").read_text(encoding="ascii").split()
    return Resources(
        resident=int(resident) * _PAGE,
        mapped=int(mapped) * _PAGE,
        kinds=Counter(map(_kind, (folder / "fd").iterdir())),
        threads=len(threads),
        processes=len(children),
        tasks=tasks,
    )


def _kind(descriptor: Path) -> str:
    try:
        target = str(descriptor.readlink())
    except FileNotFoundError:  # closed meanwhile
        return "others"
    kind = target.partition(":")[0]
    return {"socket": "sockets", "pipe": "pipes", "anon_inode": "others"}.get(kind, "files")


def _children(thread: Path) -> list[str]:
    try:
        return (thread / "children").read_text(encoding="ascii").split()
    except FileNotFoundError:  # it ended meanwhile
        return []
