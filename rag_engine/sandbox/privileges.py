"""The rights of the administrator that a process has beyond its files: given up, as it may run as root in a container."""

from __future__ import annotations

import ctypes
import struct
from typing import Final

from rag_engine.sandbox import kernel

_VERSION: Final = 0x20080522
_READ_ANY_FILE: Final = 1 << 2
"""Kept where it is there: which file is read was decided by whoever started us, and Landlock allows no other."""


def give_up(*, get: int, put: int) -> None:
    """Keep none of them but reading files of others; `get` and `put` are the numbers of the two calls. Raises `OSError`."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION, 0), 8)
    sets = ctypes.create_string_buffer(24)
    kernel.call(get, ctypes.addressof(header), ctypes.addressof(sets))
    _, permitted, _, _, more_permitted, _ = struct.unpack("=6I", sets.raw)
    kept = permitted & _READ_ANY_FILE
    if permitted == kept and not more_permitted:
        # There is nothing to give up, and who asks all the same may be refused or ended by a service manager.
        return
    sets.raw = struct.pack("=6I", kept, kept, 0, 0, 0, 0)
    kernel.call(put, ctypes.addressof(header), ctypes.addressof(sets))
