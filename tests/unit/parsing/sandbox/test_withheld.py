"""What is offered by the kernel and withheld by what we run in: a container's filter, a service manager's, other sandboxes.

Files are read all the same, held by what is left; and where a process cannot be held in as its worker was, it reads nothing.
"""

from __future__ import annotations

import asyncio
import errno
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import Unavailable
from rag_engine.parsing.pool import parser_pool
from rag_engine.parsing.sandbox import Protection, offered
from rag_engine.parsing.sandbox.refused_system_calls import ARCHITECTURES
from rag_engine.types import Blob
from tests.unit.parsing.sandbox import withheld_files

if TYPE_CHECKING:
    from tests.unit.parsing.sandbox.conftest import Cell, Plugin

_OFFERED = offered()
pytestmark = [
    pytest.mark.skipif(not _OFFERED.complete, reason="this kernel has nothing to withhold"),
    pytest.mark.process,
]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SET_PRIORITY = {"x86_64": 141, "aarch64": 140}
_ENDED = 0
_SELF_HOLDING = """
from pathlib import Path
from rag_engine.parsing.sandbox import landlock, system_calls
from rag_engine.types import Section

system_calls.gain_nothing()
for _ in range(16):
    landlock.restrict(version=1, reads=[Path("/")], writes=[Path("/")], programs=[Path("/")])

def parse(path):
    yield Section(text="read")
"""


def _numbers() -> dict[str, int]:
    return ARCHITECTURES[withheld_files.MACHINE].checked


async def _read(cell: Cell, *, withheld: dict[int, int], privileges: bool = True) -> tuple[Protection, str]:
    """What a pool says of its workers, and the text it reads, where these calls end in errors, or in the caller's end."""
    told = {"file": str(cell.file), "withheld": sorted(withheld.items()), "privileges": privileges}
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.unit.parsing.sandbox.withheld_files", json.dumps(told)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    protection, text = json.loads(ended.stdout)
    return Protection(**protection), text


@pytest.mark.parametrize("how", [errno.ENOSYS, errno.EPERM, _ENDED], ids=["unknown", "refused", "ended"])
@pytest.mark.parametrize("number", [_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF])
async def test_without_a_call_of_landlock_seccomp_remains(cell: Cell, number: int, how: int) -> None:
    protection, text = await _read(cell, withheld={number: how})
    assert (protection, text) == (Protection(seccomp=True), "what is to be read")


@pytest.mark.parametrize("how", [errno.ENOSYS, errno.EPERM, _ENDED], ids=["unknown", "refused", "ended"])
async def test_without_seccomp_landlock_remains(cell: Cell, how: int) -> None:
    protection, text = await _read(cell, withheld={_numbers()["seccomp"]: how})
    assert (protection, text) == (Protection(landlock=_OFFERED.landlock), "what is to be read")


@pytest.mark.parametrize("how", [errno.EPERM, _ENDED], ids=["refused", "ended"])
async def test_who_has_no_rights_of_the_administrator_asks_for_nothing_about_them(
    cell: Cell, how: int
) -> None:
    """A usual setting of services (`SystemCallFilter=~@privileged`) withholds the call that gives rights up."""
    protection, text = await _read(cell, withheld={_numbers()["capset"]: how}, privileges=False)
    assert (protection, text) == (_OFFERED, "what is to be read")


@pytest.mark.parametrize("how", [errno.EPERM, _ENDED], ids=["refused", "ended"])
async def test_a_process_that_may_not_step_back_reads_all_the_same(cell: Cell, how: int) -> None:
    """A usual setting of services, too (`SystemCallFilter=~@resources`)."""
    protection, text = await _read(cell, withheld={_SET_PRIORITY[withheld_files.MACHINE]: how})
    assert (protection, text) == (_OFFERED, "what is to be read")


async def test_where_no_limit_may_be_set_files_are_read(cell: Cell) -> None:
    protection, text = await _read(cell, withheld={_numbers()["prlimit64"]: errno.EPERM})
    assert (protection, text) == (_OFFERED, "what is to be read")


async def test_what_cannot_be_held_in_reads_nothing(cell: Cell, plugin: Plugin) -> None:
    """A process may be held in sixteen times; a parser has used them up where its worker imports it."""
    plugin("selfholding", _SELF_HOLDING)
    path = cell.file.rename(cell.outside / "file.selfholding")
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=1, uri="")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        with pytest.raises(Unavailable, match="Files are not read now"):
            _ = [batch async for batch in pool.parse(blob)]
