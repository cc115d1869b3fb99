"""Runs a command that may write no file beyond so many bytes: `python limited.py BYTES COMMAND ...`. For it, the disk is full."""

from __future__ import annotations

import os
import resource
import sys

if __name__ == "__main__":
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), hard))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a test command, as it was given
