"""Draws docs/architecture.svg: the folders in the order in which they may import each other.

The rows are the `layers` contracts of import-linter in pyproject.toml, which `make check` enforces, and the sentence in each box is the
docstring of the folder, so the picture cannot differ from the code. `python -m scripts.architecture_picture` writes it; with `--check` it
fails if the file is out of date.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import tomllib
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from scripts.generated_file import ROOT, write_or_compare

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURE = ROOT / "docs" / "architecture.svg"
WIDTH, MARGIN, GAP, TITLE_HEIGHT = 1200, 20, 12, 40
LINE_HEIGHT, BOX_HEIGHT = 15, 32
COLOURS = {"adapters": "#e8f1fb", "bot": "#eef7ea", "rag_engine": "#fdf3e3"}


def main() -> int:
    return write_or_compare(PICTURE, draw(packages()), script="architecture_picture")


def packages() -> dict[str, list[list[str]]]:
    """Each package with its rows of folders and modules, the importing ones first."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    adapters = sorted(
        path.name.removesuffix(".py")
        for path in (ROOT / "adapters").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    )
    rows = {"adapters": [[name for name in adapters if name != "__init__"]]}
    for contract in contracts:
        if contract["type"] == "layers":
            rows[contract["containers"][0]] = [re.split(r"\s*[|:]\s*", layer) for layer in contract["layers"]]
    return rows


def summary(package: str, name: str) -> str:
    """The first sentence of the docstring of a folder or module."""
    folder = ROOT / package / name
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("`", "")


def draw(rows_of: dict[str, list[list[str]]]) -> str:
    """The picture as SVG."""
    parts: list[str] = []
    top = MARGIN
    for package, rows in rows_of.items():
        drawn = [_row(package, row) for row in rows]
        height = TITLE_HEIGHT + sum(row_height + GAP for row_height, _ in drawn)
        parts.append(_box(MARGIN, top, WIDTH - 2 * MARGIN, height, COLOURS[package], stroke="#9aa4ad"))
        parts.append(_text(MARGIN + 14, top + 27, f"{package}/", size=20, weight="bold"))
        below = top + TITLE_HEIGHT
        for row_height, boxes in drawn:
            parts += [part for box in boxes for part in box(below, row_height)]
            below += row_height + GAP
        top += height + 2 * GAP
    parts.append(
        _text(
            MARGIN,
            top + 8,
            "A box imports only from boxes below it. Boxes side by side do not import each other, except parsing and parsers.",
            size=15,
        )
    )
    parts.append(
        _text(MARGIN, top + 30, "adapters/ import bot.port and their platform's SDK, nothing else.", size=15)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 48}" font-family="sans-serif">\n'
        f'<rect width="{WIDTH}" height="{top + 48}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _row(package: str, names: list[str]) -> tuple[int, list[Callable[[int, int], list[str]]]]:
    """The height of a row, and for each box a function that draws it at a place with that height."""
    width = (WIDTH - 2 * MARGIN - GAP * (len(names) + 1)) // len(names)
    wrapped = [textwrap.wrap(summary(package, name), (width - 16) // 8) for name in names]
    boxes: list[Callable[[int, int], list[str]]] = []
    for column, (name, lines) in enumerate(zip(names, wrapped, strict=True)):
        left = MARGIN + GAP + column * (width + GAP)
        boxes.append(partial(_labelled_box, left, width, name, lines))
    return BOX_HEIGHT + LINE_HEIGHT * max(map(len, wrapped)), boxes


def _labelled_box(left: int, width: int, name: str, lines: list[str], top: int, height: int) -> list[str]:
    return [
        _box(left, top, width, height, "white", stroke="#5b6770"),
        _text(left + 10, top + 21, name, size=16, weight="bold"),
        *(
            _text(left + 10, top + 39 + LINE_HEIGHT * number, line, size=13)
            for number, line in enumerate(lines)
        ),
    ]


def _box(left: int, top: int, width: int, height: int, fill: str, *, stroke: str) -> str:
    return f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{stroke}"/>'


def _text(left: int, top: int, text: str, *, size: int, weight: str = "normal") -> str:
    return f'<text x="{left}" y="{top}" font-size="{size}" font-weight="{weight}">{escape(text)}</text>'


if __name__ == "__main__":
    sys.exit(main())
