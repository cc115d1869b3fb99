"""`tests.markers`, in runs of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import PROJECT

pytestmark = pytest.mark.process


UNMARKED = "tests/unit/mind_maps/test_mind_map.py::test_deep_trees_end"
STARTING = """
import subprocess, sys, pytest

class Starting:
    def pytest_runtest_call(self):
        subprocess.run(["true"], check=True)

sys.exit(pytest.main(["-q", sys.argv[1]], [Starting()]))
"""


def test_the_server_of_the_commands_was_started_by_no_test() -> None:
    slow = "tests/unit/mind_maps/test_mind_map.py::test_any_headings_can_be_drawn"
    code, output = _run("-m", "pytest", "-q", "--workers", "2", slow, "tests/unit/storage/test_file_lock.py")
    assert code == 0, output


def test_a_test_that_starts_a_process_needs_the_marker() -> None:
    code, output = _run("-c", STARTING, UNMARKED)
    assert code == 1
    assert "it starts a process and needs the marker `process`: true" in output


def _run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr
