"""docs/reference.md: every behaviour in scope once, and every named test exists."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.conftest import PROJECT, SHARED

PAGE = PROJECT / "docs" / "reference.md"
ROW = re.compile(
    r"^\| (?P<id>\d{3}-\d\d) \| (?P<behaviour>[^|]+) \| (?P<state>[^|]+) \| (?P<shown>[^|]*)\|$", re.MULTILINE
)
TEST = re.compile(r"`tests/(?P<file>[\w/]+\.py)::(?P<name>\w+)`")


def rows() -> list[re.Match[str]]:
    return list(ROW.finditer(PAGE.read_text(encoding="utf-8")))


def named_tests(row: re.Match[str]) -> list[tuple[str, str]]:
    return [(found["file"], found["name"]) for found in TEST.finditer(row["shown"])]


def reason_of(row: re.Match[str]) -> str:
    return TEST.sub("", row["shown"]).strip(" ,")


@cache
def names_in(file: str) -> frozenset[str]:
    path = PROJECT / "tests" / file
    if not path.is_file():
        return frozenset()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def test_every_line_of_the_table_is_a_row_in_order() -> None:
    listed = re.findall(r"^\| (\d\S*) ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [row["id"] for row in rows()]
    assert listed == sorted(set(listed))


def test_rows_are_short_and_have_a_state() -> None:
    assert {row["state"] for row in rows()} <= {"works", "otherwise", "missing"}
    long = [row["id"] for row in rows() if not 3 <= len(row["behaviour"].split()) <= 10]
    assert long == []


def test_what_works_is_shown_by_a_test_and_what_differs_has_a_reason() -> None:
    for row in rows():
        shown, reason = bool(named_tests(row)), reason_of(row)
        assert shown is (row["state"] != "missing"), row["id"]
        if row["state"] == "works":
            assert not reason, row["id"]
        elif row["state"] == "otherwise" or reason:
            assert reason.endswith("."), row["id"]


def test_the_tests_that_are_named_exist() -> None:
    named = {found for row in rows() for found in named_tests(row)}
    assert sorted(f"{file}::{name}" for file, name in named if name not in names_in(file)) == []
    assert all(name.startswith("test_") for _, name in named)


def test_the_rows_are_those_of_the_reference() -> None:
    reference = SHARED / "REFERENCE.md"
    if not reference.is_file():
        pytest.skip("../shared/REFERENCE.md is not there")
    known = re.findall(r"^\| (\d{3}-\d\d) \|", reference.read_text(encoding="utf-8"), re.MULTILINE)
    assert [row["id"] for row in rows()] == sorted(set(known))
