"""Parts of the engine: a format, an embedder, an index, a model, a reranker, a step, a tool, a kind of source."""

from __future__ import annotations

from textwrap import dedent
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from bot import settings
from bot.composition import application, loader, retrieval
from bot.composition.model_chain import model_choices
from bot.composition.sources import Sources
from rag_engine import plugins
from rag_engine.agent.tool import ToolFailed
from rag_engine.errors import CorruptFile
from rag_engine.parsing.formats import FAMILY
from rag_engine.parsing.media_types import is_readable, parser_name
from rag_engine.types import Answer, Message, Prompt, Query

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.agent.tool import ToolContext, ToolPorts
    from rag_engine.types import Section
    from tests.unit.one_new_file.added import Add


SETTINGS = """
    from contextlib import asynccontextmanager
    from pydantic import BaseModel

    class Settings(BaseModel):
        word: str = "unset"
"""


@pytest.mark.parametrize("folder", ["rag_engine.parsers", "rag_engine.parsers.texts"])
def test_a_format(add: Add, tmp_path: Path, folder: str) -> None:
    add(
        folder,
        "knots",
        """
        from rag_engine.types import Section

        SUFFIXES = "quipu khipu"
        MAGIC = ((b"\\x00KNOT", "quipu"),)
        BEGINNING = "KNOTS:"
        CONTENT = "binary"

        def parse(path):
            yield Section(text=path.read_bytes().decode("latin-1")[5:])
        """,
    )
    file = tmp_path / "file"
    file.write_bytes(b"\x00KNOT tied\xff")
    assert [parser_name(file, name) for name in ("cord.quipu", "cord.bin")] == ["knots", "knots"]
    assert is_readable("cord.khipu")
    (section,) = parse(file, "cord.khipu")
    assert section.text == " tied\xff"
    file.write_text("KNOTS: two")
    assert parser_name(file, "cord") == "knots"
    file.write_bytes(b"\x01\x02\x00\xfe" * 9)
    with pytest.raises(CorruptFile, match="no KHIPU file inside"):
        parser_name(file, "cord.khipu")


def parse(path: Path, name: str) -> list[Section]:
    return list(plugins.load(FAMILY, parser_name(path, name)).parse(path))


async def test_an_embedder(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    add(
        "rag_engine.embedders",
        "runes",
        SETTINGS
        + """
    from rag_engine.embedders.hashing import HashingEmbedder

    IS_LOCAL = True

    @asynccontextmanager
    async def connect(settings, *, data_dir):
        yield HashingEmbedder(dimensions=len(settings.word), max_tokens=64)
    """,
    )
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "runes")
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__WORD", "fehu")
    async with retrieval.base_components(settings.read()) as base:
        assert base.identity.dimensions == len("fehu")
        assert base.breakers.circuits == []
        assert (await base.embedder.embed(["a"], side="query")).shape == (1, 4)


