"""Hostile SQL texts that write, or reach for files, catalogs and tables out of scope."""

# ruff: noqa: S608 - hostile on purpose

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def writes() -> list[str]:
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


def schema_changes() -> list[str]:
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


def attachments(places: Mapping[str, str]) -> list[str]:
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


def pragmas() -> list[str]:
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


def extensions(places: Mapping[str, str]) -> list[str]:
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


def files(places: Mapping[str, str]) -> list[str]:
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


def catalogs() -> list[str]:
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


def foreign(places: Mapping[str, str]) -> list[str]:
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
