from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600


def make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)


def make_file(path: Path) -> None:
    """With its folders, unless it exists. SQLite's `-wal` and `-shm` files get its mode."""
    make_folder(path.parent)
    # Closing a database that this process has open would release its locks: an existing file is not opened.
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    except FileExistsError:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path)) from None
