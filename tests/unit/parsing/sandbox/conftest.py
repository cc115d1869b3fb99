"""A folder of somebody else's, and a process that tries to get at it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests import plugins
from tests.unit.parsing.sandbox.attempts import VICTIMS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag_engine.parsing.sandbox import Protection


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a sandboxed process has, and what it must not reach."""

    file: Path
    folder: Path
    outside: Path

    def outcomes(
        self, protection: Protection | None, programs: tuple[str, ...] = ()
    ) -> dict[str, dict[str, str]]:
        """What came of every attempt; without protection for None."""
        told = {
            "file": str(self.file),
            "folder": str(self.folder),
            "outside": str(self.outside),
            "protection": asdict(protection) if protection is not None else None,
            "programs": programs,
        }
        ended = subprocess.run(
            [sys.executable, "-m", "tests.unit.parsing.sandbox.attempts", json.dumps(told)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout.splitlines()[-1])


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "secret").write_text("a secret", encoding="utf-8")
    for number in range(VICTIMS):
        (outside / f"victim {number}").write_text("theirs", encoding="utf-8")
    (outside / "link").symlink_to(outside / "secret")
    file = outside / "file.txt"
    file.write_text("what is to be read", encoding="utf-8")
    return Cell(file=file, folder=folder, outside=outside)


Plugin: TypeAlias = "Callable[[str, str], None]"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plugin:
    """Installs a parser under a name, which is the suffix that it reads."""

    def install(name: str, source: str) -> None:
        folder = tmp_path / "plugins" / name
        plugins.install(folder, name, source)
        monkeypatch.syspath_prepend(str(folder))

    return install
