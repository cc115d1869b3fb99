"""The ONNX graph of all-MiniLM-L6-v2: word piece ids in, one unit vector out. One text per run: neighbours cannot
change a vector, and the fast attention kernel takes no mask.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.generic]

Precision = Literal["fp32", "int8"]

HIDDEN: Final = 384
HEADS: Final = 12
LAYERS: Final = 6
EPSILON: Final = 1e-12

_MICROSOFT: Final = "com.microsoft"
_OPSETS: Final = (("", 17), (_MICROSOFT, 1))
_IR_VERSION: Final = 8
_LARGEST_WEIGHT: Final = 63
"""7 bits: with 8, CPUs without VNNI instructions overflow 16 bits."""

_SAFETENSORS_TYPES: Final = {"F32": "<f4", "I64": "<i8"}


def read_safetensors(path: Path) -> dict[str, Array]:
    data = np.memmap(path, np.uint8, "r")
    header_size = int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8 : 8 + header_size].tobytes())
    header.pop("__metadata__", None)
    tensors: dict[str, Array] = {}
    for name, entry in header.items():
        start, end = (8 + header_size + offset for offset in entry["data_offsets"])
        tensors[name] = data[start:end].view(_SAFETENSORS_TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


@dataclass(slots=True, kw_only=True)
class _Draft:
    precision: Precision
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: list[TensorProto] = field(default_factory=list[TensorProto])

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(
        self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any
    ) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], output, domain=domain, **attributes))
        return output

    def linear(self, source: str, output: str, weight: Array, bias: Array | None) -> str:
        biases = [] if bias is None else [self.constant(f"{output}.bias", bias)]
        if self.precision == "fp32":
            weights = self.constant(f"{output}.weight", weight)
            return self.node("Gemm", [source, weights, *biases], output, transB=1)
        quantized, scales = quantize(weight)
        inputs = [
            source,
            self.constant(f"{output}.weight", quantized.T),
            self.constant(f"{output}.scales", scales),
            self.constant(f"{output}.zeros", np.zeros(len(scales), np.int8)),
        ]
        return self.node("DynamicQuantizeMatMul", [*inputs, *biases], output, domain=_MICROSOFT)

    def add_and_normalize(self, left: str, right: str, output: str, weight: Array, bias: Array) -> str:
        """The fused SkipLayerNormalization is three times slower."""
        total = self.node("Add", [left, right], f"{output}.sum")
        inputs = [total, self.constant(f"{output}.weight", weight), self.constant(f"{output}.bias", bias)]
        return self.node("LayerNormalization", inputs, output, epsilon=EPSILON, axis=-1)

    def word_vectors(self, ids: str, table: Array) -> str:
        if self.precision == "fp32":
            return self.node("Gather", [self.constant("words.table", table), ids], "words")
        quantized, scales = quantize(table, largest=127)
        codes = self.node("Gather", [self.constant("words.table", quantized), ids], "words.codes")
        values = self.node("Cast", [codes], "words.values", to=TensorProto.FLOAT)
        factors = self.node("Gather", [self.constant("words.scales", scales[:, None]), ids], "words.factors")
        return self.node("Mul", [values, factors], "words")


def quantize(
    weight: Array, *, largest: int = _LARGEST_WEIGHT
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows within ±`largest`, and their scales."""
    values = np.asarray(weight, np.float32)
    scales = (np.maximum(np.abs(values).max(axis=1), 1e-8) / largest).astype(np.float32)
    return np.clip(np.rint(values / scales[:, None]), -largest, largest).astype(np.int8), scales


def build(tensors: Mapping[str, Array], *, precision: Precision) -> onnx.ModelProto:
    """Input `ids` int64 (tokens,), at most 512; output `vector` float32 (384,)."""
    draft = _Draft(precision=precision)
    value = _embeddings(draft, tensors)
    for layer in range(LAYERS):
        value = _layer(draft, tensors, value, layer)
    axes = draft.constant("token_axis", np.zeros(1, np.int64))
    draft.node("ReduceSum", [value, axes], "summed", keepdims=0)
    draft.node("LpNormalization", ["summed"], "vector", axis=-1, p=2)
    graph = helper.make_graph(
        draft.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [HIDDEN])],
        initializer=draft.constants,
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS]
    return helper.make_model(graph, ir_version=_IR_VERSION, opset_imports=opsets, producer_name="footnote")


def _embeddings(draft: _Draft, tensors: Mapping[str, Array]) -> str:
    positions = np.asarray(tensors["embeddings.position_embeddings.weight"], np.float32)
    token_type = np.asarray(tensors["embeddings.token_type_embeddings.weight"], np.float32)[0]
    table = draft.constant("positions.table", positions + token_type)
    start = draft.constant("positions.start", np.zeros(1, np.int64))
    length = draft.node("Shape", ["ids"], "length")
    places = draft.node("Slice", [table, start, length], "positions")
    words = draft.word_vectors("ids", tensors["embeddings.word_embeddings.weight"])
    norm = "embeddings.LayerNorm"
    return draft.add_and_normalize(
        words, places, "embedded", tensors[f"{norm}.weight"], tensors[f"{norm}.bias"]
    )


def _layer(draft: _Draft, tensors: Mapping[str, Array], value: str, layer: int) -> str:
    own = {
        name.removeprefix(f"encoder.layer.{layer}."): tensor
        for name, tensor in tensors.items()
        if name.startswith(f"encoder.layer.{layer}.")
    }
    attended = _attention(draft, own, value, f"layer{layer}.attention")
    output, norm = "attention.output.dense", "attention.output.LayerNorm"
    mixed = draft.linear(attended, f"layer{layer}.mixed", own[f"{output}.weight"], own[f"{output}.bias"])
    value = draft.add_and_normalize(
        mixed, value, f"layer{layer}.attended", own[f"{norm}.weight"], own[f"{norm}.bias"]
    )
    wide = draft.linear(value, f"layer{layer}.wide", own["intermediate.dense.weight"], None)
    bias = draft.constant(f"layer{layer}.wide.bias", own["intermediate.dense.bias"])
    active = draft.node("BiasGelu", [wide, bias], f"layer{layer}.active", domain=_MICROSOFT)
    narrow = draft.linear(
        active, f"layer{layer}.narrow", own["output.dense.weight"], own["output.dense.bias"]
    )
    norm = "output.LayerNorm"
    return draft.add_and_normalize(
        narrow, value, f"layer{layer}.output", own[f"{norm}.weight"], own[f"{norm}.bias"]
    )


def _attention(draft: _Draft, own: Mapping[str, Array], value: str, name: str) -> str:
    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([own[f"{part}.weight"] for part in parts])
    bias = np.concatenate([own[f"{part}.bias"] for part in parts])
    axis = draft.constant(f"{name}.batch_axis", np.zeros(1, np.int64))
    joined = draft.node(
        "Unsqueeze", [draft.linear(value, f"{name}.joined", weight, bias), axis], f"{name}.batch"
    )
    sizes = draft.constant(f"{name}.sizes", np.full(3, HIDDEN, np.int64))
    pieces = [f"{name}.query", f"{name}.key", f"{name}.value"]
    draft.nodes.append(helper.make_node("Split", [joined, sizes], pieces, f"{name}.split", axis=-1))
    heads = draft.node("MultiHeadAttention", pieces, f"{name}.heads", domain=_MICROSOFT, num_heads=HEADS)
    return draft.node("Squeeze", [heads, axis], name)
