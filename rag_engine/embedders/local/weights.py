from __future__ import annotations

import importlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rag_engine.embedders import _minilm
from rag_engine.errors import BadSettings, EmbedderUnavailable, Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Report: TypeAlias = Callable[[str], None]

_SECONDS_BETWEEN_REPORTS = 2.0
_REMEDY = f"install its files with: {_minilm.INSTALL}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    weights: Path
    tokenizer: Path
    origin: str


def find(
    folder: Path | None, *, download: bool, report: Report, package: str = _minilm.PACKAGE
) -> ModelFiles:
    """A configured folder is never skipped. Raises `Misconfigured`, with the fix."""
    if folder is not None:
        return _given(folder)
    for candidate in (_installed(package), _cached()):
        if candidate is None:
            continue
        if wrong := _first_wrong(candidate):
            report(f"{wrong} is not the published file, so it is passed over")
            continue
        return candidate
    if not download:
        raise Misconfigured(f"The embedding model {_minilm.NAME} is not on this machine; {_REMEDY}")
    return _downloaded(report)


def require_folder(folder: Path) -> ModelFiles:
    """Unverified. Raises `BadSettings` if a file is missing."""
    files = _in_folder(folder, origin=str(folder))
    if files is None:
        raise BadSettings(
            f"The embedder's path {folder} does not hold {_minilm.WEIGHTS} and {_minilm.TOKENIZER};"
            f" give the folder of {_minilm.NAME}, or leave the path empty."
        )
    return files


def _given(folder: Path) -> ModelFiles:
    files = require_folder(folder)
    if wrong := _first_wrong(files):
        raise BadSettings(
            f"{wrong} is not the published file of {_minilm.NAME}; download it again, leave the path empty,"
            " or choose the sentence_transformers embedder to run another model."
        )
    return files


def _installed(package: str) -> ModelFiles | None:
    folder = _minilm.installed(package)
    return None if folder is None else _in_folder(folder, origin=f"the package {package}")


def _cached() -> ModelFiles | None:
    from huggingface_hub import try_to_load_from_cache

    found = [
        try_to_load_from_cache(_minilm.REPOSITORY, name) for name in (_minilm.WEIGHTS, _minilm.TOKENIZER)
    ]
    weights, tokenizer = (Path(path) if isinstance(path, str) else None for path in found)
    if weights is None or tokenizer is None:
        return None
    return ModelFiles(weights=weights, tokenizer=tokenizer, origin="the model hub's cache")


def _downloaded(report: Report) -> ModelFiles:
    fetch = cast("Callable[..., str]", importlib.import_module("huggingface_hub").hf_hub_download)
    report(f"downloading {_minilm.NAME} (91 MB) from the model hub")
    with _translate_errors():
        tokenizer, weights = (
            Path(fetch(_minilm.REPOSITORY, name, tqdm_class=_progress(report)))
            for name in (_minilm.TOKENIZER, _minilm.WEIGHTS)
        )
    files = ModelFiles(weights=weights, tokenizer=tokenizer, origin="the model hub")
    if wrong := _first_wrong(files):
        raise Misconfigured(f"The model hub sent another {wrong.name} than the published one; {_REMEDY}")
    return files


def _in_folder(folder: Path, *, origin: str) -> ModelFiles | None:
    files = ModelFiles(weights=folder / _minilm.WEIGHTS, tokenizer=folder / _minilm.TOKENIZER, origin=origin)
    return files if files.weights.is_file() and files.tokenizer.is_file() else None


def _first_wrong(files: ModelFiles) -> Path | None:
    for name, file in ((_minilm.TOKENIZER, files.tokenizer), (_minilm.WEIGHTS, files.weights)):
        if not _minilm.is_genuine(file, name=name):
            return file
    return None


def _progress(report: Report) -> object:
    bar: Any = importlib.import_module("tqdm").tqdm

    class Sentences(bar):
        def __init__(self, *args: Any, **options: Any) -> None:
            bar.__init__(
                self, *args, **{**options, "disable": False, "mininterval": _SECONDS_BETWEEN_REPORTS}
            )

        def display(self, *_: object, **__: object) -> None:
            if self.total:
                report(f"downloading {_minilm.NAME}: {self.n / 1e6:.0f} of {self.total / 1e6:.0f} MB")

        def clear(self, *_: object, **__: object) -> None: ...

    return Sentences


@contextmanager
def _translate_errors() -> Generator[None]:
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        yield
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise Misconfigured(
            f"The embedding model {_minilm.NAME} is not on this machine and the model hub cannot be reached; {_REMEDY}"
        ) from error
    except HfHubHTTPError as error:
        raise EmbedderUnavailable(
            f"The model hub failed while {_minilm.NAME} was fetched; try again, or {_REMEDY}",
            backend="model hub",
        ) from error
