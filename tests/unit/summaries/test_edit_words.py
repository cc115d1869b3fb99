from __future__ import annotations

from typing import Final

import pytest

from rag_engine.summaries.intent import is_restyling
from rag_engine.summaries.length_and_language import requested_style

EDITS: Final = """
shorter
shorter please
as a table
make that a table
make it a table
make a table of that
make a table out of it
put that in a table
can you put this into a table?
turn this into a table
turn that into bullet points
as bullet points
in bullets
as a list
make it a list
in German
translate it
translate that to Spanish
say that in German
say it again in simpler words
simpler
explain it more simply
explain like I'm five
more detail please
longer
can you be more specific
in one sentence
too long
tl;dr
TLDR please
rewrite that more formally
more formal
rephrase that
reword it
in plain English
make it sound friendlier
Could you please rewrite your answer in a more professional tone?
kürzer bitte
als Tabelle
mach daraus eine Tabelle
mach eine Tabelle draus
auf Englisch
übersetz das ins Englische
als Liste bitte
in Stichpunkten
einfacher erklärt
kannst du das einfacher erklären?
formuliere das um
más corto
en forma de tabla
hazlo una tabla
tradúcelo al inglés
en inglés por favor
más sencillo
en viñetas
简短一点
用英文
翻译成英文
请把它翻译成英文
做成表格
列个表
说简单点
plus court
en tableau
fais-en un tableau
traduis en anglais
переведи на английский
сделай таблицу из этого
表にしてください
英語に翻訳して
as table form
into a table format
make it into a table
show it as a table
give me a table
write it in table form
in einer Tabelle
in Tabellenform
tabellarisch
sous forme de tableau
dans un tableau
como tabla
en una tabla
como tabela
numa tabela
em forma de tabela
come tabella
in una tabella
als tabel
in een tabel
用表格
用表格展示
改成表格
以表格形式列出
用一个表格表示
表で
表形式で
shorter as a table
in German as a table
"""
OTHERS: Final = """
table of contents
How do I make a table reservation?
translate the handbook
Which table is in room 4?
in German law, what is notice?
How long is the notice period?
list all holidays
what is the longer notice period?
simple interest rate?
formal dress code
rephrase policy
who translates contracts?
show me the table of limits
list the vendors
give me a table of all vendors
bullet proof vests
more details about parental leave
explain parental leave
table
list
points
what is it?
who is that?
is it in the list?
the last point
How simple is it?
What is the answer?
is this in English?
show me the list
which steps?
what are the steps
what language is it in
Wie ist das?
Was ist das?
ist das die Liste?
翻译费用多少
表格在哪里
简单说明书在哪
qué es esto
what is this
steps to reset
next steps
paragraphs
can you show me that?
give me that
tell me more
say more
what points?
write to us
make it
"""


@pytest.mark.parametrize("text", EDITS.strip().splitlines())
def test_the_last_answer_is_wanted_in_another_form(text: str) -> None:
    assert is_restyling(text)


@pytest.mark.parametrize("text", OTHERS.strip().splitlines())
def test_something_else_is_asked(text: str) -> None:
    assert not is_restyling(text)


def test_too_long_asks_for_less() -> None:
    assert requested_style("too long").size == "short"
