"""One line a source, its places in order of first use."""

from __future__ import annotations

from dataclasses import replace

from bot.port import Citation, Source
from bot.rendering import consulted, final, sources
from rag_engine.types import Answer, Chunk, ChunkId, DocumentId, Hit, KnowledgeBaseId, TurnId


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


def _hit(title: str, *headings: str) -> Hit:
    chunk = Chunk(
        id=ChunkId(f"{title}-1"),
        document=DocumentId(title),
        knowledge_base=KnowledgeBaseId("k"),
        ordinal=0,
        text="text",
        title=title,
        headings=headings,
    )
    return Hit(chunk=chunk, score=1.0, rank=1)


def test_a_page_is_named_with_its_section_and_what_was_only_read_is_listed() -> None:
    cited = Citation(
        number=1,
        title="手册.pdf",
        anchor="p. 3",
        uri="",
        quote="text",
        document=DocumentId("手册.pdf"),
        chunk=ChunkId("手册.pdf-1"),
    )
    told = Answer(turn=TurnId("t"), text="Two [1].", citations=(cited,), grounded=True, timings={})
    passages = [_hit("手册.pdf", "部署", "端口配置"), _hit("b.md", "X"), _hit("b.md", "Y"), _hit("c.md")]
    (source,) = final(told, "en", passages).sources
    assert source.places == "p. 3, 端口配置"
    assert consulted(told, passages) == ["b.md", "c.md"]
    (source,) = final(replace(told, citations=(replace(cited, anchor="§ X"),)), "en", passages).sources
    assert source.places == "§ X"
    (source,) = final(told, "en", [_hit("手册.pdf", "a very long heading " * 9)]).sources
    assert source.places == "p. 3"
