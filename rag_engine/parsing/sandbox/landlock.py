"""Landlock: the kernel denies files, TCP ports and signals without a rule.

https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rag_engine.parsing.sandbox import system_calls

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_TELL_VERSION: Final = 1
_PATH_BENEATH: Final = 1

EXECUTE: Final = 1 << 0
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_FOLDER: Final = 1 << 3
REMOVE_FOLDER: Final = 1 << 4
REMOVE_FILE: Final = 1 << 5
MAKE_FOLDER: Final = 1 << 7
MAKE_FILE: Final = 1 << 8
REFER: Final = 1 << 13
TRUNCATE: Final = 1 << 14
_DEVICE_CONTROL: Final = 1 << 15
_OF_FILES: Final = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | _DEVICE_CONTROL
_READ: Final = READ_FILE | READ_FOLDER
_WRITE: Final = _READ | WRITE_FILE | TRUNCATE | REMOVE_FILE | REMOVE_FOLDER | MAKE_FILE | MAKE_FOLDER | REFER
_BIND_AND_CONNECT: Final = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    files: int
    ports: int
    scopes: int

    def packed(self, version: int) -> bytes:
        fields = (self.files, self.ports, self.scopes)
        known = 1 if version < 4 else 2 if version < 6 else 3
        return struct.pack(f"={known}Q", *fields[:known])


def handled(version: int) -> Handled:
    """Everything this version can deny (1: Linux 5.13, 3: 6.2, 4: 6.7, 6: 6.12)."""
    files = (1 << 13) - 1
    files |= REFER if version >= 2 else 0
    files |= TRUNCATE if version >= 3 else 0
    files |= _DEVICE_CONTROL if version >= 5 else 0
    ports = _BIND_AND_CONNECT if version >= 4 else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    return Handled(files=files, ports=ports, scopes=scopes)


def version() -> int:
    try:
        return system_calls.call(_CREATE_RULESET, 0, 0, _TELL_VERSION)
    except OSError:
        return 0


def restrict(
    *, version: int, reads: Iterable[Path], writes: Iterable[Path], programs: Iterable[Path]
) -> None:
    """Irreversible, for this thread and its children. Ignores missing paths. Raises `OSError`."""
    rights = handled(version)
    attributes = rights.packed(version)
    ruleset = system_calls.call(_CREATE_RULESET, _address(attributes), len(attributes), 0)
    try:
        for paths, allowed in ((reads, _READ), (writes, _WRITE), (programs, _READ | EXECUTE)):
            for path in paths:
                _allow(ruleset, path, allowed & rights.files)
        system_calls.call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        system_calls.call(_ADD_RULE, ruleset, _PATH_BENEATH, _address(rule), 0)
    finally:
        os.close(descriptor)


def _address(content: bytes) -> int:
    """Valid while the bytes are referenced."""
    return ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value or 0
