from __future__ import annotations

import hashlib
import importlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from rag_engine.errors import BadSettings, Misconfigured, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

GRAPHS: Final = ("onnx/model.onnx", "model.onnx")
_TOKENIZER: Final = "tokenizer.json"
_CONFIGURATIONS: Final = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "1_Pooling/config.json",
)
_LARGEST_CONFIGURATION: Final = 10_000_000
_NO_LIMIT: Final = 1_000_000
"""Tokenizers without a limit state a huge one."""
_RESERVED_POSITIONS: Final = {"roberta": 2, "xlm-roberta": 2, "camembert": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxFiles:
    name: str
    graph: Path
    tokenizer: Path
    configurations: Mapping[str, Mapping[str, Any]]
    is_folder: bool

    def value(self, file: str, key: str) -> Any:
        return self.configurations.get(file, {}).get(key)

    @property
    def max_tokens(self) -> int | None:
        stated = [
            self.value("sentence_bert_config.json", "max_seq_length"),
            self.value("tokenizer_config.json", "model_max_length"),
        ]
        if isinstance(positions := self.value("config.json", "max_position_embeddings"), int):
            kind = str(self.value("config.json", "model_type"))
            stated.append(positions - _RESERVED_POSITIONS.get(kind, 0))
        known = [int(limit) for limit in stated if isinstance(limit, int | float) and 0 < limit < _NO_LIMIT]
        return min(known, default=None)

    def identity(self) -> str:
        variant = self.graph.stem.removeprefix("model").strip("_") or "fp32"
        if not self.is_folder:
            return f"{self.name}@{variant}"
        with self.graph.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return f"{self.name}-{digest[:12]}@{variant}"


def found(model: str, *, graph: str, download: bool, cache: Path) -> OnnxFiles:
    folder = Path(model).expanduser()
    if folder.is_dir():
        return _in_folder(folder, graph)
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise BadSettings(f"there is no folder {model}; give a folder or a name on the model hub.")
    return _of_hub(model, graph, download=download, cache=cache)


def _in_folder(folder: Path, graph: str) -> OnnxFiles:
    def get(name: str) -> Path | None:
        path = folder / name
        return path if path.is_file() else None

    return _files(folder.resolve().name, graph, get, is_folder=True)


def _of_hub(model: str, graph: str, *, download: bool, cache: Path) -> OnnxFiles:
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import RemoteEntryNotFoundError

    fetch = cast("Callable[..., str]", importlib.import_module("huggingface_hub").hf_hub_download)

    def get(name: str) -> Path | None:
        for place in (None, cache):
            cached = try_to_load_from_cache(model, name, cache_dir=place)
            if cached is not None:  # a path, or a mark for none
                return Path(cached) if isinstance(cached, str) else None
        if not download or constants.HF_HUB_OFFLINE:
            return None
        try:
            return Path(fetch(model, name, cache_dir=cache))
        except RemoteEntryNotFoundError:
            return None

    with _translate_errors(model):
        found_files = _files(model, graph, get, is_folder=False)
        # Weights of more than 2 GB are beside the graph.
        get(f"{graph or _relative(found_files.graph)}_data")
        return found_files


def _relative(graph: Path) -> str:
    return next(name for name in GRAPHS if graph.as_posix().endswith(f"/{name}"))


def _files(name: str, graph: str, get: Callable[[str], Path | None], *, is_folder: bool) -> OnnxFiles:
    names = (graph,) if graph else GRAPHS
    graphs = (get(each) for each in names)
    path = next((each for each in graphs if each is not None), None)
    tokenizer = get(_TOKENIZER)
    if path is None or tokenizer is None:
        missing = " or ".join(names) if path is None else _TOKENIZER
        raise Misconfigured(
            f"The model {name} has no file {missing} on this machine or where it was looked for."
        )
    configurations = {each: _read(file) for each in _CONFIGURATIONS if (file := get(each)) is not None}
    return OnnxFiles(
        name=name, graph=path, tokenizer=tokenizer, configurations=configurations, is_folder=is_folder
    )


def _read(file: Path) -> Mapping[str, Any]:
    if file.stat().st_size > _LARGEST_CONFIGURATION:
        return {}
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}


@contextmanager
def _translate_errors(model: str) -> Generator[None]:
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        yield
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise BadSettings(f"there is no model {model} on the model hub; check its name.") from error
    except LocalEntryNotFoundError as error:
        raise Misconfigured(
            f"The model {model} is not on this machine and the model hub cannot be reached or refuses it; give a folder that holds it."
        ) from error
    except HfHubHTTPError as error:
        raise Unavailable(
            f"The model hub failed while {model} was fetched; try again.", backend="model hub"
        ) from error
