"""Any embedding model by name or path, run in this process by the library sentence-transformers."""

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
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from rag_engine import minilm
from rag_engine.embedding import Prefixes, known_prefixes, own_prefix, prefixes_of, unit_rows, well_formed
from rag_engine.errors import BadSettings, EmbedderUnavailable, MissingExtra, RagError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence

    from rag_engine.types import Matrix, Side

_MAX_TOKENS_WHERE_UNSTATED: Final = 512
_COUNTS_KEPT: Final = 20_000
_LONGEST_TEXT_KEPT: Final = 1_000
_DTYPES: Final = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


class Settings(BaseModel):
    """`model` is a name of the model hub or a path."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = minilm.REPOSITORY
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    device: str | None = None
    """`cpu`, `cuda`, `mps` …; by default the best there is."""
    batch_size: int = Field(default=16, ge=1)
    query_prefix: str | None = None
    """Written before a query; by default what the model was trained with, as far as known."""
    passage_prefix: str | None = None
    download: bool = True
    """Whether the model hub may be asked for what is not on this machine."""
    trust_remote_code: bool = False
    """Whether code that comes with the model may run on this machine."""


class _Model(Protocol):
    """What is used of `SentenceTransformer`, whose own signatures are not fully typed."""

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
    """A loaded model and the one thread that runs it: torch uses all processors for each batch."""

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
        self._short_count = lru_cache(_COUNTS_KEPT)(self._count)
        self.dimensions = self._encode(["dimensions"], "").shape[1]

    def count_tokens(self, text: str) -> int:
        count = self._short_count if len(text) <= _LONGEST_TEXT_KEPT else self._count
        return count(self._prefixes.passage + well_formed(text))

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        """Texts of like length go together, as padding costs time; between two batches another call may have its turn."""
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
                # The model's own default prompt would come on top of the prefix.
                prompt="",
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return unit_rows(np.asarray(rows, np.float32))


@asynccontextmanager
async def connect(settings: Settings, *, data_dir: Path) -> AsyncGenerator[SentenceTransformersEmbedder]:
    """The model, loaded off the event loop; a model of the hub is fetched into the data directory unless it is cached.

    Raises `BadSettings` when the model cannot be loaded, `MissingExtra` when it needs a library that is not installed.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="embedder") as pool:
        loop = asyncio.get_running_loop()
        yield await loop.run_in_executor(pool, _load, settings, data_dir, pool)


def _load(settings: Settings, data_dir: Path, pool: ThreadPoolExecutor) -> SentenceTransformersEmbedder:
    with _translate_errors(settings.model, loading=True):
        # It would draw a bar on the operator's terminal at each start.
        importlib.import_module("transformers.utils.logging").disable_progress_bar()
        source = _source(settings.model)
        loaded = SentenceTransformer(
            source,
            device=settings.device,
            cache_folder=_cache_folder(source, data_dir),
            local_files_only=not settings.download,
            trust_remote_code=settings.trust_remote_code,
            model_kwargs={"dtype": _DTYPES[settings.precision]},
        )
        encoder = cast("_Model", loaded)
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
    """A folder or a name of the hub; the default model's installed package saves the download."""
    if minilm.is_named(model):
        folder = minilm.installed()
        return minilm.REPOSITORY if folder is None else str(folder)
    return model


def _cache_folder(source: str, data_dir: Path) -> str | None:
    """The machine's own cache where it has the model, else the data directory, which outlives a container."""
    if Path(source).is_dir() or isinstance(try_to_load_from_cache(source, "config.json"), str):
        return None
    return str(data_dir / "models")


def _trained_prefixes(model: str, encoder: _Model) -> Prefixes:
    """By the table, else by the prompts that the model itself brings."""
    if known := known_prefixes(model):
        return known
    own = encoder.prompts
    return Prefixes(query=own.get("query", ""), passage=own.get("passage") or own.get("document", ""))


def _identity(source: str, precision: str, prefixes: Prefixes, trained: Prefixes) -> str:
    """Name and precision; a folder's name is told apart by its weights, a passage prefix of one's own by its digest."""
    name = source
    if Path(source).is_dir():
        name = _name_of_folder(Path(source))
    elif minilm.is_named(source):
        name = minilm.NAME
    return f"{name}@{precision}{own_prefix(prefixes, trained)}"


def _name_of_folder(folder: Path) -> str:
    weights = sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")])
    digest = hashlib.sha256()
    for file in weights:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    if len(weights) == 1 and minilm.is_genuine(weights[0], name=minilm.WEIGHTS):
        return minilm.NAME
    return f"{folder.resolve().name}-{digest.hexdigest()[:12]}"


def _counter(tokenizer: Any) -> Callable[[str], int]:
    """Counts whole texts. The model's own tokenizer object is changed by every call to cut and pad: this is a copy."""
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
    """While loading, what goes wrong is a matter of the settings; afterwards the model is out of order."""
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
