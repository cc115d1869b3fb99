"""A kernel filter in classic BPF: https://docs.kernel.org/userspace-api/seccomp_filter.html"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from typing import Final

from rag_engine.parsing.sandbox import system_calls
from rag_engine.parsing.sandbox.refused_system_calls import ARCHITECTURES, NEWEST, Architecture

_SET_FILTER: Final = 1
_TELL_ACTION: Final = 2
_ALL_THREADS: Final = 1

_LOAD: Final = 0x20
_EQUAL: Final = 0x15
_GREATER: Final = 0x25
_AT_LEAST: Final = 0x35
_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_REFUSE: Final = 0x00050000 | errno.EPERM
_UNKNOWN: Final = 0x00050000 | errno.ENOSYS

# Of a call: number, architecture, low halves of the arguments.
_NUMBER: Final = 0
_ARCHITECTURE: Final = 4
_FIRST: Final = 16
_SECOND: Final = 24

_THREAD: Final = 0x10000
_TYPE_INTO_TERMINAL: Final = (0x5412, 0x541C)


def offered() -> Architecture | None:
    architecture = ARCHITECTURES.get(platform.machine()) if struct.calcsize("P") == 8 else None
    if architecture is None:
        return None
    action = ctypes.c_uint32(_REFUSE & 0xFFFF0000)
    try:
        system_calls.call(architecture.checked["seccomp"], _TELL_ACTION, 0, ctypes.addressof(action))
    except OSError:
        return None
    return architecture


def restrict(architecture: Architecture, *, process: int, programs: bool) -> None:
    """`process` is this one's id. Raises `OSError`."""
    content = program(architecture, process=process, programs=programs)
    instructions = ctypes.create_string_buffer(content, len(content))
    described = struct.pack("HxxxxxxQ", len(content) // 8, ctypes.addressof(instructions))
    description = ctypes.create_string_buffer(described, len(described))
    unfiltered = system_calls.call(
        architecture.checked["seccomp"], _SET_FILTER, _ALL_THREADS, ctypes.addressof(description)
    )
    if unfiltered:
        raise OSError(errno.EBUSY, "a thread of this process could not be given the filter")


def program(architecture: Architecture, *, process: int, programs: bool) -> bytes:
    """`process` may signal and limit itself. A call with another architecture's numbers kills: it would be another
    call.
    """
    numbers = architecture.checked
    refused = architecture.refused | {numbers["seccomp"], numbers["capset"]}
    if not programs:
        refused |= architecture.starting
    lines = [_line(_LOAD, _ARCHITECTURE), *_unless(architecture.audit, _KILL), _line(_LOAD, _NUMBER)]
    if architecture.foreign is not None:
        lines += _when(_AT_LEAST, architecture.foreign, _REFUSE)
    lines += _when(_GREATER, NEWEST, _UNKNOWN)
    # A filter cannot see flags in memory; the C library falls back to `clone`.
    lines += _when(_EQUAL, numbers["clone3"], _UNKNOWN)
    for number in sorted(refused):
        lines += _when(_EQUAL, number, _REFUSE)
    if not programs:
        lines += _decide(numbers["clone"], _FIRST, [(_ANY_BIT, _THREAD)], match=_ALLOW, other=_REFUSE)
    for name, own in (("kill", {process}), ("tgkill", {process}), ("prlimit64", {0, process})):
        tests = [(_EQUAL, value) for value in sorted(own)]
        lines += _decide(numbers[name], _FIRST, tests, match=_ALLOW, other=_REFUSE)
    typing = [(_EQUAL, request) for request in _TYPE_INTO_TERMINAL]
    lines += _decide(numbers["ioctl"], _SECOND, typing, match=_REFUSE, other=_ALLOW)
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _when(test: int, value: int, action: int) -> list[bytes]:
    return [_line(test, value, otherwise=1), _line(_RETURN, action)]


def _unless(value: int, action: int) -> list[bytes]:
    return [_line(_EQUAL, value, then=1), _line(_RETURN, action)]


def _decide(
    number: int, argument: int, tests: list[tuple[int, int]], *, match: int, other: int
) -> list[bytes]:
    asked = [_line(test, value, then=len(tests) - position) for position, (test, value) in enumerate(tests)]
    body = [_line(_LOAD, argument), *asked, _line(_RETURN, other), _line(_RETURN, match)]
    return [_line(_EQUAL, number, otherwise=len(body)), *body]


def _line(operation: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", operation, then, otherwise, value)
