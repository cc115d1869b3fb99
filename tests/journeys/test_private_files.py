"""Whatever the umask, only the owner can read what Footnote writes; older, more open files are closed."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from bot.cli.operation import doctor
from bot.settings import Settings
from tests.journeys.conftest import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.journeys.conftest import Footnote

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


@pytest.fixture(autouse=True)
def careless_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _open_to_others(folder: Path) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]


async def test_everything_written_is_private_and_older_files_are_closed(
    footnote: Footnote, tmp_path: Path
) -> None:
    data, archives = tmp_path / "data", tmp_path / "archives"
    archives.mkdir(mode=0o700)
    assert (await footnote("add", str(SAMPLES / "handbook.pdf"))).code == 0
    assert (await footnote("kb", "export", "default", str(archives / "export.zip"))).code == 0
    assert len(list(data.rglob("*"))) > 4
    assert _open_to_others(data) == []
    assert _open_to_others(archives) == [], "nor is an export"

    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    found = await doctor.permissions(Settings(data_dir=data))
    assert found is not None
    assert found.detail.startswith("other users of this machine can read")
    assert f"chmod -R go= {data}" in (found.remedy or "")
    assert "footnote.sqlite" in _open_to_others(data), "the doctor changes nothing"
    assert (await footnote("kb", "list")).code == 0
    assert _open_to_others(data) == []


async def test_a_shared_folder_is_left_and_named(footnote: Footnote, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    (data / "holiday.jpg").write_bytes(b"a picture")
    listed = await footnote("kb", "list")
    assert "chmod -R go=" in listed.err
    assert set(_open_to_others(data)) == {".", "holiday.jpg"}, "ours are private in it"
