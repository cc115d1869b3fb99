from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, cast

from rag_engine.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from rag_engine.types import Vector


class Session(Protocol):
    """An open graph; thread-safe."""

    def run(self, outputs: None, inputs: Mapping[str, NDArray[np.int64]], /) -> list[Vector]: ...


class _Options(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int


class _Runtime(Protocol):
    def SessionOptions(self) -> _Options: ...  # noqa: N802 - ONNX Runtime's name

    def InferenceSession(self, path: str, options: _Options, **settings: Any) -> Session: ...  # noqa: N802


_runtime = cast("_Runtime", importlib.import_module("onnxruntime"))


def _errors_of_the_runtime() -> tuple[type[Exception], ...]:
    module = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    values = vars(module).values()
    return tuple(value for value in values if isinstance(value, type) and issubclass(value, Exception))


_ERRORS = _errors_of_the_runtime()


@contextmanager
def translate_errors() -> Generator[None]:
    try:
        yield
    except _ERRORS as error:
        raise EmbedderUnavailable(f"The embedding model failed: {error}", backend="local") from error


def open_session(graph: Path) -> Session:
    options = _runtime.SessionOptions()
    # More threads per text cost more than they gain.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    with translate_errors():
        return _runtime.InferenceSession(
            str(graph),
            options,
            providers=["CPUExecutionProvider"],
            # Its fused kernel is three times slower.
            disabled_optimizers=["SkipLayerNormFusion"],
        )
