"""Parts of the Elasticsearch index that need no server."""

from __future__ import annotations

import asyncio
import base64
import traceback
from collections import Counter
from typing import TYPE_CHECKING, Any

import elastic_transport
import elasticsearch
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import BadSettings, Misconfigured
from rag_engine.indexes.elasticsearch import Settings, spelling
from rag_engine.indexes.elasticsearch.bulk_writer import Shared, batches
from rag_engine.indexes.elasticsearch.client import addresses, connected, is_supported
from rag_engine.indexes.elasticsearch.documents import frequencies, saturated
from rag_engine.indexes.elasticsearch.errors import kind_of, reason_of, translate_errors, unavailable
from rag_engine.indexes.elasticsearch.found_chunks import FoundChunk, FoundPart, word_counts
from rag_engine.indexes.elasticsearch.retry import limited, pause, repeated
from rag_engine.indexes.elasticsearch.schema import chunk_index
from rag_engine.indexes.elasticsearch.search import LegHits, rankings
from rag_engine.indexes.elasticsearch.statistics import LexicalWeights
from rag_engine.ports import IndexIdentity
from tests.conftest import PROJECT
from tests.contracts.indexing import base, chunk, document, lexical
from tests.elastic.opening import failing, is_plain_sentence

if TYPE_CHECKING:
    from pathlib import Path

BLOCKED = {"type": "cluster_block_exception"}
ALL_FAILED = {
    "type": "search_phase_execution_exception",
    "root_cause": [{"type": "es_rejected_execution_exception"}],
    "failed_shards": [{"shard": 0, "reason": {"type": "es_rejected_execution_exception"}}],
}


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (429, {"type": "es_rejected_execution_exception"}, "rejected"),
        (429, {"type": "circuit_breaking_exception"}, "rejected"),
        (429, None, "rejected"),
        (503, ALL_FAILED, "rejected"),
        (500, {"type": "x", "caused_by": {"type": "es_rejected_execution_exception"}}, "rejected"),
        (429, BLOCKED, "read_only"),
        (403, BLOCKED, "read_only"),
        (503, BLOCKED, "red"),
        (503, {"type": "master_not_discovered_exception"}, "red"),
        (503, {"type": "unavailable_shards_exception"}, "red"),
        (503, {"type": "search_phase_execution_exception"}, "red"),
        (500, {"type": "node_disconnected_exception"}, "red"),
        (502, None, "red"),
        (504, None, "red"),
        (404, {"type": "index_not_found_exception"}, "missing"),
        (400, {"type": "search_phase_execution_exception"}, "failed"),
        (400, {"type": "document_parsing_exception"}, "failed"),
        (500, None, "failed"),
        (401, {"type": "security_exception"}, "unauthorized"),
        (403, {"type": "security_exception"}, "unauthorized"),
    ],
)
def test_the_reason_of_an_error(status: int, error: dict[str, Any] | None, reason: str) -> None:
    assert reason_of(status, error) == reason
    told = unavailable(reason, kind_of(error))
    assert (told.reason, told.backend) == (reason, "elasticsearch")


@pytest.mark.parametrize(
    "reason",
    ["unreachable", "timeout", "rejected", "read_only", "red", "unauthorized", "missing", "failed"],
)
def test_each_reason_has_one_plain_sentence(reason: str) -> None:
    assert is_plain_sentence(str(unavailable(reason)))


def test_what_we_have_no_sentence_for_is_reported_by_its_name() -> None:
    assert "(document_parsing_exception)" in str(unavailable("failed", "document_parsing_exception"))


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (elastic_transport.ConnectionTimeout("late"), "timeout"),
        (TimeoutError(), "timeout"),
        (elastic_transport.ConnectionError("refused"), "unreachable"),
        (elastic_transport.TlsError("expired"), "unreachable"),
        (elastic_transport.SerializationError("no JSON"), "unreachable"),
    ],
)
def test_what_the_way_to_the_server_reports(raised: Exception, reason: str) -> None:
    with failing(reason), translate_errors():
        raise raised


