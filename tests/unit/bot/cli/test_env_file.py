from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from dotenv import dotenv_values

from bot.cli.operation._setup import env_file
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

VALUES = {"PLAIN": "xoxb-1", "SPACES": "two words # no comment", "DOLLAR": "$HOME `id` \\n", "QUOTE": 'a"b'}


def test_what_is_written_is_read_again_and_other_lines_stay(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# mine\nexport PLAIN=old\nOTHER=1\n", encoding="utf-8")
    file.chmod(0o644)
    env_file.write(VALUES, file)
    assert file.read_text(encoding="utf-8").startswith("# mine\nOTHER=1\n")
    assert dotenv_values(file, interpolate=False) == {"OTHER": "1", **VALUES}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    env_file.write({"PLAIN": ""}, file)
    assert "PLAIN" not in dotenv_values(file)
    assert [each.name for each in tmp_path.iterdir()] == [".env"]


@pytest.mark.parametrize("value", ["a\nB=2", "it's"])
def test_what_the_format_cannot_hold_is_refused_and_nothing_changes(tmp_path: Path, value: str) -> None:
    file = tmp_path / ".env"
    env_file.write({"A": "1"}, file)
    with pytest.raises(UserError):
        env_file.write({"A": value}, file)
    assert file.read_text(encoding="utf-8") == "A=1\n"
