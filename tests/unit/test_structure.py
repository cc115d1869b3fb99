"""The check of names and sizes refuses what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts import check_structure

if TYPE_CHECKING:
    from pathlib import Path

LONG = "def long():\n" + "    pass\n" * 40


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"bot/gate.py": "class Gate: ...", "rag_engine/door.py": "class Gate: ..."},
            "class Gate is defined 2 times",
        ),
        ({"bot/gate_dealing.py": ""}, "'dealing' is a gerund"),
        ({"bot/judging/__init__.py": ""}, "'judging' is a gerund"),
        ({"bot/gate.py": "x = 1\n" * 401}, "401 lines, the limit is 400"),
        ({"bot/gate.py": LONG}, "long has 41 lines, the limit is 40"),
        ({f"bot/commands/c{number}.py": "" for number in range(17)}, "17 public modules side by side"),
        (
            {"bot/gate.py": '"""' + "word " * check_structure.WORDS + '"""\nx = 1  # one more'},
            f"have {check_structure.WORDS + 2} words",
        ),
        ({"bot/gate.py": 'NUMBER = r"(?:[.,]\\d)*+"'}, "a possessive group"),
        ({"bot/sql/0002_a.sql": "", "bot/sql/0002_b.sql": ""}, "0002_b.sql has the number of 0002_a.sql"),
    ],
    ids=[
        "class",
        "gerund",
        "gerund folder",
        "module",
        "function",
        "folder",
        "words",
        "possessive group",
        "migration",
    ],
)
def test_a_violation_is_named(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    write(tmp_path, files)
    (found,) = check_structure.violations(tmp_path)
    assert expected in found


def test_what_is_allowed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "bot/rendering/__init__.py": "class Settings: ...",
            "bot/pending_events.py": "class Settings: ...\n\n\nclass _Private: ...",
            "bot/gate.py": "class _Private: ...",
            **{f"bot/commands/c{number}.py": "" for number in range(check_structure.MODULES_IN_FOLDER)},
        },
    )
    assert check_structure.violations(tmp_path) == []


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
