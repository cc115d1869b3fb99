"""The tables in tests/README.md: every known fault once, and every test they name is there."""

from __future__ import annotations

import ast
import re

from tests.conftest import PROJECT

README = PROJECT / "tests" / "README.md"
KNOWN_FAULTS = range(1, 90)
ROW = re.compile(r"^\| (?P<number>\d+) \| (?P<fault>[^|]+) \| (?P<shown>[^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`(?P<file>(?:tests/)?[\w/.-]+\.py)::(?P<name>\w+)`")


def rows() -> list[re.Match[str]]:
    return list(ROW.finditer(README.read_text(encoding="utf-8")))


def names_in(file: str) -> set[str]:
    tree = ast.parse((PROJECT / "tests" / file.removeprefix("tests/")).read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    }


def test_every_known_fault_is_listed_once() -> None:
    assert [int(row["number"]) for row in rows()] == list(KNOWN_FAULTS)


def test_every_row_names_a_test_or_a_reason() -> None:
    bare = [
        row["number"] for row in rows() if not TEST.search(row["shown"]) and len(row["shown"].split()) < 5
    ]
    assert bare == []


def test_the_tests_that_are_named_are_there() -> None:
    named = [(found["file"], found["name"]) for found in TEST.finditer(README.read_text(encoding="utf-8"))]
    known = {file: names_in(file) for file in {file for file, _ in named}}
    assert [f"{file}::{name}" for file, name in named if name not in known[file]] == []
    assert len(named) > 160
