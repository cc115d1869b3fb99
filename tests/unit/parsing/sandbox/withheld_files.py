"""Reads a file where system calls are withheld: `python -m tests.unit.parsing.sandbox.withheld_files '{...}'`.

Withheld as a container or a service manager does it, by a filter that everything started here inherits.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import platform
import struct
import sys
from dataclasses import asdict
from pathlib import Path

from rag_engine.parsing.pool import parser_pool
from rag_engine.parsing.sandbox import system_calls
from rag_engine.parsing.sandbox.refused_system_calls import ARCHITECTURES
from rag_engine.types import Blob

MACHINE = platform.machine()
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000, 0x80000000


def _withhold(withheld: list[tuple[int, int]]) -> None:
    """Of each call its number, and the number of the error it ends in; 0 for the end of the process."""
    lines = [struct.pack("HBBI", _LOAD, 0, 0, 0)]
    for number, error in withheld:
        lines.append(struct.pack("HBBI", _EQUAL, 0, 1, number))
        lines.append(struct.pack("HBBI", _RETURN, 0, 0, _REFUSE | error if error else _END))
    lines.append(struct.pack("HBBI", _RETURN, 0, 0, _ALLOW))
    content = ctypes.create_string_buffer(b"".join(lines))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(content)))
    system_calls.gain_nothing()
    system_calls.call(ARCHITECTURES[MACHINE].checked["seccomp"], 1, 0, ctypes.addressof(program))


def _give_up_all_privileges() -> None:
    header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0), 8)
    nothing = ctypes.create_string_buffer(24)
    number = ARCHITECTURES[MACHINE].checked["capset"]
    system_calls.call(number, ctypes.addressof(header), ctypes.addressof(nothing))
    # Otherwise root would have them again with the next program.
    system_calls.gain_nothing()


async def _read(path: Path) -> list[object]:
    blob = Blob(name=path.name, media_type="", path=path, digest="", size=1, uri="")
    async with parser_pool(workers=1, seconds=30, memory_bytes=1 << 30) as pool:
        protection = await pool.protection()
        text = "".join([section.text async for batch in pool.parse(blob) for section in batch])
    return [asdict(protection), text]


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    if not told["privileges"]:
        _give_up_all_privileges()
    _withhold([(number, error) for number, error in told["withheld"]])
    sys.stdout.write(json.dumps(asyncio.run(_read(Path(told["file"])))))
    sys.stdout.flush()
    os._exit(0)
