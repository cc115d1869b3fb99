"""Hostile SQL texts by family, and a run of all of them: `python -m tests.hostile.sql_attacks FOLDER EVERY [FAMILY …]` prints one JSON object
per text, of every so many.

In scope is the table `spending`. Out of scope, with the text `CANARY` in it: another document's table, a database, a text file.
"""

# ruff: noqa: S608 - hostile on purpose

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import resource
import sqlite3
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.errors import QueryRefused, QueryTooHeavy
from rag_engine.tables.execution import TableQueries
from tests.tables.stored import stored_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.tables.table_file import StoredTable

CANARY = "canary-7f3a91"


def attacks(places: Mapping[str, str]) -> dict[str, list[str]]:
    """By family. `places`: paths of what is out of scope: `table`, `database`, `text`, `folder`; `own`: the file of `spending`."""
    return {
        "write": _writes(),
        "schema": _schema_changes(),
        "attach": _attachments(places),
        "pragma": _pragmas(),
        "extension": _extensions(places),
        "file": _files(places),
        "catalog": _catalogs(),
        "foreign": _foreign(places),
        "several": _several(),
        "unicode": _unicode(),
        "recursive": _recursive(),
        "join": _joins(),
        "bomb": _bombs(),
        "pattern": _patterns(),
        "nesting": _nesting(),
        "long": _long(),
        "syntax": _syntax(),
    }


def _writes() -> list[str]:
    return [
        "INSERT INTO spending VALUES (1)",
        "INSERT OR REPLACE INTO spending(amount) SELECT 1",
        "REPLACE INTO spending(amount) VALUES (0)",
        "UPDATE spending SET amount = 0",
        "UPDATE OR IGNORE spending SET amount = 0 WHERE 1",
        "DELETE FROM spending",
        "DELETE FROM spending RETURNING *",
        "UPDATE spending SET amount = 0 RETURNING amount",
        "INSERT INTO spending(amount) VALUES (1) RETURNING amount",
        "WITH x AS (SELECT 1) DELETE FROM spending",
        "WITH x AS (SELECT 1) UPDATE spending SET amount = 0",
        "WITH x AS (SELECT 1) INSERT INTO spending(amount) SELECT * FROM x",
        "WITH x AS (DELETE FROM spending RETURNING *) SELECT * FROM x",
        "WITH x AS (INSERT INTO spending(amount) VALUES (1) RETURNING amount) SELECT amount FROM x",
        "SELECT * INTO copy FROM spending",
        "SELECT amount INTO OUTFILE '/tmp/x' FROM spending",
        "SELECT amount INTO DUMPFILE '/tmp/x' FROM spending",
        "MERGE INTO spending USING spending s ON 1=1 WHEN MATCHED THEN DELETE",
        "TRUNCATE TABLE spending",
        "SELECT amount FROM spending FOR UPDATE",
        "DELETE FROM d0.t1",
        "UPDATE d0.t1 SET _total = 1",
        "INSERT INTO d0.description VALUES ('x')",
        "EXPLAIN DELETE FROM spending",
    ]


def _schema_changes() -> list[str]:
    return [
        "CREATE TABLE x(a)",
        "CREATE TEMP TABLE x AS SELECT * FROM spending",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON spending BEGIN SELECT 1; END",
        "CREATE INDEX i ON spending(amount)",
        "CREATE VIRTUAL TABLE x USING fts5(a)",
        "CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')",
        "CREATE VIRTUAL TABLE x USING dbstat",
        "DROP TABLE spending",
        "DROP VIEW spending",
        "ALTER TABLE spending RENAME TO x",
        "ALTER TABLE spending ADD COLUMN x",
        "VACUUM",
        "VACUUM INTO '/tmp/copy.sqlite'",
        "REINDEX",
        "ANALYZE",
        "BEGIN EXCLUSIVE",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT x",
        "GRANT ALL ON spending TO public",
        "SET search_path TO x",
        "USE other",
        "COPY spending TO '/tmp/x.csv'",
    ]


