from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tests.unit.parsers.writing.words import CHINESE, GERMAN, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_CELLS: Final = (
    {"cell_type": "markdown", "source": f"# Leave\n\n{GERMAN}"},
    {"cell_type": "code", "source": ["x = 1\n", "x"], "outputs": []},
    {"cell_type": "markdown", "source": [f"# Reports\n\n{CHINESE}"]},
)

TEXTS: Final[Mapping[str, Callable[[Path], None]]] = {
    "csv": text(f"Office;Days\nKöln;30\n{CHINESE};28\n", "utf-16"),
    "tsv": text(f"Office\tDays\nKöln\t30\n{CHINESE}\t28\n"),
    "txt": text(f"{GERMAN}\n\n{CHINESE}\n"),
    "md": text(
        f"# Leave\n\n{GERMAN}\n\n- one\n- two\n\n| A | B |\n|---|---|\n| {CHINESE} | 2 |\n\n```\nx = 1\n```\n"
    ),
    "html": text(f"<h1>Leave</h1><p>{GERMAN}</p><ul><li>{CHINESE}</li></ul>"),
    "json": text(f'{{"leave": {{"rule": "{GERMAN}", "days": 30}}, "reports": ["{CHINESE}"]}}'),
    "jsonl": text(f'{{"rule": "{GERMAN}"}}\n{{"report": "{CHINESE}"}}\n'),
    "yaml": text(f"leave:\n  rule: {GERMAN}\n  days: 30\nreports:\n  - {CHINESE}\n"),
    "toml": text(f'[leave]\nrule = "{GERMAN}"\ndays = 30\n\n[reports]\nfirst = "{CHINESE}"\n'),
    "xml": text(
        f'<?xml version="1.0"?><rules><leave><rule>{GERMAN}</rule></leave><report>{CHINESE}</report></rules>'
    ),
    "rst": text(
        f"Leave\n=====\n\n{GERMAN}\n\n- one\n- two\n\n=== ===\nA   B\n=== ===\n1   2\n=== ===\n\nReports\n=======\n\n{CHINESE}\n"
    ),
    "adoc": text(
        f"= Leave\n\n{GERMAN}\n\n* one\n* two\n\n|===\n|A |B\n|1 |2\n|===\n\n== Reports\n\n{CHINESE}\n"
    ),
    "tex": text(
        "\\documentclass{article}\n\\begin{document}\n\\section{Leave}\n"
        f"{GERMAN}\n\\begin{{itemize}}\n\\item one\n\\end{{itemize}}\n\\section{{Reports}}\n{CHINESE}\n\\end{{document}}\n"
    ),
    "srt": text(
        f"1\n00:00:01,000 --> 00:00:04,000\n{GERMAN}\n\n2\n00:00:05,000 --> 00:00:08,000\n{CHINESE}\n"
    ),
    "ipynb": text(json.dumps({"cells": _CELLS, "metadata": {}, "nbformat": 4}, ensure_ascii=False)),
    "py": text(
        f'def days():\n    """{GERMAN}"""\n    return 30\n\n\ndef report():\n    return "{CHINESE}"\n'
    ),
}
"""Suffix -> writes such a file."""
