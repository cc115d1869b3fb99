"""A node that is down, slow, busy, full, red, wrong or gone: one plain sentence each, and what can come back comes back."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from rag_engine.errors import BadSettings, Misconfigured, SchemaMismatch
from rag_engine.ports import IndexIdentity
from rag_engine.text.analyzer import query_tokens
from rag_engine.types import DocumentId
from tests.contracts.indexing import (
    DIMENSIONS,
    IDENTITY,
    base,
    dense,
    document,
    found,
    lexical,
    pairs,
    put,
    put_all,
    vector,
)
from tests.elastic.node import Node, running_node
from tests.elastic.opening import Bench, bench, failing, is_plain_sentence
from tests.elastic.proxy import NO_MASTER, REJECTED, Answer, Cut, Delay, Hold, refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

KEY = "aWQ6dmVyeS1zZWNyZXQ="
BUSY = {
    "thread_pool.search.size": 1,
    "thread_pool.search.queue_size": 8,
    "thread_pool.write.size": 1,
    "thread_pool.write.queue_size": 1,
    "indexing_pressure.memory.limit": "64kb",
}
"""A node that does one thing at a time, lets few others wait, and holds 64 kB of what is being written."""


@pytest.fixture
async def at(elastic_node: str) -> AsyncIterator[Bench]:
    async with bench(elastic_node) as made:
        yield made


@pytest.fixture(scope="module")
def busy_node() -> Iterator[Node]:
    with running_node(BUSY) as node:
        yield node


async def test_down_at_start_it_opens_and_is_there_as_soon_as_the_node_is(at: Bench) -> None:
    there, at.proxy.upstream = at.proxy.upstream, "http://127.0.0.1:1"
    async with at.opened() as index:
        with failing("unreachable"):
            await index.search([lexical("apple")])
        with failing("unreachable"):
            await put(index, document("a"), "apple")
        with failing("unreachable"):
            await index.count(base("kb"))
        at.proxy.upstream = there
        await put(index, document("a"), "apple")
        assert await found(index, lexical("apple"), dense(vector(0))) == [["a/0"], ["a/0"]]
        at.proxy.upstream = "http://127.0.0.1:1"
        for leg in (lexical("apple"), dense(vector(0))):
            with failing("unreachable"):
                await index.search([leg])
        with failing("unreachable"):
            await index.drop(base("kb"), DocumentId("a"))
        at.proxy.upstream = there
        assert await found(index, lexical("apple")) == [["a/0"]]


async def test_a_slow_node_is_given_its_time_and_no_more(at: Bench) -> None:
    async with at.opened(timeout=0.5, write_timeout=1) as index:
        await put(index, document("a"), "apple")
        at.proxy.trouble(Delay(seconds=30), path="_msearch")
        began = time.monotonic()
        with failing("timeout"):
            await index.search([lexical("apple")])
        assert 0.5 <= time.monotonic() - began < 2
        at.proxy.heal()
        for path in ("_bulk", "_refresh", "/_doc/"):
            at.proxy.trouble(Hold(), path=path)
            began = time.monotonic()
            with failing("timeout"):
                await put(index, document("a"), "pear")
            assert 1 <= time.monotonic() - began < 4
            at.proxy.heal()
            assert await index.count(base("kb")) == 1
    async with at.opened() as index:
        await put(index, document("a"), "plum")
        assert await found(index, lexical("apple pear plum")) == [["a/0"]]


@pytest.mark.parametrize("path", ["_bulk", "_refresh", "/_doc/", "_mget"])
async def test_a_refusal_that_passes_is_not_noticed_by_who_writes(at: Bench, path: str) -> None:
    async with at.opened() as index:
        at.proxy.trouble(REJECTED, path=path, times=2)
        await put(index, document("a"), "red apple", "green apple")
        await put(index, document("a"), "blue apple", "white apple")
        assert await index.count(base("kb")) == 2
    assert await at.texts() == ["blue apple", "white apple"]


BUSY_SEARCH = cast("dict[str, object]", REJECTED.body)
"""One search of several that was refused."""


async def test_a_refusal_that_passes_is_not_noticed_by_who_asks(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "apple")
        at.proxy.trouble(REJECTED, path="_msearch", times=2)
        at.proxy.trouble(Answer(status=200, body={"responses": [BUSY_SEARCH] * 2}), path="_msearch", times=4)
        assert await found(index, lexical("apple")) == [["a/0"]]


async def test_a_refusal_that_lasts_is_reported_as_what_it_is(at: Bench) -> None:
    async with at.opened(timeout=1, write_timeout=1) as index:
        await put(index, document("a"), "apple")
        at.proxy.trouble(REJECTED)
        with failing("rejected"):
            await index.search([lexical("apple")])
        with failing("rejected"):
            await put(index, document("b"), "apple")
        at.proxy.heal()
        at.proxy.trouble(Answer(status=200, body={"responses": [BUSY_SEARCH] * 2}), path="_msearch")
        refused = {"index": {"status": 429, "error": BUSY_SEARCH["error"]}}
        at.proxy.trouble(Answer(status=200, body={"errors": True, "items": [refused]}), path="_bulk")
        before = len(at.proxy.seen("_msearch"))
        with failing("rejected"):
            await index.search([lexical("apple")])
        assert 3 <= len(at.proxy.seen("_msearch")) - before <= 8  # pauses that grow
        with failing("rejected"):
            await put(index, document("b"), "apple")
        at.proxy.heal()
        assert await found(index, lexical("apple")) == [["a/0"]]


async def test_a_node_that_really_refuses_gets_everything_in_the_end(busy_node: Node) -> None:
    async with bench(busy_node.url) as at:
        await really_refused(at)


async def really_refused(at: Bench) -> None:
    async with at.opened(shards=6, write_timeout=60, timeout=60) as index:
        documents = [document(f"d{number}") for number in range(12)]
        await put_all(index, [(of, pairs(of, *["apple"] * 12)) for of in documents])
        assert await index.count(base("kb")) == 12 * 12
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(index.search([lexical("apple"), dense(vector(1))])) for _ in range(24)]
        # Where a shard was refused and others were not, the answer says that it is not complete.
        rankings = [ranking for task in asked for ranking in task.result()]
        assert len(rankings) == 48
        assert all(len(ranking.hits) == 10 for ranking in rankings if ranking.complete)
        assert [len(hits) for hits in await found(index, lexical("apple"), dense(vector(1)))] == [10, 10]
        stats = await at.raw.nodes.stats(metric="thread_pool")
        (node,) = stats["nodes"].values()
        refused = {pool: node["thread_pool"][pool]["rejected"] for pool in ("search", "write")}
        assert min(refused.values()) > 0, refused
    async with at.opened(write_timeout=1) as index:
        with failing("rejected"):  # more at once than it will ever hold
            await put(index, document("large"), "apple " * 20_000)
        assert await index.count(base("kb")) == 12 * 12


@pytest.mark.parametrize("all_indexes", [False, True])
async def test_a_full_disk_lets_people_ask_and_files_wait(at: Bench, all_indexes: bool) -> None:
    async with at.opened(write_timeout=3) as index:
        await put(index, document("a"), "apple")
        await put(index, document("b"), "apple", seed=5)
        flooded = await at.names() if all_indexes else [await at.chunks()]
        block = {"index.blocks.read_only_allow_delete": True}
        await at.raw.indices.put_settings(index=flooded, settings=block)
        with failing("read_only"):
            await put(index, document("a"), "pear")
        assert sorted((await found(index, lexical("apple")))[0]) == ["a/0", "b/0"]
        with failing("read_only"):  # not acknowledged before it is deleted
            await index.drop(base("kb"), DocumentId("b"))
        lifted = {"index.blocks.read_only_allow_delete": None}
        await at.raw.indices.put_settings(index=flooded, settings=lifted)
        await index.drop(base("kb"), DocumentId("b"))
        assert await at.texts() == ["apple"]
        await put(index, document("a"), "pear")
        assert await found(index, lexical("apple pear")) == [["a/0"]]
    assert await at.texts() == ["pear"]


@asynccontextmanager
async def no_recoveries(at: Bench) -> AsyncIterator[None]:
    """Meanwhile the node takes up no shard that it does not hold already."""
    setting = "cluster.routing.allocation.node_initial_primaries_recoveries"
    await at.raw.cluster.put_settings(persistent={setting: 0})
    try:
        yield
    finally:
        await at.raw.cluster.put_settings(persistent={setting: None})


async def without_shards(at: Bench, index: str) -> None:
    """No copy of any shard of the index is in use, as when the nodes that held them are lost."""
    await at.raw.indices.close(index=index, wait_for_active_shards=0)
    await at.raw.indices.open(index=index, wait_for_active_shards=0)
    assert (await at.raw.cluster.health(index=index))["status"] == "red"


@pytest.mark.parametrize("part", ["chunks", "manifests"])
async def test_red_is_reported_by_every_use_and_passes(at: Bench, part: str) -> None:
    async with AsyncExitStack() as stack:
        index = await stack.enter_async_context(at.opened(timeout=1, write_timeout=1.5))
        await put(index, document("a"), "apple")
        await put(index, document("b"), "pear", seed=5)
        recovering = AsyncExitStack()
        await stack.enter_async_context(recovering)
        await recovering.enter_async_context(no_recoveries(at))
        await without_shards(at, await at.chunks() if part == "chunks" else await at.manifests())
        with failing("red"):
            await index.search([lexical("apple"), dense(vector(0))])
        with failing("red"):
            await put(index, document("c"), "plum")
        with failing("red"):
            await index.drop(base("kb"), DocumentId("b"))
        with failing("red"):
            await index.count(base("kb"))
        with failing("red"):
            await anext(index.scan(base("kb")))
        async with at.opened(timeout=1, write_timeout=1.5) as other:  # opens, and says so when it is used
            with failing("red"):
                await other.search([lexical("apple")])
            with failing("red"):
                await other.count(base("kb"))
            await recovering.aclose()
            await at.raw.cluster.health(index=f"{at.alias}*", wait_for_status="yellow")
            assert await found(other, lexical("apple")) == [["a/0"]]
        assert await found(index, lexical("apple")) == [["a/0"]]
        await put(index, document("c"), "plum")
        await index.drop(base("kb"), DocumentId("b"))
        assert sorted((await found(index, lexical("apple pear plum")))[0]) == ["a/0", "c/0"]
    assert await at.texts() == ["apple", "plum"]


async def test_an_index_of_another_model_schema_or_program_is_refused_with_the_fix(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "apple")
    other = IndexIdentity(model="other@fp32", dimensions=DIMENSIONS, analyzer=IDENTITY.analyzer)
    with pytest.raises(SchemaMismatch, match=r"test@fp32.*other@fp32.*`footnote kb reindex --all`"):
        async with at.opened(other):
            pass
    name = await at.chunks()
    (described,) = (await at.raw.indices.get_mapping(index=name)).values()
    meta = described["mappings"]["_meta"]
    await at.raw.indices.put_mapping(index=name, meta={**meta, "schema": 99})
    with pytest.raises(SchemaMismatch, match=r"schema 99.*`footnote kb reindex --all`") as raised:
        async with at.opened():
            pass
    assert is_plain_sentence(str(raised.value))
    await at.raw.indices.put_mapping(index=name, meta={"owner": "somebody"})
    with pytest.raises(Misconfigured, match="another program; set FOOTNOTE_INDEX__ALIAS"):
        async with at.opened():
            pass


async def test_a_name_that_is_taken_is_left_alone(at: Bench) -> None:
    await at.raw.indices.create(index=f"{at.alias}-log", aliases={f"{at.alias}": {}})
    with pytest.raises(Misconfigured, match="another program; set FOOTNOTE_INDEX__ALIAS"):
        async with at.opened():
            pass
    await at.raw.indices.delete(index=f"{at.alias}-log")
    await at.raw.indices.create(index=at.alias)
    with pytest.raises(Misconfigured, match="another program; set FOOTNOTE_INDEX__ALIAS"):
        async with at.opened():
            pass
    assert await at.names() == [at.alias]


async def test_a_server_that_is_too_old_or_none_of_elasticsearch(at: Bench) -> None:
    nodes = {"nodes": {"one": {"version": "9.9.1"}, "two": {"version": "8.19.4"}}}
    at.proxy.trouble(Answer(status=200, body=nodes), path="_nodes", times=1)
    with pytest.raises(Misconfigured, match=r"is 8\.19\.4; .* needs 9\.\d or later"):
        async with at.opened():
            pass
    at.proxy.trouble(refusal(400, "media_type_header_exception", "Invalid media-type"), times=1)
    with pytest.raises(Misconfigured, match=r"9\.\d or later"):
        async with at.opened():
            pass


async def test_only_the_right_key_and_it_is_never_shown(
    elastic_node: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    shown: list[str] = []
    async with bench(elastic_node, api_key=KEY) as at:
        for key in (None, "d3Jvbmc6a2V5"):
            with pytest.raises(BadSettings, match="ELASTICSEARCH_API_KEY") as raised:
                async with at.opened(api_key=key):
                    pass
            shown.append(repr(raised.value) + repr(raised.value.__cause__))
        async with at.opened(api_key=KEY) as index:
            await put(index, document("a"), "apple")
            at.proxy.api_key = "cmV2b2tlZA=="
            with failing("unauthorized"):
                await index.search([lexical("apple")])
            with failing("unauthorized"):
                await put(index, document("a"), "pear")
            with failing("unauthorized"):
                await index.drop(base("kb"))
            at.proxy.api_key = KEY
            assert await found(index, lexical("apple pear")) == [["a/0"]]
            assert KEY in at.proxy.requests[-1].headers["authorization"]
            shown += [repr(at.settings(api_key=KEY)), repr(index), *map(str, vars(index).values())]
    assert not [text for text in (*shown, caplog.text) if KEY in text or "d3Jvbmc6a2V5" in text]


async def test_a_certificate_of_an_unknown_authority(elastic_node: str) -> None:
    async with bench(elastic_node, tls=True) as at:
        async with at.opened() as index:
            await put(index, document("a"), "apple")
            assert await found(index, lexical("apple")) == [["a/0"]]
        for wrong in (None, "/nonexistent/ca.pem", __file__):
            with pytest.raises(BadSettings, match="FOOTNOTE_INDEX__CA_FILE"):
                async with at.opened(ca_file=wrong):
                    pass


async def test_one_question_is_one_request_and_one_more_for_new_words(at: Bench) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "red apple", "green pear")
    async with at.opened() as index:
        await index.search([lexical("apple"), dense(vector(0))])
        for question, counted in (
            ("apple", 0),
            ("pear", 1),
            ("red pear", 1),
            ("red apple", 0),
            ("green pear", 1),
        ):
            before = len(at.proxy.requests)
            await index.search([lexical(question), dense(vector(1))])
            paths = [request.path.rpartition("/")[2] for request in at.proxy.requests[before:]]
            assert paths == ["_search"] * counted + ["_msearch"], question


@pytest.mark.parametrize("trouble", [REJECTED, NO_MASTER, Cut.BEFORE_REQUEST])
async def test_a_question_whose_words_cannot_be_corrected_is_answered_without(
    at: Bench, trouble: Answer | Cut
) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "red apple")
        # Its words are counted while all is well; the second time only near words are asked for.
        literal = replace(lexical("apple harbuor"), literal=frozenset(query_tokens("harbuor")))
        assert await found(index, literal) == [["a/0"]]
        before = len(at.proxy.seen("/_search$"))
        at.proxy.trouble(trouble, path="/_search$")
        assert await found(index, lexical("apple harbuor")) == [["a/0"]]
        assert len(at.proxy.seen("/_search$")) > before


@pytest.mark.parametrize("cut", Cut)
async def test_a_question_whose_connection_is_cut_is_asked_again(at: Bench, cut: Cut) -> None:
    async with at.opened() as index:
        await put(index, document("a"), "apple")
        at.proxy.trouble(cut, path="_msearch", times=3)
        assert await found(index, lexical("apple"), dense(vector(0))) == [["a/0"], ["a/0"]]