def _attachments(places: Mapping[str, str]) -> list[str]:
    return [
        *(f"ATTACH DATABASE '{places[name]}' AS x" for name in ("table", "database", "own")),
        f"ATTACH 'file:{places['database']}?mode=ro' AS x",
        "ATTACH ':memory:' AS x",
        "ATTACH '' AS x",
        "DETACH d0",
        "DETACH DATABASE main",
        f"ATTACH '{places['folder']}/new.sqlite' AS n",
        f"SELECT 1 FROM spending; ATTACH '{places['database']}' AS x; SELECT * FROM x.secrets",
        f"WITH x AS (ATTACH '{places['database']}' AS y) SELECT * FROM x",
        f"SELECT * FROM '{places['database']}'.secrets",
    ]


def _pragmas() -> list[str]:
    names = (
        *(
            "table_info(spending)",
            "database_list",
            "writable_schema=1",
            "trusted_schema=1",
            "hard_heap_limit=0",
        ),
        *(
            "temp_store_directory='/tmp'",
            "journal_mode=WAL",
            "query_only=0",
            "cell_size_check",
            "mmap_size=1000000000",
        ),
        "module_list",
    )
    functions = (
        "database_list",
        "table_list",
        "function_list",
        "compile_options",
        "module_list",
        "pragma_list",
    )
    return [
        *(f"PRAGMA {name}" for name in names),
        *(f"SELECT * FROM pragma_{name}" for name in functions),
        *(f"SELECT * FROM pragma_{name}()" for name in functions[:3]),
        "SELECT * FROM spending, pragma_table_info('spending')",
        "SELECT s.amount, p.name FROM spending s JOIN pragma_table_info('sqlite_master') p",
    ]


def _extensions(places: Mapping[str, str]) -> list[str]:
    calls = (
        *(
            "load_extension('/tmp/x.so')",
            "load_extension('mod_spatialite', 'init')",
            "fts3_tokenizer('simple')",
        ),
        *("writefile('/tmp/canary', 'x')", "edit('x', 'vi')", "readfile('/etc/passwd')", "zipfile('a', 'b')"),
        *(
            "eval('DELETE FROM spending')",
            "system('id')",
            "shell('id')",
            "sqlite_log(1, 'x')",
            "sha3_query('SELECT 1')",
        ),
        *("sqlite_source_id()", "sqlite_version()", "sqlite_compileoption_get(1)", "sqlite_offset(amount)"),
        *("last_insert_rowid()", "changes()", "total_changes()", "random()", "randomblob(16)", "hex(amount)"),
        *("quote(amount)", "zeroblob(10)", "char(65)", "unicode('a')", "printf('%d', 1)", "format('%d', 1)"),
        *(
            "likelihood(amount, 0.5)",
            "json('{}')",
            "json_extract('{}', '$')",
            "soundex('a')",
            "now()",
            "pg_sleep(10)",
        ),
        *(
            "pg_read_file('/etc/passwd')",
            "xp_cmdshell('id')",
            "benchmark(1000000000, 1)",
            "sleep(10)",
            "version()",
        ),
        *(
            "load_file('/etc/passwd')",
            "getenv('HOME')",
            "user()",
            "current_user",
            "session_user",
            "database()",
        ),
    )
    return [
        *(f"SELECT {call} FROM spending LIMIT 1" for call in calls),
        *(f"SELECT amount FROM spending WHERE {call} IS NOT NULL LIMIT 1" for call in calls[:8]),
        f"SELECT amount FROM spending ORDER BY readfile('{places['text']}')",
        f"SELECT amount FROM spending GROUP BY readfile('{places['text']}')",
        f"SELECT (SELECT readfile('{places['text']}')) FROM spending",
        f"SELECT CASE WHEN 1 THEN readfile('{places['text']}') END FROM spending",
        f"SELECT COALESCE(NULL, readfile('{places['text']}')) FROM spending",
    ]


def _files(places: Mapping[str, str]) -> list[str]:
    text, database = places["text"], places["database"]
    return [
        f"SELECT * FROM '{text}'",
        f'SELECT * FROM "{text}"',
        f"SELECT * FROM `{text}`",
        f"SELECT * FROM [{text}]",
        f"SELECT * FROM read_csv('{text}')",
        f"SELECT * FROM read_csv_auto('{text}')",
        f"SELECT * FROM read_text('{text}')",
        f"SELECT * FROM sqlite_scan('{database}', 'secrets')",
        f"SELECT * FROM parquet_scan('{database}')",
        f"SELECT * FROM fsdir('{places['folder']}')",
        f"SELECT * FROM spending, fsdir('{places['folder']}')",
        f"SELECT * FROM glob('{places['folder']}/*')",
        "SELECT * FROM 's3://bucket/x.csv'",
        "SELECT * FROM 'https://example.org/x.csv'",
        "SELECT * FROM generate_series(1, 1000000000)",
        "SELECT * FROM spending, generate_series(1, 1000000000)",
        "SELECT value FROM json_each('[1,2]')",
        "SELECT * FROM spending, json_each('[1,2]')",
        "SELECT * FROM spending, json_tree('{}')",
        "SELECT * FROM spending JOIN LATERAL (SELECT 1) x",
    ]


