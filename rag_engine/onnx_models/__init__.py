"""Transformer models in ONNX files, as embedders and rerankers share them."""
