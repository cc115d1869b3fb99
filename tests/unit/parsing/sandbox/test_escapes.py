"""Every way out that is known is tried, under every mixture of what a kernel may offer, and from inside a worker."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

import pytest

from rag_engine.parsing.pool import parser_pool
from rag_engine.parsing.sandbox import Protection, offered
from rag_engine.types import Blob

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.parsing.pool import ParserPool
    from tests.unit.parsing.sandbox.conftest import Cell, Plugin

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the system calls tried are Linux's"),
    pytest.mark.process,
]

_OFFERED = offered()
_REFUSALS = {
    "PermissionError",
    "PermissionError 1",
    "PermissionError 13",
    "OSError 18",  # a link from one folder to another
    "OSError 38",  # as if the kernel did not have the call
    "gaierror -3",  # no server can be asked for a name
}
_BY_SECCOMP = {
    *("a TCP socket", "a UDP socket", "a Unix socket", "a raw TCP socket", "a netlink socket"),
    *("a process", "a raw process", "a program", "a shell", "a raw program"),
    *("a signal to the parent", "a signal to everyone", "tracing the parent", "reading the parent's memory"),
    *("shared memory", "page faults", "a key", "a namespace", "another user", "owner of a file"),
}
_BY_LANDLOCK = {
    *("reading another file", "reading through a link", "reading another file raw", "listing the root"),
    *("writing to the file", "writing to another file", "writing a new file", "writing raw"),
    *("a new folder", "removing a file", "renaming a file", "linking into our folder", "cutting a file"),
    *("the environment of the parent", "the memory of the parent", "a program", "a shell"),
}
_ESCAPING = """
import json
from pathlib import Path
from rag_engine.types import Section
from tests.unit.parsing.sandbox import attempts

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


@pytest.mark.skipif(not _OFFERED.complete, reason="this kernel lacks Landlock or seccomp")
@pytest.mark.parametrize(
    ("protection", "refused"),
    [
        (Protection(seccomp=True), _BY_SECCOMP),
        (Protection(landlock=_OFFERED.landlock), _BY_LANDLOCK),
        (Protection(), set[str]()),
    ],
    ids=["seccomp", "Landlock", "nothing"],
)
def test_where_the_kernel_offers_less_that_part_still_refuses(
    cell: Cell, protection: Protection, refused: set[str]
) -> None:
    outcomes = cell.outcomes(protection)
    assert refused.isdisjoint(_not_refused(outcomes["escapes"]))
    assert _not_done(outcomes["needs"]) == {}


@pytest.mark.skipif(not _OFFERED.complete, reason="this kernel lacks Landlock or seccomp")
async def test_from_inside_a_worker_there_is_no_way_out(cell: Cell, plugin: Plugin) -> None:
    plugin("escaping", _ESCAPING)
    path = cell.file.rename(cell.outside / "file.escaping")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        outcomes = json.loads(await _text(pool, path))
        assert await pool.protection() == _OFFERED
    assert _not_refused(outcomes["escapes"]) == {}
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


_LEAVING_ONE_BEHIND = """
import json, os, time
from rag_engine.types import Section

PROGRAMS = ("cat",)

def parse(path):
    daemon = os.fork()
    if not daemon:
        frame = json.dumps({"sections": [{"text": "WORDS OF ANOTHER", "anchor": "", "headings": "", "kind": "prose"}]})
        frame = len(frame).to_bytes(4, "big") + frame.encode()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            for descriptor in range(3, 40):
                try:
                    os.write(descriptor, frame)
                except OSError:
                    pass
            time.sleep(0.3)
        os._exit(0)
    yield Section(text=str(daemon))
"""
_SLOW = """
import time
from rag_engine.types import Section

def parse(path):
    time.sleep(1)
    yield Section(text=path.read_text())
"""


async def test_a_process_left_behind_ends_and_reaches_no_later_document(cell: Cell, plugin: Plugin) -> None:
    plugin("leaving", _LEAVING_ONE_BEHIND)
    plugin("slow", _SLOW)
    hostile = cell.file.rename(cell.outside / "file.leaving")
    innocent = cell.outside / "next.slow"
    innocent.write_text("The next person's document.", encoding="utf-8")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        (daemon,) = re.findall(r"\d+", await _text(pool, hostile))
        assert await _text(pool, innocent) == "The next person's document."
        with pytest.raises(ProcessLookupError):
            os.kill(int(daemon), 0)
