"""Start-up of the command line on a small index: median wall seconds of whole processes.

`python -m benchmarks.startup`
"""

from __future__ import annotations

import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples" / "lumen-harbour"
FOOTNOTE = [sys.executable, "-m", "bot"]
RUNS = 5


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FOOTNOTE_DATA_DIR": folder}
        subprocess.run(
            [*FOOTNOTE, "add", str(SAMPLES)], env=environment, check=True, stdout=subprocess.DEVNULL
        )
        rows = [
            ("`footnote --help`", 0.4, median(lambda: whole(["--help"], environment))),
            (
                "`footnote ask` on an existing index",
                2.0,
                median(lambda: whole(["ask", "leave days"], environment)),
            ),
            ("`footnote run` until `ready`", 2.0, median(lambda: ready(environment))),
        ]
    print("| Start | Target | Median of 5 |\n| --- | --- | --- |")
    for name, target, seconds in rows:
        print(f"| {name} | {target} s | {seconds:.2f} s |")


def whole(arguments: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run([*FOOTNOTE, *arguments], env=environment, check=True, capture_output=True, timeout=60)
    return time.perf_counter() - started


def ready(environment: dict[str, str]) -> float:
    """Seconds until `footnote run`, with a terminal as input, logs that it is ready."""
    controller, terminal = pty.openpty()
    started = time.perf_counter()
    with subprocess.Popen(
        [*FOOTNOTE, "run"], env=environment, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if b'"ready"' in line:
                break
        seconds = time.perf_counter() - started
        process.kill()
    os.close(controller)
    os.close(terminal)
    return seconds


def median(measure: object) -> float:
    """The median after one run that warms the caches."""
    assert callable(measure)
    measure()
    return statistics.median(measure() for _ in range(RUNS))


if __name__ == "__main__":
    main()