def _catalogs() -> list[str]:
    names = (
        *("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema", "sqlite_sequence"),
        *(
            "sqlite_stat1",
            "sqlite_dbpage",
            "dbstat",
            "information_schema.tables",
            "information_schema.columns",
        ),
        *("pg_catalog.pg_tables", "pg_class", "duckdb_tables()", "main.sqlite_master", "temp.sqlite_master"),
        *(
            "d0.sqlite_master",
            "d0.description",
            "d0.t1",
            "d2.t1",
            "t1",
            "description",
            "bytecode",
            "tables_used",
        ),
    )
    return [
        *(f"SELECT * FROM {name}" for name in names),
        *(f"SELECT amount FROM spending UNION SELECT * FROM {name}" for name in names[:8]),
        "SELECT amount FROM spending UNION ALL SELECT sql FROM sqlite_master",
        "SELECT amount, (SELECT group_concat(sql) FROM sqlite_master) FROM spending",
        "SELECT amount FROM spending WHERE amount IN (SELECT rootpage FROM sqlite_master)",
        "SELECT amount FROM spending WHERE EXISTS (SELECT 1 FROM sqlite_schema)",
        "WITH sqlite_master AS (SELECT 1 AS a FROM spending) SELECT a FROM sqlite_master",
        "WITH x AS (SELECT sql FROM sqlite_master) SELECT * FROM x, spending",
        "SELECT amount FROM spending ORDER BY (SELECT sql FROM sqlite_master)",
        "SELECT sqlite_master.sql FROM spending",
        "SELECT rowid, _rowid_, oid FROM spending",
        "SELECT _total FROM spending",
        "SELECT SQLITE_MASTER.* FROM spending JOIN SQLITE_MASTER",
        'SELECT * FROM "sqlite_master"',
        "SELECT * FROM spending NATURAL JOIN sqlite_master",
    ]


def _foreign(places: Mapping[str, str]) -> list[str]:
    return [
        "SELECT * FROM salaries",
        "SELECT * FROM salaries__all",
        "SELECT amount FROM spending UNION SELECT note FROM salaries",
        "SELECT amount FROM spending WHERE amount > (SELECT MAX(pay) FROM salaries)",
        "SELECT * FROM spending JOIN salaries ON 1 = 1",
        "SELECT * FROM spending, salaries",
        "WITH x AS (SELECT * FROM salaries) SELECT * FROM x",
        "WITH salaries AS (SELECT * FROM salaries) SELECT * FROM salaries",
        "WITH x AS (SELECT amount FROM spending) SELECT x.amount, salaries.pay FROM x, salaries",
        "SELECT (SELECT note FROM salaries LIMIT 1) FROM spending",
        "SELECT * FROM d1.t1",
        "SELECT * FROM main.salaries",
        "SELECT * FROM temp.salaries",
        "SELECT salaries.note FROM spending",
        "SELECT * FROM spending AS salaries WHERE salaries.note IS NOT NULL",
        "SELECT pay FROM spending",
        "SELECT * FROM secrets",
        f'SELECT * FROM "{places["table"]}"',
        f'SELECT * FROM "{places["database"]}".secrets',
        "SELECT * FROM turns",
        "SELECT * FROM documents",
        "SELECT * FROM chat.turns",
        "SELECT * FROM spending WHERE department = (SELECT content FROM description)",
        "SELECT * FROM spending JOIN spending_2 USING (department)",
        "TABLE salaries",
        "VALUES (1), (2)",
        "SELECT 1",
        "SELECT 'a' || 'b'",
    ]


