"""Every way out that is known is tried, under every mixture of what a kernel may offer, and from inside a worker."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsing import parser_pool
from rag_engine.sandbox import Protection, offered
from rag_engine.types import Blob

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.parsing import ParserPool
    from tests.unit.sandbox.conftest import Cell, Plugin

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the system calls tried are Linux's")

_OFFERED = offered()
_REFUSALS = {
    "PermissionError",
    "PermissionError 1",
    "PermissionError 13",
    "OSError 18",  # a link from one folder to another
    "OSError 38",  # as if the kernel did not have the call
    "gaierror -3",  # no server can be asked for a name
}
_UNSEEN = {"a device", "a session of our own", "another priority"}
"""Python tells its hooks nothing of these."""
_ESCAPING = """
import json
from pathlib import Path
from rag_engine.types import Section
from tests.unit.sandbox import attempts

def parse(path):
    outside = path.parent
    yield Section(text=json.dumps({
        "escapes": attempts.outcomes(attempts.escapes(outside, path)),
        "needs": attempts.outcomes(attempts.needs(outside, path)),
    }))
"""

_PROGRAMMED = """
import json, subprocess
from rag_engine.types import Section

PROGRAMS = ("cat",)

def parse(path):
    told = {"the file": cat(path), "a secret": cat(path.parent / "secret")}
    try:
        subprocess.run(["ls"])
        told["another program"] = "started"
    except PermissionError:
        told["another program"] = "refused"
    yield Section(text=json.dumps(told))

def cat(path):
    return subprocess.run(["cat", path], capture_output=True, text=True).stdout
"""


def _not_refused(outcomes: dict[str, str]) -> dict[str, str]:
    return {attempt: outcome for attempt, outcome in outcomes.items() if outcome not in _REFUSALS}


def _not_done(outcomes: dict[str, str]) -> dict[str, str]:
    return {attempt: outcome for attempt, outcome in outcomes.items() if outcome != "done"}


def test_outside_of_a_sandbox_the_attempts_are_no_refusals_by_nature(cell: Cell) -> None:
    outcomes = cell.outcomes(None)
    refused = outcomes["escapes"].keys() - _not_refused(outcomes["escapes"]).keys()
    # What only root may do, and what the system may keep for it.
    assert refused <= {
        *(
            "reading another's memory",
            "owner of a file",
            "a device",
            "a program for the kernel",
            "page faults",
        ),
        *("a namespace", "a mount", "another root", "tracing the parent", "the memory of the parent"),
        *(
            "reading the parent's memory",
            "a ring of requests",
            "listing home",
            "typing into the terminal",
            "a key",
        ),
    }
    assert _not_done(outcomes["needs"]) == {}


@pytest.mark.skipif(not _OFFERED.complete, reason="this kernel lacks Landlock or seccomp")
@pytest.mark.parametrize("landlock", range(1, 7))
def test_every_version_of_landlock_with_seccomp_refuses_everything(cell: Cell, landlock: int) -> None:
    landlock = min(landlock, _OFFERED.landlock)
    outcomes = cell.outcomes(Protection(landlock=landlock, seccomp=True))
    assert _not_refused(outcomes["escapes"]) == {}
    assert _not_done(outcomes["needs"]) == {}


@pytest.mark.parametrize(
    "protection",
    [Protection(), Protection(seccomp=_OFFERED.seccomp), Protection(landlock=_OFFERED.landlock)],
    ids=["hooks alone", "seccomp", "Landlock"],
)
def test_where_the_kernel_offers_less_python_refuses_it(cell: Cell, protection: Protection) -> None:
    outcomes = cell.outcomes(protection)
    assert _not_refused(outcomes["escapes"]).keys() <= _UNSEEN
    assert _not_done(outcomes["needs"]) == {}


async def test_from_inside_a_worker_there_is_no_way_out(cell: Cell, plugin: Plugin) -> None:
    plugin("escaping", _ESCAPING)
    path = cell.file.rename(cell.outside / "file.escaping")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        outcomes = json.loads(await _text(pool, path))
        assert await pool.protection() == _OFFERED
    assert _not_refused(outcomes["escapes"]).keys() <= (set() if _OFFERED.complete else _UNSEEN)
    assert _not_done(outcomes["needs"]) == {}
    assert sorted(child.name for child in cell.outside.iterdir()) == [
        *("file.escaping", "link", "secret"),
        *(f"victim {number}" for number in range(8)),
    ]


async def test_a_parser_that_needs_a_program_names_it_and_the_program_is_held_as_well(
    cell: Cell, plugin: Plugin
) -> None:
    plugin("programmed", _PROGRAMMED)
    path = cell.file.rename(cell.outside / "file.programmed")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        outcomes = json.loads(await _text(pool, path))
    assert outcomes == {"the file": "what is to be read", "a secret": "", "another program": "refused"}


async def _text(pool: ParserPool, path: Path) -> str:
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=1, uri="")
    return "".join([section.text async for batch in pool.parse(blob) for section in batch])
