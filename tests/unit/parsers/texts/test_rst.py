"""reStructuredText, AsciiDoc and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.parsers.texts import asciidoc, latex, rst
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.ports import Parser

_RST = """=========
The Guide
=========

.. |firm| replace:: Acme Corp.

Of |firm| with ``code``, *emph*, a `link <https://x.y>`_, :func:`~os.path.join` and [1]_.

Install
=======

Run this::

    pip install x

.. note:: Take care.
   Always.

.. code-block:: python
   :linenos:

   def f():
       return 1

Sub
---

- one

  - inner
1. first

term
   Its meaning.

+-----+------+
| A   | B    |
+=====+======+
| x   | y z  |
|     | more |
+-----+------+

====  ====
C     D
====  ====
1     2
====  ====

.. csv-table:: Prices
   :header: "Item", "Cost"

   "Pump, big", 4200

.. list-table::

   * - Team
     - Lead
   * - Ops
     - Ann

.. include:: /etc/passwd
.. image:: x.png
   :alt: A chart
.. A comment.

Second
======

.. [1] The note.
.. py:function:: foo(a)

   Does foo.
"""


def test_restructured_text(tmp_path: Path) -> None:
    sections = parsed(tmp_path, rst.parse, _RST)
    install, sub = ("The Guide", "Install"), ("The Guide", "Install", "Sub")
    assert [(section.headings, section.kind, section.text) for section in sections] == [
        (
            ("The Guide",),
            "prose",
            "The Guide\n\nOf Acme Corp. with code, emph, a link, os.path.join and [1].",
        ),
        (install, "prose", "Install\n\nRun this:"),
        (install, "code", "pip install x"),
        (install, "prose", "Note: Take care. Always."),
        (install, "code", "def f():\n    return 1"),
        (sub, "prose", "Sub"),
        (sub, "list", "- one\n  - inner\n1. first"),
        (sub, "prose", "term\n\nIts meaning."),
        (sub, "table", "A | B\nx | y z more"),
        (sub, "table", "C | D\n1 | 2"),
        (sub, "prose", "Prices"),
        (sub, "table", "Item | Cost\nPump, big | 4200"),
        (sub, "table", "Team | Lead\nOps | Ann"),
        (sub, "prose", "A chart"),
        (("The Guide", "Second"), "prose", "Second\n\n[1] The note.\n\nfoo(a)\n\nDoes foo."),
    ]
    assert sections[1].anchor == "§ Install"


_ASCIIDOC = """= The Guide
Jane Doe <jane@x.org>
:firm: Acme Corp.

Of {firm} with *bold*, `code`, https://x.y[a link], <<install,Install>>.

// comment
== Install

NOTE: Take care.

[source,python]
----
def f():
    return 1
----

.Teams
[cols="1,2",options="header"]
|===
|Name |Lead

|Ops
|Ann with
more

2+|Total
|===

* one
** inner
* two
+
attached

Berth:: Where a ship lies.

[WARNING]
====
Do not.
====

include::/etc/passwd[]
image::x.png[A chart]

////
hidden
////

=== Sub

