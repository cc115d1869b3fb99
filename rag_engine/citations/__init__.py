"""Citations: markers in streamed text made clean and numbered, quotes that support them, and a fallback where there are none.

stream = MarkerStream(passages)
shown = stream.feed(piece), ..., stream.close()
cited = await finish(stream.draft, passages, question=question, embedder=embedder)
"""

from rag_engine.citations.finishing import Cited, finish
from rag_engine.citations.placement import Mark
from rag_engine.citations.stream import Draft, MarkerStream

__all__ = ["Cited", "Draft", "Mark", "MarkerStream", "finish"]
