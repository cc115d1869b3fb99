from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from bot.composition import loader
from bot.files.originals import KEPT
from rag_engine.errors import UserError
from rag_engine.storage.sqlite.migrations import latest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from bot.settings import Settings

CATALOG: Final = "footnote.sqlite"
CHAT: Final = "chat.sqlite"
VECTORS: Final = "vectors.sqlite"
ORIGINALS: Final = "originals"
TABLES: Final = "tables"
FORGETTING: Final = "forgetting.json"

_ORIGINAL: Final = re.compile(rf"{ORIGINALS}/[0-9a-f]{{64}}\.(?:{'|'.join(KEPT)})")
_TABLES: Final = re.compile(rf"{TABLES}/[a-z0-9_-]{{1,64}}/[a-z0-9_-]{{1,64}}\.sqlite")
_LOGS: Final = ("-wal", "-shm", "-journal")
_TEMPORARY: Final = ("rebuilding", "rebuilding.jsonl", "uploads", "speech", FORGETTING)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFiles:
    """`schemas`: the newest known of each database."""

    data_dir: Path
    schemas: Mapping[str, int]

    def databases(self) -> list[Path]:
        return [path for name in sorted(self.schemas) if (path := self.data_dir / name).is_file()]

    def originals(self) -> list[Path]:
        found = (*(self.data_dir / ORIGINALS).glob("*"), *(self.data_dir / TABLES).glob("*/*.sqlite"))
        return sorted(path for path in found if self.keeps(self.name(path)))

    def name(self, path: Path) -> str:
        return path.relative_to(self.data_dir).as_posix()

    def keeps(self, name: str) -> bool:
        return name in self.schemas or bool(_ORIGINAL.fullmatch(name) or _TABLES.fullmatch(name))

    def spare(self, file: Path) -> None:
        """Raises `UserError` if an archive would overwrite anything else."""
        target, data_dir = file.resolve(), self.data_dir.resolve()
        own = target.is_relative_to(data_dir) and self.keeps(target.relative_to(data_dir).as_posix())
        if own or (target.is_file() and target.stat().st_size and not zipfile.is_zipfile(target)):
            raise UserError(f"It would overwrite {file}, which is not an archive: give another name.")

    def migration_backups(self) -> list[Path]:
        return [
            path
            for name in sorted(self.schemas)
            for path in sorted(self.data_dir.glob(f"{name}.schema-*.backup*"))
        ]

    def replaceable(self) -> Iterator[Path]:
        """Not lock files and model weights."""
        for name in sorted(self.schemas):
            yield from (
                path
                for path in map(self.data_dir.joinpath, [name, *(name + log for log in _LOGS)])
                if path.exists()
            )
        yield from self.migration_backups()
        yield from (
            path for name in (ORIGINALS, TABLES, *_TEMPORARY) if (path := self.data_dir / name).exists()
        )


def originals_of(names: Iterable[str]) -> int:
    return sum(bool(_ORIGINAL.fullmatch(name)) for name in names)


def of(settings: Settings) -> DataFiles:
    schemas = {name: latest(scripts) for name, scripts in migrations().items()}
    return DataFiles(data_dir=settings.data_dir, schemas={**schemas, **index_files(settings)})


def migrations() -> Mapping[str, Traversable]:
    storage = files("rag_engine.storage")
    return {CATALOG: storage / "sql", CHAT: files("bot.store") / "sql", VECTORS: storage / "sql" / "vectors"}


def index_files(settings: Settings) -> Mapping[str, int]:
    module, own = loader.index_module(settings.index, settings)
    return module.files(own)