def test_at_the_start_what_only_the_operator_can_fix_is_reported_with_the_remedy() -> None:
    with pytest.raises(BadSettings, match="FOOTNOTE_INDEX__CA_FILE"), translate_errors(starting=True):
        raise elastic_transport.TlsError("unknown authority")
    with pytest.raises(Misconfigured, match="ELASTICSEARCH_URL"), translate_errors():
        raise elasticsearch.UnsupportedProductError("x", meta=meta(200), body={})
    refused = elasticsearch.AuthenticationException("x", meta=meta(401), body={"error": "in words only"})
    with pytest.raises(BadSettings, match="ELASTICSEARCH_API_KEY"), translate_errors(starting=True):
        raise refused
    with failing("unauthorized"), translate_errors():
        raise refused


def meta(status: int) -> elastic_transport.ApiResponseMeta:
    return elastic_transport.ApiResponseMeta(
        status=status,
        http_version="1.1",
        headers=elastic_transport.HttpHeaders(),
        duration=0.0,
        node=elastic_transport.NodeConfig("http", "localhost", 9200),
    )


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("8.19.4", False),
        ("9.0.3", False),
        ("9.1.10", False),
        ("9.3.0", True),
        ("9.5.3", True),
        ("9.10.0", True),
        ("9.4.0-SNAPSHOT", True),
        ("10.0.0-rc1", True),
        ("7.17", False),
    ],
)
def test_which_servers_are_new_enough(version: str, supported: bool) -> None:
    assert is_supported(version) == supported


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost", ["http://localhost:9200"]),
        ("https://es.example", ["https://es.example:443"]),
        ("https://es.example:9243/", ["https://es.example:9243/"]),
        ("https://es.example/prefix", ["https://es.example:443/prefix"]),
        ("http://one:9200, http://two:9201\n", ["http://one:9200", "http://two:9201"]),
        ("http://[::1],http://[::1]:9300", ["http://[::1]:9200", "http://[::1]:9300"]),
        ("https://me:p%40ss@es.example", ["https://me:p%40ss@es.example:443"]),
    ],
)
def test_addresses_have_the_port_they_mean(url: str, expected: list[str]) -> None:
    assert addresses(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        " , ",
        "localhost:9200",
        "es.example",
        "ftp://es.example",
        "http://",
        "http://es.example:port",
        "http://es.example:99999",
        "https://me:sesame,open@es.example:9200",
        "https://me:sesame/open@es.example:9200",
        "https://me:sesame#open@es.example:9200",
        "https://me:sesame[open@es.example:9200",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(BadSettings, match=r"^ELASTICSEARCH_URL [^.]*\.") as raised:
        addresses(url)
    told = "".join(traceback.format_exception_only(raised.value)) + repr(raised.value.__cause__)
    assert "sesame" not in told
    assert "open" not in told


async def test_a_password_in_the_address_is_used_and_not_shown() -> None:
    async with connected(Settings(url="http://me:p%40ss@localhost:9200")) as client:
        (node,) = client.transport.node_pool.all()
        given = base64.b64encode(b"me:p@ss").decode()
        assert node.config.headers["authorization"] == f"Basic {given}"
        assert not [text for text in (repr(client), repr(node), str(node)) if "ss@" in text or given in text]


async def test_a_certificate_that_cannot_be_read_names_the_setting(tmp_path: Path) -> None:
    no_certificate = tmp_path / "ca.pem"
    no_certificate.write_text("nothing", encoding="utf-8")
    for path in (tmp_path / "none.pem", tmp_path, no_certificate):
        with pytest.raises(BadSettings, match="FOOTNOTE_INDEX__CA_FILE"):
            async with connected(Settings(url="https://localhost", ca_file=path)):
                pass


def test_words_near_a_mistyped_one_by_their_edits() -> None:
    near = spelling.near_words("harbuor", ["harbour fees", "harbor arbours harvest", "harbuor"])
    assert near == {"harbour", "harbor"}
    assert spelling.by_edits("harbuor", near) == {1: ["harbor", "harbour"]}


def test_long_words_may_have_two_edits() -> None:
    near = spelling.near_words("navigatoin", ["navigation navigations navigate"])
    assert spelling.by_edits("navigatoin", near) == {1: ["navigation"], 2: ["navigations"]}
    for word, most in {"berth": 1, "navigatoin": 2}.items():
        _, fuzzy = spelling.near_request(spelling.near_query(word), {"filter": []}, known=set())["query"][
            "bool"
        ]["filter"]
        assert fuzzy["fuzzy"]["tokens"]["fuzziness"] == most


@given(tokens=st.lists(st.sampled_from("abcd"), min_size=1, max_size=400))
def test_more_of_a_term_counts_more_and_longer_chunks_less(tokens: list[str]) -> None:
    counted = frequencies(tokens)
    assert set(counted) == set(tokens)
    assert all(0 < frequency <= 1 for frequency in counted.values())
    order = sorted(counted, key=tokens.count)
    assert [counted[term] for term in order] == sorted(counted.values())
    longer = frequencies([*tokens, "other"])
    assert all(longer[term] <= frequency for term, frequency in counted.items())


@given(
    lengths=st.lists(st.integers(1, 500), max_size=60),
    most=st.integers(1, 10),
    most_bytes=st.integers(1, 1_000),
)
def test_batches_are_in_order_and_bounded(lengths: list[int], most: int, most_bytes: int) -> None:
    operations = [(b"a", b"x" * length) for length in lengths]
    made = list(batches(iter(operations), most=most, most_bytes=most_bytes))
    assert [operation for batch in made for operation in batch] == operations
    for batch in made:
        size = sum(len(line) + 1 for operation in batch for line in operation)
        assert 1 <= len(batch) <= most
        assert size <= most_bytes or len(batch) == 1


async def test_shared_work_serves_all_who_asked_before_it_began() -> None:
    begun, gate, runs = asyncio.Event(), asyncio.Event(), 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        begun.set()
        await gate.wait()

    shared = Shared(work)
    first = [asyncio.create_task(shared()) for _ in range(3)]
    async with asyncio.timeout(5):
        await begun.wait()
    second = [asyncio.create_task(shared()) for _ in range(3)]
    await asyncio.sleep(0)
    second[0].cancel()  # a cancelled caller affects no other
    assert runs == 1
    gate.set()
    async with asyncio.timeout(5):
        await asyncio.gather(*first, *second[1:])
        await shared.close()
    assert runs == 2


async def test_shared_work_that_fails_fails_for_those_who_waited_and_nobody_else() -> None:
    failures = [unavailable("red"), None]

    async def work() -> None:
        if (failure := failures.pop(0)) is not None:
            raise failure

    shared = Shared(work)
    outcomes = await asyncio.gather(shared(), shared(), return_exceptions=True)
    assert [getattr(outcome, "reason", None) for outcome in outcomes] == ["red", "red"]
    await shared()
    await shared.close()


async def test_what_may_pass_is_tried_again_and_what_cannot_is_not() -> None:
    faults = [unavailable("rejected"), unavailable("red")]

    async def passing() -> str:
        if faults:
            raise faults.pop(0)
        return "done"

    assert await repeated(passing, seconds=5) == "done"
    calls = 0

    async def full() -> None:
        nonlocal calls
        calls += 1
        raise unavailable("read_only")

    with failing("read_only"):
        await repeated(full, seconds=5)
    assert calls == 1


async def test_when_the_time_is_over_the_last_fault_is_reported() -> None:
    async def busy() -> None:
        raise unavailable("rejected")

    async def silent() -> None:
        await asyncio.Event().wait()

    with failing("rejected"):
        await repeated(busy, seconds=0.2)
    with failing("timeout"):
        await repeated(silent, seconds=0.05)
    with failing("red"):
        async with limited(0.2) as attempts:
            await pause(attempts, unavailable("red"))
            await silent()


def test_a_passage_has_one_vector() -> None:
    identity = IndexIdentity(model="m", dimensions=8, analyzer="1")
    fields = chunk_index(Settings(), identity)["mappings"]["properties"]
    assert [name for name, field in fields.items() if field["type"] == "dense_vector"] == ["vector"]
    limits = " ".join((PROJECT / "docs" / "limits.md").read_text(encoding="utf-8").split())
    assert "Each passage has one vector" in limits


def test_queries_of_one_call_share_chunks_and_score_their_own_words() -> None:
    texts = {"a": "tea tea cake", "b": "cake", "c": "tea cake jam milk"}
    chunks = {
        (name, "g"): FoundChunk(
            chunk(document("d", knowledge_base="k1" if name == "c" else "k0"), text, name=name),
            base="b1" if name == "c" else "b0",
            tokens=text,
        )
        for name, text in texts.items()
    }
    leg = LegHits(hits=[{}] * 3, keys=list(chunks), is_whole=True)
    weights = {
        0: LexicalWeights(worth={"tea": 2.0}, average=3.0),
        1: LexicalWeights(worth={"cake": 1.0, "milk": 0.5}, average=3.0, synonyms={"b1": {"jam": 0.25}}),
    }
    searches = [lexical("tea", "k0", "k1", limit=3), lexical("cake milk", "k0", "k1", limit=3)]
    first, second = rankings(searches, {0: leg, 1: leg}, FoundPart(chunks=chunks), weights)

    assert {str(hit.chunk.id): hit.score for hit in first.hits} == pytest.approx(
        {"a": 2.0 * saturated(2, 3, 3.0), "c": 2.0 * saturated(1, 4, 3.0)}, abs=1e-15
    )
    scores = {str(hit.chunk.id): hit.score for hit in second.hits}
    assert scores["c"] == pytest.approx((1.0 + 0.5 + 0.25) * saturated(1, 4, 3.0), abs=1e-15)
    assert scores["b"] == pytest.approx(saturated(1, 1, 3.0), abs=1e-15)
    made = {str(hit.chunk.id): hit.chunk for hit in first.hits}
    assert all(hit.chunk is made[hit.chunk.id] for hit in second.hits if hit.chunk.id in made)
    assert made["c"].knowledge_base == base("k1")


def test_words_are_counted_in_every_chunk() -> None:
    random = np.random.default_rng(4)
    # So many that the last bits of some hashes are those of another's.
    texts = [[f"w{number}" for number in random.integers(0, 6_000, 900)] for _ in range(20)]
    chunks = [
        FoundChunk(chunk(document("d"), "", name=str(place)), base="b", tokens=" ".join(text))
        for place, text in enumerate(texts)
    ]
    words = [f"w{number}" for number in range(0, 9_000, 3)]
    counted = word_counts(chunks, words)
    assert counted.lengths.tolist() == [900] * 20
    expected = [Counter(text) for text in texts]
    assert counted.counts.tolist() == [[each[word] for each in expected] for word in words]
    assert counted.counts.sum() > 5_000


def test_the_best_are_chosen_with_ties_in_the_order_of_chunk_ids() -> None:
    of = document("d")
    names = [f"{number:02}" for number in reversed(range(20))]
    chunks = {
        (name, "g"): FoundChunk(chunk(of, "tea", name=name), base="b", tokens="tea cake" if name < "03" else "tea")
        for name in names
    }  # fmt: skip
    leg = LegHits(hits=[{}] * 20, keys=list(chunks), is_whole=True)
    weights = {0: LexicalWeights(worth={"tea": 1.0}, average=1.0)}
    (ranking,) = rankings([lexical("tea", limit=5)], {0: leg}, FoundPart(chunks=chunks), weights)
    assert [hit.chunk.id for hit in ranking.hits] == ["03", "04", "05", "06", "07"]
