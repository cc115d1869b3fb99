from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from bot import __main__
from bot.data_directory import data_version
from bot.maintenance import changelog

if TYPE_CHECKING:
    from pathlib import Path

CHANGES = """# Changelog

## [Unreleased]

### Changed

- **Breaking:** The setting `A` is called `B`.
- Quicker.

## [0.10.0] - 2026-11-01

### Removed

- **Breaking:** Python 3.10 is no longer
  supported.

## [0.9.1] - 2026-10-01

- **Breaking:** Old.
"""


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("0.9.1", "0.10.0", ["The setting `A` is called `B`.", "Python 3.10 is no longer supported."]),
        ("0.10.0", "0.10.0", ["The setting `A` is called `B`."]),
        ("0.8", "0.9.1", ["The setting `A` is called `B`.", "Old."]),
        ("", "0.10.0", ["The setting `A` is called `B`.", "Python 3.10 is no longer supported.", "Old."]),
    ],
)
def test_only_breaking_changes_between_the_versions_count(
    since: str, until: str, expected: list[str]
) -> None:
    found = changelog.breaking_changes(CHANGES, since=since, until=until)
    assert [each.text for each in found] == expected


def test_the_changelog_is_found() -> None:
    assert changelog.shipped().startswith("# Changelog")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def test_commands_note_their_version_and_the_check_does_not(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_version.note(data, "0.0.1")
    __main__.main(["upgrade", "--check"])
    assert "last used by 0.0.1;" in capsys.readouterr().out
    assert data_version.read(data) == "0.0.1"
    assert __main__.main(["kb", "list"]) == 0
    assert data_version.read(data) == version("footnote-bot")


def test_it_names_databases_that_change_or_are_too_new(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, schema in {"chat.sqlite": 3, "footnote.sqlite": 9_000}.items():
        with closing(sqlite3.connect(data / name)) as database:
            database.execute(f"PRAGMA user_version = {schema}")
    __main__.main(["upgrade", "--check"])
    shown = capsys.readouterr().out
    assert "chat.sqlite goes from schema 3 to" in shown
    assert "kept as chat.sqlite.schema-3.backup" in shown
    assert "belongs to a newer Footnote (schema 9000" in shown
    code = __main__.main(["upgrade", "--check", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["schemas"]["chat.sqlite"][0] == 3
    assert (code == 1) == bool(told["breaking"])


def test_without_check_it_says_how(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["upgrade"]) == 1
    assert "pip install --upgrade" in capsys.readouterr().err
