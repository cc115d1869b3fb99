from __future__ import annotations

import ctypes
import functools
import os
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38


def call(number: int, *arguments: int) -> int:
    """Pointers are addresses. Raises `OSError`."""
    return _checked(_libc().syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))


def end_with_parent(signal: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Of processes that our children leave behind. Raises `OSError`."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def gain_nothing() -> None:
    """From a program; a filter requires this. Raises `OSError`."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    _checked(_libc().prctl(ctypes.c_int(option), *map(ctypes.c_ulong, (value, 0, 0, 0))))


def _checked(result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@functools.cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
