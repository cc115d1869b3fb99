"""The command line: one module per command, in the folders of `bot.cli` (CONTRIBUTING.md). Only the chosen one is
imported; other summaries are read from the source.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, Protocol, cast

from bot import cli

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import FileFinder

    from bot.settings import Settings

_CHOICE: Final = re.compile(r"invalid choice: '(.+?)' \(choose from (.+)\)")
_FIRST: Final = ("run", "chat", "ask", "search", "add", "kb")
_EPILOG: Final = """first steps:
  footnote add handbook.pdf notes/        read files and folders into a knowledge base
  footnote ask "Who approves travel?"     one answer, with numbered sources
  footnote chat                           ask several questions in a row

settings come from the environment and .env: OPENAI_API_KEY or OPENAI_BASE_URL with FOOTNOTE_MODEL__NAME for a
language model (without one the best sentences are quoted), FOOTNOTE_DATA_DIR for the directory of all data.
`footnote doctor` says what is missing."""


class CommandModule(Protocol):
    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    async def run(self, arguments: argparse.Namespace, settings: Settings) -> int: ...


class _Source(NamedTuple):
    module: str
    path: Path


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        found = _CHOICE.search(message)
        if found is not None:
            choices = [choice.strip(" '") for choice in found[2].split(",")]
            near = difflib.get_close_matches(found[1], choices, n=1, cutoff=0.5)
            message = f"there is no {found[1]!r} here" + (f"; did you mean {near[0]!r}?" if near else "")
            message += f" (choose from {', '.join(choices)})"
        super().error(message)


def parse(argv: Sequence[str]) -> tuple[argparse.Namespace, CommandModule | None]:
    """Exits with 2 on wrong usage."""
    parser = _Parser(
        prog="footnote",
        description="Answers from your files, with numbered citations anyone can check.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    chosen = next((argument for argument in argv if not argument.startswith("-")), "")
    command: CommandModule | None = None
    known = _commands()
    is_first = bool(argv) and argv[0] in known
    for name in argv[:1] if is_first else known:
        summary = _summary(known[name].path)
        if name != chosen:
            commands.add_parser(name, help=summary)
            continue
        command = cast("CommandModule", importlib.import_module(known[name].module))
        own = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog="\n  ".join(("example:", *command.EXAMPLE.splitlines())),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(own)
    arguments = parser.parse_args(argv)
    if command is None and not arguments.version:
        parser.print_help()
    return arguments, command


def names() -> list[str]:
    return list(_commands())


def _commands() -> dict[str, _Source]:
    found = dict(_modules(cli.__name__, cli.__path__))
    return {name: found[name] for name in (*_FIRST, *sorted(found.keys() - set(_FIRST)))}


def _modules(package: str, path: Iterable[str]) -> Iterator[tuple[str, _Source]]:
    """Of the package and its folders, without importing them."""
    for finder, name, is_folder in pkgutil.iter_modules(path):
        if name.startswith("_"):
            continue
        folder = Path(cast("FileFinder", finder).path)
        if is_folder:
            yield from _modules(f"{package}.{name}", [str(folder / name)])
        else:
            yield name, _Source(f"{package}.{name}", folder / f"{name}.py")


def _summary(source: Path) -> str:
    documentation = ast.get_docstring(ast.parse(source.read_bytes())) or ""
    return documentation.partition("\n")[0].partition(": ")[2].rstrip(".")