def _several() -> list[str]:
    return [
        "SELECT amount FROM spending; DROP TABLE spending",
        "SELECT amount FROM spending; SELECT * FROM salaries",
        "SELECT amount FROM spending;;;DELETE FROM spending",
        "SELECT amount FROM spending;\nPRAGMA writable_schema=1",
        "SELECT amount FROM spending -- x\n; DELETE FROM spending",
        "SELECT amount FROM spending /* ; */; DELETE FROM spending",
        "; DELETE FROM spending; SELECT 1",
        "/* SELECT */ DELETE FROM spending /* FROM spending */",
        "-- SELECT amount FROM spending\nDELETE FROM spending",
        "SELECT amount FROM spending WHERE department = ''; DELETE FROM spending; --'",
        "SELECT/**/amount/**/FROM/**/salaries",
        "SEL/**/ECT * FROM salaries",
        "SELECT * FROM spending /*! UNION SELECT * FROM salaries */; VACUUM",
        "EXPLAIN SELECT * FROM spending",
        "EXPLAIN QUERY PLAN SELECT * FROM spending",
        "SELECT amount FROM spending\x00; DELETE FROM spending",
        "SELECT amount FROM spending WHERE 1 = ?",
        "SELECT amount FROM spending WHERE 1 = :secret",
        "SELECT amount FROM spending WHERE 1 = @secret",
        "SELECT @@version FROM spending",
    ]


def _unicode() -> list[str]:
    return [
        "SELECT * FROM ｓａｌａｒｉｅｓ",
        "ＤＥＬＥＴＥ FROM spending",
        "SELECT * FROM sаlaries",
        "SELECT * FROM sqlite\u200b_master",
        "SELECT * FROM \u202esqlite_master",
        "SELECT * FROM ﬁles",
        "SELECT * FROM sqlite_ſchema",
        "SELECT\u00a0*\u00a0FROM\u00a0salaries",
        "SELECT * FROM spending\u037e DELETE FROM spending",
        "SELECT \ud800 FROM spending",
        "SELECT * FROM spending WHERE department = '\ud83d'",
        "SELECT * FROM 'SQLITE_MASTER'",
        "SELECT * FROM SqLiTe_MaStEr",
        'SELECT * FROM "SALARIES"',
        "\ufeffSELECT * FROM salaries",
        "SELECT readfıle('/etc/passwd') FROM spending",
        "SELECT LOAD_EXTENSION('x') FROM spending",
        "SELECT \"load_extension\"('x') FROM spending",
        "SELECT [load_extension]('x') FROM spending",
        "SELECT main.load_extension('x') FROM spending",
    ]


def _recursive() -> list[str]:
    return [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c",
        "WITH c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT amount FROM spending UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
        "WITH c(x) AS (SELECT amount FROM spending UNION ALL SELECT x + 1 FROM c) SELECT SUM(x) FROM c, spending",
        "WITH c(x) AS (SELECT amount FROM spending UNION SELECT x + 1 FROM c) SELECT MAX(x) FROM c",
        "WITH c(x) AS (SELECT 'a' FROM spending UNION ALL SELECT x || x FROM c) SELECT length(x) FROM c",
        "SELECT amount FROM spending WHERE amount = (WITH c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT COUNT(*) FROM c)",
        "WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a, spending",
        "WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a, spending",
        "WITH a AS (SELECT * FROM a) SELECT * FROM a, spending",
    ]


