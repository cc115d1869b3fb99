"""Models of a few kilobytes in the layout of the model hub, made here: real files for the real runtime."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "the",
    "holiday",
    "leave",
    "days",
    "printer",
    "how",
    "many",
    "query",
    "passage",
    ":",
    "banana",
]
_OPSET = 17
_BATCH = ["texts", "tokens"]


def save_encoder(
    folder: Path, *, pooled: bool = False, configurations: Mapping[str, object] | None = None
) -> Path:
    """`last_hidden_state` is the vector of each token; `sentence_embedding` their sum, padding left out."""
    vectors = np.random.default_rng(7).normal(size=(len(WORDS), 12)).astype(np.float32)
    # Padding that is not masked would be seen.
    vectors[0] = 1e3
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["last_hidden_state"])]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*_BATCH, 12])]
    if pooled:
        nodes += _summed("last_hidden_state", "seen", "sentence_embedding")
        nodes.insert(1, helper.make_node("Cast", ["attention_mask"], ["seen"], to=TensorProto.FLOAT))
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["texts", 12]))
    return _save(folder, nodes, outputs, vectors, configurations or {}, types=False)


def save_cross_encoder(
    folder: Path, *, labels: int = 1, scale: float = 1.0, configurations: Mapping[str, object] | None = None
) -> Path:
    """The logit is `scale` times the words that question and passage share, less 2; with two labels it is the second."""
    vectors = np.eye(len(WORDS), dtype=np.float32) * np.float32(np.sqrt(scale))
    vectors[:4] = 0
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["tokens"]),
        helper.make_node("Cast", ["attention_mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["seen", "second"], ["of_passage"]),
        helper.make_node("Sub", ["seen", "of_passage"], ["of_question"]),
        *_summed("tokens", "of_question", "question"),
        *_summed("tokens", "of_passage", "passage"),
        helper.make_node("Mul", ["question", "passage"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "axis_1"], ["overlap"], keepdims=1),
        helper.make_node("Sub", ["overlap", "two"], ["score"]),
    ]
    columns = ["score"] if labels == 1 else [*(["zero"] * (labels - 1)), "score"]
    nodes.insert(-1, helper.make_node("Sub", ["overlap", "overlap"], ["zero"]))
    nodes.append(helper.make_node("Concat", columns, ["logits"], axis=1))
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", labels])]
    return _save(folder, nodes, outputs, vectors, configurations or {}, types=True)


def _summed(tokens: str, mask: str, output: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("Unsqueeze", [mask, "axis_2"], [f"{output}.mask"]),
        helper.make_node("Mul", [tokens, f"{output}.mask"], [f"{output}.kept"]),
        helper.make_node("ReduceSum", [f"{output}.kept", "axis_1"], [output], keepdims=0),
    ]


def _save(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    outputs: Sequence[onnx.ValueInfoProto],
    vectors: np.ndarray[Any, Any],
    configurations: Mapping[str, object],
    *,
    types: bool,
) -> Path:
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, _BATCH) for name in names],
        list(outputs),
        initializer=[
            numpy_helper.from_array(vectors, "words"),
            numpy_helper.from_array(np.array([1], np.int64), "axis_1"),
            numpy_helper.from_array(np.array([2], np.int64), "axis_2"),
            numpy_helper.from_array(np.array([2], np.float32), "two"),
        ],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", _OPSET)])
    (folder / "onnx").mkdir(parents=True)
    onnx.save(model, str(folder / "onnx" / "model.onnx"))
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text('{"model_type": "bert", "max_position_embeddings": 64}')
    for name, content in configurations.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def _tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return made
