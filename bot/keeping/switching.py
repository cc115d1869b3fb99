"""One content of a data directory in the place of another, so that a kill at any moment leaves the old one or the new one.

The new content is made ready in a folder inside the directory (which may be the root of a volume, that nothing can be moved
beside). Giving that folder another name is the one step that decides. What follows only moves files, can be done any number
of times, and is done to its end before anybody opens the directory.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

from rag_engine.storage.faults import translate_errors

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

_READY: Final = "restoring"
_DECIDED: Final = "restored"
_PLAN: Final = "plan.json"


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    removed: tuple[str, ...]
    """Names in the directory that go."""
    placed: tuple[str, ...]
    """Names in the folder that come."""


@contextmanager
def prepared(data_dir: Path) -> Generator[Path]:
    """An empty folder for the new content, which is removed at the end unless `decide` was called."""
    folder = data_dir / _READY
    with translate_errors(folder):
        remove(folder)  # what a killed program left
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        with translate_errors(folder):
            remove(folder)


def decide(data_dir: Path, *, removed: Sequence[Path]) -> None:
    """From now on the content is the prepared one; the `removed`, paths in the directory, go. `finish` does the rest."""
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
    """Whether a decided change has not been made to its end."""
    return (data_dir / _DECIDED).exists()


def finish(data_dir: Path) -> None:
    """Do what was decided, from wherever it was interrupted. Nobody else has the directory meanwhile."""
    folder = data_dir / _DECIDED
    with translate_errors(folder):
        if (folder / _PLAN).exists():
            plan = _Plan.model_validate_json((folder / _PLAN).read_bytes())
            # A name that is not in the folder any more is in its place already, and is not to be removed.
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
    """The file, or the folder with all in it; no error when there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _on_disk(path: Path) -> None:
    """Wait until a loss of power would not take it back."""
    if sys.platform == "win32":  # it syncs no folder, and no file that is open for reading only
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