def _joins() -> list[str]:
    tables = [", ".join(f"spending s{number}" for number in range(count)) for count in (3, 4, 6, 12, 13, 40)]
    ctes = ", ".join(f"c{n} AS (SELECT a.* FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 6))
    return [
        *(f"SELECT COUNT(*) FROM {joined}" for joined in tables),
        *(f"SELECT SUM(s0.amount * s1.amount) FROM {joined}" for joined in tables[:3]),
        *(
            f"SELECT s0.note, s1.note FROM {joined} ORDER BY s0.note || s1.note || s2.note"
            for joined in tables[:3]
        ),
        f"SELECT DISTINCT s0.amount + s1.amount + s2.amount FROM {tables[0]}",
        f"SELECT s0._row, s1._row, s2._row, COUNT(*) FROM {tables[0]} GROUP BY 1, 2, 3",
        f"WITH c0 AS (SELECT * FROM spending), {ctes} SELECT COUNT(*) FROM c5",
        "SELECT COUNT(*) FROM spending a CROSS JOIN spending b CROSS JOIN spending c WHERE a.amount + b.amount = c.amount",
        "SELECT a.amount FROM spending a WHERE EXISTS (SELECT 1 FROM spending b, spending c WHERE a.amount = b.amount * c.amount + 0.5)",
        "SELECT (SELECT COUNT(*) FROM spending b, spending c WHERE b._row + c._row > a._row) FROM spending a",
        "SELECT a._row, SUM(b.amount) OVER (ORDER BY a._row, b._row ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM spending a, spending b",
        "SELECT * FROM spending a, spending b, spending c",
        "SELECT * FROM spending a LEFT JOIN spending b ON 1 = 1 LEFT JOIN spending c ON 1 = 1 ORDER BY c.note, b.note, a.note",
        "SELECT COUNT(DISTINCT a.note || b.note || c.note) FROM spending a, spending b, spending c",
        "SELECT * FROM spending a JOIN spending b ON a.department <> b.department JOIN spending c ON fold(c.note) <> fold(a.note)",
    ]


def _bombs() -> list[str]:
    doubled = "note"
    for _ in range(12):
        doubled = f"replace({doubled}, 'a', 'aaaaaaaaaa')"
    joined = "note" + " || note" * 400
    return [
        "SELECT zeroblob(2000000000) FROM spending",
        "SELECT hex(zeroblob(500000000)) FROM spending",
        "SELECT randomblob(1000000000) FROM spending",
        "SELECT printf('%1000000000d', 1) FROM spending",
        "SELECT printf('%.*c', 1000000000, 'x') FROM spending",
        "SELECT format('%1000000000s', 'x') FROM spending",
        f"SELECT {doubled} FROM spending",
        f"SELECT length({doubled}) FROM spending",
        f"SELECT {joined} FROM spending",
        "SELECT group_concat(note, note) FROM spending a, (SELECT 1 AS one FROM spending) b",
        "SELECT group_concat(a.note || b.note) FROM spending a, spending b",
        "SELECT group_concat(a.note || b.note) FROM spending a, spending b GROUP BY a._row",
        "SELECT a._row, group_concat(b.note) OVER (ORDER BY b._row) FROM spending a, spending b",
        "SELECT string_agg(a.note, b.note) FROM spending a, spending b",
        "SELECT json_group_array(note) FROM spending a",
        "SELECT replace(replace(note, '', 'a'), 'a', note) FROM spending",
        "SELECT upper(group_concat(note)), lower(group_concat(note)), fold(group_concat(note)) FROM spending",
        "SELECT " + ", ".join("group_concat(note)" for _ in range(200)) + " FROM spending",
        "SELECT " + ", ".join(f"note AS n{number}" for number in range(500)) + " FROM spending, spending b",
        "SELECT fold(replace(note, 'a', replace(note, 'o', note))) FROM spending a, spending b",
        "SELECT substr(a.note, 1, 9223372036854775807), abs(-9223372036854775808) FROM spending a",
        "SELECT power(9e307, 9e307), SUM(9223372036854775807) FROM spending",
        "SELECT round(amount, 999999999), amount << 64, amount / 0, amount % 0 FROM spending",
        "SELECT strftime('%Y', '9999999999-01-01'), date('now', '+999999999999 years') FROM spending",
        "SELECT strftime(replace(note, 'a', '%Y-%m-%d %H:%M:%f'), 'now') FROM spending",
        "SELECT CAST(note AS BLOB) FROM spending",
        "SELECT x'00ff' FROM spending",
        "SELECT ntile(1000000000) OVER (ORDER BY a.note, b.note, c.note) FROM spending a, spending b, spending c",
        "SELECT nth_value(a.note, 1000000) OVER (PARTITION BY b.note ORDER BY a.note) FROM spending a, spending b",
        "SELECT rtrim(a.note, b.note), ltrim(b.note, a.note), trim(a.note || b.note, a.note) FROM spending a, spending b",
    ]


def _patterns() -> list[str]:
    likes = ["%" + "a%" * count + "b" for count in (10, 40, 90, 400)]
    return [
        *(f"SELECT COUNT(*) FROM spending WHERE note LIKE '{like}'" for like in likes),
        *(
            f"SELECT COUNT(*) FROM spending a, spending b WHERE a.note || b.note LIKE '{like}'"
            for like in likes[:3]
        ),
        "SELECT COUNT(*) FROM spending a, spending b WHERE a.note LIKE b.note || '%a%a%a%a%b'",
        "SELECT COUNT(*) FROM spending WHERE note GLOB '*a*a*a*a*a*a*a*a*a*a*a*b'",
        "SELECT COUNT(*) FROM spending WHERE note GLOB '[a-z]*[a-z]*[a-z]*[a-z]*0'",
        "SELECT COUNT(*) FROM spending WHERE note REGEXP '(a+)+$'",
        "SELECT COUNT(*) FROM spending WHERE note MATCH 'a NEAR b'",
        "SELECT COUNT(*) FROM spending WHERE regexp_like(note, '(a|a)*b')",
        "SELECT COUNT(*) FROM spending WHERE note SIMILAR TO '(a|b)*'",
        "SELECT COUNT(*) FROM spending WHERE note LIKE '%' || note || '%' ESCAPE '%'",
        "SELECT COUNT(*) FROM spending a, spending b WHERE instr(replace(a.note, 'b', 'a'), b.note || a.note) > 0",
        "SELECT like('%a%a%a%a%a%a%a%a%b', replace(note, 'o', note)) FROM spending",
        "SELECT SUM(group_concat(a.note) LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%b') FROM spending a",
        "SELECT g LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%b' FROM (SELECT group_concat(replace(note, 'o', note)) AS g FROM spending)",
        "SELECT fold(g) = fold(g || 'x') FROM (SELECT group_concat(replace(note, 'o', note)) AS g FROM spending) x, spending y",
        "SELECT replace(g, 'a', g) FROM (SELECT group_concat(note) AS g FROM spending)",
        "SELECT instr(g, substr(g, 1, 300000) || 'b') FROM (SELECT group_concat(replace(note, 'o', note)) AS g FROM spending) x, spending",
    ]


def _nesting() -> list[str]:
    nested = "SELECT amount FROM spending"
    for number in range(80):
        nested = f"SELECT amount FROM ({nested}) AS n{number}"
    cases = "0"
    for _ in range(150):
        cases = f"CASE WHEN amount > 0 THEN {cases} ELSE 1 END"
    return [
        "SELECT " + "(" * 50_000 + "1" + ")" * 50_000 + " FROM spending",
        "SELECT " + "(" * 3_000 + "1" + ")" * 3_000 + " FROM spending",
        "SELECT " + "(" * 400 + "amount" + ")" * 400 + " FROM spending",
        "SELECT " + "-" * 1 + "- " * 900 + "amount FROM spending",
        "SELECT " + "NOT " * 5_000 + "amount FROM spending",
        "SELECT " + "NOT " * 500 + "amount FROM spending",
        "SELECT " + "abs(" * 70 + "amount" + ")" * 70 + " FROM spending",
        "SELECT " + "abs(" * 5_000 + "amount" + ")" * 5_000 + " FROM spending",
        nested,
        f"SELECT {cases} FROM spending",
        "SELECT " + "~" * 2_000 + "amount FROM spending",
        "SELECT amount FROM spending WHERE " + " OR ".join("amount = 1" for _ in range(3_000)),
        "SELECT amount FROM spending WHERE " + "1 = 1 AND " * 900 + "1 = 1",
        "SELECT amount FROM " + "(" * 200 + "spending" + ")" * 200,
        "[" * 5_000,
        "(" * 100_000,
        "SELECT " + "CAST(" * 55 + "amount" + " AS TEXT)" * 55 + " FROM spending",
        "SELECT " + "amount + " * 2_000 + "1 FROM spending",
    ]


def _long() -> list[str]:
    numbers = random.Random(7)
    listed = ", ".join(str(numbers.randrange(10**6)) for _ in range(100_000))
    return [
        f"SELECT amount FROM spending WHERE amount IN ({listed})",
        "SELECT amount FROM spending WHERE amount IN (" + ", ".join(map(str, range(1_800))) + ")",
        "SELECT amount FROM spending WHERE note IN (" + "'" + "x" * 5_000_000 + "')",
        " UNION ALL ".join("SELECT amount FROM spending" for _ in range(11)),
        " UNION ALL ".join("SELECT amount FROM spending" for _ in range(300)),
        " UNION ALL ".join("SELECT amount FROM spending" for _ in range(20_000)),
        "SELECT " + ", ".join("amount" for _ in range(3_000)) + " FROM spending",
        "SELECT amount FROM spending " + " " * 5_000_000,
        "SELECT amount FROM spending /* " + "x" * 5_000_000 + " */",
        "SELECT amount FROM spending LIMIT 9223372036854775807",
        "SELECT amount FROM spending LIMIT -1 OFFSET -1",
        "SELECT amount FROM spending LIMIT (SELECT COUNT(*) FROM spending a, spending b, spending c)",
        'SELECT amount AS "' + "a" * 9_000 + '" FROM spending',
        "SELECT * FROM " + ", ".join(f"spending a{number}" for number in range(70)),
        "",
        ";",
        "SELECT",
    ]


def _syntax() -> list[str]:
    """Random pieces of SQL, as a confused or hostile model writes."""
    source = random.Random(2026)
    pieces = (
        *(
            "SELECT",
            "*",
            "FROM",
            "spending",
            "salaries",
            "WHERE",
            "amount",
            "=",
            "(",
            ")",
            ",",
            "'",
            '"',
            ";",
            "--",
        ),
        *(
            "UNION",
            "ALL",
            "ORDER BY",
            "1",
            "sqlite_master",
            "GROUP BY",
            "x''",
            "/*",
            "*/",
            "AS",
            "JOIN",
            "ON",
            "NULL",
        ),
    )
    return [
        "SELECT " + " ".join(source.choice(pieces) for _ in range(source.randrange(3, 25))) for _ in range(24)
    ]


def prepared(folder: Path) -> tuple[Path, dict[str, str]]:
    """A file with the table in scope, and what is out of scope."""
    own, foreign = folder / "spending.csv", folder / "salaries.csv"
    source = random.Random(3)
    lines = [
        f"{source.choice(('Field', 'Office', 'IT'))},{source.randrange(1, 9999)},{'banana ' * 6}{number}"
        for number in range(2_000)
    ]
    own.write_text("\n".join(["department,amount,note", *lines]))
    foreign.write_text(f"person,pay,note\nAda,{9},{CANARY}\nBen,{8},{CANARY}\n")
    database = sqlite3.connect(folder / "secrets.sqlite")
    database.execute("CREATE TABLE secrets(content)")
    database.execute("INSERT INTO secrets VALUES (?)", (CANARY,))
    database.commit()
    database.close()
    (folder / "secret.txt").write_text(CANARY)
    return own, {
        "database": str(folder / "secrets.sqlite"),
        "text": str(folder / "secret.txt"),
        "folder": str(folder),
    }


async def run(folder: Path, every: int, families: Sequence[str]) -> None:
    """Prints a line for each text, then whether all files are as before."""
    own, places = prepared(folder)
    _, tables = await stored_tables(folder / "tables", [own])
    _, foreign = await stored_tables(folder / "foreign", [folder / "salaries.csv"])
    places |= {"table": str(foreign[0].path), "own": str(tables[0].path)}
    control = await TableQueries().run("SELECT note FROM salaries", foreign)
    before = _digests(folder)
    for family, texts in attacks(places).items():
        for number, text in enumerate(texts if family in families or not families else ()):
            if number % every == 0:
                print(
                    json.dumps({"attack": f"{family} {number}", **await _attacked(text, tables)}), flush=True
                )
    print(json.dumps({"unchanged": _digests(folder) == before, "control": _leaks(repr(control.rows))}))


def _own_peak() -> int:
    """In KB. `getrusage` counts what the process that started this one held before."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


async def _attacked(text: str, tables: Sequence[StoredTable]) -> dict[str, object]:
    before, worked = _children(), time.process_time()
    try:
        answer = await TableQueries().run(text, tables)
        outcome, shown = "answered", repr((answer.rows, answer.sources, answer.columns))
    except (QueryRefused, QueryTooHeavy) as error:
        outcome, shown = type(error).__name__, str(error)
    except Exception as error:  # noqa: BLE001 - reported as a failure
        outcome, shown = f"crash: {type(error).__name__}", str(error)
    return {
        "sql": text[:120],
        "outcome": outcome,
        "seconds": round(_children() - before + time.process_time() - worked, 2),
        "megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "own megabytes": _own_peak() // 1024,
        "leaks": _leaks(shown),
    }


def _leaks(shown: str) -> bool:
    return CANARY in shown.lower() or CANARY.encode().hex() in shown


def _digests(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
