from __future__ import annotations

import ctypes
import sys
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_BYTES: Final = 2**20


def return_large_blocks() -> bool:
    """Else, once one large array is freed, glibc keeps up to 64 MB. False without glibc."""
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _BYTES)) and bool(mallopt(_TRIM_THRESHOLD, 2 * _BYTES))
