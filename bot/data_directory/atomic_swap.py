"""A kill leaves either the old content or the new.

Renaming a folder inside the directory is the atomic step; the rest only moves files, is repeatable, and completes
before any program opens it.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.storage.sqlite.errors import translate_errors

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

_READY: Final = "restoring"
_DECIDED: Final = "restored"
_PLAN: Final = "plan.json"


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    removed: tuple[str, ...]
    placed: tuple[str, ...]


@contextmanager
def prepared(data_dir: Path) -> Generator[Path]:
    """Removed without `decide`."""
    folder = data_dir / _READY
    with translate_errors(folder):
        remove(folder)
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        with translate_errors(folder):
            remove(folder)


def decide(data_dir: Path, *, removed: Sequence[Path]) -> None:
    """Make the content valid; `finish` deletes `removed`."""
    folder = data_dir / _READY
    plan = _Plan(
        removed=tuple(path.name for path in removed),
        placed=tuple(sorted(path.name for path in folder.iterdir())),
    )
    with translate_errors(folder):
        (folder / _PLAN).write_text(plan.model_dump_json(), encoding="utf-8")
        for path in (*folder.rglob("*"), folder):
            _on_disk(path)
        folder.rename(data_dir / _DECIDED)
        _on_disk(data_dir)


def is_interrupted(data_dir: Path) -> bool:
    return (data_dir / _DECIDED).exists()


def finish(data_dir: Path) -> None:
    """Alone in the directory."""
    folder = data_dir / _DECIDED
    with translate_errors(folder):
        if (folder / _PLAN).exists():
            plan = _Plan.model_validate_json((folder / _PLAN).read_bytes())
            moved = {name for name in plan.placed if not (folder / name).exists()}
            for name in plan.removed:
                if name not in moved:
                    remove(data_dir / name)
            for name in plan.placed:
                if name not in moved:
                    (folder / name).rename(data_dir / name)
            _on_disk(data_dir)
            (folder / _PLAN).unlink()
        remove(folder)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _on_disk(path: Path) -> None:
    if sys.platform == "win32":  # folders cannot be synced
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
