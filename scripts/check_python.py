"""Check that wheels of every dependency exist for a Python that this machine may not have: `python -m scripts.check_python 3.14`.

pip resolves the dependencies of `pyproject.toml`, extras included, for that Python without building anything. Nothing is installed.
Without a package index the check is skipped with one line.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[1]
_SECONDS: Final = 300
_NO_INDEX: Final = (
    "Could not fetch URL",
    "Connection to ",
    "NewConnectionError",
    "Temporary failure in name resolution",
)


def requirements() -> list[str]:
    """What `pip install footnote-bot[every extra]` asks for."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    return sorted({*project["dependencies"], *(each for extra in extras for each in extra)})


def resolve(version: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """pip's attempt to find a wheel of everything for that Python on Linux."""
    return subprocess.run(  # noqa: S603 - the arguments are ours
        [
            *(sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--disable-pip-version-check"),
            *("--ignore-installed", "--no-input", "--retries", "1", "--target", str(folder)),
            *("--python-version", version, "--only-binary=:all:"),
            *requirements(),
        ],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def main(versions: list[str]) -> int:
    """Print one line for each Python; 1 if a dependency has no wheel for it."""
    failed = 0
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            outcome = resolve(version, Path(folder))
        if outcome.returncode == 0:
            print(f"Python {version}: every dependency has a wheel")
        elif any(sign in outcome.stderr for sign in _NO_INDEX):
            print(f"Python {version}: skipped, no package index can be reached")
        else:
            print(f"Python {version}: not resolved\n{outcome.stderr.strip()}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["3.14"]))