End.
"""


def test_asciidoc(tmp_path: Path) -> None:
    sections = parsed(tmp_path, asciidoc.parse, _ASCIIDOC)
    guide, install = ("The Guide",), ("The Guide", "Install")
    assert [(section.headings, section.kind, section.text) for section in sections] == [
        (
            guide,
            "prose",
            "The Guide\n\nJane Doe <jane@x.org>\n\nOf Acme Corp. with bold, code, a link, Install.",
        ),
        (install, "prose", "Install\n\nNote: Take care."),
        (install, "code", "def f():\n    return 1"),
        (install, "prose", "Teams"),
        (install, "table", "Name | Lead\nOps | Ann with more\nTotal"),
        (install, "list", "- one\n  - inner\n- two\n  attached\n- Berth: Where a ship lies."),
        (install, "prose", "Warning: Do not.\n\nA chart"),
        ((*install, "Sub"), "prose", "Sub\n\nEnd."),
    ]


_LATEX = r"""\documentclass[a4paper]{article}
\newcommand{\firm}{Acme GmbH}
\title{The \textbf{Guide} to \firm}
\author{J\"org M\"uller \and Fran\c{c}ois Dvo\v{r}\'ak}
\begin{document}
\maketitle
\begin{abstract}
We show 50\% more at \firm{}. % hidden
\end{abstract}
\section{Work}\label{sec:work}
With \emph{emphasis}, ``quotes'', na\"{\i}ve stra\ss e, $E = mc^2$ in~\cite{knuth} and \href{http://x}{the site}.
A note\footnote{Small \textit{one}.} here.
\begin{enumerate}
  \item One
  \begin{itemize} \item inner \end{itemize}
\end{enumerate}
\begin{table}\caption{Budget}
\begin{tabular}{|l|r|} \hline
Team & Cost \\ \hline
Ops \& Dev & 1\,200 \\
\multicolumn{2}{c}{Total} \\ \end{tabular}\end{table}
\begin{equation}\label{e} \frac{a}{b} \end{equation}
\begin{lstlisting}[language=Python]
x = 100 % 7
\end{lstlisting}
\input{/etc/passwd}
\begin{tikzpicture}\draw (0,0);\end{tikzpicture}
\end{document}
after
"""


def test_latex(tmp_path: Path) -> None:
    sections = parsed(tmp_path, latex.parse, _LATEX)
    guide, work = ("The Guide to Acme GmbH",), ("The Guide to Acme GmbH", "Work")
    assert [(section.headings, section.kind, section.text) for section in sections] == [
        (
            guide,
            "prose",
            "The Guide to Acme GmbH\n\nJörg Müller, François Dvořák\n\nAbstract: We show 50% more at Acme GmbH.",
        ),
        (
            work,
            "prose",
            "Work\n\nWith emphasis, “quotes”, naïve straße, $E = mc^2$ in [knuth] and the site.\nA note (Small one.) here.",
        ),
        (work, "list", "1. One\n  - inner"),
        (work, "prose", "Budget"),
        (work, "table", "Team | Cost\nOps & Dev | 1 200\nTotal"),
        (work, "code", "\\frac{a}{b}\n\nx = 100 % 7"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parser", "content"),
    [
        (rst.parse, "*" * 50_000 + "words"),
        (rst.parse, "".join("  " * depth + "- x\n\n" for depth in range(300)) + "words"),
        (rst.parse, "`" * 50_000 + " words"),
        (rst.parse, "=== ===\n" * 20_000 + "\nwords"),
        (asciidoc.parse, "*_" * 30_000 + "words"),
        (asciidoc.parse, "====\nwords\n" * 500),
        (asciidoc.parse, ":a: {a}{a}b\n" * 3_000 + "\n{a} words"),
        (latex.parse, "\\textbf{" * 30_000 + "words"),
        (latex.parse, "\\[" * 20_000 + "words"),
        (latex.parse, "\\begin{itemize}" * 5_000 + "\\item words"),
        (latex.parse, "$" * 50_001 + "words"),
    ],
)
@pytest.mark.timeout(20)
def test_linear_time_on_unclosed_markup(tmp_path: Path, parser: Parser, content: str) -> None:
    assert "words" in places(parsed(tmp_path, parser, content))[-1][2]


@pytest.mark.parametrize(
    ("parser", "content"),
    [
        (rst.parse, ".. |a| replace:: " + "x" * 100_000 + "\n\n" + "|a| " * 20_000),
        (asciidoc.parse, ":a: " + "x" * 100_000 + "\n\n" + "{a} " * 20_000),
        (asciidoc.parse, ":a: {a}{a}b\n" * 3_000 + "\n" + "{a} " * 20_000),
    ],
)
@pytest.mark.timeout(20)
def test_references_do_not_multiply_the_text(tmp_path: Path, parser: Parser, content: str) -> None:
    assert sum(len(section.text) for section in parsed(tmp_path, parser, content)) < 40_000_000
