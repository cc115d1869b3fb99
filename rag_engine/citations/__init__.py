"""Citations: markers in streamed text become clean numbers, with quotes that support them."""

from rag_engine.citations.finalize import Check, Cited, finish
from rag_engine.citations.markers.placement import Mark
from rag_engine.citations.markers.stream import DraftAnswer, MarkerStream

__all__ = ["Check", "Cited", "DraftAnswer", "Mark", "MarkerStream", "finish"]
