"""Hostile SQL texts that hide a second one, are hard to parse, or compute without end."""

# ruff: noqa: S608 - hostile on purpose

from __future__ import annotations

import random


def several() -> list[str]:
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


def unicode() -> list[str]:
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


def recursive() -> list[str]:
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


def joins() -> list[str]:
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


def bombs() -> list[str]:
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


def patterns() -> list[str]:
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


def nesting() -> list[str]:
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


def long() -> list[str]:
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


def syntax() -> list[str]:
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
