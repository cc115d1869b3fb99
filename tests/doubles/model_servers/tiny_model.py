"""A sentence-transformers model of a few kilobytes, with random but fixed weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

if TYPE_CHECKING:
    from pathlib import Path

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_WORDS = [
    "query",
    "passage",
    "report",
    "apple",
    "stone",
    "river",
    "cloud",
    "banana",
    "word",
    "the",
    "says",
    "so",
]
VOCABULARY = [*_SPECIAL, *_LETTERS, *".,:;!?()", *(f"##{letter}" for letter in _LETTERS), *_WORDS]


def save_tiny_model(folder: Path, *, max_tokens: int = 64, seed: int = 7) -> Path:
    """Write the model to `folder`; the same seed writes the same weights."""
    folder.mkdir(parents=True, exist_ok=True)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=max_tokens,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        BertModel(config).save_pretrained(folder)
    _tokenizer(max_tokens).save_pretrained(folder)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    _write(
        folder / "modules.json",
        [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (path, kind) in enumerate(modules)
        ],
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": max_tokens, "do_lower_case": False})
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True},
    )
    return folder


def _tokenizer(max_tokens: int) -> PreTrainedTokenizerFast:
    pieces = Tokenizer(WordPiece({word: place for place, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    pieces.normalizer = BertNormalizer()
    pieces.pre_tokenizer = BertPreTokenizer()
    pieces.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=max_tokens,
    )


def _write(file: Path, value: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")
