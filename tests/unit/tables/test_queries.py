"""Queries over stored tables, each run in its own process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import QueryRefused, QueryTooHeavy
from rag_engine.tables import rules
from rag_engine.tables.execution import TableQueries
from rag_engine.tables.types import WrittenQuery
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


async def test_a_sum_names_the_rows_that_went_in(budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    answer = await TableQueries().run("SELECT SUM(amount) FROM spending WHERE department = 'Field'", tables)
    assert answer.rows == ((1334.067,),)
    assert answer.columns[0].unit == "€"
    (source,) = answer.sources
    assert (source.numbers, source.count) == ((4, 6), 2)
    assert source.texts[0] == ("Field", "03.01.2025", "€ 1,234.57", "123.5%", "TRUE")
    assert [(warning.kind, warning.count) for warning in answer.warnings] == [("totals_left_out", 1)]


async def test_totals_can_be_asked_for(budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    answer = await TableQueries().run("SELECT count(*) FROM spending__all", tables)
    assert (answer.rows, answer.warnings) == (((6,),), ())


async def test_the_first_of_many_are_named_by_their_order(budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    sql = 'SELECT department AS "Who", amount AS "Sum" FROM spending ORDER BY "Sum" DESC LIMIT 2'
    answer = await TableQueries().run(sql, tables)
    assert answer.rows == (("Field", 1234.567), ("Office", 200))
    assert answer.sources[0].numbers == (4, 5)


async def test_a_condition_is_about_the_column_and_not_about_what_is_shown_under_its_name(
    budget: Path, tmp_path: Path
) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    sql = "SELECT date__text AS \"Date\" FROM spending WHERE date >= '2025-03-01' AND date < '2025-04-01'"
    answer = await TableQueries().run(sql, tables)
    assert answer.rows == (("03.03.2025",),)
    assert [(source.numbers, source.count) for source in answer.sources] == [((6,), 1)]


async def test_what_rows_are_compared_with_is_cited_too(budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    run = TableQueries().run
    answer = await run(
        "SELECT department FROM spending WHERE amount = (SELECT max(amount) FROM spending)", tables
    )
    assert answer.rows == (("Field",),)
    assert [(source.numbers, source.count) for source in answer.sources] == [((4,), 1), ((4, 5, 6, 7, 8), 5)]
    answer = await run("SELECT (SELECT max(amount) FROM spending) - 1", tables)
    assert [source.count for source in answer.sources] == [5]
    # The rows that are shown hold all that they are compared with.
    answer = await run("SELECT amount - (SELECT avg(amount) FROM spending) FROM spending", tables)
    assert [source.count for source in answer.sources] == [5]
    # What depends on the row that is shown is all of the table.
    answer = await run(
        "SELECT a.department FROM spending a WHERE a.amount < 0 AND EXISTS "
        "(SELECT 1 FROM spending b WHERE b.department = a.department AND b.amount > a.amount)",
        tables,
    )
    assert [source.count for source in answer.sources] == [1, 5]


async def test_all_columns_are_shown_once(budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    answer = await TableQueries().run("SELECT * FROM spending WHERE amount < 0", tables)
    assert [column.name for column in answer.columns] == ["Department", "Date", "Amount", "Share", "Paid"]
    assert answer.rows == (("IT", "2025-04-03", -40, -4.0, 0),)


async def test_two_files_are_joined(budget: Path, tmp_path: Path) -> None:
    path = tmp_path / "heads.csv"
    path.write_text("Department,Head\nField,Ana\nIT,Bo\n")
    _, tables = await stored_tables(tmp_path / "tables", [budget, path])
    sql = "SELECT h.head, SUM(s.amount) FROM spending s JOIN heads h USING (department) GROUP BY h.head ORDER BY 1"
    answer = await TableQueries().run(sql, tables)
    assert answer.rows == (("Ana", 1334.067), ("Bo", -33))
    assert [source.count for source in answer.sources] == [4, 2]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM spending",
        "SELECT 1",
        "SELECT amount FROM spending; DELETE FROM spending",
        "ATTACH 'x' AS y",
        "PRAGMA table_info(spending)",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM spending, pragma_table_info('t1')",
        "SELECT * FROM d0.t1",
        "SELECT * FROM t1",
        'SELECT "nope" FROM spending',
        "SELECT load_extension('x') FROM spending",
        "SELECT zeroblob(1000000000) FROM spending",
        "SELECT readfile('/etc/passwd') FROM spending",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n, spending",
        "WITH spending AS (SELECT 1 AS amount) SELECT amount FROM spending",
        "SELECT amount FROM spending WHERE amount > ?",
        "SELECT " + "(" * 200 + "amount" + ")" * 200 + " FROM spending",
        "",
        "what is the total",
    ],
)
async def test_anything_but_a_select_over_the_tables_is_refused(
    sql: str, budget: Path, tmp_path: Path
) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    with pytest.raises(QueryRefused):
        await TableQueries().run(sql, tables)


@pytest.mark.parametrize(
    "what",
    [
        "SELECT sum(a.amount * b.amount) FROM {}",
        "SELECT group_concat(a.department || b.department) FROM {}",
        "SELECT a.department FROM {} ORDER BY a.amount * b.amount * c.amount, d.date",
    ],
)
async def test_endless_queries_are_stopped(what: str, budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    joins = ", ".join(f"spending {name}" for name in "abcdefghijkl")
    with pytest.raises(QueryTooHeavy):
        await TableQueries().run(what.format(joins), tables)


async def test_the_files_of_others_cannot_be_read(budget: Path, tmp_path: Path) -> None:
    other = tmp_path / "salaries.csv"
    other.write_text("Name,Salary\nAna,9\n")
    _, tables = await stored_tables(tmp_path / "tables", [budget, other])
    mine = [stored for stored in tables if stored.table.title == "budget.xlsx"]
    with pytest.raises(QueryRefused, match="no table 'salaries'"):
        await TableQueries().run("SELECT salary FROM salaries", mine)


async def test_no_word_of_a_query_is_logged(
    budget: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    with caplog.at_level(logging.DEBUG), pytest.raises(QueryRefused):
        await TableQueries().run("EXPLAIN QUERY PLAN SELECT 'Quillfeather' FROM budget", tables)
    assert "Quillfeather" not in caplog.text


async def test_a_count_without_a_name_is_named(budget: Path, tmp_path: Path) -> None:
    _, tables = await stored_tables(tmp_path / "tables", [budget])
    computed = await TableQueries().run("SELECT COUNT(*) FROM spending", tables)
    assert computed.columns[0].name == "COUNT(*)"


async def test_a_column_of_yes_and_no_is_a_condition_and_its_values_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "accounts.csv"
    lines = [f"ACC-{n},{'Team' if n % 3 else 'Enterprise'},{'yes' if n % 2 else 'no'}" for n in range(60)]
    path.write_text("\n".join(("Account,Plan,Active", *lines)), encoding="utf-8")
    _, tables = await stored_tables(tmp_path / "tables", [path])
    for question, right in (
        ("How many accounts are active?", 30),
        ("How many active accounts are on the Enterprise plan?", 10),
    ):
        written = rules.write(question, [stored.table for stored in tables])
        if isinstance(written, WrittenQuery):
            assert (await TableQueries().run(written.sql, tables)).rows == ((right,),)
    assert isinstance(
        rules.write("How many accounts are active?", [stored.table for stored in tables]), WrittenQuery
    )
