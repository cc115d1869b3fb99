"""The command line is made of the modules of `bot.cli`: one new command is one new file."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bot import __main__, cli
from bot.cli import _parser

if TYPE_CHECKING:
    from pathlib import Path

GREET = '''"""`footnote greet`: say hello to somebody.

Nobody needs it.
"""

EXAMPLE = "footnote greet Ada"


def add_arguments(parser):
    parser.add_argument("name", metavar="NAME")


async def run(arguments, settings):
    print(f"Hello {arguments.name}, from {settings.index.kind}")
    return 7
'''


@pytest.fixture
def greet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command in one file, in a folder of its own."""
    (tmp_path / "greet.py").write_text(GREET, encoding="utf-8")
    (tmp_path / "_shared.py").write_text("raise AssertionError('no command')\n", encoding="utf-8")
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "bot.cli.greet", raising=False)


@pytest.mark.usefixtures("greet")
def test_a_file_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["greet", "Ada"]) == 7
    assert capsys.readouterr().out == "Hello Ada, from embedded\n"
    assert __main__.main([]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^    greet +say hello to somebody$", shown, re.MULTILINE)
    assert "_shared" not in shown
    with pytest.raises(SystemExit) as ended:
        __main__.main(["greet", "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "usage: footnote greet [-h] NAME\n\nSay hello to somebody.\n" in shown
    assert "example:\n  footnote greet Ada\n" in shown
    with pytest.raises(SystemExit) as ended:
        __main__.main(["greet"])
    assert ended.value.code == 2


def test_every_command_has_a_summary_and_takes_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    names = _parser.names()
    assert names[:6] == ["run", "chat", "ask", "search", "add", "kb"]
    for name in names:
        with pytest.raises(SystemExit) as ended:
            _parser.parse([name, "--help"])
        shown = capsys.readouterr().out
        assert ended.value.code == 0
        assert shown.startswith(f"usage: footnote {name} ")
        assert f"example:\n  footnote {name}" in shown
        assert len(shown.split("\n\n")[1]) > 10, "what it does"


@pytest.mark.parametrize(("argv", "code"), [(["nothing"], 2), (["--version", "--nothing"], 2), (["-h"], 0)])
def test_wrong_usage_and_help_end_the_program(argv: list[str], code: int) -> None:
    with pytest.raises(SystemExit) as ended:
        __main__.main(argv)
    assert ended.value.code == code


@pytest.mark.process
@pytest.mark.process
def test_help_imports_no_command_and_no_library() -> None:
    source = """
import sys
from bot.__main__ import main
main([])
own = {name for name in sys.modules if name.partition(".")[0] in ("bot", "rag_engine", "adapters")}
assert own == {"bot", "bot.__main__", "bot.cli", "bot.cli._parser"}, own
assert not {"pydantic", "numpy", "rich", "asyncio"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60, stdout=subprocess.DEVNULL)
