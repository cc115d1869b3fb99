"""Source code: definitions by grammar and by first lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.data._trees import tree
from rag_engine.parsers.texts import code
from tests.unit.parsers.parsed import parsed

if TYPE_CHECKING:
    from pathlib import Path

_FILES = {
    "a.py": (
        "import os\n\n\n# Adds.\n@cached\ndef add(a):\n    return a\n\n\nclass Box:\n    '''Holds.'''\n\n    async def take(self):\n        return 1\n",
        [("line 1", ()), ("lines 4–7", ("def add",)), ("lines 10–14", ("class Box", "def take"))],
    ),
    "a.java": (
        "package x;\n\n/** Plans. */\npublic class Planner {\n    private int n = 3;\n\n    /** Assigns. */\n    @Override\n    public Berth assign(Ship s) {\n        return null;\n    }\n}\n",
        [
            ("line 1", ()),
            ("lines 3–5", ("class Planner",)),
            ("lines 7–12", ("class Planner", "method assign")),
        ],
    ),
    "a.go": (
        "package main\n\n// Server serves.\ntype Server struct { Addr string; Name string }\n\n// Start starts.\nfunc (s *Server) Start() error {\n\treturn nil\n}\n",
        [("line 1", ()), ("lines 3–4", ("type Server",)), ("lines 6–9", ("func Start",))],
    ),
    "a.ts": (
        "/** Options for all of it. */\nexport interface Options { timeout: number }\nexport const run = async (o: Options) => {\n  await o.timeout;\n};\n",
        [("lines 1–2", ("interface Options",)), ("lines 3–5", ("function run",))],
    ),
    "a.rs": (
        "use std::fmt;\n\n/// A box that holds one thing.\nstruct Box;\n\nimpl fmt::Display for Box {\n    fn fmt(&self) -> u8 { 1 }\n}\n",
        [
            ("line 1", ()),
            ("lines 3–4", ("struct Box",)),
            ("lines 6–8", ("impl fmt::Display for Box", "fn fmt")),
        ],
    ),
    "a.cpp": (
        "#include <vector>\nnamespace app {\n// Pushes a value onto it.\ntemplate <class T>\nvoid Stack<T>::push(T x) { v.push_back(x); }\n}\n",
        [("line 1", ()), ("lines 2–6", ("namespace app", "function Stack<T>::push"))],
    ),
    "a.kt": (
        "class Planner(val n: Int) {\n    /** Doc of it. */\n    fun assign(s: Ship): Berth {\n        return Berth(1)\n    }\n}\nfun main() { println(1) }\n",
        [("lines 1–6", ("class Planner", "fun assign")), ("line 7", ("fun main",))],
    ),
    "a.sql": (
        "-- Users of it\nCREATE TABLE users (\n  id INT PRIMARY KEY\n);\n\nINSERT INTO users VALUES (1, 'someone of the users');\n",
        [("lines 1–4", ("CREATE TABLE users",)), ("line 6", ("INSERT INTO users",))],
    ),
    "a.sh": (
        "#!/bin/bash\n\n# Builds all that there is.\nbuild() {\n  make all\n}\n\nfunction deploy {\n  scp some files\n}\n",
        [("line 1", ()), ("lines 3–6", ("build",)), ("lines 8–10", ("function deploy",))],
    ),
    "Dockerfile": (
        "FROM python:3.11 AS base\nRUN pip install something\nFROM base\nCMD ['x', 'of some length']\n",
        [("lines 1–2", ("FROM python:3.11 AS base",)), ("lines 3–4", ("FROM base",))],
    ),
    "a.diff": (
        "diff --git a/x.py b/x.py\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y.py b/y.py\n@@ -1 +1 @@\n-c\n+d\n",
        [("lines 1–4", ("diff --git a/x.py b/x.py",)), ("lines 5–8", ("diff --git a/y.py b/y.py",))],
    ),
}


@pytest.mark.parametrize("name", sorted(_FILES))
def test_definitions_and_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(tree, "PASSAGE", 40)
    content, expected = _FILES[name]
    sections = parsed(tmp_path, code.parse, content, name)
    covering = [
        (anchor, headings)
        for anchor, headings in expected
        if any(
            section.headings[-len(headings) :] == headings or not headings
            for section in sections
            if _lines(section.anchor) <= _lines(anchor)
        )
    ]
    assert covering == expected
    written = [line.strip() for line in content.splitlines() if line.strip()]
    read = [line.strip() for section in sections for line in section.text.splitlines() if line.strip()]
    assert read == written


def _lines(anchor: str) -> set[int]:
    first, _, last = anchor.partition(" ")[2].partition("–")
    return set(range(int(first), int(last or first) + 1))


def test_language_without_a_suffix(tmp_path: Path) -> None:
    content = "from x import y\n\n\ndef first():\n    return 1\n"
    (section,) = parsed(tmp_path, code.parse, content, "upload")
    assert section.headings == ("def first",)


def test_minified_and_broken_code_is_read(tmp_path: Path) -> None:
    minified = "function a(){return 1};" * 20_000
    sections = parsed(tmp_path, code.parse, minified, "a.min.js")
    assert all(section.anchor == "line 1" and len(section.text) <= 8_000 for section in sections)
    broken = "class A {\n  void f( {\n" + "(" * 5_000 + "\n  // words here\n"
    assert "words here" in "".join(section.text for section in parsed(tmp_path, code.parse, broken, "a.java"))
