"""Citations: markers in streamed text made clean and numbered, quotes that support them, and a fallback where there are none."""

from rag_engine.citations.placement import Mark
from rag_engine.citations.stream import Draft, MarkerStream

__all__ = ["Draft", "Mark", "MarkerStream"]
