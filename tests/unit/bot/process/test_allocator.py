from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from bot.process import allocator

def anonymous():
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("RssAnon:")[1].split()[0]) / 1000

if sys.argv[1] == "returned":
    assert allocator.return_large_blocks()
before = anonymous()
np.ones(24_000_000, dtype=np.uint8)
arrays = [np.ones(6_000_000, dtype=np.uint8) for _ in range(10)]
kept = np.ones(200_000, dtype=np.uint8)
del arrays
print(anonymous() - before)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_memory_of_large_arrays_goes_back_to_the_system() -> None:
    assert _megabytes_kept("returned") < 10 < _megabytes_kept("as it was")


def _megabytes_kept(how: str) -> float:
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True, timeout=60
    )
    return float(ran.stdout)
