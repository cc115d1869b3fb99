from __future__ import annotations

import asyncio
import hashlib
import importlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast

import numpy as np
from huggingface_hub import try_to_load_from_cache
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer

from rag_engine.embedders import _minilm
from rag_engine.embedders._vectors import (
    Prefixes,
    known_prefixes,
    own_prefix,
    prefixes_of,
    unit_rows,
    well_formed,
)
from rag_engine.errors import BadSettings, EmbedderUnavailable, MissingExtra, RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence

    from rag_engine.types import Matrix, Side

_library: Final[Any] = importlib.import_module("sentence_transformers")
_MAX_TOKENS_WHERE_UNSTATED: Final = 512
_CACHED_COUNTS: Final = 20_000
_LONGEST_CACHED_TEXT: Final = 1_000
_DTYPES: Final = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


IS_LOCAL = True


class Settings(BaseModel):
    """Any model of the library sentence-transformers, run by torch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = _minilm.REPOSITORY
    """A name on the model hub, or a path."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Precision of the weights."""
    device: str | None = None
    """`cpu`, `cuda`, `mps` …; by default the best available."""
    batch_size: int = Field(default=16, ge=1)
    """Texts encoded together."""
    query_prefix: str | None = None
    """Text before a question; by default the model's own, if known."""
    passage_prefix: str | None = None
    """Text before a passage; by default the model's own, if known."""
    download: bool = True
    """Whether missing files may be downloaded from the model hub."""
    trust_remote_code: bool = False
    """Whether code that comes with the model may run."""


class _Model(Protocol):
    max_seq_length: int | None
    prompts: dict[str, str]
    tokenizer: Any

    def encode(
        self,
        sentences: list[str],
        *,
        prompt: str,
        batch_size: int,
        show_progress_bar: bool,
        convert_to_numpy: bool,
        normalize_embeddings: bool,
    ) -> Matrix: ...


class SentenceTransformersEmbedder:
    """torch uses all processors for each batch."""

    __slots__ = (
        "_batch_size",
        "_count",
        "_encoder",
        "_pool",
        "_prefixes",
        "_short_count",
        "dimensions",
        "max_tokens",
        "model",
    )

    def __init__(
        self, encoder: _Model, *, model: str, prefixes: Prefixes, batch_size: int, pool: ThreadPoolExecutor
    ) -> None:
        self.model = model
        self.max_tokens = encoder.max_seq_length or _MAX_TOKENS_WHERE_UNSTATED
        self._encoder = encoder
        self._prefixes = prefixes
        self._batch_size = batch_size
        self._pool = pool
        self._count = _counter(encoder.tokenizer)
        self._short_count = lru_cache(_CACHED_COUNTS)(self._count)
        self.dimensions = self._encode(["dimensions"], "").shape[1]

    def count_tokens(self, text: str) -> int:
        count = self._short_count if len(text) <= _LONGEST_CACHED_TEXT else self._count
        return count(self._prefixes.passage + well_formed(text))

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        """Batches of similar length: padding costs time. Calls alternate."""
        loop = asyncio.get_running_loop()
        rows = np.empty((len(texts), self.dimensions), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]), reverse=True)
        prefix = self._prefixes.of(side)
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            batch = [texts[place] for place in places]
            rows[places] = await loop.run_in_executor(self._pool, self._encode, batch, prefix)
        return rows

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        with _translate_errors(self.model):
            rows = self._encoder.encode(
                [prefix + well_formed(text) for text in texts],
                prompt="",
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return unit_rows(np.asarray(rows, np.float32))


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[SentenceTransformersEmbedder]:
    """Raises `BadSettings` if the model does not load, `MissingExtra`."""
    with ThreadPoolExecutor(1, thread_name_prefix="embedder") as pool:
        loop = asyncio.get_running_loop()
        yield await loop.run_in_executor(pool, _load, settings, data_dir, pool)


def _load(settings: Settings, data_dir: Path, pool: ThreadPoolExecutor) -> SentenceTransformersEmbedder:
    with _translate_errors(settings.model, loading=True):
        importlib.import_module("transformers.utils.logging").disable_progress_bar()
        source = _source(settings.model)
        encoder: _Model = _library.SentenceTransformer(
            source,
            device=settings.device,
            cache_folder=_cache_folder(source, data_dir),
            local_files_only=not settings.download,
            trust_remote_code=settings.trust_remote_code,
            model_kwargs={"dtype": _DTYPES[settings.precision]},
        )
        trained = _trained_prefixes(settings.model, encoder)
        prefixes = prefixes_of(trained, query=settings.query_prefix, passage=settings.passage_prefix)
        return SentenceTransformersEmbedder(
            encoder,
            model=_identity(source, settings.precision, prefixes, trained),
            prefixes=prefixes,
            batch_size=settings.batch_size,
            pool=pool,
        )


def _source(model: str) -> str:
    if _minilm.is_named(model):
        folder = _minilm.installed()
        return _minilm.REPOSITORY if folder is None else str(folder)
    return model


def _cache_folder(source: str, data_dir: Path) -> str | None:
    if Path(source).is_dir() or isinstance(try_to_load_from_cache(source, "config.json"), str):
        return None
    return str(data_dir / "models")


def _trained_prefixes(model: str, encoder: _Model) -> Prefixes:
    if known := known_prefixes(model):
        return known
    own = encoder.prompts
    return Prefixes(query=own.get("query", ""), passage=own.get("passage") or own.get("document", ""))


def _identity(source: str, precision: str, prefixes: Prefixes, trained: Prefixes) -> str:
    name = source
    if Path(source).is_dir():
        name = _name_of_folder(Path(source))
    elif _minilm.is_named(source):
        name = _minilm.NAME
    return f"{name}@{precision}{own_prefix(prefixes, trained)}"


def _name_of_folder(folder: Path) -> str:
    weights = sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")])
    digest = hashlib.sha256()
    for file in weights:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    if len(weights) == 1 and _minilm.is_genuine(weights[0], name=_minilm.WEIGHTS):
        return _minilm.NAME
    return f"{folder.resolve().name}-{digest.hexdigest()[:12]}"


def _counter(tokenizer: Any) -> Callable[[str], int]:
    """With a copy: each call changes the tokenizer's truncation."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        special = cast("int", tokenizer.num_special_tokens_to_add())
        return lambda text: len(tokenizer.tokenize(text)) + special
    copy = Tokenizer.from_str(backend.to_str())
    copy.no_padding()
    copy.no_truncation()
    return lambda text: len(copy.encode(text))


@contextmanager
def _translate_errors(model: str, *, loading: bool = False) -> Generator[None]:
    try:
        yield
    except RagError:
        raise
    except ImportError as error:
        raise MissingExtra(f"The embedding model {model} needs a library: {_first_line(error)}") from error
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        if loading:
            raise BadSettings(
                f"The embedding model {model} cannot be loaded: {_first_line(error)}; check its name or path, and the device."
            ) from error
        raise EmbedderUnavailable(
            f"The embedding model failed: {_first_line(error)}", backend="sentence-transformers"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
