from __future__ import annotations

import logging
import os
import re
import shlex
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOREIGN: Final = stat.S_IRWXG | stat.S_IRWXO
_OURS: Final = re.compile(
    r"(footnote|chat|vectors|index)\.sqlite.*|footnote\.version|.+\.lock|originals|tables|uploads|speech|workers|models|tiktoken|rebuil.*|restor.*|(forgetting|retention)\.json.*|.+\.zip"
)

_log = logging.getLogger(__name__)


def restrict(data_dir: Path) -> None:
    """Logs what stays readable: it belongs to somebody else."""
    changed = 0
    for path in exposed(data_dir):
        if _is_ours(path, data_dir):
            with suppress(OSError):
                path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_FOREIGN)
                changed += 1
    if changed:
        _log.info("permissions of %d files and folders were restricted to their owner", changed)
    if left := exposed(data_dir):
        _log.warning("%s", sentence(data_dir, left))


def exposed(data_dir: Path) -> list[Path]:
    """Closed folders are not searched."""
    if sys.platform == "win32" or not data_dir.is_dir():
        return []
    return list(_exposed(data_dir, deep=_is_open(data_dir)))


def sentence(data_dir: Path, found: list[Path]) -> str:
    more = {1: "", 2: " and one more file or folder"}.get(
        len(found), f" and {len(found) - 1} more files and folders"
    )
    return f"Other users of this machine can read {found[0]}{more}: run `{closing_command(data_dir)}` as their owner."


def closing_command(data_dir: Path) -> str:
    return f"chmod -R go= {shlex.quote(str(data_dir))}"


def _exposed(folder: Path, *, deep: bool) -> Iterator[Path]:
    if _is_open(folder):
        yield folder
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return  # another user's
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if deep or _is_open(path):
                yield from _exposed(path, deep=True)
        elif entry.is_file(follow_symlinks=False) and _is_open(path):
            yield path


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _FOREIGN)
    except OSError:
        return False


def _is_ours(path: Path, data_dir: Path) -> bool:
    if path != data_dir:
        return _OURS.fullmatch(path.relative_to(data_dir).parts[0]) is not None
    shared = data_dir.stat().st_mode & stat.S_ISVTX
    return not shared and all(_OURS.fullmatch(entry.name) for entry in data_dir.iterdir())
