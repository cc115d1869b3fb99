"""The contract of `Embedder`, over every implementation."""

from __future__ import annotations

import asyncio
import random
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pydantic import SecretStr

from rag_engine.embedders import _minilm, hashing, local, onnx, openai
from rag_engine.wrappers.cached_embedder import CachedEmbedder
from tests.doubles.model_servers.embeddings_server import embeddings_server
from tests.doubles.tiny_onnx import save_encoder
from tests.doubles.vector_cache import MemoryVectorCache

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
    from pathlib import Path

    from rag_engine.ports import Embedder
    from rag_engine.types import Matrix, Vector

TEXTS = [
    "Employees accrue 25 days of paid leave a year.",
    "El personal acumula 25 días de vacaciones pagadas al año.",
    "员工每年享有25天带薪年假。",
    "Wer krank ist, meldet sich bis 9 Uhr bei der Teamleitung.",
    "🙂🙃 👩‍👩‍👧 🇩🇪",
    "tab\tform\x0cfeed bell\x07 null\x00 zero\u200bwidth",
    "half a character \ud83d here",
    "x",
    "",
    "   \n\t ",
    "A much longer passage that says the same thing again and again. " * 30,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A data directory that holds the built model once an embedder needed it."""

    data_dir: Path


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(data_dir=tmp_path_factory.mktemp("embedders") / "data")


def hashed(workshop: Workshop) -> AbstractAsyncContextManager[Embedder]:
    return hashing.connect(hashing.Settings(), data_dir=workshop.data_dir)


def local_exact(workshop: Workshop) -> AbstractAsyncContextManager[Embedder]:
    return local.connect(local.Settings(), data_dir=workshop.data_dir)


def local_int8(workshop: Workshop) -> AbstractAsyncContextManager[Embedder]:
    return local.connect(local.Settings(precision="int8"), data_dir=workshop.data_dir)


def transformers_minilm(workshop: Workshop) -> AbstractAsyncContextManager[Embedder]:
    from rag_engine.embedders import sentence_transformers

    settings = sentence_transformers.Settings(model=str(_minilm.installed()), device="cpu")
    return sentence_transformers.connect(settings, data_dir=workshop.data_dir)


def transformers_tiny(workshop: Workshop) -> AbstractAsyncContextManager[Embedder]:
    from rag_engine.embedders import sentence_transformers
    from tests.doubles.model_servers.tiny_model import save_tiny_model

    settings = sentence_transformers.Settings(
        model=str(save_tiny_model(workshop.data_dir / "tiny")),
        device="cpu",
        query_prefix="query: ",
        passage_prefix="passage: ",
    )
    return sentence_transformers.connect(settings, data_dir=workshop.data_dir)


def onnx_tiny(workshop: Workshop) -> AbstractAsyncContextManager[Embedder]:
    folder = workshop.data_dir / "multilingual-e5-tiny"
    settings = onnx.Settings(model=str(folder if folder.is_dir() else save_encoder(folder)), batch_size=3)
    return onnx.connect(settings, data_dir=workshop.data_dir)


@asynccontextmanager
async def served(workshop: Workshop) -> AsyncGenerator[Embedder]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(embeddings_server())
        settings = openai.Settings(
            base_url=server.url, api_key=SecretStr("key"), batch_texts=7, max_tokens=500
        )
        yield await stack.enter_async_context(openai.connect(settings, data_dir=workshop.data_dir))


@asynccontextmanager
async def cached(workshop: Workshop) -> AsyncGenerator[Embedder]:
    async with hashed(workshop) as embedder:
        yield CachedEmbedder(embedder, MemoryVectorCache())


MAKERS: Mapping[str, Callable[[Workshop], AbstractAsyncContextManager[Embedder]]] = {
    "hashing": hashed,
    "local-fp32": local_exact,
    "local-int8": local_int8,
    "sentence-transformers": transformers_tiny,
    "onnx": onnx_tiny,
    "openai": served,
    "cached": cached,
}


def _param(name: str) -> object:
    """The local embedder builds its model in a child process."""
    marks = {"sentence-transformers": pytest.mark.torch, "local": pytest.mark.process}
    mark = marks.get(name.removesuffix("-fp32").removesuffix("-int8"))
    return pytest.param(name, marks=mark) if mark else name


@pytest.fixture(params=map(_param, MAKERS))
async def embedder(request: pytest.FixtureRequest, workshop: Workshop) -> AsyncGenerator[Embedder]:
    async with MAKERS[request.param](workshop) as made:
        yield made


def far(left: Vector, right: Vector) -> float:
    return float(1 - left @ right)


def assert_like(left: Matrix, right: Matrix) -> None:
    assert left.shape == right.shape
    assert max((far(a, b) for a, b in zip(left, right, strict=True)), default=0) < 1e-5


async def test_rows_are_unit_float32_one_for_each_text(embedder: Embedder) -> None:
    rows = await embedder.embed(TEXTS, side="passage")
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


async def test_rows_are_in_the_order_of_the_texts(embedder: Embedder) -> None:
    shuffled = TEXTS * 2
    random.Random(4).shuffle(shuffled)
    rows = await embedder.embed(shuffled, side="passage")
    alone = dict(zip(TEXTS, await embedder.embed(TEXTS, side="passage"), strict=True))
    assert_like(rows, np.stack([alone[text] for text in shuffled]))
    assert len({row.tobytes() for row in alone.values()}) >= len(TEXTS) - 2  # white space may equal nothing


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS, side="passage")
    alone = [await embedder.embed([text], side="passage") for text in TEXTS]
    assert_like(together, np.concatenate(alone))


async def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    for side in ("query", "passage"):
        rows = await embedder.embed([], side=side)
        assert rows.shape == (0, embedder.dimensions)
        assert rows.dtype == np.float32


async def test_a_very_long_text_is_cut_and_harms_nobody(embedder: Embedder) -> None:
    long_texts = ["word " * 100_000, "长" * 30_000, "a" * 100_000]
    rows = await embedder.embed([*long_texts, TEXTS[0]], side="passage")
    assert_like(rows[-1:], await embedder.embed(TEXTS[:1], side="passage"))
    assert all(embedder.count_tokens(text) > 0 for text in long_texts)


async def test_queries_and_passages_may_differ_but_are_both_steady(embedder: Embedder) -> None:
    for side in ("query", "passage"):
        first = await embedder.embed(TEXTS[:4], side=side)
        assert_like(first, await embedder.embed(TEXTS[:4], side=side))


async def test_every_token_that_fits_is_seen(embedder: Embedder) -> None:
    """A text of at most `max_tokens` is seen to its last word: another last word is another vector."""
    words = _words_up_to(embedder, embedder.max_tokens)
    assert embedder.max_tokens * 0.8 < embedder.count_tokens(" ".join(words)) <= embedder.max_tokens
    changed = [*words[:-1], "banana"]
    assert embedder.count_tokens(" ".join(changed)) <= embedder.max_tokens
    rows = await embedder.embed([" ".join(words), " ".join(changed)], side="passage")
    assert far(rows[0], rows[1]) > 1e-7


async def test_what_does_not_fit_is_not_seen(embedder: Embedder) -> None:
    words = _words_up_to(embedder, embedder.max_tokens + 100)
    assert embedder.count_tokens(" ".join(words)) > embedder.max_tokens
    changed = [*words[:-2], "banana", "banana"]
    assert_like(*[await embedder.embed([" ".join(text)], side="passage") for text in (words, changed)])


async def test_counting_grows_with_the_text(embedder: Embedder) -> None:
    counts = [embedder.count_tokens("the report says so. " * times) for times in range(1, 30)]
    assert counts == sorted(set(counts))
    assert all(embedder.count_tokens(text) >= 0 for text in TEXTS)


async def test_a_cancelled_call_ends_and_the_next_one_works(embedder: Embedder) -> None:
    texts = [f"{number} {TEXTS[-1]}" for number in range(400)]
    call = asyncio.create_task(embedder.embed(texts, side="passage"))
    for _ in range(20):
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(5):
        rows = await embedder.embed(["still here"], side="query")
    assert np.isclose(np.linalg.norm(rows), 1, atol=1e-5)


async def test_calls_at_the_same_time_do_not_mix(embedder: Embedder) -> None:
    groups = [TEXTS[start::3] for start in range(3)]
    rows = await asyncio.gather(*(embedder.embed(group, side="passage") for group in groups))
    for group, found in zip(groups, rows, strict=True):
        assert_like(found, await embedder.embed(group, side="passage"))


@pytest.mark.torch
async def test_the_same_vectors_whichever_library_runs_the_model(workshop: Workshop) -> None:
    """The local embedder and sentence-transformers agree on texts of many languages, and so share an identity."""
    texts = [*TEXTS, *_sentences(), "word " * 300, "检索增强生成" * 60]
    async with local_exact(workshop) as ours, transformers_minilm(workshop) as theirs:
        assert ours.model == theirs.model == "all-MiniLM-L6-v2@fp32"
        assert (ours.dimensions, ours.max_tokens) == (theirs.dimensions, theirs.max_tokens)
        left, right = await ours.embed(texts, side="passage"), await theirs.embed(texts, side="passage")
        assert [ours.count_tokens(text) for text in texts] == [theirs.count_tokens(text) for text in texts]
    assert_like(left, right)


@pytest.mark.process
async def test_int8_is_near_but_another_identity(workshop: Workshop) -> None:
    texts = _sentences()
    async with local_exact(workshop) as exact, local_int8(workshop) as quick:
        assert quick.model == "all-MiniLM-L6-v2@int8"
        left, right = await exact.embed(texts, side="passage"), await quick.embed(texts, side="passage")
    distances = [far(a, b) for a, b in zip(left, right, strict=True)]
    assert 1e-5 < max(distances) < 0.02


@pytest.mark.process
async def test_meaning_brings_texts_together(workshop: Workshop) -> None:
    async with local_exact(workshop) as embedder:
        query = await embedder.embed(["How many days of annual leave do employees get?"], side="query")
        passages = await embedder.embed(
            [TEXTS[0], "The coffee machine is cleaned on Fridays."], side="passage"
        )
    near, distant = (query @ passages.T)[0]
    assert near > distant + 0.2


def _words_up_to(embedder: Embedder, limit: int) -> list[str]:
    words = ["report"]
    while embedder.count_tokens(" ".join(words)) < limit - 2:
        words.append(("apple", "stone", "river", "cloud")[len(words) % 4])
    return words


def _sentences() -> Sequence[str]:
    return [
        "The build fails when the lock file is older than the manifest.",
        "Where do I find the template for a travel expense report?",
        "Rollbacks are announced in the release channel before they start.",
        "A photovoltaic cell converts light into electricity; efficiency falls as it heats up.",
        "Dr. Müller's naïve café façade cost €1,234.56 (incl. VAT) on 2024-02-29.",
        "def count(text: str) -> int:\n    return len(text.split())",
        "La conciliación bancaria se hace el primer día hábil de cada mes.",
        "¿Quién aprueba las compras superiores a mil euros?",
        "El contrato se renueva automáticamente salvo aviso con treinta días de antelación.",
        "Los servidores de respaldo están en otra región.",
        "Se necesita autorización escrita para el acceso remoto.",
        "La niña comió piña en la montaña.",
        "报销单需要在每月二十五日之前提交。",
        "谁负责批准超过一千欧元的采购？",
        "备份服务器位于另一个地区，每天凌晨两点同步。",
        "机器学习模型需要大量数据。",
        "会议室的钥匙在前台。",
        "请在出差后十个工作日内提交报告，并附上所有发票。",
        "Реестр рисков обновляется ежеквартально.",
        "日本語のテキストも数えられる必要があります。",
        "한국어 문장도 하나 있어야 합니다.",
        "Τα έγγραφα φυλάσσονται για δέκα χρόνια.",
        "[CLS] literal markers [SEP] stay text [MASK]",
        "ﬁne ligatures, ＦＵＬＬ ＷＩＤＴＨ, e\u0301 combining, İstanbul, ß",
    ]
