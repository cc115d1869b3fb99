from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np
from tokenizers import Tokenizer

from rag_engine.errors import BadSettings, Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from numpy.typing import NDArray
    from tokenizers import Encoding

    from rag_engine.onnx_models.files import OnnxFiles

    Numbers = NDArray[np.float32]

_RUNTIME: Final[Any] = importlib.import_module("onnxruntime")
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_PADDING: Final = ("[PAD]", "<pad>", "<|padding|>", "<|endoftext|>")


class _Named(Protocol):
    name: str


class _Graph(Protocol):
    def get_inputs(self) -> list[_Named]: ...

    def get_outputs(self) -> list[_Named]: ...

    def run(self, outputs: list[str], inputs: Mapping[str, NDArray[np.int64]], /) -> list[Numbers]: ...


class OnnxModel:
    """Thread-safe."""

    def __init__(self, files: OnnxFiles, *, max_tokens: int, threads: int) -> None:
        with translate_errors(files.name, loading=True):
            self._graph = _open(files, threads)
            self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
            self._counter = Tokenizer.from_file(str(files.tokenizer))
            for each in (self._tokenizer, self._counter):
                each.no_padding()
                each.no_truncation()
            cast("Any", self._tokenizer).enable_truncation(max_tokens)
        self.name = files.name
        self._inputs = [each.name for each in self._graph.get_inputs()]
        self.outputs = [each.name for each in self._graph.get_outputs()]
        self._padding = _padding(files, self._tokenizer)
        if unknown := sorted({*self._inputs} - _INPUTS):
            raise BadSettings(
                f"the model {files.name} wants the input {unknown[0]}, so it is no encoder of texts; choose another."
            )

    def count(self, text: str) -> int:
        return len(self._counter.encode(text))

    def encodings(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Encoding]:
        return self._tokenizer.encode_batch_fast(list(texts))

    def run(self, batch: Sequence[Encoding], output: str) -> tuple[Numbers, NDArray[np.int64]]:
        length = max(len(each) for each in batch)
        ids = np.full((len(batch), length), self._padding, np.int64)
        mask = np.zeros_like(ids)
        types = np.zeros_like(ids)
        for row, each in enumerate(batch):
            ids[row, : len(each)] = each.ids
            mask[row, : len(each)] = 1
            types[row, : len(each)] = each.type_ids
        every = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": types,
            "position_ids": np.maximum(np.cumsum(mask, axis=1) - 1, 0),
        }
        with translate_errors(self.name):
            rows = self._graph.run([output], {name: every[name] for name in self._inputs})[0]
        return np.asarray(rows, np.float32), mask


def by_length(encodings: Sequence[Encoding], size: int) -> list[list[int]]:
    """Padding costs time."""
    order = sorted(range(len(encodings)), key=lambda place: len(encodings[place]), reverse=True)
    return [order[start : start + size] for start in range(0, len(order), size)]


def _open(files: OnnxFiles, threads: int) -> _Graph:
    options = _RUNTIME.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Idle threads would take the time of everything else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    opened = _RUNTIME.InferenceSession(str(files.graph), options, providers=["CPUExecutionProvider"])
    return cast("_Graph", opened)


def _padding(files: OnnxFiles, tokenizer: Tokenizer) -> int:
    stated = files.value("config.json", "pad_token_id")
    if isinstance(stated, int):
        return stated
    known = (tokenizer.token_to_id(token) for token in _PADDING)
    return next((number for number in known if number is not None), 0)


@contextmanager
def translate_errors(model: str, *, loading: bool = False) -> Generator[None]:
    try:
        yield
    except (BadSettings, Unavailable):
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        if loading:
            raise BadSettings(f"the model {model} cannot be loaded: {reason}.") from error
        raise Unavailable(f"The model {model} failed: {reason}.", backend="onnx") from error
