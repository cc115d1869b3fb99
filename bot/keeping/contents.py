"""What a data directory holds, by name: what a backup keeps, what a restore replaces. What is not named here is nobody's business."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from bot import parts
from rag_engine.errors import UserError
from rag_engine.storage.migrations import latest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from bot.settings import Settings

CATALOG: Final = "footnote.sqlite"
CHAT: Final = "chat.sqlite"
VECTORS: Final = "vectors.sqlite"
ORIGINALS: Final = "originals"
FORGETTING: Final = "forgetting.json"
"""What `footnote forget` was told to forget and has not forgotten to the end."""

_ORIGINAL: Final = re.compile(rf"{ORIGINALS}/[0-9a-f]{{64}}\.pdf")
_LOGS: Final = ("-wal", "-shm", "-journal")
_PASSING: Final = ("rebuilding", "rebuilding.jsonl", "uploads", FORGETTING)
"""Work that is under way: nothing is lost with it but the time to do it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The data directory of these settings: its databases, each with the newest schema that this Footnote knows."""

    data_dir: Path
    schemas: Mapping[str, int]

    def databases(self) -> list[Path]:
        """Those that are there."""
        return [path for name in sorted(self.schemas) if (path := self.data_dir / name).is_file()]

    def originals(self) -> list[Path]:
        """The files as they came that are kept beside them."""
        return sorted(
            path for path in (self.data_dir / ORIGINALS).glob("*.pdf") if self.keeps(self.name(path))
        )

    def name(self, path: Path) -> str:
        """What a backup calls a file of the directory."""
        return path.relative_to(self.data_dir).as_posix()

    def keeps(self, name: str) -> bool:
        """Whether a backup may hold a file of that name: none leads anywhere else."""
        return name in self.schemas or _ORIGINAL.fullmatch(name) is not None

    def spare(self, file: Path) -> None:
        """Raise `UserError` where an archive of that name would take the place of a database, or of anything but an archive."""
        target, data_dir = file.resolve(), self.data_dir.resolve()
        own = target.is_relative_to(data_dir) and self.keeps(target.relative_to(data_dir).as_posix())
        if own or (target.is_file() and target.stat().st_size and not zipfile.is_zipfile(target)):
            raise UserError(f"It would take the place of {file}, which is no archive: give another name.")

    def migration_backups(self) -> list[Path]:
        """Copies that were made before a database was brought to a newer schema."""
        return [
            path
            for name in sorted(self.schemas)
            for path in sorted(self.data_dir.glob(f"{name}.schema-*.backup*"))
        ]

    def replaceable(self) -> Iterator[Path]:
        """All there is that another content would take the place of. Locks and the weights of models are nobody's content."""
        for name in sorted(self.schemas):
            yield from (
                path
                for path in map(self.data_dir.joinpath, [name, *(name + log for log in _LOGS)])
                if path.exists()
            )
        yield from self.migration_backups()
        yield from (path for name in (ORIGINALS, *_PASSING) if (path := self.data_dir / name).exists())


def of(settings: Settings) -> Contents:
    """The data directory of the settings."""
    schemas = {name: latest(scripts) for name, scripts in migrations().items()}
    return Contents(data_dir=settings.data_dir, schemas={**schemas, **index_files(settings)})


def migrations() -> Mapping[str, Traversable]:
    """The databases that everybody has, each with the scripts that make it."""
    storage = files("rag_engine.storage")
    return {CATALOG: storage / "sql", CHAT: files("bot") / "sql", VECTORS: storage / "sql" / "vectors"}


def index_files(settings: Settings) -> Mapping[str, int]:
    """The files that are the index, each with the newest schema that this Footnote knows; none where it is on a server."""
    module, own = parts.index_module(settings.index, settings)
    return module.files(own)