async def test_an_index(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    # All that an index is, under another name, and without the claim that it is local.
    source = (
        "from rag_engine.indexes.embedded import Settings, abandon, connect, erase, files, remove, replace"
    )
    add("rag_engine.indexes", "scroll", source)
    monkeypatch.setenv("FOOTNOTE_INDEX__KIND", "scroll")
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with application.library(settings.read()) as library:
        assert await library.index.search([]) == []
        assert [circuit.backend for circuit in library.breakers.circuits] == [
            "search index",
            "search index (writing)",
        ]


async def test_a_model(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    add(
        "rag_engine.models",
        "parrot",
        SETTINGS
        + """
    class Parrot:
        name = "parrot"
        context_tokens = 8192

        def __init__(self, word):
            self.word = word

        @asynccontextmanager
        async def stream(self, prompt, *, task):
            async def pieces():
                yield self.word
            yield pieces()

    @asynccontextmanager
    async def connect(settings, *, embedder):
        yield Parrot(settings.word)
    """,
    )
    monkeypatch.setenv("FOOTNOTE_MODEL__KIND", "parrot")
    monkeypatch.setenv("FOOTNOTE_MODEL__WORD", "squawk")
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    read = settings.read()
    assert [choice.kind for choice in model_choices(read)] == ["parrot", "extractive"]
    async with application.application(read) as running:
        (model,) = running.engine.models
        prompt = Prompt(messages=(Message(role="user", content="Hello"),))
        async with model.stream(prompt, task="answer") as pieces:
            assert [piece async for piece in pieces] == ["squawk"]


DICE = (
    SETTINGS
    + """
    IS_LOCAL = True

    class Dice:
        async def rerank(self, query, hits, *, limit):
            return list(hits)[:limit]

    @asynccontextmanager
    async def connect(settings, *, data_dir):
        yield Dice()
"""
)
SHOUT = """
    from dataclasses import replace
    from pydantic import BaseModel

    PHASE = "search"
    POSITION = 15
    STATUS = "Shouting…"

    class Settings(BaseModel):
        mark: str = "!"

    def build(settings, ports):
        async def shout(inquiry):
            return replace(inquiry, question=inquiry.question.upper() + settings.mark).noting(
                reranker=type(ports.reranker).__name__
            )

        return shout
"""


async def test_a_reranker_and_a_step(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    add("rag_engine.rerankers", "dice", DICE)
    add("rag_engine.steps", "shout", SHOUT)
    monkeypatch.setenv("FOOTNOTE_RERANKER__KIND", "dice")
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    monkeypatch.setenv("FOOTNOTE_STEPS__SHOUT__MARK", "?!")
    async with application.application(settings.read()) as running:
        names = [step.name for step in running.engine.search_steps]
        assert names == [
            "understand",
            "shout",
            "retrieve",
            "hypothesis",
            "fuse",
            "graph",
            "entity",
            "outline",
            "rerank",
            "verified",
        ]
        base = await running.catalog.open("kb", model=running.library.identity.model)
        query = Query(text="How long", knowledge_bases=frozenset({base.id}))
        events = [event async for event in running.engine.answer(query)]
        answer = events[-1]
        assert isinstance(answer, Answer)
        trace = await running.library.storage.history.trace(answer.turn)
        assert trace is not None
        assert trace.details["searched_for"] == "HOW LONG?!"
        assert trace.details["reranker"] == "Dice"


async def test_a_tool(add: Add) -> None:
    add(
        "rag_engine.tools",
        "echo",
        """
        from pydantic import BaseModel
        from rag_engine.agent.tool import ToolResult

        DESCRIPTION = "Repeat a word."

        class Arguments(BaseModel):
            word: str

        def build(ports):
            async def run(arguments, context):
                return ToolResult(text=arguments.word)

            return run
        """,
    )
    found = {tool.name: tool for tool in loader.tools(cast("ToolPorts", SimpleNamespace(web=None)))}
    assert found["echo"].description == "Repeat a word."
    context = cast("ToolContext", None)
    assert (await found["echo"].run({"word": "ho"}, context)).text == "ho"
    with pytest.raises(ToolFailed, match="word"):
        await found["echo"].run({}, context)


CHOIR = dedent("""
from contextlib import asynccontextmanager
from pydantic import BaseModel
from rag_engine.sync.types import SourceContent, SourceEntry

POSITION = 5
ADDRESSES = r"choir:.*"
PUBLIC = True

class Settings(BaseModel):
    voice: str = "alto"

class Choir:
    def __init__(self, voice):
        self.voice = voice

    async def entries(self):
        yield [SourceEntry(key="song", uri="choir:song", fingerprint="1")]

    async def read(self, entry, path, *, since):
        path.write_text(f"Sung by the {self.voice}.")
        return SourceContent(name="song.txt", fingerprint="1", title="Song")

@asynccontextmanager
async def connect(address, settings, *, surroundings):
    yield Choir(settings.voice)
""")


@pytest.mark.process
async def test_a_kind_of_source(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    add("rag_engine.sources", "choir", CHOIR)
    await _is_followed("choir:all", monkeypatch)


@pytest.mark.process
async def test_a_kind_of_source_of_another_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "opera_house.py").write_text(CHOIR.replace("choir:", "opera:"), encoding="utf-8")
    information = tmp_path / "opera_house-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: opera-house\nVersion: 1.0\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text(
        "[rag_engine.sources]\nopera = opera_house\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    await _is_followed("opera:all", monkeypatch)


async def _is_followed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER__KIND", "hashing")
    async with application.library(settings.read()) as library:
        base = await library.catalog.open("kb", model=library.identity.model)
        sources = Sources(settings=settings.read(), library=library)
        added = await sources.add(base.id, address, options={"voice": "tenor"}, from_chat=True)
        assert (await sources.run(added)).counts.new == 1
        (record,) = await library.catalog.records(base.id)
        assert record.document.title == "Song"
        (section,) = await library.catalog.sections(record.document.id)
        assert section.text == "Sung by the tenor."
