"""System calls that Python has no names for."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38


def call(number: int, *arguments: int) -> int:
    """The result of a system call; pointers are given as addresses. Raises `OSError`."""
    return _checked(_libc().syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)))


def end_with_parent(signal: int) -> None:
    """Have the kernel send this process a signal when its parent has ended, however that came about. Raises `OSError`."""
    _prctl(_PR_SET_PDEATHSIG, signal)


def gain_nothing() -> None:
    """Give up, for ever, to gain rights by starting a program; without it the kernel takes no filter. Raises `OSError`."""
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
