"""One line a source, its places in order of first use."""

from __future__ import annotations

from dataclasses import replace

from bot.port import Citation, Source
from bot.rendering import sources
from rag_engine.types import ChunkId, DocumentId


def citation(number: int, title: str, anchor: str) -> Citation:
    return Citation(
        number=number,
        title=title,
        anchor=anchor,
        uri=f"file:///{title}",
        quote="q",
        document=DocumentId(title),
        chunk=ChunkId(f"{title}{anchor}"),
    )


def test_passages_of_one_file_share_a_line() -> None:
    cited = [
        citation(1, "a.pdf", "p. 3"),
        citation(1, "a.pdf", "p. 5"),
        citation(1, "a.pdf", "p. 3"),
        citation(2, "b", ""),
    ]
    assert sources(cited) == (
        Source(number=1, title="a.pdf", places="p. 3, p. 5", uri="file:///a.pdf"),
        Source(number=2, title="b", places="", uri="file:///b"),
    )


def test_nothing_cited_has_no_sources() -> None:
    assert sources(()) == ()


def test_files_of_one_name_have_lines_of_their_own() -> None:
    first, second = citation(1, "report.pdf", "p. 1"), citation(2, "report.pdf", "p. 1")
    second = replace(second, document=DocumentId("other"), uri="file:///other/report.pdf")
    assert [(source.number, source.title, source.uri) for source in sources([first, second])] == [
        (1, "report.pdf", "file:///report.pdf"),
        (2, "report.pdf", "file:///other/report.pdf"),
    ]
