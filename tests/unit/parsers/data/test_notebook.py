from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rag_engine.errors import CorruptFile
from rag_engine.parsers.data import notebook
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path

_PICTURE = "iVBORw0KGgo" * 2_000


def _cell(kind: str, source: str | list[str], **more: object) -> dict[str, object]:
    return {"cell_type": kind, "source": source, **more}


def _notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4})


def test_text_code_and_output(tmp_path: Path) -> None:
    outputs: list[dict[str, Any]] = [
        {"output_type": "stream", "name": "stdout", "text": ["10%\r", "100%\n", "\x1b[31mred\x1b[0m\n"]},
        {
            "output_type": "execute_result",
            "data": {
                "text/plain": ["   a"],
                "text/html": "<table><tr><th></th><th>berth</th></tr><tr><th>0</th><td>7</td></tr></table>",
            },
        },
        {
            "output_type": "display_data",
            "data": {"image/png": _PICTURE, "text/plain": "<Figure size 640x480>"},
        },
        {"output_type": "error", "ename": "ValueError", "evalue": "no berth", "traceback": ["long"]},
    ]
    content = _notebook(
        _cell("markdown", ["# Berths\n", f"![plot](data:image/png;base64,{_PICTURE})\n", "See *below*."]),
        _cell("code", "df.head()", outputs=outputs),
        _cell("markdown", "## Detail"),
        _cell("raw", "as it is"),
    )
    sections = parsed(tmp_path, notebook.parse, content)
    assert places(sections) == [
        ("cell 1", ("Berths",), "Berths\n\nplot\nSee below."),
        ("cell 2", ("Berths",), "df.head()\n\n100%\nred"),
        ("cell 2", ("Berths",), " | berth\n0 | 7"),
        ("cell 2", ("Berths",), "ValueError: no berth"),
        ("cell 3", ("Berths", "Detail"), "Detail"),
        ("cell 4", ("Berths", "Detail"), "as it is"),
    ]
    assert [section.kind for section in sections] == ["prose", "code", "table", "code", "prose", "prose"]


def test_worksheets_of_version_three(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "Old"},
        {
            "cell_type": "code",
            "input": "1 + 1",
            "outputs": [{"output_type": "pyout", "text": ["2"]}],
        },
    ]
    sections = parsed(tmp_path, notebook.parse, json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    assert places(sections) == [("cell 1", ("Old",), "Old"), ("cell 2", ("Old",), "1 + 1\n\n2")]


@pytest.mark.parametrize("content", ['{"cells": [{"cell_type": "code", "so', "[" * 100_000])
def test_damaged_notebooks_are_corrupt(tmp_path: Path, content: str) -> None:
    with pytest.raises(CorruptFile, match="damaged"):
        parsed(tmp_path, notebook.parse, content)


def test_fields_of_wrong_types(tmp_path: Path) -> None:
    lies = json.dumps(
        {"cells": [3, {"cell_type": "code", "source": 7, "outputs": "x"}, _cell("markdown", "words")]}
    )
    assert places(parsed(tmp_path, notebook.parse, lies)) == [("cell 3", (), "words")]
